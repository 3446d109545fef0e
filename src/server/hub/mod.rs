//! The log of events and those who read it.
//!
//! One lock guards both. A client with a cursor reads from the log at its own pace; in the very step in which it finds
//! nothing more there, it becomes live. A publication appends to the log and goes to every live client in one step too:
//! straight to its socket where nothing waits for it, else to its queue. What a socket does not take at once is how it
//! is known that a client is slow; nothing stands between the two. HTTP it must never know.

mod client;
mod counts;
mod event;
mod log;

use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

use self::client::{Client, Common, is_replayed};
pub use self::client::{Flushed, Socket};
pub use self::counts::{ClientStanding, Stats, TypeCounts};
pub use self::event::Publication;
use self::event::Published;
use self::log::{Current, Log};
use super::ServerOptions;
use crate::backpressure::Policies;
use crate::wire::{self, encode};

/// How a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    /// Where it was asked to.
    Here(ClientKey),
    /// The log no longer has the cursor, or never had it; no stream.
    Expired,
    /// There are too many clients; no stream.
    Full,
}

/// Names a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientKey(u64);

/// One event of the current state.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(super) struct StateEvent {
    event: String,
    id: Option<String>,
    data: String,
}

/// The current state: what `GET /snapshot` gives.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(super) struct Snapshot {
    last_event_id: Option<String>,
    state: Vec<StateEvent>,
}

/// The log and its clients.
#[derive(Debug)]
pub(super) struct Hub {
    state: Mutex<State>,
    /// Told whenever a client comes, goes live or leaves.
    changed: Notify,
}

#[derive(Debug)]
struct State {
    options: ServerOptions,
    policies: Policies,
    log: Log,
    current: Current,
    next_seq: u64,
    /// The next number that is given as an id, where the server numbers events.
    next_id: Option<u64>,
    clients: BTreeMap<ClientKey, Client>,
    next_key: u64,
    stopping: bool,
    /// What the latest client came with.
    last_cursor: Option<String>,
    stats: Stats,
    names: BTreeMap<Box<str>, Arc<str>>,
    replays: Histogram,
}

