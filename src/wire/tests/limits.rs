//! Limits, and the promises on work and memory.

use super::*;
use crate::wire::Finish;

const SMALL: Limits = Limits {
    event_bytes_max: 10,
    comment_bytes_max: 4,
};
const TOO_LARGE: Owned = Owned::TooLarge { limit: 10 };

#[test]
fn an_event_may_be_full_to_the_last_byte() {
    let cases: &[(&str, bool)] = &[
        ("data: 0123456789\n\n", true),
        ("data: 0123456789a\n\n", false),
        ("data: 0123\ndata: 56789\n\n", true),
        ("data: 0123\ndata: 56789a\n\n", false),
        (
            "data: 0123456789\nunknown: 1234567890\nretry: 5x\n: c\n\n",
            true,
        ),
        ("data: 0123456789\ndata\n\n", false),
        ("data: 012345678\ndata:\n\n", true),
        ("id: 12\nevent: 123\ndata: 12345\n\n", true),
        ("id: 12\nevent: 123\ndata: 123456\n\n", false),
        ("data: 12345\nid: 12\nevent: 1234\n\n", false),
        ("id: 12345678901\n\n", false),
        ("event: 12345678901\n\n", false),
        ("id: 123456\nid: 12345\n\n", false),
        ("data: 0123456789\n\ndata: 0123456789\n\n", true),
    ];
    for &(stream, fits) in cases {
        let frames = everywhere(stream.as_bytes(), SMALL).frames;
        assert_eq!(!frames.contains(&TOO_LARGE), fits, "{stream:?}");
    }
}

#[test]
fn after_a_block_too_large_nothing_comes() {
    let outcome = everywhere(
        b"data: a\n\n: c\ndata: 0123456789a\n\ndata: b\n\n: c\n",
        SMALL,
    );
    assert_eq!(outcome.frames, [message("a"), comment("c"), TOO_LARGE]);
    assert_eq!(
        outcome.finish,
        Finish {
            block: true,
            line_bytes: 0
        }
    );

    let mut decoder = Decoder::new(SMALL);
    assert_eq!(
        feed(&mut decoder, b"data: 0123456789a"),
        [TOO_LARGE],
        "said before the line ends"
    );
    assert_eq!(feed(&mut decoder, b"\n\ndata: b\n\n"), []);
    assert!(decoder.finish().block);
    assert_eq!(feed(&mut decoder, b"data: b\n\n"), [message("b")]);
}

#[test]
fn a_long_comment_is_cut_at_a_whole_character() {
    let cut = |text: &str| Owned::Comment {
        text: text.to_owned(),
        truncated: true,
    };
    assert_eq!(
        everywhere(b": 1234\n: 12345\n:12345678\n", SMALL).frames,
        [comment("1234"), cut("1234"), cut("1234")]
    );
    assert_eq!(
        everywhere(": 123€\n: 12€4\n: 1€\n".as_bytes(), SMALL).frames,
        [cut("123"), cut("12"), comment("1€")]
    );
    let outcome = everywhere(b": 123\xE25\n: 123\xFF5\n", SMALL);
    assert_eq!(outcome.frames, [cut("123"), cut("123\u{FFFD}")]);
    assert_eq!(outcome.odd, 1);
    let none = Limits {
        comment_bytes_max: 0,
        ..SMALL
    };
    assert_eq!(
        everywhere(b":\n: \n: a\n", none).frames,
        [comment(""), comment(""), cut("")]
    );
}

#[test]
fn what_is_skipped_is_not_held() {
    let mut decoder = Decoder::new(SMALL);
    let chunk = [b'x'; 4096];
    for line in [&b"unknown: "[..], b"nocolon", b": ", b"retry: "] {
        assert_eq!(feed(&mut decoder, line), []);
        for _ in 0..256 {
            assert_eq!(feed(&mut decoder, &chunk), []);
        }
        assert!(
            decoder.held_capacity_bytes() < 64,
            "a line that starts {line:?} is not held"
        );
        feed(&mut decoder, b"\n");
    }
    assert!(decoder.finish().is_clean());
}

#[test]
fn an_endless_data_line_is_held_up_to_the_limit() {
    let limits = Limits {
        event_bytes_max: 1 << 20,
        comment_bytes_max: 64,
    };
    let mut decoder = Decoder::new(limits);
    assert_eq!(feed(&mut decoder, b"data: "), []);
    let mut frames = Vec::new();
    for _ in 0..1024 {
        frames.extend(feed(&mut decoder, &[b'x'; 4096]));
    }
    assert_eq!(frames, [Owned::TooLarge { limit: 1 << 20 }]);
    assert!(
        decoder.held_capacity_bytes() <= 2 << 20,
        "a vector's spare room, but no second copy"
    );
}

#[test]
fn every_byte_is_searched_once() {
    let long = [b"data: ".as_slice(), &vec![b'x'; 100_000], b"\n\n"].concat();
    let many = b"id: 1\ndata: x\r\n: c\r\n\r\n".repeat(5_000);
    for stream in [long, many] {
        for size in [1, 100, 1460, stream.len()] {
            let mut decoder = Decoder::new(Limits::default());
            for chunk in stream.chunks(size) {
                feed(&mut decoder, chunk);
            }
            assert!(
                decoder.searched_bytes <= stream.len(),
                "{} bytes in chunks of {size}",
                stream.len()
            );
        }
    }
}

#[test]
fn an_event_whole_in_a_chunk_is_lent_from_it() {
    let chunk = b"id: 77\nevent: add\ndata: borrowed\n\n: comment\n\nid: 78\n\n";
    let lent = |text: &str| chunk.as_ptr_range().contains(&text.as_ptr());
    let mut decoder = Decoder::new(Limits::default());
    let mut frames = decoder.feed(chunk);
    match frames.next() {
        Some(Frame::Event(event)) => {
            assert!(lent(event.data) && lent(event.event) && event.id.is_some_and(lent))
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(frames.next(), Some(Frame::Comment { text, .. }) if lent(text)));
    assert!(matches!(frames.next(), Some(Frame::IdOnly(id)) if lent(id)));
    assert_eq!(decoder.held_capacity_bytes(), 0, "nothing was copied");
}

#[test]
fn buffers_are_used_again_and_huge_ones_given_back() {
    let stream =
        b"id: 12345\nevent: trade\ndata: some data\ndata: and some more\n: comment\n\n".repeat(3);
    let mut decoder = Decoder::new(Limits::default());
    let round = |decoder: &mut Decoder| {
        for chunk in stream.chunks(7) {
            feed(decoder, chunk);
        }
        decoder.held_capacity_bytes()
    };
    let held = round(&mut decoder);
    for _ in 0..10 {
        assert_eq!(round(&mut decoder), held);
    }
    feed(
        &mut decoder,
        &[b"data: ".as_slice(), &vec![b'x'; 8 << 20]].concat(),
    );
    assert!(decoder.held_capacity_bytes() >= 8 << 20);
    decoder.finish();
    assert!(decoder.held_capacity_bytes() < 2 << 20);
}
