//! What a delivered event is known by (rule 7): keyed hashes, and the sets in which they are looked up.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use highway::{HighwayHash, HighwayHasher, Key as HighwayKey};

use super::options::Dedupe;
use super::record::Key;

/// The events that one connection's occurrence counts reach back over, at least.
const OCCURRENCES_MIN: usize = 32_768;

/// So many bytes are put together before they are hashed.
const SMALL_BYTES_MAX: usize = 160;

/// Makes the keys of one stream, under the stream's own secret.
#[derive(Clone, Debug)]
pub struct Keyer {
    secret: HighwayKey,
    dedupe: Dedupe,
    occurrences: Occurrences,
}

/// What of an event goes into its key.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// The last event ID in force at dispatch.
    pub in_force: &'a str,
    /// The event's own id, if it has one that is not empty.
    pub own: Option<&'a str>,
    /// Its type.
    pub event: &'a str,
    /// Its data.
    pub data: &'a str,
}

impl Keyer {
    /// A maker of keys under `secret`.
    #[must_use]
    pub fn new(secret: &[u8; 32], dedupe: Dedupe) -> Self {
        let word = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&secret[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        let secret = HighwayKey([word(0), word(8), word(16), word(24)]);
        Self { secret, dedupe, occurrences: Occurrences::default() }
    }

    /// Keys are placed in a connection: occurrences are counted from its beginning.
    pub fn start_connection(&mut self) {
        self.occurrences = Occurrences::default();
    }

    /// The key of the next event on this connection. Counts it.
    pub fn key(&mut self, identity: &Identity<'_>) -> Key {
        match &self.dedupe {
            Dedupe::Id => {
                if let Some(own) = identity.own {
                    return self.hash(b'i', &[own.as_bytes()]);
                }
            }
            Dedupe::Value(pointer) => {
                if let Some(value) = pointer.value(identity.data) {
                    return self.hash(b'v', &[value.as_bytes()]);
                }
            }
            Dedupe::Event | Dedupe::None => {}
        }
        let base =
            self.hash(b'e', &[identity.in_force.as_bytes(), identity.event.as_bytes(), identity.data.as_bytes()]);
        base.wrapping_add(u128::from(self.occurrences.count(base)))
    }

    /// The hash of a kind, and of each part behind its length. What is small is put together first: handing it to the
    /// hasher piece by piece would cost more than hashing it.
    fn hash(&self, kind: u8, parts: &[&[u8]]) -> Key {
        let mut hasher = HighwayHasher::new(self.secret);
        let mut small = [0; SMALL_BYTES_MAX];
        small[0] = kind;
        let mut held = 1;
        for part in parts {
            for piece in [&(part.len() as u64).to_le_bytes(), *part] {
                if let Some(place) = small.get_mut(held..held + piece.len()) {
                    place.copy_from_slice(piece);
                    held += piece.len();
                } else {
                    hasher.append(&small[..held]);
                    hasher.append(piece);
                    held = 0;
                }
            }
        }
        hasher.append(&small[..held]);
        let [low, high] = hasher.finalize128();
        Key::from(high) << 64 | Key::from(low)
    }
}

/// How many equal events came before on this connection. Two generations, so that memory stays bounded: counts of
/// the last [`OCCURRENCES_MIN`] different events are exact.
#[derive(Clone, Debug, Default)]
struct Occurrences {
    young: Generation,
    old: Generation,
}

/// Half of a hash tells events apart here as well as the whole, in half the room: nearly all of the look-ups are of
/// events that never came before, and what they cost is the way to memory.
#[derive(Clone, Debug, Default)]
struct Generation {
    seen: HashSet<u64, KeyHash>,
    /// How many came before the last, of those that came more than once.
    repeated: HashMap<u64, u32, KeyHash>,
}

impl Occurrences {
    fn count(&mut self, base: Key) -> u32 {
        if self.young.seen.len() >= OCCURRENCES_MIN {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.seen.clear();
            self.young.repeated.clear();
        }
        #[expect(clippy::cast_possible_truncation, reason = "half of it is meant")]
        let half = base as u64;
        if self.young.seen.insert(half) && !self.old.seen.contains(&half) {
            return 0;
        }
        let old = &self.old.repeated;
        let count = self.young.repeated.entry(half).or_insert_with(|| old.get(&half).copied().unwrap_or(0));
        *count = count.saturating_add(1);
        *count
    }
}

/// The events that were delivered on earlier connections, as far back as keys are kept: ten million of them in little
/// more than the keys themselves.
#[derive(Clone, Debug, Default)]
pub struct Known {
    before_notice: Sorted,
    after_notice: Sorted,
}

/// Keys in order. They are hashes, so their first bits alone tell about where each is.
#[derive(Clone, Debug, Default)]
struct Sorted {
    keys: Vec<Key>,
    /// Where the keys begin whose first `bits` bits are the index, and where the last of them end.
    starts: Vec<u32>,
    bits: u32,
}

/// Keys that share their first bits, on average.
const KEYS_A_BUCKET: usize = 8;

impl Sorted {
    fn new(mut keys: Vec<Key>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        let bits = (keys.len() / KEYS_A_BUCKET).checked_ilog2().unwrap_or(0);
        let mut starts = Vec::with_capacity((1 << bits) + 1);
        for (at, key) in (0_u32..).zip(&keys) {
            starts.resize(starts.len().max(bucket(*key, bits) + 1), at);
        }
        starts.resize((1 << bits) + 1, u32::try_from(keys.len()).unwrap_or(u32::MAX));
        Self { keys, starts, bits }
    }

