//! Frames to bytes: each function appends one whole block, so that any sequence of them is a stream, and decoding it
//! gives the frames again.
//!
//! Some text cannot stand in a stream, because a line break ends a field there (HTML standard, "Parsing an event
//! stream"). Nothing that a [`Decoder`](super::Decoder) gives is of that kind, but text from elsewhere may be, and
//! must never become fields of its own. What happens to it is said at each function.

use memchr::{memchr2, memchr3};

use super::{DEFAULT_EVENT_TYPE, Event};

/// Appends an event.
///
/// - `data`: CR LF and CR become line breaks as LF is, since no event stream can tell them apart.
/// - `event`: a CR or LF becomes a space. The default type is left out, as the empty one is.
/// - `id`: left out if it has CR, LF or NUL (see [`can_carry_id`]); a changed id would name another event.
pub fn event(out: &mut Vec<u8>, event: &Event<'_>) {
    if let Some(id) = event.id {
        id_line(out, id);
    }
    if !event.event.is_empty() && event.event != DEFAULT_EVENT_TYPE {
        event_line(out, event.event);
    }
    text_lines(out, b"data:", event.data);
    out.push(b'\n');
}

/// Appends a comment; each line break in `text` begins one more comment line.
pub fn comment(out: &mut Vec<u8>, text: &str) {
    text_lines(out, b":", text);
    out.push(b'\n');
}

/// Appends a reconnection time, in milliseconds.
pub fn retry(out: &mut Vec<u8>, millis: u64) {
    out.extend_from_slice(format!("retry: {millis}\n\n").as_bytes());
}

/// Appends a block with nothing but an id, the empty one included; nothing if the id [cannot be carried](can_carry_id).
pub fn id_only(out: &mut Vec<u8>, id: &str) {
    if id_line(out, id) {
        out.push(b'\n');
    }
}

/// Whether an event stream can carry this id: it has no CR, no LF and no NUL.
#[must_use]
pub fn can_carry_id(id: &str) -> bool {
    memchr3(b'\r', b'\n', 0, id.as_bytes()).is_none()
}

fn id_line(out: &mut Vec<u8>, id: &str) -> bool {
    let fit = can_carry_id(id);
    if fit {
        line(out, b"id:", id.as_bytes());
    }
    fit
}

fn event_line(out: &mut Vec<u8>, event: &str) {
    let start = out.len();
    line(out, b"event:", event.as_bytes());
    let end = out.len() - 1;
    for byte in &mut out[start..end] {
        if matches!(byte, b'\r' | b'\n') {
            *byte = b' ';
        }
    }
}

/// One line for each line of `text`, at least one.
fn text_lines(out: &mut Vec<u8>, name: &[u8], text: &str) {
    let mut rest = text.as_bytes();
    while let Some(end) = memchr2(b'\r', b'\n', rest) {
        line(out, name, &rest[..end]);
        let both = rest[end..].starts_with(b"\r\n");
        rest = &rest[end + 1 + usize::from(both)..];
    }
    line(out, name, rest);
}

/// The space after the colon is always written before a value: the value may begin with one of its own.
fn line(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    if !value.is_empty() {
        out.push(b' ');
        out.extend_from_slice(value);
    }
    out.push(b'\n');
}
