//! The order in which a driver uses the edge: an output that wants to go on elsewhere, and one that fails.
//!
//! The edge is made of plain values here, so every call and its place among the others is known.

#![expect(clippy::unwrap_used, reason = "a test fails where something is not there")]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use ssectl::consumer::backoff::BackoffOptions;
use ssectl::consumer::delivery::{EventRecord, Notice};
use ssectl::consumer::idle::IdleOption;
use ssectl::consumer::machine::{Consumer, Start};
use ssectl::consumer::options::{Follow, Options};
use ssectl::consumer::ports::{
    Attempt, Body, Broken, ConnectError, Connected, Console, Format, Journal, JournalError, Progress, Sink, SinkError,
    Transport, Turned,
};
use ssectl::consumer::record::{Commit, ExportMark, Key, Record};
use ssectl::consumer::time::Timestamp;
use ssectl::driver::{Bounds, Clock, Driver, Edge, End, Grouping, Outcome, Settings};
use ssectl::wire::Limits;

/// What the edge was asked for, in order.
#[derive(Clone, Debug, PartialEq)]
enum Call {
    Write(u64),
    Sync,
    /// How far the output is written, or nothing of that, and how many keys.
    Commit(Option<u64>, usize),
    Turn,
}

/// An output of files that are full after so many bytes, and what happened to it.
#[derive(Default)]
struct State {
    calls: Vec<Call>,
    /// Bytes of the file that is written to.
    length: u64,
    full_at: Option<u64>,
    /// Whole files, and the one that is written to.
    files: Vec<Vec<u8>>,
    /// What the last durable commit says of the file that is written to.
    committed: u64,
    fail_write: Option<io::ErrorKind>,
    fail_sync: Option<io::ErrorKind>,
    fail_commit: bool,
}

#[derive(Clone)]
struct Shared(Rc<RefCell<State>>);

impl Shared {
    fn new(state: State) -> Self {
        Self(Rc::new(RefCell::new(State { files: vec![Vec::new()], ..state })))
    }

    fn mark(&self) -> ExportMark {
        let state = self.0.borrow();
        ExportMark { file: format!("file {}", state.files.len()), length: state.length, tail: 0 }
    }
}

impl Sink for Shared {
    async fn write(&self, mut batch: Vec<u8>) -> Result<Vec<u8>, SinkError> {
        assert!(!self.turn_is_due(), "a record after the committed mark must not go into the old file");
        // Others get their turn, as when a disk is slow.
        tokio::task::yield_now().await;
        let mut state = self.0.borrow_mut();
        if let Some(kind) = state.fail_write {
            return Err(SinkError::Failed(kind.into()));
        }
        let bytes = batch.len() as u64;
        state.calls.push(Call::Write(bytes));
        state.length += bytes;
        state.files.last_mut().unwrap().append(&mut batch);
        Ok(batch)
    }

    async fn sync(&self) -> Result<Option<ExportMark>, SinkError> {
        if let Some(kind) = self.0.borrow().fail_sync {
            return Err(SinkError::Failed(kind.into()));
        }
        self.0.borrow_mut().calls.push(Call::Sync);
        let mark = self.mark();
        tokio::task::yield_now().await;
        assert_eq!(self.mark(), mark, "nothing is written between the sync and its commit");
        Ok(Some(mark))
    }

    fn turn_is_due(&self) -> bool {
        let state = self.0.borrow();
        state.full_at.is_some_and(|full_at| state.length >= full_at)
    }

    async fn turn(&self) -> Result<Option<Turned>, SinkError> {
        if !self.turn_is_due() {
            return Ok(None);
        }
        let done = {
            let mut state = self.0.borrow_mut();
            assert_eq!(state.length, state.committed, "a file is finished with what is committed, and nothing else");
            state.calls.push(Call::Turn);
            let done = format!("file {}", state.files.len());
            state.files.push(Vec::new());
            state.length = 0;
            done
        };
        Ok(Some(Turned { begun: self.mark(), done: Some(done) }))
    }

    async fn closed(&self) {
        std::future::pending().await
    }
}

impl Journal for Shared {
    async fn commit(&self, commit: Commit) -> Result<(), JournalError> {
        tokio::task::yield_now().await;
        let mut state = self.0.borrow_mut();
        if state.fail_commit {
            return Err(JournalError::Failed { causes: vec!["disk I/O error".to_owned()] });
        }
        let length = commit.export.as_ref().map(|mark| mark.length);
        state.calls.push(Call::Commit(length, commit.keys.len()));
        state.committed = length.unwrap_or(state.committed);
        Ok(())
    }

