use std::io;
use std::sync::Mutex;

use proptest::prelude::*;

use super::*;

/// A socket that takes as many bytes as the test allows.
#[derive(Debug, Default)]
struct Pipe {
    state: Mutex<(usize, Vec<u8>)>,
}

impl Socket for Pipe {
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.state.lock().unwrap();
        let count = bytes.len().min(state.0);
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        state.0 -= count;
        state.1.extend_from_slice(&bytes[..count]);
        Ok(count)
    }
}

impl Pipe {
    fn allow(&self, bytes: usize) {
        self.state.lock().unwrap().0 = bytes;
    }

    /// Takes what came.
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut self.state.lock().unwrap().1)).unwrap()
    }
}

/// A hub whose events are numbered from 100.
struct Desk(Hub);

impl Desk {
    fn new(policies: &[&str]) -> Self {
        Self::with(policies, |_| {})
    }

    fn with(policies: &[&str], change: impl FnOnce(&mut ServerOptions)) -> Self {
        let policies = Policies::parse(policies.iter().copied()).unwrap();
        let mut options = ServerOptions { first_id: Some(100), policies, ..ServerOptions::default() };
        change(&mut options);
        Self(Hub::new(&options))
    }

    fn publish(&self, event: &str, data: &str) {
        self.0.publish([Publication { id: None, event: event.into(), data: data.into() }], true);
    }

    fn ticks(&self, count: usize) {
        (0..count).for_each(|_| self.publish("tick", &"x".repeat(100)));
    }

    /// A client whose socket takes everything, or nothing.
    fn client(&self, cursor: Option<&str>, takes: usize) -> Reader<'_> {
        let pipe = Arc::new(Pipe::default());
        pipe.allow(takes);
        match self.0.subscribe(pipe.clone(), cursor, Vec::new()) {
            Begun::Here(key) => Reader { hub: &self.0, key, pipe },
            other => panic!("no stream: {other:?}"),
        }
    }
}

struct Reader<'a> {
    hub: &'a Hub,
    key: ClientKey,
    pipe: Arc<Pipe>,
}

impl Reader<'_> {
    /// Lets the socket take so much, and gives what came in short: ids, types without ids, comments.
    fn read(&self, bytes: usize) -> Vec<String> {
        self.pipe.allow(bytes);
        self.hub.flush(self.key);
        short(&self.pipe.take())
    }

    fn all(&self) -> Vec<String> {
        self.read(usize::MAX)
    }
}

fn short(text: &str) -> Vec<String> {
    let of_block = |block: &str| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        field("id: ").or(field("event: ")).unwrap_or(block).to_owned()
    };
    text.split_terminator("\n\n").map(of_block).collect()
}

fn ids(range: std::ops::RangeInclusive<u64>) -> Vec<String> {
    range.map(|id| id.to_string()).collect()
}

#[test]
fn a_client_that_keeps_up_is_written_to_without_the_queue() {
    let desk = Desk::new(&["*=drop"]);
    desk.ticks(3);
    let client = desk.client(None, usize::MAX);
    desk.ticks(2);
    assert_eq!(short(&client.pipe.take()), ids(103..=104), "nobody flushed");
    assert_eq!(desk.0.standings(9)[0].queue_frames, 0);
    let counts = desk.0.stats().total();
    assert_eq!((counts.published, counts.delivered, counts.dropped), (5, 2, 0));
}

#[test]
fn a_cursor_is_exclusive_and_the_one_before_the_first_is_known() {
    let desk = Desk::new(&[]);
    desk.ticks(5);
    assert_eq!(desk.client(Some("102"), 0).all(), ids(103..=104));
    assert_eq!(desk.client(Some("99"), 0).all(), ids(100..=104));
    assert_eq!(desk.client(Some("104"), 0).all(), [""; 0]);
    assert_eq!(desk.client(Some(""), 0).all(), [""; 0]);
    assert_eq!(desk.0.stats().replayed, 7);
}

