use super::{DropNotices, Dropped, Stems, counted as counted_among, is_reset_event, plain};
use regex::Regex;
use serde_json::Value;

fn defaults() -> DropNotices {
    DropNotices::new(true, &[])
}

fn with(defaults: bool, expressions: &[&str]) -> DropNotices {
    let regexes: Vec<Regex> = expressions.iter().map(|text| Regex::new(text).unwrap()).collect();
    DropNotices::new(defaults, &regexes)
}

fn counted(count: u64) -> Option<Dropped> {
    Some(Dropped { count: Some(count) })
}

const UNCOUNTED: Option<Dropped> = Some(Dropped { count: None });

#[test]
fn reads_every_comment_of_the_collection_right() {
    let data: Value = serde_json::from_str(include_str!("../../../tests/data/comments.json")).unwrap();
    let notices = data["drop_notices"].as_array().unwrap();
    assert!(notices.len() >= 13);
    for notice in notices {
        let text = notice["text"].as_str().unwrap();
        let expected = Some(Dropped { count: notice["dropped"].as_u64() });
        assert_eq!(defaults().comment(text), expected, "{text:?}");
    }
    for text in data["not_drop_notices"].as_array().unwrap() {
        let text = text.as_str().unwrap();
        assert_eq!(defaults().comment(text), None, "{text:?}");
    }
}

const COUNTED_KIN: &[(&str, u64)] = &[
    ("You are reading too slowly, dropped 1 message", 1),
    ("YOU ARE READING TOO SLOWLY, DROPPED 10,000 MESSAGES", 10_000),
    ("you are reading too slowly, dropped 1_000_000 messages.", 1_000_000),
    ("client is reading too slow; discarded 7 events", 7),
    ("dropped: 88", 88),
    ("dropped=88", 88),
    ("dropped 5, reconnect to resume", 5),
    ("dropped 5 of 100 messages", 5),
    ("dropping 3 events", 3),
    ("discarded 12 oldest events", 12),
    ("skipped 12", 12),
    ("missed 4 updates", 4),
    ("you missed 4 updates", 4),
    ("you have missed 4 updates", 4),
    ("lost 9 records", 9),
    ("1 event was dropped", 1),
    ("3 messages have been lost", 3),
    ("12 buffered messages were discarded because the client is slow", 12),
    ("lagged by 42", 42),
    ("channel lagged by 42", 42),
    ("Lagged(42)", 42),
    ("error: lagged 42 messages", 42),
    ("stream lagged, 12 messages skipped", 12),
    ("client too slow: 17 messages dropped", 17),
    ("slow consumer: dropped 6 events", 6),
    ("warning: 3 dropped events", 3),
    ("{\"type\":\"lagged\",\"skipped\":12}", 12),
    ("dropped_messages: 5", 5),
    ("events dropped: 5", 5),
    ("stats sent=100 dropped=7 clients=4", 7),
    ("overflow: 12", 12),
    ("sent=5 dropped=0 skipped=7", 7),
    ("no heartbeat for a while; 5 events were dropped", 5),
    ("resuming after 5, dropped 10 messages", 10),
];

const UNCOUNTED_KIN: &[&str] = &[
    "dropped 99999999999999999999999 messages",
    "lagged",
    "client lagged",
    "slow consumer",
    "slow_consumer",
    "SlowConsumer",
    "slow client detected",
    "error: slow consumer",
    "subscriber is too slow",
    "closing: reader too slow",
    "you are too slow",
    "client_too_slow",
    "you are consuming events too slowly",
    "client cannot keep up",
    "some events were dropped",
    "messages dropped",
    "you may have missed events",
    "dropping messages",
    "buffer overflow",
    "queue overflow, reconnect",
];

#[test]
fn reads_their_kin() {
    for &(text, count) in COUNTED_KIN {
        assert_eq!(defaults().comment(text), counted(count), "{text:?}");
    }
    for &text in UNCOUNTED_KIN {
        assert_eq!(defaults().comment(text), UNCOUNTED, "{text:?}");
    }
}

