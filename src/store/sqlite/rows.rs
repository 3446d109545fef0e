//! Values between rows and types. A value that cannot be one of ours is damage, and is named by its column.

use std::time::Duration;

use rusqlite::Row;
use rusqlite::types::FromSql;

use crate::consumer::id::{Cursor, EventId, StreamName};
use crate::consumer::record::{ExportMark, Gap, GapState, Head, Key, Mark, Phase, Place};
use crate::consumer::time::Timestamp;
use crate::store::{Mover, StoreError, StoredExport};

/// A number as SQLite has it. Those that may not be larger were refused before ([`crate::store::change`]); a count
/// that is stays at the largest.
pub(super) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A duration in microseconds.
pub(super) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// A position as it is stored.
pub(super) fn cursor(stream: &StreamName, id: &EventId) -> String {
    // Not by way of a `Cursor`, which would have to own both.
    format!("{stream}#{id}")
}

/// The two stored positions of a place.
pub(super) fn place(stream: &StreamName, place: Option<&Place>) -> (Option<String>, Option<String>) {
    let before = place.and_then(|place| place.before.as_ref());
    (place.map(|place| cursor(stream, &place.id)), before.map(|id| cursor(stream, id)))
}

/// A row of one stream.
pub(super) struct StreamRow<'r> {
    /// The row.
    pub(super) row: &'r Row<'r>,
    /// The stream that it must be of.
    pub(super) stream: &'r StreamName,
}

impl StreamRow<'_> {
    /// A value as it is.
    pub(super) fn get<T: FromSql>(&self, column: &str) -> Result<T, StoreError> {
        self.row.get(column).map_err(|error| match StoreError::from(error) {
            StoreError::Corrupt(detail) => self.damaged(column, &detail),
            other => other,
        })
    }

    fn damaged(&self, column: &str, what: &str) -> StoreError {
        StoreError::Corrupt(format!("stream `{}`, column `{column}`: {what}", self.stream))
    }

    fn number(&self, column: &str) -> Result<u64, StoreError> {
        let number: i64 = self.get(column)?;
        u64::try_from(number).map_err(|_| self.damaged(column, "a negative number"))
    }

    fn number_or_none(&self, column: &str) -> Result<Option<u64>, StoreError> {
        match self.get::<Option<i64>>(column)? {
            Some(_) => self.number(column).map(Some),
            None => Ok(None),
        }
    }

    fn time_or_none(&self, column: &str) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.get::<Option<i64>>(column)?.map(Timestamp))
    }

    fn id(&self, column: &str) -> Result<Option<EventId>, StoreError> {
        let Some(text) = self.get::<Option<String>>(column)? else {
            return Ok(None);
        };
        match Cursor::parse(&text) {
            Some(cursor) if cursor.stream == *self.stream => Ok(Some(cursor.id)),
            _ => Err(self.damaged(column, &format!("`{}` is no position of it", text.escape_debug()))),
        }
    }

    fn place(&self, id: &str, before: &str) -> Result<Option<Place>, StoreError> {
        let before = self.id(before)?;
        Ok(self.id(id)?.map(|id| Place { id, before }))
    }

    fn key(&self, column: &str) -> Result<Option<Key>, StoreError> {
        let Some(bytes) = self.get::<Option<Vec<u8>>>(column)? else {
            return Ok(None);
        };
        let bytes = bytes.try_into().map_err(|_| self.damaged(column, "not 16 bytes"))?;
        Ok(Some(Key::from_be_bytes(bytes)))
    }

    /// Who moves a cursor.
    pub(super) fn mover(&self, column: &str) -> Result<Option<Mover>, StoreError> {
        let Some(word) = self.get::<Option<String>>(column)? else {
            return Ok(None);
        };
        let mover = Mover::ALL.into_iter().find(|mover| mover.as_str() == word);
        mover.map(Some).ok_or_else(|| self.damaged(column, "an unknown word"))
    }

    /// The scalar part of a record, from a row of `cursors`.
    pub(super) fn head(&self) -> Result<Head, StoreError> {
        Ok(Head {
            latest: self.place("latest", "latest_before")?,
            latest_at: self.time_or_none("latest_at")?,
            lagging: self.id("lagging")?,
            lagging_at: self.time_or_none("lagging_at")?,
            lagging_seq: self.number("lagging_seq")?,
            newest: self.place("newest", "newest_before")?,
            newest_key: self.key("newest_key")?,
            last_key: self.key("last_key")?,
            ahead_key: self.key("ahead_key")?,
            shared_ids: self.get("shared_ids")?,
            sole_id_events: self.number_or_none("sole_id_events")?,
            delivered_at: self.time_or_none("delivered_at")?,
            recovery_at: self.time_or_none("recovery_at")?,
            next_seq: self.number("next_seq")?,
        })
    }

    /// A row of `marks`.
    pub(super) fn mark(&self) -> Result<Mark, StoreError> {
        Ok(Mark {
            ordinal: self.number("ordinal")?,
            id: self.id("id")?.ok_or_else(|| self.damaged("id", "missing"))?,
            at: Timestamp(self.get("at")?),
            seq: self.number("seq")?,
        })
    }

    /// A row of `exports`.
    pub(super) fn export(&self) -> Result<StoredExport, StoreError> {
        let mark = ExportMark {
            file: self.get("file")?,
            length: self.number("length")?,
            tail: u128::from_be_bytes(self.get("tail")?),
        };
        Ok(StoredExport {
            mark,
            latest: self.id("latest")?,
            next_seq: self.number("next_seq")?,
            delivered_at: self.time_or_none("delivered_at")?,
        })
    }

    /// A row of `gaps`.
    pub(super) fn gap(&self) -> Result<Gap, StoreError> {
        let (state, phase): (String, String) = (self.get("state")?, self.get("phase")?);
        let state = GapState::ALL.into_iter().find(|known| known.as_str() == state);
        let phase = Phase::ALL.into_iter().find(|known| known.as_str() == phase);
        Ok(Gap {
            number: self.number("number")?,
            state: state.ok_or_else(|| self.damaged("state", "an unknown word"))?,
            phase: phase.ok_or_else(|| self.damaged("phase", "an unknown word"))?,
            text: self.get("text")?,
            dropped: self.number_or_none("dropped")?,
            recovered: self.number("recovered")?,
            removed: self.number("removed")?,
            place: self.id("place")?,
            opened_at: Timestamp(self.get("opened_at")?),
            ended_at: self.time_or_none("ended_at")?,
            seq: self.number("seq")?,
            progress: self.place("progress", "progress_before")?,
            evidence: self.get("evidence")?,
            attempt: self.get("attempt")?,
            notices_in_row: self.get("notices_in_row")?,
            filled: self.number("filled")?,
            passed: self.get("passed")?,
        })
    }
}
