//! The log of events and those who read it.
//!
//! One lock guards both. A subscriber with a cursor reads from the log at its own pace; in the very step in which it
//! finds nothing more there, it becomes live and gets a queue. Every publication appends to the log and to the queues
//! in one step too, so the seam has no hole and no repeat. HTTP it must never know.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use tokio::sync::Notify;

use super::ServerOptions;
use crate::wire::{self, encode};

/// A subscriber is handed about this much at once, in bytes, so that the rest waits here and not in HTTP's buffers.
const TAKE_BYTES: usize = 8 * 1024;

/// An event as it stands in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its id, a decimal on the wire.
    pub id: u64,
    /// Its type.
    pub event: String,
    /// Its data.
    pub data: String,
}

impl Event {
    fn encode(&self, out: &mut Vec<u8>) {
        let id = self.id.to_string();
        encode::event(out, &wire::Event { id: Some(&id), event: &self.event, data: &self.data });
    }
}

/// What has happened on a server since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Events published.
    pub published: u64,
    /// Streams that were begun.
    pub connections: u64,
    /// Events read from the log for subscribers that came with a cursor.
    pub replayed: u64,
    /// Events discarded, summed over all subscribers.
    pub discarded: u64,
    /// Comments handed out that told a subscriber of events discarded.
    pub drop_notices: u64,
}

/// Names a subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SubscriberKey(u64);

/// What [`Hub::take`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Something.
    Bytes,
    /// Nothing now; the waker will be called.
    Nothing,
    /// Nothing ever again.
    End,
}

/// The log and its subscribers.
#[derive(Debug)]
pub(super) struct Hub {
    state: Mutex<State>,
    /// Told whenever a subscriber comes, goes live or leaves.
    changed: Notify,
}

impl Hub {
    pub(super) fn new(options: &ServerOptions) -> Self {
        let state = State {
            log: VecDeque::new(),
            log_events: options.log_events.max(1),
            queue_events: options.queue_events.max(1),
            next_id: options.first_id,
            subscribers: BTreeMap::new(),
            next_key: 0,
            stopping: false,
            last_cursor: None,
            stats: Stats::default(),
        };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    /// Appends events of these types and data in one step, and hands them to all live subscribers. Gives the last id.
    pub(super) fn publish(&self, events: impl IntoIterator<Item = (String, String)>) -> u64 {
        let mut state = self.lock();
        for (event, data) in events {
            state.append(event, data);
        }
        for subscriber in state.subscribers.values_mut() {
            subscriber.wake();
        }
        state.next_id.saturating_sub(1)
    }

    /// Begins a subscription: after the event with id `cursor`, or with the next event.
    pub(super) fn subscribe(&self, cursor: Option<u64>) -> SubscriberKey {
        let mut state = self.lock();
        let key = SubscriberKey(state.next_key);
        state.next_key += 1;
        state.stats.connections += 1;
        state.last_cursor = cursor;
        let source = state.source_after(cursor);
        let closing = state.stopping;
        state.subscribers.insert(key, Subscriber { source, closing, waker: None });
        self.changed.notify_waiters();
        key
    }

    pub(super) fn unsubscribe(&self, key: SubscriberKey) {
        self.lock().subscribers.remove(&key);
        self.changed.notify_waiters();
    }

    /// Appends whole blocks for a subscriber to `out`, or keeps its waker if there are none.
    pub(super) fn take(&self, key: SubscriberKey, out: &mut Vec<u8>, waker: &Waker) -> Taken {
        let mut state = self.lock();
        let State { log, subscribers, stats, .. } = &mut *state;
        let Some(subscriber) = subscribers.get_mut(&key) else { return Taken::End };
        let before = out.len();
        if let Source::Log { next } = &mut subscriber.source {
            if !read_log(log, next, out, stats) {
                return Taken::Bytes;
            }
            subscriber.source = Source::Live(Queue::default());
            self.changed.notify_waiters();
        }
        if let Source::Live(queue) = &mut subscriber.source {
            queue.drain(out, stats);
        }
        if out.len() > before {
            return Taken::Bytes;
        }
        if subscriber.closing {
            return Taken::End;
        }
        subscriber.waker = Some(waker.clone());
        Taken::Nothing
    }

    /// Ends every subscription after what is queued for it.
    pub(super) fn disconnect(&self) {
        for subscriber in self.lock().subscribers.values_mut() {
            subscriber.closing = true;
            subscriber.wake();
        }
    }

    /// As [`Self::disconnect`], and a subscription begun from now on ends where the log ends.
    pub(super) fn stop(&self) {
        self.lock().stopping = true;
        self.disconnect();
    }

    pub(super) fn log(&self) -> Vec<Event> {
        self.lock().log.iter().map(|event| (**event).clone()).collect()
    }

    pub(super) fn last_cursor(&self) -> Option<u64> {
        self.lock().last_cursor
    }

    pub(super) fn stats(&self) -> Stats {
        self.lock().stats
    }

    /// Waits until at least this many subscribers are live.
    pub(super) async fn wait_for_live(&self, subscribers: usize) {
        loop {
            let changed = self.changed.notified();
            if self.live() >= subscribers {
                return;
            }
            changed.await;
        }
    }

    /// How many subscribers are live.
    pub(super) fn live(&self) -> usize {
        self.lock().subscribers.values().filter(|one| matches!(one.source, Source::Live(_)) && !one.closing).count()
    }

    /// No code under the lock leaves the state half changed, so a poisoned one is as good as any.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct State {
    /// Oldest first; ids are consecutive.
    log: VecDeque<Arc<Event>>,
    log_events: usize,
    queue_events: usize,
    next_id: u64,
    subscribers: BTreeMap<SubscriberKey, Subscriber>,
    next_key: u64,
    stopping: bool,
    /// What the latest subscriber came with.
    last_cursor: Option<u64>,
    stats: Stats,
}

impl State {
    fn append(&mut self, event: String, data: String) {
        let event = Arc::new(Event { id: self.next_id, event, data });
        self.next_id += 1;
        self.stats.published += 1;
        for subscriber in self.subscribers.values_mut().filter(|one| !one.closing) {
            if let Source::Live(queue) = &mut subscriber.source {
                queue.push(&event, self.queue_events, &mut self.stats);
            }
        }
        if self.log.len() == self.log_events {
            self.log.pop_front();
        }
        self.log.push_back(event);
    }

