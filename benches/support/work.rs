//! Pieces of work of this program itself: decoding, and writing records.

use std::fmt;

use ssectl::consumer::delivery::EventRecord;
use ssectl::consumer::id::StreamName;
use ssectl::consumer::ports::Format;
use ssectl::consumer::time::Timestamp;
use ssectl::output::format::{FormatKind, FormatOptions, Formatter};
use ssectl::wire::{Decoder, Frame, Limits};

use super::shapes::{self, Shape};

/// A batch is handed on at this size, as the driver does it.
const BATCH_BYTES: usize = 256 << 10;

/// What is done with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Decodes it.
    Decode(&'static str),
    /// Decodes it and writes its events; the first is the value of `-o`, or `json --json-data`.
    Write(&'static str, &'static str),
}

/// Formats that are measured, each on a few shapes.
pub const FORMATS: [&str; 6] = ["json", "json --json-data", "data", "raw", "pretty", "{id} {data}"];

/// Shapes that records are written of.
pub const WRITTEN: [&str; 4] = ["small events", "1.3 KB JSON", "20-line events", "multi-byte text"];

impl Work {
    /// All of it.
    pub fn all() -> impl Iterator<Item = Self> {
        let written = FORMATS.into_iter().flat_map(|format| WRITTEN.map(|shape| Self::Write(format, shape)));
        // The drip and the huge line are about time and memory, not about instructions.
        let decoded = shapes::NAMES.into_iter().filter(|name| *name != "64 MiB line");
        decoded.map(Self::Decode).chain(written)
    }

    /// What it is done with.
    pub fn shape(self) -> &'static str {
        match self {
            Self::Decode(shape) | Self::Write(_, shape) => shape,
        }
    }

    /// Makes what is needed for it.
    pub fn begin(self) -> Ready {
        let formatter = match self {
            Self::Decode(_) => None,
            Self::Write(format, _) => Some(formatter(format)),
        };
        Ready { decoder: Decoder::new(Limits::default()), formatter, batch: Vec::new() }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(shape) => write!(f, "decode {shape}"),
            Self::Write(format, shape) => write!(f, "write {format} {shape}"),
        }
    }
}

fn formatter(format: &str) -> Formatter {
    let json_data = format.ends_with("--json-data");
    let kind = FormatKind::parse(format.split(" --").next().unwrap_or_default()).expect("the formats are valid");
    let stream = StreamName::new("bench").expect("the name is valid");
    Formatter::new(FormatOptions { json_data, ..FormatOptions::new(kind, stream) })
}

/// Work that can be done again and again, as one process does it.
pub struct Ready {
    decoder: Decoder,
    formatter: Option<Formatter>,
    batch: Vec<u8>,
}

impl Ready {
    /// Does it; gives something that depends on all of the stream.
    pub fn run(&mut self, shape: &Shape) -> usize {
        let mut seen = 0;
        for (number, chunk) in (0..).zip(shape.chunks()) {
            let time = Timestamp(1_796_071_266_000_000 + number * 137);
            let mut frames = self.decoder.feed(chunk);
            while let Some(frame) = frames.next() {
                let Frame::Event(event) = frame else {
                    seen += 1;
                    continue;
                };
                seen += event.data.len();
                let Some(formatter) = &mut self.formatter else { continue };
                if self.batch.len() > BATCH_BYTES {
                    self.batch.clear();
                }
                let (id, event, data) = (event.id, event.event, event.data);
                formatter.event(&mut self.batch, &EventRecord { id, own_id: id, event, data, time, replayed: false });
            }
        }
        self.decoder.finish();
        seen + self.batch.len()
    }
}
