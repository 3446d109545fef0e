//! Records in an SQLite file: the store that survives.
//!
//! Responsible for the file (who may read it, whose it is, which version) and for one transaction per method.
//! What a lease or a change means is decided in `ownership.rs` and `change.rs`; this module only keeps it.
//!
//! In WAL mode with `synchronous=NORMAL` a power cut may take the last commits, never part of one. That is within
//! rule 1: the cursor is then before what was delivered, not after it. A commit with which an export goes is itself
//! durable: a file that was finished or taken away after it cannot be cut back to an older one.

pub mod event_log;
mod keys;
mod lease;
mod open;
mod read;
mod rows;
mod schema;
mod write;

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use super::{Acquire, Acquired, Change, Edit, Liveness, Store, StoreError, Summary};
use crate::consumer::id::StreamName;
use crate::consumer::record::{Commit, Epoch, Key, Record};
use crate::consumer::time::Timestamp;

pub use schema::SCHEMA_VERSION;

/// How long a method waits for another process that writes.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// `PRAGMA synchronous`: from here on a commit is durable when it returns (SQLite, "Pragma statements").
const SYNCHRONOUS_FULL: i64 = 2;

/// Keeps records in one SQLite file.
pub struct SqliteStore {
    connection: Connection,
    liveness: Box<dyn Liveness>,
    /// Commits are durable when they return: now ...
    durable: bool,
    /// ... and always, where the file cannot be in WAL mode.
    always_durable: bool,
}

impl SqliteStore {
    /// Opens the file, making it (mode 0600, missing directories 0700) where there is none, and brings its schema up
    /// to date. `liveness` is asked whether a holder still runs.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`] and [`StoreError::Corrupt`] as they say; [`StoreError::Failed`] if the file is
    /// another program's, read-only or locked. The file is left as it was then.
    pub fn open(path: &Path, liveness: impl Liveness + 'static) -> Result<Self, StoreError> {
        Self::open_waiting(path, liveness, BUSY_TIMEOUT)
    }

    /// As [`SqliteStore::open`], with another limit in the place of [`BUSY_TIMEOUT`].
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_waiting(
        path: &Path,
        liveness: impl Liveness + 'static,
        busy_timeout: Duration,
    ) -> Result<Self, StoreError> {
        let connection = open::open(path, busy_timeout)?;
        let level: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
        let durable = level >= SYNCHRONOUS_FULL;
        Ok(Self { connection, liveness: Box::new(liveness), durable, always_durable: durable })
    }

    /// Makes the next commits durable, or lets a power cut take the last of them.
    fn set_durable(&mut self, durable: bool) -> Result<(), StoreError> {
        let durable = durable || self.always_durable;
        if self.durable != durable {
            self.connection.pragma_update(None, "synchronous", if durable { "FULL" } else { "NORMAL" })?;
            self.durable = durable;
        }
        Ok(())
    }

    fn reading(&mut self) -> Result<Transaction<'_>, StoreError> {
        Ok(self.connection.transaction_with_behavior(TransactionBehavior::Deferred)?)
    }

    /// Does `work` in a transaction of its own: whole, or not at all.
    fn writing<T>(
        &mut self,
        work: impl FnOnce(&Connection, &dyn Liveness) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction, &*self.liveness)?;
        transaction.commit()?;
        Ok(done)
    }
}

impl Store for SqliteStore {
    fn acquire(&mut self, request: &Acquire) -> Result<Acquired, StoreError> {
        self.writing(|connection, liveness| lease::acquire(connection, request, liveness))
    }

    fn commit(&mut self, stream: &StreamName, epoch: Epoch, commit: &Commit) -> Result<(), StoreError> {
        self.set_durable(commit.export.is_some())?;
        self.writing(|connection, _| write::check(connection, stream, epoch, commit)?.apply(connection))
    }

    fn commit_all(&mut self, changes: &[Change]) -> Vec<Result<(), StoreError>> {
        let durable = changes.iter().any(|change| change.commit.export.is_some());
        let all = self.set_durable(durable).and_then(|()| {
            self.writing(|connection, _| {
                let each = |change: &Change| {
                    match write::check(connection, &change.stream, change.epoch, &change.commit) {
                        Ok(checked) => checked.apply(connection).map(Ok),
                        // Nothing was written of it, so the others of the group can go on.
                        Err(refused) => Ok(Err(refused)),
                    }
                };
                changes.iter().map(each).collect::<Result<Vec<_>, _>>()
            })
        });
        all.unwrap_or_else(|error| changes.iter().map(|_| Err(error.clone())).collect())
    }

    fn keys(&mut self, stream: &StreamName, from: u64) -> Result<Vec<Key>, StoreError> {
        keys::read(&*self.reading()?, stream, from)
    }

    fn renew(&mut self, stream: &StreamName, epoch: Epoch, now: Timestamp) -> Result<(), StoreError> {
        self.writing(|connection, _| lease::renew(connection, stream, epoch, now))
    }

    fn release(&mut self, stream: &StreamName, epoch: Epoch, last_end: &str) -> Result<(), StoreError> {
        self.writing(|connection, _| lease::release(connection, stream, epoch, last_end))
    }

    fn list(&mut self, now: Timestamp) -> Result<Vec<Summary>, StoreError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
        let mut all = Vec::new();
        for stream in read::streams(&transaction)? {
            all.extend(read::summary(&transaction, &stream, now, &*self.liveness)?);
        }
        Ok(all)
    }

    fn show(&mut self, stream: &StreamName, now: Timestamp) -> Result<Option<Summary>, StoreError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
        read::summary(&transaction, stream, now, &*self.liveness)
    }

    fn peek(&mut self, stream: &StreamName) -> Result<Option<Record>, StoreError> {
        let transaction = self.reading()?;
        match read::row(&transaction, stream)? {
            Some(row) => Ok(Some(read::record(&transaction, stream, &row)?)),
            None => Ok(None),
        }
    }

    fn edit(&mut self, stream: &StreamName, edit: &Edit, force: bool, now: Timestamp) -> Result<(), StoreError> {
        self.writing(|connection, liveness| {
            let owner = lease::load(connection, stream)?.living(now, liveness).cloned();
            match owner {
                Some(holder) if !force => Err(StoreError::Busy(holder)),
                _ => write::edit(connection, stream, edit, now),
            }
        })
    }

    fn verify(&mut self) -> Result<Vec<String>, StoreError> {
        read::verify(&*self.reading()?)
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let Some(code) = error.sqlite_error_code() else {
            return unreadable(&error);
        };
        match code {
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Corrupt(error.to_string()),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                Self::Failed("another program keeps the database locked".to_owned())
            }
            ErrorCode::ReadOnly => {
                Self::Failed("the database is read-only: the file or its directory cannot be written".to_owned())
            }
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied => Self::Failed(
                "the database cannot be opened: no permission for the file or for its directory".to_owned(),
            ),
            ErrorCode::DiskFull => Self::Failed("no space is left for the database".to_owned()),
            ErrorCode::SystemIoFailure => Self::Failed(format!("the database cannot be read or written: {error}")),
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// An error of reading values is damage; any other that does not come from SQLite is a failure.
fn unreadable(error: &rusqlite::Error) -> StoreError {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    match error {
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..) => {
            StoreError::Corrupt(error.to_string())
        }
        _ => StoreError::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
