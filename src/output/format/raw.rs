//! `-o raw`: server-sent events again (HTML standard, section 9.2.6), so that another reader of SSE can go on.

use memchr::{memchr2, memchr3};

use super::{Plain, push_number};
use crate::consumer::delivery::{EventRecord, Notice};

/// Appends an event: an id line, its type unless that is the default, its data, a blank line.
///
/// It has an id line if it had one of its own, and if the id in force is another than `in_force`, the one that this
/// output gave last: ids also come in blocks without data and with events that a filter holds back.
pub(super) fn event(batch: &mut Vec<u8>, event: &EventRecord<'_>, in_force: &mut String, plain: Plain) {
    let id = event.own_id.or_else(|| Some(event.id.unwrap_or_default()).filter(|id| id != in_force));
    // An id taken out of the data (`--id-from`) may hold what no field can; one with NUL is ignored by readers.
    if let Some(id) = id.filter(|id| memchr3(b'\n', b'\r', 0, id.as_bytes()).is_none()) {
        field(batch, b"id:", id, plain);
        if id != in_force {
            in_force.clear();
            in_force.push_str(id);
        }
    }
    if event.event != "message" {
        field(batch, b"event:", event.event, plain);
    }
    let mut rest = event.data;
    while let Some(end) = memchr2(b'\n', b'\r', rest.as_bytes()) {
        field(batch, b"data:", &rest[..end], plain);
        rest = &rest[end + 1..];
    }
    field(batch, b"data:", rest, plain);
    batch.push(b'\n');
}

/// Appends a comment, which can stand between events.
pub(super) fn comment(batch: &mut Vec<u8>, text: &str, plain: Plain) {
    for line in text.split(['\n', '\r']) {
        field(batch, b":", line, plain);
    }
}

/// Appends a notice as a comment that says whose it is.
pub(super) fn notice(batch: &mut Vec<u8>, notice: &Notice, plain: Plain) {
    batch.extend_from_slice(b": ssectl ");
    batch.extend_from_slice(notice.kind.as_str().as_bytes());
    batch.push(b':');
    for piece in notice.text.split(['\n', '\r']) {
        batch.push(b' ');
        plain.push(batch, piece);
    }
    push_figures(batch, notice);
    batch.push(b'\n');
}

/// Appends the figures of a notice in words: ` (10000 dropped, 9990 recovered)`.
pub(super) fn push_figures(batch: &mut Vec<u8>, notice: &Notice) {
    let figures = [("dropped", notice.dropped), ("recovered", notice.recovered), ("removed", notice.removed)];
    let mut before: &[u8] = b" (";
    for (name, figure) in figures {
        if let Some(figure) = figure {
            batch.extend_from_slice(before);
            push_number(batch, figure);
            batch.push(b' ');
            batch.extend_from_slice(name.as_bytes());
            before = b", ";
        }
    }
    if before == b", " {
        batch.push(b')');
    }
}

fn field(batch: &mut Vec<u8>, name: &[u8], value: &str, plain: Plain) {
    batch.extend_from_slice(name);
    if !value.is_empty() {
        batch.push(b' ');
        plain.push(batch, value);
    }
    batch.push(b'\n');
}
