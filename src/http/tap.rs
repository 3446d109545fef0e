//! A tap in a connection: sees when its parts stand, and decides how fast the peer's bytes are read.
//!
//! `reqwest` gives no timings, and reads as fast as it can into a receive buffer of the system's size. So a connection
//! that is to be measured, or to be slow, is made through a relay on loopback inside this process, which speaks SOCKS 5
//! (RFC 1928) with a password of its own (RFC 1929) to the client. TLS goes through it untouched. Where the user has a
//! proxy, the relay stands before that proxy instead.
//!
//! Responsible for bytes and times on the socket. It must never know what the bytes mean.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use url::Url;

use super::options::Options;
use crate::redact::Secret;

/// How much is read at once where nothing limits it, in bytes.
const READ_BYTES: usize = 16 * 1024;
/// A limited rate is kept over this time, so that a slow reader is slow all the time.
const SLICE: Duration = Duration::from_millis(50);
/// Random bytes in the relay's password.
const PASSWORD_BYTES: usize = 16;
/// The record of TLS that carries what is encrypted (RFC 8446, section 5.1): the first one of the client's, its
/// `Finished` or its request, follows the server's half of the handshake.
const TLS_APPLICATION_DATA: u8 = 23;
/// The record that begins a handshake.
const TLS_HANDSHAKE: u8 = 22;
/// Bytes before the content of a TLS record.
const TLS_HEADER_BYTES: usize = 5;

/// How to connect through a tap. Shown to nobody: it holds the relay's password, and perhaps that of a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Via(Secret);

impl Via {
    /// The URL of the relay, as a proxy.
    pub(super) fn url(&self) -> &str {
        self.0.expose()
    }
}

/// How fast the peer's bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As they come.
    Free,
    /// So many bytes a second.
    Limited(u64),
    /// Not at all.
    Paused,
}

/// One connection that was made through a tap.
#[derive(Clone, Debug)]
pub struct Leg {
    /// Host and port as they were asked for.
    pub target: String,
    /// The address that took the connection.
    pub peer: Option<SocketAddr>,
    /// When it was asked for.
    pub asked_at: Instant,
    /// How long the name took to be resolved; `None` if there was none to resolve.
    pub dns: Option<Duration>,
    /// How long TCP took to stand.
    pub connect: Option<Duration>,
    /// How long TLS took after that; `None` without TLS.
    pub tls: Option<Duration>,
    /// Bytes of the peer's that were read, TLS and HTTP included.
    pub received_bytes: u64,
    /// Why it does not stand.
    pub error: Option<String>,
}

#[derive(Debug)]
struct Shared {
    legs: Mutex<Vec<Leg>>,
    pace: watch::Sender<Pace>,
    /// What the system is asked for; `None` leaves the choice to it.
    receive_buffer_bytes: Option<u32>,
    target: Target,
}

#[derive(Clone, Debug)]
enum Target {
    /// Whatever the client asks for over SOCKS with this password.
    Asked { password: String },
    /// A proxy of the user's.
    Proxy { host: String, port: u16 },
}

/// A relay on loopback. Dropping it ends all connections through it.
#[derive(Debug)]
pub struct Tap {
    via: Via,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Tap {
    /// Starts a relay for connections with these options; `None` where it could not stand in their way: before a proxy
    /// that is spoken to over TLS.
    ///
    /// # Errors
    /// The system gives no socket.
    pub async fn start(options: &Options, receive_buffer_bytes: Option<u32>) -> io::Result<Option<Self>> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let Some((target, via)) = target(options, port)? else { return Ok(None) };
        let (pace, _) = watch::channel(Pace::Free);
        let shared = Arc::new(Shared { legs: Mutex::default(), pace, receive_buffer_bytes, target });
        let task = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Some(Self { via, shared, task }))
    }

    /// How to connect through it.
    #[must_use]
    pub fn via(&self) -> Via {
        self.via.clone()
    }

    /// Reads at this pace from now on.
    pub fn set_pace(&self, pace: Pace) {
        self.shared.pace.send_replace(pace);
    }

    /// The connections that were made so far, oldest first.
    #[must_use]
    pub fn legs(&self) -> Vec<Leg> {
        self.shared.legs().clone()
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    /// No code under the lock leaves a leg half changed, so a poisoned one is as good as any.
    fn legs(&self) -> MutexGuard<'_, Vec<Leg>> {
        self.legs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, target: String) -> usize {
        let mut legs = self.legs();
        legs.push(Leg {
            target,
            peer: None,
            asked_at: Instant::now(),
            dns: None,
            connect: None,
            tls: None,
            received_bytes: 0,
            error: None,
        });
        legs.len() - 1
    }

    fn change(&self, leg: usize, change: impl FnOnce(&mut Leg)) {
        if let Some(leg) = self.legs().get_mut(leg) {
            change(leg);
        }
    }
}

