//! The state of one stream's policy, and where its connections start (rule 3).

use std::time::Duration;

use super::delivery::{Notice, NoticeKind};
use super::id::EventId;
use super::keys::{Keyer, Known};
use super::marks::Marks;
use super::options::{Follow, Options};
use super::policy::{HeldEvent, Incoming, Next, Outgoing, Plan, Policy, Step};
use super::record::{Commit, Gap, GapState, Head, Key, Phase, Place, Record};
use super::stats::Gaps;
use super::time::Timestamp;

/// Events over which keys reach back at least (rule 7).
pub const KEYS_MIN: u64 = 65_536;
/// Keys at which an open gap is given up (rule 7).
pub const KEYS_MAX: u64 = 10_000_000;
/// A stream that has shown one id on so many events, and no other, has ids that place nothing (rule 7).
pub const SOLE_ID_EVENTS: u64 = 16;
/// How long a re-read may go on without an event that was delivered before the notice (rule 6).
pub(super) const EVIDENCE_WAIT: Duration = Duration::from_secs(10);
/// How long it may go on without a known event after some came (rule 6).
pub(super) const KNOWN_WAIT: Duration = Duration::from_secs(60);

/// What a policy is begun with.
#[derive(Debug)]
pub struct Start<'a> {
    /// What is stored of the stream, or an empty record.
    pub record: Record,
    /// The highest gap number that the stream ever had.
    pub last_gap_number: u64,
    /// The secret of its keys.
    pub key_seed: &'a [u8; 32],
}

/// The policy for `tail` and `resume`.
#[derive(Debug)]
pub struct Consumer {
    pub(super) options: Options,
    pub(super) head: Head,
    pub(super) marks: Marks,
    pub(super) gap: Option<Gap>,
    pub(super) last_gap_number: u64,
    pub(super) keyer: Keyer,
    pub(super) link: Link,
    pub(super) planned: Planned,
    pub(super) attempt: AttemptState,
    pub(super) report: Report,
    pub(super) far_side: Option<FarSide>,
    /// An explicit empty id came: this process's next connection sends none (rule 13).
    pub(super) reset: bool,
    /// The cursor is expired and the user wants to go on from live.
    pub(super) go_live: bool,
    /// The next connection begins with a snapshot.
    pub(super) snapshot_due: bool,
    /// The last id that a header can carry, where the newest cannot be (rule 13).
    pub(super) last_sendable: Option<EventId>,
    pub(super) connected_before: bool,
    /// Gaps that ended in this run.
    pub(super) ended: Gaps,
    pub(super) noted_unplaced: bool,
    pub(super) outgoing: Vec<Outgoing>,
    pub(super) changes: Changes,
}

/// What is not committed yet.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) begin: bool,
    pub(super) dirty: bool,
    pub(super) keys: Vec<Key>,
    pub(super) gaps: Vec<Gap>,
}

/// What the last plan was for.
#[derive(Debug, Default)]
pub(super) struct Planned {
    pub(super) cursor: Option<EventId>,
    pub(super) recovery: bool,
    pub(super) stale_check: bool,
    pub(super) keys_from: u64,
}

/// The present connection.
#[derive(Debug, Default)]
pub(super) struct Link {
    /// The cursor that it was made with.
    pub(super) sent: Option<EventId>,
    /// The last event ID in force; empty for none.
    pub(super) in_force: String,
    /// The one in force at the present dispatch.
    pub(super) dispatched: String,
    /// An id line came on it.
    pub(super) id_line: bool,
    /// The last own id of an event on it.
    pub(super) last_own: String,
    /// Removal is on, and this is known.
    pub(super) removal: Option<Known>,
    pub(super) newest_met: bool,
    pub(super) unknown_in_row: u64,
    /// An event delivered on it moved `newest`.
    pub(super) moved: bool,
    /// What was delivered last, where that is not `newest`: it may lie beyond, so removal goes on until it is met.
    pub(super) loose_end: Option<Key>,
    /// A recovery reads on it and has not met `newest`: until then.
    pub(super) reading: Option<Timestamp>,
    /// It must show a known event first, else the cursor is expired: the newest id when it was made.
    pub(super) stale_check: Option<EventId>,
    /// It goes on from before the hole of a gap that waits for its recovery, so what comes fills the hole.
    pub(super) fills: bool,
    /// Events of that hole that were discarded again on it.
    pub(super) skipped: u64,
    /// The far side of a gap is waited for, until then.
    pub(super) far_wait: Option<Timestamp>,
}

