//! A process that writes to the SQLite store is killed in the middle: what it was told is durable, nothing is torn, and
//! the stream is free at once (rules 1 and 9).

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does")]

use std::env;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ssectl::consumer::id::{EventId, StreamName};
use ssectl::consumer::record::{Commit, Head, Key, Mark, Place};
use ssectl::consumer::time::Timestamp;
use ssectl::store::process::LocalProcesses;
use ssectl::store::sqlite::SqliteStore;
use ssectl::store::{Acquire, Acquired, Mover, Owned, Process, Store};

/// Set for the copy of this test that is the writer: the path of the database.
const WRITER: &str = "SSECTL_TEST_STORE_WRITER";
const ROUNDS: u64 = 3;
const COMMITS_SEEN: u64 = 25;

fn stream() -> StreamName {
    StreamName::new("crash").unwrap()
}

fn now() -> Timestamp {
    Timestamp(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros().try_into().unwrap())
}

fn acquire(store: &mut SqliteStore) -> Acquired {
    let request = Acquire {
        stream: stream(),
        process: Process::current(),
        mover: Mover::Resume,
        url: "https://example.com/".into(),
        window: Duration::from_secs(900),
        now: now(),
    };
    store.acquire(&request).unwrap()
}

fn own(store: &mut SqliteStore) -> Box<Owned> {
    match acquire(store) {
        Acquired::Owned(owned) => owned,
        other => panic!("not owned: {other:?}"),
    }
}

/// The commit after which `number + 1` events are delivered.
fn commit(number: u64) -> Commit {
    let id = EventId::new(number.to_string()).unwrap();
    let place = Some(Place { id: id.clone(), before: None });
    Commit {
        head: Head { latest: place.clone(), newest: place, next_seq: number + 1, ..Head::default() },
        marks_put: vec![Mark { ordinal: number % 7, id, at: now(), seq: 0 }],
        keys: vec![Key::from(number)],
        ..Commit::default()
    }
}

/// Not a test by itself: the process that [`killed_while_writing`] starts and kills.
#[test]
fn writer() {
    let Some(path) = env::var_os(WRITER) else { return };
    let mut store = SqliteStore::open(Path::new(&path), LocalProcesses::new()).unwrap();
    let owned = own(&mut store);
    let first = owned.record.head.next_seq;
    for number in first.. {
        store.commit(&stream(), owned.epoch, &commit(number)).unwrap();
        println!("committed {number}");
    }
}

fn start_writer(path: &Path) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "writer", "--nocapture", "--test-threads=1"])
        .env(WRITER, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

fn committed(line: &str) -> Option<u64> {
    line.rsplit_once("committed ")?.1.parse().ok()
}

#[test]
fn killed_while_writing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.db");
    let mut store = SqliteStore::open(&path, LocalProcesses::new()).unwrap();
    for _ in 0..ROUNDS {
        let (mut child, mut lines) = start_writer(&path);
        let mut told = lines.by_ref().map_while(Result::ok).filter_map(|line| committed(&line));
        let seen = told.nth(COMMITS_SEEN as usize).expect("the writer writes until it is killed");
        match acquire(&mut store) {
            Acquired::Busy(holder) => assert_eq!(holder.process.pid, child.id()),
            other => panic!("a living writer owns the stream: {other:?}"),
        }
        child.kill().unwrap();
        let last_told = told.last().unwrap_or(seen);
        child.wait().unwrap();

        let owned = own(&mut store);
        let next = owned.record.head.next_seq;
        assert!(next > last_told, "{last_told} was told to be durable, {next} is what comes next");
        assert_eq!(owned.record.head.latest, commit(next - 1).head.latest);
        let keys = store.keys(&stream(), 0).unwrap();
        assert_eq!(keys, (0..next).map(Key::from).collect::<Vec<_>>());
        assert_eq!(store.verify().unwrap(), Vec::<String>::new());
        store.release(&stream(), owned.epoch, "checked").unwrap();
    }
}
