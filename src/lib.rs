//! `ssectl` as a library: the parts of the command-line tool, for its tests, benches and fuzz targets.
//!
//! The floors and the rule that arrows point down only are drawn in `ARCHITECTURE.md`. From the bottom:
//! [`wire`] turns bytes into frames, [`consumer`] decides what to do with them, [`backpressure`] what a slow reader costs,
//! the edge modules ([`http`], [`store`], [`output`], [`driver`], [`server`]) touch the world, [`commands`] wires them.

pub mod backpressure;
pub mod cli;
pub mod commands;
pub mod consumer;
pub mod driver;
pub mod error;
pub mod http;
pub mod output;
pub mod probe;
pub mod redact;
pub mod server;
pub mod settings;
pub mod store;
pub mod wire;
