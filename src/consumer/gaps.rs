//! Gaps: opened by a drop notice, read again, reported and ended (rules 4 to 6).

use std::time::Duration;

use super::delivery::{GAP_FILLED, Notice, NoticeKind};
use super::events::Arrival;
use super::machine::{AttemptState, Consumer, KEYS_MAX};
use super::options::{Follow, OnDrop};
use super::policy::{Next, Outgoing, Step, Stop, Verdict};
use super::record::{Gap, GapState, Phase};
use super::time::Timestamp;

/// How long the far side of a gap is waited for (rule 4).
const FAR_SIDE_WAIT: Duration = Duration::from_secs(1);
/// The longest that the report of a recovery goes on after `newest` was met (rule 5).
const REPORT_MAX: Duration = Duration::from_secs(60);
/// Without an event for so long, a report that awaits no far side ends (rule 5).
pub(super) const REPORT_IDLE: Duration = Duration::from_secs(1);
/// Attempts in a row that a notice may end before that counts as a failure (rule 6).
const NOTICES_IN_ROW_MAX: u8 = 3;

impl Consumer {
    /// A drop notice (rule 4).
    pub(super) fn take_notice(&mut self, text: &str, count: Option<u64>, now: Timestamp) -> Next {
        self.settle_report(now);
        let notice = Notice { dropped: count, ..Notice::new(NoticeKind::DropNotice, text) };
        self.outgoing.push(Outgoing::Notice(notice));
        let tail_without_recovery = !self.options.reconnect && self.options.follow == Follow::Tail;
        if self.options.on_drop == OnDrop::Warn || (tail_without_recovery && self.options.on_drop == OnDrop::Recover) {
            self.ignore_gap(text, count, now);
            return Next::Go;
        }
        if self.link.reading.is_some() {
            return self.end_attempt_by_notice(now);
        }
        let reporting = self.gap.as_ref().is_some_and(|gap| gap.phase == Phase::Reporting);
        if reporting && self.report_is_full() && self.end_of_gap().is_none() {
            self.finish_report(now);
        }
        if self.gap.is_some() {
            self.join_gap(count);
        } else {
            self.open_gap(text, count, now);
        }
        self.after_notice(now)
    }

    /// A further notice: the gap waits for a recovery anew. Where it came while the hole was being filled, what it
    /// announces is of what was left of the hole, or goes beyond; else it is a hole of its own.
    fn join_gap(&mut self, count: Option<u64>) {
        let Some(gap) = &mut self.gap else { return };
        let reporting = gap.phase == Phase::Reporting;
        let in_the_hole = reporting || self.link.fills;
        let came = self.link.skipped.saturating_add(gap.recovered + gap.filled);
        let reaches = count.map(|count| count.saturating_add(came));
        let within = in_the_hole && reaches.is_some() && reaches <= gap.dropped;
        gap.dropped = if in_the_hole { gap.dropped.max(reaches) } else { sum(gap.dropped, count) };
        // Within it, later connections go on after what is skipped now, but this one goes on filling.
        gap.passed = within;
        self.link.fills = within;
        self.link.skipped = if within { self.link.skipped.saturating_add(count.unwrap_or(0)) } else { 0 };
        if reporting {
            gap.phase = Phase::Waiting;
            gap.attempt = 1;
            gap.notices_in_row = 0;
        }
        if let Some(far) = self.far_side.as_mut().filter(|_| in_the_hole && !within) {
            // It may lie in what was discarded now.
            far.ends_gap = false;
        }
        self.changes.dirty = true;
    }

    fn after_notice(&mut self, now: Timestamp) -> Next {
        if self.ids_place_nothing() || (self.head.lagging.is_none() && self.head.latest.is_none()) {
            self.give_up_unrecoverable("the stream has no ids to go back to", now);
            return match self.options.on_drop {
                OnDrop::Exit => Next::Stop(Stop::Dropped),
                _ => Next::Go,
            };
        }
        if self.options.on_drop == OnDrop::Exit {
            return Next::Stop(Stop::Dropped);
        }
        if self.recovery_due(now) && self.far_side.is_some() {
            return Next::Leave;
        }
        if self.recovery_due(now) && self.link.far_wait.is_none() {
            self.link.far_wait = Some(now.plus(FAR_SIDE_WAIT));
        }
        Next::Go
    }

    fn new_gap(&mut self, text: &str, count: Option<u64>, now: Timestamp) -> Gap {
        self.last_gap_number += 1;
        self.changes.dirty = true;
        Gap {
            number: self.last_gap_number,
            state: GapState::Open,
            phase: Phase::Waiting,
            text: text.to_owned(),
            dropped: count,
            recovered: 0,
            removed: 0,
            place: self.head.newest.as_ref().map(|newest| newest.id.clone()),
            opened_at: now,
            ended_at: None,
            seq: self.head.next_seq,
            progress: None,
            evidence: false,
            attempt: 1,
            notices_in_row: 0,
            filled: 0,
            passed: false,
        }
    }

    fn open_gap(&mut self, text: &str, count: Option<u64>, now: Timestamp) {
        self.advance_lagging(now);
        let gap = self.new_gap(text, count, now);
        self.gap = Some(gap);
        self.attempt = AttemptState::default();
    }

