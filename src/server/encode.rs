//! Frames to bytes. TODO-SWAP: the few lines that this server needs until `wire::encode` can be called from here;
//! its functions have these names and do the same.

use super::hub::Event;

/// Appends an event. Line breaks in the data begin one more data line; the type `message` is left out.
pub(super) fn event(out: &mut Vec<u8>, event: &Event) {
    out.extend_from_slice(format!("id: {}\n", event.id).as_bytes());
    if !event.event.is_empty() && event.event != "message" {
        line(out, "event: ", &event.event.replace(['\r', '\n'], " "));
    }
    for text in event.data.replace("\r\n", "\n").split(['\r', '\n']) {
        line(out, "data: ", text);
    }
    out.push(b'\n');
}

/// Appends a comment of one line.
pub(super) fn comment(out: &mut Vec<u8>, text: &str) {
    line(out, ": ", text);
    out.push(b'\n');
}

/// Appends a reconnection time, in milliseconds.
pub(super) fn retry(out: &mut Vec<u8>, millis: u64) {
    out.extend_from_slice(format!("retry: {millis}\n\n").as_bytes());
}

fn line(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(value.as_bytes());
    out.push(b'\n');
}
