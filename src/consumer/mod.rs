//! The policy: what to do with each frame, where to start reading again, what to remove. Data in, decisions out.
//!
//! No IO, no clock, no runtime: `now` and randomness are arguments, so a whole life of drops, crashes and
//! reconnections runs as a test in microseconds.

pub mod backoff;
pub mod compare;
pub mod delivery;
pub mod drop_notice;
pub mod id;
pub mod idle;
pub mod pointer;
pub mod ports;
pub mod record;
pub mod time;
