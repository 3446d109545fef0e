//! What one reader saw: frames with the time at which they came.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::json;
use super::lint::Lint;
use crate::consumer::compare::compare;
use crate::consumer::time::Timestamp;
use crate::wire::{Decoder, Frame, Limits};

/// How many frames are kept of one reader; more are counted only. Some 100 bytes each.
const FRAMES_MAX: usize = 400_000;
/// How many pieces of the body are kept.
const CHUNKS_MAX: usize = 100_000;
/// How many places in the data are followed as possible ids.
const TRACKS_MAX: usize = 64;

/// An event as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When its last byte came.
    pub at: Timestamp,
    /// Which connection of the reader it came on, from 0.
    pub connection: u32,
    /// Its type.
    pub event: Arc<str>,
    /// The id of its own, if it has one; empty if it resets.
    pub id: Option<Arc<str>>,
    /// Bytes of its data.
    pub bytes: usize,
    /// Stands for its data.
    pub digest: u64,
    /// The values at the leaves of its data, by [`Observation::shape`]; `None` if it is no JSON.
    pub leaves: Option<Leaves>,
    /// The time that its data says, in microseconds since the Unix epoch.
    pub own_time: Option<i64>,
}

/// Digests of the values at the leaves of JSON data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaves {
    /// Which places; see [`Observation::shape`].
    pub shape: usize,
    /// A digest for each of them.
    pub values: Box<[u64]>,
}

/// One thing that a stream said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// An event.
    Event(Seen),
    /// A comment.
    Comment {
        /// When.
        at: Timestamp,
        /// On which connection.
        connection: u32,
        /// What.
        text: Arc<str>,
    },
    /// A reconnection time, in milliseconds.
    Retry(u64),
    /// An id without an event.
    IdOnly(Arc<str>),
}

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The response was whole.
    Clean,
    /// It was not, and why.
    Broken(String),
    /// An event was larger than the limit.
    TooLarge,
}

/// One connection of a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stand {
    /// When the head of the response was there.
    pub opened: Timestamp,
    /// When and how it ended, if the server ended it.
    pub ended: Option<(Timestamp, Ended)>,
    /// The end cut a block off.
    pub cut: bool,
}

/// A place in the data whose value may be an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Track {
    pub(super) count: u64,
    pub(super) increasing: bool,
    last: String,
}

/// All that one reader saw.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// What was said, in order.
    pub said: Vec<Said>,
    /// Its connections, in order.
    pub stands: Vec<Stand>,
    /// Pieces of the body: when, and how many bytes.
    pub chunks: Vec<(Timestamp, usize)>,
    /// Bytes of the body.
    pub bytes: u64,
    /// Events, also those that were not kept.
    pub events: u64,
    /// When the last byte came.
    pub last_byte: Option<Timestamp>,
    /// Sequences that were not UTF-8.
    pub odd_bytes: u64,
    /// The last id that was in force, and can be sent.
    pub last_id: Option<Arc<str>>,
    pub(super) lint: Lint,
    pub(super) tracks: BTreeMap<String, Track>,
    shapes: Vec<Arc<[String]>>,
    types: BTreeMap<Arc<str>, ()>,
}

impl Observation {
    /// The events, in order.
    pub fn events(&self) -> impl Iterator<Item = &Seen> {
        self.said.iter().filter_map(|said| match said {
            Said::Event(event) => Some(event),
            _ => None,
        })
    }

    /// The comments, in order, with their times and connections.
    pub fn comments(&self) -> impl Iterator<Item = (Timestamp, &str)> {
        self.said.iter().filter_map(|said| match said {
            Said::Comment { at, text, .. } => Some((*at, text.as_ref())),
            _ => None,
        })
    }

    /// The places of an event's leaves, JSON pointers.
    #[must_use]
    pub fn shape(&self, leaves: &Leaves) -> &[String] {
        &self.shapes[leaves.shape]
    }

    /// The digest of the value at a place, if the event has one there.
    #[must_use]
    pub fn value_at(&self, event: &Seen, pointer: &str) -> Option<u64> {
        let leaves = event.leaves.as_ref()?;
        let at = self.shape(leaves).iter().position(|place| place == pointer)?;
        leaves.values.get(at).copied()
    }

    /// Not everything was kept.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.said.len() >= FRAMES_MAX
    }
}

/// Makes an observation of the bytes of one connection after another.
#[derive(Debug)]
pub struct Recorder {
    decoder: Decoder,
    observation: Observation,
}

impl Recorder {
    /// A recorder that has seen nothing; an event may have so many bytes.
    #[must_use]
    pub fn new(event_bytes_max: usize) -> Self {
        let limits = Limits { event_bytes_max, ..Limits::default() };
        Self { decoder: Decoder::new(limits), observation: Observation::default() }
    }

    /// What was seen so far.
    #[must_use]
    pub fn observation(&self) -> &Observation {
        &self.observation
    }

    /// What was seen.
    #[must_use]
    pub fn into_observation(self) -> Observation {
        self.observation
    }