#[test]
fn an_id_that_the_log_does_not_have_is_answered_loudly() {
    for (is_event, answer) in [(false, Begun::Expired), (true, Begun::Here(ClientKey(1)))] {
        let desk = Desk::with(&[], |options| (options.log_events, options.expired_is_event) = (3, is_event));
        desk.ticks(6);
        let pipe = Arc::new(Pipe::default());
        assert_eq!(desk.0.subscribe(pipe.clone(), Some("101"), Vec::new()), answer);
        assert_eq!(desk.0.stats().expired, 1);
        if let Begun::Here(key) = answer {
            pipe.allow(usize::MAX);
            desk.0.flush(key);
            let text = pipe.take();
            assert!(text.starts_with("id: 105\nevent: resync\ndata: {\"reason\":\"expired\""), "{text}");
        }
        assert_eq!(desk.client(Some("102"), 0).all(), ids(103..=105), "nothing after this one is gone");
    }
}

#[test]
fn more_than_the_cap_is_not_replayed() {
    let desk = Desk::with(&["price=coalesce:/k"], |options| options.replay_cap = 3);
    desk.ticks(4);
    (0..10).for_each(|_| desk.publish("price", r#"{"k":1}"#));
    let resync = desk.client(Some("99"), 0);
    resync.pipe.allow(usize::MAX);
    desk.0.flush(resync.key);
    assert!(resync.pipe.take().contains(r#""reason":"replay-cap","missed":14"#));
    assert_eq!(desk.client(Some("101"), 0).all(), ["102", "103", "113"], "of state only the newest counts");
    let snapshot = serde_json::to_value(desk.0.snapshot()).unwrap();
    assert_eq!(snapshot["last_event_id"], "113");
    assert_eq!(snapshot["state"][0]["data"], r#"{"k":1}"#);
}

#[test]
fn a_burst_to_a_blocked_client_is_one_frame_a_key_and_every_notification() {
    let desk = Desk::new(&["price=coalesce:/k", "*=buffer:100"]);
    let client = desk.client(None, 0);
    for n in 0..200 {
        match n {
            50 | 100 | 150 => desk.publish("notification", "text"),
            _ => desk.publish("price", &format!(r#"{{"k":{}}}"#, n % 8)),
        }
    }
    let blocks = client.all();
    assert_eq!(blocks.len(), 11, "{blocks:?}");
    assert_eq!(desk.0.stats().types["price"].coalesced, 197 - 8);
}

#[test]
fn a_drop_notice_stands_where_the_hole_is() {
    let desk = Desk::new(&["*=buffer:2,overflow=notice"]);
    let client = desk.client(None, 0);
    desk.ticks(5);
    let mut expected = ids(100..=101);
    expected.push(": you are reading too slowly, dropped 3 messages".to_owned());
    assert_eq!(client.all(), expected);
    desk.ticks(1);
    assert_eq!(client.all(), ids(105..=105));
    let stats = desk.0.stats();
    assert_eq!((stats.total().dropped, stats.drop_notices), (3, 1));
}

#[test]
fn an_overflow_that_disconnects_says_when_to_come_back_and_nothing_is_lost() {
    let desk = Desk::new(&["*=buffer:2"]);
    let client = desk.client(None, 0);
    desk.ticks(1);
    client.read(10);
    desk.ticks(3);
    let client_key = client.key;
    assert!(desk.0.is_ending(client_key));
    client.pipe.allow(usize::MAX);
    assert_eq!(desk.0.flush(client_key), Flushed::End);
    assert!(client.pipe.take().ends_with("\n\nretry: 1000\n\n"), "the block under way is whole");
    desk.0.unsubscribe(client_key);
    assert_eq!(desk.client(Some("100"), 0).all(), ids(101..=103));
    assert_eq!(desk.0.stats().slow_disconnects, 1);
}

#[test]
fn a_resnapshot_gives_the_newest_of_each_key_when_the_client_recovers() {
    let desk = Desk::new(&["book=resnapshot:/k"]);
    let client = desk.client(None, 0);
    desk.ticks(1);
    (0..6).for_each(|n| desk.publish("book", &format!(r#"{{"k":{}}}"#, n % 2)));
    desk.ticks(1);
    assert_eq!(client.all(), ["100", ": snapshot, 2 messages", "105", "106", "107"]);
    assert_eq!(desk.0.stats().types["book"].discarded, 6);
}

#[test]
fn the_state_keeps_no_more_keys_than_it_may() {
    let desk = Desk::new(&["price=coalesce:/k,keys=2"]);
    [1, 2, 1, 3].iter().for_each(|k| desk.publish("price", &format!(r#"{{"k":{k}}}"#)));
    let snapshot = serde_json::to_value(desk.0.snapshot()).unwrap();
    let data: Vec<_> = snapshot["state"].as_array().unwrap().iter().map(|event| event["data"].clone()).collect();
    assert_eq!(data, [r#"{"k":1}"#, r#"{"k":3}"#]);
}

#[test]
fn too_many_clients_are_refused() {
    let desk = Desk::with(&[], |options| options.clients_max = 1);
    let _client = desk.client(None, 0);
    assert_eq!(desk.0.subscribe(Arc::new(Pipe::default()), None, Vec::new()), Begun::Full);
}

#[test]
fn a_stop_lets_what_waits_go_out_and_ends() {
    let desk = Desk::new(&[]);
    let client = desk.client(None, 0);
    desk.ticks(2);
    desk.0.stop();
    assert_eq!(client.all(), ["100", "101", "retry: 1000"]);
    assert_eq!(desk.0.flush(client.key), Flushed::End);
}

#[test]
fn numbers_go_on_after_what_was_kept() {
    let desk = Desk::new(&[]);
    desk.0.restore(&Publication { id: Some("500".into()), event: "tick".into(), data: String::new() });
    desk.ticks(1);
    assert_eq!(desk.client(Some("500"), 0).all(), ["501"]);
    assert_eq!(desk.0.stats().types["tick"].published, 1);
}

proptest! {
    /// Whatever the socket takes and when: blocks come whole, ids never go back, and what came and what was said to be
    /// dropped is what was published.
    #[test]
    fn whatever_the_socket_takes_every_block_is_whole(
        steps in prop::collection::vec(prop_oneof![(1..30_usize).prop_map(Ok), (0..3000_usize).prop_map(Err)], 1..60),
        cursor in prop::option::of(100..105_u64),
    ) {
        let desk = Desk::new(&["tick=buffer:7,overflow=notice", "price=coalesce:/k"]);
        desk.ticks(5);
        let cursor = cursor.map(|id| id.to_string());
        let client = desk.client(cursor.as_deref(), 0);
        let first = cursor.map_or(105, |id| id.parse::<u64>().unwrap() + 1);
        let (mut text, mut published) = (String::new(), 105 - first);
        for step in steps {
            match step {
                Ok(count) => {
                    for n in 0..count {
                        desk.publish("price", &format!(r#"{{"k":{}}}"#, n % 3));
                        desk.ticks(1);
                        published += 1;
                    }
                }
                Err(bytes) => {
                    client.pipe.allow(bytes);
                    desk.0.flush(client.key);
                    text.push_str(&client.pipe.take());
                }
            }
        }
        client.pipe.allow(usize::MAX);
        prop_assert_eq!(desk.0.flush(client.key), Flushed::All);
        text.push_str(&client.pipe.take());
        prop_assert!(text.is_empty() || text.ends_with("\n\n"));
        let blocks = short(&text);
        let numbers: Vec<u64> = blocks.iter().filter_map(|block| block.parse().ok()).collect();
        prop_assert!(numbers.is_sorted_by(|a, b| a < b), "{:?}", numbers);
        let dropped: u64 = blocks.iter()
            .filter_map(|block| block.strip_prefix(": you are reading too slowly, dropped ")?.split(' ').next()?.parse::<u64>().ok())
            .sum();
        let ticks = text.matches("event: tick").count() as u64;
        prop_assert_eq!(ticks + dropped, published);
    }
}
