//! What every store must do, as one set of tests that runs over each of them. A further store adds a [`Lab`] and one
//! line of [`contract!`].

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;

use super::memory::MemoryStore;
use super::sqlite::SqliteStore;
use super::{
    Acquire, Acquired, Change, Edit, GAPS_KEPT, Holder, LEASE, Liveness, Mover, NewCursors, Owned, Process, Store,
    StoreError, StoredExport, Summary,
};
use crate::consumer::id::{EventId, StreamName};
use crate::consumer::record::{Commit, Epoch, ExportMark, Gap, GapState, Head, Key, Mark, Phase, Place, Record};
use crate::consumer::time::Timestamp;

/// Processes that a test declares dead.
#[derive(Clone, Default)]
pub(super) struct Morgue(Arc<Mutex<HashSet<u32>>>);

impl Morgue {
    fn bury(&self, pid: u32) {
        self.0.lock().unwrap().insert(pid);
    }
}

impl Liveness for Morgue {
    fn is_dead(&self, holder: &Process) -> bool {
        self.0.lock().unwrap().contains(&holder.pid)
    }
}

/// A place to test a store in.
pub(super) trait Lab {
    /// An empty store.
    fn make(liveness: Morgue) -> Self;
    /// The store.
    fn store(&mut self) -> &mut dyn Store;
    /// Closes the store and opens it again, where that means something.
    fn reopen(&mut self) {}
}

struct Memory(MemoryStore);

impl Lab for Memory {
    fn make(liveness: Morgue) -> Self {
        Self(MemoryStore::new(liveness))
    }

    fn store(&mut self) -> &mut dyn Store {
        &mut self.0
    }
}

struct Sqlite {
    store: Option<SqliteStore>,
    directory: tempfile::TempDir,
    liveness: Morgue,
}

impl Lab for Sqlite {
    fn make(liveness: Morgue) -> Self {
        let mut lab = Self { store: None, directory: tempfile::tempdir().unwrap(), liveness };
        lab.reopen();
        lab
    }

    fn store(&mut self) -> &mut dyn Store {
        self.store.as_mut().unwrap()
    }

    fn reopen(&mut self) {
        self.store = None;
        let path = self.directory.path().join("a").join("b.db");
        self.store = Some(SqliteStore::open(&path, self.liveness.clone()).unwrap());
    }
}

pub(super) fn name(text: &str) -> StreamName {
    StreamName::new(text).unwrap()
}

fn id(text: &str) -> EventId {
    EventId::new(text).unwrap()
}

fn place(text: &str) -> Place {
    Place { id: id(text), before: None }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp(seconds * 1_000_000)
}

fn process(pid: u32) -> Process {
    Process { pid, host: "here".into(), boot: "b".into(), started: u64::MAX - u64::from(pid) }
}

pub(super) fn request(stream: &str, pid: u32, mover: Mover, now: i64) -> Acquire {
    Acquire {
        stream: name(stream),
        process: process(pid),
        mover,
        url: format!("https://example.com/{stream}"),
        window: Duration::from_secs(900),
        now: at(now),
    }
}

/// A commit that moves `latest` to an id.
pub(super) fn moving(to: &str) -> Commit {
    let head = Head { latest: Some(place(to)), newest: Some(place(to)), ..Head::default() };
    Commit { head, ..Commit::default() }
}

fn with_keys(first: u64, keys: &[Key]) -> Commit {
    let head = Head { next_seq: first + keys.len() as u64, ..moving("k").head };
    Commit { head, keys: keys.to_vec(), ..Commit::default() }
}

fn mark(ordinal: u64) -> Mark {
    Mark { ordinal, id: id(&format!("m{ordinal}")), at: at(1), seq: 0 }
}

fn gap(number: u64, state: GapState) -> Gap {
    Gap {
        number,
        state,
        phase: Phase::Reading,
        text: ": dropped".into(),
        dropped: Some(7),
        recovered: 1,
        removed: 2,
        place: Some(id("p")),
        opened_at: at(50),
        ended_at: (state != GapState::Open).then(|| at(60)),
        seq: 0,
        progress: Some(Place { id: id("q"), before: Some(id("r")) }),
        evidence: true,
        attempt: 2,
        notices_in_row: 3,
        filled: 4,
        passed: true,
    }
}

/// A record with something in every field.
fn full_commit() -> Commit {
    let place = |a: &str, b: &str| Some(Place { id: id(a), before: Some(id(b)) });
    let head = Head {
        latest: place("10#2", "9"),
        latest_at: Some(at(40)),
        lagging: Some(id("é ☃")),
        lagging_at: Some(at(20)),
        lagging_seq: 1,
        newest: place("12", "11"),
        newest_key: Some(Key::MAX - 1),
        last_key: Some(3),
        ahead_key: Some(4),
        shared_ids: true,
        sole_id_events: Some(3),
        delivered_at: Some(at(41)),
        recovery_at: Some(at(30)),
        next_seq: 3,
    };
    Commit {
        begin: false,
        head,
        marks_put: vec![mark(1), mark(5)],
        marks_drop: Vec::new(),
        gaps_put: vec![gap(1, GapState::Recovered), gap(2, GapState::Open)],
        keys: vec![0, Key::MAX, 0x00ff_0a00],
        keys_keep_from: 0,
        export: None,
        export_done: None,
    }
}

