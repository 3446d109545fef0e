//! Each policy as a model: a stream of 200 events a second with eight keys, of which the slow reader reads nothing for
//! a second.

use super::policy::{Policy, infer};
use super::*;
use crate::probe::observe::{Ended, Recorder};

/// Events of the whole run, one every 5 ms.
const EVENTS: u64 = 600;
/// The pause, in milliseconds.
const FROM_MS: u64 = 1000;
const UNTIL_MS: u64 = 2000;
/// Events that the network holds.
const NETWORK: u64 = 40;

fn at(ms: u64) -> Timestamp {
    Timestamp(i64::try_from(ms).unwrap() * 1000)
}

fn block(number: u64) -> String {
    format!("event: price\ndata: {{\"sym\":\"K{}\",\"n\":{number},\"pad\":\"x\"}}\n\n", number % 8)
}

/// When an event is published, in milliseconds.
fn published(number: u64) -> u64 {
    number * 5 + 1
}

/// The events that are published while the reader pauses and the network is full.
fn held() -> impl Iterator<Item = u64> {
    let first = (0..EVENTS).find(|number| published(*number) > FROM_MS).unwrap() + NETWORK;
    (first..EVENTS).take_while(|number| published(*number) <= UNTIL_MS)
}

fn inferred(kept: impl Fn(u64) -> bool, last: Option<&str>, end: bool) -> Verdict {
    inferred_of(block, kept, last, end)
}

/// What is inferred if of the events that the server held these come, before them a comment that announces a snapshot,
/// after them any other comment, or the end.
fn inferred_of(block: impl Fn(u64) -> String, kept: impl Fn(u64) -> bool, last: Option<&str>, end: bool) -> Verdict {
    let mut control = Recorder::new(1 << 20);
    let mut slow = Recorder::new(1 << 20);
    control.opened(at(0));
    slow.opened(at(0));
    let held: Vec<u64> = held().collect();
    for number in 0..EVENTS {
        control.bytes(at(published(number)), block(number).as_bytes());
    }
    for number in 0..EVENTS {
        let arrives = match published(number) {
            paused if paused > FROM_MS && paused <= UNTIL_MS => UNTIL_MS + 1,
            other => other,
        };
        let is_after = published(number) > UNTIL_MS;
        if is_after && end {
            slow.ended(at(UNTIL_MS + 2), Ended::Clean);
            break;
        }
        let is_next = match last {
            Some(text) if text.starts_with("snapshot") => held.iter().find(|held| kept(**held)) == Some(&number),
            _ => is_after && published(number - 1) <= UNTIL_MS,
        };
        if let Some(text) = last.filter(|_| is_next) {
            slow.bytes(at(UNTIL_MS + 1), format!(": {text}\n\n").as_bytes());
        }
        if !held.contains(&number) || kept(number) {
            slow.bytes(at(arrives), block(number).as_bytes());
        }
    }
    let (control, slow) = (control.into_observation(), slow.into_observation());
    let notices = DropNotices::new(true, &[]);
    let pauses = [Pause { from: at(FROM_MS), until: at(UNTIL_MS), caught_up: at(UNTIL_MS + 100) }];
    let trial = Trial {
        control: &control,
        slow: &slow,
        pauses: &pauses,
        notices: &notices,
        limit_rate: None,
        from: at(0),
        until: at(3000),
    };
    infer(&trial, &Matching::new(&control, &slow)).remove(0)
}

#[test]
fn the_newest_of_each_key_is_coalesced_by_it() {
    let last = held().last().unwrap();
    let verdict = inferred(|number| number > last - 8, None, false);
    assert_eq!((verdict.policy, verdict.key.as_deref()), (Policy::Coalesced, Some("/sym")));
}

#[test]
fn one_event_for_all_keys_is_a_snapshot() {
    let last = held().last().unwrap();
    assert_eq!(inferred(|number| number == last, None, false).policy, Policy::Resnapshot);
}

#[test]
fn nothing_and_no_word_is_dropped() {
    assert_eq!(inferred(|_| false, None, false).policy, Policy::Dropped);
}

#[test]
fn a_comment_with_the_length_of_the_hole_is_a_notice() {
    let first = held().next().unwrap();
    let hole = held().count() - 10;
    let text = format!("you are reading too slowly, dropped {hole} messages");
    assert_eq!(inferred(|number| number < first + 10, Some(&text), false).policy, Policy::DroppedNotice);
    let other = format!("you are reading too slowly, dropped {} messages", hole + 1);
    assert_eq!(inferred(|number| number < first + 10, Some(&other), false).policy, Policy::Dropped);
}

#[test]
fn the_end_of_the_slow_connection_alone_is_a_full_buffer() {
    let verdict = inferred(|_| false, None, true);
    assert_eq!(verdict.policy, Policy::BufferDisconnect);
    assert_eq!(verdict.buffer_events, Some(held().count() as u64));
}

#[test]
fn everything_is_no_policy_while_the_network_may_hold_it() {
    assert_eq!(inferred(|_| true, None, false).policy, Policy::NotFelt);
}

#[test]
fn an_announced_snapshot_is_one_however_it_looks() {
    let last = held().last().unwrap();
    let verdict = inferred(|number| number > last - 8, Some("snapshot, 8 messages"), false);
    assert_eq!((verdict.policy, verdict.key.as_deref(), verdict.snapshots), (Policy::Resnapshot, Some("/sym"), 1));
    assert_eq!(DropNotices::new(true, &[]).comment("snapshot, 8 messages"), None, "nothing to recover");
}

#[test]
fn a_snapshot_that_everybody_got_tells_nothing_of_slow_readers() {
    let both = snapshots_of(true);
    let slow_alone = snapshots_of(false);
    assert_eq!((both, slow_alone), (0, 1));
}

/// Snapshots of the slow reader that count, if the control got the same or not.
fn snapshots_of(control_too: bool) -> u64 {
    let seen = |announced: bool| {
        let mut recorder = Recorder::new(1 << 20);
        recorder.opened(at(0));
        if announced {
            recorder.bytes(at(UNTIL_MS), b": snapshot, 1 messages\n\n");
        }
        recorder.bytes(at(UNTIL_MS), block(1).as_bytes());
        recorder.into_observation()
    };
    let (control, slow) = (seen(control_too), seen(true));
    let notices = DropNotices::new(true, &[]);
    let pauses = [Pause { from: at(FROM_MS), until: at(UNTIL_MS), caught_up: at(UNTIL_MS + 100) }];
    let trial = Trial {
        control: &control,
        slow: &slow,
        pauses: &pauses,
        notices: &notices,
        limit_rate: None,
        from: at(0),
        until: at(3000),
    };
    snapshots::of_type(&trial, "price").0
}

#[test]
fn a_dropping_server_that_was_asked_only_once_may_keep_snapshots() {
    assert_eq!(inferred(|_| false, None, false).also_possible, Some(Policy::Resnapshot));
}

#[test]
fn coalescing_by_keys_that_all_changed_may_be_a_snapshot() {
    let last = held().last().unwrap();
    assert_eq!(inferred(|number| number > last - 8, None, false).also_possible, Some(Policy::Resnapshot));
}

#[test]
fn coalescing_is_sure_once_a_key_stayed_silent_and_did_not_come_again() {
    let last = held().last().unwrap();
    let with_rare = |number| match number {
        3 => block(number).replace("K3", "RARE"),
        _ => block(number),
    };
    let verdict = inferred_of(with_rare, |number| number > last - 8, None, false);
    assert_eq!((verdict.policy, verdict.also_possible), (Policy::Coalesced, None));
}
