//! `ssectl` as a library: the parts of the command-line tool, for its tests, benches and fuzz targets.
//!
//! The floors and the rule that arrows point down only are drawn in `ARCHITECTURE.md`. From the bottom:
//! [`wire`] turns bytes into frames, [`consumer`] decides what to do with them, the edge modules
//! ([`http`], [`store`], [`output`], [`driver`], [`server`]) touch the world, [`commands`] wires them.

pub mod consumer;
pub mod server;
pub mod output;
pub mod http;
pub mod redact;
pub mod store;
pub mod wire;
