//! Histories: small scripts of what a server does and what must come of it, one for each clause of the rules.
//!
//! A script is a list of lines. `connect X` makes the next connection and asserts which cursor it sends (`live` for
//! none); `ev` sends events and asserts what becomes of each: `D` delivered, `R` delivered as replayed, `-` removed,
//! `H` held, `X` refused; a `>` after the letter says that the connection is left, a `!` that the run ends.

mod histories;

use std::time::Duration;

use super::delivery::NoticeKind;
use super::id::EventId;
use super::machine::{Consumer, Start};
use super::options::{Dedupe, Follow, OnDrop, OnExpired, Options};
use super::policy::{Incoming, Next, Outgoing, Policy, Verdict};
use super::record::{Commit, Gap, GapState, Key, Mark, Phase, Record};
use super::time::Timestamp;

/// What a store keeps, in the plainest form.
#[derive(Default)]
struct Disk {
    record: Record,
    keys: Vec<Key>,
    gaps: Vec<Gap>,
}

impl Disk {
    fn apply(&mut self, commit: Commit) {
        if commit.begin {
            self.record = Record::default();
            self.keys.clear();
            for gap in self.gaps.iter_mut().filter(|gap| gap.state == GapState::Open) {
                gap.state = GapState::Abandoned;
            }
        }
        self.record.head = commit.head;
        self.record.marks.retain(|mark: &Mark| !commit.marks_drop.contains(&mark.ordinal));
        for mark in commit.marks_put {
            self.record.marks.retain(|old| old.ordinal != mark.ordinal);
            self.record.marks.push(mark);
        }
        self.record.marks.sort_by_key(|mark| mark.ordinal);
        for gap in commit.gaps_put {
            self.gaps.retain(|old| old.number != gap.number);
            self.gaps.push(gap);
        }
        self.gaps.sort_by_key(|gap| gap.number);
        self.record.gap = self.gaps.iter().find(|gap| gap.state == GapState::Open).cloned();
        self.keys.extend(commit.keys);
        assert_eq!(self.keys.len() as u64, self.record.head.next_seq, "keys and their count agree");
    }
}

struct History {
    name: &'static str,
    line: usize,
    options: Options,
    disk: Disk,
    consumer: Consumer,
    now: Timestamp,
    connected: bool,
    notices: Vec<NoticeKind>,
    memory: Vec<String>,
    stopped: bool,
    /// Connections that began with a snapshot.
    snapshots: u32,
}

impl History {
    fn new(name: &'static str, options: Options) -> Self {
        let now = Timestamp(1_000_000_000_000);
        let disk = Disk::default();
        let consumer = start(&options, &disk, now);
        Self {
            name,
            line: 0,
            options,
            disk,
            consumer,
            now,
            connected: false,
            notices: Vec::new(),
            memory: Vec::new(),
            stopped: false,
            snapshots: 0,
        }
    }

    fn at(&self) -> String {
        format!("{}, line {}", self.name, self.line)
    }

    fn flush(&mut self) {
        for outgoing in self.consumer.outgoing() {
            match outgoing {
                Outgoing::Notice(notice) => self.notices.push(notice.kind),
                Outgoing::Event(event) => self.memory.push(event.id),
                Outgoing::Warning(_) | Outgoing::Note(_) | Outgoing::Detail(_) => {}
            }
        }
        if let Some(commit) = self.consumer.take_commit(self.now) {
            self.disk.apply(commit);
        }
    }

