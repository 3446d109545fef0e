//! The events: types, rates, sizes, ids, and what is not as the standard has it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::finding::{Code, Findings};
use super::observe::{Observation, Said, Seen, is_named_like_a_time, last_name};
use crate::consumer::compare::compare;
use crate::consumer::drop_notice::DropNotices;
use crate::consumer::id::EventId;
use crate::consumer::time::Timestamp;

/// So many events show that a value in the data goes up with each.
const TRACK_EVENTS_MIN: u64 = 3;
/// How many texts of comments are listed.
const COMMENTS_LISTED_MAX: usize = 5;
/// How much of a text is listed, in characters.
const TEXT_CHARS_MAX: usize = 60;

/// What is reported of the events.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EventsReport {
    /// How many came.
    pub count: u64,
    /// How many bytes of the body came.
    pub bytes: u64,
    /// Events a second.
    pub per_second: f64,
    /// Bytes a second.
    pub bytes_per_second: f64,
    /// The types, by how many there were.
    pub types: Vec<TypeReport>,
    /// What the ids are like.
    pub ids: IdsReport,
    /// The last reconnection time that the server set, in milliseconds.
    pub retry_ms: Option<u64>,
    /// How many comments came.
    pub comments: u64,
    /// Sequences that were not UTF-8.
    pub odd_bytes: u64,
    /// Lines with unknown fields, by name.
    pub unknown_fields: BTreeMap<String, u64>,
}

/// What is reported of one type.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TypeReport {
    /// The type.
    pub event: String,
    /// How many came.
    pub count: u64,
    /// Events a second.
    pub per_second: f64,
    /// The middle size of the data, in bytes.
    pub bytes_p50: usize,
    /// The largest.
    pub bytes_max: usize,
    /// `json`, `text` or `mixed`.
    pub data: &'static str,
    /// How many have an id of their own.
    pub with_id: u64,
    /// Names in the data, where it is JSON.
    pub fields: Vec<String>,
}

/// What the ids are like.
#[derive(Clone, Debug, Default, Serialize)]
pub struct IdsReport {
    /// How many events have one of their own.
    pub present: u64,
    /// None came twice.
    pub unique: bool,
    /// They have an order that can be seen.
    pub comparable: bool,
    /// They never went back.
    pub monotonic: bool,
    /// How many events had the id of the one before.
    pub shared: u64,
    /// The first and the last.
    pub first: Option<String>,
    /// The last.
    pub last: Option<String>,
    /// A place in the data that serves as an id.
    pub in_data: Option<String>,
}

/// Looks at the events of a reader that keeps up; `now` is when the watching ended.
pub fn analyse(seen: &Observation, notices: &DropNotices, now: Timestamp, findings: &mut Findings) -> EventsReport {
    let time = watched(seen, now);
    let types = types(seen, time, findings);
    let mut report = EventsReport {
        count: seen.events,
        bytes: seen.bytes,
        per_second: rate(seen.events, time),
        bytes_per_second: rate(seen.bytes, time),
        types,
        ids: ids(seen, findings),
        odd_bytes: seen.odd_bytes,
        unknown_fields: seen.lint.unknown.clone(),
        ..EventsReport::default()
    };
    if seen.events == 0 {
        findings.add(Code::NoEvents, format!("within {:.1} s", time.as_secs_f64()));
    }
    if seen.is_truncated() {
        findings.add(Code::Truncated, format!("{} events came", seen.events));
    }
    retry(&mut report, seen, findings);
    comments(&mut report, seen, notices, findings);
    standard(seen, findings);
    report
}

/// How long connections stood.
fn watched(seen: &Observation, now: Timestamp) -> Duration {
    let stood = seen.stands.iter().map(|stand| stand.ended.as_ref().map_or(now, |(at, _)| *at).since(stand.opened));
    stood.sum()
}

/// So many a second, with two decimals.
pub(super) fn rate(count: u64, time: Duration) -> f64 {
    let seconds = time.as_secs_f64();
    if seconds > 0.0 { (count as f64 / seconds * 100.0).round() / 100.0 } else { 0.0 }
}

