//! Records as text: the formats of `-o`, and the filters of what is written.
//!
//! Responsible for the record contract (`-o json`), for readable lines (`pretty`), for SSE again (`raw`), and for
//! keeping control characters from a terminal. Knows neither where a batch goes nor what a cursor is. Appends to a
//! buffer that is used again, and allocates nothing for an event of its own.

mod json;
mod pretty;
mod quoted;
mod raw;
mod template;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::Write;

use regex::Regex;

use super::escape::{LineFeeds, escape_controls};
use super::time::TimeText;
use crate::consumer::delivery::{EventRecord, Notice};
use crate::consumer::id::StreamName;
use crate::consumer::ports::Format;
use crate::consumer::time::Timestamp;

pub use template::{BadTemplate, Template};

/// What `-o` chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatKind {
    /// One readable line an event, for a person.
    Pretty,
    /// One JSON object a line: the record contract.
    Json,
    /// The data alone.
    Data,
    /// Server-sent events again.
    Raw,
    /// What a template says.
    Template(Template),
}

/// Why a value of `-o` is not a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadFormat {
    /// Neither the name of a format nor a template: it holds no placeholder.
    Unknown(String),
    /// A template that cannot be read.
    Template(BadTemplate),
}

impl fmt::Display for BadFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(value) => write!(
                f,
                "`{value}` is neither `pretty`, `json`, `data` or `raw` nor a template, which holds at least one of {}",
                template::PLACEHOLDERS
            ),
            Self::Template(bad) => bad.fmt(f),
        }
    }
}

impl std::error::Error for BadFormat {}

impl FormatKind {
    /// Reads a value of `-o`: the name of a format, else a template.
    ///
    /// # Errors
    /// [`BadFormat`] says why it is neither.
    pub fn parse(value: &str) -> Result<Self, BadFormat> {
        match value {
            "pretty" => Ok(Self::Pretty),
            "json" => Ok(Self::Json),
            "data" => Ok(Self::Data),
            "raw" => Ok(Self::Raw),
            _ => {
                let template = Template::parse(value).map_err(BadFormat::Template)?;
                if template.has_placeholder() {
                    Ok(Self::Template(template))
                } else {
                    Err(BadFormat::Unknown(value.to_owned()))
                }
            }
        }
    }

    /// Whether the id of an event is written; `--to FILE` refuses a format without.
    #[must_use]
    pub fn has_ids(&self) -> bool {
        match self {
            Self::Pretty | Self::Json | Self::Raw => true,
            Self::Data => false,
            Self::Template(template) => template.has_id(),
        }
    }
}

/// What a [`Formatter`] is made from: the flags of the output, for one stream.
#[derive(Clone, Debug)]
pub struct FormatOptions {
    /// The format.
    pub kind: FormatKind,
    /// The name of the stream.
    pub stream: StreamName,
    /// Several streams run: `pretty` names the stream in each line.
    pub several: bool,
    /// `--comments`: write comments too.
    pub comments: bool,
    /// `--notices`: write the tool's own notices too.
    pub notices: bool,
    /// `--json-data`: embed data as a JSON value where it is one.
    pub json_data: bool,
    /// `-e`: event types that are written; all if empty.
    pub types: Vec<String>,
    /// `--grep`: data must match one of these; any will do if empty.
    pub grep: Vec<Regex>,
    /// `pretty` uses colour.
    pub color: bool,
    /// The batch goes to a terminal: every format shows control characters escaped.
    pub terminal: bool,
}

impl FormatOptions {
    /// A format for a stream, without filters and additions, for a file or a pipe.
    #[must_use]
    pub fn new(kind: FormatKind, stream: StreamName) -> Self {
        Self {
            kind,
            stream,
            several: false,
            comments: false,
            notices: false,
            json_data: false,
            types: Vec::new(),
            grep: Vec::new(),
            color: false,
            terminal: false,
        }
    }
}

