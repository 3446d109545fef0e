//! The client: the real policy, the real in-memory store, and a sink that knows what was committed. A crash loses
//! the policy and what the sink had not committed, as an export does.

use std::time::Duration;

use ssectl::consumer::id::{EventId, StreamName};
use ssectl::consumer::machine::{Consumer, Start};
use ssectl::consumer::options::{Follow, OnExpired, Options};
use ssectl::consumer::policy::{Incoming, Next, Outgoing, Policy, Verdict};
use ssectl::consumer::record::{Gap, GapState, Record};
use ssectl::consumer::time::Timestamp;
use ssectl::store::memory::MemoryStore;
use ssectl::store::{Acquire, Acquired, Liveness, Mover, Owned, Process, Store};

use crate::random::Random;
use crate::server::{Answer, Sent, Server};

/// Every process of the model is dead as soon as another asks.
struct AllDead;

impl Liveness for AllDead {
    fn is_dead(&self, _: &Process) -> bool {
        true
    }
}

/// The client.
pub struct Client {
    store: MemoryStore,
    stream: StreamName,
    options: Options,
    owned: Option<Owned>,
    consumer: Option<Consumer>,
    pub connected: bool,
    pub now: Timestamp,
    /// Data of what was delivered, in order.
    pub sink: Vec<String>,
    pub committed: usize,
    /// Drop notices that came.
    pub notices: usize,
    tell: bool,
}

impl Client {
    /// `patient`: the replay window is longer than any history.
    pub fn new(random: &mut Random, patient: bool, tell: bool) -> Self {
        let mut options = Options::new(Follow::Resume);
        options.window = Duration::from_secs(1 + random.below(120) + if patient { 1_000_000 } else { 0 });
        options.cooldown = Duration::from_secs(random.below(90));
        options.on_expired = OnExpired::Live;
        options.max_replay = None;
        Self {
            store: MemoryStore::new(AllDead),
            stream: StreamName::new("s").expect("a name"),
            options,
            owned: None,
            consumer: None,
            connected: false,
            now: Timestamp(1_000_000_000_000),
            sink: Vec::new(),
            committed: 0,
            notices: 0,
            tell,
        }
    }

    fn say(&self, text: impl FnOnce() -> String) {
        if self.tell {
            println!("{:>9.3}s {}", self.now.since(Timestamp(1_000_000_000_000)).as_secs_f64(), text());
        }
    }

    fn policy(&mut self) -> &mut Consumer {
        if self.consumer.is_none() {
            let acquire = Acquire {
                stream: self.stream.clone(),
                process: Process { pid: 1, host: "h".into(), boot: String::new(), started: 0 },
                mover: Mover::Resume,
                url: "http://h/".into(),
                window: self.options.window,
                now: self.now,
            };
            let Ok(Acquired::Owned(owned)) = self.store.acquire(&acquire) else { panic!("the stream is free") };
            let start = Start {
                record: owned.record.clone(),
                last_gap_number: owned.last_gap_number,
                key_seed: &owned.key_seed,
            };
            self.consumer = Some(Consumer::new(self.options.clone(), start, self.now));
            self.owned = Some(*owned);
        }
        self.consumer.as_mut().expect("made above")
    }

    pub fn crash(&mut self, server: &mut Server) {
        self.say(|| "crash".to_owned());
        // A notice that came and was not committed is not known to the next process.
        server.silent_hole |= self.gap_is_open() && self.record().gap.is_none();
        server.hang_up();
        self.connected = false;
        self.consumer = None;
        self.sink.truncate(self.committed);
    }

    pub fn cut(&mut self, server: &mut Server) {
        if self.connected {
            self.say(|| "the connection is cut".to_owned());
            self.leave(server);
        }
    }

    fn leave(&mut self, server: &mut Server) {
        server.hang_up();
        self.connected = false;
        let now = self.now;
        self.policy().disconnected(now);
    }

    pub fn connect(&mut self, server: &mut Server) {
        // Keys are asked for: what was delivered must be among them.
        self.commit();
        let now = self.now;
        let plan = self.policy().plan(now);
        self.say(|| format!("connects with {:?} ({})", plan.cursor.as_ref().map(EventId::as_str), plan.why));
        self.deliver_outgoing();
        match server.accept(plan.cursor.as_ref().map(EventId::as_str)) {
            Answer::Gone => {
                let next = self.policy().cursor_refused("410", now);
                self.deliver_outgoing();
                assert!(!matches!(next, Next::Stop(_)));
            }
            Answer::Stream => {
                self.connected = true;
                let from = plan.keys_from;
                let keys = from.map(|from| self.store.keys(&self.stream, from).expect("in memory"));
                let next = self.policy().connected(keys.unwrap_or_default(), now);
                self.follow(&next, server);
            }
        }
    }