fn types(seen: &Observation, time: Duration, findings: &mut Findings) -> Vec<TypeReport> {
    let mut by_type: BTreeMap<&str, Vec<&Seen>> = BTreeMap::new();
    for event in seen.events() {
        by_type.entry(&event.event).or_default().push(event);
    }
    let mut types: Vec<_> = by_type.iter().map(|(name, events)| type_report(seen, name, events, time)).collect();
    types.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.event.cmp(&b.event)));
    for report in &types {
        let ids = match report.with_id {
            0 => "no ids",
            some if some == report.count => "ids",
            _ => "some ids",
        };
        findings.about(
            Code::Types,
            &report.event,
            format!(
                "{} events, {}/s, {} bytes (at most {}), {}, {ids}",
                report.count, report.per_second, report.bytes_p50, report.bytes_max, report.data
            ),
        );
        if report.data == "mixed" {
            findings.about(Code::MixedData, &report.event, "some data is JSON, some is not");
        }
    }
    types
}

fn type_report(seen: &Observation, name: &str, events: &[&Seen], time: Duration) -> TypeReport {
    let mut sizes: Vec<_> = events.iter().map(|event| event.bytes).collect();
    sizes.sort_unstable();
    let json = events.iter().filter(|event| event.leaves.is_some()).count();
    let shape = events.iter().rev().find_map(|event| event.leaves.as_ref());
    TypeReport {
        event: name.to_owned(),
        count: events.len() as u64,
        per_second: rate(events.len() as u64, time),
        bytes_p50: sizes.get(sizes.len() / 2).copied().unwrap_or_default(),
        bytes_max: sizes.last().copied().unwrap_or_default(),
        data: match json {
            0 => "text",
            all if all == events.len() => "json",
            _ => "mixed",
        },
        with_id: events.iter().filter(|event| has_id(event)).count() as u64,
        fields: shape.map(|leaves| seen.shape(leaves).to_vec()).unwrap_or_default(),
    }
}

fn has_id(event: &Seen) -> bool {
    event.id.as_deref().is_some_and(|id| !id.is_empty())
}

fn ids(seen: &Observation, findings: &mut Findings) -> IdsReport {
    let with_id: Vec<(u32, &Arc<str>)> = seen
        .events()
        .filter_map(|event| Some((event.connection, event.id.as_ref()?)))
        .filter(|(_, id)| !id.is_empty())
        .collect();
    let mut report = IdsReport { present: with_id.len() as u64, in_data: id_in_data(seen), ..IdsReport::default() };
    if let Some(pointer) = &report.in_data {
        findings.add(Code::IdInData, format!("`{pointer}` goes up with each event"));
    }
    if seen.said.iter().any(|said| match said {
        Said::Event(event) => event.id.as_deref() == Some(""),
        Said::IdOnly(id) => id.is_empty(),
        _ => false,
    }) {
        findings.add(Code::IdReset, "an empty `id:` came");
    }
    let (Some((_, first)), Some((_, last))) = (with_id.first(), with_id.last()) else {
        if seen.events > 0 {
            findings.add(Code::IdsAbsent, format!("none of {} events has one", seen.events));
        }
        return report;
    };
    (report.first, report.last) = (Some(first.to_string()), Some(last.to_string()));
    order(&mut report, &with_id, findings);
    presence(&report, seen, findings);
    unusable(seen, &with_id, findings);
    report
}

/// Whether ids come twice, have an order, go back.
fn order(report: &mut IdsReport, with_id: &[(u32, &Arc<str>)], findings: &mut Findings) {
    let mut known = HashSet::new();
    let (mut again, mut compared, mut back) = (0, 0, None);
    let mut before: Option<(u32, &Arc<str>)> = None;
    for (connection, id) in with_id.iter().copied() {
        let is_shared = before.is_some_and(|(on, earlier)| on == connection && earlier == id);
        report.shared += u64::from(is_shared);
        // After a reconnection a server may send again what it sent before.
        again += u64::from(!known.insert((connection, id.as_ref())) && !is_shared);
        if let Some((on, earlier)) = before.filter(|(_, earlier)| *earlier != id) {
            match compare(earlier, id) {
                Some(Ordering::Greater) if on == connection => back = back.or(Some((earlier, id))),
                Some(_) => compared += 1,
                None => {}
            }
        }
        before = Some((connection, id));
    }
    report.unique = again == 0 && report.shared == 0;
    report.comparable = compared > 0 || back.is_some();
    report.monotonic = report.comparable && back.is_none();
    if report.shared > 0 {
        findings.add(Code::IdsShared, format!("{} events have the id of the event before", report.shared));
    }
    if again > 0 {
        findings.add(Code::IdsRepeated, format!("{again} times"));
    }
    if let Some((earlier, id)) = back {
        findings.add(Code::IdsWentBack, format!("`{}` came after `{}`", short(id), short(earlier)));
    }
    if with_id.len() > 1 {
        let code = if report.comparable { Code::IdsComparable } else { Code::IdsOpaque };
        findings.add(code, format!("such as `{}`", short(with_id[0].1)));
    }
}

