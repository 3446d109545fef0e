//! Changing records: what a commit and an edit do to the rows.

use rusqlite::{Connection, params};

use super::rows::{cursor, int, micros, place};
use super::{keys, lease, read};
use crate::consumer::id::StreamName;
use crate::consumer::record::{Commit, Epoch, ExportMark, Gap, GapState, Mark};
use crate::consumer::time::Timestamp;
use crate::store::{Edit, GAPS_KEPT, Mover, NewCursors, StoreError, change};

/// A change that nothing speaks against any more.
pub(super) struct Checked<'a> {
    stream: &'a StreamName,
    commit: &'a Commit,
    /// The number of the stream's row.
    id: i64,
    /// Sequence number of the first new key.
    first_key: u64,
    /// Who moves the cursor, if it moves.
    moved_by: Option<Mover>,
    /// When an edit was made.
    edited_at: Option<Timestamp>,
}

/// Looks whether a commit may be made. Writes nothing, so that one that is refused leaves the transaction usable.
///
/// # Errors
/// See [`crate::store::Store::commit`].
pub(super) fn check<'a>(
    connection: &Connection,
    stream: &'a StreamName,
    epoch: Epoch,
    commit: &'a Commit,
) -> Result<Checked<'a>, StoreError> {
    let mover = lease::load(connection, stream)?.owner(epoch)?.mover;
    let sql = "SELECT id, next_seq, latest, latest_before FROM cursors WHERE stream = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([stream.as_str()])?;
    let row = rows.next()?.ok_or(StoreError::UnknownStream)?;
    let stored: (Option<String>, Option<String>) = (row.get(2)?, row.get(3)?);
    let moved = commit.begin || stored != place(stream, commit.head.latest.as_ref());
    let first_key = change::first_key_seq(commit, row.get::<_, i64>(1)?.cast_unsigned())?;
    let moved_by = moved.then_some(mover);
    Ok(Checked { stream, commit, id: row.get(0)?, first_key, moved_by, edited_at: None })
}

