//! The policy: what to do with each frame, where to start reading again, what to remove. Data in, decisions out.
//!
//! No IO, no clock, no runtime: `now` and randomness are arguments, so a whole life of drops, crashes and
//! reconnections runs as a test in microseconds.

pub mod delivery;
pub mod id;
pub mod ports;
pub mod record;
pub mod time;
