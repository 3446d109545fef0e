//! Stored streams for a person: a table of all, a block of one. Control characters are shown escaped.

use std::fmt::Write;
use std::ops::Range;

use crate::consumer::id::EventId;
use crate::consumer::record::{Gap, GapState};
use crate::consumer::time::Timestamp;
use crate::error::holder_words;
use crate::output::escape::one_line;
use crate::output::time::rfc3339_micros;
use crate::settings::parse::duration_text;
use crate::store::Summary;

/// Longer ids are cut in the table, where they would push the other columns away. `show` has them whole.
const TABLE_ID_CHARS_MAX: usize = 40;

/// Where a time has its fraction of a second (`2026-11-30T20:41:06.123456Z`), in bytes.
const FRACTION: Range<usize> = 19..26;

/// A table with a row for each stream.
pub fn list(summaries: &[Summary]) -> String {
    let head = ["STREAM", "LATEST", "LAGGING", "MOVED", "WINDOW", "GAPS", "OWNER"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(summaries.iter().map(row)).collect();
    let mut widths = [0; 7];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut table = String::new();
    for row in &rows {
        let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        table.push_str(cells.join("  ").trim_end());
        table.push('\n');
    }
    table
}

fn row(summary: &Summary) -> [String; 7] {
    let id = |id: &Option<EventId>| id.as_ref().map_or("-".to_owned(), |id| shortened(&one_line(id.as_str())));
    [
        one_line(summary.stream.as_str()).into_owned(),
        id(&summary.latest),
        id(&summary.lagging),
        summary.latest_at.map_or("-".to_owned(), rfc3339_seconds),
        duration_text(summary.window_in_force()),
        gap_counts(&summary.gaps),
        summary.owner.as_ref().map_or("-".to_owned(), holder_words),
    ]
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= TABLE_ID_CHARS_MAX {
        return text.to_owned();
    }
    let kept: String = text.chars().take(TABLE_ID_CHARS_MAX - 1).collect();
    format!("{kept}…")
}

/// How many gaps are in which state, what is lost first: `1 unrecoverable, 2 recovered`.
fn gap_counts(gaps: &[Gap]) -> String {
    use GapState::{Abandoned, Ignored, Open, Partial, Recovered, Unrecoverable};
    let counted: Vec<_> = [Unrecoverable, Partial, Open, Ignored, Abandoned, Recovered]
        .into_iter()
        .map(|state| (gaps.iter().filter(|gap| gap.state == state).count(), state))
        .filter(|(count, _)| *count > 0)
        .map(|(count, state)| format!("{count} {}", state.as_str()))
        .collect();
    if counted.is_empty() { "-".to_owned() } else { counted.join(", ") }
}

/// All that is known of one stream.
pub fn show(summary: &Summary) -> String {
    let mut block = format!("{}\n", one_line(summary.stream.as_str()));
    let mut line = |label: &str, text: &str| {
        let _ = writeln!(block, "  {label:<9} {text}");
    };
    line("latest", &position(summary.latest.as_ref(), summary.latest_at.map(|at| ("moved", at))));
    line("lagging", &position(summary.lagging.as_ref(), summary.lagging_at.map(|at| ("delivered", at))));
    line("window", &duration_text(summary.window_in_force()));
    line("url", &summary.url.as_deref().map_or("-".to_owned(), |text| one_line(text).into_owned()));
    let owner = summary.owner.as_ref();
    line(
        "owner",
        &owner.map_or("nobody reads it now".to_owned(), |holder| {
            format!("{}, since {}", holder_words(holder), rfc3339_seconds(holder.since))
        }),
    );
    line("last end", &summary.last_end.as_deref().map_or("-".to_owned(), |text| one_line(text).into_owned()));
    line("gaps", &if summary.gaps.is_empty() { "none".to_owned() } else { gap_counts(&summary.gaps) });
    append_gaps(&mut block, &summary.gaps);
    block
}

/// Lost events first, then what is still open, then the rest.
fn append_gaps(block: &mut String, gaps: &[Gap]) {
    let mut gaps: Vec<_> = gaps.iter().collect();
    gaps.sort_by_key(|gap| (urgency(gap.state), gap.number));
    for gap in gaps {
        let label = if urgency(gap.state) == 0 { "LOST: " } else { "" };
        let dropped = gap.dropped.map_or("an unknown number of".to_owned(), |dropped| dropped.to_string());
        let _ = writeln!(
            block,
            "\n  {label}gap {}, {}: {dropped} events announced as dropped, {} recovered, {} removed as known",
            gap.number,
            gap.state.as_str(),
            gap.recovered,
            gap.removed,
        );
        let place =
            gap.place.as_ref().map_or("before any id".to_owned(), |id| format!("after {}", one_line(id.as_str())));
        let until = gap.ended_at.map_or(String::new(), |at| format!(" until {}", rfc3339_seconds(at)));
        let _ = writeln!(block, "    {place}, {}{until}", rfc3339_seconds(gap.opened_at));
        let _ = writeln!(block, "    the server said: {}", one_line(&gap.text));
    }
}

fn urgency(state: GapState) -> u8 {
    match state {
        GapState::Unrecoverable | GapState::Partial | GapState::Ignored => 0,
        GapState::Open => 1,
        GapState::Abandoned | GapState::Recovered => 2,
    }
}

fn position(id: Option<&EventId>, at: Option<(&str, Timestamp)>) -> String {
    let Some(id) = id else { return "none yet".to_owned() };
    let id = one_line(id.as_str());
    at.map_or(id.to_string(), |(verb, at)| format!("{id}  ({verb} {})", rfc3339_seconds(at)))
}

/// RFC 3339 in UTC, to the second: a person has no use for more.
fn rfc3339_seconds(at: Timestamp) -> String {
    let mut text = rfc3339_micros(at);
    text.replace_range(FRACTION, "");
    text
}
