//! A stream that was recorded, from bytes to what is to be served: records of `-o json`, one a line, or SSE. Which of
//! the two is seen from the first byte that is no space: records begin with `{`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::consumer::delivery::NoticeKind;
use crate::consumer::time::Timestamp;
use crate::output::time::parse_rfc3339_micros;
use crate::server::Publication;
use crate::wire::{Decoder, Frame, Limits};

/// The longest record, in bytes.
const RECORD_BYTES_MAX: usize = 64 << 20;

/// One thing that a recorded stream holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Event(Publication),
    Comment(String),
    Retry(u64),
    /// The connection had ended here.
    Cut,
    /// This line cannot be read: its number, and why.
    Bad(u64, String),
}

/// A step, and when it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recorded {
    pub(super) step: Step,
    pub(super) time: Option<Timestamp>,
}

impl From<Step> for Recorded {
    fn from(step: Step) -> Self {
        Self { step, time: None }
    }
}

/// Reads bytes as they come.
#[derive(Debug)]
pub(super) enum Reader {
    /// Nothing but spaces so far.
    Unknown,
    Sse(Box<Decoder>),
    Records(Records),
}

/// Records, one a line.
#[derive(Debug, Default)]
pub(super) struct Records {
    rest: Vec<u8>,
    line: u64,
}

/// A record; what is absent is as an event of SSE has it.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    event: Option<String>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    text: Option<String>,
    notice: Option<String>,
    time: Option<String>,
}

impl Reader {
    /// Takes the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8], steps: &mut Vec<Recorded>) {
        if let Self::Unknown = self {
            match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return,
                Some(b'{') => *self = Self::Records(Records::default()),
                Some(_) => *self = Self::Sse(Box::new(Decoder::new(Limits::default()))),
            }
        }
        match self {
            Self::Unknown => {}
            Self::Sse(decoder) => decode(decoder, bytes, steps),
            Self::Records(records) => records.feed(bytes, steps),
        }
    }

    /// The input has ended. A last line without a line end counts; a block of SSE that was cut off does not.
    pub(super) fn finish(&mut self, steps: &mut Vec<Recorded>) {
        if let Self::Records(records) = self {
            records.feed(b"\n", steps);
        }
    }
}

fn decode(decoder: &mut Decoder, bytes: &[u8], steps: &mut Vec<Recorded>) {
    let mut frames = decoder.feed(bytes);
    while let Some(frame) = frames.next() {
        steps.push(Recorded::from(match frame {
            Frame::Event(event) => Step::Event(Publication {
                id: event.id.map(str::to_owned),
                event: event.event.to_owned(),
                data: event.data.to_owned(),
            }),
            Frame::Comment { text, .. } => Step::Comment(text.to_owned()),
            Frame::Retry(millis) => Step::Retry(millis),
            Frame::IdOnly(_) => continue,
            Frame::TooLarge { limit } => Step::Bad(0, format!("an event is larger than {limit} bytes")),
        }));
    }
}

impl Records {
    fn feed(&mut self, mut bytes: &[u8], steps: &mut Vec<Recorded>) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.line += 1;
            self.rest.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.rest);
            if !line.trim_ascii().is_empty() {
                steps.extend(record(&line, self.line));
            }
        }
        self.rest.extend_from_slice(bytes);
        if self.rest.len() > RECORD_BYTES_MAX {
            steps.push(Step::Bad(self.line + 1, format!("it is longer than {RECORD_BYTES_MAX} bytes")).into());
            self.rest = Vec::new();
        }
    }
}

fn record(line: &[u8], number: u64) -> Option<Recorded> {
    let record: Record<'_> = match serde_json::from_slice(line) {
        Ok(record) => record,
        Err(error) => return Some(Step::Bad(number, error.to_string()).into()),
    };
    let step = match record.kind.as_deref() {
        None | Some("event") => Step::Event(Publication {
            id: record.id.and_then(text),
            event: record
                .event
                .filter(|event| !event.is_empty())
                .unwrap_or_else(|| crate::wire::DEFAULT_EVENT_TYPE.to_owned()),
            data: record.data.and_then(text).unwrap_or_default(),
        }),
        Some("comment") => Step::Comment(record.text.unwrap_or_default()),
        Some("notice") if record.notice.as_deref() == Some(NoticeKind::Disconnected.as_str()) => Step::Cut,
        // Other notices, and kinds to come, are nothing that a server says.
        Some(_) => return None,
    };
    Some(Recorded { step, time: record.time.as_deref().and_then(parse_rfc3339_micros) })
}

/// A string as its text, anything else as its JSON; null as nothing.
fn text(json: &RawValue) -> Option<String> {
    match json.get() {
        "null" => None,
        text if text.starts_with('"') => serde_json::from_str(text).ok(),
        other => Some(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text whole and byte by byte; both must give the same.
    fn read(text: &str) -> Vec<Recorded> {
        let whole = read_in(text, text.len().max(1));
        assert_eq!(whole, read_in(text, 1));
        whole
    }

    fn read_in(text: &str, size: usize) -> Vec<Recorded> {
        let (mut reader, mut steps) = (Reader::Unknown, Vec::new());
        text.as_bytes().chunks(size).for_each(|chunk| reader.feed(chunk, &mut steps));
        reader.finish(&mut steps);
        steps
    }

    fn event(id: Option<&str>, event: &str, data: &str) -> Step {
        Step::Event(Publication { id: id.map(str::to_owned), event: event.into(), data: data.into() })
    }

    #[test]
    fn records_are_read_with_their_times_comments_and_cuts() {
        let text = r#"
            {"kind":"event","stream":"s","id":"7","event":"trade","data":"{\"n\":1}","time":"2026-12-01T00:00:01Z"}
            {"kind":"comment","text":"ping"}
            {"kind":"notice","notice":"disconnected","text":"x"}
            {"kind":"notice","notice":"connected"}
            {"id":8,"data":{"n":2}}
            {"data":"last"}"#;
        let steps = read(text);
        assert_eq!(steps[0].time, parse_rfc3339_micros("2026-12-01T00:00:01Z"));
        let steps: Vec<_> = steps.into_iter().map(|recorded| recorded.step).collect();
        let cut = Step::Cut;
        let ping = Step::Comment("ping".into());
        let expected = [
            event(Some("7"), "trade", r#"{"n":1}"#),
            ping,
            cut,
            event(Some("8"), "message", r#"{"n":2}"#),
            event(None, "message", "last"),
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn sse_is_read_with_comments_and_retry() {
        let steps: Vec<_> = read(": hi\nretry: 5\nid: 1\nevent: a\ndata: b\n\ndata: cut").into_iter().collect();
        let expected = [Step::Comment("hi".into()), Step::Retry(5), event(Some("1"), "a", "b")];
        assert_eq!(steps, expected.map(Recorded::from));
    }

    #[test]
    fn a_line_that_is_no_record_is_named() {
        let steps = read("{\"data\":\"a\"}\nnonsense\n{\"data\":\"b\"}\n");
        assert!(matches!(&steps[1].step, Step::Bad(2, _)), "{steps:?}");
        assert_eq!(steps.len(), 3);
    }
}
