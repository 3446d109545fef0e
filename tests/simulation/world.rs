//! One history: steps drawn at random, what must hold after each, and a quiet end after which everything is there.

use std::collections::HashSet;
use std::time::Duration;

use ssectl::consumer::record::{GapState, Phase, Record};

use crate::client::Client;
use crate::random::Random;
use crate::server::{Ids, NoticeAt, Server, Ways};

/// One history.
pub struct World {
    seed: u64,
    random: Random,
    server: Server,
    client: Client,
    tell: bool,
    lagging_in_gap: Option<(u64, Option<String>)>,
    latest: Option<String>,
    /// The open gap's number, and `newest` while it was open.
    newest_in_gap: Option<(u64, u64)>,
    gaps_ended: u64,
    /// Of these, where the server kept everything, said so in time and all of it came: those called anything but recovered.
    called_lost: Option<u64>,
}

impl World {
    pub fn new(seed: u64, tell: bool) -> Self {
        let mut random = Random::new(seed);
        let ways = Ways::random(&mut random);
        if tell {
            println!("{ways:?}");
        }
        // A notice that comes later than a window after its hole is beyond what any replay window covers.
        let client = Client::new(&mut random, ways.notice_at == NoticeAt::Late, tell);
        Self {
            seed,
            server: Server::new(ways),
            client,
            random,
            tell,
            lagging_in_gap: None,
            latest: None,
            newest_in_gap: None,
            gaps_ended: 0,
            called_lost: None,
        }
    }

    pub fn delivered(&self) -> u64 {
        self.client.sink.len() as u64
    }

    pub fn gaps_ended(&self) -> u64 {
        self.gaps_ended
    }

    /// Gaps of a history in which nothing is lost in the end, and how many of them the client calls lost.
    pub fn called_lost(&self) -> (u64, u64) {
        self.called_lost.map_or((0, 0), |lost| (self.gaps_ended, lost))
    }

    /// Lives it.
    pub fn live(mut self) -> Self {
        self.begin();
        let steps = 20 + self.random.below(300);
        for _ in 0..steps {
            self.step();
            self.check();
        }
        self.quieten();
        self.check_end();
        self
    }

    /// The first events are delivered and committed: before that there is no position to go back to.
    fn begin(&mut self) {
        self.client.connect(&mut self.server);
        for _ in 0..4 {
            self.server.publish(&mut self.random);
        }
        while !self.client.sink.iter().any(|data| data == "e3") {
            self.send();
        }
        self.client.commit();
    }

    fn send(&mut self) {
        while self.client.connected {
            let Some(sent) = self.server.next() else { return };
            self.client.receive(&sent, &mut self.server);
            if self.random.one_in(3) {
                return;
            }
        }
    }

    /// Time passes. The network is slow, but not as slow as a server that has nothing to say.
    fn pass(&mut self, duration: Duration) {
        while let Some(sent) = self.server.next() {
            self.client.receive(&sent, &mut self.server);
        }
        let end = self.client.now.plus(duration);
        for rang in 0.. {
            assert!(rang < 1_000, "{}: a timer rings again and again", self.at());
            if !self.client.connected {
                break;
            }
            let Some(deadline) = self.client.deadline().filter(|deadline| *deadline <= end) else { break };
            self.client.now = self.client.now.max(deadline);
            self.client.tick(&mut self.server);
        }
        self.client.now = end;
    }

    fn step(&mut self) {
        let random = &mut self.random;
        match random.below(20) {
            0..=5 => {
                for _ in 0..=random.below(6) {
                    self.server.publish(random);
                }
            }
            6..=11 => self.send(),
            12 => self.server.drop_events(usize::try_from(random.below(8)).expect("small")),
            13 => self.client.commit(),
            14 if random.one_in(3) => self.client.cut(&mut self.server),
            15 if random.one_in(6) => self.client.crash(&mut self.server),
            16 => {
                let scale = random.below(16);
                let millis = random.below(1 << scale);
                self.pass(Duration::from_millis(millis));
            }
            _ => {
                if !self.client.connected {
                    self.client.connect(&mut self.server);
                }
            }
        }
    }

    /// What must hold after every step.
    fn check(&mut self) {
        let record = self.client.record();
        let lagging = record.head.lagging.as_ref().map(ToString::to_string);
        self.lagging_in_gap = record.gap.as_ref().map(|gap| {
            if let Some((number, before)) = &self.lagging_in_gap {
                assert!(
                    *number != gap.number || *before == lagging,
                    "{}: lagging moved while a gap is open",
                    self.at()
                );
            }
            (gap.number, lagging)
        });
        // A gap that was given up leaves the connection wherever it is.
        let given_up = self.client.gaps(&[GapState::Unrecoverable]) > 0;
        if self.server.ways.keeps_everything() && self.server.ways.ids == Ids::Decimal && !given_up {
            self.check_newest(&record);
        }
        if self.server.ways.keeps_everything() && self.server.ways.notice_at == NoticeAt::Hole {
            let latest = record.head.latest.map(|latest| latest.id.to_string());
            if latest != self.latest && self.client.gaps(&[GapState::Unrecoverable]) == 0 {
                self.check_latest(latest.as_deref());
                self.latest = latest;
            }
        }
    }

    /// Nothing but delivery beyond it moves `newest` while a gap is open.
    fn check_newest(&mut self, record: &Record) {
        let newest = record.head.newest.as_ref().and_then(|newest| newest.id.as_str().parse().ok());
        let now = record.gap.as_ref().filter(|gap| gap.phase != Phase::Reporting).map(|gap| gap.number).zip(newest);
        if let (Some((number, before)), Some((same, after))) = (self.newest_in_gap, now) {
            assert!(number != same || before <= after, "{}: newest went back from {before} to {after}", self.at());
        }
        self.newest_in_gap = now;
    }

