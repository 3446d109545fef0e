//! What is encoded and decoded again is what it was.

use proptest::prelude::*;

use super::differential::{config, stream};
use super::*;
use crate::wire::{Event, encode};

fn append(out: &mut Vec<u8>, frame: &Owned) {
    match frame {
        Owned::Event { id, event, data } => encode::event(
            out,
            &Event {
                id: id.as_deref(),
                event,
                data,
            },
        ),
        Owned::Comment { text, .. } => encode::comment(out, text),
        Owned::Retry(millis) => encode::retry(out, *millis),
        Owned::IdOnly(id) => encode::id_only(out, id),
        Owned::TooLarge { .. } => panic!("not to be encoded"),
    }
}

fn encoded(frames: &[Owned]) -> Vec<u8> {
    let mut out = Vec::new();
    frames.iter().for_each(|frame| append(&mut out, frame));
    out
}

#[track_caller]
fn gives(frame: &Owned, bytes: &str, decoded: &[Owned]) {
    let out = encoded(std::slice::from_ref(frame));
    assert_eq!(String::from_utf8_lossy(&out), bytes);
    let outcome = everywhere(&out, Limits::default());
    assert_eq!(outcome.frames, decoded);
    assert!(outcome.finish.is_clean());
}

#[test]
fn plain_frames() {
    let same = |frame: Owned, bytes| gives(&frame, bytes, std::slice::from_ref(&frame));
    same(
        event(Some("7"), "add", "x"),
        "id: 7\nevent: add\ndata: x\n\n",
    );
    same(
        message(" two\n\n lines\n"),
        "data:  two\ndata:\ndata:  lines\ndata:\n\n",
    );
    same(event(Some(""), "message", ""), "id:\ndata:\n\n");
    same(
        event(Some(" 1"), " e", ":"),
        "id:  1\nevent:  e\ndata: :\n\n",
    );
    same(comment("dropped 5"), ": dropped 5\n\n");
    same(comment(""), ":\n\n");
    same(Owned::Retry(u64::MAX), "retry: 18446744073709551615\n\n");
    same(id_only("9"), "id: 9\n\n");
    same(id_only(""), "id:\n\n");
}

#[test]
fn text_that_a_stream_cannot_carry_makes_no_fields() {
    gives(
        &message("a\rb\r\nc\n\rd\r"),
        "data: a\ndata: b\ndata: c\ndata:\ndata: d\ndata:\n\n",
        &[message("a\nb\nc\n\nd\n")],
    );
    gives(
        &event(None, "a\ndata: b\rc", "x"),
        "event: a data: b c\ndata: x\n\n",
        &[event(None, "a data: b c", "x")],
    );
    gives(&event(None, "", "x"), "data: x\n\n", &[message("x")]);
    gives(
        &comment("a\ndata: b\n\nc"),
        ": a\n: data: b\n:\n: c\n\n",
        &["a", "data: b", "", "c"].map(comment),
    );
    for id in ["1\ndata: x", "1\r", "1\0"] {
        assert!(!encode::can_carry_id(id));
        gives(
            &event(Some(id), "message", "x"),
            "data: x\n\n",
            &[message("x")],
        );
        gives(&id_only(id), "", &[]);
    }
    assert!(encode::can_carry_id("1\t€"));
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[ -~]{0,12}", 1 => "[^\r\n\0]{0,8}", 1 => Just("\u{FEFF}".to_owned())]
}

/// A frame as a decoder could have given it.
fn frame() -> impl Strategy<Value = Owned> {
    let data = prop::collection::vec(text(), 1..4).prop_map(|lines| lines.join("\n"));
    let kind = text().prop_map(|event| {
        if event.is_empty() {
            "message".to_owned()
        } else {
            event
        }
    });
    prop_oneof![
        4 => (prop::option::of(text()), kind, data).prop_map(|(id, event, data)| Owned::Event { id, event, data }),
        1 => text().prop_map(|text| Owned::Comment { text, truncated: false }),
        1 => any::<u64>().prop_map(Owned::Retry),
        1 => text().prop_map(Owned::IdOnly),
    ]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn frames_come_back(frames in prop::collection::vec(frame(), 0..8), size in 1usize..40) {
        let outcome = decode(encoded(&frames).chunks(size), Limits::default());
        prop_assert_eq!(outcome.frames, frames);
        prop_assert!(outcome.finish.is_clean());
        prop_assert_eq!(outcome.odd, 0);
    }

    #[test]
    fn whatever_was_decoded_can_be_sent_on(bytes in stream()) {
        let frames = decode([bytes.as_slice()], Limits::default()).frames;
        prop_assert_eq!(decode([encoded(&frames).as_slice()], Limits::default()).frames, frames);
    }

    #[test]
    fn any_text_at_all_stays_one_event(
        id in prop::option::of(any::<String>()),
        kind in "[\0-~]{0,12}",
        data in "[\0-~]{0,24}",
    ) {
        let mut out = Vec::new();
        encode::event(&mut out, &Event { id: id.as_deref(), event: &kind, data: &data });
        let frames = decode([out.as_slice()], Limits::default()).frames;
        let lines = data.replace("\r\n", "\n").replace('\r', "\n");
        prop_assert!(
            matches!(frames.as_slice(), [Owned::Event { data, .. }] if *data == lines),
            "{:?}", frames
        );
    }
}
