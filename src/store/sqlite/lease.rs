//! Ownership in rows: the table `leases`.

use rusqlite::{Connection, Row, params};

use super::read;
use super::rows::{StreamRow, micros};
use crate::consumer::id::StreamName;
use crate::consumer::record::{Epoch, Head};
use crate::consumer::time::Timestamp;
use crate::store::memory::new_seed;
use crate::store::ownership::{Lease, Verdict};
use crate::store::{Acquire, Acquired, Holder, LEASE, Liveness, Mover, Owned, Process, StoreError};

/// The lease of a stream; the default one if it was never owned.
pub(super) fn load(connection: &Connection, stream: &StreamName) -> Result<Lease, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT epoch, released, edited, pid, host, boot, started, mover, since, expires_at FROM leases WHERE stream = ?1",
    )?;
    let mut rows = statement.query([stream.as_str()])?;
    match rows.next()? {
        Some(row) => from_row(row, stream),
        None => Ok(Lease::default()),
    }
}

fn from_row(row: &Row<'_>, stream: &StreamName) -> Result<Lease, StoreError> {
    let row = StreamRow { row, stream };
    let holder = match (row.get::<Option<u32>>("pid")?, row.mover("mover")?) {
        (Some(pid), Some(mover)) => Some(Holder {
            process: Process {
                pid,
                host: row.get("host")?,
                boot: row.get("boot")?,
                started: row.get::<i64>("started")?.cast_unsigned(),
            },
            mover,
            since: Timestamp(row.get("since")?),
            expires_at: Timestamp(row.get("expires_at")?),
        }),
        _ => None,
    };
    let (released, edited) = (row.get("released")?, row.get("edited")?);
    Ok(Lease { epoch: row.get::<i64>("epoch")?.cast_unsigned(), holder, released, edited })
}

/// Keeps a lease; the number of its row, which is also that of the stream's row in `cursors`.
pub(super) fn save(connection: &Connection, stream: &StreamName, lease: &Lease) -> Result<i64, StoreError> {
    let sql = "INSERT INTO leases (stream, epoch, released, pid, host, boot, started, mover, since, expires_at, edited)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
               ON CONFLICT (stream) DO UPDATE SET epoch = ?2, released = ?3, pid = ?4, host = ?5, boot = ?6,
                   started = ?7, mover = ?8, since = ?9, expires_at = ?10, edited = ?11
               RETURNING id";
    let holder = lease.holder.as_ref();
    let process = holder.map(|holder| &holder.process);
    let values = params![
        stream.as_str(),
        lease.epoch.cast_signed(),
        lease.released,
        process.map(|process| process.pid),
        process.map(|process| &process.host),
        process.map(|process| &process.boot),
        process.map(|process| process.started.cast_signed()),
        holder.map(|holder| holder.mover.as_str()),
        holder.map(|holder| holder.since.0),
        holder.map(|holder| holder.expires_at.0),
        lease.edited,
    ];
    Ok(connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
}

/// See [`crate::store::Store::acquire`].
pub(super) fn acquire(
    connection: &Connection,
    request: &Acquire,
    liveness: &dyn Liveness,
) -> Result<Acquired, StoreError> {
    let stream = &request.stream;
    let mut lease = load(connection, stream)?;
    let moved_by: Option<Mover> = read::row(connection, stream)?.and_then(|row| row.cursor_moved_by());
    let taken_from = match lease.judge(request, moved_by, liveness) {
        Verdict::Busy(holder) => return Ok(Acquired::Busy(holder)),
        Verdict::Reserved(mover) => return Ok(Acquired::Reserved(mover)),
        Verdict::Take(from) => from,
    };
    lease.take(request);
    let id = save(connection, stream, &lease)?;
    ensure_row(connection, stream, id)?;
    let row = read::row(connection, stream)?.ok_or(StoreError::UnknownStream)?;
    let last_gap_number = read::last_gap_number(connection, id)?;
    let known = lease.edited || last_gap_number > 0 || row.head != Head::default();
    connection
        .prepare_cached("UPDATE cursors SET url = ?2, window_us = ?3, last_end = NULL WHERE id = ?1")?
        .execute(params![id, request.url, micros(request.window)])?;
    Ok(Acquired::Owned(Box::new(Owned {
        epoch: Epoch(lease.epoch),
        record: read::record(connection, stream, &row)?,
        last_gap_number,
        key_seed: row.key_seed,
        taken_from,
        previous_url: row.url.filter(|url| *url != request.url),
        known,
        exports: read::exports(connection, stream, id)?,
    })))
}

/// Makes the stream's row in `cursors` where there is none.
pub(super) fn ensure_row(connection: &Connection, stream: &StreamName, id: i64) -> Result<(), StoreError> {
    connection
        .prepare_cached("INSERT INTO cursors (id, stream, key_seed) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING")?
        .execute(params![id, stream.as_str(), new_seed()?])?;
    Ok(())
}

/// See [`crate::store::Store::renew`].
pub(super) fn renew(
    connection: &Connection,
    stream: &StreamName,
    epoch: Epoch,
    now: Timestamp,
) -> Result<(), StoreError> {
    load(connection, stream)?.owner(epoch)?;
    connection
        .prepare_cached("UPDATE leases SET expires_at = ?2 WHERE stream = ?1")?
        .execute(params![stream.as_str(), now.plus(LEASE).0])?;
    Ok(())
}

/// See [`crate::store::Store::release`].
pub(super) fn release(
    connection: &Connection,
    stream: &StreamName,
    epoch: Epoch,
    last_end: &str,
) -> Result<(), StoreError> {
    let mut lease = load(connection, stream)?;
    lease.owner(epoch)?;
    lease.release();
    save(connection, stream, &lease)?;
    connection
        .prepare_cached("UPDATE cursors SET last_end = ?2 WHERE stream = ?1")?
        .execute(params![stream.as_str(), last_end])?;
    Ok(())
}
