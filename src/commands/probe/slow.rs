//! The slow reader: when it reads how fast, and what it does when the server ends its connection.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::reader::Reader;
use crate::consumer::drop_notice::DropNotices;
use crate::consumer::id::EventId;
use crate::consumer::time::Timestamp;
use crate::driver::Clock;
use crate::http::tap::{Pace, Tap};
use crate::probe::pressure::matching::Matching;
use crate::probe::pressure::policy::network_events;
use crate::probe::pressure::{Pause, Trial};
use crate::probe::{Observation, Recorder};

/// What the system is asked for, in bytes: the server must feel soon that nobody reads.
pub(super) const RECEIVE_BUFFER_BYTES: u32 = 4 * 1024;
/// How often it is looked how things stand.
const TICK: Duration = Duration::from_millis(10);
/// Bytes a second, unless told otherwise.
const RATE_DEFAULT: u64 = 2 * 1024;
/// A slow reader is no faster than this part of what comes.
const RATE_SHARE: u64 = 4;
/// Whoever got something this young has caught up.
const YOUNG: Duration = Duration::from_millis(60);
/// Whoever got nothing for this long has caught up too.
const QUIET: Duration = Duration::from_millis(250);
/// Longer than this nobody is waited for.
const CATCH_UP_MAX: Duration = Duration::from_secs(5);
/// The shortest and the longest pause.
const PAUSE_MIN: Duration = Duration::from_millis(300);
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// So many pauses are long; the later ones end just after the network is full.
const LONG_PAUSES: usize = 2;
/// A short pause lasts until so many more events were published than the network holds, at most: few enough that some
/// keys have not changed, so that a snapshot sends them again.
const BEYOND_EVENTS: usize = 6;
/// A reconnection waits at least and at most this long.
const RETRY_MIN: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(1);

/// What the slow reader is to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Orders {
    pub(super) watch: Duration,
    pub(super) limit_rate: Option<u64>,
    pub(super) slow_for: Option<Duration>,
}

/// The slow reader beside the control.
pub(super) struct Slow {
    pub(super) orders: Orders,
    pub(super) clock: Clock,
    pub(super) control: Rc<RefCell<Recorder>>,
    pub(super) slow: Rc<RefCell<Recorder>>,
    pub(super) tap: Rc<Tap>,
    pub(super) notices: DropNotices,
    /// A connection that went on after a cut is catching up.
    resuming: Cell<bool>,
    /// The slow reader has no connection and will get none.
    over: Cell<bool>,
    pauses: RefCell<Vec<Pause>>,
    rate: Cell<Option<u64>>,
}

impl Slow {
    pub(super) fn new(
        orders: Orders,
        clock: Clock,
        control: Rc<RefCell<Recorder>>,
        slow: (Rc<RefCell<Recorder>>, Rc<Tap>),
        notices: DropNotices,
    ) -> Self {
        Self {
            orders,
            clock,
            control,
            slow: slow.0,
            tap: slow.1,
            notices,
            resuming: Cell::new(false),
            over: Cell::new(false),
            pauses: RefCell::default(),
            rate: Cell::new(None),
        }
    }

    /// When it read nothing, so far.
    pub(super) fn pauses(&self) -> Vec<Pause> {
        self.pauses.borrow().clone()
    }

    /// The limit that held between the pauses.
    pub(super) fn rate(&self) -> Option<u64> {
        self.rate.get()
    }

    /// Reads, and goes on after the last id when the server ends the connection.
    pub(super) async fn read(&self, mut reader: Reader) {
        let mut cursor = None;
        loop {
            let connected = Box::pin(reader.connect(cursor.take())).await;
            let Ok(mut connection) = connected else { break };
            if self.resuming.get() {
                // What was missed is read freely: how much comes back is to be seen, not how slowly.
                let caught_up = timeout(CATCH_UP_MAX, async {
                    while !self.has_caught_up() {
                        sleep(TICK).await;
                    }
                });
                tokio::select! {
                    _ = caught_up => {}
                    () = connection.read() => {}
                }
                self.resuming.set(false);
            }
            let is_open = self.slow.borrow().observation().stands.last().is_some_and(|stand| stand.ended.is_none());
            if is_open {
                connection.read().await;
            }
            let last = reader.seen().last_id.clone();
            cursor = last.and_then(EventId::new).filter(EventId::fits_header);
            if cursor.is_none() {
                break;
            }
            self.resuming.set(true);
            self.tap.set_pace(Pace::Free);
            sleep(self.retry()).await;
        }
        self.resuming.set(false);
        self.over.set(true);
    }

    fn retry(&self) -> Duration {
        let recorder = self.slow.borrow();
        let said = recorder.observation().said.iter().rev().find_map(|said| match said {
            crate::probe::observe::Said::Retry(millis) => Some(Duration::from_millis(*millis)),
            _ => None,
        });
        said.unwrap_or(RETRY_MIN).clamp(RETRY_MIN, RETRY_MAX)
    }