/// The parts of the state that a client is written to with, and the clients.
fn parts(state: &mut State) -> (&mut BTreeMap<ClientKey, Client>, Common<'_>) {
    let common = Common {
        log: &state.log,
        current: &state.current,
        policies: &state.policies,
        stats: &mut state.stats,
        next_seq: state.next_seq,
        retry_ms: millis(state.options.retry_at_end),
        replays: &state.replays,
    };
    (&mut state.clients, common)
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Hub {
    pub(super) fn new(options: &ServerOptions) -> Self {
        let origin = options.first_id.map(|first| first.saturating_sub(1).to_string());
        let state = State {
            policies: options.policies.clone(),
            log: Log::new(options.log_events, origin),
            current: Current::default(),
            next_seq: 1,
            next_id: options.first_id,
            clients: BTreeMap::new(),
            next_key: 1,
            stopping: false,
            last_cursor: None,
            stats: Stats::default(),
            names: BTreeMap::new(),
            replays: Histogram::new(exponential_buckets(1.0, 10.0, 6)),
            options: options.clone(),
        };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    /// Publishes events in one step. With `direct`, a client that keeps up is written to at once; without, each client
    /// gets what its queue has room for, whatever its speed.
    pub(super) fn publish(&self, events: impl IntoIterator<Item = Publication>, direct: bool) {
        let mut state = self.lock();
        for event in events {
            state.publish(event, direct);
        }
    }

    /// Gives each event the next id, where the server numbers events.
    pub(super) fn number(&self, events: &mut [Publication]) {
        let mut state = self.lock();
        for event in events {
            if let Some(id) = state.number() {
                event.id = Some(id);
            }
        }
    }

    /// Gives a block that is no event to every client that keeps up.
    pub(super) fn broadcast(&self, block: &[u8]) {
        for client in self.lock().clients.values_mut() {
            client.offer_block(block);
        }
    }

    /// Keeps an event as if it had been published before the server was started.
    pub(super) fn restore(&self, event: &Publication) {
        let mut state = self.lock();
        let next_id = event.id.as_ref().and_then(|id| id.parse::<u64>().ok()).map(|id| id.saturating_add(1));
        state.keep(event);
        if state.next_id.is_some() && next_id.is_some() {
            state.next_id = next_id;
        }
    }

    /// Begins a stream: after the event with id `cursor`, or with the next event.
    pub(super) fn subscribe(&self, socket: Arc<dyn Socket>, cursor: Option<&str>, first: Vec<u8>) -> Begun {
        let mut state = self.lock();
        if state.clients.len() >= state.options.clients_max {
            state.stats.refused += 1;
            return Begun::Full;
        }
        state.last_cursor = cursor.map(str::to_owned);
        let cursor = cursor.filter(|cursor| !cursor.is_empty());
        let mut first = first;
        let replay = match cursor.map(|cursor| state.log.position(cursor)) {
            None => None,
            Some(Some(seq)) if state.is_within_cap(seq) => Some(seq + 1).filter(|&next| next < state.next_seq),
            Some(None) if !state.options.expired_is_event => {
                state.stats.expired += 1;
                return Begun::Expired;
            }
            Some(position) => {
                state.resync(&mut first, position);
                None
            }
        };
        let key = state.begin(socket, replay, first);
        drop(state);
        self.changed.notify_waiters();
        Begun::Here(key)
    }

    pub(super) fn unsubscribe(&self, key: ClientKey) {
        self.lock().clients.remove(&key);
        self.changed.notify_waiters();
    }

    /// What is told when there may be something to [flush](Self::flush) for this client.
    pub(super) fn wake(&self, key: ClientKey) -> Arc<Notify> {
        self.lock().clients.get(&key).map_or_else(Arc::default, |client| Arc::clone(&client.wake))
    }

    /// Gives a client's socket as much as it takes.
    pub(super) fn flush(&self, key: ClientKey) -> Flushed {
        let mut state = self.lock();
        let (clients, mut common) = parts(&mut state);
        let Some(client) = clients.get_mut(&key) else { return Flushed::Gone };
        let was_live = client.is_live();
        let flushed = client.flush(&mut common);
        if client.is_live() != was_live {
            self.changed.notify_waiters();
        }
        flushed
    }

    /// The stream of this client is about to end.
    pub(super) fn is_ending(&self, key: ClientKey) -> bool {
        self.lock().clients.get(&key).is_none_or(Client::is_ending)
    }

    /// Sends a comment to a client for which nothing waits.
    pub(super) fn heartbeat(&self, key: ClientKey) {
        let mut block = Vec::new();
        encode::comment(&mut block, "heartbeat");
        if let Some(client) = self.lock().clients.get_mut(&key) {
            client.offer_block(&block);
        }
    }

    /// Ends every stream after what waits for its client, each with when to come back.
    pub(super) fn disconnect(&self) {
        for client in self.lock().clients.values_mut() {
            client.drain();
        }
    }

    /// As [`Self::disconnect`], and a stream begun from now on ends where the log ends.
    pub(super) fn stop(&self) {
        self.lock().stopping = true;
        self.disconnect();
    }

    /// All events that the log holds, oldest first.
    pub(super) fn log(&self) -> Vec<Publication> {
        let state = self.lock();
        let plain = |event: &Arc<Published>| Publication {
            id: event.id().map(str::to_owned),
            event: event.event.to_string(),
            data: event.data(),
        };
        state.log.iter().map(plain).collect()
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let state = self.lock();
        let plain = |event: &Arc<Published>| StateEvent {
            event: event.event.to_string(),
            id: event.id().map(str::to_owned),
            data: event.data(),
        };
        Snapshot {
            last_event_id: state.log.last_id().map(str::to_owned),
            state: state.current.all().into_iter().map(plain).collect(),
        }
    }

    /// How many events each replay had.
    pub(super) fn replays(&self) -> Histogram {
        self.lock().replays.clone()
    }

    /// How many bytes may wait for one client.
    pub(super) fn queue_bytes_max(&self) -> usize {
        self.lock().policies.queue_bytes_max()
    }

    pub(super) fn last_cursor(&self) -> Option<String> {
        self.lock().last_cursor.clone()
    }

    pub(super) fn stats(&self) -> Stats {
        self.lock().stats.clone()
    }

    /// How the clients stand, at most so many of them: those for whom most waits first.
    pub(super) fn standings(&self, clients_max: usize) -> Vec<ClientStanding> {
        let mut standings: Vec<_> = self.lock().clients.iter().map(|(key, client)| client.standing(key.0)).collect();
        standings.sort_by_key(|standing| (std::cmp::Reverse(standing.queue_bytes), standing.number));
        standings.truncate(clients_max);
        standings
    }

    /// Waits until at least this many clients are live.
    pub(super) async fn wait_for_live(&self, clients: usize) {
        loop {
            let changed = self.changed.notified();
            if self.live() >= clients {
                return;
            }
            changed.await;
        }
    }

    /// Waits until no client is there, or nothing is left for any.
    pub(super) async fn wait_for_idle(&self) {
        let is_idle = || self.lock().clients.values().all(Client::is_idle);
        while !is_idle() {
            tokio::time::sleep(super::IDLE_POLL).await;
        }
    }

    /// How many clients are live.
    pub(super) fn live(&self) -> usize {
        self.lock().clients.values().filter(|client| client.is_live()).count()
    }

    /// No code under the lock leaves the state half changed, so a poisoned one is as good as any.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn publish(&mut self, event: Publication, direct: bool) {
        let event = self.append(event);
        self.stats.of(&event.event).published += 1;
        let (clients, mut common) = parts(self);
        for client in clients.values_mut() {
            client.offer(&event, direct, &mut common);
        }
    }

    fn append(&mut self, mut event: Publication) -> Arc<Published> {
        if event.id.is_none() {
            event.id = self.number();
        }
        self.keep(&event)
    }

    /// The next id, where the server numbers events.
    fn number(&mut self) -> Option<String> {
        let next = self.next_id.as_mut()?;
        *next += 1;
        Some((*next - 1).to_string())
    }

    fn keep(&mut self, event: &Publication) -> Arc<Published> {
        let route = self.policies.route(&event.event, &event.data);
        let name = self.name(&event.event);
        let published = Arc::new(Published::new(self.next_seq, name, route, event));
        self.next_seq += 1;
        self.current.set(&self.policies, &published);
        self.log.append(&published);
        published
    }

    /// One copy of each type's name, of as many as are counted.
    fn name(&mut self, event: &str) -> Arc<str> {
        if let Some(name) = self.names.get(event) {
            return Arc::clone(name);
        }
        let name: Arc<str> = event.into();
        if self.names.len() < super::NAMES_MAX {
            self.names.insert(event.into(), Arc::clone(&name));
        }
        name
    }

    fn is_within_cap(&self, seq: u64) -> bool {
        let replayed = self.log.after(seq).filter(|event| is_replayed(event, &self.policies, &self.current));
        replayed.take(self.options.replay_cap.saturating_add(1)).count() <= self.options.replay_cap
    }

    /// Tells a client that it cannot be given what it missed. The id moves its cursor to where it goes on.
    fn resync(&mut self, first: &mut Vec<u8>, position: Option<u64>) {
        let missed = position.map(|seq| self.next_seq - 1 - seq);
        let reason = if position.is_some() { "replay-cap" } else { "expired" };
        let data = serde_json::json!({ "reason": reason, "missed": missed, "snapshot": super::SNAPSHOT_PATH });
        let event = wire::Event { id: self.log.last_id(), event: "resync", data: &data.to_string() };
        encode::event(first, &event);
        self.stats.resyncs += 1;
        self.stats.expired += u64::from(position.is_none());
    }

    fn begin(&mut self, socket: Arc<dyn Socket>, replay: Option<u64>, first: Vec<u8>) -> ClientKey {
        let key = ClientKey(self.next_key);
        self.next_key += 1;
        self.stats.connections += 1;
        let mut client = Client::new(socket, &self.policies, replay, first);
        if self.stopping {
            client.drain();
        }
        self.clients.insert(key, client);
        key
    }
}

#[cfg(test)]
mod tests;
