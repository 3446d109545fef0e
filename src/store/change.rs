//! What a change of a record means, for every store alike: what is refused, and what an edit begins.

use super::{Edit, NewCursors, StoreError};
use crate::consumer::id::EventId;
use crate::consumer::record::{Commit, Gap, Head, Place};
use crate::consumer::time::Timestamp;

/// The sequence number of a commit's first key.
///
/// # Errors
/// [`StoreError::Failed`] if the keys would leave a hole or overlap with the `stored_next` ones, or if a number is
/// larger than every store can hold (`i64::MAX`).
pub(super) fn first_key_seq(commit: &Commit, stored_next: u64) -> Result<u64, StoreError> {
    refuse_huge(commit)?;
    let next = commit.head.next_seq;
    let first = u64::try_from(commit.keys.len()).ok().and_then(|count| next.checked_sub(count));
    match first {
        Some(first) if commit.begin || first == stored_next => Ok(first),
        _ => Err(StoreError::Failed(format!(
            "{} keys that end at number {next} do not follow the {stored_next} that are stored",
            commit.keys.len()
        ))),
    }
}

fn refuse_huge(commit: &Commit) -> Result<(), StoreError> {
    let marks = commit.marks_put.iter().flat_map(|mark| [mark.ordinal, mark.seq]);
    let gaps = commit.gaps_put.iter().flat_map(|gap| [gap.number, gap.seq]);
    let heads = [commit.head.next_seq, commit.head.lagging_seq];
    match heads.into_iter().chain(marks).chain(gaps).find(|&number| i64::try_from(number).is_err()) {
        Some(number) => Err(StoreError::Failed(format!("the number {number} is larger than a store can hold"))),
        None => Ok(()),
    }
}

/// When a gap ended that a new record abandons. A commit carries no clock: the last delivery stands for it.
pub(super) fn abandoned_at(gap: &Gap, commit: &Commit, edited_at: Option<Timestamp>) -> Timestamp {
    edited_at.or(commit.head.delivered_at).map_or(gap.opened_at, |at| at.max(gap.opened_at))
}

/// The commit that an edit amounts to; `None` for [`Edit::Forget`], which leaves no record.
///
/// # Errors
/// [`StoreError::UnknownStream`] if there is nothing to edit, [`StoreError::NoCursor`] if there is no `lagging` to go
/// back to.
pub(super) fn of_edit(edit: &Edit, stored: Option<&Head>, now: Timestamp) -> Result<Option<Commit>, StoreError> {
    let head = match (edit, stored) {
        (Edit::Set(cursors), stored) => set(cursors, stored, now),
        (_, None) => return Err(StoreError::UnknownStream),
        (Edit::Forget, Some(_)) => return Ok(None),
        (Edit::ToLagging, Some(head)) => to_lagging(head, now)?,
    };
    Ok(Some(Commit { begin: true, head, ..Commit::default() }))
}

fn set(cursors: &NewCursors, stored: Option<&Head>, now: Timestamp) -> Head {
    let latest = cursors.latest.clone();
    let lagging = cursors.lagging.clone().unwrap_or_else(|| latest.clone());
    let sole_id_events = match stored.and_then(|head| head.newest.as_ref().map(|newest| (head, newest))) {
        Some((head, newest)) => head.sole_id_events.filter(|_| newest.id == latest),
        None => Some(0),
    };
    begun(latest, lagging, Head { sole_id_events, ..remembered(stored) }, now)
}

fn to_lagging(head: &Head, now: Timestamp) -> Result<Head, StoreError> {
    let lagging = head.lagging.clone().ok_or(StoreError::NoCursor)?;
    let kept = Head { sole_id_events: head.sole_id_events, lagging_at: head.lagging_at, ..remembered(Some(head)) };
    Ok(begun(lagging.clone(), lagging, kept, now))
}

/// What a new record keeps of the old one: how the stream's server uses ids (rule 8).
fn remembered(stored: Option<&Head>) -> Head {
    Head { shared_ids: stored.is_some_and(|head| head.shared_ids), ..Head::default() }
}

fn begun(latest: EventId, lagging: EventId, kept: Head, now: Timestamp) -> Head {
    let place = Place { id: latest, before: None };
    Head { newest: Some(place.clone()), latest: Some(place), latest_at: Some(now), lagging: Some(lagging), ..kept }
}
