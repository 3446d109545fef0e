//! The model server: a log, and one subscriber that is read by position, dropped from, and told so.

use std::collections::VecDeque;

use crate::random::Random;

/// How ids are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// 1, 2, 3.
    Decimal,
    /// Texts that say nothing of their order.
    Opaque,
    /// Several events under one id, as some servers do for all events of an instant.
    Shared,
    /// Decimals that become ULIDs at some point.
    Changing,
    /// One in three events has no id.
    Sparse,
}

/// What a cursor gets that the server no longer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooOld {
    Retained,
    Live,
    Gone,
}

/// When the notice comes that events were dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeAt {
    /// Before the next event.
    Hole,
    /// Some events later.
    Late,
    /// Some events before.
    Early,
}

/// The ways of a server.
#[derive(Clone, Debug)]
pub struct Ways {
    pub ids: Ids,
    pub inclusive: bool,
    pub ignores_cursor: bool,
    /// Events before live that it sends again to whoever connects, whatever the cursor.
    pub resends: usize,
    pub retention: Option<usize>,
    pub too_old: TooOld,
    pub greets: bool,
    pub notice_at: NoticeAt,
    pub says_count: bool,
}

impl Ways {
    pub fn random(random: &mut Random) -> Self {
        let ids = [Ids::Decimal, Ids::Decimal, Ids::Opaque, Ids::Shared, Ids::Changing, Ids::Sparse];
        let notice_at = [NoticeAt::Hole, NoticeAt::Hole, NoticeAt::Late, NoticeAt::Early];
        let too_old = [TooOld::Retained, TooOld::Live, TooOld::Gone];
        let ids = ids[index(random, ids.len())];
        // A hole in the middle of a group whose notice comes a window late cannot be served from any id after it.
        let notice_at = if ids == Ids::Shared { [NoticeAt::Hole; 4] } else { notice_at };
        let ignores_cursor = random.one_in(12);
        Self {
            ids,
            inclusive: random.one_in(3),
            ignores_cursor,
            resends: if ignores_cursor { index(random, 6) } else { 0 },
            retention: random.one_in(6).then(|| 5 + index(random, 60)),
            too_old: too_old[index(random, too_old.len())],
            greets: random.one_in(5),
            notice_at: notice_at[index(random, notice_at.len())],
            says_count: !random.one_in(4),
        }
    }

    /// The server gives every event of the log to a client that asks for it: nothing may be lost.
    pub fn keeps_everything(&self) -> bool {
        !self.ignores_cursor && self.retention.is_none()
    }
}

fn index(random: &mut Random, len: usize) -> usize {
    usize::try_from(random.below(len as u64)).expect("it is below a usize")
}

/// What the server sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The event at this index of the log.
    Event(usize),
    Greeting,
    Notice(Option<usize>),
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Stream,
    Gone,
}

/// One connection.
#[derive(Debug, Default)]
struct Subscriber {
    next: usize,
    before: VecDeque<Sent>,
    /// Events discarded whose notice is not sent.
    discarded: Vec<usize>,
    /// Events until the notice, and what it says.
    notice: Option<(usize, Option<usize>)>,
    /// Events until the hole, and how wide it is.
    hole: Option<(usize, usize)>,
}

/// The server.
pub struct Server {
    pub ways: Ways,
    pub log: Vec<Option<String>>,
    subscriber: Option<Subscriber>,
    /// A connection ended after a hole and before its notice: nobody can know of that hole.
    pub silent_hole: bool,
    /// Indices of the events that it discarded and said so.
    pub discarded: Vec<usize>,
}

impl Server {
    pub fn new(ways: Ways) -> Self {
        Self { ways, log: Vec::new(), subscriber: None, silent_hole: false, discarded: Vec::new() }
    }

