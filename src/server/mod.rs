//! An SSE server: a log of events, served after a cursor and then live, to clients of any speed.
//!
//! `ssectl serve` and `ssectl demo` run it. It is responsible for HTTP, the log and its clients (`hub`), and for seeing
//! that a client is slow. What then happens to which event is [`crate::backpressure`]. It must never know a cursor
//! store, the terminal, or where events come from.
//!
//! **Why it speaks HTTP itself.** A stream's bytes go to the socket with `try_write` and from nowhere else, so that what
//! the socket did not take is in the queue, where it can still be replaced. A general HTTP server keeps a buffer of its
//! own (hyper at least 8 KiB a connection) that is filled before it is known whether the socket takes it. Heads are
//! parsed by `httparse`; every response ends with its connection, so nothing has to be framed.

mod accept;
mod connection;
mod demo;
mod head;
mod hub;
mod lab;
mod metrics;
mod respond;

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::backpressure::Policies;

pub use demo::{DemoServer, Event};
use hub::Hub;
pub use hub::{ClientKey, ClientStanding, Flushed, Publication, Socket, Stats, TypeCounts};
pub use lab::Lab;

/// The path of the event stream.
pub const STREAM_PATH: &str = "/events";
/// The path of the current state.
pub const SNAPSHOT_PATH: &str = "/snapshot";
/// The path of the metrics.
pub const METRICS_PATH: &str = "/metrics";
/// The path of the server's own stream of figures, for its page.
pub const STATS_PATH: &str = "/stats";

/// How many names of event types are kept once for all.
const NAMES_MAX: usize = 1000;
/// How often it is looked whether clients have taken everything, where that is waited for.
const IDLE_POLL: Duration = Duration::from_millis(10);

/// How a server behaves.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Where it listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// It may be asked for by any name. Else only by an address, or a name that leads to no other machine.
    pub any_host: bool,
    /// Events are numbered from here, each higher by 1; `None` leaves them the ids that their source gave them.
    pub first_id: Option<u64>,
    /// What a slow client costs.
    pub policies: Policies,
    /// How many events the log keeps; the oldest go first.
    pub log_events: usize,
    /// A client with a cursor is sent at most this many events from the log; one that misses more gets a `resync`.
    pub replay_cap: usize,
    /// A cursor that the log does not have is answered with a `resync` event, not with 410.
    pub expired_is_event: bool,
    /// A `: heartbeat` comment after this long without anything else; `None` for none.
    pub heartbeat: Option<Duration>,
    /// The reconnection time that each stream begins with; `None` for none.
    pub retry: Option<Duration>,
    /// The reconnection time that a stream ends with which the server ends.
    pub retry_at_end: Duration,
    /// The kernel's send buffer of each connection, in bytes (the kernel may round it up). Small, so that a slow
    /// client is felt soon.
    pub send_buffer_bytes: u32,
    /// How many streams may be open at once; a further one gets 503.
    pub clients_max: usize,
    /// How long a request's head may take.
    pub head_time: Duration,
    /// How large a request's head may be, in bytes.
    pub head_bytes_max: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            any_host: false,
            first_id: None,
            policies: Policies::default(),
            log_events: 100_000,
            replay_cap: 10_000,
            expired_is_event: false,
            heartbeat: Some(Duration::from_secs(15)),
            retry: None,
            retry_at_end: Duration::from_secs(1),
            send_buffer_bytes: 16 * 1024,
            clients_max: 10_000,
            head_time: Duration::from_secs(10),
            head_bytes_max: 16 * 1024,
        }
    }
}

/// A running server. Dropping it ends it at once; [`Self::stop`] ends it in good order.
#[derive(Debug)]
pub struct Server {
    addr: SocketAddr,
    hub: Arc<Hub>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// Gives events to a server, from wherever they come. A clone gives to the same server.
#[derive(Clone, Debug)]
pub struct Publisher(Arc<Hub>);

impl Publisher {
    /// Gives each event the next id, where the server numbers events; for who has to know the ids before they are published.
    pub fn number(&self, events: &mut [Publication]) {
        self.0.number(events);
    }

    /// Publishes events in one step: to the log, and to every client.
    pub fn publish(&self, events: impl IntoIterator<Item = Publication>) {
        self.0.publish(events, true);
    }

    /// Gives a comment to every client that keeps up.
    pub fn comment(&self, text: &str) {
        let mut block = Vec::new();
        crate::wire::encode::comment(&mut block, text);
        self.0.broadcast(&block);
    }

    /// Gives a reconnection time, in milliseconds, to every client that keeps up.
    pub fn retry(&self, millis: u64) {
        let mut block = Vec::new();
        crate::wire::encode::retry(&mut block, millis);
        self.0.broadcast(&block);
    }

    /// Ends all streams, each after what waits for its client. New ones are welcome.
    pub fn disconnect(&self) {
        self.0.disconnect();
    }
}

impl Server {
    /// Starts to listen, on the runtime of the caller. The log holds `log` at first.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub async fn start(options: ServerOptions, log: impl IntoIterator<Item = Publication>) -> io::Result<Self> {
        let listener: TcpListener = accept::listen(&options)?;
        let addr = listener.local_addr()?;
        let hub = Arc::new(Hub::new(&options));
        log.into_iter().for_each(|event| hub.restore(&event));
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(accept::serve(listener, Arc::clone(&hub), Arc::new(options), stopped));
        Ok(Self { addr, hub, stop, task })
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The URL of one of its paths.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    /// What events are given to.
    #[must_use]
    pub fn publisher(&self) -> Publisher {
        Publisher(Arc::clone(&self.hub))
    }

    /// Waits until this many clients at least are live: connected, and done with what the log had for them.
    pub fn live(&self, clients: usize) -> impl Future<Output = ()> + '_ {
        self.hub.wait_for_live(clients)
    }

    /// Waits until every client has been given everything.
    pub fn idle(&self) -> impl Future<Output = ()> + '_ {
        self.hub.wait_for_idle()
    }

    /// What has happened so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.hub.stats()
    }

    /// How the clients stand, at most so many of them.
    #[must_use]
    pub fn standings(&self, clients_max: usize) -> Vec<ClientStanding> {
        self.hub.standings(clients_max)
    }

    /// Stops listening, tells clients when to come back, lets them take what waits for them (for a second at most), and
    /// closes.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        self.hub.stop();
        // The task ends by itself; that it was cancelled or panicked leaves nothing to do here.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests;