    /// `latest` is never past an event that is not delivered.
    fn check_latest(&self, latest: Option<&str>) {
        let Some(latest) = latest else { return };
        let Some(end) = self.server.log.iter().position(|id| id.as_deref() == Some(latest)) else { return };
        let committed: HashSet<&String> = self.client.sink[..self.client.committed].iter().collect();
        for index in 0..end {
            let data = format!("e{index}");
            assert!(committed.contains(&data), "{}: latest is {latest:?}, but {data} is not delivered", self.at());
        }
    }

    /// The server behaves, the connection stands, time passes: everything comes to its end.
    fn quieten(&mut self) {
        let random = &mut self.random;
        for _ in 0..20 {
            self.server.publish(random);
        }
        for _ in 0..2_000 {
            if !self.client.connected {
                self.client.connect(&mut self.server);
                continue;
            }
            match self.server.next() {
                Some(sent) => self.client.receive(&sent, &mut self.server),
                None if self.client.gap_is_open() => self.pass(Duration::from_secs(1)),
                None => break,
            }
        }
        self.server.publish(&mut self.random);
        self.server.publish(&mut self.random);
        while let Some(sent) = self.server.next() {
            self.client.receive(&sent, &mut self.server);
        }
        self.client.commit();
    }

    fn check_end(&mut self) {
        assert!(!self.client.gap_is_open(), "{}: a gap does not end", self.at());
        let record = self.client.record();
        let log = self.server.log.iter().enumerate().rev();
        let last =
            log.filter(|(index, _)| self.client.sink.contains(&format!("e{index}"))).find_map(|(_, id)| id.clone());
        assert_eq!(
            record.head.latest.map(|latest| latest.id.to_string()),
            last,
            "{}: the cursor moves again",
            self.at()
        );
        assert!(record.gap.is_none_or(|gap| gap.phase == Phase::Reporting));
        self.gaps_ended = self.client.gaps(&GapState::ALL) as u64;
        self.check_once();
        self.check_recovered();
        self.called_lost = self.nothing_is_lost().then(|| {
            let recovered = self.client.gaps(&[GapState::Recovered]) as u64;
            self.gaps_ended - recovered
        });
        assert_eq!(self.client.given_up_early(), 0, "{}: a gap got no second attempt", self.at());
        // Such a server's gaps are recovered, unless it drops events in one recovery after the other.
        let unrecovered = self.client.gaps(&[GapState::Unrecoverable]);
        if self.server.ways.keeps_everything() {
            let index = |data: &String| data.strip_prefix('e').and_then(|number| number.parse::<usize>().ok());
            let first = self.client.sink.iter().find_map(|data| self.server.log[index(data)?].clone());
            let early = self.client.given_up_after(first.as_deref()) > 0 && self.client.notices < 4;
            assert!(!early, "{}: a gap was given up too early", self.at());
        }
        let unsure = self.server.ways.notice_at == NoticeAt::Late && self.client.second_attempts() > 0;
        if self.server.ways.keeps_everything() && !self.server.silent_hole && unrecovered == 0 && !unsure {
            let delivered: HashSet<&String> = self.client.sink.iter().collect();
            for index in 0..self.server.log.len() {
                let data = format!("e{index}");
                assert!(delivered.contains(&data), "{}: {data} is lost, though the server has it", self.at());
            }
        }
    }

    /// Each announced number is that of events which came in the end. Where a server sends again what the client has, the
    /// number may be of such.
    fn nothing_is_lost(&self) -> bool {
        let ways = &self.server.ways;
        let numbers_are_exact = ways.notice_at == NoticeAt::Hole && ways.says_count && !ways.inclusive;
        let all_have_ids_of_their_own = !matches!(ways.ids, Ids::Shared | Ids::Sparse);
        ways.keeps_everything() && numbers_are_exact && all_have_ids_of_their_own && !self.server.silent_hole
    }

    /// `recovered` is said of a gap only where what was dropped came in the end.
    fn check_recovered(&mut self) {
        let all_recovered = self.client.gaps(&[GapState::Recovered]) == self.client.gaps(&GapState::ALL);
        // Where ids do not tell their order, or an old cursor silently gets what is live, live events may be taken for
        // those that were dropped.
        let ways = &self.server.ways;
        let countable = ways.says_count && ways.ids == Ids::Decimal && ways.retention.is_none();
        if !all_recovered || self.server.silent_hole || !countable {
            return;
        }
        let delivered: HashSet<&String> = self.client.sink.iter().collect();
        for index in &self.server.discarded {
            assert!(delivered.contains(&format!("e{index}")), "{}: e{index} is called recovered", self.at());
        }
    }

    /// Nothing twice, but for what cannot be placed.
    fn check_once(&self) {
        let mut seen = HashSet::new();
        for data in self.client.sink.iter().filter(|data| *data != "greeting") {
            let index: usize = data[1..].parse().expect("a number");
            let placeless = self.server.ways.ids == Ids::Sparse && self.server.log[index].is_none();
            assert!(placeless || seen.insert(data), "{}: {data} is delivered twice", self.at());
        }
    }

    fn at(&self) -> String {
        let again = if self.tell { "" } else { " (tell it: SSECTL_SIM_ONLY=NUMBER)" };
        format!("history {}{again}, {:?}", self.seed, self.server.ways)
    }
}
