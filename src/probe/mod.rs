//! What is found out about a stream and its server from what was seen: observations in, findings out.
//!
//! Responsible for the findings of `ssectl probe`: their codes ([`finding`]), what each connection showed
//! ([`observe`]), and what follows from it about the connection ([`connection`]), the events ([`events`]), cursors
//! ([`resume`]) and the treatment of a slow reader ([`pressure`]). No IO, no clock, no runtime: times are arguments.
//! Who connects, how slowly is read and how a report looks it must never know.

pub mod connection;
pub mod events;
pub mod finding;
mod json;
mod lint;
pub mod observe;
pub mod pressure;
pub mod report;
pub mod resume;

pub use finding::{Code, Finding, Findings, Section, Severity};
pub use observe::{Ended, Observation, Recorder};
pub use report::Report;