#[test]
fn leaves_other_talk_alone() {
    let cases = [
        "lagged 12ms",
        "lagged by 3 seconds",
        "lag 5",
        "not lagged",
        "skipped 1 heartbeat",
        "skipped to 12",
        "skipped 12ms",
        "dropped 3 connections",
        "dropped connection",
        "connection dropped",
        "connection lost",
        "missed heartbeat",
        "dropped",
        "lost",
        "no events dropped",
        "no messages were lost",
        "no dropped messages",
        "zero events lost",
        "nothing was dropped",
        "replayed 5 dropped messages",
        "resending 12 lost events",
        "5 lost events recovered",
        "sending missed events",
        "if you are reading too slowly, events may be dropped",
        "events will be dropped if the client is too slow",
        "slow consumer policy: drop-oldest",
        "slow consumers: 0",
        "slow start",
        "slow query took 5 seconds",
        "query too slow",
        "response too slow",
        "5 events skipped by filter",
        "skipped 5 events (filtered)",
        "overflow policy=block",
        "queue size 1024",
        "5 messages",
        "5 messages sent",
        "client connected",
        "consumer 12 joined",
        "reader position 1900",
        "last event id 1900, nothing missed",
        "dropbox",
        "id: 5",
        "retry 3000",
        "welcome",
        "ok",
        "",
    ];
    for text in cases {
        assert_eq!(defaults().comment(text), None, "{text:?}");
    }
}

#[test]
fn a_count_of_zero_is_no_notice() {
    for text in [
        "you are reading too slowly, dropped 0 messages",
        "lagged 0",
        "lagged 0 events",
        "lagged: skipped 0",
        "0 events were dropped",
        "dropped=0",
        "slow consumer, dropped 0 messages",
        "overflow: 0",
        "events dropped: 0",
        "dropped 000 messages",
    ] {
        assert_eq!(defaults().comment(text), None, "{text:?}");
    }
}

#[test]
fn padding_of_any_length_is_cheap_and_no_notice() {
    assert_eq!(defaults().comment(&" ".repeat(1 << 20)), None);
    assert_eq!(defaults().comment(&"é".repeat(1 << 20)), None);
}

#[test]
fn a_users_expression_counts_by_its_group() {
    let notices = with(true, &["^GAP (?P<dropped>[0-9,]+)"]);
    assert_eq!(notices.comment("GAP 1,200"), counted(1200));
    assert_eq!(notices.comment("GAP 0"), None);
    assert_eq!(notices.comment("no gap"), None);
    assert_eq!(notices.comment("lagged 5"), counted(5));
    assert_eq!(with(false, &["^GAP (?<dropped>.*)"]).comment("GAP many"), UNCOUNTED);
}

#[test]
fn a_users_zero_is_none_even_where_a_default_would_match() {
    let notices = with(true, &["too slowly .(?P<dropped>[0-9]+)"]);
    assert_eq!(notices.comment("you are reading too slowly (0)"), None);
    assert_eq!(notices.comment("you are reading too slowly (3)"), counted(3));
}

#[test]
fn a_users_expression_without_a_group_still_reads_the_count() {
    let notices = with(false, &["reading too slowly"]);
    assert_eq!(notices.comment("reading too slowly, dropped 10 messages"), counted(10));
    assert_eq!(notices.comment("reading too slowly, dropped 0 messages"), None);
    assert_eq!(notices.comment("reading too slowly"), UNCOUNTED);
    assert_eq!(notices.comment("lagged 5"), None);
}

#[test]
fn of_several_expressions_a_real_count_wins() {
    let notices = with(false, &["GAP", "GAP a=(?P<dropped>[0-9]+)", "GAP .*b=(?P<dropped>[0-9]+)"]);
    assert_eq!(notices.comment("GAP a=0 b=4"), counted(4));
    assert_eq!(notices.comment("GAP a=5 b=4"), counted(5));
    assert_eq!(notices.comment("GAP a=0"), None);
    assert_eq!(notices.comment("GAP"), UNCOUNTED);
}

