//! Reading records: for an owner, for `checkpoint`, and to check them.

use std::time::Duration;

use rusqlite::{Connection, Row};

use super::rows::StreamRow;
use super::{keys, lease};
use crate::consumer::cursors::advanced;
use crate::consumer::id::StreamName;
use crate::consumer::record::{Gap, Head, Mark, Record};
use crate::consumer::time::Timestamp;
use crate::store::invariants::{Stored, violations};
use crate::store::{Liveness, Mover, StoreError, StoredExport, Summary};

/// A row of `cursors`.
pub(super) struct CursorRow {
    /// Its number.
    pub(super) id: i64,
    /// The scalar part of the record.
    pub(super) head: Head,
    /// The secret of the stream's keys.
    pub(super) key_seed: [u8; 32],
    /// The redacted URL.
    pub(super) url: Option<String>,
    window: Duration,
    last_end: Option<String>,
    /// Who moved the cursor last.
    pub(super) moved_by: Option<Mover>,
}

impl CursorRow {
    /// Who moved the cursor last, if there is one.
    pub(super) fn cursor_moved_by(&self) -> Option<Mover> {
        self.moved_by.filter(|_| self.head.latest.is_some() || self.head.lagging.is_some())
    }
}

/// The row of a stream; `None` if nothing is stored.
pub(super) fn row(connection: &Connection, stream: &StreamName) -> Result<Option<CursorRow>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT * FROM cursors WHERE stream = ?1")?;
    let mut rows = statement.query([stream.as_str()])?;
    rows.next()?.map(|row| cursor_row(&StreamRow { row, stream })).transpose()
}

fn cursor_row(row: &StreamRow<'_>) -> Result<CursorRow, StoreError> {
    let window_us: i64 = row.get("window_us")?;
    Ok(CursorRow {
        id: row.get("id")?,
        head: row.head()?,
        key_seed: row.get("key_seed")?,
        url: row.get("url")?,
        window: Duration::from_micros(u64::try_from(window_us).unwrap_or(0)),
        last_end: row.get("last_end")?,
        moved_by: row.mover("moved_by")?,
    })
}

/// The whole record.
pub(super) fn record(connection: &Connection, stream: &StreamName, row: &CursorRow) -> Result<Record, StoreError> {
    let gap = open_gaps(connection, stream, row.id)?.pop();
    Ok(Record { head: row.head.clone(), marks: marks(connection, stream, row.id)?, gap })
}

fn marks(connection: &Connection, stream: &StreamName, id: i64) -> Result<Vec<Mark>, StoreError> {
    let sql = "SELECT * FROM marks WHERE cursor = ?1 ORDER BY ordinal";
    each(connection, (stream, sql, id), |row| row.mark())
}

fn gaps(connection: &Connection, stream: &StreamName, id: i64) -> Result<Vec<Gap>, StoreError> {
    let sql = "SELECT * FROM gaps WHERE cursor = ?1 ORDER BY number";
    each(connection, (stream, sql, id), |row| row.gap())
}

/// How far the stream's exports are written.
pub(super) fn exports(connection: &Connection, stream: &StreamName, id: i64) -> Result<Vec<StoredExport>, StoreError> {
    let sql = "SELECT * FROM exports WHERE cursor = ?1 ORDER BY file";
    each(connection, (stream, sql, id), |row| row.export())
}

/// All gaps that are open; more than one only in a damaged store.
pub(super) fn open_gaps(connection: &Connection, stream: &StreamName, id: i64) -> Result<Vec<Gap>, StoreError> {
    let sql = "SELECT * FROM gaps WHERE cursor = ?1 AND state = 'open' ORDER BY number";
    each(connection, (stream, sql, id), |row| row.gap())
}

fn each<T>(
    connection: &Connection,
    (stream, sql, id): (&StreamName, &str, i64),
    read: impl Fn(&StreamRow<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(read(&StreamRow { row, stream })?);
    }
    Ok(all)
}

/// The highest number of a gap; the newest are kept, so it is never lost.
pub(super) fn last_gap_number(connection: &Connection, id: i64) -> Result<u64, StoreError> {
    let number: Option<i64> = connection
        .prepare_cached("SELECT max(number) FROM gaps WHERE cursor = ?1")?
        .query_row([id], |row| row.get(0))?;
    Ok(number.map_or(0, |number| number.max(0).cast_unsigned()))
}

/// The names of all streams of which something is stored, in order.
pub(super) fn streams(connection: &Connection) -> Result<Vec<StreamName>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT stream FROM cursors ORDER BY stream")?;
    let names = statement.query_map([], |row: &Row<'_>| row.get::<_, String>(0))?;
    names
        .map(|name| {
            let name = name?;
            StreamName::new(name.clone())
                .map_err(|error| StoreError::Corrupt(format!("stream `{}`: {error}", name.escape_debug())))
        })
        .collect()
}

/// What `checkpoint` tells of a stream.
pub(super) fn summary(
    connection: &Connection,
    stream: &StreamName,
    now: Timestamp,
    liveness: &dyn Liveness,
) -> Result<Option<Summary>, StoreError> {
    let Some(row) = row(connection, stream)? else {
        return Ok(None);
    };
    let gaps = gaps(connection, stream, row.id)?;
    // Rule 2: `lagging` follows from the marks whenever it is looked at.
    let mut record = record(connection, stream, &row)?;
    advanced(&mut record, row.window, now);
    let head = record.head;
    Ok(Some(Summary {
        stream: stream.clone(),
        latest: head.latest.map(|place| place.id),
        lagging: head.lagging,
        latest_at: head.latest_at,
        lagging_at: head.lagging_at,
        window: row.window,
        gaps,
        owner: lease::load(connection, stream)?.living(now, liveness).cloned(),
        url: row.url,
        last_end: row.last_end,
        moved_by: row.moved_by,
        exports: exports(connection, stream, row.id)?,
    }))
}

/// See [`crate::store::Store::verify`].
pub(super) fn verify(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut found = Vec::new();
    let mut pages = connection.prepare("PRAGMA integrity_check")?;
    for line in pages.query_map([], |row| row.get::<_, String>(0))? {
        found.extend(Some(line?).filter(|line| line != "ok"));
    }
    let mut orphans = connection.prepare("PRAGMA foreign_key_check")?;
    for table in orphans.query_map([], |row| row.get::<_, String>(0))? {
        found.push(format!("a row of `{}` belongs to no stream", table?));
    }
    for stream in streams(connection)? {
        match check(connection, &stream) {
            Ok(more) => found.extend(more),
            Err(StoreError::Corrupt(detail)) => found.push(detail),
            Err(other) => return Err(other),
        }
    }
    Ok(found)
}

fn check(connection: &Connection, stream: &StreamName) -> Result<Vec<String>, StoreError> {
    let Some(row) = row(connection, stream)? else {
        return Ok(vec![format!("stream `{stream}`: its row cannot be found by its name")]);
    };
    lease::load(connection, stream)?;
    let (marks, gaps) = (marks(connection, stream, row.id)?, gaps(connection, stream, row.id)?);
    let segments = keys::segments(connection, row.id)?;
    Ok(violations(&Stored { stream, head: &row.head, marks: &marks, gaps: &gaps, segments: &segments }))
}
