//! What a stream is put through: this decoder, those of the two crates that are used most, and two lower bounds.

use std::convert::Infallible;
use std::fmt;
use std::hint::black_box;

use eventsource_stream::Eventsource;
use futures_util::{FutureExt, Stream, StreamExt, stream};
use sse_stream::SseByteStream;
use ssectl::wire::{Decoder, Frame, Limits};

use super::shapes::Shape;

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// `ssectl::wire`.
    Ssectl,
    /// The crate `sse-stream`, which passes over comments.
    SseStream,
    /// The crate `eventsource-stream`, which does too.
    EventsourceStream,
    /// Looks for line feeds and does nothing with them.
    Memchr,
    /// Copies.
    Memcpy,
}

impl Contender {
    /// In the order of the tables.
    pub const ALL: [Self; 5] = [Self::Ssectl, Self::SseStream, Self::EventsourceStream, Self::Memchr, Self::Memcpy];

    /// Whether it comes to an end in reasonable time. `eventsource-stream` reads an unfinished line anew at every chunk,
    /// and both crates give up at the first byte that is not UTF-8.
    pub fn can_read(self, shape: &str) -> bool {
        match self {
            Self::SseStream => shape != "hostile drip",
            Self::EventsourceStream => !["hostile drip", "64 MiB line", "1 MiB lines"].contains(&shape),
            _ => true,
        }
    }

    /// Reads all of it; gives something that depends on what was read.
    pub fn read(self, shape: &Shape) -> usize {
        match self {
            Self::Ssectl => ssectl(shape),
            Self::SseStream => sse_stream(shape),
            Self::EventsourceStream => eventsource_stream(shape),
            Self::Memchr => {
                shape.chunks().map(|chunk| memchr::memchr_iter(b'\n', chunk).fold(0, |sum, at| sum ^ at)).sum()
            }
            Self::Memcpy => memcpy(shape),
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ssectl => "ssectl",
            Self::SseStream => "sse-stream",
            Self::EventsourceStream => "eventsource-stream",
            Self::Memchr => "memchr scan",
            Self::Memcpy => "memcpy",
        })
    }
}

fn ssectl(shape: &Shape) -> usize {
    let mut decoder = Decoder::new(Limits::default());
    let mut seen = 0;
    for chunk in shape.chunks() {
        let mut frames = decoder.feed(chunk);
        while let Some(frame) = frames.next() {
            seen += match frame {
                Frame::Event(event) => event.data.len(),
                Frame::Comment { text, .. } => text.len(),
                _ => 1,
            };
        }
    }
    seen
}

fn chunks(shape: &Shape) -> impl Stream<Item = Result<&[u8], Infallible>> {
    stream::iter(shape.chunks().map(Ok))
}

fn sse_stream(shape: &Shape) -> usize {
    let mut events = SseByteStream::new(chunks(shape));
    let mut seen = 0;
    while let Some(event) = events.next().now_or_never().flatten() {
        seen += event.map_or(0, |event| event.data.map_or(0, |data| data.len()));
    }
    seen
}

fn eventsource_stream(shape: &Shape) -> usize {
    let mut events = chunks(shape).eventsource();
    let mut seen = 0;
    while let Some(event) = events.next().now_or_never().flatten() {
        seen += event.map_or(0, |event| event.data.len());
    }
    seen
}

fn memcpy(shape: &Shape) -> usize {
    let mut copy = Vec::new();
    for chunk in shape.chunks() {
        copy.clear();
        copy.extend_from_slice(black_box(chunk));
        black_box(&copy);
    }
    copy.len()
}
