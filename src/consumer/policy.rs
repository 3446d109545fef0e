//! The language between a policy and the driver that carries its decisions out.

use super::delivery::Notice;
use super::id::EventId;
use super::record::{Commit, GapState, Key};
use super::stats::Gaps;
use super::time::Timestamp;

/// An event as the wire gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming<'a> {
    /// The value of its own `id:` line; the empty one resets.
    pub id: Option<&'a str>,
    /// Its type.
    pub event: &'a str,
    /// Its data.
    pub data: &'a str,
}

/// An event kept in memory, to be delivered later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldEvent {
    /// The last event ID in force at dispatch.
    pub id: String,
    /// Its type.
    pub event: String,
    /// Its data.
    pub data: String,
    /// When it came.
    pub at: Timestamp,
}

/// Something to write or say, in order, before the verdict on the present frame is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// A notice: a record where notices are asked for, and a word on stderr.
    Notice(Notice),
    /// An event that was held back and is delivered now.
    Event(HeldEvent),
    /// A `warning:` line.
    Warning(String),
    /// A `note:` line.
    Note(String),
    /// A line for `-v`.
    Detail(String),
}

/// What becomes of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Deliver it.
    Deliver {
        /// A recovery delivers it, before its end.
        replayed: bool,
    },
    /// It was delivered before.
    Remove,
    /// It is kept in memory as a gap's far side.
    Hold,
    /// It is not delivered and not counted: the run ends before it.
    Refuse,
}

/// Why a policy ends the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A drop notice under `--on-drop exit`.
    Dropped,
    /// The server no longer has the cursor, under `--on-expired stop`. Says how that was seen.
    Expired(String),
    /// A `replay` has come to its end.
    ReplayEnd,
}

/// What follows a frame or a timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Read on.
    Go,
    /// Leave the connection, though it is open, and ask for a plan.
    Leave,
    /// End the run.
    Stop(Stop),
}

/// The decision on an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What becomes of it.
    pub verdict: Verdict,
    /// What follows.
    pub next: Next,
}

impl Step {
    /// A step after which reading goes on.
    #[must_use]
    pub fn go(verdict: Verdict) -> Self {
        Self { verdict, next: Next::Go }
    }
}

/// Where the next connection starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The cursor to send.
    pub cursor: Option<EventId>,
    /// Which position served and why, for `-v`.
    pub why: String,
    /// The keys from this sequence number on are needed for removal.
    pub keys_from: Option<u64>,
    /// A snapshot of the current state is to be delivered before the first event.
    pub snapshot: bool,
}

/// A policy for one stream: data in, decisions out.
///
/// The driver calls `plan`, then `connected` or `cursor_refused`, then one method a frame, then `disconnected`.
/// After each call it takes `outgoing` first, then carries the answer out; after the output has accepted all of
/// it, it takes the commit. A policy's memory may be ahead of what is delivered; its commits never are.
pub trait Policy {
    /// Where the next connection starts.
    fn plan(&mut self, now: Timestamp) -> Plan;
    /// The connection of the last plan stands. `keys` are those that the plan asked for.
    fn connected(&mut self, keys: Vec<Key>, now: Timestamp) -> Next;
    /// The server refused the cursor of the last plan.
    fn cursor_refused(&mut self, how: &str, now: Timestamp) -> Next;
    /// The connection ended, whoever ended it.
    fn disconnected(&mut self, now: Timestamp);
    /// An event came.
    fn event(&mut self, event: &Incoming<'_>, now: Timestamp) -> Step;
    /// A comment came.
    fn comment(&mut self, text: &str, now: Timestamp) -> Next;
    /// A block with an id and no data came.
    fn id_only(&mut self, id: &str, now: Timestamp);
    /// When `tick` wants to be called.
    fn deadline(&self) -> Option<Timestamp>;
    /// Time has passed.
    fn tick(&mut self, now: Timestamp) -> Next;
    /// The last event ID in force when the present event was dispatched.
    fn dispatch_id(&self) -> Option<&str>;
    /// What is to be written and said before the answer is carried out.
    fn outgoing(&mut self) -> Vec<Outgoing>;
    /// Everything that changed since the last commit, if anything did. Only to be asked for after delivery.
    fn take_commit(&mut self, now: Timestamp) -> Option<Commit>;
    /// A commit that changes nothing, asked for before anything is delivered: it carries what the output has to store.
    fn unchanged(&self) -> Commit {
        Commit::default()
    }
    /// The whole record as one commit that begins anew, for a journal that takes over from another.
    fn whole(&self) -> Commit;
    /// The next run has somewhere to go on from.
    fn has_position(&self) -> bool {
        true
    }
    /// A gap is open.
    fn gap_open(&self) -> bool {
        self.gaps().count(GapState::Open) > 0
    }
    /// The gaps of this run by how they stand, the open one among them.
    fn gaps(&self) -> Gaps;
    /// A gap ended `partial`, `unrecoverable` or `ignored` in this run.
    fn lost_events(&self) -> bool {
        let gaps = self.gaps();
        [GapState::Partial, GapState::Unrecoverable, GapState::Ignored].iter().any(|&state| gaps.count(state) > 0)
    }
    /// A recovery waits or runs, so an idle stream is not at its end.
    fn recovery_waits(&self) -> bool;
    /// While reading again: events seen and expected.
    fn reread(&self) -> Option<(u64, u64)>;
}