fn full_record() -> Record {
    let commit = full_commit();
    Record { head: commit.head, marks: commit.marks_put, gap: commit.gaps_put.last().cloned() }
}

/// The steps that most tests are made of.
struct Bench<L> {
    lab: L,
    dead: Morgue,
}

impl<L: Lab> Bench<L> {
    fn new() -> Self {
        let dead = Morgue::default();
        Self { lab: L::make(dead.clone()), dead }
    }

    fn store(&mut self) -> &mut dyn Store {
        self.lab.store()
    }

    fn ask(&mut self, pid: u32, mover: Mover, now: i64) -> Acquired {
        self.store().acquire(&request("s", pid, mover, now)).unwrap()
    }

    fn own(&mut self, pid: u32, mover: Mover, now: i64) -> Box<Owned> {
        match self.ask(pid, mover, now) {
            Acquired::Owned(owned) => owned,
            other => panic!("not owned: {other:?}"),
        }
    }

    fn busy(&mut self, pid: u32, mover: Mover, now: i64) -> Holder {
        match self.ask(pid, mover, now) {
            Acquired::Busy(holder) => holder,
            other => panic!("not busy: {other:?}"),
        }
    }

    fn commit(&mut self, epoch: Epoch, commit: &Commit) {
        self.store().commit(&name("s"), epoch, commit).unwrap();
    }

    fn fenced(&mut self, epoch: Epoch) -> Option<Holder> {
        match self.store().commit(&name("s"), epoch, &moving("x")) {
            Err(StoreError::Fenced { holder }) => holder,
            other => panic!("not fenced: {other:?}"),
        }
    }

    fn record(&mut self) -> Record {
        self.store().peek(&name("s")).unwrap().unwrap()
    }

    fn summary(&mut self, now: i64) -> Summary {
        self.store().show(&name("s"), at(now)).unwrap().unwrap()
    }

    fn keys(&mut self, from: u64) -> Vec<Key> {
        self.store().keys(&name("s"), from).unwrap()
    }

    fn edit(&mut self, edit: &Edit, force: bool, now: i64) -> Result<(), StoreError> {
        self.store().edit(&name("s"), edit, force, at(now))
    }
}

fn set(latest: &str, lagging: Option<&str>) -> Edit {
    Edit::Set(NewCursors { latest: id(latest), lagging: lagging.map(id), window: None, url: None })
}

fn a_new_stream_is_empty_and_owned<L: Lab>() {
    let mut bench = Bench::<L>::new();
    assert_eq!(bench.store().peek(&name("s")).unwrap(), None);
    assert_eq!(bench.store().show(&name("s"), at(0)).unwrap(), None);
    let owned = bench.own(1, Mover::Resume, 100);
    assert_eq!(owned.record, Record::default());
    assert_eq!(owned.last_gap_number, 0);
    assert_eq!((owned.taken_from, owned.previous_url), (None, None));
    assert_ne!(owned.key_seed, [0; 32]);
    let owner = bench.summary(101).owner.unwrap();
    assert_eq!(owner.process, process(1));
    assert_eq!((owner.mover, owner.since, owner.expires_at), (Mover::Resume, at(100), at(100).plus(LEASE)));
}

fn everything_of_a_record_is_kept<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let seed = {
        let owned = bench.own(1, Mover::Resume, 100);
        bench.commit(owned.epoch, &full_commit());
        bench.store().release(&name("s"), owned.epoch, "asked to").unwrap();
        owned.key_seed
    };
    bench.lab.reopen();
    assert_eq!(bench.record(), full_record());
    assert_eq!(bench.keys(0), full_commit().keys);
    let summary = bench.summary(101);
    assert_eq!(summary.gaps, full_commit().gaps_put);
    assert_eq!((summary.latest, summary.lagging), (Some(id("10#2")), Some(id("é ☃"))));
    assert_eq!((summary.latest_at, summary.lagging_at), (Some(at(40)), Some(at(20))));
    assert_eq!(summary.window, Duration::from_secs(900));
    assert_eq!(summary.url.as_deref(), Some("https://example.com/s"));
    assert_eq!(summary.last_end.as_deref(), Some("asked to"));
    assert_eq!((summary.owner, summary.moved_by), (None, Some(Mover::Resume)));
    let owned = bench.own(2, Mover::Resume, 102);
    assert_eq!(owned.record, full_record());
    assert_eq!((owned.key_seed, owned.last_gap_number), (seed, 2));
    assert_eq!(
        bench.summary(102).last_end,
        None,
        "a run that cannot say how it ended must not seem to have ended well"
    );
}

fn a_stream_is_known_once_something_was_delivered_or_edited<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    let mark = ExportMark { file: "/x".into(), length: 0, tail: 0 };
    bench.commit(owned.epoch, &Commit { export: Some(mark), ..Commit::default() });
    let owned = bench.own_again(owned.epoch);
    assert!(!owned.known, "owned twice by who did not live to deliver");
    bench.commit(owned.epoch, &moving("1"));
    assert!(bench.own_again(owned.epoch).known);
}

fn a_second_resume_is_busy<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    assert_eq!(bench.busy(2, Mover::Resume, 101).process.pid, 1);
    assert_eq!(bench.busy(2, Mover::Tail, 101).process.pid, 1);
    bench.commit(owned.epoch, &moving("1"));
}

