//! A server that keeps a log of events and serves those after the cursor. See the module above for an example.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::ops::{Deref, RangeInclusive};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::PATIENCE;
use super::scripted::{Conn, Request, Script, Server, reason};

/// How often a connection without news looks whether its client is still there.
const TICK: Duration = Duration::from_millis(20);

/// An event of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEvent {
    /// Its own `id:` line, if it has one.
    pub id: Option<String>,
    /// Its `event:` line, if it has one.
    pub event: Option<String>,
    /// Its data; line breaks make several `data:` lines.
    pub data: String,
}

impl LogEvent {
    /// An event of type `message`.
    pub fn new(id: impl Into<String>, data: impl Into<String>) -> Self {
        Self { id: Some(id.into()), event: None, data: data.into() }
    }

    /// The same, of this type.
    #[must_use]
    pub fn of_type(mut self, event: impl Into<String>) -> Self {
        self.event = Some(event.into());
        self
    }

    /// The same without an `id:` line.
    #[must_use]
    pub fn without_id(mut self) -> Self {
        self.id = None;
        self
    }

    /// As it goes over the wire.
    pub fn to_sse(&self) -> String {
        let mut text = String::new();
        for (name, value) in [("id", &self.id), ("event", &self.event)] {
            if let Some(value) = value {
                text.push_str(&format!("{name}: {value}\n"));
            }
        }
        for line in self.data.split('\n') {
            text.push_str(&format!("data: {line}\n"));
        }
        text.push('\n');
        text
    }
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// As it should.
    Clean,
    /// The end of the body is missing.
    Truncated,
    /// Reset by the server.
    Reset,
    /// After half of the next event (or of a made-up one), the end of the body missing.
    MidEvent,
}

/// What a client without a cursor gets first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// All that is retained.
    Beginning,
    /// Nothing but what comes later.
    Live,
}

/// What a client gets whose cursor is not in the log, or whose next event is no longer retained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooOld {
    /// All that is retained, without a word: what most servers do.
    ServeRetained,
    /// Nothing but what comes later, without a word.
    ServeLive,
    /// This status.
    Status(u16),
}

#[derive(Clone)]
enum Entry {
    /// `missed`: a connection that is live when it comes does not get it; it is served to later cursors.
    Event { event: LogEvent, missed: bool },
    /// For connections that are live when it comes, and for nobody later.
    Raw(Vec<u8>),
    /// The end of the connections that are live when it comes.
    End(Cut),
}

/// Options of a [`LogServer`].
pub struct Builder {
    entries: Vec<Entry>,
    retained_from: usize,
    options: Ways,
    cut: Option<(usize, Cut)>,
}

#[derive(Clone)]
struct Ways {
    inclusive: bool,
    ignores_cursor: bool,
    start: Start,
    too_old: TooOld,
    parameter: Option<String>,
    headers: String,
}

impl Builder {
    /// Events with these numbers as ids and `data N` as data.
    #[must_use]
    pub fn events(mut self, ids: RangeInclusive<u64>) -> Self {
        for id in ids {
            self = self.event(LogEvent::new(id.to_string(), format!("data {id}")));
        }
        self
    }

    /// One more event.
    #[must_use]
    pub fn event(mut self, event: LogEvent) -> Self {
        self.entries.push(Entry::Event { event, missed: false });
        self
    }

    /// Events before this index (from 0) of the log are no longer there.
    #[must_use]
    pub fn retained_from(mut self, index: usize) -> Self {
        self.retained_from = index;
        self
    }

    /// A cursor that is too old gets this status (410).
    #[must_use]
    pub fn gone_when_too_old(self, status: u16) -> Self {
        self.too_old(TooOld::Status(status))
    }

    /// What a cursor that is too old gets.
    #[must_use]
    pub fn too_old(mut self, too_old: TooOld) -> Self {
        self.options.too_old = too_old;
        self
    }

    /// The event of the cursor is served again.
    #[must_use]
    pub fn inclusive(mut self) -> Self {
        self.options.inclusive = true;
        self
    }

    /// The cursor is not looked at.
    #[must_use]
    pub fn ignores_cursor(mut self) -> Self {
        self.options.ignores_cursor = true;
        self
    }

    /// What a client without a cursor gets ([`Start::Beginning`] unless said).
    #[must_use]
    pub fn without_cursor(mut self, start: Start) -> Self {
        self.options.start = start;
        self
    }

    /// The cursor is this query parameter, not the header.
    #[must_use]
    pub fn cursor_parameter(mut self, name: &str) -> Self {
        self.options.parameter = Some(name.to_owned());
        self
    }

    /// More header lines of each stream, each with `\r\n`.
    #[must_use]
    pub fn headers(mut self, headers: &str) -> Self {
        self.options.headers = headers.to_owned();
        self
    }

