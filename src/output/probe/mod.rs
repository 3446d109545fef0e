//! The report of `probe`, as it is shown: one JSON object, text for a terminal, or a page.

mod page;
mod pretty;

pub use page::page;
pub use pretty::pretty;

use crate::probe::Report;

/// The report as one JSON object on one line.
#[must_use]
pub fn json(report: &Report) -> String {
    let mut text = serde_json::to_string(report).expect("a report has texts for keys");
    text.push('\n');
    text
}
