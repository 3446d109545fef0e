//! What a commit costs: a cursor, its marks, and the keys of the events of one batch, in a SQLite file in the temporary
//! directory. SQLite syncs no file here (the write-ahead log is synced when it is folded in); what the disk adds to an
//! export's durable commits is measured end to end.

use std::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use ssectl::consumer::id::{EventId, StreamName};
use ssectl::consumer::record::{Commit, Epoch, Head, Key, Mark, Place};
use ssectl::consumer::time::Timestamp;
use ssectl::store::process::LocalProcesses;
use ssectl::store::sqlite::SqliteStore;
use ssectl::store::{Acquire, Acquired, Mover, Process, Store};

const NOW: Timestamp = Timestamp(1_796_071_266_000_000);

struct Open {
    store: SqliteStore,
    stream: StreamName,
    epoch: Epoch,
    next_seq: u64,
    _directory: tempfile::TempDir,
}

impl Open {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("there is a temporary directory");
        let path = directory.path().join("cursors.db");
        let mut store = SqliteStore::open(&path, LocalProcesses::new()).expect("the store opens");
        let stream = StreamName::new("bench").expect("the name is valid");
        let acquire = Acquire {
            stream: stream.clone(),
            process: Process::current(),
            mover: Mover::Resume,
            url: "http://localhost/".to_owned(),
            window: Duration::from_secs(900),
            now: NOW,
        };
        let Ok(Acquired::Owned(owned)) = store.acquire(&acquire) else { panic!("a new store is free") };
        Self { store, stream, epoch: owned.epoch, next_seq: 0, _directory: directory }
    }

    /// Commits the delivery of so many events.
    fn commit(&mut self, events: u64) {
        let keys: Vec<Key> = (self.next_seq..self.next_seq + events).map(|seq| Key::from(seq) << 64 | 7).collect();
        self.next_seq += events;
        let id = EventId::new(self.next_seq.to_string()).expect("a number is not empty");
        let place = Some(Place { id: id.clone(), before: None });
        let commit = Commit {
            head: Head { latest: place.clone(), newest: place, next_seq: self.next_seq, ..Head::default() },
            marks_put: vec![Mark { ordinal: self.next_seq % 128, id, at: NOW, seq: self.next_seq }],
            keys,
            keys_keep_from: self.next_seq.saturating_sub(65_536),
            ..Commit::default()
        };
        self.store.commit(&self.stream, self.epoch, &commit).expect("the commit is taken");
    }
}

#[divan::bench(args = [1, 100, 1_000, 3_000], max_time = 1, sample_count = 30)]
fn commit_of_events(bencher: Bencher<'_, '_>, events: u64) {
    let mut open = Open::new();
    bencher.counter(ItemsCount::new(events)).bench_local(|| open.commit(events));
}
