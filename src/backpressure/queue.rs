//! What waits for one reader.
//!
//! **Place.** Events leave in the order of their places. A newer event of a key takes the place of the one it replaces,
//! so that a key that changes all the time is not overtaken for ever by others. Where its type keeps order with another
//! (`--together`) it goes to the end instead, and may be overtaken as long as the reader is too slow for the keys.
//!
//! **Ids.** An event that leaves before an older one must not make its id the reader's cursor: a reader that is cut
//! there would never see the older one. So each batch is put in order of publication, and an event carries its id only
//! if nothing older stays behind. Ids that are carried never go back, and a cursor is always one up to which all was
//! delivered, or replaced by something that was, or said to be dropped.
//!
//! **Overflow.** A hole is one run of events: once one was discarded, nothing of its rule enters until the reader has
//! come to the place of the hole, where he is told.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::policy::{Kind, Overflow, Policies, Route, RuleIndex};

/// What an entry counts for besides its payload, in bytes: its place, its key, and the nodes that hold them.
pub const ENTRY_BYTES: usize = 96;

/// An event that comes to the queue.
#[derive(Clone, Debug)]
pub struct Offer<T> {
    /// Its number in the order of publication; each is greater than the last.
    pub seq: u64,
    /// Where it belongs.
    pub route: Route,
    /// What its payload counts for, in bytes.
    pub bytes: usize,
    /// The event.
    pub payload: T,
}

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<T> {
    /// It waits.
    Queued,
    /// It waits in the place of this one, which nobody will see.
    Replaced(T),
    /// It is lost: its type is `drop`, or there was no room and the reader will be told.
    Dropped,
    /// It was let go of; a snapshot will stand for it.
    Discarded,
    /// There was no room, and the stream is to end. The queue is empty now: the reader goes on from the log.
    Disconnect,
}

/// What leaves the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken<T> {
    /// An event.
    Event {
        /// The event.
        payload: T,
        /// It may carry its id: nothing older stays behind.
        carries_id: bool,
    },
    /// A hole: this many events of a rule were dropped here.
    Notice {
        /// The rule.
        rule: RuleIndex,
        /// How many.
        dropped: u64,
    },
    /// A snapshot of all types of this rule belongs here. The last of its batch.
    Snapshot {
        /// The rule.
        rule: RuleIndex,
    },
}

#[derive(Debug)]
enum Entry<T> {
    /// The size as 32 bits: a queue may hold many of these.
    Event {
        rule: RuleIndex,
        bytes: u32,
        seq: u64,
        key: Option<Arc<str>>,
        payload: T,
    },
    Hole {
        rule: RuleIndex,
        dropped: u64,
    },
    Snapshot {
        rule: RuleIndex,
    },
}

/// How a rule stands.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    /// Events of it that wait.
    frames: usize,
    /// Where its hole, or its snapshot, has its place.
    mark: Option<u64>,
}

/// What waits for one reader. See the module for what holds of it.
#[derive(Debug)]
pub struct Queue<T> {
    policies: Policies,
    /// By place: the number of the event that took it first.
    entries: BTreeMap<u64, Entry<T>>,
    /// The place of each key.
    places: HashMap<Arc<str>, u64>,
    standings: Vec<Standing>,
    bytes: usize,
}

impl<T> Queue<T> {
    /// An empty queue under these rules.
    #[must_use]
    pub fn new(policies: Policies) -> Self {
        let standings = vec![Standing::default(); policies.len()];
        Self { policies, entries: BTreeMap::new(), places: HashMap::new(), standings, bytes: 0 }
    }

    /// Nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many entries wait, holes and snapshots included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// What they count for, in bytes; at most [`Policies::queue_bytes_max`].
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of the oldest event that waits, or that something which waits stands for.
    #[must_use]
    pub fn oldest(&self) -> Option<u64> {
        let mut oldest = None;
        for (&place, entry) in &self.entries {
            // No event is older than its place, so nothing from here on is older than what was seen.
            if oldest.is_some_and(|oldest| oldest < place) {
                break;
            }
            let seq = match entry {
                Entry::Event { seq, .. } => *seq,
                Entry::Hole { .. } | Entry::Snapshot { .. } => place,
            };
            oldest = Some(oldest.map_or(seq, |oldest: u64| oldest.min(seq)));
        }
        oldest
    }

    /// Takes an event in, or does with it what its rule says.
    pub fn push(&mut self, offer: Offer<T>) -> Verdict<T> {
        let rule = offer.route.rule;
        let standing = self.standings[rule.number()];
        match *self.policies.kind(rule) {
            Kind::Drop => Verdict::Dropped,
            Kind::Resnapshot { .. } => {
                if standing.mark.is_none() {
                    self.mark(rule, offer.seq, Entry::Snapshot { rule });
                }
                Verdict::Discarded
            }
            Kind::Coalesce { keys, .. } => self.coalesce(offer, keys),
            Kind::Buffer { frames, overflow } => {
                let fits = standing.frames < frames && self.has_room(offer.bytes, 0);
                if standing.mark.is_none() && fits {
                    self.append(offer);
                    return Verdict::Queued;
                }
                match overflow {
                    Overflow::Disconnect => self.disconnect(),
                    Overflow::Notice => self.drop_one(rule, offer.seq),
                }
            }
        }
    }