fn a_second_tail_is_busy<L: Lab>() {
    let mut bench = Bench::<L>::new();
    bench.own(1, Mover::Tail, 100);
    assert_eq!(bench.busy(2, Mover::Tail, 101).mover, Mover::Tail);
}

fn a_resume_takes_over_from_a_tail<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let tail = bench.own(1, Mover::Tail, 100);
    let resume = bench.own(2, Mover::Resume, 101);
    assert_eq!(resume.taken_from.clone().unwrap().process.pid, 1);
    assert!(resume.epoch > tail.epoch);
    let by = bench.fenced(tail.epoch).unwrap();
    assert_eq!((by.process.pid, by.mover), (2, Mover::Resume));
    bench.store().release(&name("s"), resume.epoch, "done").unwrap();
    assert_eq!(bench.fenced(tail.epoch).unwrap().mover, Mover::Resume, "still told after the new owner has let go");
}

fn a_tail_leaves_the_cursor_of_a_script_alone<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    bench.store().release(&name("s"), owned.epoch, "").unwrap();
    let tail = bench.own(2, Mover::Tail, 101);
    assert_eq!(tail.record.head.latest, None, "without a cursor there is nothing to leave alone");
    bench.commit(tail.epoch, &moving("1"));
    bench.store().release(&name("s"), tail.epoch, "").unwrap();
    let tail = bench.own(3, Mover::Tail, 102);
    bench.store().release(&name("s"), tail.epoch, "").unwrap();

    let resume = bench.own(4, Mover::Resume, 103);
    let unmoved = Commit { head: Head { recovery_at: Some(at(1)), ..moving("1").head }, ..Commit::default() };
    bench.commit(resume.epoch, &unmoved);
    assert_eq!(bench.summary(103).moved_by, Some(Mover::Tail), "a commit that leaves `latest` moves nothing");
    bench.commit(resume.epoch, &moving("2"));
    assert_eq!(bench.summary(103).moved_by, Some(Mover::Resume));
    bench.store().release(&name("s"), resume.epoch, "").unwrap();
    assert!(matches!(bench.ask(5, Mover::Tail, 104), Acquired::Reserved(Mover::Resume)));
    bench.edit(&set("7", None), false, 105).unwrap();
    assert!(matches!(bench.ask(5, Mover::Tail, 106), Acquired::Reserved(Mover::Set)));
    bench.own(6, Mover::Resume, 107);
}

fn a_position_before_the_first_event_is_a_cursor_too<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    let head = Head { lagging: Some(id("start")), ..Head::default() };
    bench.commit(owned.epoch, &Commit { begin: true, head, ..Commit::default() });
    bench.store().release(&name("s"), owned.epoch, "").unwrap();
    assert!(matches!(bench.ask(2, Mover::Tail, 101), Acquired::Reserved(Mover::Resume)));
}

fn an_expired_lease_owns_nothing<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let first = bench.own(1, Mover::Resume, 100);
    let lease = i64::try_from(LEASE.as_secs()).unwrap();
    assert_eq!(bench.busy(2, Mover::Resume, 100 + lease - 1).process.pid, 1);
    bench.store().renew(&name("s"), first.epoch, at(110)).unwrap();
    assert_eq!(bench.busy(2, Mover::Resume, 110 + lease - 1).process.pid, 1);
    assert_eq!(bench.summary(110 + lease).owner, None);
    bench.commit(first.epoch, &moving("1"));
    let second = bench.own(2, Mover::Resume, 110 + lease);
    assert_eq!(second.taken_from, None);
    assert_eq!(bench.fenced(first.epoch).unwrap().process.pid, 2);
    let renewed = bench.store().renew(&name("s"), first.epoch, at(200));
    assert!(matches!(renewed, Err(StoreError::Fenced { holder: Some(_) })), "{renewed:?}");
    assert_eq!(bench.summary(126).owner.unwrap().expires_at, at(125).plus(LEASE));
}

fn a_dead_process_owns_nothing<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let first = bench.own(1, Mover::Resume, 100);
    bench.dead.bury(1);
    assert_eq!(bench.summary(101).owner, None);
    bench.own(2, Mover::Resume, 101);
    bench.fenced(first.epoch);
}

fn a_fenced_commit_changes_nothing<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let first = bench.own(1, Mover::Tail, 100);
    bench.commit(first.epoch, &full_commit());
    bench.own(2, Mover::Resume, 101);
    let stale = Commit { begin: true, keys: vec![1], ..with_keys(0, &[1]) };
    let answer = bench.store().commit(&name("s"), first.epoch, &stale);
    assert!(matches!(answer, Err(StoreError::Fenced { .. })));
    let released = bench.store().release(&name("s"), first.epoch, "late");
    assert!(matches!(released, Err(StoreError::Fenced { .. })));
    assert_eq!(bench.record(), full_record());
    assert_eq!(bench.keys(0), full_commit().keys);
    let summary = bench.summary(101);
    assert_eq!((summary.last_end, summary.owner.unwrap().process.pid), (None, 2));
}

fn nobody_writes_without_owning<L: Lab>() {
    let mut bench = Bench::<L>::new();
    assert_eq!(bench.fenced(Epoch(0)), None);
    let owned = bench.own(1, Mover::Resume, 100);
    bench.fenced(Epoch(owned.epoch.0 + 1));
    bench.store().release(&name("s"), owned.epoch, "").unwrap();
    bench.fenced(owned.epoch);
    bench.fenced(Epoch(owned.epoch.0 + 1));
    assert_eq!(bench.record(), Record::default());
}

