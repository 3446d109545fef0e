//! What becomes of each event (rules 4 to 8): delivered, removed, held, or the sign of something.

use std::cmp::Ordering;

use super::compare::compare;
use super::cursors::Delivery;
use super::delivery::{Notice, NoticeKind};
use super::drop_notice::is_reset_event;
use super::id::EventId;
use super::keys::{Identity, When};
use super::machine::{Consumer, FarSide, KEYS_MIN};
use super::options::{Dedupe, OnExpired};
use super::policy::{HeldEvent, Incoming, Next, Outgoing, Step, Stop, Verdict};
use super::record::{Key, Phase};
use super::time::Timestamp;

/// Events without a known one among them after which an attempt fails (rule 6).
const EVIDENCE_EVENTS_MAX: u32 = 1_000;

/// An event on its way through the rules.
#[derive(Clone, Copy)]
pub(super) struct Arrival<'a> {
    /// As it came.
    pub(super) event: &'a Incoming<'a>,
    /// Its own id, if it has one that moves cursors.
    pub(super) own: Option<&'a str>,
    /// Its key, if it can be known by one.
    pub(super) key: Option<Key>,
    /// When it was delivered before, if it was and can be placed.
    pub(super) known: Option<When>,
    /// Now.
    pub(super) now: Timestamp,
}

impl Arrival<'_> {
    pub(super) fn delivery(&self) -> Delivery<'_> {
        Delivery { own: self.own, key: self.key, now: self.now }
    }

    /// The same, as an event that moves no cursor.
    fn without_id(self) -> Self {
        Self { own: None, ..self }
    }
}

impl Consumer {
    pub(super) fn take_event(&mut self, event: &Incoming<'_>, now: Timestamp) -> Step {
        self.settle_report(now);
        let extracted = self.options.id_from.as_ref().map(|pointer| pointer.value(event.data));
        let id = match &extracted {
            Some(value) => value.as_deref(),
            None => event.id,
        };
        let moves = !self.options.no_cursor_events.iter().any(|kind| kind == event.event);
        self.take_id(id, moves);
        let own = id.filter(|id| !id.is_empty() && moves);
        let key = self.key(event, own, id);
        let known = self.known(key, own);
        let arrival = Arrival { event, own, key, known, now };
        if let Some(step) = self.reset_event(&arrival) {
            return step;
        }
        if self.link.reading.is_some() { self.read_event(arrival) } else { self.live_event(arrival) }
    }

    /// A reset event is about the cursor that this connection sent: it is one each time, delivered before or not.
    fn reset_event(&mut self, arrival: &Arrival<'_>) -> Option<Step> {
        let event = arrival.event;
        let reset = is_reset_event(event.event) && self.options.notices.event(event.event, event.data).is_none();
        let cursor = self.link.sent.is_some() || self.head.latest.is_some();
        if !reset || !cursor {
            return None;
        }
        let reading = self.link.reading.is_some();
        if reading {
            self.leave_reading_live(arrival.now);
        }
        self.link.removal = None;
        let verdict = if arrival.known.is_some() {
            self.repeat_verdict()
        } else {
            self.deliver(arrival.without_id().delivery());
            Verdict::Deliver { replayed: false }
        };
        let next = if reading {
            self.fail_attempt("the server says that it no longer has the cursor", arrival.now)
        } else {
            self.expire(&format!("it sent the event `{}`", event.event))
        };
        Some(Step { verdict, next })
    }

    /// The last event ID in force follows from the event's id line, if it has one.
    fn take_id(&mut self, id: Option<&str>, moves: bool) {
        let Some(id) = id else {
            self.link.dispatched.clone_from(&self.link.in_force);
            return;
        };
        id.clone_into(&mut self.link.dispatched);
        if !moves {
            return;
        }
        id.clone_into(&mut self.link.in_force);
        self.link.id_line = true;
        if id.is_empty() {
            self.reset_id();
        } else if self.link.last_own == id {
            self.head.shared_ids = true;
        } else {
            id.clone_into(&mut self.link.last_own);
        }
    }

    pub(super) fn reset_id(&mut self) {
        if !self.reset {
            self.outgoing.push(Outgoing::Notice(Notice::new(
                NoticeKind::CursorReset,
                "the server reset the last event ID; the next connection sends none, stored cursors stay",
            )));
        }
        self.reset = true;
        self.link.last_own.clear();
    }

