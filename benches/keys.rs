//! What the keys of delivered events cost (rule 7): memory with a window of ten million events, on an ordinary
//! connection and in a recovery; and how long a recovery takes that meets nothing but known events. Prints a table.
//!
//! `cargo bench --bench keys`; `KEYS_MILLIONS` (10) is the size of the large window, `KEYS_RUNS` (3) how often each is
//! measured.

#[path = "e2e/run.rs"]
mod run;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use run::{Taken, once};
use ssectl::consumer::id::{EventId, StreamName};
use ssectl::consumer::keys::{Identity, Keyer};
use ssectl::consumer::options::Dedupe;
use ssectl::consumer::record::{Commit, Head, Key, Place};
use ssectl::consumer::time::Timestamp;
use ssectl::store::process::LocalProcesses;
use ssectl::store::sqlite::SqliteStore;
use ssectl::store::{Acquire, Acquired, Mover, Process, Store};

/// Ids are of one length, so that every event has the same.
const FIRST_ID: u64 = 1_000_000_000;
const EVENT_BYTES: usize = 80;
/// The server says that it dropped so many. A cursor before them gets them.
const DROPPED: u64 = 10;
/// Events after those: more than the new ones in a row that end removal (rule 7).
const LIVE: u64 = 70_000;
/// Keys that are stored at once.
const COMMIT_KEYS: u64 = 100_000;
const WINDOW: Duration = Duration::from_secs(7 * 86_400);
const MILLION: u64 = 1_000_000;

fn main() {
    let number =
        |name: &str, otherwise: u64| std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise);
    // An open gap is given up at ten million: a little less, so that it is not.
    let (large, runs) = (number("KEYS_MILLIONS", 10) * MILLION - LIVE, number("KEYS_RUNS", 3));
    println!("| window, events | what | seconds | memory, MiB |\n| ---: | --- | ---: | ---: |");
    for events in [MILLION, large] {
        Bench::new(events).measure(runs);
    }
}

/// The data of an event, which fills it up.
fn data(id: u64) -> String {
    format!("{id} {}", "x".repeat(EVENT_BYTES - "id: \ndata:  \n\n".len() - 2 * FIRST_ID.to_string().len()))
}

