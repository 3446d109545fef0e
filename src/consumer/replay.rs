//! The policy of `replay`: the window again, from `lagging` to the id that was latest when it began.
//! Removes nothing, moves no stored cursor.

use std::cmp::Ordering;
use std::time::Duration;

use super::compare::compare;
use super::delivery::{Notice, NoticeKind};
use super::id::EventId;
use super::options::Options;
use super::policy::{Incoming, Next, Outgoing, Plan, Policy, Step, Stop, Verdict};
use super::record::{Commit, Key, Record};
use super::stats::Gaps;
use super::time::Timestamp;

/// Without an event for so long a replay is at its end.
const IDLE_END: Duration = Duration::from_secs(10);

/// The policy for `replay`.
#[derive(Debug)]
pub struct Replay {
    options: Options,
    /// Where the next connection starts.
    position: EventId,
    /// The id that was latest when the replay began.
    end: EventId,
    /// Ids are shared by several events, so the first event under `end` need not be the last.
    shared_ids: bool,
    end_met: bool,
    in_force: String,
    dispatched: String,
    idle: Option<Timestamp>,
    seen: u64,
    expected: u64,
    outgoing: Vec<Outgoing>,
}

impl Replay {
    /// A replay of what is stored; `None` if no cursor is.
    #[must_use]
    pub fn new(options: Options, record: &Record) -> Option<Self> {
        let head = &record.head;
        let end = head.latest.as_ref()?.id.clone();
        let position = options.start.clone().or_else(|| head.lagging.clone()).unwrap_or_else(|| end.clone());
        Some(Self {
            options,
            position,
            end,
            shared_ids: head.shared_ids,
            end_met: false,
            in_force: String::new(),
            dispatched: String::new(),
            idle: None,
            seen: 0,
            expected: head.next_seq.saturating_sub(head.lagging_seq),
            outgoing: Vec::new(),
        })
    }

    /// The event lies past the end, so the one before was the last.
    fn is_past(&self, id: &str) -> bool {
        let beyond = compare(id, self.end.as_str()).is_some_and(Ordering::is_gt);
        beyond || (self.end_met && id != self.end.as_str())
    }
}

impl Policy for Replay {
    fn plan(&mut self, _now: Timestamp) -> Plan {
        Plan {
            cursor: Some(self.position.clone()),
            why: "the replay window".to_owned(),
            keys_from: None,
            snapshot: false,
        }
    }

    fn connected(&mut self, _keys: Vec<Key>, now: Timestamp) -> Next {
        self.position.as_str().clone_into(&mut self.in_force);
        self.idle = Some(now.plus(IDLE_END));
        if self.position == self.end && !self.shared_ids && self.seen > 0 {
            return Next::Stop(Stop::ReplayEnd);
        }
        Next::Go
    }

    fn cursor_refused(&mut self, how: &str, _now: Timestamp) -> Next {
        self.outgoing.push(Outgoing::Notice(Notice::new(NoticeKind::CursorExpired, how)));
        Next::Stop(Stop::Expired(how.to_owned()))
    }

    fn disconnected(&mut self, _now: Timestamp) {
        self.idle = None;
    }

    fn event(&mut self, event: &Incoming<'_>, now: Timestamp) -> Step {
        self.idle = Some(now.plus(IDLE_END));
        self.seen += 1;
        let extracted = self.options.id_from.as_ref().map(|pointer| pointer.value(event.data));
        let id = match &extracted {
            Some(value) => value.as_deref(),
            None => event.id,
        };
        let Some(id) = id else {
            self.dispatched.clone_from(&self.in_force);
            return Step::go(Verdict::Deliver { replayed: false });
        };
        let moves = !self.options.no_cursor_events.iter().any(|kind| kind == event.event);
        if moves && self.is_past(id) {
            return Step { verdict: Verdict::Refuse, next: Next::Stop(Stop::ReplayEnd) };
        }
        id.clone_into(&mut self.dispatched);
        if moves {
            id.clone_into(&mut self.in_force);
            self.end_met |= id == self.end.as_str();
            if let Some(id) = EventId::new(id) {
                self.position = id;
            }
        }
        let next = if self.end_met && !self.shared_ids { Next::Stop(Stop::ReplayEnd) } else { Next::Go };
        Step { verdict: Verdict::Deliver { replayed: false }, next }
    }

    fn comment(&mut self, text: &str, _now: Timestamp) -> Next {
        if let Some(dropped) = self.options.notices.comment(text) {
            let notice = Notice { dropped: dropped.count, ..Notice::new(NoticeKind::DropNotice, text) };
            self.outgoing.push(Outgoing::Notice(notice));
        }
        Next::Go
    }

    fn id_only(&mut self, id: &str, _now: Timestamp) {
        id.clone_into(&mut self.in_force);
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.idle
    }

    fn tick(&mut self, now: Timestamp) -> Next {
        match self.idle {
            Some(idle) if idle <= now => Next::Stop(Stop::ReplayEnd),
            _ => Next::Go,
        }
    }

    fn dispatch_id(&self) -> Option<&str> {
        Some(self.dispatched.as_str()).filter(|id| !id.is_empty())
    }

    fn outgoing(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.outgoing)
    }

    fn take_commit(&mut self, _now: Timestamp) -> Option<Commit> {
        None
    }

    fn whole(&self) -> Commit {
        Commit::default()
    }

    fn gaps(&self) -> Gaps {
        Gaps::default()
    }

    fn recovery_waits(&self) -> bool {
        false
    }

    fn reread(&self) -> Option<(u64, u64)> {
        Some((self.seen, self.expected))
    }
}
