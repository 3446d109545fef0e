//! Frame by frame: asks the policy, writes what it says into the batch, sees the ends of bounded runs.

use super::end::End;
use super::session::{Leaving, LinkState};
use super::waiting::Fate;
use super::{Clock, Driver, Shutdown};
use crate::consumer::delivery::{EventRecord, Notice, NoticeKind};
use crate::consumer::policy::{HeldEvent, Incoming, Policy, Verdict};
use crate::consumer::ports::{Console, Format, Journal, Sink, Transport};
use crate::consumer::stats::Stats;
use crate::consumer::time::Timestamp;
use crate::wire::{Event, Frame};

impl<P, T, J, S, F, C> Driver<P, T, J, S, F, C>
where
    P: Policy,
    T: Transport,
    J: Journal + 'static,
    S: Sink + 'static,
    F: Format,
    C: Console,
{
    /// `times` are now for the policy and by the wall clock.
    pub(super) fn take_frame(
        &mut self,
        frame: &Frame<'_>,
        state: &mut LinkState,
        times: (Timestamp, Timestamp),
    ) -> Option<Leaving> {
        self.uncommitted = true;
        match *frame {
            Frame::Event(event) => {
                state.event_at = state.chunk_at;
                self.take_event(&event, times)
            }
            Frame::Comment { text, .. } => self.take_comment(text, state, times),
            Frame::Retry(milliseconds) => {
                self.console.detail(2, &format!("the server asks for a reconnection time of {milliseconds} ms"));
                self.backoff.server_retry(milliseconds);
                None
            }
            Frame::IdOnly(id) => {
                self.policy.id_only(id, times.0);
                self.take_outgoing();
                None
            }
            Frame::TooLarge { limit } => Some(Leaving::End(End::TooLarge(limit))),
        }
    }

    fn take_event(&mut self, event: &Event<'_>, (now, wall): (Timestamp, Timestamp)) -> Option<Leaving> {
        self.backoff.received_event();
        let incoming = Incoming { id: event.id, event: event.event, data: event.data };
        let step = self.policy.event(&incoming, now);
        self.take_outgoing();
        let end = match step.verdict {
            Verdict::Deliver { replayed } => {
                let record = EventRecord {
                    id: self.policy.dispatch_id(),
                    own_id: event.id,
                    event: event.event,
                    data: event.data,
                    time: wall,
                    replayed,
                };
                let until = self.is_until(&record);
                let fate = match until {
                    None => self.waiting.put_event(&mut self.format, &record),
                    Some(_) => self.waiting.put_last_event(&mut self.format, &record),
                };
                self.count_event(fate, replayed);
                until
            }
            Verdict::Remove => {
                self.stats.removed += 1;
                None
            }
            Verdict::Hold | Verdict::Refuse => None,
        };
        let leaving = self.leaving(step.next);
        match leaving {
            Some(Leaving::End(_)) => leaving,
            _ => end.or_else(|| self.count_end()).map(Leaving::End).or(leaving),
        }
    }

    fn take_comment(
        &mut self,
        text: &str,
        state: &mut LinkState,
        (now, wall): (Timestamp, Timestamp),
    ) -> Option<Leaving> {
        self.stats.comments += 1;
        self.waiting.put(|batch| self.format.comment(batch, text, wall));
        let notices = self.stats.drop_notices;
        let next = self.policy.comment(text, now);
        self.take_outgoing();
        if self.stats.drop_notices == notices {
            state.idle.on_heartbeat_comment(now);
        }
        self.leaving(next)
    }

    /// An event that was held in memory.
    pub(super) fn deliver_held(&mut self, event: &HeldEvent) {
        let record = EventRecord {
            id: Some(event.id.as_str()).filter(|id| !id.is_empty()),
            own_id: Some(&event.id),
            event: &event.event,
            data: &event.data,
            time: Clock::wall(),
            replayed: false,
        };
        let fate = self.waiting.put_event(&mut self.format, &record);
        self.count_event(fate, false);
    }

    fn count_event(&mut self, fate: Fate, replayed: bool) {
        self.stats.delivered += 1;
        self.stats.replayed += u64::from(replayed);
        match fate {
            Fate::Written => {
                self.stats.written += 1;
                self.settings.bounds.count_down();
            }
            Fate::Coalesced => self.stats.coalesced += 1,
            Fate::Dropped => self.stats.given_up += 1,
            Fate::Unwanted => {}
        }
    }

    /// `-n` is used up: every stream of the process ends.
    fn count_end(&self) -> Option<End> {
        self.settings.bounds.count_is_used_up().then(|| {
            self.shutdown.ask(Shutdown::Count);
            End::Count
        })
    }

    fn is_until(&self, record: &EventRecord<'_>) -> Option<End> {
        let bounds = &self.settings.bounds;
        let id = bounds.until_id.as_deref().is_some_and(|until| record.id == Some(until));
        let data = bounds.until_data.as_deref().is_some_and(|until| record.data == until);
        (id || data).then_some(End::Until)
    }

    pub(super) fn count_notice(&mut self, notice: &Notice) {
        if notice.kind == NoticeKind::DropNotice {
            self.stats.drop_notices += 1;
            self.stats.dropped += notice.dropped.unwrap_or(0);
        }
    }

    /// Rule 14: under repeated notices or cuts a person wants to know whose fault that is.
    pub(super) fn say_who_is_slow(&mut self) {
        self.stats.elapsed = self.started.elapsed();
        let Stats { drop_notices, connections, elapsed, .. } = self.stats;
        let (who, help) = (self.stats.who_is_slow(), self.stats.what_helps());
        let seconds = elapsed.as_secs_f64();
        self.console.warning(&format!(
            "again and again: {drop_notices} drop notices on {connections} connections in {seconds:.1} s; {who}; {help}"
        ));
    }

    /// Says a notice of the policy to a person.
    pub(super) fn say(&mut self, notice: &Notice) {
        let figures = || {
            let announced = notice.dropped.map_or_else(|| "unknown".to_owned(), |dropped| dropped.to_string());
            let (recovered, removed) = (notice.recovered.unwrap_or(0), notice.removed.unwrap_or(0));
            format!("announced: {announced}, recovered: {recovered}, removed as delivered before: {removed}")
        };
        match notice.kind {
            NoticeKind::DropNotice => {
                self.console.warning(&format!("the server says that it dropped events: `{}`", notice.text));
                if self.stats.drop_notices > 1 && self.stats.drop_notices.is_power_of_two() {
                    self.say_who_is_slow();
                }
            }
            NoticeKind::RecoveryStarted => {
                self.progress.state = "recovering";
                self.console.note(&format!("recovery started: {}", notice.text));
            }
            NoticeKind::RecoveryFinished => {
                self.progress.state = "live";
                let text = format!("recovery finished: {} ({})", notice.text, figures());
                if notice.text == crate::consumer::delivery::GAP_FILLED {
                    self.console.note(&text);
                } else {
                    self.console.warning(&text);
                }
            }
            NoticeKind::GapUnrecoverable => {
                self.progress.state = "live";
                self.console.warning(&format!(
                    "the dropped events cannot be recovered: {} ({})",
                    notice.text,
                    figures()
                ));
            }
            NoticeKind::CursorExpired => {
                self.console.note(&format!("the server no longer has the cursor: {}", notice.text));
            }
            NoticeKind::CursorReset => self.console.note(&notice.text),
            NoticeKind::Connected | NoticeKind::Disconnected | NoticeKind::Reconnecting => {}
        }
    }
}