    /// The key of an event, where an id is in force or an id line came.
    fn key(&mut self, event: &Incoming<'_>, own: Option<&str>, id: Option<&str>) -> Option<Key> {
        let placed = self.link.id_line || id.is_some() || !self.link.dispatched.is_empty();
        placed.then(|| {
            let identity = Identity { in_force: &self.link.dispatched, own, event: event.event, data: event.data };
            self.keyer.key(&identity)
        })
    }

    /// Whether and when the event was delivered before, if that can be told (rule 7).
    fn known(&mut self, key: Option<Key>, own: Option<&str>) -> Option<When> {
        if key.is_some() && key == self.link.loose_end {
            self.link.loose_end = None;
        }
        if key.is_some() && key == self.head.ahead_key {
            self.head.ahead_key = None;
            self.changes.dirty = true;
            return Some(When::AfterNotice);
        }
        let removal = self.link.removal.as_ref()?;
        let placed = own.is_some() || self.link.id_line;
        if !placed {
            if !self.noted_unplaced {
                self.noted_unplaced = true;
                self.outgoing.push(Outgoing::Note(
                    "an event without an id came before any id on this connection: \
                     it cannot be placed and is delivered, even if it was before"
                        .to_owned(),
                ));
            }
            return None;
        }
        removal.when(key?)
    }

    fn live_event(&mut self, arrival: Arrival<'_>) -> Step {
        if self.link.stale_check.is_some() && arrival.own.is_some() {
            // An id between the position and the newest shows no more than a hole: the check goes on.
            let newest = self.link.stale_check.take();
            let inside = Self::compared(&arrival, newest.as_ref()) == Some(Ordering::Less);
            self.link.stale_check = newest.filter(|_| arrival.known.is_none() && inside);
            if arrival.known.is_none() && self.link.stale_check.is_none() {
                return self.expired_at(arrival, "the first event it sent is not one that was delivered before");
            }
        }
        if arrival.known.is_some() {
            return self.repeat(&arrival);
        }
        self.end_removal(&arrival);
        if let Some(dropped) = self.options.notices.event(arrival.event.event, arrival.event.data) {
            // The gap opens first: the id of the notice itself may lie past the hole.
            let next = self.take_notice(notice_text(arrival.event), dropped.count, arrival.now);
            self.deliver(arrival.without_id().delivery());
            return Step { verdict: Verdict::Deliver { replayed: false }, next };
        }
        if self.link.far_wait.is_some()
            && let Some(own) = arrival.own.and_then(EventId::new)
        {
            return self.hold(&arrival, own);
        }
        if self.gap.as_ref().is_some_and(|gap| gap.phase == Phase::Reporting) {
            return self.report_event(&arrival);
        }
        if self.meet_far_side(&arrival) {
            self.link.fills = false;
        }
        self.count_filled(&arrival);
        // What is delivered while the gap waits may lie beyond its far side, which then ends nothing any more.
        if let Some(far) = self.far_side.as_mut().filter(|_| arrival.own.is_some()) {
            far.ends_gap = false;
        }
        self.deliver(arrival.delivery());
        Step::go(Verdict::Deliver { replayed: false })
    }

    /// An event that was delivered before.
    fn repeat(&mut self, arrival: &Arrival<'_>) -> Step {
        self.link.unknown_in_row = 0;
        if self.is_newest(arrival) {
            self.link.newest_met = true;
        }
        if let Some(gap) = self.gap.as_mut().filter(|gap| gap.phase == Phase::Reporting) {
            gap.removed += 1;
            self.report.idle = arrival.now.plus(super::gaps::REPORT_IDLE);
        }
        Step::go(self.repeat_verdict())
    }

    fn repeat_verdict(&self) -> Verdict {
        match self.options.dedupe {
            Dedupe::None => Verdict::Deliver { replayed: self.gap.is_some() },
            _ => Verdict::Remove,
        }
    }

    /// Removal ends where the re-read has come to what is new (rule 7).
    fn end_removal(&mut self, arrival: &Arrival<'_>) {
        let Some(own) = arrival.own.filter(|_| self.link.removal.is_some() && self.gap.is_none()) else { return };
        self.link.unknown_in_row += 1;
        let other = self.head.newest.as_ref().is_none_or(|newest| newest.id.as_str() != own);
        let met = self.link.newest_met && self.link.loose_end.is_none();
        if (met && other) || self.link.unknown_in_row >= KEYS_MIN {
            self.link.removal = None;
        }
    }

    fn is_newest(&self, arrival: &Arrival<'_>) -> bool {
        match self.head.newest_key {
            Some(key) => arrival.key == Some(key),
            None => self.head.newest.as_ref().is_some_and(|newest| arrival.own == Some(newest.id.as_str())),
        }
    }

