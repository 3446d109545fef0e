//! One module for each subcommand: it takes its settings, plugs the parts together, and decides nothing that a
//! part could decide.

pub mod checkpoint;
pub mod completions;
pub mod demo;
pub mod ending;
mod exports;
pub mod follow;
pub mod probe;
pub mod replay;
pub mod serve;
mod signals;
mod sinks;
mod wiring;

use std::path::Path;

use crate::store::process::LocalProcesses;
use crate::store::sqlite::SqliteStore;
use crate::store::{Store, StoreError};

/// Opens the database at `path`, and makes it where there is none.
///
/// # Errors
/// [`StoreError`] if it cannot be used.
pub fn open_store(path: &Path) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(SqliteStore::open(path, LocalProcesses::new())?))
}