/// One attempt of a recovery, over all of its connections in this process.
#[derive(Debug)]
pub(super) struct AttemptState {
    /// Events that were not known, before any that was.
    pub(super) unknown: u32,
    /// Of what it delivered, the events that fill the gap if it turns out to read where it should.
    pub(super) unproven: u64,
    /// Events seen.
    pub(super) seen: u64,
    /// Events expected.
    pub(super) expected: u64,
    /// Connected time that is left for it to show a known event.
    pub(super) left: Duration,
    /// The last event with an id of its own that it delivered.
    pub(super) last: Option<(EventId, Option<Key>, u64)>,
}

impl Default for AttemptState {
    fn default() -> Self {
        Self { unknown: 0, unproven: 0, seen: 0, expected: 0, left: EVIDENCE_WAIT, last: None }
    }
}

/// The report of a recovery that is over for the cursors.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) until: Timestamp,
    pub(super) idle: Timestamp,
}

/// The first event after a gap, kept undelivered.
#[derive(Debug)]
pub(super) struct FarSide {
    pub(super) own: EventId,
    pub(super) key: Option<Key>,
    pub(super) event: HeldEvent,
    /// Where it comes the gap is over. Not so any more once events after it were delivered.
    pub(super) ends_gap: bool,
}

/// Where a connection starts, before it is known whether the id can be sent.
struct Choice {
    candidates: Vec<(EventId, &'static str)>,
    recovery: bool,
    stale_check: bool,
}

impl Consumer {
    /// The policy of a stream from what is stored of it.
    #[must_use]
    pub fn new(options: Options, start: Start<'_>, now: Timestamp) -> Self {
        let mut changes = Changes::default();
        let mut record = start.record;
        let origin = match (&options.start, options.follow) {
            (Some(id), _) => {
                changes.begin = true;
                changes.dirty = true;
                record = Record::default();
                Some(id.clone())
            }
            (None, Follow::Tail) => {
                changes.begin = true;
                record = Record::default();
                None
            }
            (None, Follow::Resume) if record.head.latest.is_none() && record.head.newest.is_none() => {
                options.initial.clone()
            }
            (None, Follow::Resume) => None,
        };
        if let Some(id) = origin {
            record.head.latest = Some(Place { id: id.clone(), before: None });
            record.head.latest_at = Some(now);
            record.head.lagging = Some(id);
            record.head.lagging_at = Some(now);
        }
        let mut head = record.head;
        for time in [&mut head.latest_at, &mut head.lagging_at, &mut head.delivered_at, &mut head.recovery_at] {
            *time = time.map(|time| time.min(now));
        }
        let mut consumer = Self {
            marks: Marks::new(record.marks, options.window, now),
            keyer: Keyer::new(start.key_seed, options.dedupe.clone()),
            options,
            head,
            gap: record.gap,
            last_gap_number: start.last_gap_number,
            link: Link::default(),
            planned: Planned::default(),
            attempt: AttemptState::default(),
            report: Report::default(),
            far_side: None,
            reset: false,
            go_live: false,
            snapshot_due: false,
            last_sendable: None,
            connected_before: false,
            ended: Gaps::default(),
            noted_unplaced: false,
            outgoing: Vec::new(),
            changes,
        };
        consumer.advance_lagging(now);
        consumer
    }

    /// While a gap is open and its recovery has not met `newest`, nothing moves `latest`.
    pub(super) fn frozen(&self) -> bool {
        self.gap.as_ref().is_some_and(|gap| gap.phase != Phase::Reporting)
    }

