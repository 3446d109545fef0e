use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::policy::Builder;
use super::queue::ENTRY_BYTES;
use super::{Kind, Offer, Overflow, Policies, Queue, Taken, Verdict};

mod words {
    use super::*;

    fn why(text: &str) -> String {
        Policies::parse([text]).unwrap_err().to_string()
    }

    #[test]
    fn every_kind_is_read() {
        let texts = [
            "price=coalesce:/sym",
            "trade=buffer:256,overflow=notice",
            "tick=drop",
            "book=resnapshot:/sym,keys=7",
            "clock=resnapshot",
            "odd=coalesce:/a,b/c,keys=3",
            "*=buffer:9",
        ];
        let policies = Policies::parse(texts).unwrap();
        let kinds: BTreeMap<_, _> = policies.rules().map(|(_, event, kind)| (event, kind.clone())).collect();
        assert!(matches!(kinds["price"], Kind::Coalesce { keys: 1024, .. }));
        assert_eq!(kinds["trade"], Kind::Buffer { frames: 256, overflow: Overflow::Notice });
        assert_eq!(kinds["tick"], Kind::Drop);
        assert!(matches!(kinds["book"], Kind::Resnapshot { pointer: Some(_), keys: 7 }));
        assert!(matches!(kinds["clock"], Kind::Resnapshot { pointer: None, .. }));
        assert!(matches!(kinds["odd"], Kind::Coalesce { keys: 3, .. }));
        assert_eq!(kinds["*"], Kind::Buffer { frames: 9, overflow: Overflow::Disconnect });
        assert_eq!(policies.rules().last().unwrap().1, "*");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, word) in [
            ("price", "TYPE=KIND"),
            ("=drop", "TYPE=KIND"),
            ("price=coalesce", "coalesce:/sym"),
            ("price=coalesce:sym", "begins with `/`"),
            ("price=coalece:/sym", "no policy"),
            ("trade=buffer:0", "at least 1"),
            ("trade=buffer:many", "at least 1"),
            ("trade=buffer:5,overflow=maybe", "`disconnect` or `notice`"),
            ("trade=buffer:5,keys=2", "no option `keys`"),
            ("tick=drop:5", "no argument"),
        ] {
            assert!(why(text).contains(word), "{text}: {}", why(text));
        }
        assert!(Policies::parse(["a=drop", "a=buffer"]).unwrap_err().to_string().contains("two policies"));
    }

    #[test]
    fn a_reader_of_ones_own_is_waited_for_where_no_rule_says_otherwise() {
        let policies = Policies::of_own_reader(["price=coalesce:/sym", "tick=drop"]).unwrap();
        let keeps = Kind::Buffer { frames: usize::MAX, overflow: Overflow::Disconnect };
        for kind in ["trade", "*", super::super::policy::NO_TYPE] {
            assert_eq!(*policies.kind(policies.route(kind, "{}").rule), keeps, "{kind}");
        }
        assert!(matches!(policies.kind(policies.route("price", "{}").rule), Kind::Coalesce { keys: usize::MAX, .. }));
        let policies = Policies::of_own_reader(["*=drop"]).unwrap();
        assert_eq!(*policies.kind(policies.route("trade", "").rule), Kind::Drop);
        assert_eq!(*policies.kind(policies.route(super::super::policy::NO_TYPE, "").rule), keeps);
    }

    #[test]
    fn what_only_a_server_can_do_is_refused_for_a_reader_of_ones_own() {
        for (text, word) in [
            ("trade=buffer", "a policy of `serve`; here what has no policy waits"),
            ("book=resnapshot:/sym", "`coalesce:/POINTER` keeps the newest"),
            ("price=coalesce:/sym,keys=5", "`keys` is an option of `serve`"),
            ("price", "TYPE=KIND"),
            ("price=coalece:/sym", "no policy"),
        ] {
            let why = Policies::of_own_reader([text]).unwrap_err().to_string();
            assert!(why.contains(word), "{text}: {why}");
        }
        assert!(Policies::of_own_reader(["a=drop", "a=drop"]).unwrap_err().to_string().contains("two policies"));
    }

    #[test]
    fn a_key_is_of_its_type() {
        let policies = Policies::parse(["*=coalesce:/k"]).unwrap();
        let a = policies.route("a", r#"{"k":1}"#);
        let b = policies.route("b", r#"{"k":1}"#);
        assert_eq!(a.rule, b.rule);
        assert_ne!(a.key, b.key);
        assert_eq!(policies.route("a", "no json").key, None);
    }
}

/// A queue whose events say what they are: `type`, key and number.
struct Desk {
    policies: Policies,
    queue: Queue<Event>,
    next: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Event {
    seq: u64,
    kind: &'static str,
    key: u8,
}

impl Desk {
    fn new(texts: &[&str]) -> Self {
        Self::of(Policies::parse(texts.iter().copied()).unwrap())
    }

    fn of(policies: Policies) -> Self {
        Self { queue: Queue::new(policies.clone()), policies, next: 1 }
    }

    fn push(&mut self, kind: &'static str, key: u8, bytes: usize) -> Verdict<Event> {
        let seq = self.next;
        self.next += 1;
        let route = self.policies.route(kind, &format!(r#"{{"k":{key}}}"#));
        self.queue.push(Offer { seq, route, bytes, payload: Event { seq, kind, key } })
    }

    /// What a batch says, in words: `price7#3` with its id, `price7` without.
    fn words(&mut self, bytes: usize) -> Vec<String> {
        let words = self.queue.take(bytes).into_iter().map(|taken| match taken {
            Taken::Event { payload: Event { seq, kind, key }, carries_id: true } => format!("{kind}{key}#{seq}"),
            Taken::Event { payload: Event { kind, key, .. }, carries_id: false } => format!("{kind}{key}"),
            Taken::Notice { dropped, .. } => format!("dropped {dropped}"),
            Taken::Snapshot { rule } => format!("snapshot {}", rule.number()),
        });
        words.collect()
    }
}

#[test]
fn a_burst_of_200_for_8_keys_and_3_notifications_is_11_events() {
    let mut desk = Desk::new(&["price=coalesce:/k", "*=buffer:100"]);
    for n in 0..200_u8 {
        match n {
            50 | 100 | 150 => desk.push("notification", n, 100),
            _ => desk.push("price", n % 8, 100),
        };
    }
    assert_eq!(desk.queue.len(), 11);
    let words = desk.words(usize::MAX);
    assert_eq!(words.len(), 11);
    assert!(words.iter().all(|word| word.contains('#')), "in one flush every event has its id: {words:?}");
    assert_eq!(words.iter().filter(|word| word.starts_with("notification")).count(), 3);
    assert!(desk.queue.is_empty() && desk.queue.bytes() == 0);
}

#[test]
fn a_newer_value_takes_the_place_of_the_older_and_keeps_its_id_to_itself() {
    let mut desk = Desk::new(&["price=coalesce:/k"]);
    desk.push("price", 1, 10);
    desk.push("trade", 0, 10);
    assert_eq!(desk.push("price", 1, 10), Verdict::Replaced(Event { seq: 1, kind: "price", key: 1 }));
    assert_eq!(desk.words(1), ["price1"], "an id of 3 would skip the trade for good");
    assert_eq!(desk.words(1), ["trade0#2"]);
}

#[test]
fn types_that_stay_together_keep_their_order() {
    let mut builder = Builder::default();
    builder.rule("price=coalesce:/k").unwrap();
    builder.together(["price".to_owned(), "position_closed".to_owned()]);
    let mut desk = Desk::of(builder.build());
    desk.push("price", 1, 10);
    desk.push("position_closed", 1, 10);
    desk.push("price", 1, 10);
    assert_eq!(desk.words(1), ["position_closed1#2"]);
    assert_eq!(desk.words(1), ["price1#3"]);
}

#[test]
fn a_hole_is_told_of_in_its_place_and_closed_there() {
    let mut desk = Desk::new(&["trade=buffer:2,overflow=notice"]);
    for key in 0..5 {
        desk.push("trade", key, 10);
    }
    desk.push("other", 9, 10);
    assert_eq!(desk.words(1), ["trade0#1"]);
    assert_eq!(desk.push("trade", 5, 10), Verdict::Dropped, "a hole is one run");
    assert_eq!(desk.words(usize::MAX), ["trade1#2", "dropped 4", "other9#6"]);
    assert_eq!(desk.push("trade", 6, 10), Verdict::Queued);
    assert_eq!(desk.words(usize::MAX), ["trade6#8"]);
}

#[test]
fn a_snapshot_stands_where_the_first_was_discarded() {
    let mut desk = Desk::new(&["book=resnapshot"]);
    desk.push("trade", 0, 10);
    assert_eq!(desk.push("book", 0, 10), Verdict::Discarded);
    desk.push("book", 0, 10);
    desk.push("trade", 1, 10);
    assert_eq!(desk.words(usize::MAX), ["trade0#1", "snapshot 0"]);
    assert_eq!(desk.words(usize::MAX), ["trade1#4"]);
}

#[test]
fn an_overflow_that_disconnects_lets_go_of_all() {
    let mut desk = Desk::new(&["trade=buffer:2"]);
    desk.push("trade", 0, 10);
    desk.push("other", 0, 10);
    desk.push("trade", 0, 10);
    assert_eq!(desk.push("trade", 0, 10), Verdict::Disconnect);
    assert!(desk.queue.is_empty() && desk.queue.bytes() == 0 && desk.queue.oldest().is_none());
    assert_eq!(desk.push("trade", 0, 10), Verdict::Queued);
}

#[test]
fn dropped_types_leave_no_trace() {
    let mut desk = Desk::new(&["tick=drop"]);
    assert_eq!(desk.push("tick", 0, 10), Verdict::Dropped);
    assert!(desk.queue.is_empty());
}

#[test]
fn more_keys_than_may_wait_end_the_stream() {
    let mut desk = Desk::new(&["price=coalesce:/k,keys=2"]);
    desk.push("price", 1, 10);
    desk.push("price", 2, 10);
    assert!(matches!(desk.push("price", 1, 10), Verdict::Replaced(_)));
    assert_eq!(desk.push("price", 3, 10), Verdict::Disconnect);
}

#[test]
fn bytes_are_bounded_when_a_value_grows() {
    let mut builder = Builder::default();
    builder.rule("price=coalesce:/k").unwrap();
    builder.queue_bytes_max(1000);
    let mut desk = Desk::of(builder.build());
    desk.push("price", 1, 1000 - ENTRY_BYTES);
    assert!(matches!(desk.push("price", 1, 1000 - ENTRY_BYTES), Verdict::Replaced(_)));
    assert_eq!(desk.queue.bytes(), 1000);
    assert_eq!(desk.push("price", 1, 1001 - ENTRY_BYTES), Verdict::Disconnect);
}

/// What happens to a queue in a test of properties.
#[derive(Clone, Debug)]
enum Step {
    Push { kind: &'static str, key: u8, bytes: usize },
    Take { bytes: usize },
}

/// One type of each kind, and one without a rule of its own.
const KINDS: [&str; 6] = ["price", "trade", "audit", "tick", "book", "other"];
const BYTES_MAX: usize = 4000;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let push = (0..KINDS.len(), 0..5_u8, 1..400_usize).prop_map(|(kind, key, bytes)| Step::Push {
        kind: KINDS[kind],
        key,
        bytes,
    });
    let take = (1..1500_usize).prop_map(|bytes| Step::Take { bytes });
    prop::collection::vec(prop_oneof![6 => push, 1 => take], 0..300)
}

/// `audit` and `other` end the stream when `disconnects`; everything is dropped with a notice else.
fn rules(disconnects: bool, together: bool) -> Policies {
    let mut builder = Builder::default();
    builder.rule("price=coalesce:/k").unwrap();
    builder.rule("trade=buffer:6,overflow=notice").unwrap();
    builder.rule(if disconnects { "audit=buffer:4" } else { "audit=buffer:4,overflow=notice" }).unwrap();
    builder.rule("tick=drop").unwrap();
    builder.rule("book=resnapshot:/k").unwrap();
    builder.rule(if disconnects { "*=buffer:8" } else { "*=buffer:8,overflow=notice" }).unwrap();
    if together {
        builder.together(["price".to_owned(), "trade".to_owned()]);
    }
    // The prices of one key each, all keys at once, must always find room: theirs alone is the promise without end.
    builder.queue_bytes_max(BYTES_MAX);
    builder.build()
}

/// A reader, and what was published while he was connected.
#[derive(Default)]
struct Life {
    published: Vec<Event>,
    delivered: Vec<Event>,
    /// Numbers that were carried as ids.
    carried: Vec<u64>,
    noticed: u64,
    snapshots: u64,
    cut: bool,
}

impl Life {
    fn take(&mut self, desk: &mut Desk, bytes: usize) {
        for taken in desk.queue.take(bytes) {
            match taken {
                Taken::Event { payload, carries_id } => {
                    if carries_id {
                        self.carried.push(payload.seq);
                    }
                    self.delivered.push(payload);
                }
                Taken::Notice { dropped, .. } => self.noticed += dropped,
                Taken::Snapshot { .. } => self.snapshots += 1,
            }
        }
    }

    fn run(steps: &[Step], desk: &mut Desk, drain: bool) -> Self {
        let mut life = Self::default();
        for step in steps {
            match *step {
                Step::Push { kind, key, bytes } => {
                    let seq = desk.next;
                    life.published.push(Event { seq, kind, key });
                    if desk.push(kind, key, bytes) == Verdict::Disconnect {
                        life.cut = true;
                        return life;
                    }
                }
                Step::Take { bytes } => life.take(desk, bytes),
            }
            assert!(desk.queue.bytes() <= BYTES_MAX);
            // 5 keys, 6 trades, 4 audits, 8 others; a hole each, a snapshot.
            assert!(desk.queue.len() <= 5 + 6 + 4 + 8 + 4);
        }
        while drain && !desk.queue.is_empty() {
            life.take(desk, 500);
        }
        life
    }

    fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = u64> + 'a {
        self.delivered.iter().filter(move |event| event.kind == kind).map(|event| event.seq)
    }
}

fn is_sorted(numbers: impl IntoIterator<Item = u64>) -> bool {
    numbers.into_iter().collect::<Vec<_>>().is_sorted_by(|a, b| a < b)
}

proptest! {
    #[test]
    fn bounds_hold_whatever_comes(steps in steps(), disconnects: bool, together: bool) {
        let mut desk = Desk::of(rules(disconnects, together));
        let life = Life::run(&steps, &mut desk, true);
        prop_assert!(desk.queue.is_empty() && desk.queue.bytes() == 0 && desk.queue.oldest().is_none());
        prop_assert!(is_sorted(life.carried.iter().copied()), "ids go back: {:?}", life.carried);
    }

    #[test]
    fn buffered_types_keep_the_order_of_publication(steps in steps(), together: bool) {
        let life = Life::run(&steps, &mut Desk::of(rules(false, together)), true);
        let buffered = life.delivered.iter().filter(|event| ["trade", "audit", "other"].contains(&event.kind));
        prop_assert!(is_sorted(buffered.map(|event| event.seq)));
        for key in 0..5 {
            let of_key = life.delivered.iter().filter(|event| event.kind == "price" && event.key == key);
            prop_assert!(is_sorted(of_key.map(|event| event.seq)));
        }
        if together {
            let class = life.delivered.iter().filter(|event| ["price", "trade"].contains(&event.kind));
            prop_assert!(is_sorted(class.map(|event| event.seq)));
        }
    }

    #[test]
    fn the_newest_value_of_every_key_survives_and_the_reader_converges(steps in steps(), together: bool) {
        let life = Life::run(&steps, &mut Desk::of(rules(false, together)), true);
        prop_assume!(!life.cut);
        for key in 0..5 {
            let published = life.published.iter().rfind(|event| event.kind == "price" && event.key == key);
            let delivered = life.delivered.iter().rfind(|event| event.kind == "price" && event.key == key);
            prop_assert_eq!(published, delivered);
        }
        let books = life.published.iter().filter(|event| event.kind == "book").count() as u64;
        prop_assert!(books == 0 || (1..=books).contains(&life.snapshots));
    }

    #[test]
    fn what_is_dropped_with_a_notice_is_what_was_not_delivered(steps in steps(), together: bool) {
        let life = Life::run(&steps, &mut Desk::of(rules(false, together)), true);
        prop_assume!(!life.cut);
        let is_told = |event: &&Event| ["trade", "audit", "other"].contains(&event.kind);
        let published = life.published.iter().filter(is_told).count() as u64;
        let delivered = life.delivered.iter().filter(is_told).count() as u64;
        prop_assert_eq!(life.noticed, published - delivered);
    }

    #[test]
    fn a_reader_that_keeps_up_gets_everything(steps in steps(), together: bool) {
        let mut desk = Desk::of(rules(true, together));
        for step in steps {
            let Step::Push { kind, key, bytes } = step else { continue };
            if kind == "tick" || kind == "book" {
                // Given to the reader directly: the queue is for those who are slow.
                continue;
            }
            let seq = desk.next;
            prop_assert_eq!(desk.push(kind, key, bytes), Verdict::Queued);
            let event = Event { seq, kind, key };
            prop_assert_eq!(desk.queue.take(1), vec![Taken::Event { payload: event, carries_id: true }]);
        }
    }

    /// Cut anywhere, a reader that goes on after its cursor misses nothing: what is not delivered by then is newer than
    /// the cursor, was replaced by something that is newer or was delivered, or was said to be dropped.
    #[test]
    fn a_cursor_never_passes_what_was_not_delivered(steps in steps(), together: bool) {
        let mut desk = Desk::of(rules(true, together));
        let life = Life::run(&steps, &mut desk, false);
        let cursor = life.carried.last().copied().unwrap_or(0);
        let delivered: BTreeSet<u64> = life.delivered.iter().map(|event| event.seq).collect();
        for event in life.published.iter().filter(|event| event.seq <= cursor) {
            let missed = match event.kind {
                "audit" | "other" => !delivered.contains(&event.seq),
                "price" => {
                    let newest = life.published.iter().rfind(|one| one.kind == "price" && one.key == event.key);
                    let newest = newest.map_or(0, |newest| newest.seq);
                    let since = life.of("price").any(|seq| seq >= event.seq
                        && life.published[(seq - 1) as usize].key == event.key);
                    !since && newest <= cursor
                }
                _ => false,
            };
            prop_assert!(!missed, "{event:?} is behind the cursor {cursor}");
        }
    }
}
