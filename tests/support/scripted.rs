//! A TCP server that plays a script for each connection. See the module above for an example.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::PATIENCE;

/// How often a blocked script looks whether its server is still wanted.
const TICK: Duration = Duration::from_millis(20);
/// A request head longer than this is a mistake in the test.
const HEAD_BYTES_MAX: usize = 256 * 1024;

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which accepted connection it came on, from 0.
    pub connection: usize,
    /// `GET`, `POST`, ...
    pub method: String,
    /// What follows the method: `/events?x=1`, for a proxy an absolute URL, for `CONNECT` an authority.
    pub target: String,
    /// `HTTP/1.1`.
    pub version: String,
    /// Names as they came, values byte for byte.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, chunked coding undone.
    pub body: Vec<u8>,
}

impl Request {
    /// The first value of a header, whatever the case of its name; bytes that are not UTF-8 are replaced.
    pub fn header(&self, name: &str) -> Option<String> {
        self.header_bytes(name).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// The first value of a header, byte for byte.
    pub fn header_bytes(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice())
    }

    /// All values of a header, in order.
    pub fn header_values(&self, name: &str) -> Vec<String> {
        let same = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        same.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect()
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The query as it came, without `?`; empty if there is none.
    pub fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// The first query parameter of this name, decoded.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let mut pairs = url::form_urlencoded::parse(self.query().as_bytes());
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }

    /// The cursor of the header `Last-Event-ID`.
    pub fn last_event_id(&self) -> Option<String> {
        self.header("last-event-id")
    }
}

/// A signal from the test to its server. Clones are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens it, for good.
    pub fn open(&self) {
        *lock(&self.0.0) = true;
        self.0.1.notify_all();
    }

    /// Waits until it is open; `false` if the server is being stopped.
    fn pass(&self, shared: &Shared) -> bool {
        let mut open = lock(&self.0.0);
        while !*open {
            if shared.is_stopping() {
                return false;
            }
            open = self.0.1.wait_timeout(open, TICK).expect("no test thread panics with the gate").0;
        }
        true
    }
}

/// Does something of the test's own on a connection.
type Play = Arc<dyn Fn(&mut Conn) -> io::Result<()> + Send + Sync>;

#[derive(Clone)]
enum Step {
    Request,
    Send(Vec<u8>),
    Chunk(Vec<u8>),
    LastChunk,
    Wait(Gate),
    UntilClosed,
    KeepOpen,
    Close,
    Reset,
    Play(Play),
}

/// What happens on one connection, step by step. A script that ends without saying how closes the connection.
#[derive(Clone, Default)]
pub struct Script {
    steps: Vec<Step>,
    chunked: bool,
}

impl Script {
    /// Does nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Reads one request and captures it. The methods that send a head do this first by themselves.
    pub fn request(self) -> Self {
        self.step(Step::Request)
    }

    /// Reads a request, and answers with the head of an event stream in chunked coding. What [`Self::send`] sends
    /// from here on goes as one chunk each, and [`Self::close`] ends the body as it should.
    pub fn sse(self) -> Self {
        self.sse_with("")
    }

    /// As [`Self::sse`], with more header lines (`"Date: x\r\nX-A: b\r\n"`).
    pub fn sse_with(mut self, headers: &str) -> Self {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n{headers}\r\n"
        );
        self = self.request().step(Step::Send(head.into_bytes()));
        self.chunked = true;
        self
    }

    /// Answers a request that was read already with the head of an event stream in chunked coding.
    pub fn sse_answer(mut self) -> Self {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        self = self.raw(head);
        self.chunked = true;
        self
    }

    /// Reads a request, and answers with the head of an event stream whose body ends with the connection.
    pub fn sse_until_close(self) -> Self {
        self.request().raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    }

    /// Reads a request and answers it whole: status, header lines each with `\r\n`, body. Closes.
    pub fn respond(self, status: u16, headers: &str, body: &str) -> Self {
        let length = if status == 204 { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let head = format!("HTTP/1.1 {status} {}\r\n{length}Connection: close\r\n{headers}\r\n{body}", reason(status));
        self.request().raw(head).close()
    }

    /// A connection that answers 204: the client shall end.
    pub fn no_content() -> Self {
        Self::new().respond(204, "", "")
    }

    /// A connection that redirects.
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::new().respond(status, &format!("Location: {location}\r\n"), "")
    }

    /// Sends bytes: after [`Self::sse`] as one chunk, else as they are.
    pub fn send(self, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref().to_vec();
        let step = if self.chunked { Step::Chunk(bytes) } else { Step::Send(bytes) };
        self.step(step)
    }

    /// Sends bytes as they are, outside of any coding.
    pub fn raw(self, bytes: impl AsRef<[u8]>) -> Self {
        self.step(Step::Send(bytes.as_ref().to_vec()))
    }

    /// Waits for the test to open the gate.
    pub fn wait(self, gate: &Gate) -> Self {
        self.step(Step::Wait(gate.clone()))
    }

    /// Waits until the client closes the connection; [`Server::wait_for_closed`] tells the test.
    pub fn until_closed(self) -> Self {
        self.step(Step::UntilClosed)
    }

    /// Keeps the connection open and silent, reading nothing, until the server is dropped.
    pub fn keep_open(self) -> Self {
        self.step(Step::KeepOpen)
    }

    /// Closes: a chunked body gets its end first.
    pub fn close(self) -> Self {
        let this = if self.chunked { self.step(Step::LastChunk) } else { self };
        this.step(Step::Close)
    }

    /// Closes in mid-body: a chunked body lacks its end.
    pub fn cut(self) -> Self {
        self.step(Step::Close)
    }

    /// Resets the connection (RST).
    pub fn reset(self) -> Self {
        self.step(Step::Reset)
    }

    /// Runs code of the test's on the connection.
    pub fn play(self, play: impl Fn(&mut Conn) -> io::Result<()> + Send + Sync + 'static) -> Self {
        self.step(Step::Play(Arc::new(play)))
    }
}

