//! Which event of the control's is which of the slow reader's. Ids do not serve: a server may leave them out.

use std::collections::HashMap;

use crate::consumer::time::Timestamp;
use crate::probe::observe::Observation;

/// How an event came to the slow reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When.
    pub at: Timestamp,
    /// On which of its connections.
    pub connection: u32,
    /// A connection that went on after an earlier one brought it, and it was published before that one began.
    pub by_resume: bool,
}

/// What became of each of the control's events, by their number.
#[derive(Clone, Debug, Default)]
pub struct Matching {
    deliveries: Vec<Option<Delivery>>,
    again: Vec<u64>,
}

impl Matching {
    /// Lays what the slow reader saw beside what the control saw.
    #[must_use]
    pub fn new(control: &Observation, slow: &Observation) -> Self {
        let mut places: HashMap<(&str, u64), Vec<usize>> = HashMap::new();
        let published: Vec<Timestamp> = control.events().map(|event| event.at).collect();
        for (at, event) in control.events().enumerate() {
            places.entry((&event.event, event.digest)).or_default().push(at);
        }
        let mut matching = Self { deliveries: vec![None; published.len()], again: vec![0; published.len()] };
        for event in slow.events() {
            let Some(candidates) = places.get(&(event.event.as_ref(), event.digest)) else { continue };
            let free = candidates.iter().copied().find(|&at| matching.deliveries[at].is_none());
            let Some(at) = free else {
                let last = candidates[candidates.len() - 1];
                let same = matching.deliveries[last].is_some_and(|earlier| earlier.connection == event.connection);
                matching.again[last] += u64::from(same);
                continue;
            };
            let opened = slow.stands.get(event.connection as usize).map(|stand| stand.opened);
            let by_resume = event.connection > 0 && opened.is_some_and(|opened| published[at] < opened);
            matching.deliveries[at] = Some(Delivery { at: event.at, connection: event.connection, by_resume });
        }
        matching
    }

    /// How the control's event of this number came to the slow reader, if it did.
    #[must_use]
    pub fn delivery(&self, at: usize) -> Option<Delivery> {
        self.deliveries.get(at).copied().flatten()
    }

    /// How often it came again on the same connection.
    #[must_use]
    pub fn again(&self, at: usize) -> u64 {
        self.again.get(at).copied().unwrap_or_default()
    }

    /// The first event that came to both readers.
    #[must_use]
    pub fn begins(&self) -> usize {
        self.deliveries.iter().position(Option::is_some).unwrap_or(self.deliveries.len())
    }

    /// The event after the last that came to both: what follows may still be under way.
    #[must_use]
    pub fn horizon(&self) -> usize {
        self.deliveries.iter().rposition(Option::is_some).map_or(0, |last| last + 1)
    }
}