    pub fn publish(&mut self, random: &mut Random) {
        let n = self.log.len();
        let id = match self.ways.ids {
            Ids::Decimal => Some((n + 1).to_string()),
            Ids::Opaque => Some(format!("k{:x}", (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))),
            Ids::Shared => {
                let last = self.log.last().cloned().flatten();
                // The first group is read whole: before one was seen nobody can know that ids are shared.
                let again = n == 2 || (n > 3 && random.one_in(2));
                Some(if again { last.expect("all have ids") } else { format!("g{n}") })
            }
            Ids::Changing if n > 40 => Some(format!("01J{:0>23}", n + 1)),
            Ids::Changing => Some((n + 1).to_string()),
            Ids::Sparse => (n == 0 || !random.one_in(3)).then(|| (n + 1).to_string()),
        };
        self.log.push(id);
    }

    fn retained_from(&self) -> usize {
        self.ways.retention.map_or(0, |keep| self.log.len().saturating_sub(keep))
    }

    pub fn accept(&mut self, cursor: Option<&str>) -> Answer {
        let start = match cursor {
            None => self.log.len(),
            Some(_) if self.ways.ignores_cursor => self.log.len().saturating_sub(self.ways.resends),
            Some(cursor) => match self.start_after(cursor) {
                Some(start) => start,
                None => match self.ways.too_old {
                    TooOld::Gone => return Answer::Gone,
                    TooOld::Live => self.log.len(),
                    TooOld::Retained => self.retained_from(),
                },
            },
        };
        let before = if self.ways.greets { VecDeque::from([Sent::Greeting]) } else { VecDeque::new() };
        self.subscriber = Some(Subscriber { next: start, before, ..Subscriber::default() });
        Answer::Stream
    }

    fn start_after(&self, cursor: &str) -> Option<usize> {
        let is = |id: &Option<String>| id.as_deref() == Some(cursor);
        let last = self.log.iter().rposition(is)?;
        let start = if self.ways.inclusive { self.log.iter().position(is)? } else { last + 1 };
        (start >= self.retained_from()).then_some(start)
    }

    pub fn hang_up(&mut self) {
        let subscriber = self.subscriber.take();
        self.silent_hole |= subscriber.is_some_and(|subscriber| subscriber.notice.is_some());
    }

    /// Discards `count` of the events that wait for the client, if there are so many.
    pub fn drop_events(&mut self, count: usize) {
        let NoticeAt::Hole = self.ways.notice_at else { return self.drop_around(count) };
        let Some(subscriber) = &mut self.subscriber else { return };
        if subscriber.next + count <= self.log.len() && count > 0 {
            subscriber.discarded.extend(subscriber.next..subscriber.next + count);
            subscriber.next += count;
            subscriber.before.push_back(Sent::Notice(self.ways.says_count.then_some(count)));
        }
    }

    fn drop_around(&mut self, count: usize) {
        let late = self.ways.notice_at == NoticeAt::Late;
        let says = self.ways.says_count.then_some(count);
        let Some(subscriber) = &mut self.subscriber else { return };
        let busy = subscriber.notice.is_some() || subscriber.hole.is_some();
        if busy || count == 0 || subscriber.next + count + 2 > self.log.len() {
            return;
        }
        if late {
            subscriber.next += count;
            subscriber.notice = Some((2, says));
        } else {
            subscriber.before.push_back(Sent::Notice(says));
            subscriber.hole = Some((2, count));
        }
    }

    /// What comes next on the connection, if anything waits.
    pub fn next(&mut self) -> Option<Sent> {
        let subscriber = self.subscriber.as_mut()?;
        if let Some(sent) = subscriber.before.pop_front() {
            if matches!(sent, Sent::Notice(_)) {
                self.discarded.append(&mut subscriber.discarded);
            }
            return Some(sent);
        }
        if let Some((0, says)) = subscriber.notice {
            subscriber.notice = None;
            return Some(Sent::Notice(says));
        }
        if let Some((0, width)) = subscriber.hole {
            subscriber.hole = None;
            subscriber.next = (subscriber.next + width).min(self.log.len());
        }
        let event = subscriber.next;
        if event >= self.log.len() {
            return None;
        }
        subscriber.next += 1;
        if let Some((left, _)) = &mut subscriber.notice {
            *left -= 1;
        }
        if let Some((left, _)) = &mut subscriber.hole {
            *left -= 1;
        }
        Some(Sent::Event(event))
    }
}
