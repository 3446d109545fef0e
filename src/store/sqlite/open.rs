//! Making and opening the file: its permissions, its journal mode, whose it is.

use std::fs::{DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::schema;
use crate::store::StoreError;

/// Room for every statement of this store, so that each is compiled once.
const STATEMENTS: usize = 64;

/// How long to wait before the journal mode is asked for again.
const RETRY: Duration = Duration::from_millis(10);

/// Opens the file with its schema up to date.
pub(super) fn open(path: &Path, busy_timeout: Duration) -> Result<Connection, StoreError> {
    create(path).map_err(|why| StoreError::Failed(format!("the database cannot be made: {why}")))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // A file that is not ours must not be touched, so this comes before everything that writes.
    schema::identify(&connection)?;
    if connection.is_readonly("main")? {
        return Err(StoreError::Failed("the database is read-only".to_owned()));
    }
    set_journal_mode(&connection, busy_timeout)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    schema::migrate(&mut connection)?;
    Ok(connection)
}

/// Makes the file where there is none, readable by its owner alone from the first moment: it names URLs and streams.
/// SQLite gives its `-wal` and `-shm` the same mode.
///
/// # Errors
/// Why not, in words.
pub(super) fn create(path: &Path) -> Result<(), String> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                format!("a file is in the way of the directory `{}`", parent.display())
            }
            _ => error.to_string(),
        })?;
    }
    // An existing file is not opened here: closing it again would drop the locks that another connection of this
    // process may have on it (POSIX locks belong to the process).
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error.to_string()),
        Err(_) if path.is_dir() => Err("its path is that of a directory".to_owned()),
        _ => Ok(()),
    }
}

/// WAL, so that readers (`checkpoint list`) and the writer do not wait for each other. A file system that cannot have
/// it keeps the rollback journal; there only `FULL` keeps a power cut from damaging the file.
pub(super) fn set_journal_mode(connection: &Connection, busy_timeout: Duration) -> Result<(), StoreError> {
    let mode = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    let mut journal: String = connection.pragma_query_value(None, "journal_mode", mode)?;
    let deadline = Instant::now() + busy_timeout;
    while journal != "wal" {
        // SQLite does not wait by itself here when two processes switch a new file at the same time.
        match connection.pragma_update_and_check(None, "journal_mode", "wal", mode) {
            Ok(now) => {
                journal = now;
                break;
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < deadline => {
                thread::sleep(RETRY);
            }
            Err(error) => return Err(error.into()),
        }
    }
    let synchronous = if journal == "wal" { "NORMAL" } else { "FULL" };
    Ok(connection.pragma_update(None, "synchronous", synchronous)?)
}
