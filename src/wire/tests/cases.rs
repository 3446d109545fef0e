//! What each stream must say, written out by hand.

use super::*;
use crate::wire::Finish;

/// Checks the frames of a stream, at every split, and that its end cut nothing off.
#[track_caller]
fn says(bytes: impl AsRef<[u8]>, frames: &[Owned]) {
    let outcome = everywhere(bytes.as_ref(), Limits::default());
    assert_eq!(outcome.frames, frames);
    assert_eq!(outcome.finish, Finish::default());
    assert!(outcome.finish.is_clean());
}

/// Checks the frames of a stream whose end cuts something off.
#[track_caller]
fn is_cut_off(bytes: impl AsRef<[u8]>, frames: &[Owned], (block, line_bytes): (bool, u64)) {
    let finish = Finish { block, line_bytes };
    let outcome = everywhere(bytes.as_ref(), Limits::default());
    assert_eq!(outcome.frames, frames);
    assert_eq!(outcome.finish, finish);
    assert!(!finish.is_clean());
}

#[test]
fn the_standards_examples() {
    says(
        "data: This is the first message.\n\ndata: This is the second message, it\ndata: has two lines.\n\n\
         data: This is the third message.\n\n",
        &[
            message("This is the first message."),
            message("This is the second message, it\nhas two lines."),
            message("This is the third message."),
        ],
    );
    says(
        "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\nevent: add\ndata: 113411\n\n",
        &[
            event(None, "add", "73857293"),
            event(None, "remove", "2153"),
            event(None, "add", "113411"),
        ],
    );
    says(
        "data: YHOO\ndata: +2\ndata: 10\n\n",
        &[message("YHOO\n+2\n10")],
    );
    says(
        ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
        &[
            comment("test stream"),
            event(Some("1"), "message", "first event"),
            event(Some(""), "message", "second event"),
            message(" third event"),
        ],
    );
    is_cut_off(
        "data\n\ndata\ndata\n\ndata:",
        &[message(""), message("\n")],
        (true, 5),
    );
    says(
        "data:test\n\ndata: test\n\n",
        &[message("test"), message("test")],
    );
}

#[test]
fn odd_sse() {
    let bytes = include_bytes!("../../../tests/data/streams/odd.sse");
    let outcome = everywhere(bytes, Limits::default());
    let frames = [
        Owned::Retry(2500),
        id_only("a-1"),
        event(None, "open", "\"hello\""),
        comment("between"),
        comment("inside"),
        event(Some("20983986333097985-1"), "message", "first\nsecond\n"),
        message("no id of its own"),
        event(Some(""), "message", "id was reset"),
        event(None, "put", "{\"path\":\"/\"}"),
        message("cr only"),
        message("bad \u{FFFD} byte"),
    ];
    assert_eq!(outcome.frames, frames);
    assert_eq!(outcome.odd, 1);
    assert_eq!(
        outcome.finish,
        Finish {
            block: true,
            line_bytes: 24
        }
    );
}

/// Cuts a long stream after blank lines, to groups of a few KiB that can be run at every split.
fn groups(stream: &[u8]) -> Vec<&[u8]> {
    let mut groups = Vec::new();
    let mut rest = stream;
    while rest.len() > 1024 {
        let blank = |at: &usize| rest[..*at].ends_with(b"\n\n") || rest[..*at].ends_with(b"\n\r\n");
        let Some(end) = (1024..=rest.len()).find(blank) else {
            break;
        };
        groups.push(&rest[..end]);
        rest = &rest[end..];
    }
    groups.push(rest);
    groups
}

/// Returns what the stream says, after every group of it ran at every split and the whole in a few sizes of chunk.
fn recorded(stream: &[u8]) -> Vec<Owned> {
    let whole = reference::decode(stream, Limits::default());
    for size in [1, 2, 7, 1460, 16 * 1024, stream.len()] {
        assert!(
            decode(stream.chunks(size), Limits::default()) == whole,
            "in chunks of {size}"
        );
    }
    let parts: Vec<Owned> = groups(stream)
        .into_iter()
        .flat_map(|group| everywhere(group, Limits::default()).frames)
        .collect();
    assert!(
        parts == whole.frames,
        "the groups together say what the whole says"
    );
    parts
}

fn events(frames: &[Owned]) -> Vec<&Owned> {
    frames
        .iter()
        .filter(|frame| matches!(frame, Owned::Event { .. }))
        .collect()
}

#[test]
fn recorded_broker() {
    let frames = recorded(include_bytes!("../../../tests/data/streams/broker.sse"));
    assert_eq!(frames[0], comment("welcome to the broker events"));
    let notice =
        |frame: &&Owned| matches!(frame, Owned::Comment { text, .. } if text.contains("dropped"));
    assert_eq!(frames.iter().filter(notice).count(), 1);
    let with_id = |frame: &&Owned| matches!(frame, Owned::Event { id: Some(_), .. });
    assert_eq!(frames.iter().filter(with_id).count(), events(&frames).len());
}

