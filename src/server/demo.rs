//! The server as the demo needs it: numbered events, one queue for all types, and a comment that tells what was dropped.

use std::io;
use std::net::SocketAddr;

use super::{Publication, STREAM_PATH, Server, ServerOptions};
use crate::backpressure::Policies;

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

/// A running server with the habits of those in the wild. Dropping it ends it at once.
#[derive(Debug)]
pub struct DemoServer {
    server: Server,
    next_id: std::sync::atomic::AtomicU64,
}

impl DemoServer {
    /// Starts to listen, on the runtime of the caller. The first event has the id `first_id`; this many events wait for
    /// one slow client before further ones are dropped.
    ///
    /// # Errors
    /// If no address can be listened on.
    pub async fn start(first_id: u64, queue_events: usize) -> io::Result<Self> {
        let policy = format!("*=buffer:{queue_events},overflow=notice");
        let policies = Policies::parse([policy.as_str()]).map_err(io::Error::other)?;
        let options = ServerOptions { first_id: Some(first_id), policies, ..ServerOptions::default() };
        Ok(Self { server: Server::start(options, []).await?, next_id: first_id.into() })
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// The URL of the stream.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url(STREAM_PATH)
    }

    /// Appends an event and hands it to all live clients. Gives its id.
    pub fn publish(&self, event: &str, data: &str) -> u64 {
        self.server.hub.publish([Publication { id: None, event: event.to_owned(), data: data.to_owned() }], true);
        self.count(1)
    }

    /// Appends events, given as type and data, at one instant: no client takes anything while it goes on, so each live
    /// one gets just what its queue has room for, and the rest is dropped for it. Gives the id of the last.
    pub fn publish_all(&self, events: impl IntoIterator<Item = (String, String)>) -> u64 {
        let events: Vec<_> = events.into_iter().map(|(event, data)| Publication { id: None, event, data }).collect();
        let count = events.len() as u64;
        self.server.hub.publish(events, false);
        self.count(count)
    }

    fn count(&self, events: u64) -> u64 {
        self.next_id.fetch_add(events, std::sync::atomic::Ordering::Relaxed) + events - 1
    }

    /// Waits until this many clients at least are live: connected, and done with what the log had for them.
    pub async fn live(&self, clients: usize) {
        self.server.live(clients).await;
    }

    /// All events that the log holds, oldest first.
    #[must_use]
    pub fn log(&self) -> Vec<Event> {
        let numbered = |event: Publication| {
            let id = event.id.and_then(|id| id.parse().ok()).expect("this server numbers its events");
            Event { id, event: event.event, data: event.data }
        };
        self.server.hub.log().into_iter().map(numbered).collect()
    }

    /// The cursor that the latest request for the stream came with, if it had one.
    #[must_use]
    pub fn last_cursor(&self) -> Option<String> {
        self.server.hub.last_cursor()
    }
}