fn presence(report: &IdsReport, seen: &Observation, findings: &mut Findings) {
    findings.add(Code::IdsPresent, format!("{} of {} events", report.present, seen.events));
    let without: HashSet<_> = seen.events().filter(|event| !has_id(event)).map(|event| &event.event).collect();
    let with: HashSet<_> = seen.events().filter(|event| has_id(event)).map(|event| &event.event).collect();
    let mut lacking: Vec<_> = without.difference(&with).map(|name| format!("`{}`", short(name))).collect();
    lacking.sort_unstable();
    if !lacking.is_empty() {
        findings.add(Code::IdsPartial, format!("{} have none", lacking.join(", ")));
    }
}

fn unusable(seen: &Observation, with_id: &[(u32, &Arc<str>)], findings: &mut Findings) {
    let unfit = with_id.iter().find(|(_, id)| EventId::new(Arc::clone(id)).is_some_and(|id| !id.fits_header()));
    if seen.lint.id_nul > 0 {
        findings.add(Code::IdUnusable, format!("{} ids hold NUL", seen.lint.id_nul));
    } else if let Some((_, id)) = unfit {
        findings.add(Code::IdUnusable, format!("`{}`", short(&id.escape_debug().to_string())));
    }
}

/// A place in the data whose value goes up with every event, if its name does not say that it is a time.
fn id_in_data(seen: &Observation) -> Option<String> {
    let json_events = seen.events().filter(|event| event.leaves.is_some()).count() as u64;
    let goes_up = seen.tracks.iter().filter(|(pointer, track)| {
        track.increasing
            && track.count >= TRACK_EVENTS_MIN
            && track.count == json_events
            && !is_named_like_a_time(pointer)
    });
    let is_named_like_an_id = |pointer: &str| {
        let name = last_name(pointer);
        ["seq", "id", "offset", "cursor", "version", "number"].iter().any(|word| name.contains(word))
    };
    goes_up.map(|(pointer, _)| pointer).max_by_key(|pointer| is_named_like_an_id(pointer)).cloned()
}

fn retry(report: &mut EventsReport, seen: &Observation, findings: &mut Findings) {
    let mut times = seen.said.iter().filter_map(|said| match said {
        Said::Retry(millis) => Some(*millis),
        _ => None,
    });
    report.retry_ms = times.next_back();
    match report.retry_ms {
        Some(millis) => findings.add(Code::Retry, format!("{millis} ms")),
        None => findings.add(Code::NoRetry, "no `retry:` line came"),
    }
    if seen.lint.retry_odd > 0 {
        findings.add(Code::RetryOdd, format!("{} lines", seen.lint.retry_odd));
    }
}

fn comments(report: &mut EventsReport, seen: &Observation, notices: &DropNotices, findings: &mut Findings) {
    let mut texts: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, text) in seen.comments() {
        report.comments += 1;
        *texts.entry(text).or_default() += 1;
        if let Some(dropped) = notices.comment(text) {
            let count = dropped.count.map(|count| format!(" ({count} events)")).unwrap_or_default();
            findings.add(Code::DropNotice, format!("`{}`{count}", short(text)));
        }
    }
    if report.comments == 0 {
        return;
    }
    let mut by_count: Vec<_> = texts.into_iter().collect();
    by_count.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let listed = by_count.iter().take(COMMENTS_LISTED_MAX).map(|(text, count)| format!("{count} × `{}`", short(text)));
    let more = if by_count.len() > COMMENTS_LISTED_MAX { ", and others" } else { "" };
    findings.add(Code::Comments, format!("{}{more}", listed.collect::<Vec<_>>().join(", ")));
}

/// What the standard ignores or replaces.
fn standard(seen: &Observation, findings: &mut Findings) {
    let lint = &seen.lint;
    if !lint.unknown.is_empty() {
        let names: Vec<_> =
            lint.unknown.iter().map(|(name, count)| format!("{count} × `{}`", name.escape_debug())).collect();
        findings.add(Code::UnknownFields, names.join(", "));
    }
    if seen.odd_bytes > 0 {
        findings.add(Code::OddBytes, format!("{} sequences", seen.odd_bytes));
    }
    if lint.byte_order_mark {
        findings.add(Code::ByteOrderMark, "EF BB BF");
    }
    if lint.bare_cr > 0 {
        findings.add(Code::BareCr, format!("{} lines", lint.bare_cr));
    }
}

/// The beginning of a text, on one line.
pub(super) fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(TEXT_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