    async fn keys(&self, _: u64) -> Result<Vec<Key>, JournalError> {
        Ok(Vec::new())
    }

    async fn fenced(&self) -> JournalError {
        std::future::pending().await
    }
}

/// One connection that gives these chunks, and others their turn between them.
struct Chunks(VecDeque<Vec<u8>>);

impl Transport for Chunks {
    type Body = Self;

    async fn connect(&mut self, _: &Attempt) -> Result<Connected<Self>, ConnectError> {
        let body = Self(std::mem::take(&mut self.0));
        Ok(Connected { body, is_get: true, status_line: "HTTP/1.1 200 OK".to_owned() })
    }
}

impl Body for Chunks {
    type Chunk = Vec<u8>;

    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        tokio::task::yield_now().await;
        Ok(self.0.pop_front())
    }
}

/// A line an event.
struct Lines;

impl Format for Lines {
    fn is_wanted(&self, _: &EventRecord<'_>) -> bool {
        true
    }
    fn event(&mut self, batch: &mut Vec<u8>, event: &EventRecord<'_>) {
        batch.extend_from_slice(event.data.as_bytes());
        batch.push(b'\n');
    }
    fn snapshot(&mut self, _: &mut Vec<u8>, _: &str, _: Timestamp) {}
    fn comment(&mut self, _: &mut Vec<u8>, _: &str, _: Timestamp) {}
    fn notice(&mut self, _: &mut Vec<u8>, _: &Notice, _: Timestamp) {}
}

struct Silent;

impl Console for Silent {
    fn warning(&self, _: &str) {}
    fn note(&self, _: &str) {}
    fn detail(&self, _: u8, _: &str) {}
    fn progress(&self, _: &Progress) {}
}

const EVENTS: u64 = 500;

/// Follows a stream of [`EVENTS`] events, one a chunk, to its end.
async fn follow(shared: &Shared, spare: Option<Shared>, interval: Duration) -> Outcome<Shared> {
    let event = |id: u64| format!("id: {id}\ndata: event {id}\n\n").into_bytes();
    let follow = if spare.is_some() { Follow::Tail } else { Follow::Resume };
    let clock = Clock::start();
    let start = Start { record: Record::default(), last_gap_number: 0, key_seed: &[7; 32] };
    let edge = Edge {
        transport: Chunks((1..=EVENTS).map(event).collect()),
        journal: shared.clone(),
        spare,
        sink: shared.clone(),
        format: Lines,
        console: Silent,
    };
    let settings = settings(Grouping { durable: true, interval, bytes: 1 << 20 });
    let policy = Consumer::new(Options::new(follow), start, clock.now());
    Driver::new(policy, edge, settings, clock, Box::new(|| 0.0)).run().await
}

/// One connection, and no end but the server's.
fn settings(grouping: Grouping) -> Settings {
    let second = Duration::from_secs(1);
    Settings {
        bounds: Bounds::default(),
        idle: IdleOption::Off,
        backoff: BackoffOptions { initial: second, max: second, max_retries: None },
        reconnect: false,
        limits: Limits::default(),
        read_ahead_bytes: 1 << 20,
        grouping,
        url_position: None,
        policies: None,
    }
}

fn run(shared: &Shared, spare: Option<Shared>, interval: Duration) -> Outcome<Shared> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(follow(shared, spare, interval))
}

fn all_events() -> String {
    (1..=EVENTS).map(|id| format!("event {id}\n")).collect()
}

