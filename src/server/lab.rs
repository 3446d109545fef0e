//! The server without its network, for benches: sockets take what they are told to, and time is whatever it is said to be.

use std::sync::Arc;

use super::ServerOptions;
use super::hub::{Begun, ClientKey, ClientStanding, Flushed, Hub, Publication, Socket, Stats};

/// The hub, with sockets from elsewhere.
#[derive(Debug)]
pub struct Lab(Hub);

impl Lab {
    /// A server that has no address.
    #[must_use]
    pub fn new(options: &ServerOptions) -> Self {
        Self(Hub::new(options))
    }

    /// Publishes an event.
    pub fn publish(&self, event: Publication) {
        self.0.publish([event], true);
    }

    /// Begins a live stream to a socket; `None` if there are too many.
    pub fn client(&self, socket: Arc<dyn Socket>) -> Option<ClientKey> {
        match self.0.subscribe(socket, None, Vec::new()) {
            Begun::Here(key) => Some(key),
            Begun::Expired | Begun::Full => None,
        }
    }

    /// Gives a client's socket as much as it takes: what the task of a connection does when the socket can take more.
    pub fn flush(&self, client: ClientKey) -> Flushed {
        self.0.flush(client)
    }

    /// What has happened so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }

    /// How the clients stand.
    #[must_use]
    pub fn standings(&self) -> Vec<ClientStanding> {
        self.0.standings(usize::MAX)
    }
}
