//! An event as the hub keeps it: encoded once, shared by the log, the current state and every client.

use std::sync::Arc;

use crate::backpressure::Route;
use crate::wire::{self, Decoder, Frame, Limits, encode};

/// An event that a source gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// Its id; the server numbers events itself if it was told to.
    pub id: Option<String>,
    /// Its type.
    pub event: String,
    /// Its data.
    pub data: String,
}

/// A published event.
#[derive(Debug)]
pub struct Published {
    /// Its number in the order of publication, from 1.
    pub(super) seq: u64,
    pub(super) event: Arc<str>,
    pub(super) route: Route,
    /// Its block on the wire.
    frame: Box<[u8]>,
    /// How much of the block is its id line.
    id_line_bytes: usize,
}

impl Published {
    pub(super) fn new(seq: u64, event: Arc<str>, route: Route, publication: &Publication) -> Self {
        let data = publication.data.as_str();
        let mut frame = Vec::with_capacity(data.len() + 64);
        let fit = |id: &&str| encode::can_carry_id(id);
        let id = publication.id.as_deref().filter(fit);
        encode::event(&mut frame, &wire::Event { id, event: &event, data });
        let end = |byte: &u8| *byte == b'\n';
        let id_line_bytes = id.and_then(|_| frame.iter().position(end)).map_or(0, |end| end + 1);
        Self { seq, event, route, frame: frame.into(), id_line_bytes }
    }

    /// Its id, if it has one.
    pub(super) fn id(&self) -> Option<&str> {
        let line = std::str::from_utf8(&self.frame[..self.id_line_bytes]).ok()?;
        line.strip_prefix("id:").map(|id| id.strip_prefix(' ').unwrap_or(id).trim_end_matches('\n'))
    }

    /// Its block, with its id line or without.
    pub(super) fn block(&self, with_id: bool) -> &[u8] {
        if with_id { &self.frame } else { &self.frame[self.id_line_bytes..] }
    }

    /// What it counts for in a queue, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.frame.len()
    }

    /// Its data again.
    pub(super) fn data(&self) -> String {
        let mut decoder = Decoder::new(Limits { event_bytes_max: usize::MAX, ..Limits::default() });
        let mut frames = decoder.feed(&self.frame);
        match frames.next() {
            Some(Frame::Event(event)) => event.data.to_owned(),
            _ => String::new(),
        }
    }
}