fn a_new_record_clears_marks_and_keys_and_abandons_the_open_gap<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    bench.commit(owned.epoch, &full_commit());
    let mut begin = with_keys(0, &[77]);
    begin.begin = true;
    begin.head.delivered_at = Some(at(99));
    begin.marks_put = vec![mark(1)];
    bench.commit(owned.epoch, &begin);
    assert_eq!(bench.record(), Record { head: begin.head.clone(), marks: begin.marks_put.clone(), gap: None });
    assert_eq!(bench.keys(0), [77]);
    let gaps = bench.summary(100).gaps;
    assert_eq!(gaps[0], gap(1, GapState::Recovered));
    assert_eq!((gaps[1].state, gaps[1].ended_at), (GapState::Abandoned, Some(at(99))));

    bench.commit(owned.epoch, &Commit { gaps_put: vec![gap(3, GapState::Open)], ..with_keys(1, &[]) });
    bench.commit(owned.epoch, &Commit { begin: true, ..with_keys(500, &[]) });
    assert_eq!(bench.summary(100).gaps[2].ended_at, Some(at(50)), "without a delivery it ends when it was opened");
    bench.commit(owned.epoch, &with_keys(500, &[5]));
    assert_eq!(bench.keys(500), [5]);
    bench.store().release(&name("s"), owned.epoch, "").unwrap();
    assert_eq!(bench.own(2, Mover::Resume, 101).last_gap_number, 3, "numbers go on in a new record");
    assert_eq!(bench.store().verify().unwrap(), Vec::<String>::new());
}

fn marks_are_put_replaced_and_dropped<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    bench.commit(owned.epoch, &Commit { marks_put: vec![mark(9), mark(3), mark(4)], ..moving("1") });
    let replaced = Mark { at: at(70), ..mark(4) };
    let change = Commit { marks_drop: vec![3, 8, 9], marks_put: vec![replaced.clone(), mark(9)], ..moving("1") };
    bench.commit(owned.epoch, &change);
    assert_eq!(bench.record().marks, [replaced, mark(9)]);
}

fn gaps_are_put_and_the_newest_are_kept<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    bench.commit(owned.epoch, &Commit { gaps_put: vec![gap(1, GapState::Open)], ..moving("1") });
    assert_eq!(bench.record().gap, Some(gap(1, GapState::Open)));
    bench.commit(owned.epoch, &Commit { gaps_put: vec![gap(1, GapState::Partial)], ..moving("1") });
    assert_eq!(bench.record().gap, None);
    let last = GAPS_KEPT as u64 + 5;
    let many = (2..=last).map(|number| gap(number, GapState::Ignored)).collect();
    bench.commit(owned.epoch, &Commit { gaps_put: many, ..moving("1") });
    let kept: Vec<u64> = bench.summary(100).gaps.iter().map(|gap| gap.number).collect();
    assert_eq!(kept, (6..=last).collect::<Vec<_>>());
    assert_eq!(bench.own_again(owned.epoch).last_gap_number, last);
}

impl<L: Lab> Bench<L> {
    fn own_again(&mut self, epoch: Epoch) -> Box<Owned> {
        self.store().release(&name("s"), epoch, "").unwrap();
        self.own(9, Mover::Resume, 100)
    }
}

fn keys_are_appended_in_order_and_pruned<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    let all: Vec<Key> = (0..5_000_u64).map(|n| Key::from(n) << 64 | Key::from(!n)).collect();
    let mut next = 0;
    for step in [1, 1, 510, 1, 511, 2, 1_500, 0, 1].into_iter().cycle() {
        let end = (next + step).min(all.len());
        bench.commit(owned.epoch, &with_keys(next as u64, &all[next..end]));
        next = end;
        if end == all.len() {
            break;
        }
    }
    for from in [0, 1, 2, 511, 512, 513, 1_023, 1_024, 1_025, 4_999] {
        assert_eq!(bench.keys(from as u64), all[from..], "from {from}");
    }
    assert_eq!(bench.keys(5_000), Vec::<Key>::new());
    assert_eq!(bench.keys(u64::MAX), Vec::<Key>::new());
    for keep_from in [1_000_usize, 4_000, 4_999] {
        bench.commit(owned.epoch, &Commit { keys_keep_from: keep_from as u64, ..with_keys(5_000, &[]) });
        assert_eq!(bench.keys(keep_from as u64), all[keep_from..]);
        let left = bench.keys(0).len();
        assert!(left < 5_000 - keep_from + 1_024, "{left} keys are left, all from {keep_from} on were wanted");
    }
    bench.commit(owned.epoch, &Commit { keys_keep_from: 5_000, ..with_keys(5_000, &[]) });
    bench.commit(owned.epoch, &Commit { keys_keep_from: 5_000, ..with_keys(5_000, &[1, 2]) });
    assert_eq!(bench.keys(5_000), [1, 2]);
    assert_eq!(bench.store().verify().unwrap(), Vec::<String>::new());
}

