//! What has happened on a server since it was started, in figures.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Types that are counted by name; further ones are counted together, so that a source cannot fill the memory.
const TYPES_MAX: usize = 200;
/// The name under which further types are counted.
const FURTHER: &str = "(further types)";

/// What became of the events of one type, summed over all clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypeCounts {
    /// Published by the source.
    pub published: u64,
    /// Handed to the socket of a client.
    pub delivered: u64,
    /// Replaced by a newer one of its key while it waited.
    pub coalesced: u64,
    /// Lost for a client: `drop`, or an overflow of which it was told.
    pub dropped: u64,
    /// Let go of, for a snapshot.
    pub discarded: u64,
}

/// All counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Of each type.
    pub types: BTreeMap<Arc<str>, TypeCounts>,
    /// Streams that were begun.
    pub connections: u64,
    /// Events read from the log for clients that came with a cursor.
    pub replayed: u64,
    /// Clients whose stream was ended because they were too slow.
    pub slow_disconnects: u64,
    /// Comments that told a client of events dropped.
    pub drop_notices: u64,
    /// Clients that were told to fetch the current state.
    pub resyncs: u64,
    /// Cursors that the log no longer had.
    pub expired: u64,
    /// Streams that were refused because there were too many.
    pub refused: u64,
}

impl Stats {
    /// The counts of a type.
    pub(super) fn of(&mut self, event: &Arc<str>) -> &mut TypeCounts {
        if self.types.len() >= TYPES_MAX && !self.types.contains_key(event) {
            return self.types.entry(Arc::from(FURTHER)).or_default();
        }
        self.types.entry(Arc::clone(event)).or_default()
    }

    /// The sum over all types.
    #[must_use]
    pub fn total(&self) -> TypeCounts {
        self.types.values().fold(TypeCounts::default(), |sum, counts| TypeCounts {
            published: sum.published + counts.published,
            delivered: sum.delivered + counts.delivered,
            coalesced: sum.coalesced + counts.coalesced,
            dropped: sum.dropped + counts.dropped,
            discarded: sum.discarded + counts.discarded,
        })
    }
}

/// How one client stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientStanding {
    /// Its number, in order of arrival.
    pub number: u64,
    /// `live`, `slow`, `replay` or `ending`.
    pub state: &'static str,
    /// Entries that wait for it.
    pub queue_frames: usize,
    /// What they count for, in bytes.
    pub queue_bytes: usize,
    /// Bytes that its socket took so far.
    pub sent_bytes: u64,
}
