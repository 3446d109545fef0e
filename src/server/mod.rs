//! An SSE server on loopback: a log of events, served after a cursor and then live, with the trouble that real
//! servers make for a slow reader.
//!
//! `ssectl demo` runs against it. It is responsible for HTTP, the log and its subscribers (`hub`). It must never
//! know a client, a cursor store or the terminal. When a subscriber's queue is full its events are discarded, and
//! once it has caught up a comment says how many, as servers in the wild do it.

mod body;
mod hub;
mod request;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use hub::Hub;
pub use hub::{Event, Stats};

/// What hyper may hold of a response that the socket does not take, in bytes; its smallest value.
const HTTP_BUFFER_BYTES: usize = 8192;
/// Connections that may wait to be accepted.
const BACKLOG: u32 = 128;
/// How long [`DemoServer::stop`] waits for clients to take what is queued for them.
const STOP_WAIT: Duration = Duration::from_secs(1);
/// The pause after a connection could not be accepted (no file descriptor left), lest the loop spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How a server behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// Where it listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The id of the first event; each later one is higher by 1.
    pub first_id: u64,
    /// How many events wait for one live subscriber before further ones are discarded.
    pub queue_events: usize,
    /// How many events the log keeps; the oldest go first. A cursor older than they are starts at the oldest, and
    /// as with most servers nothing says so.
    pub log_events: usize,
    /// A `: heartbeat` comment after this long without anything else; `None` for none.
    pub heartbeat: Option<Duration>,
    /// The reconnection time that each response begins with; `None` for none.
    pub retry: Option<Duration>,
    /// The kernel's send buffer of each connection, in bytes (the kernel may round it up). Small, so that a slow
    /// reader is felt soon.
    pub send_buffer_bytes: u32,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            first_id: 1,
            queue_events: 256,
            log_events: 100_000,
            heartbeat: Some(Duration::from_secs(15)),
            retry: None,
            send_buffer_bytes: 16 * 1024,
        }
    }
}

/// A running server. `GET /events` is the stream; a cursor comes as `Last-Event-ID` or as `?last-event-id=`.
///
/// Dropping it ends it at once; [`Self::stop`] ends it in good order.
#[derive(Debug)]
pub struct DemoServer {
    /// Where it listens.
    pub addr: SocketAddr,
    hub: Arc<Hub>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl DemoServer {
    /// Starts to listen, on the runtime of the caller.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub async fn start(options: ServerOptions) -> io::Result<Self> {
        let listener = listen(&options)?;
        let addr = listener.local_addr()?;
        let hub = Arc::new(Hub::new(&options));
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(serve(listener, Arc::clone(&hub), Arc::new(options), stopped));
        Ok(Self { addr, hub, stop, task })
    }

    /// The URL of the stream.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/events", self.addr)
    }

    /// Appends an event and hands it to all live subscribers. Gives its id.
    pub fn publish(&self, event: &str, data: &str) -> u64 {
        self.hub.publish([(event.to_owned(), data.to_owned())])
    }

    /// Appends events, given as type and data, at one instant: no subscriber takes anything while it goes on, so each
    /// live one gets just what its queue has room for, and the rest is discarded for it. Gives the id of the last.
    pub fn publish_all(&self, events: impl IntoIterator<Item = (String, String)>) -> u64 {
        self.hub.publish(events)
    }

    /// Waits until this many subscribers at least are live: connected, and done with what the log had for them.
    pub async fn live(&self, subscribers: usize) {
        self.hub.wait_for_live(subscribers).await;
    }

    /// Ends all streams, each after what is queued for its client. New connections are welcome.
    pub fn disconnect(&self) {
        self.hub.disconnect();
    }

    /// All events that the log holds, oldest first.
    #[must_use]
    pub fn log(&self) -> Vec<Event> {
        self.hub.log()
    }

    /// The cursor that the latest request for the stream came with, if it had one.
    #[must_use]
    pub fn last_cursor(&self) -> Option<u64> {
        self.hub.last_cursor()
    }

    /// What has happened so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.hub.stats()
    }

    /// Stops listening, lets clients take what is queued for them (for a second at most), and closes.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        self.hub.stop();
        // The task ends by itself; that it was cancelled or panicked leaves nothing to do here.
        let _ = (&mut self.task).await;
    }
}

impl Drop for DemoServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Connections inherit the send buffer from the socket that accepts them.
fn listen(options: &ServerOptions) -> io::Result<TcpListener> {
    let socket = if options.listen.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_send_buffer_size(options.send_buffer_bytes)?;
    socket.bind(options.listen)?;
    socket.listen(BACKLOG)
}

async fn serve(listener: TcpListener, hub: Arc<Hub>, options: Arc<ServerOptions>, mut stopped: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            _ = stopped.wait_for(|&stop| stop) => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((socket, _)) => {
                connections.spawn(connection(socket, Arc::clone(&hub), Arc::clone(&options), stopped.clone()));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
    drop(listener);
    let all_ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(STOP_WAIT, all_ended).await.is_err() {
        connections.shutdown().await;
    }
}

/// One connection with one response. Its errors are the client's: it went away, or spoke no HTTP.
async fn connection(socket: TcpStream, hub: Arc<Hub>, options: Arc<ServerOptions>, mut stopped: watch::Receiver<bool>) {
    let service = service_fn(|request| {
        let response = request::respond(&request, &hub, &options);
        async { Ok::<_, Infallible>(response) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).keep_alive(false).max_buf_size(HTTP_BUFFER_BYTES);
    let mut served = pin!(http.serve_connection(TokioIo::new(socket), service));
    tokio::select! {
        _ = poll_fn(|context| served.as_mut().poll(context)) => return,
        _ = stopped.wait_for(|&stop| stop) => {}
    }
    served.as_mut().graceful_shutdown();
    let _ = served.await;
}

#[cfg(test)]
mod tests;