fn keys_that_do_not_follow_are_refused<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    bench.commit(owned.epoch, &with_keys(0, &[1, 2]));
    let too_many = Commit { head: Head { next_seq: 1, ..Head::default() }, keys: vec![1, 2], ..Commit::default() };
    for wrong in [with_keys(1, &[3]), with_keys(3, &[4]), too_many, with_keys(0, &[])] {
        let answer = bench.store().commit(&name("s"), owned.epoch, &wrong);
        assert!(matches!(answer, Err(StoreError::Failed(_))), "{answer:?}");
    }
    assert_eq!(bench.keys(0), [1, 2]);
    bench.commit(owned.epoch, &with_keys(2, &[3]));
}

fn numbers_too_large_do_no_harm<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    let huge = Commit { marks_put: vec![Mark { ordinal: u64::MAX, ..mark(1) }], ..moving("1") };
    let answer = bench.store().commit(&name("s"), owned.epoch, &huge);
    assert!(matches!(answer, Err(StoreError::Failed(_))), "two of them could become one: {answer:?}");
    let counted = Gap { dropped: Some(u64::MAX), ..gap(1, GapState::Open) };
    let keep = Commit { gaps_put: vec![counted], keys_keep_from: u64::MAX, ..moving("1") };
    bench.commit(owned.epoch, &keep);
    assert!(bench.record().gap.unwrap().dropped.unwrap() >= i64::MAX as u64);
}

fn one_refused_change_leaves_the_others_of_its_group<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    let other = match bench.store().acquire(&request("t", 1, Mover::Resume, 100)).unwrap() {
        Acquired::Owned(owned) => owned,
        other => panic!("{other:?}"),
    };
    let change = |stream: &str, epoch, commit| Change { stream: name(stream), epoch, commit: Box::new(commit) };
    let answers = bench.store().commit_all(&[
        change("s", owned.epoch, moving("1")),
        change("t", Epoch(999), moving("x")),
        change("unknown", Epoch(1), moving("x")),
        change("s", owned.epoch, with_keys(7, &[1])),
        change("t", other.epoch, moving("2")),
    ]);
    assert!(matches!(
        answers[..],
        [
            Ok(()),
            Err(StoreError::Fenced { holder: Some(_) }),
            Err(StoreError::Fenced { holder: None }),
            Err(StoreError::Failed(_)),
            Ok(())
        ]
    ));
    assert_eq!(bench.record().head, moving("1").head);
    let record = bench.store().peek(&name("t")).unwrap().unwrap();
    assert_eq!(record.head, moving("2").head);
}

fn set_begins_a_new_record<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    bench.commit(owned.epoch, &full_commit());
    assert_eq!(bench.edit(&set("50", None), false, 101), Err(StoreError::Busy(bench.summary(101).owner.unwrap())));
    assert_eq!(bench.record(), full_record());
    bench.edit(&set("50", Some("40")), true, 102).unwrap();
    assert_eq!(bench.fenced(owned.epoch), None);
    let record = bench.record();
    assert_eq!(record.head.latest, Some(place("50")));
    assert_eq!(record.head.newest, None, "nothing was delivered in it");
    assert_eq!(record.head.lagging, Some(id("40")));
    assert_eq!((record.head.latest_at, record.head.delivered_at), (Some(at(102)), None));
    assert!(record.head.shared_ids, "how the server uses ids is remembered");
    assert_eq!((record.marks, record.gap, bench.keys(0)), (Vec::new(), None, Vec::new()));
    let summary = bench.summary(102);
    assert_eq!((summary.gaps[1].state, summary.gaps[1].ended_at), (GapState::Abandoned, Some(at(102))));
    assert_eq!((summary.owner, summary.moved_by), (None, Some(Mover::Set)));
    assert_eq!(summary.url.as_deref(), Some("https://example.com/s"), "kept where none is given");
    bench.edit(&set("60", None), false, 103).unwrap();
    assert_eq!(bench.record().head.lagging, Some(id("60")));
    assert_eq!(bench.store().verify().unwrap(), Vec::<String>::new());
}

fn an_export_is_committed_with_the_cursor_and_forgotten_by_a_new_record<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    assert!(!owned.known && owned.exports.is_empty());
    let mark = |length| ExportMark { file: "/x/é.ndjson".into(), length, tail: u128::MAX - 1 };
    for length in [10, 20] {
        bench.commit(owned.epoch, &Commit { export: Some(mark(length)), ..moving("7") });
    }
    bench.commit(owned.epoch, &moving("8"));
    bench.lab.reopen();
    let stored = vec![StoredExport { mark: mark(20), latest: Some(id("7")), next_seq: 0, delivered_at: None }];
    assert!(stored[0].is_at(&moving("7").head));
    assert!(!stored[0].is_at(&moving("8").head));
    assert!(!stored[0].is_at(&Head { next_seq: 1, ..moving("7").head }), "delivered under the same id");
    assert!(!stored[0].is_at(&Head { delivered_at: Some(at(1)), ..moving("7").head }), "delivered without an id");
    assert_eq!(bench.summary(101).exports, stored);
    let again = bench.own_again(owned.epoch);
    assert!(again.known);
    assert_eq!(again.exports, stored);
    let other = ExportMark { file: "/x/other".into(), ..mark(0) };
    let done = Some("/x/é.ndjson".into());
    bench.commit(again.epoch, &Commit { export: Some(other.clone()), export_done: done, ..moving("8") });
    let names: Vec<_> = bench.summary(102).exports.into_iter().map(|stored| stored.mark.file).collect();
    assert_eq!(names, [other.file], "what is done is forgotten");
    bench.edit(&set("50", None), true, 102).unwrap();
    assert_eq!(bench.summary(102).exports, []);
    bench.edit(&Edit::Forget, true, 103).unwrap();
    let owned = bench.own(1, Mover::Resume, 104);
    assert!(owned.known, "what was forgotten was known");
}

