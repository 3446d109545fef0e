//! Tests of the wire floor. Every case runs whole, byte by byte, and cut in two at every place.

mod cases;
mod differential;
mod encode;
mod limits;

use super::reference::{self, Outcome, Owned};
use super::{Decoder, Frame, Limits};

impl From<Frame<'_>> for Owned {
    fn from(frame: Frame<'_>) -> Self {
        match frame {
            Frame::Event(event) => Self::Event {
                id: event.id.map(str::to_owned),
                event: event.event.to_owned(),
                data: event.data.to_owned(),
            },
            Frame::Comment { text, truncated } => Self::Comment {
                text: text.to_owned(),
                truncated,
            },
            Frame::Retry(millis) => Self::Retry(millis),
            Frame::IdOnly(id) => Self::IdOnly(id.to_owned()),
            Frame::TooLarge { limit } => Self::TooLarge { limit },
        }
    }
}

/// Feeds one chunk and gives its frames.
fn feed(decoder: &mut Decoder, chunk: &[u8]) -> Vec<Owned> {
    let mut owned = Vec::new();
    let mut frames = decoder.feed(chunk);
    while let Some(frame) = frames.next() {
        owned.push(frame.into());
    }
    assert!(
        frames.next().is_none(),
        "a chunk that is used up gives nothing more"
    );
    owned
}

/// What a new decoder says of a stream that comes in these chunks.
fn decode<'c>(chunks: impl IntoIterator<Item = &'c [u8]>, limits: Limits) -> Outcome {
    let mut decoder = Decoder::new(limits);
    let frames = chunks
        .into_iter()
        .flat_map(|chunk| feed(&mut decoder, chunk))
        .collect();
    Outcome {
        frames,
        finish: decoder.finish(),
        odd: decoder.odd_bytes(),
    }
}

/// Runs a stream whole, byte by byte, and cut in two at every place; all must say what the reference says.
fn everywhere(bytes: &[u8], limits: Limits) -> Outcome {
    let expected = reference::decode(bytes, limits);
    let shown = String::from_utf8_lossy(bytes);
    assert_eq!(decode([bytes], limits), expected, "whole: {shown:?}");
    assert_eq!(
        decode(bytes.chunks(1), limits),
        expected,
        "byte by byte: {shown:?}"
    );
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(
            decode([head, &[], tail], limits),
            expected,
            "cut at {at}: {shown:?}"
        );
    }
    expected
}

fn event(id: Option<&str>, event: &str, data: &str) -> Owned {
    Owned::Event {
        id: id.map(str::to_owned),
        event: event.to_owned(),
        data: data.to_owned(),
    }
}

/// An event of the default type without an id.
fn message(data: &str) -> Owned {
    event(None, "message", data)
}

fn comment(text: &str) -> Owned {
    Owned::Comment {
        text: text.to_owned(),
        truncated: false,
    }
}

fn id_only(id: &str) -> Owned {
    Owned::IdOnly(id.to_owned())
}
