//! Where records of streams are kept: one trait, an in-memory model of it, and SQLite.
//!
//! Responsible for durability, ownership (leases with epochs, rule 9) and what `checkpoint` shows and changes.
//! Knows nothing of SSE, of the network or of when a cursor should move.

mod change;
#[cfg(test)]
mod contract;
mod invariants;
pub mod memory;
mod ownership;
pub mod process;
pub mod sqlite;
pub mod thread;

use std::fmt;
use std::time::Duration;

use crate::consumer::id::{EventId, StreamName};
use crate::consumer::options::WINDOW_DEFAULT;
use crate::consumer::record::{Commit, Epoch, ExportMark, Gap, Head, Key, Record};
use crate::consumer::time::Timestamp;

/// Which command moves a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mover {
    /// `tail`: may be taken over, may not continue what a script reads (rules 9 and 10).
    Tail,
    /// `resume`.
    Resume,
    /// `checkpoint set`, `reset --to-lagging` or `import`.
    Set,
}

impl Mover {
    /// Every mover, for readers of the stored form.
    pub const ALL: [Self; 3] = [Self::Tail, Self::Resume, Self::Set];

    /// The word for it in the store and in messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tail => "tail",
            Self::Resume => "resume",
            Self::Set => "set",
        }
    }
}

/// A process that may own streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its process id.
    pub pid: u32,
    /// The host's name.
    pub host: String,
    /// What tells this boot of this host (and this namespace of process ids) from others; empty if unknown.
    pub boot: String,
    /// What tells this process from a later one of the same pid (its start time in clock ticks); 0 if unknown.
    pub started: u64,
}

/// Tells whether a process that holds a lease still runs.
pub trait Liveness: Send {
    /// Whether it is certain that the holder has ended. `false` where that cannot be told, as for another host.
    fn is_dead(&self, holder: &Process) -> bool;
}

/// Who owns a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process.
    pub process: Process,
    /// By which command.
    pub mover: Mover,
    /// Since when.
    pub since: Timestamp,
    /// Until when, unless renewed.
    pub expires_at: Timestamp,
}

/// What a `tail` or `resume` says when it wants to own a stream.
#[derive(Clone, Debug)]
pub struct Acquire {
    /// The stream.
    pub stream: StreamName,
    /// Who wants it.
    pub process: Process,
    /// `Tail` or `Resume`.
    pub mover: Mover,
    /// The URL, redacted, for `checkpoint show`.
    pub url: String,
    /// The replay window in force, for `checkpoint show`.
    pub window: Duration,
    /// Now.
    pub now: Timestamp,
}

/// The answer to [`Acquire`].
#[derive(Debug)]
pub enum Acquired {
    /// The stream is owned under this epoch.
    Owned(Box<Owned>),
    /// A living process owns it, and it cannot be taken over.
    Busy(Holder),
    /// A `tail` asked, and the stored cursor was last moved by something else (rule 10).
    Reserved(Mover),
}

/// A stream that is owned.
#[derive(Debug)]
pub struct Owned {
    /// The generation of the ownership: goes with every write.
    pub epoch: Epoch,
    /// All that is stored.
    pub record: Record,
    /// The highest gap number that the stream ever had; 0 if none.
    pub last_gap_number: u64,
    /// The secret of this stream's keys (rule 7), random when the stream is first seen.
    pub key_seed: [u8; 32],
    /// The living holder who was fenced off by taking over, if anybody.
    pub taken_from: Option<Holder>,
    /// The redacted URL stored before this one, where it differs.
    pub previous_url: Option<String>,
    /// Something was delivered of the stream before, or changed from outside, even if it was forgotten since.
    pub known: bool,
    /// How far its exports are written.
    pub exports: Vec<StoredExport>,
}