/// Writes the records of one stream in one format.
#[derive(Clone, Debug)]
pub struct Formatter {
    options: FormatOptions,
    json: json::Heads,
    time: TimeText,
    /// The id that is in force for a reader of the `raw` output.
    raw_id: String,
}

impl Formatter {
    /// A formatter for one stream.
    #[must_use]
    pub fn new(options: FormatOptions) -> Self {
        let json = json::Heads::new(options.stream.as_str(), options.terminal);
        Self { options, json, time: TimeText::new(), raw_id: String::new() }
    }

    /// How text of the server's goes into formats that are neither JSON nor `pretty`.
    fn plain(&self) -> Plain {
        Plain { escape: self.options.terminal }
    }

    fn pretty(&mut self, time: Timestamp) -> pretty::Pretty<'_> {
        let FormatOptions { stream, several, color, .. } = &self.options;
        pretty::Pretty { time: self.time.of(time), stream: several.then_some(stream.as_str()), color: *color }
    }
}

impl Format for Formatter {
    /// A type of `-e`, and data that some `--grep` matches.
    fn is_wanted(&self, event: &EventRecord<'_>) -> bool {
        let FormatOptions { types, grep, .. } = &self.options;
        (types.is_empty() || types.iter().any(|wanted| wanted == event.event))
            && (grep.is_empty() || grep.iter().any(|regex| regex.is_match(event.data)))
    }

    fn event(&mut self, batch: &mut Vec<u8>, event: &EventRecord<'_>) {
        let plain = self.plain();
        match &self.options.kind {
            FormatKind::Pretty => self.pretty(event.time).event(batch, event),
            FormatKind::Json => self.json.event(batch, event, self.options.json_data),
            FormatKind::Data => {
                plain.push(batch, event.data);
                batch.push(b'\n');
            }
            FormatKind::Raw => raw::event(batch, event, &mut self.raw_id, plain),
            FormatKind::Template(template) => {
                let (stream, time) = (self.options.stream.as_str(), &mut self.time);
                template.event(batch, event, template::Context { time, stream, plain });
            }
        }
    }

    fn snapshot(&mut self, batch: &mut Vec<u8>, data: &str, time: Timestamp) {
        if let FormatKind::Json = self.options.kind {
            return self.json.snapshot(batch, data, time, self.options.json_data);
        }
        // The id in force stays: a snapshot is at none.
        let id = Some(self.raw_id.clone()).filter(|id| !id.is_empty());
        let id = id.as_deref();
        self.event(batch, &EventRecord { id, own_id: None, event: "snapshot", data, time, replayed: false });
    }

    fn comment(&mut self, batch: &mut Vec<u8>, text: &str, time: Timestamp) {
        if !self.options.comments {
            return;
        }
        match &self.options.kind {
            FormatKind::Pretty => self.pretty(time).comment(batch, text),
            FormatKind::Json => self.json.comment(batch, text, time),
            FormatKind::Raw | FormatKind::Data | FormatKind::Template(_) => raw::comment(batch, text, self.plain()),
        }
    }

    fn notice(&mut self, batch: &mut Vec<u8>, notice: &Notice, time: Timestamp) {
        if !self.options.notices {
            return;
        }
        match &self.options.kind {
            FormatKind::Pretty => self.pretty(time).notice(batch, notice),
            FormatKind::Json => self.json.notice(batch, notice, time),
            FormatKind::Raw | FormatKind::Data | FormatKind::Template(_) => raw::notice(batch, notice, self.plain()),
        }
    }
}

/// How text of the server's goes into a batch: as it is, or, for a terminal, with control characters shown.
#[derive(Clone, Copy, Debug)]
struct Plain {
    escape: bool,
}

impl Plain {
    fn push(self, batch: &mut Vec<u8>, text: &str) {
        if self.escape {
            escape_controls(batch, text, LineFeeds::Keep);
        } else {
            batch.extend_from_slice(text.as_bytes());
        }
    }
}

/// Appends a decimal number.
fn push_number(batch: &mut Vec<u8>, number: u64) {
    write!(batch, "{number}").expect("a Vec takes every write");
}