fn set_makes_a_stream<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let cursors = NewCursors {
        latest: id("1"),
        lagging: None,
        window: Some(Duration::from_millis(1_500)),
        url: Some("https://example.com/imported".into()),
    };
    bench.edit(&Edit::Set(cursors), false, 100).unwrap();
    let summary = bench.summary(100);
    assert_eq!(summary.window, Duration::from_millis(1_500));
    let owned = bench.own(1, Mover::Resume, 101);
    assert_eq!(owned.record.head.lagging, Some(id("1")));
    assert_eq!(owned.previous_url.as_deref(), Some("https://example.com/imported"));
    assert_eq!(bench.summary(101).url.as_deref(), Some("https://example.com/s"));
    assert_eq!(bench.own_again(owned.epoch).previous_url, None);
}

fn an_edit_stops_an_owner_whose_lease_ran_out<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    bench.edit(&set("50", None), false, 1_000).unwrap();
    assert_eq!(bench.fenced(owned.epoch), None);
    assert_eq!(bench.record().head.latest, Some(place("50")));
}

fn forget_forgets_all_but_the_epoch<L: Lab>() {
    let mut bench = Bench::<L>::new();
    assert_eq!(bench.edit(&Edit::Forget, true, 99), Err(StoreError::UnknownStream));
    let owned = bench.own(1, Mover::Resume, 100);
    bench.commit(owned.epoch, &full_commit());
    assert!(matches!(bench.edit(&Edit::Forget, false, 101), Err(StoreError::Busy(_))));
    bench.edit(&Edit::Forget, true, 101).unwrap();
    assert_eq!(bench.store().show(&name("s"), at(101)).unwrap(), None);
    assert_eq!(bench.store().list(at(101)).unwrap(), Vec::new());
    assert_eq!(bench.keys(0), Vec::<Key>::new());
    assert_eq!(bench.fenced(owned.epoch), None);
    let again = bench.own(2, Mover::Tail, 102);
    assert!(again.epoch > owned.epoch);
    assert_ne!(again.key_seed, owned.key_seed);
    assert_eq!((again.record.clone(), again.last_gap_number), (Record::default(), 0));
    assert_eq!(bench.fenced(owned.epoch).unwrap().process.pid, 2);
}

fn to_lagging_goes_back<L: Lab>() {
    let mut bench = Bench::<L>::new();
    assert_eq!(bench.edit(&Edit::ToLagging, false, 99), Err(StoreError::UnknownStream));
    let owned = bench.own(1, Mover::Resume, 100);
    assert_eq!(bench.edit(&Edit::ToLagging, true, 100), Err(StoreError::NoCursor));
    bench.commit(owned.epoch, &full_commit());
    assert!(matches!(bench.edit(&Edit::ToLagging, false, 101), Err(StoreError::Busy(_))));
    bench.edit(&Edit::ToLagging, true, 101).unwrap();
    bench.fenced(owned.epoch);
    let head = bench.record().head;
    assert_eq!((head.latest, head.newest), (Some(place("é ☃")), None));
    assert_eq!((head.lagging, head.lagging_at), (Some(id("é ☃")), Some(at(20))));
    assert_eq!((head.next_seq, head.lagging_seq), (0, 0));
    assert_eq!(bench.keys(0), Vec::<Key>::new());
}

fn streams_are_listed_by_name_and_kept_apart<L: Lab>() {
    let mut bench = Bench::<L>::new();
    for (stream, to) in [("b", "1"), ("a", "2"), ("a b", "3"), ("Z", "4")] {
        let Acquired::Owned(owned) = bench.store().acquire(&request(stream, 1, Mover::Resume, 100)).unwrap() else {
            panic!("not owned");
        };
        bench.store().commit(&name(stream), owned.epoch, &moving(to)).unwrap();
    }
    let list = bench.store().list(at(100)).unwrap();
    let found: Vec<_> = list.iter().map(|one| (one.stream.as_str(), one.latest.clone().unwrap())).collect();
    assert_eq!(found, [("Z", id("4")), ("a", id("2")), ("a b", id("3")), ("b", id("1"))]);
    assert_eq!(bench.store().show(&name("a"), at(100)).unwrap().as_ref(), Some(&list[1]));
}