#[test]
fn recorded_recentchange() {
    let stream = include_bytes!("../../../tests/data/streams/recentchange.sse");
    let frames = recorded(stream);
    let data_lines = stream
        .split(|&byte| byte == b'\n')
        .filter(|line| line.starts_with(b"data:"))
        .count();
    assert_eq!(events(&frames).len(), data_lines);
}

#[test]
fn recorded_tokens() {
    let frames = recorded(include_bytes!("../../../tests/data/streams/tokens.sse"));
    assert_eq!(frames[0], comment("OPENROUTER PROCESSING"));
    assert_eq!(events(&frames).last(), Some(&&message("[DONE]")));
}

#[test]
fn line_ends_of_every_kind() {
    for end in ["\n", "\r", "\r\n"] {
        let stream = format!("id: 1{end}data: a{end}data: b{end}{end}: c{end}data: d{end}{end}");
        says(
            &stream,
            &[
                event(Some("1"), "message", "a\nb"),
                comment("c"),
                message("d"),
            ],
        );
    }
    says(
        "data: a\r\n\ndata: b\n\r\ndata: c\r\r\ndata: d\n\r",
        &[message("a"), message("b"), message("c"), message("d")],
    );
    says("\n\r\r\n\n\r", &[]);
    says(
        "data: a\n\r\ndata: b\r\n\r\n",
        &[message("a"), message("b")],
    );
}

#[test]
fn a_cr_ends_its_line_at_once() {
    let mut decoder = Decoder::new(Limits::default());
    assert_eq!(feed(&mut decoder, b"data: now\r\r"), [message("now")]);
    assert_eq!(feed(&mut decoder, b""), []);
    assert_eq!(
        feed(&mut decoder, b"\ndata: a\r"),
        [],
        "the LF belongs to the CR before it"
    );
    assert_eq!(
        feed(&mut decoder, b"\n"),
        [],
        "so does this one: the block has not ended"
    );
    assert_eq!(feed(&mut decoder, b"\n"), [message("a")]);
    assert_eq!(feed(&mut decoder, b": ping\r"), [comment("ping")]);
    assert!(decoder.finish().is_clean());
}

#[test]
fn names_and_values() {
    says(
        "data:x\ndata: x\ndata:  x\ndata:\tx\n\n",
        &[message("x\nx\n x\n\tx")],
    );
    says("data: a: b:c\n\n", &[message("a: b:c")]);
    says("data:\ndata: \ndata\n\n", &[message("\n\n")]);
    says(
        "Data: x\nDATA: x\ndata : x\n data: x\ndatum: x\ndat: x\ndata\0: x\ndatax\nd\n\n",
        &[],
    );
    says(
        "event: a\nevent: b\ndata: x\n\ndata: y\n\n",
        &[event(None, "b", "x"), message("y")],
    );
    says(
        "event: a\nevent\ndata: x\n\nevent: message\ndata: y\n\n",
        &[message("x"), message("y")],
    );
    says("event:  \ndata: x\n\n", &[event(None, " ", "x")]);
    says("event: gone\n\ndata: x\n\n", &[message("x")]);
    says(
        "eventual: x\nidea: x\nretry-after: 5\ni: x\nevents\ndata: x\n\n",
        &[message("x")],
    );
}

#[test]
fn ids() {
    says(
        "id: 1\nid: 2\ndata: x\n\ndata: y\n\n",
        &[event(Some("2"), "message", "x"), message("y")],
    );
    says(
        "id: 1\nid: b\0d\ndata: x\n\n",
        &[event(Some("1"), "message", "x")],
    );
    says("id: \0\ndata: x\n\nid: \0\n\n", &[message("x")]);
    says(
        "id:\n\nid: 3\nevent: e\n\nid\n\n",
        &[id_only(""), id_only("3"), id_only("")],
    );
    says("id: 3\n: c\nid: 4\n\n", &[comment("c"), id_only("4")]);
    says("id:  4 \ndata\n\n", &[event(Some(" 4 "), "message", "")]);
}

#[test]
fn retries() {
    says("retry: 10\n", &[Owned::Retry(10)]);
    says(
        "data: x\nretry:0\nretry: 007\n\n",
        &[Owned::Retry(0), Owned::Retry(7), message("x")],
    );
    says(
        "retry\nretry:\nretry: \nretry: +5\nretry: -5\nretry: 5 \nretry:  5\nretry: 1.5\nretry: 1e3\nretry: ٣\n",
        &[],
    );
    says(
        "retry: 18446744073709551615\nretry: 18446744073709551616\n",
        &[Owned::Retry(u64::MAX), Owned::Retry(u64::MAX)],
    );
    says(
        format!("retry: {}\n", "9".repeat(60)),
        &[Owned::Retry(u64::MAX)],
    );
    says(format!("retry: {}5\n", "0".repeat(60)), &[Owned::Retry(5)]);
}