#[test]
fn a_full_file_is_committed_and_finished_before_another_record_is_written() {
    // A commit is due rarely, or at once: neither may come between a full file and its end.
    for interval in [Duration::from_secs(3_600), Duration::ZERO] {
        let shared = Shared::new(State { full_at: Some(100), ..State::default() });
        let outcome = run(&shared, None, interval);
        assert!(matches!(outcome.end, End::ServerEnded), "{:?}", outcome.end);
        let state = shared.0.borrow();
        let turns = state.calls.iter().filter(|call| **call == Call::Turn).count();
        assert!(turns >= 10, "{turns} turns");
        assert_eq!(state.files.len(), turns + 1);
        let written: Vec<u8> = state.files.concat();
        assert_eq!(String::from_utf8(written).unwrap(), all_events());
        for file in &state.files {
            assert!(file.is_empty() || file.ends_with(b"\n"), "whole lines only");
        }
        for (at, _) in state.calls.iter().enumerate().filter(|(_, call)| **call == Call::Turn) {
            assert!(matches!(state.calls[..at], [.., Call::Sync, Call::Commit(Some(100..), _)]), "{:?}", state.calls);
            assert_eq!(state.calls[at + 1], Call::Commit(Some(0), 0), "the new file is remembered before it is used");
        }
        let keys = state.calls.iter().map(|call| if let Call::Commit(_, keys) = call { *keys } else { 0 });
        assert_eq!(keys.sum::<usize>(), EVENTS as usize);
    }
}

#[test]
fn nothing_is_committed_that_the_output_did_not_take() {
    let eio = io::ErrorKind::Other;
    for (state, what) in [
        (State { fail_write: Some(eio), ..State::default() }, "write"),
        (State { fail_sync: Some(eio), ..State::default() }, "sync"),
    ] {
        let shared = Shared::new(state);
        let outcome = run(&shared, None, Duration::ZERO);
        assert!(matches!(outcome.end, End::Output(_)), "{what}: {:?}", outcome.end);
        let state = shared.0.borrow();
        assert!(!state.calls.iter().any(|call| matches!(call, Call::Commit(_, 1..))), "{what}: {:?}", state.calls);
    }
}

#[test]
fn a_journal_that_fails_ends_a_resume_and_gives_a_tail_to_its_spare() {
    let shared = Shared::new(State { fail_commit: true, ..State::default() });
    let outcome = run(&shared, None, Duration::ZERO);
    assert!(matches!(outcome.end, End::Store(JournalError::Failed { .. })), "{:?}", outcome.end);
    let (shared, spare) = (Shared::new(State { fail_commit: true, ..State::default() }), Shared::new(State::default()));
    let outcome = run(&shared, Some(spare.clone()), Duration::ZERO);
    assert!(outcome.in_memory && matches!(outcome.end, End::ServerEnded), "{:?}", outcome.end);
    assert_eq!(String::from_utf8(shared.0.borrow().files.concat()).unwrap(), all_events());
    let keys = spare
        .0
        .borrow()
        .calls
        .iter()
        .map(|call| if let Call::Commit(_, keys) = call { *keys } else { 0 })
        .sum::<usize>();
    assert_eq!(keys, EVENTS as usize);
}

mod an_output_that_is_behind {
    use ssectl::backpressure::Policies;
    use tokio::sync::Notify;

    use super::*;

    /// An output that takes nothing until it is let, and what was told meanwhile.
    #[derive(Default)]
    struct Desk {
        batches: RefCell<Vec<String>>,
        may_write: RefCell<bool>,
        let_go: Notify,
        told: Notify,
        written: Notify,
    }

    #[derive(Clone, Default)]
    struct Stalled(Rc<Desk>);

    impl Sink for Stalled {
        async fn write(&self, batch: Vec<u8>) -> Result<Vec<u8>, SinkError> {
            while !*self.0.may_write.borrow() {
                self.0.let_go.notified().await;
            }
            self.0.batches.borrow_mut().push(String::from_utf8(batch).unwrap());
            self.0.written.notify_one();
            Ok(Vec::new())
        }
        async fn sync(&self) -> Result<Option<ExportMark>, SinkError> {
            Ok(None)
        }
        async fn closed(&self) {
            std::future::pending().await
        }
    }

    impl Console for Stalled {
        fn warning(&self, _: &str) {}
        fn note(&self, text: &str) {
            assert!(text.contains("the output is behind"), "{text}");
            self.0.told.notify_one();
        }
        fn detail(&self, _: u8, _: &str) {}
        fn progress(&self, _: &Progress) {}
    }

    /// What happens before the next events come.
    enum Step {
        Events(&'static str),
        /// The output is found to be behind.
        Told,
        /// The output takes what it was given, all of it.
        Released {
            batches: usize,
        },
    }

    struct Server {
        steps: VecDeque<Step>,
        output: Stalled,
    }

    impl Transport for Server {
        type Body = Self;

        async fn connect(&mut self, _: &Attempt) -> Result<Connected<Self>, ConnectError> {
            let body = Self { steps: std::mem::take(&mut self.steps), output: self.output.clone() };
            Ok(Connected { body, is_get: true, status_line: "HTTP/1.1 200 OK".to_owned() })
        }
    }

