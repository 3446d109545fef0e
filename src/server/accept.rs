//! Connections come, and go when the server stops.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::ServerOptions;
use super::connection;
use super::hub::Hub;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1024;
/// Connections that may be open besides streams: heads that are being read, pages, metrics.
const FURTHER_CONNECTIONS: usize = 128;
/// How long a server that stops waits for clients to take what waits for them.
const STOP_WAIT: Duration = Duration::from_secs(1);
/// The pause after a connection could not be accepted (no file descriptor left), lest the loop spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Connections inherit the send buffer from the socket that accepts them.
pub(super) fn listen(options: &ServerOptions) -> io::Result<TcpListener> {
    let socket = if options.listen.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(options.send_buffer_bytes)?;
    socket.bind(options.listen)?;
    socket.listen(BACKLOG)
}

pub(super) async fn serve(
    listener: TcpListener,
    hub: Arc<Hub>,
    options: Arc<ServerOptions>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    let connections_max = options.clients_max.saturating_add(FURTHER_CONNECTIONS);
    loop {
        let accepted = tokio::select! {
            _ = stopped.wait_for(|&stop| stop) => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            accepted = listener.accept(), if connections.len() < connections_max => accepted,
        };
        match accepted {
            Ok((socket, _)) => {
                // A block is written whole; to wait for more would only delay it.
                let _ = socket.set_nodelay(true);
                connections.spawn(connection::serve(socket, Arc::clone(&hub), Arc::clone(&options), stopped.clone()));
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