#[test]
fn comments_come_when_their_line_ends() {
    says(
        ":\n: \n:a\n: a\n:  a\n:: a\n",
        &["", "", "a", "a", " a", ": a"].map(comment),
    );
    says(
        "data: x\n: dropped 5 messages\n\n",
        &[comment("dropped 5 messages"), message("x")],
    );
    let mut decoder = Decoder::new(Limits::default());
    assert_eq!(feed(&mut decoder, b"data: x\n: now\nda"), [comment("now")]);
    assert_eq!(feed(&mut decoder, b"ta: y\n\n"), [message("x\ny")]);
}

#[test]
fn byte_order_mark() {
    const MARK: &str = "\u{FEFF}";
    says(format!("{MARK}data: x\n\n"), &[message("x")]);
    says(format!("{MARK}{MARK}data: x\n\n"), &[]);
    says(format!("\n{MARK}data: x\n\ndata: y\n\n"), &[message("y")]);
    says(format!("{MARK}\ndata: {MARK}\n\n"), &[message(MARK)]);
    says(b"\xEF\xBBdata: x\n\n", &[]);
    says(b"\xEF\n\xEF\xBB\rdata: x\n\n", &[message("x")]);
    is_cut_off(b"\xEF\xBB", &[], (false, 2));
    says(MARK, &[]);
}

#[test]
fn bytes_that_are_not_utf8() {
    let outcome = everywhere(
        b"data: \xFF\xE2\x82\ndata: \xE2\x82\xACz\xC0\x80\n: \xED\xA0\x80\n\n",
        Limits::default(),
    );
    let frames = [
        comment("\u{FFFD}\u{FFFD}\u{FFFD}"),
        message("\u{FFFD}\u{FFFD}\n€z\u{FFFD}\u{FFFD}"),
    ];
    assert_eq!(outcome.frames, frames);
    assert_eq!(outcome.odd, 7);

    let outcome = everywhere(
        b"id: \xFF1\nevent: \xFE\ndata: \xEF\xBF\xBD\n\nid: \x80\n\nskipped: \xFF\n",
        Limits::default(),
    );
    assert_eq!(
        outcome.frames,
        [
            event(Some("\u{FFFD}1"), "\u{FFFD}", "\u{FFFD}"),
            id_only("\u{FFFD}")
        ]
    );
    assert_eq!(
        outcome.odd, 3,
        "a replacement character that was sent is not odd, a line that is skipped not seen"
    );
}

#[test]
fn the_end_cuts_off() {
    is_cut_off("id: 1\ndata: x", &[], (true, 7));
    is_cut_off("id: 1\ndata: x\n", &[], (true, 0));
    is_cut_off("id: 1\n", &[], (true, 0));
    is_cut_off("event: e\n", &[], (true, 0));
    is_cut_off("data: x\n\nid:", &[message("x")], (true, 3));
    is_cut_off("data: x\n\nid", &[message("x")], (false, 2));
    is_cut_off(": ping\n: pi", &[comment("ping")], (false, 4));
    is_cut_off("retry: 5", &[], (false, 8));
    is_cut_off("unknown: 5", &[], (false, 10));
    says(
        "unknown: 5\n: c\nretry: 1\n",
        &[comment("c"), Owned::Retry(1)],
    );
    says("", &[]);
}

#[test]
fn a_decoder_is_used_again() {
    let mut decoder = Decoder::new(Limits::default());
    assert_eq!(
        feed(&mut decoder, b"id: 1\nevent: e\ndata: x\ndata: \xFF\r"),
        []
    );
    assert_eq!(
        decoder.finish(),
        Finish {
            block: true,
            line_bytes: 0
        }
    );
    assert_eq!(
        feed(&mut decoder, b"\ndata: \xFF\n\nda"),
        [message("\u{FFFD}")],
        "nothing is left of the first stream"
    );
    assert_eq!(
        decoder.finish(),
        Finish {
            block: false,
            line_bytes: 2
        }
    );
    assert_eq!(
        feed(&mut decoder, "\u{FEFF}ta: x\ndata: y\n\n".as_bytes()),
        [message("y")]
    );
    assert!(decoder.finish().is_clean());
    assert_eq!(decoder.odd_bytes(), 1);
}

#[test]
fn a_chunk_given_up_ends_its_connection() {
    let mut decoder = Decoder::new(Limits::default());
    assert_eq!(feed(&mut decoder, b"id: 1\ndata: x\ndata: y\n"), []);
    assert!(decoder.feed(b"\ndata: lost\n\ndata: lost").next().is_some());
    assert_eq!(feed(&mut decoder, b"\ndata: new\n\n"), [message("new")]);
}