    impl Body for Server {
        type Chunk = Vec<u8>;

        async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Broken> {
            let desk = Rc::clone(&self.output.0);
            loop {
                match self.steps.front() {
                    None => return Ok(None),
                    Some(Step::Told) => desk.told.notified().await,
                    Some(&Step::Released { batches }) => {
                        *desk.may_write.borrow_mut() = true;
                        desk.let_go.notify_one();
                        while desk.batches.borrow().len() < batches {
                            desk.written.notified().await;
                        }
                        // The driver is told, too.
                        tokio::task::yield_now().await;
                    }
                    Some(Step::Events(events)) => {
                        let event = |word: &str| {
                            let (kind, key) = word.split_at(1);
                            format!("event: {kind}\ndata: {{\"k\":\"{}\",\"n\":\"{word}\"}}\n\n", &key[..1])
                        };
                        let chunk = events.split(' ').map(event).collect::<String>().into_bytes();
                        self.steps.pop_front();
                        return Ok(Some(chunk));
                    }
                }
                self.steps.pop_front();
            }
        }
    }

    /// The `n` of each event that was written, a line a batch, and what became of the others.
    fn follow(policies: &[&str], steps: impl Into<VecDeque<Step>>) -> (Vec<String>, [u64; 4]) {
        let output = Stalled::default();
        let clock = Clock::start();
        let start = Start { record: Record::default(), last_gap_number: 0, key_seed: &[7; 32] };
        let edge = Edge {
            transport: Server { steps: steps.into(), output: output.clone() },
            journal: Shared::new(State::default()),
            spare: None,
            sink: output.clone(),
            format: Lines,
            console: output.clone(),
        };
        let policies = Some(Policies::of_own_reader(policies.iter().copied()).unwrap());
        let settings = Settings { policies, ..settings(Grouping::default()) };
        let policy = Consumer::new(Options::new(Follow::Tail), start, clock.now());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let stats = runtime.block_on(Driver::new(policy, edge, settings, clock, Box::new(|| 0.0)).run()).stats;
        let name =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["n"].as_str().unwrap().to_owned();
        let batches = output.0.batches.borrow();
        let batches = batches.iter().map(|batch| batch.lines().map(name).collect::<Vec<_>>().join(" ")).collect();
        (batches, [stats.delivered, stats.written, stats.coalesced, stats.given_up])
    }

    const STALL: [Step; 4] = [
        Step::Events("pa0"),
        // They wait for an output of which nothing is known yet.
        Step::Events("pa1 pb1 ta1 xa1"),
        Step::Told,
        Step::Events("pa2 xa2 ta2 pb2 pa3 ta3 xa3"),
    ];

    #[test]
    fn the_newest_of_each_key_waits_in_the_order_of_publication_and_what_has_no_policy_waits_whole() {
        let steps: Vec<_> = STALL.into_iter().chain([Step::Released { batches: 1 }]).collect();
        let (batches, counts) = follow(&["p=coalesce:/k", "x=drop"], steps);
        assert_eq!(batches, ["pa0", "pa1 pb1 ta1 xa1 ta2 pb2 pa3 ta3"]);
        assert_eq!(counts, [12, 9, 1, 2], "delivered, written, coalesced, dropped");
    }

    #[test]
    fn nothing_gives_way_any_more_once_the_output_has_caught_up() {
        let after = [Step::Released { batches: 2 }, Step::Events("pa4 pa5 xa5"), Step::Events("pa6 pa7")];
        let steps: Vec<_> = STALL.into_iter().chain(after).collect();
        let (batches, counts) = follow(&["p=coalesce:/k", "x=drop"], steps);
        assert_eq!(batches[2..].join(" "), "pa4 pa5 xa5 pa6 pa7");
        assert_eq!(counts, [17, 14, 1, 2]);
    }

    #[test]
    fn a_rule_for_all_others_is_for_events_alone() {
        let steps: Vec<_> = STALL.into_iter().chain([Step::Released { batches: 1 }]).collect();
        let (batches, counts) = follow(&["p=coalesce:/k", "*=drop"], steps);
        assert_eq!(batches, ["pa0", "pa1 pb1 ta1 xa1 pb2 pa3"]);
        assert_eq!(counts, [12, 7, 1, 4]);
    }
}
