//! The report as a whole. Its field names are a stable contract: fields may be added, none changes.

use serde::Serialize;

use super::connection::ConnectionReport;
use super::events::EventsReport;
use super::finding::Finding;
use super::pressure::PressureReport;
use super::resume::ResumeReport;

/// What `probe` found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Always `probe`.
    pub kind: &'static str,
    /// The version of ssectl.
    pub version: &'static str,
    /// The URL that was asked for, without credentials.
    pub url: String,
    /// When the probe began (RFC 3339).
    pub time: String,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// It was ended by a signal, and says what it had by then.
    pub interrupted: bool,
    /// The connection of the reader that keeps up.
    pub connection: ConnectionReport,
    /// What it saw.
    pub events: EventsReport,
    /// What cursors do; `null` if none were tried.
    pub resume: Option<ResumeReport>,
    /// How a slow reader is treated; `null` if none was tried.
    pub backpressure: Option<PressureReport>,
    /// The findings, section by section.
    pub findings: Vec<Finding>,
}
