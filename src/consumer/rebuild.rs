//! A record made anew from what was delivered, for an export whose database is lost (section "Exports" of the rules).

use std::collections::VecDeque;
use std::time::Duration;

use super::cursors::follow;
use super::id::EventId;
use super::keys::{Identity, Keyer};
use super::machine::{KEYS_MAX, KEYS_MIN};
use super::marks::Marks;
use super::options::Dedupe;
use super::record::{Commit, Head, Key};
use super::time::Timestamp;

/// An event as an export tells it.
#[derive(Clone, Copy, Debug)]
pub struct Delivered<'a> {
    /// The last event ID in force at its dispatch.
    pub id: Option<&'a str>,
    /// Its type.
    pub event: &'a str,
    /// Its data, where the export has it as it came.
    pub data: Option<&'a str>,
    /// When it came.
    pub at: Timestamp,
    /// A recovery delivered it, before its end.
    pub replayed: bool,
}

/// Takes the events of an export in order, and makes a record of them.
#[derive(Debug)]
pub struct Rebuild {
    keyer: Keyer,
    marks: Marks,
    head: Head,
    keys: VecDeque<Key>,
    ends_replayed: bool,
}

impl Rebuild {
    /// Begins. `seed` is the secret of the stream's keys from now on.
    #[must_use]
    pub fn new(seed: &[u8; 32], dedupe: Dedupe, window: Duration) -> Self {
        Self {
            keyer: Keyer::new(seed, dedupe),
            marks: Marks::new(Vec::new(), window, Timestamp(i64::MAX)),
            head: Head::default(),
            keys: VecDeque::new(),
            ends_replayed: false,
        }
    }

    /// The next event.
    pub fn push(&mut self, delivered: &Delivered<'_>) {
        self.ends_replayed = delivered.replayed;
        let Some(id) = delivered.id.and_then(EventId::new) else { return };
        let seq = self.head.next_seq;
        let key = delivered.data.map(|data| {
            let own = Some(id.as_str());
            self.keyer.key(&Identity { in_force: id.as_str(), own, event: delivered.event, data })
        });
        if let Some(key) = key {
            self.keys.push_back(key);
            self.head.next_seq += 1;
            if self.keys.len() as u64 > KEYS_MAX {
                self.keys.pop_front();
            }
        }
        // An id that comes again is one that several events share, or that of events without: both go on before it.
        self.head.shared_ids |= self.head.newest.as_ref().is_some_and(|newest| newest.id == id);
        if self.head.lagging.is_none() {
            self.head.lagging = Some(id.clone());
            self.head.lagging_at = Some(delivered.at);
        }
        self.marks.delivered(&id, seq, delivered.at);
        self.head.newest = Some(follow(self.head.newest.as_ref(), id));
        self.head.newest_key = key;
        self.head.delivered_at = Some(delivered.at);
    }

    /// The record, as the commit that begins it; `None` if no event had an id.
    ///
    /// If the last events are those of a recovery, more of it may be missing: the record then goes on from `lagging`.
    #[must_use]
    pub fn finish(mut self, now: Timestamp) -> Option<Commit> {
        let mut marks = Marks::new(self.marks.all().to_vec(), self.marks.window(), now);
        if let Some(mark) = marks.advance(now) {
            self.head.lagging = Some(mark.id);
            self.head.lagging_at = Some(mark.at);
            self.head.lagging_seq = mark.seq;
        }
        self.head.latest = self.head.newest.clone();
        if self.ends_replayed {
            self.head.newest = None;
            self.head.newest_key = None;
            self.head.latest = self.head.lagging.clone().map(|id| follow(None, id));
        }
        self.head.latest_at = self.head.delivered_at;
        self.head.latest.as_ref()?;
        let keep = self.head.lagging_seq.min(self.head.next_seq.saturating_sub(KEYS_MIN));
        let first = self.head.next_seq - self.keys.len() as u64;
        let unneeded = usize::try_from(keep.saturating_sub(first)).unwrap_or(usize::MAX).min(self.keys.len());
        self.keys.drain(..unneeded);
        Some(Commit {
            begin: true,
            marks_put: marks.all().to_vec(),
            keys: self.keys.into(),
            keys_keep_from: keep,
            head: self.head,
            ..Commit::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000_000);

    fn rebuilt(events: &[(&str, bool)]) -> Option<Commit> {
        let mut rebuild = Rebuild::new(&[1; 32], Dedupe::Event, Duration::from_secs(60));
        for (id, replayed) in events {
            rebuild.push(&Delivered {
                id: (!id.is_empty()).then_some(*id),
                event: "message",
                data: Some("x"),
                at: NOW,
                replayed: *replayed,
            });
        }
        rebuild.finish(NOW)
    }

    fn ids(commit: &Commit) -> (Option<&str>, Option<&str>) {
        let head = &commit.head;
        (head.latest.as_ref().map(|place| place.id.as_str()), head.lagging.as_ref().map(EventId::as_str))
    }

    #[test]
    fn the_last_event_is_the_cursor() {
        let commit = rebuilt(&[("1", false), ("2", false), ("3", true), ("4", false)]).expect("there are ids");
        assert_eq!(ids(&commit), (Some("4"), Some("1")));
        assert_eq!(commit.keys.len(), 4);
        assert_eq!(commit.head.next_seq, 4);
        assert!(!commit.head.shared_ids);
    }

    #[test]
    fn a_recovery_that_was_under_way_begins_again_from_lagging() {
        let commit = rebuilt(&[("1", false), ("2", false), ("9", false), ("3", true)]).expect("there are ids");
        assert_eq!(ids(&commit), (Some("1"), Some("1")));
        assert_eq!(commit.keys.len(), 4);
        assert_eq!(commit.head.newest, None);
    }

    #[test]
    fn an_id_that_comes_again_is_shared() {
        let commit = rebuilt(&[("1", false), ("2", false), ("2", false)]).expect("there are ids");
        assert!(commit.head.shared_ids);
        assert_eq!(commit.head.latest.and_then(|place| place.before).as_ref().map(EventId::as_str), Some("1"));
    }

    #[test]
    fn without_ids_there_is_no_record() {
        assert_eq!(rebuilt(&[("", false), ("", false)]), None);
    }
}
