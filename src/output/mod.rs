//! What people and programs see: records on stdout or in a file, lines on stderr.
//!
//! Responsible for the formats, for the threads that write (so that a slow reader never holds up the rest of the
//! process), and for keeping what a server sends from driving a terminal. Knows nothing of cursors, of connections
//! or of why something is said; the only module that writes to stdout.

pub mod console;
pub mod escape;
pub mod export;
pub mod format;
mod human;
mod paint;
pub mod probe;
mod progress;
pub mod stats;
pub mod stdout;
pub mod time;
mod writer;