/// Where the relay leads, and what the client is told; `None` where a proxy speaks TLS.
fn target(options: &Options, port: u16) -> io::Result<Option<(Target, Via)>> {
    let proxy = match &options.proxy {
        _ if options.direct => None,
        Some(proxy) => Url::parse(proxy.expose()).ok(),
        None => system_proxy(options),
    };
    let Some(mut proxy) = proxy else {
        let mut bytes = [0; PASSWORD_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let password: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let via = Via(Secret::new(format!("socks5h://probe:{password}@127.0.0.1:{port}")));
        return Ok(Some((Target::Asked { password }, via)));
    };
    let host = proxy.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let default_port = if proxy.scheme().starts_with("socks") { 1080 } else { 80 };
    let proxy_port = proxy.port_or_known_default().unwrap_or(default_port);
    if proxy.scheme() == "https" || proxy.set_host(Some("127.0.0.1")).is_err() || proxy.set_port(Some(port)).is_err() {
        return Ok(None);
    }
    Ok(Some((Target::Proxy { host, port: proxy_port }, Via(Secret::new(proxy.as_str())))))
}

/// What the variables of the system say.
fn system_proxy(options: &Options) -> Option<Url> {
    let found = Matcher::from_system().intercept(&options.url.as_str().parse().ok()?)?;
    let mut proxy = Url::parse(&found.uri().to_string()).ok()?;
    if let Some((user, password)) = found.raw_auth() {
        // Only URLs without a host refuse.
        let _ = proxy.set_username(user);
        let _ = proxy.set_password(Some(password));
    }
    Some(proxy)
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept() => {
                let Ok((client, _)) = accepted else { return };
                connections.spawn(relay(client, Arc::clone(&shared)));
            }
        }
    }
}

/// One connection. Its errors are seen by both ends: the sockets close.
async fn relay(mut client: TcpStream, shared: Arc<Shared>) {
    let _ = client.set_nodelay(true);
    let asked = match &shared.target {
        Target::Asked { password } => socks_request(&mut client, password).await,
        Target::Proxy { host, port } => Ok((host.clone(), *port)),
    };
    let Ok((host, port)) = asked else { return };
    let leg = shared.begin(format!("{host}:{port}"));
    let connected = connect(&host, port, leg, &shared).await;
    if matches!(shared.target, Target::Asked { .. }) {
        // Succeeded, or host unreachable (RFC 1928, section 6); the address is of no interest to the client.
        let code = if connected.is_ok() { 0 } else { 4 };
        if client.write_all(&[5, code, 0, 1, 0, 0, 0, 0, 0, 0]).await.is_err() {
            return;
        }
    }
    let upstream = match connected {
        Ok(upstream) => upstream,
        Err(error) => return shared.change(leg, |leg| leg.error = Some(error.to_string())),
    };
    let (from_client, to_client) = client.into_split();
    let (from_peer, to_peer) = upstream.into_split();
    // An event stream's client says its end only when it wants nothing more.
    tokio::select! {
        _ = upwards(from_client, to_peer, leg, &shared) => {}
        _ = downwards(from_peer, to_client, leg, &shared) => {}
    }
}

/// The server's half of SOCKS 5: gives the host and port that are asked for.
async fn socks_request(client: &mut TcpStream, password: &str) -> io::Result<(String, u16)> {
    let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
    let [5, methods] = read::<2>(client).await? else { return Err(refused()) };
    read_vec(client, methods).await?;
    client.write_all(&[5, 2]).await?;
    let [1, user_len] = read::<2>(client).await? else { return Err(refused()) };
    read_vec(client, user_len).await?;
    let [password_len] = read::<1>(client).await?;
    if read_vec(client, password_len).await? != password.as_bytes() {
        client.write_all(&[1, 1]).await?;
        return Err(refused());
    }
    client.write_all(&[1, 0]).await?;
    let [5, 1, 0, kind] = read::<4>(client).await? else { return Err(refused()) };
    let host = match kind {
        1 => std::net::Ipv4Addr::from(read::<4>(client).await?).to_string(),
        4 => std::net::Ipv6Addr::from(read::<16>(client).await?).to_string(),
        3 => {
            let [len] = read::<1>(client).await?;
            String::from_utf8(read_vec(client, len).await?).map_err(|_| refused())?
        }
        _ => return Err(refused()),
    };
    Ok((host, u16::from_be_bytes(read::<2>(client).await?)))
}

async fn read<const N: usize>(from: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn read_vec(from: &mut TcpStream, len: u8) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len.into()];
    from.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// Resolves the name and connects to the first address that takes the connection.