    /// An id that was never given is no position: it starts with the next event, as none does.
    fn source_after(&self, cursor: Option<u64>) -> Source {
        match cursor {
            Some(id) if id < self.next_id => {
                let oldest = self.log.front().map_or(self.next_id, |event| event.id);
                Source::Log { next: oldest.max(id + 1) }
            }
            _ => Source::Live(Queue::default()),
        }
    }
}

#[derive(Debug)]
struct Subscriber {
    source: Source,
    /// Ends after what is there for it.
    closing: bool,
    waker: Option<Waker>,
}

impl Subscriber {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

#[derive(Debug)]
enum Source {
    /// Reads the log, at its own pace.
    Log { next: u64 },
    /// Gets what is published.
    Live(Queue),
}

/// What waits for a live subscriber.
#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<Arc<Event>>,
    /// Discarded since the queue was full. While this is not 0 nothing enters: a gap is one run of events.
    discarded: u64,
}

impl Queue {
    fn push(&mut self, event: &Arc<Event>, room: usize, stats: &mut Stats) {
        if self.discarded > 0 || self.events.len() >= room {
            self.discarded += 1;
            stats.discarded += 1;
        } else {
            self.events.push_back(Arc::clone(event));
        }
    }

    /// Hands out events and, after the last one before a gap, the notice of it.
    fn drain(&mut self, out: &mut Vec<u8>, stats: &mut Stats) {
        while out.len() < TAKE_BYTES {
            match self.events.pop_front() {
                Some(event) => event.encode(out),
                None => break,
            }
        }
        if self.events.is_empty() && self.discarded > 0 {
            drop_notice(out, std::mem::take(&mut self.discarded), stats);
        }
    }
}

/// Hands out events from the log; `true` if nothing more is there. Events that the log has let go of in the meantime
/// are told of like others that a slow reader loses.
fn read_log(log: &VecDeque<Arc<Event>>, next: &mut u64, out: &mut Vec<u8>, stats: &mut Stats) -> bool {
    let Some(oldest) = log.front().map(|event| event.id) else { return true };
    if *next < oldest {
        let lost = oldest - *next;
        stats.discarded += lost;
        drop_notice(out, lost, stats);
        *next = oldest;
    }
    let skip = usize::try_from(*next - oldest).unwrap_or(usize::MAX);
    for event in log.iter().skip(skip) {
        if out.len() >= TAKE_BYTES {
            return false;
        }
        event.encode(out);
        stats.replayed += 1;
        *next = event.id + 1;
    }
    true
}

fn drop_notice(out: &mut Vec<u8>, count: u64, stats: &mut Stats) {
    encode::comment(out, &format!("you are reading too slowly, dropped {count} messages"));
    stats.drop_notices += 1;
}

#[cfg(test)]
mod tests;