    fn contains(&self, key: Key) -> bool {
        let bucket = bucket(key, self.bits);
        let range = self.starts.get(bucket).zip(self.starts.get(bucket + 1));
        let keys = range.and_then(|(&from, &to)| self.keys.get(from as usize..to as usize));
        keys.is_some_and(|keys| keys.binary_search(&key).is_ok())
    }
}

/// The first `bits` bits.
fn bucket(key: Key, bits: u32) -> usize {
    key.checked_shr(Key::BITS - bits).and_then(|first| usize::try_from(first).ok()).unwrap_or(0)
}

/// When a known event was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the notice of the open gap: it shows that a re-read is where it should be.
    BeforeNotice,
    /// After it, or there is no gap.
    AfterNotice,
}

impl Known {
    /// The set of `keys`, the first of which has sequence number `from`; those below `notice` were delivered before it.
    #[must_use]
    pub fn new(mut keys: Vec<Key>, from: u64, notice: u64) -> Self {
        let split = usize::try_from(notice.saturating_sub(from)).unwrap_or(usize::MAX).min(keys.len());
        // Where there is no notice all are after it: they stay where they are, there may be ten million.
        let after = if split == 0 { std::mem::take(&mut keys) } else { keys.split_off(split) };
        Self { before_notice: Sorted::new(keys), after_notice: Sorted::new(after) }
    }

    /// Whether and when the event with this key was delivered.
    #[must_use]
    pub fn when(&self, key: Key) -> Option<When> {
        if self.before_notice.contains(key) {
            Some(When::BeforeNotice)
        } else if self.after_notice.contains(key) {
            Some(When::AfterNotice)
        } else {
            None
        }
    }

    /// Nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.before_notice.keys.is_empty() && self.after_notice.keys.is_empty()
    }
}

/// A hasher for keys, which are evenly spread already.
type KeyHash = BuildHasherDefault<KeyHasher>;