    /// Every connection ends like this after so many events.
    #[must_use]
    pub fn cut_after(mut self, events: usize, cut: Cut) -> Self {
        self.cut = Some((events, cut));
        self
    }

    /// Listens.
    pub fn start(self) -> LogServer {
        let log = Arc::new(Log {
            state: Mutex::new(State {
                entries: self.entries,
                retained_from: self.retained_from,
                cut: self.cut,
                ..State::default()
            }),
            changed: Condvar::new(),
            ways: self.options,
        });
        let serving = Arc::clone(&log);
        let script = Script::new().play(move |conn| serving.serve(conn));
        LogServer { server: Server::start([]).otherwise(script), log }
    }
}

#[derive(Default)]
struct State {
    entries: Vec<Entry>,
    retained_from: usize,
    cut: Option<(usize, Cut)>,
    failures: VecDeque<(u16, String)>,
    finished: bool,
    caught_up: HashSet<usize>,
}

struct Log {
    state: Mutex<State>,
    changed: Condvar,
    ways: Ways,
}

/// Where a connection begins.
enum Place {
    /// At this index of the log; entries below the second one are replay.
    At(usize, usize),
    /// Nowhere: this status and these headers.
    Refused(u16, String),
}

/// What a connection does next.
enum Next {
    Send(Vec<u8>, bool),
    Skip,
    End(Cut),
    Wait,
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn cursor(&self, request: &Request) -> Option<String> {
        if self.ways.ignores_cursor {
            return None;
        }
        match &self.ways.parameter {
            Some(name) => request.parameter(name),
            None => request.last_event_id(),
        }
    }

    fn place(&self, request: &Request) -> Place {
        let mut state = self.lock();
        if let Some((status, headers)) = state.failures.pop_front() {
            return Place::Refused(status, headers);
        }
        let length = state.entries.len();
        let has_id =
            |entry: &Entry, id: &str| matches!(entry, Entry::Event { event, .. } if event.id.as_deref() == Some(id));
        let start = match self.cursor(request) {
            None if self.ways.start == Start::Live => length,
            None => state.retained_from,
            Some(id) => {
                let found = if self.ways.inclusive {
                    state.entries.iter().position(|entry| has_id(entry, &id))
                } else {
                    state.entries.iter().rposition(|entry| has_id(entry, &id)).map(|index| index + 1)
                };
                match (found, self.ways.too_old) {
                    (Some(index), _) if index >= state.retained_from => index,
                    (_, TooOld::ServeRetained) => state.retained_from,
                    (_, TooOld::ServeLive) => length,
                    (_, TooOld::Status(status)) => return Place::Refused(status, String::new()),
                }
            }
        };
        let is_behind = state.entries[start.min(length)..].iter().any(|entry| matches!(entry, Entry::Event { .. }));
        if state.finished && !is_behind {
            return Place::Refused(204, String::new());
        }
        Place::At(start, length)
    }

    fn next(state: &State, at: usize, joined: usize) -> Next {
        let is_live = at >= joined;
        match state.entries.get(at) {
            None if state.finished => Next::End(Cut::Clean),
            None => Next::Wait,
            Some(Entry::Event { missed: true, .. }) if is_live => Next::Skip,
            Some(Entry::Event { event, .. }) => Next::Send(event.to_sse().into_bytes(), true),
            Some(Entry::Raw(bytes)) if is_live => Next::Send(bytes.clone(), false),
            Some(Entry::End(cut)) if is_live => Next::End(*cut),
            Some(Entry::Raw(_) | Entry::End(_)) => Next::Skip,
        }
    }