/// How far an export was written, and where the cursor stood then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredExport {
    /// How far.
    pub mark: ExportMark,
    /// `latest` at that commit.
    pub latest: Option<EventId>,
    /// How many keys there were at that commit.
    pub next_seq: u64,
    /// When the last delivery was at that commit.
    pub delivered_at: Option<Timestamp>,
}

impl StoredExport {
    /// Nothing was delivered since, so the export holds all that the cursor says was delivered.
    #[must_use]
    pub fn is_at(&self, head: &Head) -> bool {
        self.latest.as_ref() == head.latest.as_ref().map(|place| &place.id)
            && self.next_seq == head.next_seq
            && self.delivered_at == head.delivered_at
    }
}

/// How long a lease lasts without being renewed.
pub const LEASE: Duration = Duration::from_secs(15);

/// How many gaps of a stream are kept: the newest.
pub const GAPS_KEPT: usize = 1_000;

/// One stream, as `checkpoint list` and `show` tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The stream.
    pub stream: StreamName,
    /// Its cursors.
    pub latest: Option<EventId>,
    /// See `latest`.
    pub lagging: Option<EventId>,
    /// When `latest` last moved.
    pub latest_at: Option<Timestamp>,
    /// When the id of `lagging` was delivered.
    pub lagging_at: Option<Timestamp>,
    /// The replay window of the last run; zero if there was none.
    pub window: Duration,
    /// All gaps, oldest first (the newest 1,000 are kept).
    pub gaps: Vec<Gap>,
    /// The living owner.
    pub owner: Option<Holder>,
    /// The redacted URL.
    pub url: Option<String>,
    /// How the last run ended, in words; `None` while one runs, or if it could not say (it was killed).
    pub last_end: Option<String>,
    /// Who moved the cursor last.
    pub moved_by: Option<Mover>,
    /// How far its exports are written.
    pub exports: Vec<StoredExport>,
}

impl Summary {
    /// Whether nothing is known of the stream but that it never connected: no position, no gap, no export.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let never_connected = matches!(self.last_end.as_deref(), Some("no connection" | "refused by the server"));
        let has_position = self.latest.is_some() || self.lagging.is_some();
        never_connected && !has_position && self.gaps.is_empty() && self.owner.is_none() && self.exports.is_empty()
    }

    /// The replay window of the last run, or the ordinary one where no run was yet.
    #[must_use]
    pub fn window_in_force(&self) -> Duration {
        if self.window.is_zero() { WINDOW_DEFAULT } else { self.window }
    }
}

/// What `checkpoint set` and `import` write (rule 11: a new record).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCursors {
    /// `latest`.
    pub latest: EventId,
    /// `lagging`; as `latest` if not given.
    pub lagging: Option<EventId>,
    /// The replay window, where the source of an import had one.
    pub window: Option<Duration>,
    /// The redacted URL, where the source of an import had one.
    pub url: Option<String>,
}

/// What [`Store::edit`] does to a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// New cursors in a new record.
    Set(NewCursors),
    /// Forget the stream whole. (The epoch is remembered, so that a fenced owner stays fenced.)
    Forget,
    /// `latest` back to `lagging`, in a new record.
    ToLagging,
}

/// One change of one stream, of several that are made together.
#[derive(Clone, Debug)]
pub struct Change {
    /// The stream.
    pub stream: StreamName,
    /// Under which ownership.
    pub epoch: Epoch,
    /// What changes.
    pub commit: Box<Commit>,
}

