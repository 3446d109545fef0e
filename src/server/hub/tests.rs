use super::{Hub, Stats, Taken};
use crate::server::ServerOptions;
use proptest::prelude::*;
use std::task::Waker;

fn hub(queue_events: usize, log_events: usize) -> Hub {
    Hub::new(&ServerOptions { first_id: 100, queue_events, log_events, ..ServerOptions::default() })
}

fn publish(hub: &Hub, count: usize) -> u64 {
    hub.publish((0..count).map(|n| ("tick".to_owned(), format!("{n} {}", "x".repeat(1000)))))
}

/// What a subscriber sees: the ids of events, and counts of events that it was told it lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Event(u64),
    Lost(u64),
}

fn read(bytes: &[u8]) -> Vec<Seen> {
    let text = std::str::from_utf8(bytes).unwrap();
    let number = |line: &str, from: &str| line.strip_prefix(from)?.split(' ').next()?.parse().ok();
    text.lines()
        .filter_map(|line| {
            number(line, "id: ")
                .map(Seen::Event)
                .or_else(|| number(line, ": you are reading too slowly, dropped ").map(Seen::Lost))
        })
        .collect()
}

fn take_all(hub: &Hub, key: super::SubscriberKey) -> Vec<Seen> {
    let mut out = Vec::new();
    let mut seen = Vec::new();
    while hub.take(key, &mut out, Waker::noop()) == Taken::Bytes {
        seen.extend(read(&out));
        out.clear();
    }
    seen
}

fn events(ids: std::ops::RangeInclusive<u64>) -> Vec<Seen> {
    ids.map(Seen::Event).collect()
}

#[test]
fn a_live_subscriber_gets_what_comes_after_it() {
    let hub = hub(10, 100);
    publish(&hub, 3);
    let key = hub.subscribe(None);
    assert_eq!(take_all(&hub, key), []);
    assert_eq!(publish(&hub, 2), 104);
    assert_eq!(take_all(&hub, key), events(103..=104));
    assert_eq!(hub.stats(), Stats { published: 5, connections: 1, ..Stats::default() });
}

#[test]
fn a_cursor_is_exclusive() {
    let hub = hub(10, 100);
    publish(&hub, 20);
    for (cursor, expected) in [(99, events(100..=119)), (0, events(100..=119)), (110, events(111..=119)), (119, vec![])]
    {
        let key = hub.subscribe(Some(cursor));
        assert_eq!(take_all(&hub, key), expected, "after {cursor}");
        hub.unsubscribe(key);
    }
    assert_eq!(hub.stats().replayed, 20 + 20 + 9);
}

#[test]
fn an_id_from_the_future_starts_live() {
    let hub = hub(10, 100);
    publish(&hub, 1);
    let key = hub.subscribe(Some(5000));
    publish(&hub, 1);
    assert_eq!(take_all(&hub, key), events(101..=101));
}

#[test]
fn a_full_queue_discards_and_tells_the_exact_number_where_the_gap_is() {
    let hub = hub(10, 1000);
    let key = hub.subscribe(None);
    publish(&hub, 30);
    publish(&hub, 5);
    let mut expected = events(100..=109);
    expected.push(Seen::Lost(25));
    assert_eq!(take_all(&hub, key), expected);
    publish(&hub, 2);
    assert_eq!(take_all(&hub, key), events(135..=136));
    assert_eq!(hub.stats(), Stats { published: 37, connections: 1, discarded: 25, drop_notices: 1, replayed: 0 });
}

#[test]
fn a_gap_stays_one_gap_until_the_queue_is_drained() {
    let hub = hub(20, 1000);
    let key = hub.subscribe(None);
    publish(&hub, 25);
    let mut out = Vec::new();
    assert_eq!(hub.take(key, &mut out, Waker::noop()), Taken::Bytes);
    let first = read(&out);
    assert!(first.len() < 20, "one take must not drain the queue here");
    publish(&hub, 4);
    let rest = take_all(&hub, key);
    let mut expected = events(100..=119);
    expected.push(Seen::Lost(9));
    assert_eq!([first, rest].concat(), expected);
}

#[test]
fn a_replaying_subscriber_loses_nothing_however_small_the_queue() {
    let hub = hub(1, 10_000);
    publish(&hub, 500);
    let key = hub.subscribe(Some(99));
    publish(&hub, 500);
    assert_eq!(take_all(&hub, key), events(100..=1099));
}

#[test]
fn a_cursor_that_the_log_has_passed_starts_at_the_oldest_in_silence() {
    let hub = hub(10, 5);
    publish(&hub, 50);
    let key = hub.subscribe(Some(120));
    assert_eq!(take_all(&hub, key), events(145..=149));
}

#[test]
fn a_replaying_subscriber_is_told_what_the_log_lost_under_it() {
    let hub = hub(10, 5);
    publish(&hub, 5);
    let key = hub.subscribe(Some(99));
    publish(&hub, 3);
    let mut expected = vec![Seen::Lost(3)];
    expected.extend(events(103..=107));
    assert_eq!(take_all(&hub, key), expected);
}

#[test]
fn a_disconnected_subscriber_gets_what_was_queued_and_no_more() {
    let hub = hub(10, 100);
    let key = hub.subscribe(None);
    publish(&hub, 2);
    hub.disconnect();
    publish(&hub, 2);
    assert_eq!(take_all(&hub, key), events(100..=101));
    assert_eq!(hub.take(key, &mut Vec::new(), Waker::noop()), Taken::End);
    let next = hub.subscribe(Some(101));
    assert_eq!(take_all(&hub, next), events(102..=103));
}

#[test]
fn after_stop_a_subscription_ends_where_the_log_ends() {
    let hub = hub(10, 100);
    publish(&hub, 3);
    hub.stop();
    let key = hub.subscribe(Some(100));
    assert_eq!(take_all(&hub, key), events(101..=102));
    assert_eq!(hub.take(key, &mut Vec::new(), Waker::noop()), Taken::End);
}

#[derive(Clone, Debug)]
enum Step {
    Publish(usize),
    Take,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![(0_usize..60).prop_map(Step::Publish), Just(Step::Take), Just(Step::Take)];
    proptest::collection::vec(step, 0..40)
}

proptest! {
    /// Whatever the order of things: every event is seen once and in order, or counted as lost at its place.
    #[test]
    fn no_hole_and_no_repeat(
        before in 0_usize..80, cursor in proptest::option::of(95_u64..190), queue in 1_usize..40, log in 1_usize..100,
        steps in steps(),
    ) {
        let hub = hub(queue, log);
        publish(&hub, before);
        let next = 100 + before as u64;
        let oldest = next - before.min(log) as u64;
        let start = cursor.filter(|&id| id < next).map_or(next, |id| oldest.max(id + 1));
        let key = hub.subscribe(cursor);
        let mut seen = Vec::new();
        for step in steps {
            match step {
                Step::Publish(count) => { publish(&hub, count); }
                Step::Take => {
                    let mut out = Vec::new();
                    hub.take(key, &mut out, Waker::noop());
                    seen.extend(read(&out));
                }
            }
        }
        seen.extend(take_all(&hub, key));
        let mut expected = start;
        for one in seen {
            match one {
                Seen::Event(id) => { prop_assert_eq!(id, expected); expected += 1; }
                Seen::Lost(count) => expected += count,
            }
        }
        prop_assert_eq!(expected, 100 + hub.stats().published);
    }
}