/// The standard's phrase for a status, as far as tests use them.
pub fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        408 => "Request Timeout",
        410 => "Gone",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Whatever",
    }
}

#[derive(Default)]
struct State {
    requests: Vec<Request>,
    accepted: usize,
    closed_by_peer: Vec<usize>,
    notes: Vec<String>,
    stopping: bool,
    scripts: VecDeque<Script>,
    otherwise: Option<Script>,
    open: Vec<(usize, TcpStream)>,
}

/// What the threads of one server share.
#[derive(Default)]
pub struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A poisoned lock means that a thread of the test failed: its panic tells more than this one would.
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }

    /// Whether the test has dropped the server.
    pub fn is_stopping(&self) -> bool {
        lock(&self.state).stopping
    }

    fn wait_until<T>(&self, what: &str, mut done: impl FnMut(&State) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        let mut state = lock(&self.state);
        loop {
            if let Some(result) = done(&state) {
                return result;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "waited {PATIENCE:?} for {what}; {} connections, requests: {:#?}, notes: {:?}",
                state.accepted,
                state.requests,
                state.notes
            );
            state = self.changed.wait_timeout(state, left).expect("no test thread panics with the state").0;
        }
    }
}

/// The stream of a connection, plain or TLS.
trait Wire: Read + Write + Send {
    /// Says that nothing more comes.
    fn finish(&mut self) -> io::Result<()>;
}

