//! One module for each subcommand: it takes its settings, plugs the parts together, and decides nothing that a
//! part could decide.

pub mod checkpoint;
pub mod completions;

use std::path::Path;

use crate::store::{Store, StoreError};

/// Opens the database at `path`, and makes it where there is none.
///
/// # Errors
/// [`StoreError`] if it cannot be used.
pub fn open_store(path: &Path) -> Result<Box<dyn Store>, StoreError> {
    // To become: Ok(Box::new(crate::store::sqlite::SqliteStore::open(path)?))
    Err(StoreError::Failed(format!("no database can be opened yet: `{}`", path.display())))
}