    /// The stream repeats one id for ever: its ids say nothing about places (rule 7).
    pub(super) fn ids_place_nothing(&self) -> bool {
        self.head.sole_id_events.is_some_and(|events| events >= SOLE_ID_EVENTS)
    }

    /// Until when no new recovery may run.
    pub(super) fn cooldown_until(&self) -> Option<Timestamp> {
        self.head.recovery_at.map(|at| at.plus(self.options.cooldown))
    }

    /// A recovery is to run: it did already, or its cooldown is over.
    pub(super) fn recovery_due(&self, now: Timestamp) -> bool {
        let Some(gap) = &self.gap else { return false };
        self.options.reconnect
            && match gap.phase {
                Phase::Waiting => self.cooldown_until().is_none_or(|until| until <= now),
                Phase::Reading => true,
                Phase::Reporting => false,
            }
    }

    /// Where keys are kept from.
    pub(super) fn keys_keep_from(&self) -> u64 {
        self.head.lagging_seq.min(self.head.next_seq.saturating_sub(KEYS_MIN))
    }

    /// Rule 8: a stream whose ids are shared is read again from before the group that was being read.
    fn resume_id(&self, place: &Place) -> EventId {
        match &place.before {
            Some(before) if self.head.shared_ids => before.clone(),
            _ => place.id.clone(),
        }
    }

    fn choose(&mut self, now: Timestamp) -> Choice {
        if self.recovery_due(now) {
            return self.choose_recovery();
        }
        let mut candidates = Vec::new();
        let live = self.go_live || (self.reset && self.gap.is_none());
        if live {
            return Choice { candidates, recovery: false, stale_check: false };
        }
        if let Some(before) = self.stale_start(now) {
            candidates.push((before, "the id before the newest, to see whether the server still has it"));
            return Choice { candidates, recovery: false, stale_check: true };
        }
        if self.frozen()
            && let Some(newest) = &self.head.newest
        {
            candidates.push((self.resume_id(newest), "newest, since a gap waits for its recovery"));
        }
        if let Some(latest) = &self.head.latest {
            candidates.push((self.resume_id(latest), self.where_latest_is_from(latest)));
            candidates.extend(self.last_sendable.clone().map(|id| (id, "the last id that a header can carry")));
            candidates.extend(latest.before.clone().map(|id| (id, "the id before latest")));
        }
        candidates.extend(self.head.lagging.clone().map(|id| (id, "lagging")));
        Choice { candidates, recovery: false, stale_check: false }
    }

    /// What `latest` is called: before the first connection it may be what the user gave.
    fn where_latest_is_from(&self, latest: &Place) -> &'static str {
        let is_given = |given: &Option<EventId>| given.as_ref() == Some(&latest.id) && !self.connected_before;
        if is_given(&self.options.start) {
            return "as `--last-event-id` says";
        }
        if is_given(&self.options.initial) && self.head.newest.is_none() && self.head.delivered_at.is_none() {
            return "as `--initial` says, since nothing is stored";
        }
        "latest"
    }

    fn choose_recovery(&self) -> Choice {
        let mut candidates = Vec::new();
        if let Some(gap) = &self.gap {
            if let Some(progress) = &gap.progress {
                candidates.push((self.resume_id(progress), "how far the recovery has read"));
            }
            if gap.attempt >= 2 {
                let before = self.head.latest.as_ref().map(|latest| latest.before.as_ref().unwrap_or(&latest.id));
                candidates.extend(before.cloned().map(|id| (id, "the id before latest, for a second attempt")));
            }
        }
        if !self.nothing_after_lagging() {
            candidates.extend(self.head.lagging.clone().map(|id| (id, "lagging, since events were dropped")));
        }
        if let Some(latest) = &self.head.latest {
            candidates.push((self.resume_id(latest), "latest, since nothing older is known"));
        }
        Choice { candidates, recovery: true, stale_check: false }
    }

    /// Nothing with an id of its own was delivered after the id of `lagging`, so a re-read has nothing to meet (rule 5).
    fn nothing_after_lagging(&self) -> bool {
        self.head.newest.as_ref().is_none_or(|newest| Some(&newest.id) == self.head.lagging.as_ref())
    }