    fn deliver_outgoing(&mut self) {
        for outgoing in self.policy().outgoing() {
            match outgoing {
                Outgoing::Event(event) => {
                    self.say(|| format!("delivers {} from memory", event.data));
                    self.sink.push(event.data);
                }
                Outgoing::Notice(notice) => self.say(|| format!("notice {}: {}", notice.kind.as_str(), notice.text)),
                Outgoing::Note(_) | Outgoing::Warning(_) | Outgoing::Detail(_) => {}
            }
        }
    }

    fn follow(&mut self, next: &Next, server: &mut Server) {
        self.deliver_outgoing();
        match next {
            Next::Go => {}
            Next::Leave => {
                self.say(|| "leaves the connection".to_owned());
                self.leave(server);
            }
            Next::Stop(stop) => panic!("nothing ends this run: {stop:?}"),
        }
    }

    pub fn receive(&mut self, sent: &Sent, server: &mut Server) {
        let now = self.now;
        let next = match sent {
            Sent::Notice(count) => {
                self.notices += 1;
                let text = count.map_or_else(
                    || "slow consumer, reconnect to resume".to_owned(),
                    |count| format!("you are reading too slowly, dropped {count} messages"),
                );
                self.say(|| format!("gets the notice: {text}"));
                self.policy().comment(&text, now)
            }
            Sent::Greeting => self.event(None, "greeting"),
            Sent::Event(index) => {
                let id = server.log[*index].clone();
                self.event(id.as_deref(), &format!("e{index}"))
            }
        };
        self.follow(&next, server);
    }

    fn event(&mut self, id: Option<&str>, data: &str) -> Next {
        let now = self.now;
        let step = self.policy().event(&Incoming { id, event: "message", data }, now);
        self.deliver_outgoing();
        self.say(|| format!("{:?} {data} (id {id:?})", step.verdict));
        match step.verdict {
            Verdict::Deliver { .. } => self.sink.push(data.to_owned()),
            Verdict::Remove => {
                assert!(self.sink.iter().any(|known| known == data), "{data} was removed, never delivered")
            }
            Verdict::Hold | Verdict::Refuse => {}
        }
        step.next
    }

    pub fn deadline(&mut self) -> Option<Timestamp> {
        self.policy().deadline()
    }

    pub fn tick(&mut self, server: &mut Server) {
        let now = self.now;
        let next = self.policy().tick(now);
        self.follow(&next, server);
    }

    pub fn commit(&mut self) {
        let now = self.now;
        let Some(commit) = self.policy().take_commit(now) else { return };
        let epoch = self.owned.as_ref().expect("the policy was made").epoch;
        self.store.commit(&self.stream, epoch, &commit).expect("nobody else owns it");
        self.committed = self.sink.len();
        let head = commit.head;
        self.say(|| {
            let id = |place: Option<&ssectl::consumer::record::Place>| place.map(|place| place.id.to_string());
            format!(
                "commits latest {:?}, newest {:?}, lagging {:?}",
                id(head.latest.as_ref()),
                id(head.newest.as_ref()),
                head.lagging.as_ref().map(EventId::as_str)
            )
        });
    }

    pub fn record(&mut self) -> Record {
        self.store.peek(&self.stream).expect("in memory").unwrap_or_default()
    }

    pub fn gap_is_open(&mut self) -> bool {
        self.policy().gap_open()
    }

    /// Gaps that were given up as unrecoverable without a second attempt.
    pub fn given_up_early(&mut self) -> usize {
        let early = |gap: &Gap| gap.state == GapState::Unrecoverable && gap.attempt < 2;
        let summary = self.store.show(&self.stream, self.now).expect("in memory");
        summary.map_or(0, |summary| summary.gaps.iter().filter(|gap| early(gap)).count())
    }

    /// Gaps that were given up as unrecoverable though their notice came after another id than `first`: after that one
    /// alone, a re-read has nothing to show where it is.
    pub fn given_up_after(&mut self, first: Option<&str>) -> usize {
        let late = |gap: &Gap| gap.state == GapState::Unrecoverable && gap.place.as_ref().map(EventId::as_str) != first;
        let summary = self.store.show(&self.stream, self.now).expect("in memory");
        summary.map_or(0, |summary| summary.gaps.iter().filter(|gap| late(gap)).count())
    }

    /// Gaps that went to a second attempt: from the id before `latest`, past which a late notice's hole may lie.
    pub fn second_attempts(&mut self) -> usize {
        let summary = self.store.show(&self.stream, self.now).expect("in memory");
        summary.map_or(0, |summary| summary.gaps.iter().filter(|gap| gap.attempt >= 2).count())
    }

    /// How many gaps stand so.
    pub fn gaps(&mut self, states: &[GapState]) -> usize {
        let summary = self.store.show(&self.stream, self.now).expect("in memory");
        summary.map_or(0, |summary| summary.gaps.iter().filter(|gap| states.contains(&gap.state)).count())
    }
}