    fn coalesce(&mut self, offer: Offer<T>, keys: usize) -> Verdict<T> {
        let place = offer.route.key.as_ref().and_then(|key| self.places.get(key)).copied();
        let Some(place) = place else {
            if self.standings[offer.route.rule.number()].frames >= keys || !self.has_room(offer.bytes, 0) {
                return self.disconnect();
            }
            self.append(offer);
            return Verdict::Queued;
        };
        let freed = match self.entries.get(&place) {
            Some(Entry::Event { bytes, .. }) => *bytes as usize,
            _ => 0,
        };
        if !self.has_room(offer.bytes, freed + ENTRY_BYTES) {
            return self.disconnect();
        }
        let to = if self.policies.is_together(offer.route.rule) { offer.seq } else { place };
        let old = self.remove(place).expect("a key's place holds its event");
        self.insert(to, offer);
        Verdict::Replaced(old)
    }

    fn has_room(&self, bytes: usize, freed: usize) -> bool {
        self.bytes - freed.min(self.bytes) + bytes + ENTRY_BYTES <= self.policies.queue_bytes_max()
    }

    fn append(&mut self, offer: Offer<T>) {
        self.insert(offer.seq, offer);
    }

    fn insert(&mut self, place: u64, offer: Offer<T>) {
        let Offer { seq, route: Route { rule, key }, bytes, payload } = offer;
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.bytes += bytes as usize + ENTRY_BYTES;
        self.standings[rule.number()].frames += 1;
        // A buffered event is found by nobody.
        let key = key.filter(|_| self.policies.kind(rule).is_state());
        if let Some(key) = &key {
            self.places.insert(Arc::clone(key), place);
        }
        self.entries.insert(place, Entry::Event { rule, bytes, seq, key, payload });
    }

    /// Takes the event at a place out of all books.
    fn remove(&mut self, place: u64) -> Option<T> {
        let Some(Entry::Event { rule, key, bytes, payload, .. }) = self.entries.remove(&place) else { return None };
        self.bytes -= bytes as usize + ENTRY_BYTES;
        self.standings[rule.number()].frames -= 1;
        if let Some(key) = key {
            self.places.remove(&key);
        }
        Some(payload)
    }

    fn mark(&mut self, rule: RuleIndex, seq: u64, entry: Entry<T>) {
        self.standings[rule.number()].mark = Some(seq);
        self.entries.insert(seq, entry);
    }

    fn drop_one(&mut self, rule: RuleIndex, seq: u64) -> Verdict<T> {
        let place = self.standings[rule.number()].mark;
        match place.and_then(|place| self.entries.get_mut(&place)) {
            Some(Entry::Hole { dropped, .. }) => *dropped += 1,
            _ => self.mark(rule, seq, Entry::Hole { rule, dropped: 1 }),
        }
        Verdict::Dropped
    }

    fn disconnect(&mut self) -> Verdict<T> {
        self.clear();
        Verdict::Disconnect
    }

    /// Lets go of all that waits.
    pub fn clear(&mut self) {
        *self = Self::new(self.policies.clone());
    }

    /// Takes out what comes next: at least one entry if there is one, and no further one once their payloads count for
    /// this many bytes.
    pub fn take(&mut self, bytes_wanted: usize) -> Vec<Taken<T>> {
        let mut batch: Vec<(u64, Taken<T>)> = Vec::new();
        let mut snapshot = None;
        let mut bytes_taken = 0;
        while (batch.is_empty() || bytes_taken < bytes_wanted) && snapshot.is_none() {
            let Some((&place, entry)) = self.entries.first_key_value() else { break };
            match *entry {
                Entry::Event { seq, bytes, .. } => {
                    bytes_taken += bytes as usize;
                    let payload = self.remove(place).expect("an event is there");
                    batch.push((seq, Taken::Event { payload, carries_id: true }));
                }
                Entry::Hole { rule, dropped } => {
                    self.unmark(rule, place);
                    batch.push((place, Taken::Notice { rule, dropped }));
                }
                Entry::Snapshot { rule } => {
                    self.unmark(rule, place);
                    snapshot = Some((place, rule));
                }
            }
        }
        let behind = self.oldest().into_iter().chain(snapshot.map(|(place, _)| place)).min();
        self.in_order(batch, behind, snapshot.map(|(_, rule)| rule))
    }

    fn unmark(&mut self, rule: RuleIndex, place: u64) {
        self.entries.remove(&place);
        self.standings[rule.number()].mark = None;
    }

    /// Puts a batch in order of publication; `behind` is the oldest number that is not in it.
    fn in_order(
        &self,
        mut batch: Vec<(u64, Taken<T>)>,
        behind: Option<u64>,
        snapshot: Option<RuleIndex>,
    ) -> Vec<Taken<T>> {
        batch.sort_by_key(|(seq, _)| *seq);
        let all_before = |seq: u64| behind.is_none_or(|behind| seq < behind);
        let events = batch.into_iter().map(|(seq, taken)| match taken {
            Taken::Event { payload, .. } => Taken::Event { payload, carries_id: all_before(seq) },
            other => other,
        });
        events.chain(snapshot.map(|rule| Taken::Snapshot { rule })).collect()
    }
}