impl Wire for TcpStream {
    fn finish(&mut self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

impl Wire for rustls::StreamOwned<rustls::ServerConnection, TcpStream> {
    fn finish(&mut self) -> io::Result<()> {
        self.conn.send_close_notify();
        self.flush()?;
        self.sock.shutdown(Shutdown::Write)
    }
}

/// One accepted connection, as [`Script::play`] sees it.
pub struct Conn {
    /// Its number, from 0.
    pub index: usize,
    wire: Box<dyn Wire>,
    tcp: TcpStream,
    shared: Arc<Shared>,
    unread: Vec<u8>,
    is_reset: bool,
}

impl Conn {
    /// Whether the test has dropped the server.
    pub fn is_stopping(&self) -> bool {
        self.shared.is_stopping()
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.wire.write_all(bytes)?;
        self.wire.flush()
    }

    /// Sends one chunk of a chunked body; no bytes are no chunk.
    pub fn send_chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.extend_from_slice(b"\r\n");
        self.send(&framed)
    }

    /// Ends a chunked body.
    pub fn end_chunks(&mut self) -> io::Result<()> {
        self.send(b"0\r\n\r\n")
    }

    /// Makes the end of the script a reset instead of a clean end.
    pub fn reset(&mut self) -> io::Result<()> {
        self.is_reset = true;
        socket2::SockRef::from(&self.tcp).set_linger(Some(Duration::ZERO))
    }

    /// Whether the client has closed the connection. Does not wait.
    pub fn is_closed_by_peer(&mut self) -> bool {
        self.tcp.set_nonblocking(true).expect("a socket can be made non-blocking");
        let mut scrap = [0; 1024];
        let read = self.wire.read(&mut scrap);
        self.tcp.set_nonblocking(false).expect("a socket can be made blocking");
        match read {
            Ok(0) => true,
            Ok(count) => {
                self.unread.extend_from_slice(&scrap[..count]);
                false
            }
            Err(error) => !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
        }
    }

    /// Tells the test that the client has closed this connection.
    pub fn note_closed(&self) {
        self.shared.change(|state| state.closed_by_peer.push(self.index));
    }

    /// Passes bytes on both ways, as a proxy does, until either end closes.
    pub fn pass_on(&mut self, other: TcpStream) -> io::Result<()> {
        let mut up = (self.tcp.try_clone()?, other.try_clone()?);
        let mut down = (other, self.tcp.try_clone()?);
        up.1.write_all(&std::mem::take(&mut self.unread))?;
        let upwards = std::thread::spawn(move || {
            // Whoever closes first ends both.
            let _ = io::copy(&mut up.0, &mut up.1);
            let _ = up.1.shutdown(Shutdown::Both);
        });
        let _ = io::copy(&mut down.0, &mut down.1);
        let _ = down.1.shutdown(Shutdown::Both);
        upwards.join().map_err(|_| io::Error::other("the other way panicked"))
    }

    /// Reads one request and captures it.
    pub fn read_request(&mut self) -> io::Result<Request> {
        let head = self.read_until(b"\r\n\r\n")?;
        let mut request = parse_head(&head).ok_or_else(|| io::Error::other("not an HTTP/1 request"))?;
        request.connection = self.index;
        if let Some(length) = request.header("content-length") {
            let length = length.parse().map_err(io::Error::other)?;
            request.body = self.read_exactly(length)?;
        } else if request.header("transfer-encoding").is_some() {
            request.body = self.read_chunks()?;
        }
        self.shared.change(|state| state.requests.push(request.clone()));
        Ok(request)
    }

    fn read_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.read_until(b"\r\n")?;
            let size = String::from_utf8_lossy(&line).trim().to_owned();
            let size = usize::from_str_radix(&size, 16).map_err(io::Error::other)?;
            body.extend(self.read_exactly(size)?);
            self.read_until(b"\r\n")?;
            if size == 0 {
                return Ok(body);
            }
        }
    }

    fn read_until(&mut self, end: &[u8]) -> io::Result<Vec<u8>> {
        loop {
            if let Some(at) = self.unread.windows(end.len()).position(|window| window == end) {
                return Ok(self.unread.drain(..at + end.len()).collect());
            }
            if self.unread.len() > HEAD_BYTES_MAX {
                return Err(io::Error::other("a request head without an end"));
            }
            self.read_more()?;
        }
    }

    /// Reads so many bytes.
    pub fn read_exactly(&mut self, count: usize) -> io::Result<Vec<u8>> {
        while self.unread.len() < count {
            self.read_more()?;
        }
        Ok(self.unread.drain(..count).collect())
    }

    fn read_more(&mut self) -> io::Result<()> {
        let mut scrap = [0; 16 * 1024];
        let count = self.wire.read(&mut scrap)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.unread.extend_from_slice(&scrap[..count]);
        Ok(())
    }

    fn run(&mut self, script: Script) -> io::Result<()> {
        for step in script.steps {
            match step {
                Step::Request => drop(self.read_request()?),
                Step::Send(bytes) => self.send(&bytes)?,
                Step::Chunk(bytes) => self.send_chunk(&bytes)?,
                Step::LastChunk => self.end_chunks()?,
                Step::Wait(gate) => {
                    if !gate.pass(&self.shared) {
                        return Ok(());
                    }
                }
                Step::UntilClosed => {
                    while !self.is_closed_by_peer() {
                        if self.is_stopping() {
                            return Ok(());
                        }
                        std::thread::sleep(TICK);
                    }
                    self.note_closed();
                }
                Step::KeepOpen => {
                    let never = Gate::new();
                    never.pass(&self.shared);
                }
                Step::Close => return Ok(()),
                Step::Reset => return self.reset(),
                Step::Play(play) => play(self)?,
            }
        }
        Ok(())
    }
}

fn parse_head(head: &[u8]) -> Option<Request> {
    let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let first = String::from_utf8_lossy(lines.next()?).into_owned();
    let mut words = first.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let headers = lines.filter(|line| !line.is_empty()).map(|line| {
        let colon = line.iter().position(|&byte| byte == b':')?;
        let value = line[colon + 1..].strip_prefix(b" ").unwrap_or(&line[colon + 1..]);
        Some((String::from_utf8_lossy(&line[..colon]).into_owned(), value.to_vec()))
    });
    Some(Request {
        connection: 0,
        method: method.to_owned(),
        target: target.to_owned(),
        version: version.to_owned(),
        headers: headers.collect::<Option<_>>()?,
        body: Vec::new(),
    })
}

/// The server. Dropping it closes its connections and its port.
pub struct Server {
    addr: SocketAddr,
    scheme: &'static str,
    shared: Arc<Shared>,
}