#[test]
fn drop_events_give_their_count() {
    for kind in ["lagged", "overflow", "slow_consumer"] {
        assert_eq!(defaults().event(kind, "42"), counted(42));
        assert_eq!(defaults().event(kind, ""), UNCOUNTED);
    }
    for (data, count) in [
        (r#"{"dropped":7}"#, Some(7)),
        (r#"{"skipped":8,"count":99}"#, Some(8)),
        (r#"{"missed":9}"#, Some(9)),
        (r#"{"lagged":10}"#, Some(10)),
        (r#"{"count":"11"}"#, Some(11)),
        (r#"{"dropped":null,"skipped":3}"#, Some(3)),
        (r#"{"message":"dropped 12 messages"}"#, Some(12)),
        (r#"{"dropped":-1}"#, None),
        (r#"{"id":5}"#, None),
        ("lagged by 13", Some(13)),
        ("14 events were dropped", Some(14)),
        ("reconnect please", None),
    ] {
        assert_eq!(defaults().event("lagged", data), Some(Dropped { count }), "{data}");
    }
}

#[test]
fn a_drop_event_that_announces_zero_is_none() {
    for data in ["0", r#"{"dropped":0}"#, r#"{"dropped":0,"count":5}"#, "lagged 0 events"] {
        assert_eq!(defaults().event("lagged", data), None, "{data}");
    }
}

#[test]
fn only_named_types_are_drop_events() {
    assert_eq!(defaults().event("message", "lagged 5"), None);
    assert_eq!(defaults().event("Lagged", "5"), None);
    let own = DropNotices::new(false, &[]).with_events(["backlog".to_owned()]);
    assert_eq!(own.event("backlog", r#"{"dropped":2}"#), counted(2));
    assert_eq!(own.event("lagged", "2"), None);
}

#[test]
fn a_users_expression_reads_the_data_of_a_drop_event() {
    let notices = with(true, &["perdus=(?P<dropped>[0-9]+)"]);
    assert_eq!(notices.event("overflow", "perdus=21"), counted(21));
}

#[test]
fn reset_events_have_exact_names() {
    for kind in ["stream-reset", "resync", "resync_required", "reload_required"] {
        assert!(is_reset_event(kind));
    }
    assert!(!is_reset_event("reset"));
    assert!(!is_reset_event("Resync"));
}

/// A pattern that is not asked would not have matched: the words that it names are in every text that it matches.
#[test]
fn the_search_for_words_hides_no_match() {
    let data: Value = serde_json::from_str(include_str!("../../../tests/data/comments.json")).unwrap();
    let lists = ["drop_notices", "not_drop_notices"].map(|list| data[list].as_array().unwrap().clone());
    let recorded = lists.concat().into_iter().map(|text| text["text"].as_str().or(text.as_str()).unwrap().to_owned());
    let kin = COUNTED_KIN.iter().map(|(text, _)| *text).chain(UNCOUNTED_KIN.iter().copied()).map(str::to_owned);
    let strange = ["\u{17f}kipped 5 events", "s\u{212a}ipped 5 events", "\u{17f}low consumer", "LAGGED \u{212a}"];
    for text in recorded.chain(kin).chain(strange.map(str::to_owned)) {
        for text in [text.to_uppercase(), text.replace(' ', "_"), text] {
            let all = (counted_among(&text, Stems::ALL), plain(&text, Stems::ALL));
            let stems = Stems::of(&text);
            assert_eq!((counted_among(&text, stems), plain(&text, stems)), all, "{text:?}");
        }
    }
}

#[test]
fn a_heartbeat_has_none_of_the_words_that_a_pattern_is_compiled_for() {
    for text in ["", "heartbeat", "ping - 2020-12-22 15:33:27.123456", "keep-alive", "hb 12", "welcome", "comment"] {
        let stems = Stems::of(text);
        assert!(super::COUNTED.iter().chain(&super::PLAIN).all(|pattern| pattern.regex(stems).is_none()), "{text:?}");
    }
}

proptest::proptest! {
    #[test]
    fn the_search_for_words_hides_no_match_of_any_sentence(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..9)) {
        let text = words.join(" ");
        let all = (counted_among(&text, Stems::ALL), plain(&text, Stems::ALL));
        let stems = Stems::of(&text);
        proptest::prop_assert_eq!((counted_among(&text, stems), plain(&text, stems)), all);
    }
}

const WORDS: &[&str] = &[
    "dropped",
    "discarding",
    "skipped:",
    "lost",
    "missed",
    "shed",
    "omitted",
    "overwritten",
    "trimmed",
    "losing",
    "lagged",
    "lagging",
    "too",
    "far",
    "behind",
    "slow",
    "slowly",
    "reading",
    "client",
    "consumer",
    "cannot",
    "keep",
    "keeping",
    "up",
    "overflow",
    "buffer",
    "queue",
    "5",
    "12,000",
    "0",
    "messages",
    "events",
    "were",
    "because",
    "you",
    "are",
    "is",
    "by",
    "=",
    "(",
    ")",
    ":",
    ",",
    "of",
    "some",
    "the",
    "error",
    "at least",
    "have",
    "been",
    "events_lost=3",
    "SlowConsumer",
    "not",
];
