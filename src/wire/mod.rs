//! Bytes to frames and back: Server-Sent Events as they stand on the wire.
//!
//! Responsible for the syntax alone: the HTML standard, sections "Parsing an event stream" and "Interpreting an
//! event stream" (<https://html.spec.whatwg.org/multipage/server-sent-events.html>), read forgivingly (no input is
//! an error) and within named limits in bytes. Beyond what the standard dispatches, everything a careful reader has
//! to see is a frame of its own, in the order in which it came: comments, reconnection times, blocks with nothing
//! but an id.
//!
//! Must never know where bytes come from, what time it is, or what the last event ID is: an event carries the id of
//! its own block, and inheriting one is policy.
//!
//! ```
//! use ssectl::wire::{Decoder, Frame, Limits};
//!
//! let mut decoder = Decoder::new(Limits::default());
//! let mut frames = decoder.feed(b": hello\n\nid: 7\ndata: x\n\ndata: cut o");
//! assert!(matches!(frames.next(), Some(Frame::Comment { text: "hello", .. })));
//! assert!(matches!(frames.next(), Some(Frame::Event(event)) if event.id == Some("7") && event.data == "x"));
//! assert!(frames.next().is_none());
//! assert!(decoder.finish().block);
//! ```

mod decoder;
pub mod encode;
mod field;
mod line;
mod text;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

pub use decoder::{Decoder, Frames};

/// The event type of an event whose block names none (HTML standard, "dispatch the event").
pub const DEFAULT_EVENT_TYPE: &str = "message";

/// How many bytes a [`Decoder`] may hold, whatever the stream does. Bytes count as they came, before decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes held for one block: its data (with a byte for each line break between data lines), its event
    /// type, its id, and the value of the line being read. One more byte gives [`Frame::TooLarge`].
    ///
    /// Names of fields and lines of unknown fields are never held, so they do not count. Where bytes are not UTF-8,
    /// each sequence that U+FFFD replaces is three bytes of text, so the memory used may be a small multiple of this.
    pub event_bytes_max: usize,
    /// The most bytes of a comment that are kept; the rest is skipped.
    pub comment_bytes_max: usize,
}

impl Default for Limits {
    /// 64 MiB for an event, 64 KiB for a comment.
    fn default() -> Self {
        Self {
            event_bytes_max: 64 << 20,
            comment_bytes_max: 64 << 10,
        }
    }
}

/// One thing that a stream says. Text that was not UTF-8 has U+FFFD in place of each odd sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A block with data: what the standard dispatches.
    Event(Event<'a>),
    /// A comment line; given when the line ends, so before the event in whose block it stands.
    Comment {
        /// What follows the colon and one space.
        text: &'a str,
        /// The comment was longer than [`Limits::comment_bytes_max`], and `text` is only its beginning.
        truncated: bool,
    },
    /// A valid `retry:` line: the reconnection time in milliseconds, [`u64::MAX`] for anything longer; given when
    /// the line ends.
    Retry(u64),
    /// A block with an id and no data: nothing is dispatched, but the last event ID becomes this (empty: is reset).
    IdOnly(&'a str),
    /// The block is larger than the limit. Nothing follows until [`Decoder::finish`].
    TooLarge {
        /// The limit that was passed: [`Limits::event_bytes_max`].
        limit: usize,
    },
}

/// An event as it stands in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The value of the block's last valid `id` line: `Some("")` resets the last event ID, `None` leaves it.
    pub id: Option<&'a str>,
    /// The event type; [`DEFAULT_EVENT_TYPE`] where the block names none. Never empty.
    pub event: &'a str,
    /// The values of the data lines, joined by `\n`.
    pub data: &'a str,
}

/// What the end of a connection cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Finish {
    /// A block that had begun to hold data, an event type or an id was discarded, its id with it. (The last line
    /// need not have ended, but its field's name must have.)
    pub block: bool,
    /// Bytes of the last line, if no line end came: its field's name, the colon, all.
    pub line_bytes: u64,
}

impl Finish {
    /// Nothing was cut off.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }
}