/// A server of a log, and a store that has it all but for what is dropped.
struct Bench {
    events: u64,
    address: SocketAddr,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(events: u64) -> Self {
        let bench = Self { events, address: serve(events), folder: tempfile::tempdir().expect("there is room") };
        bench.fill(&bench.path("delivered"));
        bench.copy("delivered", "open");
        // The notice comes, and the gap is left for the next run.
        let status = bench
            .ssectl("open", &["--on-drop", "exit"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("it starts");
        assert_eq!(status.code(), Some(5), "the gap is open");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn copy(&self, from: &str, to: &str) {
        std::fs::copy(self.path(from), self.path(to)).expect("there is room");
        for ending in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(self.path(&format!("{to}{ending}")));
        }
    }

    fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    fn ssectl(&self, db: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssectl"));
        command.args(["resume", &self.url(), "--stream", "s", "-o", "json", "-q", "--window", "7d"]).args(more);
        command.env("SSECTL_DB", self.path(db)).env("XDG_CONFIG_HOME", self.folder.path());
        command
    }

    /// Stores what a run has that delivered all events.
    fn fill(&self, path: &Path) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is right");
        let now = Timestamp(i64::try_from(since.as_micros()).expect("the clock is right"));
        let stream = StreamName::new("s").expect("it is a name");
        let mut store = SqliteStore::open(path, LocalProcesses::new()).expect("the store opens");
        let (process, url) = (Process::current(), self.url());
        let acquire = Acquire { stream: stream.clone(), process, mover: Mover::Resume, url, window: WINDOW, now };
        let Ok(Acquired::Owned(owned)) = store.acquire(&acquire) else { panic!("a new store is free") };
        let mut keyer = Keyer::new(&owned.key_seed, Dedupe::Event);
        let id = |id: u64| EventId::new(id.to_string()).expect("a number is not empty");
        let mut key = |number: u64| {
            let id = number.to_string();
            keyer.key(&Identity { in_force: &id, own: Some(&id), event: "message", data: &data(number) })
        };
        let mut next_seq = 0;
        while next_seq < self.events {
            let until = (next_seq + COMMIT_KEYS).min(self.events);
            let keys: Vec<Key> = (next_seq..until).map(|seq| key(FIRST_ID + seq)).collect();
            let last = FIRST_ID + until - 1;
            let place = Some(Place { id: id(last), before: Some(id(last - 1)) });
            let head = Head {
                latest: place.clone(),
                newest: place,
                latest_at: Some(now),
                delivered_at: Some(now),
                lagging: Some(id(FIRST_ID)),
                lagging_at: Some(now),
                newest_key: keys.last().copied(),
                last_key: keys.last().copied(),
                next_seq: until,
                ..Head::default()
            };
            let commit = Commit { head, keys, begin: next_seq == 0, ..Commit::default() };
            store.commit(&stream, owned.epoch, &commit).expect("the commit is taken");
            next_seq = until;
        }
        store.release(&stream, owned.epoch, "filled").expect("it is ours");
    }

    fn measure(&self, runs: u64) {
        let last = (FIRST_ID + self.events - 1 + DROPPED).to_string();
        self.row("curl -sN to /dev/null", runs, || {
            let mut command = Command::new("curl");
            command.args(["-sN", "-H", &format!("Last-Event-ID: {FIRST_ID}"), &self.url()]);
            command
        });
        self.row("resume --no-store, all of it new", runs, || {
            self.ssectl("none", &["--no-store", "--no-reconnect", "--last-event-id", &FIRST_ID.to_string()])
        });
        self.row("resume, an ordinary connection", runs, || {
            self.copy("delivered", "run");
            self.ssectl("run", &["--no-reconnect", "--no-default-drop-notices", "-n", "1"])
        });
        self.live_row();
        self.row("resume, a recovery", runs, || {
            self.copy("open", "run");
            self.ssectl("run", &["--until-id", &last])
        });
    }

    /// What a run holds that has followed the stream for a while.
    fn live_row(&self) {
        self.copy("delivered", "run");
        let mut command = self.ssectl("run", &["--no-default-drop-notices", "--send-cursor", "query:held"]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let records = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let count = usize::try_from(LIVE).expect("it is small");
        assert_eq!(records.take(count).filter(|record| record.is_ok()).count(), count);
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        let kib: f64 = line.trim().trim_end_matches("kB").trim().parse().unwrap_or(0.0);
        println!("| {} | the same, {LIVE} events later | | {:.0} |", self.events, kib / 1024.0);
        child.kill().expect("it runs");
        child.wait().expect("it is a child");
    }

    fn row(&self, what: &str, runs: u64, command: impl Fn() -> Command) {
        let mut taken: Vec<Taken> = (0..runs).map(|_| once(command())).collect();
        taken.sort_by_key(|taken| taken.time);
        let time = taken[taken.len() / 2].time.as_secs_f64();
        let memory = taken.iter().map(|taken| taken.memory_kib).max().unwrap_or(0) as f64 / 1024.0;
        println!("| {} | {what} | {time:.2} | {memory:.0} |", self.events);
    }
}

/// Serves a log of so many events, and those that were dropped: who is at its end gets the notice and what is after
/// them, everybody else what comes after the cursor.
fn serve(events: u64) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a port");
    let address = listener.local_addr().expect("it is bound");
    let text = |seq: u64| format!("id: {0}\ndata: {1}\n\n", FIRST_ID + seq, data(FIRST_ID + seq));
    assert_eq!(text(1).len(), EVENT_BYTES);
    let log: Arc<Vec<u8>> = Arc::new((0..events + DROPPED + LIVE).flat_map(|seq| text(seq).into_bytes()).collect());
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let log = Arc::clone(&log);
            // A reader that has gone is no concern of the server's.
            thread::spawn(move || answer(socket, &log, events).is_ok());
        }
    });
    address
}

fn answer(mut socket: TcpStream, log: &[u8], events: u64) -> std::io::Result<()> {
    let mut head = BufReader::new(socket.try_clone()?);
    let (mut line, mut after, mut held) = (String::new(), 0, false);
    while line != "\r\n" {
        line.clear();
        if head.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if let Some((_, id)) = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("last-event-id")) {
            after = id.trim().parse::<u64>().map_or(0, |id| id + 1 - FIRST_ID);
        }
        if let Some((_, id)) = line.split_once("held=") {
            let id = id.split_whitespace().next().and_then(|id| id.parse::<u64>().ok());
            (after, held) = (id.map_or(0, |id| id + 1 - FIRST_ID), true);
        }
    }
    write!(socket, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
    if after == events {
        write!(socket, ": you are reading too slowly, dropped {} messages\n\n", DROPPED - 1)?;
        after = events + DROPPED - 1;
    }
    let after = usize::try_from(after).expect("it is of the log") * EVENT_BYTES;
    socket.write_all(&log[after.min(log.len())..])?;
    if held {
        // Until the reader goes.
        head.read_line(&mut line)?;
    }
    Ok(())
}