    fn ignore_gap(&mut self, text: &str, count: Option<u64>, now: Timestamp) {
        let mut gap = self.new_gap(text, count, now);
        gap.state = GapState::Ignored;
        gap.ended_at = Some(now);
        self.changes.gaps.push(gap);
        self.ended.add(GapState::Ignored);
    }

    /// A notice before `newest` is met: go on from `newest`, start again after the cooldown. Its count is not added.
    fn end_attempt_by_notice(&mut self, now: Timestamp) -> Next {
        // What it delivered lies before `newest`, which stays where it is until it is met again.
        self.link.reading = None;
        self.head.recovery_at = Some(now);
        let Some(gap) = &mut self.gap else { return Next::Go };
        gap.phase = Phase::Waiting;
        gap.progress = None;
        gap.notices_in_row = gap.notices_in_row.saturating_add(1);
        let failed = gap.notices_in_row >= NOTICES_IN_ROW_MAX;
        self.attempt = AttemptState::default();
        self.changes.dirty = true;
        if self.options.on_drop == OnDrop::Exit {
            return Next::Stop(Stop::Dropped);
        }
        if failed {
            let next = self.fail_attempt("notices ended it again and again", now);
            // The second attempt waits for the cooldown too: the server is busy dropping.
            if let Some(gap) = &mut self.gap {
                gap.phase = Phase::Waiting;
            }
            return next;
        }
        Next::Leave
    }

    /// The connection no longer reads again; what the attempt delivered was live, and the far side came before that.
    pub(super) fn leave_reading_live(&mut self, now: Timestamp) {
        self.link.reading = None;
        self.deliver_far_side(now);
        self.adopt_attempt(now);
    }

    /// Rule 6: an attempt failed. One more goes from the id before `latest`; if that failed, the gap is unrecoverable.
    pub(super) fn fail_attempt(&mut self, why: &str, now: Timestamp) -> Next {
        self.link.reading = None;
        if self.attempt.last.is_some() {
            self.leave_reading_live(now);
        }
        self.head.recovery_at = Some(now);
        self.changes.dirty = true;
        let second = self.gap.as_ref().is_some_and(|gap| gap.attempt >= 2);
        if second {
            self.give_up_unrecoverable(why, now);
            return Next::Go;
        }
        if let Some(gap) = &mut self.gap {
            gap.attempt = 2;
            gap.phase = Phase::Reading;
            gap.progress = None;
            gap.evidence = false;
        }
        self.attempt = AttemptState::default();
        self.outgoing.push(Outgoing::Note(format!(
            "the recovery failed: {why}; it is tried once more from the id before the latest"
        )));
        Next::Leave
    }

    /// `newest` was met again: for the cursors the recovery is over, only its report goes on (rule 5).
    pub(super) fn meet_newest(&mut self, now: Timestamp) {
        self.link.reading = None;
        self.link.newest_met = true;
        self.attempt.last = None;
        self.count_unproven();
        self.head.recovery_at = Some(now);
        if let Some(gap) = &mut self.gap {
            gap.phase = Phase::Reporting;
            gap.progress = None;
        }
        self.thaw(now);
        self.report.until = now.plus(REPORT_MAX);
        self.report.idle = now.plus(REPORT_IDLE);
        self.changes.dirty = true;
    }

    /// The re-read is past `newest`, which the server no longer has: what lay between is lost with it.
    pub(super) fn pass_newest(&mut self, now: Timestamp) {
        self.meet_newest(now);
        // Should it come all the same, it is removed.
        self.link.newest_met = false;
        self.end_gap(GapState::Partial, now);
        self.deliver_far_side(now);
    }

    /// A report goes on on the next connection, also where the process before this one began it.
    pub(super) fn resume_report(&mut self, now: Timestamp) {
        if self.report.until == Timestamp::default() {
            self.report.until = now.plus(REPORT_MAX);
        }
        self.report.idle = now.plus(REPORT_IDLE);
    }

    /// The report awaits nothing more: the hole lies behind, or as many came as were announced and there is no far side.
    fn report_complete(&self) -> bool {
        self.end_of_gap().is_none()
            && self
                .gap
                .as_ref()
                .is_some_and(|gap| gap.phase == Phase::Reporting && (gap.passed || gap.has_all_announced()))
    }

    /// What came is enough for `recovered`. In a second attempt only the announced number is.
    fn report_is_full(&self) -> bool {
        self.gap.as_ref().is_some_and(|gap| match gap.dropped {
            Some(_) => gap.has_all_announced(),
            None => gap.attempt < 2,
        })
    }

    /// When the report of a recovery ends by itself.
    pub(super) fn report_deadline(&self) -> Option<Timestamp> {
        self.gap.as_ref().filter(|gap| gap.phase == Phase::Reporting)?;
        if self.report_complete() {
            return Some(Timestamp(0));
        }
        let idle = if self.end_of_gap().is_some() { self.report.until } else { self.report.idle };
        Some(idle.min(self.report.until))
    }