    /// The head of a response has come.
    pub fn opened(&mut self, now: Timestamp) {
        self.observation.stands.push(Stand { opened: now, ended: None, cut: false });
    }

    /// Bytes have come; `false` if an event is too large, and the connection is to be given up.
    pub fn bytes(&mut self, now: Timestamp, bytes: &[u8]) -> bool {
        let Self { decoder, observation } = self;
        observation.lint.feed(bytes);
        observation.bytes += bytes.len() as u64;
        observation.last_byte = Some(now);
        if observation.chunks.len() < CHUNKS_MAX {
            observation.chunks.push((now, bytes.len()));
        }
        let mut frames = decoder.feed(bytes);
        let mut fits = true;
        while let Some(frame) = frames.next() {
            fits &= observation.frame(now, &frame);
        }
        observation.odd_bytes = decoder.odd_bytes();
        fits
    }

    /// The connection has ended.
    pub fn ended(&mut self, now: Timestamp, how: Ended) {
        let cut = !self.decoder.finish().is_clean();
        self.observation.lint.finish();
        if let Some(stand) = self.observation.stands.last_mut() {
            stand.ended = Some((now, how));
            stand.cut = cut;
        }
    }

    /// The reader has left the connection.
    pub fn left(&mut self) {
        self.decoder.finish();
        self.observation.lint.finish();
    }
}

impl Observation {
    fn frame(&mut self, now: Timestamp, frame: &Frame<'_>) -> bool {
        let connection = u32::try_from(self.stands.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let said = match *frame {
            Frame::TooLarge { .. } => return false,
            Frame::Comment { text, .. } => Said::Comment { at: now, connection, text: text.into() },
            Frame::Retry(millis) => Said::Retry(millis),
            Frame::IdOnly(id) => {
                self.in_force(id);
                Said::IdOnly(id.into())
            }
            Frame::Event(event) => {
                self.events += 1;
                if let Some(id) = event.id {
                    self.in_force(id);
                }
                if self.is_truncated() {
                    return true;
                }
                let (leaves, own_time) = self.look_into(event.data);
                Said::Event(Seen {
                    at: now,
                    connection,
                    event: self.type_name(event.event),
                    id: event.id.map(Into::into),
                    bytes: event.data.len(),
                    digest: json::digest(event.data),
                    leaves,
                    own_time,
                })
            }
        };
        if !self.is_truncated() {
            self.said.push(said);
        }
        true
    }

    fn in_force(&mut self, id: &str) {
        self.last_id = (!id.is_empty()).then(|| id.into());
    }

    /// One copy of each type's name.
    fn type_name(&mut self, name: &str) -> Arc<str> {
        if let Some((known, ())) = self.types.get_key_value(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.types.insert(Arc::clone(&name), ());
        name
    }

    fn look_into(&mut self, data: &str) -> (Option<Leaves>, Option<i64>) {
        let Some(leaves) = json::leaves(data) else { return (None, None) };
        let mut own_time = None;
        for leaf in &leaves {
            self.track(&leaf.pointer, &leaf.value);
            if own_time.is_none() && is_named_like_a_time(&leaf.pointer) {
                own_time = json::time_of(&leaf.value);
            }
        }
        let is_same = |shape: &Arc<[String]>| {
            shape.len() == leaves.len() && shape.iter().zip(&leaves).all(|(place, leaf)| *place == leaf.pointer)
        };
        let shape = self.shapes.iter().rposition(is_same).unwrap_or_else(|| {
            self.shapes.push(leaves.iter().map(|leaf| leaf.pointer.clone()).collect());
            self.shapes.len() - 1
        });
        let values = leaves.iter().map(|leaf| json::digest(&leaf.value)).collect();
        (Some(Leaves { shape, values }), own_time)
    }

    /// Follows whether the values at a place go up from event to event.
    fn track(&mut self, pointer: &str, value: &str) {
        let has_room = self.tracks.len() < TRACKS_MAX;
        match self.tracks.get_mut(pointer) {
            Some(track) => {
                track.count += 1;
                if track.increasing {
                    track.increasing = compare(&track.last, value) == Some(std::cmp::Ordering::Less);
                    value.clone_into(&mut track.last);
                }
            }
            None if has_room => {
                let increasing = compare(value, value).is_some();
                let track = Track { count: 1, increasing, last: value.to_owned() };
                self.tracks.insert(pointer.to_owned(), track);
            }
            None => {}
        }
    }
}

/// The last name of a place, in lower case.
pub(super) fn last_name(pointer: &str) -> String {
    pointer.rsplit('/').next().unwrap_or_default().to_ascii_lowercase()
}

pub(super) fn is_named_like_a_time(pointer: &str) -> bool {
    let name = last_name(pointer);
    matches!(name.as_str(), "t" | "ts" | "at" | "dt" | "date")
        || ["time", "stamp", "created", "published", "updated"].iter().any(|word| name.contains(word))
        || name.ends_with("_at")
        || name.ends_with("_ts")
        || name.ends_with("_ms")
}
