//! `-o pretty`: one readable line an event, for a person at a terminal. No program should read it.

use super::raw::push_figures;
use crate::consumer::delivery::{EventRecord, Notice};
use crate::output::escape::{LineFeeds, escape_controls};
use crate::output::paint::{BOLD, CYAN, DIM, GREEN, Paint, YELLOW};
use crate::output::time::{RFC3339_MICROS_LEN, TIME_OF_DAY_AT};

/// Digits of the fraction of a second that are shown.
const FRACTION_DIGITS: usize = 3;

/// Where lines after the first begin, in columns: past the time, so that data cannot look like a record.
const INDENT: &[u8] = b"              ";

/// One stream's lines.
#[derive(Clone, Copy)]
pub(super) struct Pretty<'a> {
    /// When it came, in words.
    pub(super) time: &'a [u8; RFC3339_MICROS_LEN],
    /// The stream's name, where several run.
    pub(super) stream: Option<&'a str>,
    pub(super) color: bool,
}

impl Pretty<'_> {
    /// Appends `time [stream] id type [(replayed)] data`.
    pub(super) fn event(self, batch: &mut Vec<u8>, event: &EventRecord<'_>) {
        self.head(batch);
        self.word(batch, YELLOW, event.id.filter(|id| !id.is_empty()).unwrap_or("-"));
        self.word(batch, GREEN, event.event);
        if event.replayed {
            self.word(batch, BOLD, "(replayed)");
        }
        lines(batch, event.data);
    }

    /// Appends `time [stream] : text`.
    pub(super) fn comment(self, batch: &mut Vec<u8>, text: &str) {
        self.head(batch);
        let paint = Paint(self.color);
        paint.on(batch, DIM);
        batch.extend_from_slice(b": ");
        escape_controls(batch, text, LineFeeds::Escape);
        paint.off(batch);
        batch.push(b'\n');
    }

    /// Appends `time [stream] ! notice: text (figures)`.
    pub(super) fn notice(self, batch: &mut Vec<u8>, notice: &Notice) {
        self.head(batch);
        let paint = Paint(self.color);
        paint.on(batch, DIM);
        batch.extend_from_slice(b"! ");
        batch.extend_from_slice(notice.kind.as_str().as_bytes());
        batch.extend_from_slice(b": ");
        escape_controls(batch, &notice.text, LineFeeds::Escape);
        push_figures(batch, notice);
        paint.off(batch);
        batch.push(b'\n');
    }

    fn head(self, batch: &mut Vec<u8>) {
        let paint = Paint(self.color);
        let end = RFC3339_MICROS_LEN - 1 - (6 - FRACTION_DIGITS);
        paint.on(batch, DIM);
        batch.extend_from_slice(&self.time[TIME_OF_DAY_AT..end]);
        batch.push(b'Z');
        paint.off(batch);
        batch.push(b' ');
        if let Some(stream) = self.stream {
            self.word(batch, CYAN, stream);
        }
    }

    fn word(self, batch: &mut Vec<u8>, code: &str, text: &str) {
        let paint = Paint(self.color);
        paint.on(batch, code);
        escape_controls(batch, text, LineFeeds::Escape);
        paint.off(batch);
        batch.push(b' ');
    }
}

/// Appends data, its further lines indented.
fn lines(batch: &mut Vec<u8>, data: &str) {
    for (number, line) in data.split('\n').enumerate() {
        if number > 0 {
            batch.extend_from_slice(INDENT);
        }
        escape_controls(batch, line, LineFeeds::Escape);
        // No blank before the end of a line that has no data.
        while batch.last() == Some(&b' ') {
            batch.pop();
        }
        batch.push(b'\n');
    }
}