    /// Ends the report if its end has come, before a further frame is looked at. Silence is for the timer to tell:
    /// the frame came, only its turn may be late.
    pub(super) fn settle_report(&mut self, now: Timestamp) {
        let reporting = self.gap.as_ref().is_some_and(|gap| gap.phase == Phase::Reporting);
        if reporting && (self.report_complete() || self.report.until <= now) {
            self.finish_report(now);
        }
    }

    pub(super) fn finish_report(&mut self, now: Timestamp) {
        let state = if self.report_is_full() { GapState::Recovered } else { GapState::Partial };
        self.end_gap(state, now);
        self.deliver_far_side(now);
    }

    /// `--max-replay`: the recovery would deliver more.
    pub(super) fn give_up_replay(&mut self, arrival: &Arrival<'_>) -> Step {
        let now = arrival.now;
        let ahead = self.far_side.is_some() || self.frozen();
        self.link.reading = None;
        self.attempt.last = None;
        self.count_unproven();
        if let Some(gap) = &mut self.gap {
            // What is skipped now lies before the far side: `latest` goes past it knowingly.
            gap.phase = Phase::Waiting;
        }
        self.deliver_far_side(now);
        self.end_gap(GapState::Partial, now);
        self.thaw(now);
        if ahead {
            return Step { verdict: Verdict::Refuse, next: Next::Leave };
        }
        self.deliver(arrival.delivery());
        Step::go(Verdict::Deliver { replayed: false })
    }

    /// After some known events none came for long: the recovery ends as it is, and the cursors move.
    fn give_up_partial(&mut self, now: Timestamp) {
        self.leave_reading_live(now);
        self.end_gap(GapState::Partial, now);
        self.thaw(now);
    }

    pub(super) fn give_up_unrecoverable(&mut self, why: &str, now: Timestamp) {
        self.leave_reading_live(now);
        let Some(gap) = &self.gap else { return };
        if gap.has_all_announced() {
            self.end_gap(GapState::Recovered, now);
            self.thaw(now);
            return;
        }
        let notice = Notice {
            kind: NoticeKind::GapUnrecoverable,
            text: why.to_owned(),
            dropped: gap.dropped,
            recovered: Some(gap.recovered),
            removed: Some(gap.removed),
        };
        self.outgoing.push(Outgoing::Notice(notice));
        self.close_gap(GapState::Unrecoverable, now);
        self.thaw(now);
    }

    /// Ends the gap with its report.
    fn end_gap(&mut self, state: GapState, now: Timestamp) {
        let Some(gap) = &self.gap else { return };
        let text = match state {
            GapState::Recovered => GAP_FILLED,
            _ => "fewer events came than were dropped, or the recovery was given up",
        };
        self.outgoing.push(Outgoing::Notice(Notice {
            kind: NoticeKind::RecoveryFinished,
            text: text.to_owned(),
            dropped: gap.dropped,
            recovered: Some(gap.recovered),
            removed: Some(gap.removed),
        }));
        self.close_gap(state, now);
    }

    fn close_gap(&mut self, state: GapState, now: Timestamp) {
        let Some(mut gap) = self.gap.take() else { return };
        gap.state = state;
        gap.ended_at = Some(now);
        gap.progress = None;
        self.ended.add(state);
        self.changes.gaps.push(gap);
        self.changes.dirty = true;
        self.head.recovery_at = Some(now);
        self.link.far_wait = None;
        self.report = super::machine::Report::default();
    }

    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        let cooldown = self
            .gap
            .as_ref()
            .filter(|gap| gap.phase == Phase::Waiting && self.options.reconnect && self.link.far_wait.is_none())
            .map(|_| self.cooldown_until().unwrap_or_default());
        [self.link.far_wait, self.link.reading, self.report_deadline(), cooldown].into_iter().flatten().min()
    }

    pub(super) fn take_time(&mut self, now: Timestamp) -> Next {
        if self.report_deadline().is_some_and(|deadline| deadline <= now) {
            self.finish_report(now);
        }
        if self.gap_is_too_long() {
            self.give_up_unrecoverable("more events were delivered since than can be told apart", now);
        }
        let passed = |deadline: Option<Timestamp>| deadline.is_some_and(|deadline| deadline <= now);
        if passed(self.link.reading) {
            if self.gap.as_ref().is_some_and(|gap| gap.evidence) {
                self.give_up_partial(now);
                return Next::Go;
            }
            return self.fail_attempt("no event that was delivered before came in time", now);
        }
        let waits = self.gap.as_ref().is_some_and(|gap| gap.phase == Phase::Waiting);
        let due = match self.link.far_wait {
            Some(_) => passed(self.link.far_wait),
            None => waits && self.recovery_due(now),
        };
        if due {
            self.link.far_wait = None;
            return Next::Leave;
        }
        Next::Go
    }

    pub(super) fn gap_is_too_long(&self) -> bool {
        self.gap.is_some() && self.head.next_seq.saturating_sub(self.head.lagging_seq) > KEYS_MAX
    }
}

impl Gap {
    fn has_all_announced(&self) -> bool {
        self.dropped.is_some_and(|dropped| self.recovered >= dropped)
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}