#[derive(Clone, Copy, Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }
    fn write_u64(&mut self, half: u64) {
        self.0 = half;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity<'a>(in_force: &'a str, data: &'a str) -> Identity<'a> {
        Identity { in_force, own: Some(in_force), event: "message", data }
    }

    #[test]
    fn equal_events_under_one_id_differ_by_occurrence_and_agree_between_connections() {
        let mut keyer = Keyer::new(&[7; 32], Dedupe::Event);
        let first: Vec<Key> = (0..3).map(|_| keyer.key(&identity("1", "x"))).collect();
        assert_ne!(first[0], first[1]);
        assert_ne!(first[1], first[2]);
        keyer.start_connection();
        let again: Vec<Key> = (0..3).map(|_| keyer.key(&identity("1", "x"))).collect();
        assert_eq!(first, again);
    }

    #[test]
    fn an_occurrence_is_counted_also_when_another_id_came_between() {
        let mut keyer = Keyer::new(&[7; 32], Dedupe::Event);
        let first = keyer.key(&identity("1", "x"));
        keyer.key(&identity("2", "y"));
        assert_ne!(first, keyer.key(&identity("1", "x")));
    }

    #[test]
    fn parts_cannot_be_shifted_into_each_other() {
        let mut keyer = Keyer::new(&[7; 32], Dedupe::Event);
        assert_ne!(keyer.key(&identity("1", "2x")), keyer.key(&identity("12", "x")));
    }

    /// Keys are stored: however they are computed, they must stay the same.
    #[test]
    fn a_key_is_the_hash_of_all_parts_behind_their_lengths() {
        let text = "x".repeat(400);
        for (id, event, data) in
            [(0, 7, 0), (5, 7, 60), (36, 12, 80), (200, 7, 10), (7, 200, 0), (3, 4, 400), (150, 1, 1)]
        {
            let (id, event, data) = (&text[..id], &text[..event], &text[..data]);
            let mut hasher = HighwayHasher::new(HighwayKey([0x0707_0707_0707_0707; 4]));
            hasher.append(b"e");
            for part in [id, event, data] {
                hasher.append(&(part.len() as u64).to_le_bytes());
                hasher.append(part.as_bytes());
            }
            let [low, high] = hasher.finalize128();
            let key = Keyer::new(&[7; 32], Dedupe::Event).key(&Identity { in_force: id, own: None, event, data });
            assert_eq!(key, Key::from(high) << 64 | Key::from(low));
        }
    }

    #[test]
    fn the_secret_matters() {
        let mut one = Keyer::new(&[1; 32], Dedupe::Event);
        let mut two = Keyer::new(&[2; 32], Dedupe::Event);
        assert_ne!(one.key(&identity("1", "x")), two.key(&identity("1", "x")));
    }

    #[test]
    fn dedupe_id_looks_at_the_id_alone_and_at_the_whole_event_where_it_has_none() {
        let mut keyer = Keyer::new(&[7; 32], Dedupe::Id);
        assert_eq!(keyer.key(&identity("1", "x")), keyer.key(&identity("1", "y")));
        let bare = Identity { in_force: "1", own: None, event: "message", data: "x" };
        assert_ne!(keyer.key(&bare), keyer.key(&bare));
    }

    #[test]
    fn known_tells_before_from_after_the_notice() {
        let known = Known::new(vec![10, 11, 12], 5, 7);
        assert_eq!(known.when(10), Some(When::BeforeNotice));
        assert_eq!(known.when(11), Some(When::BeforeNotice));
        assert_eq!(known.when(12), Some(When::AfterNotice));
        assert_eq!(known.when(13), None);
    }

    #[test]
    fn every_key_that_is_known_is_found_and_no_other() {
        let mut keyer = Keyer::new(&[7; 32], Dedupe::Id);
        let keys: Vec<Key> =
            (0..5_000).map(|n| keyer.key(&identity(&n.to_string(), ""))).chain([0, Key::MAX]).collect();
        for count in [0, 1, 2, 15, 16, 17, 1_000, keys.len()] {
            let (known, others) = keys.split_at(keys.len() - count);
            let set = Known::new(others.to_vec(), 0, 0);
            assert!(others.iter().all(|&key| set.when(key) == Some(When::AfterNotice)), "{count}");
            assert!(known.iter().all(|&key| set.when(key).is_none()), "{count}");
        }
    }
}