    fn hold(&mut self, arrival: &Arrival<'_>, own: EventId) -> Step {
        self.link.far_wait = None;
        self.far_side = Some(FarSide {
            own,
            key: arrival.key,
            event: HeldEvent {
                id: self.link.dispatched.clone(),
                event: arrival.event.event.to_owned(),
                data: arrival.event.data.to_owned(),
                at: arrival.now,
            },
            ends_gap: true,
        });
        Step { verdict: Verdict::Hold, next: Next::Leave }
    }

    /// The event that was held has come: it is held no longer. Whether it ends the gap.
    fn meet_far_side(&mut self, arrival: &Arrival<'_>) -> bool {
        let met = self.far_side.as_ref().is_some_and(|far| {
            arrival.own == Some(far.own.as_str())
                && (!self.head.shared_ids
                    || (far.event.event == arrival.event.event && far.event.data == arrival.event.data))
        });
        met && self.far_side.take().is_some_and(|far| far.ends_gap)
    }

    /// The id at which the gap is over, if it is known.
    pub(super) fn end_of_gap(&self) -> Option<&EventId> {
        self.far_side.as_ref().filter(|far| far.ends_gap).map(|far| &far.own)
    }

    fn compared(arrival: &Arrival<'_>, id: Option<&EventId>) -> Option<Ordering> {
        arrival.own.zip(id).and_then(|(own, id)| compare(own, id.as_str()))
    }

    /// The event has a comparable id beyond `id`.
    fn is_beyond(arrival: &Arrival<'_>, id: Option<&EventId>) -> bool {
        Self::compared(arrival, id).is_some_and(Ordering::is_gt)
    }

    /// Between `newest` and the far side (rule 5).
    fn report_event(&mut self, arrival: &Arrival<'_>) -> Step {
        if self.meet_far_side(arrival) || Self::is_beyond(arrival, self.end_of_gap()) {
            self.finish_report(arrival.now);
        } else if self.replay_is_full() {
            return self.give_up_replay(arrival);
        } else {
            self.deliver(arrival.delivery());
            self.count_recovered(arrival);
            self.report.idle = arrival.now.plus(super::gaps::REPORT_IDLE);
            return Step::go(Verdict::Deliver { replayed: true });
        }
        self.deliver(arrival.delivery());
        Step::go(Verdict::Deliver { replayed: false })
    }

    /// An event that cannot be placed (a greeting) is delivered, but fills no gap. Before the attempt has shown where it
    /// reads, nothing does for sure.
    fn count_recovered(&mut self, arrival: &Arrival<'_>) {
        if arrival.own.is_none() && !self.link.id_line {
            return;
        }
        match &mut self.gap {
            Some(gap) if gap.evidence || gap.phase == Phase::Reporting => gap.recovered += 1,
            _ => self.attempt.unproven += 1,
        }
    }

    /// The connection goes on from before the hole, so the event is one of those that were discarded: until the far side,
    /// or as many as were announced.
    fn count_filled(&mut self, arrival: &Arrival<'_>) {
        let placed = arrival.own.is_some() || self.link.id_line;
        let Some(gap) = self.gap.as_mut().filter(|_| self.link.fills) else { return };
        let full =
            gap.dropped.is_some_and(|dropped| self.link.skipped.saturating_add(gap.recovered + gap.filled) >= dropped);
        if full && self.far_side.is_none() {
            self.link.fills = false;
        } else if placed {
            gap.filled += 1;
        }
    }

    /// What the attempt delivered so far fills the gap.
    pub(super) fn count_unproven(&mut self) {
        let unproven = std::mem::take(&mut self.attempt.unproven);
        if let Some(gap) = &mut self.gap {
            gap.recovered += unproven;
        }
    }

    pub(super) fn replay_is_full(&self) -> bool {
        let recovered = self.gap.as_ref().map_or(0, |gap| gap.recovered) + self.attempt.unproven;
        self.options.max_replay.is_some_and(|max| recovered >= max)
    }

