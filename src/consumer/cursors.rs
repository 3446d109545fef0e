//! The one place that moves a cursor (rules 1 and 2), and what of it is to be committed.

use super::id::EventId;
use super::machine::{Consumer, FarSide, KEYS_MAX};
use super::marks::Marks;
use super::policy::Outgoing;
use super::record::{Commit, Key, Place, Record};
use super::time::Timestamp;

/// What of a delivered event the cursors need to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery<'a> {
    /// Its own id, if it has one that moves cursors.
    pub(super) own: Option<&'a str>,
    /// Its key, if it is known by one.
    pub(super) key: Option<Key>,
    /// Now.
    pub(super) now: Timestamp,
}

impl Consumer {
    /// An event is delivered.
    pub(super) fn deliver(&mut self, delivery: Delivery<'_>) {
        let seq = self.head.next_seq;
        if let Some(key) = delivery.key {
            self.changes.keys.push(key);
            self.head.next_seq += 1;
        }
        self.head.delivered_at = Some(delivery.now);
        self.changes.dirty = true;
        let Some(own) = delivery.own else { return };
        self.head.last_key = delivery.key;
        // The id that is being read comes again and again where ids are shared: its text is not copied then.
        let id = match &self.head.newest {
            Some(newest) if newest.id.as_str() == own => newest.id.clone(),
            _ => match EventId::new(own) {
                Some(id) => id,
                None => return,
            },
        };
        self.count_sole_id(&id);
        if self.link.reading.is_some() {
            self.attempt.last = Some((id.clone(), delivery.key, seq));
            self.move_progress(id);
        } else {
            self.move_newest(id, delivery.key, seq, delivery.now);
        }
    }

    /// `newest` moves, and `latest` with it unless it is frozen.
    pub(super) fn move_newest(&mut self, id: EventId, key: Option<Key>, seq: u64, now: Timestamp) {
        let frozen = self.frozen();
        if let Some(gap) = self.gap.as_mut().filter(|_| frozen && !self.link.fills) {
            gap.passed = true;
        }
        let ahead = frozen || self.head.latest.is_none();
        let previous = self.head.newest.as_ref().filter(|_| ahead).or(self.head.latest.as_ref());
        let place = follow(previous, id);
        if self.head.lagging.is_none() {
            self.head.lagging = Some(place.id.clone());
            self.head.lagging_at = Some(now);
            self.head.lagging_seq = seq;
        }
        self.marks.delivered(&place.id, seq, now);
        self.head.newest = Some(place.clone());
        self.head.newest_key = key;
        self.link.moved = true;
        self.reset = false;
        self.go_live = false;
        if !frozen {
            self.move_latest(place, now);
        }
    }

    fn move_latest(&mut self, place: Place, now: Timestamp) {
        if self.options.header_cursor
            && !place.id.fits_header()
            && let Some(latest) = self.head.latest.as_ref().filter(|latest| latest.id.fits_header())
        {
            self.last_sendable = Some(latest.id.clone());
        }
        self.head.latest = Some(place);
        self.head.latest_at = Some(now);
        self.changes.dirty = true;
    }

    /// The gap no longer freezes: `latest` goes to where `newest` is.
    pub(super) fn thaw(&mut self, now: Timestamp) {
        let Some(newest) = self.head.newest.clone() else { return };
        // An id-only block may have moved `latest` past the newest event before the gap was opened.
        let ahead = self.head.latest.as_ref().is_some_and(|latest| latest.before.as_ref() == Some(&newest.id));
        if !ahead {
            self.move_latest(newest, now);
        }
    }

    /// An id-only block: moves `latest` alone, once all before it is delivered (rule 1).
    pub(super) fn move_by_id_only(&mut self, id: EventId, now: Timestamp) {
        if self.frozen() || !self.id_only_is_ahead(&id) {
            return;
        }
        let place = follow(self.head.latest.as_ref(), id);
        if self.head.lagging.is_none() {
            self.head.lagging = Some(place.id.clone());
            self.head.lagging_at = Some(now);
            self.head.lagging_seq = self.head.next_seq;
        }
        self.marks.delivered(&place.id, self.head.next_seq, now);
        self.reset = false;
        self.go_live = false;
        self.move_latest(place, now);
    }

    /// Nothing that a re-read repeats moves a cursor: the connection has met `newest`, or starts just after `latest`.
    fn id_only_is_ahead(&self, id: &EventId) -> bool {
        let Some(sent) = &self.link.sent else { return true };
        let latest = self.head.latest.as_ref().map(|latest| &latest.id);
        let behind = latest
            .and_then(|latest| super::compare::compare(id.as_str(), latest.as_str()))
            .is_some_and(std::cmp::Ordering::is_lt);
        let placed = self.link.newest_met || self.link.removal.is_none() || Some(sent) == latest || self.link.moved;
        placed && !behind
    }

