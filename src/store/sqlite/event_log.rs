//! The log of a server's events, in an SQLite file of its own: what lets cursors of clients outlive the server.
//!
//! Responsible for the file alone. What can be read again, and by whom, it must never know.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};

use super::open;
use crate::store::StoreError;

/// What marks the file as a log (SQLite, `PRAGMA application_id`): "sseL".
const APPLICATION_ID: u32 = 0x7373_654C;
/// How long a file that another process has is waited for: a server that runs does not let go of it.
const LOCK_WAIT: Duration = Duration::from_millis(500);
/// The version of its schema.
const VERSION: u32 = 1;

/// An event as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEvent {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// Its type.
    pub event: String,
    /// Its data.
    pub data: String,
}

/// A log that is open. One process at a time appends to it.
#[derive(Debug)]
pub struct EventLog {
    connection: Connection,
    events_max: i64,
}

impl EventLog {
    /// Opens the file, making it (mode 0600) where there is none. Of the events that are in it, the newest are kept.
    ///
    /// # Errors
    /// [`StoreError`] if it is something else, newer, damaged, or in use.
    pub fn open(path: &Path, events_max: usize) -> Result<Self, StoreError> {
        open::create(path).map_err(|why| StoreError::Failed(format!("the log cannot be made: {why}")))?;
        let connection = Connection::open(path)?;
        connection.busy_timeout(LOCK_WAIT)?;
        identify(&connection)?;
        open::set_journal_mode(&connection, LOCK_WAIT)?;
        // One server appends; a second one would give its clients the ids of the first.
        connection.pragma_update(None, "locking_mode", "exclusive")?;
        connection.execute_batch(
            "BEGIN IMMEDIATE;
             CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, id TEXT, event TEXT NOT NULL, data TEXT NOT NULL)
             STRICT;",
        )?;
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", VERSION)?;
        connection.execute_batch("COMMIT;")?;
        Ok(Self { connection, events_max: i64::try_from(events_max).unwrap_or(i64::MAX) })
    }

    /// The events that are kept, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub fn events(&self) -> Result<Vec<LoggedEvent>, StoreError> {
        let mut newest = self.connection.prepare("SELECT id, event, data FROM events ORDER BY seq DESC LIMIT ?1")?;
        let event =
            |row: &rusqlite::Row<'_>| Ok(LoggedEvent { id: row.get(0)?, event: row.get(1)?, data: row.get(2)? });
        let mut events = newest.query_map([self.events_max], event)?.collect::<Result<Vec<_>, _>>()?;
        events.reverse();
        Ok(events)
    }

    /// Appends events in one transaction, and lets the oldest go.
    ///
    /// # Errors
    /// [`StoreError`]; nothing of them is kept then.
    pub fn append(&mut self, events: &[LoggedEvent]) -> Result<(), StoreError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut insert = transaction.prepare_cached("INSERT INTO events (id, event, data) VALUES (?1, ?2, ?3)")?;
            for LoggedEvent { id, event, data } in events {
                insert.execute(params![id, event, data])?;
            }
            let mut forget =
                transaction.prepare_cached("DELETE FROM events WHERE seq <= (SELECT max(seq) FROM events) - ?1")?;
            forget.execute([self.events_max])?;
        }
        Ok(transaction.commit()?)
    }
}

/// A file that is not a log must not be touched.
fn identify(connection: &Connection) -> Result<(), StoreError> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    match application {
        APPLICATION_ID if version > VERSION => Err(StoreError::NewerSchema { found: version, known: VERSION }),
        APPLICATION_ID => Ok(()),
        0 if tables == 0 => Ok(()),
        _ => Err(StoreError::Failed("the file is another program's, or no log".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: u32) -> LoggedEvent {
        LoggedEvent { id: Some(number.to_string()), event: "tick".into(), data: format!("d{number}") }
    }

    #[test]
    fn what_is_appended_is_there_again_and_the_oldest_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.db");
        let mut log = EventLog::open(&path, 3).unwrap();
        log.append(&[event(1), event(2)]).unwrap();
        log.append(&[event(3), LoggedEvent { id: None, ..event(4) }]).unwrap();
        drop(log);
        let kept = EventLog::open(&path, 3).unwrap().events().unwrap();
        assert_eq!(kept, [event(2), event(3), LoggedEvent { id: None, ..event(4) }]);
        assert_eq!(EventLog::open(&path, 1).unwrap().events().unwrap().len(), 1);
    }

    #[test]
    fn another_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.db");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
        assert!(matches!(EventLog::open(&path, 3), Err(StoreError::Failed(_))));
        std::fs::write(folder.path().join("text"), "no database at all, but long enough to be looked at").unwrap();
        assert!(EventLog::open(&folder.path().join("text"), 3).is_err());
    }

    #[test]
    fn a_second_server_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.db");
        let mut first = EventLog::open(&path, 3).unwrap();
        first.append(&[event(1)]).unwrap();
        let second = Connection::open(&path).unwrap();
        second.busy_timeout(Duration::ZERO).unwrap();
        assert!(identify(&second).is_err());
    }
}