    /// Before `newest` is met (rules 5 and 6).
    fn read_event(&mut self, arrival: Arrival<'_>) -> Step {
        self.attempt.seen += 1;
        if let Some(when) = arrival.known {
            return self.read_known(&arrival, when);
        }
        let evidence = self.gap.as_ref().is_some_and(|gap| gap.evidence);
        if self.meet_far_side(&arrival) {
            if evidence {
                // The re-read has come past all there was before the gap's far side, `newest` among it.
                self.meet_newest(arrival.now);
                self.finish_report(arrival.now);
                self.deliver(arrival.delivery());
                return Step::go(Verdict::Deliver { replayed: false });
            }
            return self.fail_at(&arrival, "its far side came first");
        }
        let beyond = Self::is_beyond(&arrival, self.head.newest.as_ref().map(|newest| &newest.id));
        if beyond && !evidence {
            return self.fail_at(&arrival, "an event beyond the newest came first");
        }
        if let Some(dropped) = self.options.notices.event(arrival.event.event, arrival.event.data) {
            self.deliver(arrival.without_id().delivery());
            let next = self.take_notice(notice_text(arrival.event), dropped.count, arrival.now);
            return Step { verdict: Verdict::Deliver { replayed: false }, next };
        }
        if self.replay_is_full() {
            return self.give_up_replay(&arrival);
        }
        if beyond {
            self.pass_newest(arrival.now);
            self.deliver(arrival.delivery());
            return Step::go(Verdict::Deliver { replayed: false });
        }
        self.deliver(arrival.delivery());
        self.count_recovered(&arrival);
        let verdict = Verdict::Deliver { replayed: true };
        self.attempt.unknown += 1;
        if !evidence && self.attempt.unknown >= EVIDENCE_EVENTS_MAX {
            let next = self.fail_attempt("no event that was delivered before is among those it sent", arrival.now);
            return Step { verdict, next };
        }
        Step::go(verdict)
    }

    fn read_known(&mut self, arrival: &Arrival<'_>, when: When) -> Step {
        let verdict = self.repeat_verdict();
        if let Some(gap) = &mut self.gap {
            gap.removed += 1;
            gap.evidence |= when == When::BeforeNotice;
            if gap.evidence {
                self.link.reading = Some(arrival.now.plus(super::machine::KNOWN_WAIT));
                gap.recovered += std::mem::take(&mut gap.filled);
                self.count_unproven();
            }
        }
        if let Some(id) = arrival.own.and_then(EventId::new) {
            self.move_progress(id);
        }
        self.changes.dirty = true;
        if !self.is_newest(arrival) {
            return Step::go(verdict);
        }
        if self.gap.as_ref().is_some_and(|gap| gap.evidence) {
            self.meet_newest(arrival.now);
            return Step::go(verdict);
        }
        Step { verdict, next: self.newest_alone(arrival.now) }
    }

    /// `newest`, delivered after the notice, came though nothing from before the notice did: what comes from here on
    /// lies after the hole and fills nothing.
    fn newest_alone(&mut self, now: Timestamp) -> Next {
        if self.attempt.unproven == 0 {
            return self.fail_attempt("what it sent begins after what was dropped", now);
        }
        self.meet_newest(now);
        self.finish_report(now);
        Next::Go
    }

    /// The attempt fails at this event, which was live and is delivered.
    fn fail_at(&mut self, arrival: &Arrival<'_>, why: &str) -> Step {
        self.leave_reading_live(arrival.now);
        self.deliver(arrival.delivery());
        let next = self.fail_attempt(why, arrival.now);
        Step { verdict: Verdict::Deliver { replayed: false }, next }
    }

    /// Rule 6, outside a recovery: the server no longer has the cursor.
    fn expired_at(&mut self, arrival: Arrival<'_>, how: &str) -> Step {
        let next = self.expire(how);
        if next != Next::Go {
            return Step { verdict: Verdict::Refuse, next };
        }
        self.link.removal = None;
        self.deliver(arrival.delivery());
        Step { verdict: Verdict::Deliver { replayed: false }, next }
    }

    pub(super) fn expire(&mut self, how: &str) -> Next {
        self.outgoing.push(Outgoing::Notice(Notice::new(NoticeKind::CursorExpired, how)));
        if self.options.snapshot {
            let text = "events since the cursor are lost; going on from a snapshot of the current state";
            self.outgoing.push(Outgoing::Warning(text.to_owned()));
            self.go_live = true;
            self.snapshot_due = true;
            return Next::Leave;
        }
        match self.options.on_expired {
            OnExpired::Stop => Next::Stop(Stop::Expired(how.to_owned())),
            OnExpired::Live => {
                self.outgoing
                    .push(Outgoing::Warning("events since the cursor are lost; going on from live".to_owned()));
                self.go_live = true;
                Next::Go
            }
        }
    }
}

/// What a drop event says, for the gap's text.
fn notice_text<'a>(event: &Incoming<'a>) -> &'a str {
    if event.data.is_empty() { event.event } else { event.data }
}
