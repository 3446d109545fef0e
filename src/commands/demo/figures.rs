//! The verdict: the server's log against what was delivered. Nothing that the client says of itself counts here,
//! but for which events it marked as replayed and how many drop notices it saw.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::watcher::Seen;
use crate::server::Event;

/// The figures of the demo, under the names that `-o json` has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Figures {
    /// Events in the server's log.
    pub(super) published: u64,
    /// Events that the output took.
    pub(super) delivered: u64,
    /// Events of `delivered` that the recovery brought.
    pub(super) recovered: u64,
    /// Events of `delivered` beyond the first delivery of each one in the log.
    pub(super) duplicates: u64,
    /// Events in the log that were never delivered as they stand there.
    pub(super) lost: u64,
    /// Drop notices that the client took for one.
    pub(super) drop_notices: u64,
}

impl Figures {
    /// Compares a log with what was delivered: id, type and data must be the same.
    pub(super) fn new(log: &[Event], seen: &Seen) -> Self {
        let published: HashMap<String, &Event> = log.iter().map(|event| (event.id.to_string(), event)).collect();
        let delivered = seen.events.iter();
        let known: HashSet<&str> = delivered
            .filter_map(|event| {
                let id = event.id.as_deref()?;
                let same = published.get(id).is_some_and(|one| one.event == event.event && one.data == event.data);
                same.then_some(id)
            })
            .collect();
        Self {
            published: count(published.len()),
            delivered: count(seen.events.len()),
            recovered: count(seen.replayed().count()),
            duplicates: count(seen.events.len() - known.len()),
            lost: count(published.len() - known.len()),
            drop_notices: seen.notices("drop-notice"),
        }
    }

    /// Every event was delivered, once.
    pub(super) fn are_good(&self) -> bool {
        self.lost == 0 && self.duplicates == 0
    }
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::watcher::Delivered;
    use super::*;

    fn log(ids: std::ops::RangeInclusive<u64>) -> Vec<Event> {
        ids.map(|id| Event { id, event: "trade".into(), data: format!("data {id}") }).collect()
    }

    fn delivered(id: u64, data: &str) -> Delivered {
        Delivered {
            id: Some(id.to_string()),
            event: "trade".into(),
            data: data.into(),
            time: String::new(),
            replayed: id == 3,
        }
    }

    fn figures(log: &[Event], events: &[(u64, &str)]) -> Figures {
        let events = events.iter().map(|&(id, data)| delivered(id, data)).collect();
        Figures::new(log, &Seen { events, ..Seen::default() })
    }

    #[test]
    fn all_once_is_good() {
        let figures = figures(&log(1..=3), &[(1, "data 1"), (2, "data 2"), (3, "data 3")]);
        let expected = Figures { published: 3, delivered: 3, recovered: 1, duplicates: 0, lost: 0, drop_notices: 0 };
        assert_eq!(figures, expected);
        assert!(figures.are_good());
    }

    #[test]
    fn what_is_missing_is_lost_and_what_comes_again_is_a_duplicate() {
        let missing = figures(&log(1..=3), &[(1, "data 1"), (3, "data 3")]);
        assert_eq!((missing.lost, missing.duplicates, missing.are_good()), (1, 0, false));
        let again = figures(&log(1..=2), &[(1, "data 1"), (2, "data 2"), (1, "data 1")]);
        assert_eq!((again.lost, again.duplicates, again.are_good()), (0, 1, false));
    }

    #[test]
    fn an_event_that_was_changed_is_not_the_one_that_was_published() {
        let changed = figures(&log(1..=2), &[(1, "data 1"), (2, "something else")]);
        assert_eq!((changed.lost, changed.duplicates, changed.are_good()), (1, 1, false));
    }
}