async fn connect(host: &str, port: u16, leg: usize, shared: &Shared) -> io::Result<TcpStream> {
    let begun = Instant::now();
    let addresses: Vec<SocketAddr> = match host.parse() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => {
            let found = lookup_host((host, port)).await?.collect();
            shared.change(leg, |leg| leg.dns = Some(begun.elapsed()));
            found
        }
    };
    let begun = Instant::now();
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // Before connecting: the window that is offered follows from it.
        if let Some(bytes) = shared.receive_buffer_bytes {
            socket.set_recv_buffer_size(bytes)?;
        }
        match socket.connect(address).await {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                shared.change(leg, |leg| (leg.peer, leg.connect) = (Some(address), Some(begun.elapsed())));
                return Ok(stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// From the client to the peer; notices when TLS stands.
async fn upwards(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, leg: usize, shared: &Shared) -> io::Result<()> {
    let begun = Instant::now();
    let mut records = TlsRecords::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        if records.encrypted_begins(&buffer[..count]) {
            shared.change(leg, |leg| leg.tls = Some(begun.elapsed()));
        }
        to.write_all(&buffer[..count]).await?;
    }
}

/// From the peer to the client, at the pace that is set.
async fn downwards(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, leg: usize, shared: &Shared) -> io::Result<()> {
    let mut pace = shared.pace.subscribe();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let now = *pace.borrow_and_update();
        let room = match now {
            Pace::Free => READ_BYTES,
            Pace::Limited(rate) => slice_bytes(rate),
            Pace::Paused => {
                let _ = pace.changed().await;
                continue;
            }
        };
        let count = tokio::select! {
            biased;
            _ = pace.changed() => continue,
            count = from.read(&mut buffer[..room]) => count?,
        };
        if count == 0 {
            return to.shutdown().await;
        }
        shared.change(leg, |leg| leg.received_bytes += count as u64);
        to.write_all(&buffer[..count]).await?;
        if let Pace::Limited(rate) = now {
            let wait = Duration::from_secs_f64(count as f64 / rate.max(1) as f64);
            // A new pace holds at once.
            let _ = tokio::time::timeout(wait, pace.changed()).await;
        }
    }
}

/// How many bytes are read at once under a limit.
fn slice_bytes(rate: u64) -> usize {
    let bytes = u128::from(rate) * SLICE.as_millis() / 1000;
    usize::try_from(bytes).unwrap_or(READ_BYTES).clamp(1, READ_BYTES)
}

/// Follows the records of TLS in the client's bytes up to the first that is encrypted.
#[derive(Debug, Default)]
struct TlsRecords {
    header: Vec<u8>,
    /// Bytes of the record's content that have yet to come.
    content_left: usize,
    done: bool,
}

impl TlsRecords {
    /// Whether the first encrypted record begins in these bytes. Plain HTTP never has one.
    fn encrypted_begins(&mut self, mut bytes: &[u8]) -> bool {
        while !self.done && !bytes.is_empty() {
            if self.content_left > 0 {
                let skipped = self.content_left.min(bytes.len());
                self.content_left -= skipped;
                bytes = &bytes[skipped..];
                continue;
            }
            let taken = (TLS_HEADER_BYTES - self.header.len()).min(bytes.len());
            self.header.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            match self.header[..] {
                [TLS_APPLICATION_DATA, ..] => {
                    self.done = true;
                    return true;
                }
                // Change of cipher and alert; anything else is no TLS.
                [TLS_HANDSHAKE | 20 | 21, _, _, high, low] => {
                    self.content_left = usize::from(high) << 8 | usize::from(low);
                    self.header.clear();
                }
                [TLS_HANDSHAKE | 20 | 21, ..] => {}
                _ => self.done = true,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_stands_at_the_first_encrypted_record_however_the_bytes_are_cut() {
        let bytes = [22, 3, 1, 0, 3, 1, 2, 3, 20, 3, 3, 0, 1, 1, 23, 3, 3, 0, 9, 0];
        for cut in 0..bytes.len() {
            let mut records = TlsRecords::default();
            let seen: Vec<bool> = [&bytes[..cut], &bytes[cut..]].map(|part| records.encrypted_begins(part)).to_vec();
            assert_eq!(seen, [cut > 14, cut <= 14], "cut at {cut}");
        }
    }

    #[test]
    fn plain_http_has_no_tls() {
        let mut records = TlsRecords::default();
        assert!(!records.encrypted_begins(b"GET / HTTP/1.1\r\n"));
        assert!(!records.encrypted_begins(&[23, 3, 3]));
    }

    #[test]
    fn a_slow_rate_is_read_in_small_pieces() {
        assert_eq!(slice_bytes(2048), 102);
        assert_eq!(slice_bytes(1), 1);
        assert_eq!(slice_bytes(u64::MAX), READ_BYTES);
    }
}