    fn serve(&self, conn: &mut Conn) -> io::Result<()> {
        let request = conn.read_request()?;
        let (mut at, joined) = match self.place(&request) {
            Place::At(start, joined) => (start, joined),
            Place::Refused(status, headers) => {
                let length = if status == 204 { "" } else { "Content-Length: 0\r\n" };
                let head =
                    format!("HTTP/1.1 {status} {}\r\n{length}Connection: close\r\n{headers}\r\n", reason(status));
                return conn.send(head.as_bytes());
            }
        };
        let more = &self.ways.headers;
        conn.send(
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n{more}\r\n")
                .as_bytes(),
        )?;
        let mut events = 0;
        loop {
            let (next, cut) = {
                let state = self.lock();
                (Self::next(&state, at, joined), state.cut)
            };
            match (next, cut) {
                (Next::Send(bytes, is_event), cut) => {
                    if let (true, Some((limit, how))) = (is_event, cut)
                        && events >= limit
                    {
                        return Self::end(conn, how, Some(&bytes));
                    }
                    conn.send_chunk(&bytes)?;
                    events += usize::from(is_event);
                    at += 1;
                    if let Some((limit, how)) = cut
                        && events >= limit
                        && how != Cut::MidEvent
                    {
                        return Self::end(conn, how, None);
                    }
                }
                (Next::Skip, _) => at += 1,
                (Next::End(how), _) => return Self::end(conn, how, None),
                (Next::Wait, _) => {
                    if !self.wait(conn, at) {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Waits for news; `false` if the client or the server is gone.
    fn wait(&self, conn: &mut Conn, at: usize) -> bool {
        let mut state = self.lock();
        if state.entries.len() > at || state.finished {
            return true;
        }
        if state.caught_up.insert(conn.index) {
            self.changed.notify_all();
        }
        drop(self.changed.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner));
        if conn.is_closed_by_peer() {
            conn.note_closed();
            return false;
        }
        !conn.is_stopping()
    }

    fn end(conn: &mut Conn, how: Cut, next: Option<&[u8]>) -> io::Result<()> {
        match how {
            Cut::Clean => conn.end_chunks(),
            Cut::Truncated => Ok(()),
            Cut::Reset => conn.reset(),
            Cut::MidEvent => {
                let next = next.unwrap_or(b"id: cut-off\ndata: never whole\n\n");
                conn.send_chunk(&next[..next.len() / 2 + 1])
            }
        }
    }
}

/// A running server. What [`Server`] can (`url`, `requests`, `wait_for_requests`, ...) it can too.
pub struct LogServer {
    server: Server,
    log: Arc<Log>,
}

impl Deref for LogServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl LogServer {
    /// An empty log, exclusive cursors by header, everything for a client without one.
    pub fn builder() -> Builder {
        let options = Ways {
            inclusive: false,
            ignores_cursor: false,
            start: Start::Beginning,
            too_old: TooOld::ServeRetained,
            parameter: None,
            headers: String::new(),
        };
        Builder { entries: Vec::new(), retained_from: 0, options, cut: None }
    }

    fn append(&self, entry: Entry) {
        self.log.change(|state| {
            state.entries.push(entry);
            state.caught_up.clear();
        });
    }

    /// A new event, for the log and for everybody connected.
    pub fn push(&self, id: &str, data: &str) {
        self.push_event(LogEvent::new(id, data));
    }

    /// As [`Self::push`], any event.
    pub fn push_event(&self, event: LogEvent) {
        self.append(Entry::Event { event, missed: false });
    }

    /// A new event that those who are connected miss; a later cursor before it gets it.
    pub fn push_dropped(&self, id: &str, data: &str) {
        self.push_dropped_event(LogEvent::new(id, data));
    }

    /// As [`Self::push_dropped`], any event.
    pub fn push_dropped_event(&self, event: LogEvent) {
        self.append(Entry::Event { event, missed: true });
    }

    /// A comment for those who are connected. It is not part of the log.
    pub fn comment(&self, text: &str) {
        self.raw(format!(": {text}\n\n"));
    }

    /// Any bytes for those who are connected. They are not part of the log.
    pub fn raw(&self, bytes: impl Into<Vec<u8>>) {
        self.append(Entry::Raw(bytes.into()));
    }

    /// Ends the connections that stand, once they have got what came before.
    pub fn disconnect(&self, how: Cut) {
        self.append(Entry::End(how));
    }

    /// The next connection gets this status and these header lines (each with `\r\n`); may be called several times.
    pub fn fail_next(&self, status: u16, headers: &str) {
        self.log.change(|state| state.failures.push_back((status, headers.to_owned())));
    }

    /// The log forgets the events before the one with this id.
    pub fn discard_before(&self, id: &str) {
        self.log.change(|state| {
            let found = state
                .entries
                .iter()
                .position(|entry| matches!(entry, Entry::Event { event, .. } if event.id.as_deref() == Some(id)));
            state.retained_from = found.unwrap_or_else(|| panic!("no event {id} in the log"));
        });
    }

    /// All events that there ever were, in order.
    pub fn log(&self) -> Vec<LogEvent> {
        let state = self.log.lock();
        let event = |entry: &Entry| match entry {
            Entry::Event { event, .. } => Some(event.clone()),
            _ => None,
        };
        state.entries.iter().filter_map(event).collect()
    }

    /// From now on connections end like this after so many events; `None`: they do not.
    pub fn set_cut(&self, cut: Option<(usize, Cut)>) {
        self.log.change(|state| state.cut = cut);
    }

    /// From now on connections that have everything end, and a client that has everything gets 204.
    pub fn finish(&self) {
        self.log.change(|state| state.finished = true);
    }

    /// Waits until connection `index` (from 0) has been sent all that is there.
    pub fn wait_until_caught_up(&self, index: usize) {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.log.lock();
        while !state.caught_up.contains(&index) {
            assert!(Instant::now() < deadline, "waited {PATIENCE:?} for connection {index} to have got everything");
            state = self.log.changed.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