    /// The recovery has read up to here, removed events included (rule 5).
    pub(super) fn move_progress(&mut self, id: EventId) {
        let Some(gap) = &mut self.gap else { return };
        // What precedes the first group of a re-read is the position that it was read from.
        let sent = self.link.sent.clone().map(|id| Place { id, before: None });
        gap.progress = Some(follow(gap.progress.as_ref().or(sent.as_ref()), id));
        self.changes.dirty = true;
    }

    /// What a failed attempt delivered was live: the last of it is `newest` (rule 6).
    pub(super) fn adopt_attempt(&mut self, now: Timestamp) {
        if let Some((id, key, seq)) = self.attempt.last.take() {
            self.move_newest(id, key, seq, now);
        }
    }

    /// Delivers the far side from memory. Where `latest` moves already it moves nothing, since events before it may
    /// still come on this connection; nor where events after it were delivered.
    pub(super) fn deliver_far_side(&mut self, now: Timestamp) {
        let Some(FarSide { own, key, event, ends_gap }) = self.far_side.take() else { return };
        self.outgoing.push(Outgoing::Event(event));
        let own = (ends_gap && self.frozen()).then_some(own.as_str());
        self.deliver(Delivery { own, key, now });
        self.head.ahead_key = key;
    }

    fn count_sole_id(&mut self, id: &EventId) {
        let last = self.attempt.last.as_ref().map(|last| &last.0);
        let shown = last.or(self.head.newest.as_ref().map(|newest| &newest.id));
        self.head.sole_id_events = match (shown, self.head.sole_id_events) {
            (None, _) => Some(1),
            (Some(shown), Some(events)) if shown == id => Some(events + 1),
            _ => None,
        };
    }

    /// Rule 2: `lagging` follows from the marks, unless a gap is open.
    pub(super) fn advance_lagging(&mut self, now: Timestamp) {
        if self.gap.is_some() {
            return;
        }
        let mut mark = self.marks.advance(now);
        let floor = self.head.next_seq.saturating_sub(KEYS_MAX);
        let seq = mark.as_ref().map_or(self.head.lagging_seq, |mark| mark.seq);
        if seq < floor {
            mark = self.marks.advance_to(floor).or(mark);
        }
        if let Some(mark) = mark {
            self.head.lagging = Some(mark.id);
            self.head.lagging_at = Some(mark.at);
            self.head.lagging_seq = mark.seq;
        }
    }

    pub(super) fn commit(&mut self, now: Timestamp) -> Option<Commit> {
        if !self.changes.dirty {
            return None;
        }
        self.advance_lagging(now);
        let changes = std::mem::take(&mut self.changes);
        let marks = self.marks.take_change();
        let mut gaps_put = changes.gaps;
        gaps_put.extend(self.gap.clone());
        Some(Commit {
            begin: changes.begin,
            head: self.head.clone(),
            marks_put: marks.put,
            marks_drop: marks.drop,
            gaps_put,
            keys: changes.keys,
            keys_keep_from: self.keys_keep_from(),
            export: None,
            export_done: None,
        })
    }

    /// A commit that changes nothing of what was delivered.
    pub(super) fn unchanged_record(&self) -> Commit {
        let mut head = self.head.clone();
        head.next_seq -= self.changes.keys.len() as u64;
        Commit { begin: self.changes.begin, head, ..Commit::default() }
    }

    /// Everything, as a commit that begins a record; its keys must be added by who has them.
    pub(super) fn whole_record(&self) -> Commit {
        let mut head = self.head.clone();
        head.next_seq -= self.changes.keys.len() as u64;
        Commit {
            begin: true,
            head,
            marks_put: self.marks.all().to_vec(),
            marks_drop: Vec::new(),
            gaps_put: self.gap.iter().cloned().collect(),
            keys: Vec::new(),
            keys_keep_from: self.keys_keep_from(),
            export: None,
            export_done: None,
        }
    }
}

/// The place of `id` after `previous`.
pub(super) fn follow(previous: Option<&Place>, id: EventId) -> Place {
    match previous {
        Some(previous) if previous.id == id => previous.clone(),
        Some(previous) => Place { before: Some(previous.id.clone()), id },
        None => Place { id, before: None },
    }
}

/// Where `lagging` stands now, for who reads a stored record without owning it (rule 2).
pub fn advanced(record: &mut Record, window: std::time::Duration, now: Timestamp) {
    if record.gap.is_some() {
        return;
    }
    if let Some(mark) = Marks::new(std::mem::take(&mut record.marks), window, now).advance(now) {
        record.head.lagging = Some(mark.id);
        record.head.lagging_at = Some(mark.at);
        record.head.lagging_seq = mark.seq;
    }
}
