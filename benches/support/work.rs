//! Pieces of work of this program itself: decoding, deciding, and writing records.

use std::fmt;

use ssectl::consumer::delivery::EventRecord;
use ssectl::consumer::id::StreamName;
use ssectl::consumer::machine::{Consumer, Start};
use ssectl::consumer::options::{Follow, Options};
use ssectl::consumer::policy::{Incoming, Policy};
use ssectl::consumer::ports::Format;
use ssectl::consumer::record::{Commit, Record};
use ssectl::consumer::time::Timestamp;
use ssectl::output::format::{FormatKind, FormatOptions, Formatter};
use ssectl::wire::{Decoder, Frame, Limits};

use super::shapes::{self, Shape};

/// A batch is handed on at this size, as the driver does it.
const BATCH_BYTES: usize = 256 << 10;

/// When everything happens.
const START: i64 = 1_796_071_266_000_000;

/// What is done with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Decodes it.
    Decode(&'static str),
    /// Decodes it and asks the policy of `resume` what is to be done with each event; takes a commit a chunk.
    Follow(&'static str),
    /// Decodes it and writes its events; the first is the value of `-o`, or `json --json-data`.
    Write(&'static str, &'static str),
}

/// Formats that are measured, each on a few shapes.
pub const FORMATS: [&str; 6] = ["json", "json --json-data", "data", "raw", "pretty", "{id} {data}"];

/// Shapes that are followed, and that records are written of.
pub const WRITTEN: [&str; 4] = ["small events", "1.3 KB JSON", "20-line events", "multi-byte text"];

impl Work {
    /// All of it.
    pub fn all() -> impl Iterator<Item = Self> {
        let written = FORMATS.into_iter().flat_map(|format| WRITTEN.map(|shape| Self::Write(format, shape)));
        // The huge line is about time and memory, not about instructions.
        let decoded = shapes::NAMES.into_iter().filter(|name| *name != "64 MiB line");
        decoded.map(Self::Decode).chain(WRITTEN.map(Self::Follow)).chain(written)
    }

    /// What it is done with.
    pub fn shape(self) -> &'static str {
        match self {
            Self::Decode(shape) | Self::Follow(shape) | Self::Write(_, shape) => shape,
        }
    }

    /// Makes what is needed for it.
    pub fn begin(self) -> Ready {
        let (mut formatter, mut policy) = (None, None);
        match self {
            Self::Decode(_) => {}
            Self::Follow(_) => policy = Some(consumer()),
            Self::Write(format, _) => formatter = Some(self::formatter(format)),
        }
        Ready { decoder: Decoder::new(Limits::default()), policy, formatter, batch: Vec::new(), commit: None }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(shape) => write!(f, "decode {shape}"),
            Self::Follow(shape) => write!(f, "follow {shape}"),
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

/// A policy on its first connection.
fn consumer() -> Consumer {
    let start = Start { record: Record::default(), last_gap_number: 0, key_seed: &[7; 32] };
    let now = Timestamp(START);
    let mut consumer = Consumer::new(Options::new(Follow::Resume), start, now);
    consumer.plan(now);
    consumer.connected(Vec::new(), now);
    consumer
}

/// Work that can be done again and again, as one process does it.
pub struct Ready {
    decoder: Decoder,
    policy: Option<Consumer>,
    formatter: Option<Formatter>,
    batch: Vec<u8>,
    /// The last one.
    pub commit: Option<Commit>,
}

impl Ready {
    /// Does it; gives something that depends on all of the stream.
    pub fn run(&mut self, shape: &Shape) -> usize {
        let mut seen = 0;
        for (number, chunk) in (0..).zip(shape.chunks()) {
            let time = Timestamp(START + number * 137);
            let mut frames = self.decoder.feed(chunk);
            while let Some(frame) = frames.next() {
                let Frame::Event(event) = frame else {
                    seen += 1;
                    continue;
                };
                seen += event.data.len();
                if let Some(policy) = &mut self.policy {
                    let step = policy.event(&Incoming { id: event.id, event: event.event, data: event.data }, time);
                    std::hint::black_box(step);
                }
                if let Some(formatter) = &mut self.formatter {
                    if self.batch.len() > BATCH_BYTES {
                        self.batch.clear();
                    }
                    let (id, event, data) = (event.id, event.event, event.data);
                    let record = EventRecord { id, own_id: id, event, data, time, replayed: false };
                    formatter.event(&mut self.batch, &record);
                }
            }
            if let Some(policy) = &mut self.policy {
                self.commit = policy.take_commit(time);
            }
        }
        self.decoder.finish();
        seen + self.batch.len()
    }
}