    fn follow(&mut self, next: &Next) -> &'static str {
        self.flush();
        match next {
            Next::Go => "",
            Next::Leave => {
                self.disconnect();
                ">"
            }
            Next::Stop(_) => {
                self.disconnect();
                self.stopped = true;
                "!"
            }
        }
    }

    fn disconnect(&mut self) {
        if self.connected {
            self.consumer.disconnected(self.now);
        }
        self.connected = false;
        self.flush();
    }

    fn connect(&mut self, expected: &str) {
        assert!(!self.connected, "{}: connected already", self.at());
        let plan = self.consumer.plan(self.now);
        let sent = plan.cursor.as_ref().map_or("live", EventId::as_str);
        assert_eq!(sent, expected, "{}: cursor sent ({})", self.at(), plan.why);
        self.flush();
        let keys = plan
            .keys_from
            .map_or_else(Vec::new, |from| self.disk.keys[usize::try_from(from).expect("small")..].to_vec());
        self.connected = true;
        self.snapshots += u32::from(plan.snapshot);
        let next = self.consumer.connected(keys, self.now);
        assert_eq!(self.follow(&next), "", "{}", self.at());
    }

    fn event(&mut self, spec: &str) -> String {
        assert!(self.connected, "{}: an event without a connection", self.at());
        let (id, rest) = spec.split_once('=').map_or((spec, None), |(id, rest)| (id, Some(rest)));
        let (data, kind) = rest.map_or((None, "message"), |rest| {
            rest.split_once(':').map_or((Some(rest), "message"), |(data, kind)| (Some(data), kind))
        });
        let data = data.map_or_else(|| format!("d{id}"), str::to_owned);
        let id = match id {
            "_" => None,
            "empty" => Some(""),
            id => Some(id),
        };
        let step = self.consumer.event(&Incoming { id, event: kind, data: &data }, self.now);
        let letter = match step.verdict {
            Verdict::Deliver { replayed: false } => "D",
            Verdict::Deliver { replayed: true } => "R",
            Verdict::Remove => "-",
            Verdict::Hold => "H",
            Verdict::Refuse => "X",
        };
        format!("{letter}{}", self.follow(&step.next))
    }

    fn events(&mut self, specs: &str, expected: &str) {
        for spec in specs.split_whitespace() {
            let range = spec.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
            let list: Vec<String> = match range {
                Some((from, to)) => (from..=to).map(|number: u64| number.to_string()).collect(),
                None => vec![spec.to_owned()],
            };
            for one in list {
                let got = self.event(&one);
                assert_eq!(got, expected, "{}: event {one}", self.at());
            }
        }
    }

    fn wait(&mut self, duration: Duration, expected: &str) {
        let end = self.now.plus(duration);
        let mut got = String::new();
        while let Some(deadline) = self.consumer.deadline().filter(|deadline| self.connected && *deadline <= end) {
            self.now = self.now.max(deadline);
            let next = self.consumer.tick(self.now);
            got.push_str(self.follow(&next));
        }
        self.now = end;
        assert_eq!(got, expected, "{}: what the timers did", self.at());
    }

    fn gap(&self, words: &[&str]) {
        let gap = self.disk.gaps.last().unwrap_or_else(|| panic!("{}: no gap", self.at()));
        let mut got = vec![gap.state.as_str().to_owned()];
        if words.len() > 1 {
            got.push(gap.recovered.to_string());
        }
        if words.len() > 2 {
            got.push(gap.dropped.map_or_else(|| "null".to_owned(), |dropped| dropped.to_string()));
        }
        assert_eq!(got, words, "{}: gap {gap:?}", self.at());
    }

    fn run_line(&mut self, line: &str) {
        let (command, expected) = line.split_once("=>").map_or((line, ""), |(c, e)| (c.trim(), e.trim()));
        let (word, rest) = command.split_once(' ').unwrap_or((command, ""));
        match word {
            "connect" => self.connect(rest),
            "ev" => self.events(rest, expected),
            "comment" => {
                let next = self.consumer.comment(rest, self.now);
                let got = self.follow(&next);
                assert_eq!(got, expected, "{}", self.at());
            }
            "idonly" => {
                self.consumer.id_only(rest, self.now);
                self.flush();
            }
            "end" => self.disconnect(),
            "wait" => self.wait(seconds(rest), expected),
            "refuse" => {
                let plan = self.consumer.plan(self.now);
                assert_eq!(plan.cursor.as_ref().map_or("live", EventId::as_str), rest, "{}", self.at());
                let next = self.consumer.cursor_refused("410 Gone", self.now);
                assert_eq!(self.follow(&next), expected, "{}", self.at());
            }
            "crash" | "restart" => {
                self.connected = false;
                self.consumer = start(&self.options, &self.disk, self.now);
            }
            "latest" | "lagging" | "newest" => {
                let head = &self.disk.record.head;
                let id = match word {
                    "latest" => head.latest.as_ref().map(|place| &place.id),
                    "newest" => head.newest.as_ref().map(|place| &place.id),
                    _ => head.lagging.as_ref(),
                };
                assert_eq!(id.map_or("none", EventId::as_str), rest, "{}: {word}", self.at());
            }
            "gap" => self.gap(&rest.split(' ').collect::<Vec<_>>()),
            "nogap" => assert!(self.disk.record.gap.is_none(), "{}: a gap is open", self.at()),
            "memory" => {
                assert_eq!(std::mem::take(&mut self.memory).join(" "), rest, "{}: from memory", self.at());
            }
            "notices" => {
                let got: Vec<_> = self.notices.drain(..).map(NoticeKind::as_str).collect();
                assert_eq!(got.join(" "), rest, "{}", self.at());
            }
            "dispatch" => assert_eq!(self.consumer.dispatch_id().unwrap_or("none"), rest, "{}", self.at()),
            "snapshots" => assert_eq!(self.snapshots.to_string(), rest, "{}", self.at()),
            "lost" => assert_eq!(self.consumer.lost_events().to_string(), rest, "{}", self.at()),
            _ => panic!("{}: what is `{line}`?", self.at()),
        }
    }
}