    /// Sets the pace until the time is up.
    pub(super) async fn conduct(&self) {
        let begun = self.clock.now();
        let end = begun.plus(self.orders.watch);
        if let Some(pause) = self.orders.slow_for {
            sleep(self.orders.watch.min(Duration::from_secs(1))).await;
            self.pause(pause, None).await;
            return;
        }
        self.limited(begun.plus(self.orders.watch * 2 / 5)).await;
        // The network is full when the first pause begins.
        let mut length = (self.orders.watch / 10).clamp(PAUSE_MIN, PAUSE_MAX);
        self.pause(length, None).await;
        let mut network: Option<usize> = None;
        let (mut long, mut short) = (0, 0);
        while !self.over.get() && self.clock.now().plus(length) < end {
            let events = network.filter(|_| long >= LONG_PAUSES).map(|events| {
                short += 1;
                events + (short - 1) % BEYOND_EVENTS + 1
            });
            let cuts = self.cuts();
            self.pause(length, events).await;
            if self.cuts() > cuts {
                length = (length / 2).max(PAUSE_MIN);
            } else if events.is_none() {
                network = network.max(self.network_events());
                long += usize::from(network.is_some());
                length = if network.is_none() { (length * 2).min(PAUSE_MAX) } else { length };
            }
        }
        sleep(end.since(self.clock.now())).await;
    }

    fn cuts(&self) -> usize {
        self.slow.borrow().observation().stands.iter().filter(|stand| stand.ended.is_some()).count()
    }

    /// Reads slowly until then.
    async fn limited(&self, until: Timestamp) {
        while self.clock.now() < until && !self.over.get() {
            let pace = if self.resuming.get() { Pace::Free } else { Pace::Limited(self.limit()) };
            self.tap.set_pace(pace);
            sleep(TICK).await;
        }
    }

    /// The limit: what was asked for, or what surely is too slow.
    fn limit(&self) -> u64 {
        let limit = self.orders.limit_rate.unwrap_or_else(|| {
            let recorder = self.control.borrow();
            let seen = recorder.observation();
            let time = seen.stands.first().map_or(Duration::ZERO, |stand| self.clock.now().since(stand.opened));
            let per_second = u128::from(seen.bytes) * 1000 / time.as_millis().max(1000);
            RATE_DEFAULT.min((u64::try_from(per_second).unwrap_or(u64::MAX) / RATE_SHARE).max(1))
        });
        self.rate.set(Some(limit));
        limit
    }

    /// Reads nothing for so long, or until the control got so many events; then everything.
    async fn pause(&self, length: Duration, events: Option<usize>) {
        let from = self.clock.now();
        self.tap.set_pace(Pace::Paused);
        let before = self.control.borrow().observation().events;
        let waited = async {
            match events {
                None => sleep(length).await,
                Some(events) => {
                    while self.control.borrow().observation().events < before + events as u64 {
                        sleep(Duration::from_millis(1)).await;
                    }
                }
            }
        };
        let _ = timeout(length.max(PAUSE_MIN), waited).await;
        let until = self.clock.now();
        // Until it is over this pause counts as one, so that a signal finds it.
        self.pauses.borrow_mut().push(Pause { from, until, caught_up: until.plus(CATCH_UP_MAX) });
        self.tap.set_pace(Pace::Free);
        let caught_up = async {
            sleep(TICK).await;
            while !self.over.get() && (self.resuming.get() || !self.has_caught_up()) {
                sleep(TICK).await;
            }
        };
        let _ = timeout(CATCH_UP_MAX, caught_up).await;
        if let Some(pause) = self.pauses.borrow_mut().last_mut() {
            pause.caught_up = self.clock.now();
        }
    }

    fn has_caught_up(&self) -> bool {
        let now = self.clock.now();
        let (slow, control) = (self.slow.borrow(), self.control.borrow());
        let (slow, control) = (slow.observation(), control.observation());
        if slow.last_byte.is_some_and(|at| now.since(at) > QUIET) {
            return true;
        }
        let Some(last) = slow.events().last() else { return false };
        let young = control.said.iter().rev().filter_map(|said| match said {
            crate::probe::observe::Said::Event(event) => Some(event),
            _ => None,
        });
        young.take_while(|event| now.since(event.at) < YOUNG).any(|event| event.digest == last.digest)
    }

    /// How many events the network took in the last pause before the server held or lost something.
    fn network_events(&self) -> Option<usize> {
        let pauses = self.pauses();
        let (slow, control) = (self.slow.borrow(), self.control.borrow());
        let trial = self.trial(control.observation(), slow.observation(), &pauses);
        let matching = Matching::new(trial.control, trial.slow);
        network_events(&trial, &matching, *pauses.last()?)
    }

    pub(super) fn trial<'a>(
        &'a self,
        control: &'a Observation,
        slow: &'a Observation,
        pauses: &'a [Pause],
    ) -> Trial<'a> {
        let from = control.stands.first().map_or(self.clock.now(), |stand| stand.opened);
        Trial { control, slow, pauses, notices: &self.notices, limit_rate: self.rate(), from, until: self.clock.now() }
    }
}
