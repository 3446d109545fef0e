//! One connection with one response. Its errors are the client's: it went away, or spoke no HTTP.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::head::{self, Head, NoHead};
use super::hub::{Begun, ClientKey, Flushed, Hub};
use super::respond::{self, Answer};
use super::{ServerOptions, metrics};
use crate::wire::encode;

/// How long a client may take to read a response that is no stream, and the rest of a stream that is to end.
const LAST_WAIT: Duration = Duration::from_secs(5);
/// How often the stream of figures gives some.
const STATS_PERIOD: Duration = Duration::from_millis(500);
/// What is read of a client that has nothing to say any more, at once.
const IGNORED_BYTES: usize = 1024;

/// Serves a connection to its end.
pub(super) async fn serve(
    mut socket: TcpStream,
    hub: Arc<Hub>,
    options: Arc<ServerOptions>,
    mut stopped: watch::Receiver<bool>,
) {
    let head = tokio::select! {
        head = head::read(&mut socket, &options) => head,
        _ = stopped.wait_for(|&stop| stop) => return,
    };
    let answer = match &head {
        Ok(head) => respond::answer(head, &hub, &options),
        Err(NoHead::Gone) => return,
        Err(why) => respond::no_head(*why),
    };
    match (answer, head) {
        (Answer::Whole(bytes), _) => whole(&mut socket, &bytes).await,
        (Answer::Stats, _) => {
            tokio::select! {
                () = figures(&mut socket, &hub) => {}
                _ = stopped.wait_for(|&stop| stop) => {}
            }
        }
        (Answer::Stream, Ok(head)) => stream(socket, &hub, &head, &options).await,
        (Answer::Stream, Err(_)) => {}
    }
}

async fn whole(socket: &mut TcpStream, bytes: &[u8]) {
    let written = async {
        socket.write_all(bytes).await?;
        socket.shutdown().await?;
        // Read to the client's end: a connection that is closed with bytes unread is reset, and the response lost.
        let mut ignored = [0; IGNORED_BYTES];
        while tokio::io::AsyncReadExt::read(socket, &mut ignored).await? > 0 {}
        io::Result::Ok(())
    };
    let _ = timeout(LAST_WAIT, written).await;
}

/// The stream of figures. A client that does not read is not written to.
async fn figures(socket: &mut TcpStream, hub: &Hub) {
    let mut block = respond::stream_head().to_vec();
    loop {
        let data = metrics::figures(hub);
        encode::event(&mut block, &crate::wire::Event { id: None, event: "stats", data: &data });
        let written = timeout(LAST_WAIT, socket.write_all(&block)).await;
        if !matches!(written, Ok(Ok(()))) {
            return;
        }
        block.clear();
        tokio::time::sleep(STATS_PERIOD).await;
    }
}

async fn stream(mut socket: TcpStream, hub: &Arc<Hub>, head: &Head, options: &ServerOptions) {
    let mut first = respond::stream_head().to_vec();
    if let Some(retry) = options.retry {
        encode::retry(&mut first, u64::try_from(retry.as_millis()).unwrap_or(u64::MAX));
    }
    // Shared with the hub, which writes to it as soon as something is published.
    let shared = Arc::new(socket);
    let key = match hub.subscribe(shared.clone(), head.cursor.as_deref(), first) {
        Begun::Here(key) => key,
        Begun::Expired | Begun::Full if Arc::strong_count(&shared) > 1 => return,
        begun => {
            let Some(alone) = Arc::into_inner(shared) else { return };
            socket = alone;
            whole(&mut socket, &respond::no_stream(begun, options)).await;
            return;
        }
    };
    let subscription = Subscription { hub, key };
    subscription.run(&shared, options.heartbeat).await;
    drop(subscription);
    if let Some(mut socket) = Arc::into_inner(shared) {
        let _ = socket.shutdown().await;
    }
}

/// Dropping it ends the stream, also where its task is cancelled.
struct Subscription<'a> {
    hub: &'a Arc<Hub>,
    key: ClientKey,
}

impl Drop for Subscription<'_> {
    fn drop(&mut self) {
        self.hub.unsubscribe(self.key);
    }
}

impl Subscription<'_> {
    /// Writes what the hub could not write at once, until the stream is over or the client gone.
    async fn run(&self, socket: &TcpStream, heartbeat: Option<Duration>) {
        let wake = self.hub.wake(self.key);
        let mut deadline = None;
        let mut silent_since = Instant::now();
        loop {
            let flushed = self.hub.flush(self.key);
            if matches!(flushed, Flushed::End | Flushed::Gone) {
                return;
            }
            if deadline.is_none() && self.hub.is_ending(self.key) {
                deadline = Some(Instant::now() + LAST_WAIT);
            }
            let next_heartbeat = silent_since + heartbeat.unwrap_or_default();
            tokio::select! {
                () = wake.notified() => {}
                ready = socket.writable(), if flushed == Flushed::Blocked => if ready.is_err() { return },
                ready = socket.readable() => if ready.is_err() || is_gone(socket) { return },
                () = sleep_until(next_heartbeat), if heartbeat.is_some() => {
                    self.hub.heartbeat(self.key);
                    silent_since = Instant::now();
                }
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => return,
            }
        }
    }
}

/// A client has nothing to say once it has asked. That it says its end means that nobody reads any more.
fn is_gone(socket: &TcpStream) -> bool {
    let mut ignored = [0; IGNORED_BYTES];
    match socket.try_read(&mut ignored) {
        Ok(0) => true,
        Ok(_) => false,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}