impl Server {
    /// Listens on a free port of the loopback; the first connection gets the first script, and so on. A connection
    /// too many gets status 400 and a body that says so, unless [`Self::otherwise`] gave a script for it.
    pub fn start(scripts: impl IntoIterator<Item = Script>) -> Self {
        Self::start_on(scripts, None)
    }

    /// As [`Self::start`], behind TLS.
    pub fn start_tls(scripts: impl IntoIterator<Item = Script>, config: Arc<rustls::ServerConfig>) -> Self {
        Self::start_on(scripts, Some(config))
    }

    fn start_on(scripts: impl IntoIterator<Item = Script>, tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("the loopback has a free port");
        let addr = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared::default());
        shared.change(|state| state.scripts = scripts.into_iter().collect());
        let scheme = if tls.is_some() { "https" } else { "http" };
        let server = Self { addr, scheme, shared: Arc::clone(&shared) };
        std::thread::spawn(move || accept(&listener, &shared, tls.as_ref()));
        server
    }

    /// What every connection gets for which there is no script.
    #[must_use]
    pub fn otherwise(self, script: Script) -> Self {
        self.shared.change(|state| state.otherwise = Some(script));
        self
    }

    /// Adds a script for a later connection.
    pub fn add(&self, script: Script) {
        self.shared.change(|state| state.scripts.push_back(script));
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// `http://127.0.0.1:PORT` and this path.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.addr)
    }

    /// The requests so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.state).requests.clone()
    }

    /// Waits until `count` requests have come, and gives all that have.
    pub fn wait_for_requests(&self, count: usize) -> Vec<Request> {
        self.shared.wait_until(&format!("{count} requests"), |state| {
            (state.requests.len() >= count).then(|| state.requests.clone())
        })
    }

    /// How many connections were accepted.
    pub fn connections(&self) -> usize {
        lock(&self.shared.state).accepted
    }

    /// Waits until `count` connections were accepted.
    pub fn wait_for_connections(&self, count: usize) {
        self.shared.wait_until(&format!("{count} connections"), |state| (state.accepted >= count).then_some(()));
    }

    /// Waits until a script has seen the client close connection `index` ([`Script::until_closed`]).
    pub fn wait_for_closed(&self, index: usize) {
        let what = format!("the client to close connection {index}");
        self.shared.wait_until(&what, |state| state.closed_by_peer.contains(&index).then_some(()));
    }

    /// What did not go by the script: a client that went away in the middle, a failed handshake, ...
    pub fn notes(&self) -> Vec<String> {
        lock(&self.shared.state).notes.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.change(|state| {
            state.stopping = true;
            for (_, stream) in state.open.drain(..) {
                // It may be closed already.
                let _ = stream.shutdown(Shutdown::Both);
            }
        });
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.addr);
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>, tls: Option<&Arc<rustls::ServerConfig>>) {
    while let Ok((tcp, _)) = listener.accept() {
        if shared.is_stopping() {
            return;
        }
        let mut job = None;
        shared.change(|state| {
            let index = state.accepted;
            state.accepted += 1;
            state.open.extend(tcp.try_clone().map(|tcp| (index, tcp)));
            let script = state.scripts.pop_front().or_else(|| state.otherwise.clone());
            let missing = || Script::new().respond(400, "", &format!("no script for connection {index}\n"));
            job = Some((index, script.unwrap_or_else(missing)));
        });
        let (index, script) = job.expect("the closure has run");
        let (shared, tls) = (Arc::clone(shared), tls.cloned());
        std::thread::spawn(move || {
            if let Err(error) = serve(index, script, tcp, (&shared, tls)) {
                shared.change(|state| state.notes.push(format!("connection {index}: {error}")));
            }
        });
    }
}

fn serve(
    index: usize,
    script: Script,
    tcp: TcpStream,
    (shared, tls): (&Arc<Shared>, Option<Arc<rustls::ServerConfig>>),
) -> io::Result<()> {
    tcp.set_nodelay(true)?;
    let wire: Box<dyn Wire> = match tls {
        None => Box::new(tcp.try_clone()?),
        Some(config) => {
            let session = rustls::ServerConnection::new(config).map_err(io::Error::other)?;
            Box::new(rustls::StreamOwned::new(session, tcp.try_clone()?))
        }
    };
    let mut conn = Conn { index, wire, tcp, shared: Arc::clone(shared), unread: Vec::new(), is_reset: false };
    let result = conn.run(script);
    if !conn.is_reset {
        // The client may be gone already.
        let _ = conn.wire.finish();
    }
    drop(conn);
    // The clone kept for the end of the server holds the connection open until here.
    shared.change(|state| state.open.retain(|(open, _)| *open != index));
    result
}