fn verify_finds_what_cannot_be<L: Lab>() {
    let mut bench = Bench::<L>::new();
    let owned = bench.own(1, Mover::Resume, 100);
    bench.commit(owned.epoch, &full_commit());
    assert_eq!(bench.store().verify().unwrap(), Vec::<String>::new());
    let broken = Commit {
        head: Head { lagging_seq: 9, latest: None, newest: Some(place("2")), ..with_keys(3, &[]).head },
        marks_put: vec![Mark { seq: 8, ..mark(2) }],
        gaps_put: vec![
            Gap { ended_at: None, ..gap(2, GapState::Recovered) },
            Gap { phase: Phase::Reporting, ..gap(3, GapState::Open) },
            Gap { seq: 7, phase: Phase::Reporting, ..gap(4, GapState::Open) },
        ],
        ..Commit::default()
    };
    bench.commit(owned.epoch, &broken);
    let found = bench.store().verify().unwrap().join("\n");
    for part in ["`lagging`", "`latest` is nowhere", "ascending", "mark begins", "2 gaps are open", "gap 2", "gap 4"] {
        assert!(found.contains(part), "{part} is not in:\n{found}");
    }
    assert!(found.lines().all(|line| line.starts_with("stream `s`: ")), "{found}");
}

macro_rules! contract {
    ($lab:ident $module:ident: $($test:ident)*) => {
        mod $module {
            $(#[test] fn $test() { super::$test::<super::$lab>(); })*
        }
    };
    ($($lab:ident $module:ident),*) => {
        $(contract! { $lab $module:
            a_new_stream_is_empty_and_owned
            everything_of_a_record_is_kept
            a_stream_is_known_once_something_was_delivered_or_edited
            a_second_resume_is_busy
            a_second_tail_is_busy
            a_resume_takes_over_from_a_tail
            a_tail_leaves_the_cursor_of_a_script_alone
            a_position_before_the_first_event_is_a_cursor_too
            an_expired_lease_owns_nothing
            a_dead_process_owns_nothing
            a_fenced_commit_changes_nothing
            nobody_writes_without_owning
            a_new_record_clears_marks_and_keys_and_abandons_the_open_gap
            marks_are_put_replaced_and_dropped
            gaps_are_put_and_the_newest_are_kept
            keys_are_appended_in_order_and_pruned
            keys_that_do_not_follow_are_refused
            numbers_too_large_do_no_harm
            one_refused_change_leaves_the_others_of_its_group
            an_export_is_committed_with_the_cursor_and_forgotten_by_a_new_record
            set_begins_a_new_record
            set_makes_a_stream
            an_edit_stops_an_owner_whose_lease_ran_out
            forget_forgets_all_but_the_epoch
            to_lagging_goes_back
            streams_are_listed_by_name_and_kept_apart
            verify_finds_what_cannot_be
        })*
    };
}

contract! { Memory memory_store, Sqlite sqlite_store }

/// A step of a random life of a store.
#[derive(Clone, Debug)]
enum Step {
    Acquire { stream: u8, pid: u32, mover: Mover },
    Commit { stream: u8, stale: bool, plan: Plan },
    Renew { stream: u8, stale: bool },
    Release { stream: u8, stale: bool },
    Edit { stream: u8, edit: u8, force: bool },
    Die { pid: u32 },
    Wait { seconds: i64 },
    Reopen,
}

/// A commit that still has to be fitted to what is stored.
#[derive(Clone, Debug)]
struct Plan {
    begin: bool,
    latest: u8,
    marks: Vec<u8>,
    drops: Vec<u8>,
    gap: Option<(u8, u8)>,
    keys: Vec<Key>,
    skip: bool,
    keep: u16,
    export: Option<(u8, u64)>,
}

impl Plan {
    fn commit(&self, stored: &Head) -> Commit {
        let next = if self.begin { 0 } else { stored.next_seq } + self.keys.len() as u64;
        let latest = (self.latest > 0).then(|| Place { id: id(&self.latest.to_string()), before: Some(id("b")) });
        Commit {
            begin: self.begin,
            head: Head {
                newest: latest.clone(),
                lagging: latest.as_ref().map(|place| place.id.clone()),
                latest,
                next_seq: next + u64::from(self.skip),
                ..Head::default()
            },
            marks_put: self.marks.iter().map(|&ordinal| mark(u64::from(ordinal))).collect(),
            marks_drop: self.drops.iter().map(|&ordinal| u64::from(ordinal)).collect(),
            gaps_put: Vec::from_iter(self.gap.map(|(number, state)| {
                gap(u64::from(number), GapState::ALL[usize::from(state) % GapState::ALL.len()])
            })),
            keys: self.keys.clone(),
            keys_keep_from: u64::from(self.keep).min(next),
            export: self.export.map(|(file, length)| ExportMark { file: file.to_string(), length, tail: 7 }),
            export_done: self.export.map(|(file, _)| (file / 2).to_string()),
        }
    }
}

fn plans() -> impl Strategy<Value = Plan> {
    let few = || prop::collection::vec(0_u8..12, 0..3);
    let keys = prop_oneof![
        3 => prop::collection::vec(any::<Key>(), 0..3),
        1 => prop::collection::vec(any::<Key>(), 500..530),
    ];
    let skip = prop::bool::weighted(0.1);
    let begin = prop::bool::weighted(0.1);
    let gap = prop::option::of((1_u8..6, any::<u8>()));
    let export = prop::option::of((0_u8..4, 0_u64..9));
    (begin, 0_u8..4, few(), few(), gap, keys, skip, 0_u16..2_000, export).prop_map(
        |(begin, latest, marks, drops, gap, keys, skip, keep, export)| Plan {
            begin,
            latest,
            marks,
            drops,
            gap,
            keys,
            skip,
            keep,
            export,
        },
    )
}

fn steps() -> impl Strategy<Value = Step> {
    let stale = || prop::bool::weighted(0.2);
    let mover = prop_oneof![Just(Mover::Tail), Just(Mover::Resume)];
    prop_oneof![
        4 => (0_u8..2, 1_u32..5, mover).prop_map(|(stream, pid, mover)| Step::Acquire { stream, pid, mover }),
        8 => (0_u8..2, stale(), plans()).prop_map(|(stream, stale, plan)| Step::Commit { stream, stale, plan }),
        1 => (0_u8..2, stale()).prop_map(|(stream, stale)| Step::Renew { stream, stale }),
        2 => (0_u8..2, stale()).prop_map(|(stream, stale)| Step::Release { stream, stale }),
        1 => (0_u8..2, 0_u8..4, any::<bool>()).prop_map(|(stream, edit, force)| Step::Edit { stream, edit, force }),
        1 => (1_u32..5).prop_map(|pid| Step::Die { pid }),
        2 => (0_i64..20).prop_map(|seconds| Step::Wait { seconds }),
        1 => Just(Step::Reopen),
    ]
}

/// A store in the middle of a random life; a second one goes through the same.
struct Life<L> {
    bench: Bench<L>,
    now: i64,
    epochs: [Epoch; 2],
    keep_from: [u64; 2],
}

impl<L: Lab> Life<L> {
    fn new() -> Self {
        Self { bench: Bench::new(), now: 1_000, epochs: [Epoch(0); 2], keep_from: [0; 2] }
    }

    fn epoch(&self, stream: u8, stale: bool) -> Epoch {
        let Epoch(epoch) = self.epochs[usize::from(stream)];
        Epoch(epoch.saturating_sub(u64::from(stale)))
    }

    /// Takes a step and tells all that can be seen of the answer, and of the store after it.
    fn step(&mut self, step: &Step) -> String {
        let answer = match step {
            Step::Acquire { stream, pid, mover } => self.acquire(*stream, *pid, *mover),
            Step::Commit { stream, stale, plan } => self.commit(*stream, *stale, plan),
            Step::Renew { stream, stale } => {
                let (epoch, now) = (self.epoch(*stream, *stale), at(self.now));
                format!("{:?}", self.bench.store().renew(&streams(*stream), epoch, now))
            }
            Step::Release { stream, stale } => {
                let epoch = self.epoch(*stream, *stale);
                format!("{:?}", self.bench.store().release(&streams(*stream), epoch, "end"))
            }
            Step::Edit { stream, edit, force } => {
                let edit = match edit {
                    0 => Edit::Forget,
                    1 => Edit::ToLagging,
                    2 => set("1", None),
                    _ => set("3", Some("2")),
                };
                format!("{:?}", self.bench.store().edit(&streams(*stream), &edit, *force, at(self.now)))
            }
            Step::Die { pid } => format!("{:?}", self.bench.dead.bury(*pid)),
            Step::Wait { seconds } => format!("{:?}", self.now += seconds),
            Step::Reopen => format!("{:?}", self.bench.lab.reopen()),
        };
        format!("{answer}\n{}", self.visible())
    }

    fn acquire(&mut self, stream: u8, pid: u32, mover: Mover) -> String {
        let request = request(streams(stream).as_str(), pid, mover, self.now);
        match self.bench.store().acquire(&request).unwrap() {
            Acquired::Owned(mut owned) => {
                self.epochs[usize::from(stream)] = owned.epoch;
                owned.key_seed = [0; 32];
                format!("{owned:?}")
            }
            other => format!("{other:?}"),
        }
    }

    fn commit(&mut self, stream: u8, stale: bool, plan: &Plan) -> String {
        let (name, epoch) = (streams(stream), self.epoch(stream, stale));
        let stored = self.bench.store().peek(&name).unwrap().unwrap_or_default().head;
        let commit = plan.commit(&stored);
        let answer = self.bench.store().commit(&name, epoch, &commit);
        if answer.is_ok() {
            let keep_from = &mut self.keep_from[usize::from(stream)];
            *keep_from = if plan.begin { 0 } else { *keep_from }.max(commit.keys_keep_from);
        }
        format!("{answer:?}")
    }

    fn visible(&mut self) -> String {
        let now = at(self.now);
        let mut seen = format!("{:?}\n{:?}", self.bench.store().list(now), self.bench.store().verify());
        for stream in [0, 1] {
            let record = self.bench.store().peek(&streams(stream)).unwrap();
            // Below `keep_from` a store may keep more or less; an edit begins at 0 again, where no key is left.
            let next = record.as_ref().map_or(0, |record| record.head.next_seq);
            let from = self.keep_from[usize::from(stream)].min(next);
            let keys = self.bench.store().keys(&streams(stream), from).unwrap();
            seen.push_str(&format!("\n{record:?} {keys:?}"));
        }
        seen
    }
}

fn streams(number: u8) -> StreamName {
    name(["one", "two"][usize::from(number)])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// A failure prints the steps it shrank to, and the seed that gives them again (`PROPTEST_RNG_SEED`).
    #[test]
    fn both_stores_answer_the_same(life in prop::collection::vec(steps(), 1..40)) {
        let (mut memory, mut sqlite) = (Life::<Memory>::new(), Life::<Sqlite>::new());
        for step in &life {
            prop_assert_eq!(memory.step(step), sqlite.step(step), "after {:?}", step);
        }
    }
}