fn seconds(text: &str) -> Duration {
    Duration::from_secs_f64(text.trim_end_matches('s').parse().expect("seconds"))
}

fn start(options: &Options, disk: &Disk, now: Timestamp) -> Consumer {
    let start = Start {
        record: disk.record.clone(),
        last_gap_number: disk.gaps.last().map_or(0, |gap| gap.number),
        key_seed: &[42; 32],
    };
    Consumer::new(options.clone(), start, now)
}

/// Runs a script under the defaults of `resume`, changed by its first lines of the form `set NAME VALUE`.
fn history(name: &'static str, script: &str) {
    let mut options = Options::new(Follow::Resume);
    let mut lines = script.lines().enumerate().map(|(number, line)| (number + 1, line.trim())).peekable();
    while let Some((_, line)) = lines.next_if(|(_, line)| line.is_empty() || line.starts_with("set ")) {
        let Some((name, value)) = line.trim_start_matches("set ").split_once(' ') else { continue };
        match name {
            "follow" => options.follow = if value == "tail" { Follow::Tail } else { Follow::Resume },
            "window" => options.window = seconds(value),
            "cooldown" => options.cooldown = seconds(value),
            "max-replay" => options.max_replay = Some(value.parse().expect("a number")),
            "on-drop" => options.on_drop = if value == "warn" { OnDrop::Warn } else { OnDrop::Exit },
            "snapshot" => options.snapshot = value == "yes",
            "on-expired" => options.on_expired = OnExpired::Live,
            "dedupe" => options.dedupe = if value == "id" { Dedupe::Id } else { Dedupe::None },
            "reconnect" => options.reconnect = value == "yes",
            "start" => options.start = EventId::new(value),
            "initial" => options.initial = EventId::new(value),
            "no-cursor-event" => options.no_cursor_events.push(value.to_owned()),
            "cursor" => options.header_cursor = value == "header",
            _ => panic!("what is `{name}`?"),
        }
    }
    let mut history = History::new(name, options);
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        history.line = number;
        history.run_line(line);
    }
    // Whatever the history: an open gap freezes, and where none is open nothing is known to be missing.
    let head = &history.disk.record.head;
    if history.disk.record.gap.as_ref().is_none_or(|gap| gap.phase == Phase::Reporting)
        && let (Some(newest), Some(latest)) = (&head.newest, &head.latest)
    {
        assert!(newest.id == latest.id || latest.before.as_ref() == Some(&newest.id), "{name}: {head:?}");
    }
}