/// Why a store did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The write carried an older epoch. Nothing was changed.
    Fenced {
        /// Who took the stream over: the owner now, or the last one if it has let go. `None` if the stream was changed
        /// from outside ([`Store::edit`]).
        holder: Option<Holder>,
    },
    /// A living process owns the stream.
    Busy(Holder),
    /// The store has no such stream.
    UnknownStream,
    /// The stream has no cursor to do this with.
    NoCursor,
    /// The file was written by a newer version.
    NewerSchema {
        /// The version in the file.
        found: u32,
        /// The newest that this build reads.
        known: u32,
    },
    /// The file is not a database, or a damaged one.
    Corrupt(String),
    /// Anything else: cannot be opened, read-only, locked, full.
    Failed(String),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fenced { .. } => f.write_str("another process owns the stream now"),
            Self::Busy(holder) => {
                write!(f, "the stream is in use by pid {} on {}", holder.process.pid, holder.process.host)
            }
            Self::UnknownStream => f.write_str("nothing is stored of the stream"),
            Self::NoCursor => f.write_str("the stream has no stored cursor"),
            Self::NewerSchema { found, known } => {
                write!(f, "its schema is version {found}, this build knows {known} at most")
            }
            Self::Corrupt(detail) => write!(f, "it is damaged or not a database: {detail}"),
            Self::Failed(detail) => f.write_str(detail),
        }
    }
}

impl std::error::Error for StoreError {}

/// A place for records. Every method is one transaction: it happens whole or not at all.
pub trait Store: Send {
    /// Asks for a stream: takes the lease, makes the stream's row where there is none, loads the record.
    ///
    /// A holder whose lease has expired, or that is a dead process of this host, owns nothing. `Resume` takes over
    /// from a living `Tail`. `Tail` gets [`Acquired::Busy`] from any living holder and [`Acquired::Reserved`] if the
    /// stored cursor was last moved by anything but a `Tail`.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be used.
    fn acquire(&mut self, request: &Acquire) -> Result<Acquired, StoreError>;

    /// Applies one change under an epoch.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if the epoch is not the stream's current one; [`StoreError::Failed`] if its keys do not
    /// follow the stored ones. Nothing is changed then.
    fn commit(&mut self, stream: &StreamName, epoch: Epoch, commit: &Commit) -> Result<(), StoreError>;

    /// Applies several changes, in one transaction where the store can: one answer for each, in order. One that is
    /// refused ([`StoreError::Fenced`]) leaves the others alone; if the transaction itself fails, all have failed.
    fn commit_all(&mut self, changes: &[Change]) -> Vec<Result<(), StoreError>> {
        changes.iter().map(|change| self.commit(&change.stream, change.epoch, &change.commit)).collect()
    }

    /// All keys from sequence number `from` on, in order; the last is the one before `next_seq`. Fewer, if the oldest
    /// of them have been deleted ([`Commit::keys_keep_from`]).
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    fn keys(&mut self, stream: &StreamName, from: u64) -> Result<Vec<Key>, StoreError>;

    /// Extends the lease to `now` plus [`LEASE`].
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if the epoch is not the stream's current one.
    fn renew(&mut self, stream: &StreamName, epoch: Epoch, now: Timestamp) -> Result<(), StoreError>;

    /// Gives the lease back and notes how the run ended. The epoch is over with it.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if the epoch is not the stream's current one.
    fn release(&mut self, stream: &StreamName, epoch: Epoch, last_end: &str) -> Result<(), StoreError>;

    /// All streams, by name.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    fn list(&mut self, now: Timestamp) -> Result<Vec<Summary>, StoreError>;

    /// One stream; `None` if nothing is stored of it.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    fn show(&mut self, stream: &StreamName, now: Timestamp) -> Result<Option<Summary>, StoreError>;

    /// The stored record without owning it, for `replay`; `None` if nothing is stored.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    fn peek(&mut self, stream: &StreamName) -> Result<Option<Record>, StoreError>;

    /// Changes a stream from outside. With `force` a living owner is fenced off, without it the edit is refused.
    /// The epoch moves either way, so that an owner whose lease merely ran out cannot undo the edit.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::UnknownStream`] (but for `Set`), [`StoreError::NoCursor`].
    fn edit(&mut self, stream: &StreamName, edit: &Edit, force: bool, now: Timestamp) -> Result<(), StoreError>;

    /// Checks the whole store; one sentence for each thing that is not as it must be.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read at all.
    fn verify(&mut self) -> Result<Vec<String>, StoreError>;
}