    /// Rule 3: after a window without a delivery, the first connection must show a known event first.
    fn stale_start(&self, now: Timestamp) -> Option<EventId> {
        let stale = !self.connected_before
            && self.gap.is_none()
            && !self.ids_place_nothing()
            && self.head.newest_key.is_some()
            && self.head.delivered_at.is_some_and(|at| now.since(at) > self.options.window);
        self.head.newest.as_ref().filter(|_| stale)?.before.clone()
    }

    pub(super) fn plan_connection(&mut self, now: Timestamp) -> Plan {
        let mut choice = self.choose(now);
        let mut sendable = self.first_sendable(&choice.candidates);
        if choice.recovery && sendable.is_none() {
            self.give_up_unrecoverable("no stored position can be sent", now);
            choice = self.choose(now);
            sendable = self.first_sendable(&choice.candidates);
        }
        let (cursor, why) = match sendable {
            Some((id, why)) => (Some(id), why.to_owned()),
            None => (None, "live, since no position is known".to_owned()),
        };
        if let (Some((wanted, _)), true) = (choice.candidates.first(), self.options.header_cursor)
            && cursor.as_ref() != Some(wanted)
        {
            let instead = if cursor.is_some() { "the position sent is older" } else { "none is sent" };
            let wanted = wanted.as_str().escape_debug();
            self.outgoing.push(Outgoing::Note(format!("the id `{wanted}` cannot be sent in a header; {instead}")));
        }
        let keys_from = self.keys_keep_from();
        let wanted = cursor.is_some() && self.head.next_seq > keys_from && !self.ids_place_nothing();
        self.planned = Planned {
            cursor: cursor.clone(),
            recovery: choice.recovery,
            stale_check: choice.stale_check && cursor.is_some(),
            keys_from,
        };
        Plan { cursor, why, keys_from: wanted.then_some(keys_from), snapshot: self.snapshot_due }
    }

