//! The JSON forms of stored streams: a stable contract (a field may be added, none changes).

use serde::Serialize;

use crate::consumer::id::EventId;
use crate::consumer::record::Gap;
use crate::consumer::time::Timestamp;
use crate::output::time::rfc3339_micros;
use crate::settings::parse::duration_text;
use crate::store::{Holder, Summary};

#[derive(Serialize)]
struct StreamJson<'a> {
    stream: &'a str,
    latest: Option<&'a str>,
    lagging: Option<&'a str>,
    latest_at: Option<String>,
    lagging_at: Option<String>,
    window: String,
    gaps: Vec<GapJson<'a>>,
    owner: Option<OwnerJson<'a>>,
    url: Option<&'a str>,
    last_end: Option<&'a str>,
    exports: Vec<ExportJson<'a>>,
}

#[derive(Serialize)]
struct ExportJson<'a> {
    file: &'a str,
    length: u64,
}

#[derive(Serialize)]
struct GapJson<'a> {
    number: u64,
    state: &'static str,
    text: &'a str,
    dropped: Option<u64>,
    recovered: u64,
    removed: u64,
    opened_at: String,
    ended_at: Option<String>,
    place: Option<&'a str>,
}

#[derive(Serialize)]
struct OwnerJson<'a> {
    pid: u32,
    host: &'a str,
    since: String,
}

/// An array with an object for each stream.
pub fn list(summaries: &[Summary]) -> String {
    text(&summaries.iter().map(stream).collect::<Vec<_>>())
}

/// One object.
pub fn show(summary: &Summary) -> String {
    text(&stream(summary))
}

/// Indented JSON with a line end.
pub fn text(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("strings, numbers and lists are JSON");
    text.push('\n');
    text
}

fn stream(summary: &Summary) -> StreamJson<'_> {
    StreamJson {
        stream: summary.stream.as_str(),
        latest: summary.latest.as_ref().map(EventId::as_str),
        lagging: summary.lagging.as_ref().map(EventId::as_str),
        latest_at: time(summary.latest_at),
        lagging_at: time(summary.lagging_at),
        window: duration_text(summary.window_in_force()),
        gaps: summary.gaps.iter().map(gap).collect(),
        owner: summary.owner.as_ref().map(owner),
        url: summary.url.as_deref(),
        last_end: summary.last_end.as_deref(),
        exports: summary
            .exports
            .iter()
            .map(|stored| ExportJson { file: &stored.mark.file, length: stored.mark.length })
            .collect(),
    }
}

fn gap(gap: &Gap) -> GapJson<'_> {
    GapJson {
        number: gap.number,
        state: gap.state.as_str(),
        text: &gap.text,
        dropped: gap.dropped,
        recovered: gap.recovered,
        removed: gap.removed,
        opened_at: rfc3339_micros(gap.opened_at),
        ended_at: time(gap.ended_at),
        place: gap.place.as_ref().map(EventId::as_str),
    }
}

fn owner(holder: &Holder) -> OwnerJson<'_> {
    OwnerJson { pid: holder.process.pid, host: &holder.process.host, since: rfc3339_micros(holder.since) }
}

fn time(at: Option<Timestamp>) -> Option<String> {
    at.map(rfc3339_micros)
}
