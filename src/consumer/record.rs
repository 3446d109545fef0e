//! The record of a stream: all that is durable of it, as the policy knows it and a store keeps it.

use super::id::EventId;
use super::time::Timestamp;

/// What a delivered event is known by: a keyed 128-bit hash (rule 7).
pub type Key = u128;

/// Generation of a stream's ownership: every write carries one, and one of an older generation is refused (rule 9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch(pub u64);

/// A position in a stream: an id, and the last *different* id before it (rules 3, 6 and 8 go from there).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The id.
    pub id: EventId,
    /// The last different id before it, where one is known.
    pub before: Option<EventId>,
}

/// The part of a record that is rewritten as a whole at every commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The newest id up to which nothing is known to be missing.
    pub latest: Option<Place>,
    /// When `latest` was last moved.
    pub latest_at: Option<Timestamp>,
    /// The deliberately old position (rule 2).
    pub lagging: Option<EventId>,
    /// When the id of `lagging` was last delivered.
    pub lagging_at: Option<Timestamp>,
    /// Sequence number of the first key under `lagging`: keys from here on are kept.
    pub lagging_seq: u64,
    /// The last event with an id of its own delivered; differs from `latest` only while a gap is open.
    pub newest: Option<Place>,
    /// The key of that event.
    pub newest_key: Option<Key>,
    /// The key of what was delivered last with an id of its own. Another than `newest_key` where a recovery delivered
    /// it: it may lie beyond `newest`.
    pub last_key: Option<Key>,
    /// The key of an event that was delivered from memory, before its turn, and has not come since.
    pub ahead_key: Option<Key>,
    /// The stream has given one explicit id to consecutive events (rule 8).
    pub shared_ids: bool,
    /// Events seen under the only id that the stream has ever shown; `None` once there were two (rule 7).
    pub sole_id_events: Option<u64>,
    /// When anything was last delivered.
    pub delivered_at: Option<Timestamp>,
    /// When a recovery last ran.
    pub recovery_at: Option<Timestamp>,
    /// How many keys were appended since the record began: the sequence number of the next one.
    pub next_seq: u64,
}

/// The whole record of a stream, as a store hands it out when the stream is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The scalar part.
    pub head: Head,
    /// Marks in ascending `ordinal`, all newer than `lagging`; at most [`MARKS_MAX`].
    pub marks: Vec<Mark>,
    /// The open gap, if there is one. At most one is open at a time.
    pub gap: Option<Gap>,
}

/// The most marks that a record holds.
pub const MARKS_MAX: usize = 256;

/// An id with the time of its last delivery, from which `lagging` follows (rule 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Identifies the mark within its record; ascending, not dense.
    pub ordinal: u64,
    /// The id.
    pub id: EventId,
    /// When an event under it was last delivered.
    pub at: Timestamp,
    /// Sequence number of the first key under it.
    pub seq: u64,
}

/// How a gap stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapState {
    /// Not ended: a recovery of it waits, runs, or is being reported.
    Open,
    /// A recovery filled it.
    Recovered,
    /// A recovery brought fewer events than were announced, or was given up.
    Partial,
    /// No recovery could place itself in the stream.
    Unrecoverable,
    /// `--on-drop warn`: it was counted and left.
    Ignored,
    /// A new record was begun while it was open.
    Abandoned,
}

impl GapState {
    /// Every state, for readers of the stored form.
    pub const ALL: [Self; 6] =
        [Self::Open, Self::Recovered, Self::Partial, Self::Unrecoverable, Self::Ignored, Self::Abandoned];

    /// The word for it in records and in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Recovered => "recovered",
            Self::Partial => "partial",
            Self::Unrecoverable => "unrecoverable",
            Self::Ignored => "ignored",
            Self::Abandoned => "abandoned",
        }
    }
}

/// How far the recovery of an open gap has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No recovery runs: the far side or the cooldown is waited for. `latest` is frozen.
    #[default]
    Waiting,
    /// A recovery reads again and has not met `newest`. `latest` is frozen.
    Reading,
    /// `newest` was met: the cursors move, only the report is open.
    Reporting,
}

impl Phase {
    /// Every phase, for readers of the stored form.
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Reading, Self::Reporting];

    /// The word for it in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Reading => "reading",
            Self::Reporting => "reporting",
        }
    }
}

/// Events that the server said it discarded (rules 4 to 6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Number of the gap within its stream, from 1; survives new records.
    pub number: u64,
    /// How it stands.
    pub state: GapState,
    /// How far its recovery is.
    pub phase: Phase,
    /// The text of the notice that opened it.
    pub text: String,
    /// How many events were announced as discarded, where the notices said.
    pub dropped: Option<u64>,
    /// How many events its recoveries delivered.
    pub recovered: u64,
    /// How many events its recoveries removed as delivered before.
    pub removed: u64,
    /// The newest id when the notice came.
    pub place: Option<EventId>,
    /// When the notice came.
    pub opened_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Sequence number of the next key when the notice came: keys below were delivered before it.
    pub seq: u64,
    /// How far the recovery has read, removed events included; `None` if it must start again from `lagging`.
    pub progress: Option<Place>,
    /// This attempt has met an event that was delivered before the notice.
    pub evidence: bool,
    /// Which attempt runs or is next: 1 from `lagging`, 2 from the id before `latest`.
    pub attempt: u8,
    /// How many attempts in a row were ended by a further notice.
    pub notices_in_row: u8,
    /// Events that came where a connection went on from before the hole. They count as recovered once a re-read has
    /// shown that the server heeds cursors.
    pub filled: u64,
    /// Something that lies after the hole was delivered: going on from `newest` fills it no more.
    pub passed: bool,
}

/// How far an export file is written: all of it up to here is durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportMark {
    /// The absolute path of the file.
    pub file: String,
    /// Its committed length, in bytes.
    pub length: u64,
    /// A hash of the last bytes before that, by which the file is known again.
    pub tail: u128,
}

/// One atomic change of a stream's record: everything that a delivery changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Begin a new record first: marks and keys go, open gaps become `abandoned` (rules 10 and 11).
    pub begin: bool,
    /// The new scalar part.
    pub head: Head,
    /// Marks to insert, or to replace by `ordinal`.
    pub marks_put: Vec<Mark>,
    /// Ordinals of marks to delete.
    pub marks_drop: Vec<u64>,
    /// Gaps to insert, or to replace by `number`.
    pub gaps_put: Vec<Gap>,
    /// Keys to append; the first has sequence number `head.next_seq - keys.len()`.
    pub keys: Vec<Key>,
    /// Keys below this sequence number may be deleted.
    pub keys_keep_from: u64,
    /// How far the export is written that goes with this change. A new record forgets all marks before.
    pub export: Option<ExportMark>,
    /// The name of an export that is finished: its mark is forgotten.
    pub export_done: Option<String>,
}
