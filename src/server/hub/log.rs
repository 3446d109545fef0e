//! What was published: a bounded log to go on from, and the newest event of each key.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::event::Published;
use crate::backpressure::{Kind, Policies, RuleIndex};

/// Events in the order of publication, the oldest of which go when there are too many.
#[derive(Debug)]
pub(super) struct Log {
    /// Numbers are consecutive.
    events: VecDeque<Arc<Published>>,
    events_max: usize,
    /// The newest event of each id, and the last one that went: a reader who has seen that one misses nothing.
    by_id: HashMap<Box<str>, u64>,
    gone: Option<(Box<str>, u64)>,
}

impl Log {
    /// An empty log; `origin` is the id before the first event, if it has one.
    pub(super) fn new(events_max: usize, origin: Option<String>) -> Self {
        let gone = origin.map(|id| (id.into_boxed_str(), 0));
        let by_id = gone.iter().cloned().collect();
        Self { events: VecDeque::new(), events_max: events_max.max(1), by_id, gone }
    }

    pub(super) fn append(&mut self, event: &Arc<Published>) {
        if self.events.len() == self.events_max
            && let Some(gone) = self.events.pop_front()
        {
            let gone = gone.id().map(|id| (Box::from(id), gone.seq));
            if let Some((id, seq)) = std::mem::replace(&mut self.gone, gone)
                && self.by_id.get(&id) == Some(&seq)
            {
                self.by_id.remove(&id);
            }
        }
        if let Some(id) = event.id() {
            self.by_id.insert(id.into(), event.seq);
        }
        self.events.push_back(Arc::clone(event));
    }

    /// The number of the event with this id, if everything after it is still here.
    pub(super) fn position(&self, id: &str) -> Option<u64> {
        let seq = *self.by_id.get(id)?;
        (seq + 1 >= self.oldest().unwrap_or(seq + 1)).then_some(seq)
    }

    pub(super) fn oldest(&self) -> Option<u64> {
        self.events.front().map(|event| event.seq)
    }

    pub(super) fn get(&self, seq: u64) -> Option<&Arc<Published>> {
        let at = seq.checked_sub(self.oldest()?)?;
        self.events.get(usize::try_from(at).ok()?)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Published>> {
        self.events.iter()
    }

    /// Events after this number, oldest first.
    pub(super) fn after(&self, seq: u64) -> impl Iterator<Item = &Arc<Published>> {
        let skip = self.oldest().map_or(0, |oldest| (seq + 1).saturating_sub(oldest));
        self.events.iter().skip(usize::try_from(skip).unwrap_or(usize::MAX))
    }

    /// The last id that was given.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.events.iter().rev().find_map(|event| event.id()).or(self.gone.as_ref().map(|(id, _)| &**id))
    }
}

/// The newest event of each key of the types that are state.
#[derive(Debug, Default)]
pub(super) struct Current {
    keys: HashMap<Arc<str>, Arc<Published>>,
    /// By rule and number, so that the one that was set longest ago goes first where there are too many.
    order: BTreeMap<(RuleIndex, u64), Arc<str>>,
    counts: HashMap<RuleIndex, usize>,
}

impl Current {
    pub(super) fn set(&mut self, policies: &Policies, event: &Arc<Published>) {
        let rule = event.route.rule;
        let keys_max = match policies.kind(rule) {
            Kind::Coalesce { keys, .. } | Kind::Resnapshot { keys, .. } => *keys,
            Kind::Buffer { .. } | Kind::Drop => return,
        };
        let Some(key) = &event.route.key else { return };
        if let Some(old) = self.keys.insert(Arc::clone(key), Arc::clone(event)) {
            self.order.remove(&(rule, old.seq));
        } else {
            *self.counts.entry(rule).or_default() += 1;
        }
        self.order.insert((rule, event.seq), Arc::clone(key));
        if self.counts.get(&rule).is_some_and(|&count| count > keys_max) {
            self.forget_oldest(rule);
        }
    }

    fn forget_oldest(&mut self, rule: RuleIndex) {
        let oldest = self.order.range((rule, 0)..).next().map(|(place, key)| (*place, Arc::clone(key)));
        if let Some((place, key)) = oldest {
            self.order.remove(&place);
            self.keys.remove(&key);
            *self.counts.entry(rule).or_default() -= 1;
        }
    }

    /// A newer event of the same key has come.
    pub(super) fn is_superseded(&self, event: &Published) -> bool {
        let newest = event.route.key.as_ref().and_then(|key| self.keys.get(key));
        newest.is_some_and(|newest| newest.seq > event.seq)
    }

    /// The newest of each key of a rule, oldest first.
    pub(super) fn of(&self, rule: RuleIndex) -> impl Iterator<Item = &Arc<Published>> {
        let keys = self.order.range((rule, 0)..=(rule, u64::MAX)).map(|(_, key)| key);
        keys.filter_map(|key| self.keys.get(key))
    }

    /// The newest of each key, oldest first.
    pub(super) fn all(&self) -> Vec<&Arc<Published>> {
        let mut all: Vec<_> = self.keys.values().collect();
        all.sort_by_key(|event| event.seq);
        all
    }
}