    fn first_sendable(&self, candidates: &[(EventId, &'static str)]) -> Option<(EventId, &'static str)> {
        candidates.iter().find(|(id, _)| !self.options.header_cursor || id.fits_header()).cloned()
    }

    pub(super) fn begin_connection(&mut self, keys: Vec<Key>, now: Timestamp) -> Next {
        let planned = std::mem::take(&mut self.planned);
        self.connected_before = true;
        self.snapshot_due = false;
        self.keyer.start_connection();
        let notice = self.gap.as_ref().map_or(planned.keys_from, |gap| gap.seq);
        let known = Known::new(keys, planned.keys_from, notice);
        self.link = Link {
            in_force: planned.cursor.as_ref().map_or_else(String::new, |id| id.as_str().to_owned()),
            loose_end: self.head.last_key.filter(|last| Some(*last) != self.head.newest_key),
            removal: (planned.cursor.is_some() && !known.is_empty()).then_some(known),
            stale_check: self.head.newest.as_ref().filter(|_| planned.stale_check).map(|newest| newest.id.clone()),
            fills: !planned.recovery && self.goes_on_before_the_hole(planned.cursor.as_ref()),
            sent: planned.cursor,
            ..Link::default()
        };
        if self.gap.as_ref().is_some_and(|gap| gap.phase == Phase::Reporting) {
            self.resume_report(now);
        }
        if planned.recovery {
            self.begin_reading(now);
        }
        Next::Go
    }

    /// Whether a connection from `cursor` begins where the hole does, and it can be told where that ends.
    fn goes_on_before_the_hole(&self, cursor: Option<&EventId>) -> bool {
        let Some(gap) = &self.gap else { return false };
        let newest = self.head.newest.as_ref().map(|newest| self.resume_id(newest));
        let ends = gap.dropped.is_some() || self.far_side.is_some();
        gap.phase == Phase::Waiting && !gap.passed && ends && cursor.is_some() && cursor == newest.as_ref()
    }

    fn begin_reading(&mut self, now: Timestamp) {
        let Some(gap) = &mut self.gap else { return };
        if gap.phase != Phase::Reading {
            gap.phase = Phase::Reading;
            gap.progress = None;
            gap.evidence = false;
            self.attempt = AttemptState::default();
        }
        if gap.evidence {
            self.attempt.left = KNOWN_WAIT;
        }
        self.attempt.expected = self.head.next_seq.saturating_sub(self.head.lagging_seq);
        self.link.reading = Some(now.plus(self.attempt.left));
        self.head.recovery_at = Some(now);
        self.changes.dirty = true;
        let from = self.link.sent.as_ref().map_or_else(String::new, ToString::to_string);
        let notice = Notice {
            dropped: gap.dropped,
            ..Notice::new(NoticeKind::RecoveryStarted, format!("reading again from `{from}`"))
        };
        self.outgoing.push(match gap.progress {
            Some(_) => Outgoing::Note(format!("the recovery goes on from `{from}`")),
            None => Outgoing::Notice(notice),
        });
        // Where nothing was delivered after the position there is nothing to meet: a plain reconnect (rule 5).
        let plain = gap.attempt < 2 && gap.progress.is_none();
        let plain = plain && self.nothing_after_lagging();
        if plain {
            self.meet_newest(now);
        }
    }

    pub(super) fn end_connection(&mut self, now: Timestamp) {
        if let Some(deadline) = self.link.reading {
            // A connection that is cut again and again still comes to its end: the time is that of the attempt.
            self.attempt.left = deadline.since(now).max(Duration::from_secs(1));
        }
        self.link = Link::default();
    }
}

impl Policy for Consumer {
    fn plan(&mut self, now: Timestamp) -> Plan {
        self.plan_connection(now)
    }

    fn connected(&mut self, keys: Vec<Key>, now: Timestamp) -> Next {
        self.begin_connection(keys, now)
    }

    fn cursor_refused(&mut self, how: &str, now: Timestamp) -> Next {
        if self.planned.recovery {
            return self.fail_attempt(how, now);
        }
        self.expire(how)
    }

    fn disconnected(&mut self, now: Timestamp) {
        self.end_connection(now);
    }

    fn event(&mut self, event: &Incoming<'_>, now: Timestamp) -> Step {
        self.take_event(event, now)
    }

    fn comment(&mut self, text: &str, now: Timestamp) -> Next {
        match self.options.notices.comment(text) {
            Some(dropped) => self.take_notice(text, dropped.count, now),
            None => Next::Go,
        }
    }

    fn id_only(&mut self, id: &str, now: Timestamp) {
        self.settle_report(now);
        if self.options.id_from.is_some() {
            return;
        }
        id.clone_into(&mut self.link.in_force);
        self.link.id_line = true;
        match EventId::new(id) {
            Some(id) => self.move_by_id_only(id, now),
            None => self.reset_id(),
        }
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.next_deadline()
    }

    fn tick(&mut self, now: Timestamp) -> Next {
        self.take_time(now)
    }

    fn dispatch_id(&self) -> Option<&str> {
        Some(self.link.dispatched.as_str()).filter(|id| !id.is_empty())
    }

    fn outgoing(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.outgoing)
    }

    fn take_commit(&mut self, now: Timestamp) -> Option<Commit> {
        self.commit(now)
    }

    fn unchanged(&self) -> Commit {
        self.unchanged_record()
    }

    fn whole(&self) -> Commit {
        self.whole_record()
    }

    fn has_position(&self) -> bool {
        self.head.latest.is_some() || self.head.lagging.is_some()
    }

    fn gaps(&self) -> Gaps {
        let mut gaps = self.ended;
        if self.gap.is_some() {
            gaps.add(GapState::Open);
        }
        gaps
    }

    fn recovery_waits(&self) -> bool {
        self.gap.is_some() && self.options.reconnect
    }

    fn reread(&self) -> Option<(u64, u64)> {
        self.link.reading.map(|_| (self.attempt.seen, self.attempt.expected))
    }
}
