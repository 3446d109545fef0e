//! The policy: what to do with each frame, where to start reading again, what to remove. Data in, decisions out.
//!
//! No IO, no clock, no runtime: `now` and randomness are arguments, so a whole life of drops, crashes and
//! reconnections runs as a test in microseconds.
//!
//! The rules that are numbered here are those of the cursors in `docs/rules.md`. Where each lives: 1 and 2 in
//! `cursors` and [`marks`], 3 in [`machine`], 4 to 6 in `gaps` and `events`, 7 in [`keys`] and `events`, 8 in [`machine`].

pub mod backoff;
pub mod compare;
pub mod cursors;
pub mod delivery;
pub mod drop_notice;
mod events;
mod gaps;
pub mod id;
pub mod idle;
pub mod keys;
pub mod machine;
pub mod marks;
pub mod options;
pub mod pointer;
pub mod policy;
pub mod ports;
pub mod rebuild;
pub mod record;
pub mod replay;
pub mod stats;
#[cfg(test)]
mod tests;
pub mod time;