impl Checked<'_> {
    /// Writes the change.
    ///
    /// # Errors
    /// The transaction must not be committed then.
    pub(super) fn apply(&self, connection: &Connection) -> Result<(), StoreError> {
        let commit = self.commit;
        if commit.begin {
            self.begin(connection)?;
        }
        self.put_head(connection)?;
        for &ordinal in &commit.marks_drop {
            connection
                .prepare_cached("DELETE FROM marks WHERE cursor = ?1 AND ordinal = ?2")?
                .execute([self.id, int(ordinal)])?;
        }
        for mark in &commit.marks_put {
            self.put_mark(connection, mark)?;
        }
        for gap in &commit.gaps_put {
            self.put_gap(connection, gap)?;
        }
        if !commit.gaps_put.is_empty() {
            self.forget_old_gaps(connection)?;
        }
        if let Some(file) = &commit.export_done {
            let sql = "DELETE FROM exports WHERE cursor = ?1 AND file = ?2";
            connection.prepare_cached(sql)?.execute(params![self.id, file])?;
        }
        if let Some(mark) = &commit.export {
            self.put_export(connection, mark)?;
        }
        keys::append(connection, self.id, self.first_key, &commit.keys)?;
        keys::prune(connection, self.id, commit.keys_keep_from)
    }

    fn begin(&self, connection: &Connection) -> Result<(), StoreError> {
        connection.prepare_cached("DELETE FROM marks WHERE cursor = ?1")?.execute([self.id])?;
        keys::clear(connection, self.id)?;
        connection.prepare_cached("DELETE FROM exports WHERE cursor = ?1")?.execute([self.id])?;
        for mut gap in read::open_gaps(connection, self.stream, self.id)? {
            gap.ended_at = Some(change::abandoned_at(&gap, self.commit, self.edited_at));
            gap.state = GapState::Abandoned;
            self.put_gap(connection, &gap)?;
        }
        Ok(())
    }

    fn put_head(&self, connection: &Connection) -> Result<(), StoreError> {
        let sql = "UPDATE cursors SET latest = ?2, latest_before = ?3, latest_at = ?4, lagging = ?5, lagging_at = ?6,
                       lagging_seq = ?7, newest = ?8, newest_before = ?9, newest_key = ?10, shared_ids = ?11,
                       sole_id_events = ?12, delivered_at = ?13, recovery_at = ?14, next_seq = ?15,
                       moved_by = coalesce(?16, moved_by), last_key = ?17,
                       ahead_key = ?18
                   WHERE id = ?1";
        let head = &self.commit.head;
        let (latest, latest_before) = place(self.stream, head.latest.as_ref());
        let (newest, newest_before) = place(self.stream, head.newest.as_ref());
        connection.prepare_cached(sql)?.execute(params![
            self.id,
            latest,
            latest_before,
            head.latest_at.map(|at| at.0),
            head.lagging.as_ref().map(|id| cursor(self.stream, id)),
            head.lagging_at.map(|at| at.0),
            int(head.lagging_seq),
            newest,
            newest_before,
            head.newest_key.map(u128::to_be_bytes),
            head.shared_ids,
            head.sole_id_events.map(int),
            head.delivered_at.map(|at| at.0),
            head.recovery_at.map(|at| at.0),
            int(head.next_seq),
            self.moved_by.map(Mover::as_str),
            head.last_key.map(u128::to_be_bytes),
            head.ahead_key.map(u128::to_be_bytes),
        ])?;
        Ok(())
    }

    fn put_mark(&self, connection: &Connection, mark: &Mark) -> Result<(), StoreError> {
        let sql = "INSERT INTO marks (cursor, ordinal, id, at, seq) VALUES (?1, ?2, ?3, ?4, ?5)
                   ON CONFLICT DO UPDATE SET id = ?3, at = ?4, seq = ?5";
        let id = cursor(self.stream, &mark.id);
        connection.prepare_cached(sql)?.execute(params![self.id, int(mark.ordinal), id, mark.at.0, int(mark.seq)])?;
        Ok(())
    }

    fn put_gap(&self, connection: &Connection, gap: &Gap) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO gaps (cursor, number, state, phase, text, dropped, recovered, removed, place,
                       opened_at, ended_at, seq, progress, progress_before, evidence, attempt, notices_in_row,
                       filled, passed)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";
        let (progress, progress_before) = place(self.stream, gap.progress.as_ref());
        connection.prepare_cached(sql)?.execute(params![
            self.id,
            int(gap.number),
            gap.state.as_str(),
            gap.phase.as_str(),
            gap.text,
            gap.dropped.map(int),
            int(gap.recovered),
            int(gap.removed),
            gap.place.as_ref().map(|id| cursor(self.stream, id)),
            gap.opened_at.0,
            gap.ended_at.map(|at| at.0),
            int(gap.seq),
            progress,
            progress_before,
            gap.evidence,
            gap.attempt,
            gap.notices_in_row,
            int(gap.filled),
            gap.passed,
        ])?;
        Ok(())
    }

    fn put_export(&self, connection: &Connection, mark: &ExportMark) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO exports (cursor, file, length, tail, latest, next_seq, delivered_at)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let head = &self.commit.head;
        let (latest, _) = place(self.stream, head.latest.as_ref());
        connection.prepare_cached(sql)?.execute(params![
            self.id,
            mark.file,
            int(mark.length),
            mark.tail.to_be_bytes(),
            latest,
            int(head.next_seq),
            head.delivered_at.map(|at| at.0),
        ])?;
        Ok(())
    }

    fn forget_old_gaps(&self, connection: &Connection) -> Result<(), StoreError> {
        let sql = "DELETE FROM gaps WHERE cursor = ?1 AND number <
                       (SELECT number FROM gaps WHERE cursor = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)";
        connection.prepare_cached(sql)?.execute(params![self.id, GAPS_KEPT as i64 - 1])?;
        Ok(())
    }
}

/// See [`crate::store::Store::edit`]; whether the stream may be edited is decided before.
pub(super) fn edit(
    connection: &Connection,
    stream: &StreamName,
    edit: &Edit,
    now: Timestamp,
) -> Result<(), StoreError> {
    let stored = read::row(connection, stream)?;
    let commit = change::of_edit(edit, stored.as_ref().map(|row| &row.head), now)?;
    let mut owner = lease::load(connection, stream)?;
    owner.clear();
    let id = lease::save(connection, stream, &owner)?;
    let Some(commit) = commit else {
        connection.prepare_cached("DELETE FROM cursors WHERE id = ?1")?.execute([id])?;
        return Ok(());
    };
    lease::ensure_row(connection, stream, id)?;
    let moved_by = Some(Mover::Set);
    Checked { stream, commit: &commit, id, first_key: 0, moved_by, edited_at: Some(now) }.apply(connection)?;
    match edit {
        Edit::Set(cursors) => put_origin(connection, id, cursors),
        Edit::Forget | Edit::ToLagging => Ok(()),
    }
}

fn put_origin(connection: &Connection, id: i64, cursors: &NewCursors) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "UPDATE cursors SET window_us = coalesce(?2, window_us), url = coalesce(?3, url) WHERE id = ?1",
        )?
        .execute(params![id, cursors.window.map(micros), cursors.url])?;
    Ok(())
}
