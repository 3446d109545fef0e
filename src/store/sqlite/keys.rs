//! Keys of delivered events, in segments: a row holds up to [`SEGMENT_KEYS`] of them, and the last row is extended.
//!
//! A row an event would cost several times the space and a B-tree insertion each; a segment is found by its first
//! sequence number, and pruned whole.

use rusqlite::{Connection, OptionalExtension, params};

use super::rows::int;
use crate::consumer::id::StreamName;
use crate::consumer::record::Key;
use crate::store::StoreError;

/// How many keys a row holds at most.
pub(super) const SEGMENT_KEYS: u64 = 512;

/// Room is made at once for no more keys than this; an open gap is given up before there are more.
const KEYS_RESERVED_MAX: usize = 11_000_000;

const KEY_BYTES: usize = size_of::<Key>();

/// Appends keys, the first of which has sequence number `first`.
pub(super) fn append(connection: &Connection, cursor: i64, first: u64, keys: &[Key]) -> Result<(), StoreError> {
    if keys.is_empty() {
        return Ok(());
    }
    let room = room_in_last(connection, cursor, first)?;
    let (into_last, rest) = keys.split_at(room.min(keys.len()));
    if !into_last.is_empty() {
        // `||` makes text of blobs, byte for byte; the cast makes a blob of it again.
        let sql = "UPDATE keys SET keys = CAST(keys || ?2 AS BLOB)
                   WHERE cursor = ?1 AND first = (SELECT max(first) FROM keys WHERE cursor = ?1)";
        connection.prepare_cached(sql)?.execute(params![cursor, bytes(into_last)])?;
    }
    let mut next = first + into_last.len() as u64;
    for segment in rest.chunks(SEGMENT_KEYS as usize) {
        connection.prepare_cached("INSERT INTO keys (cursor, first, keys) VALUES (?1, ?2, ?3)")?.execute(params![
            cursor,
            int(next),
            bytes(segment)
        ])?;
        next += segment.len() as u64;
    }
    Ok(())
}

/// How many keys the last segment still takes; 0 where there is none.
fn room_in_last(connection: &Connection, cursor: i64, next: u64) -> Result<usize, StoreError> {
    let last: Option<i64> = connection
        .prepare_cached("SELECT max(first) FROM keys WHERE cursor = ?1")?
        .query_row([cursor], |row| row.get(0))?;
    let held = last.map_or(SEGMENT_KEYS, |last| next.saturating_sub(last.cast_unsigned()));
    Ok(SEGMENT_KEYS.saturating_sub(held) as usize)
}

/// Deletes the segments that hold nothing but keys below `keep_from`, except the last one.
pub(super) fn prune(connection: &Connection, cursor: i64, keep_from: u64) -> Result<(), StoreError> {
    if keep_from > 0 {
        // Segments are contiguous: those before the one that `keep_from` lies in, or before the last.
        let sql = "DELETE FROM keys WHERE cursor = ?1
                   AND first < (SELECT max(first) FROM keys WHERE cursor = ?1 AND first <= ?2)";
        connection.prepare_cached(sql)?.execute(params![cursor, int(keep_from)])?;
    }
    Ok(())
}

/// Deletes all.
pub(super) fn clear(connection: &Connection, cursor: i64) -> Result<(), StoreError> {
    connection.prepare_cached("DELETE FROM keys WHERE cursor = ?1")?.execute([cursor])?;
    Ok(())
}

/// All keys from a sequence number on.
pub(super) fn read(connection: &Connection, stream: &StreamName, from: u64) -> Result<Vec<Key>, StoreError> {
    let cursor: Option<i64> = connection
        .prepare_cached("SELECT id FROM cursors WHERE stream = ?1")?
        .query_row([stream.as_str()], |row| row.get(0))
        .optional()?;
    let sql = "SELECT first, keys FROM keys WHERE cursor = ?1 AND first > ?2 ORDER BY first";
    let mut statement = connection.prepare_cached(sql)?;
    // A segment that begins earlier than this ends before `from`. Below the first one all are wanted.
    let after = int(from).saturating_sub(int(SEGMENT_KEYS)).max(-1);
    let mut keys = Vec::with_capacity(count_from(connection, cursor, from)?);
    let mut rows = statement.query(params![cursor, after])?;
    while let Some(row) = rows.next()? {
        let first: i64 = row.get(0)?;
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        let skipped = int(from).saturating_sub(first).max(0).cast_unsigned() as usize;
        let key = |bytes: &[u8; KEY_BYTES]| Key::from_be_bytes(*bytes);
        keys.extend(bytes.as_chunks().0.iter().skip(skipped).map(key));
    }
    Ok(keys)
}

/// How many keys there are from a sequence number on: millions of them are read without growing.
fn count_from(connection: &Connection, cursor: Option<i64>, from: u64) -> Result<usize, StoreError> {
    let sql = "SELECT first + length(keys) / 16 FROM keys WHERE cursor = ?1 ORDER BY first DESC LIMIT 1";
    let end: Option<i64> = connection.prepare_cached(sql)?.query_row([cursor], |row| row.get(0)).optional()?;
    let sql = "SELECT first FROM keys WHERE cursor = ?1 ORDER BY first LIMIT 1";
    let first: Option<i64> = connection.prepare_cached(sql)?.query_row([cursor], |row| row.get(0)).optional()?;
    let count = end.unwrap_or(0).saturating_sub(first.unwrap_or(0).max(int(from)));
    // A damaged store may say anything.
    Ok(usize::try_from(count).unwrap_or(0).min(KEYS_RESERVED_MAX))
}

/// First sequence number and count of every segment, in order.
pub(super) fn segments(connection: &Connection, cursor: i64) -> Result<Vec<(u64, u64)>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT first, length(keys) / 16 FROM keys WHERE cursor = ?1 ORDER BY first")?;
    let segment = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    let rows = statement.query_map([cursor], segment)?;
    rows.map(|row| row.map(|(first, count)| (first.max(0).cast_unsigned(), count.cast_unsigned())))
        .map(|row| row.map_err(StoreError::from))
        .collect()
}

fn bytes(keys: &[Key]) -> Vec<u8> {
    keys.iter().flat_map(|key| key.to_be_bytes()).collect()
}
