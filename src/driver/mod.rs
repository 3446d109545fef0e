//! Carries the decisions of a policy out, for one stream: connects, reads, writes, commits, waits.
//!
//! Responsible for the order *observe, deliver, make durable, commit*, and for never standing still: a slow output
//! lets the network run ahead by a bounded amount, a slow store holds up no event. Meets transport, store, output and
//! terminal only through the traits of [`crate::consumer::ports`]; decides nothing about cursors.

mod bounds;
mod clock;
mod connect;
mod delivery;
mod end;
mod frames;
mod pump;
mod session;
mod waiting;

use tokio::time::Instant;

pub use bounds::{Bounds, Shutdown, ShutdownHandle};
pub use clock::Clock;
pub use end::End;
pub use pump::Grouping;

use crate::backpressure::Policies;
use crate::consumer::backoff::{Backoff, BackoffOptions};
use crate::consumer::delivery::{Notice, NoticeKind};
use crate::consumer::idle::IdleOption;
use crate::consumer::policy::{Outgoing, Policy, Stop};
use crate::consumer::ports::{Console, Format, Journal, JournalError, Progress, Sink, Transport};
use crate::consumer::record::Key;
use crate::consumer::stats::Stats;
use crate::consumer::time::Timestamp;
use crate::wire::Limits;
use pump::Pump;
use session::Leaving;
use waiting::Waiting;

/// Connections that end after events, one after the other, until it is told who is slow (rule 14).
const CUTS_TO_TELL: u32 = 4;

/// What of the run is up to the user.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it ends.
    pub bounds: Bounds,
    /// The idle watchdog.
    pub idle: IdleOption,
    /// Delays and retries.
    pub backoff: BackoffOptions,
    /// An ended connection is made again.
    pub reconnect: bool,
    /// The decoder's limits.
    pub limits: Limits,
    /// How far the network may run ahead of the output, in bytes.
    pub read_ahead_bytes: usize,
    /// When commits are made.
    pub grouping: Grouping,
    /// The position that stands in the URL itself (`since=5`), which is sent while there is no cursor.
    pub url_position: Option<String>,
    /// What gives way while the output is behind, by [`Policies::of_own_reader`].
    pub policies: Option<Policies>,
}

/// The edge, as it is plugged in for one stream.
#[derive(Debug)]
pub struct Edge<T, J, S, F, C> {
    /// Makes requests.
    pub transport: T,
    /// Takes commits.
    pub journal: J,
    /// Takes them if the first journal fails or is taken over: what lets a `tail` go on in memory.
    pub spare: Option<J>,
    /// Takes batches.
    pub sink: S,
    /// Writes records into them.
    pub format: F,
    /// Talks to a person.
    pub console: C,
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome<J> {
    /// Why it ended.
    pub end: End,
    /// Everything delivered is committed, unless this says why not.
    pub commit_failure: Option<JournalError>,
    /// What it did.
    pub stats: Stats,
    /// A gap ended otherwise than `recovered`.
    pub lost_events: bool,
    /// A gap is open.
    pub gap_open: bool,
    /// The next run has somewhere to go on from.
    pub has_position: bool,
    /// The journal in force at the end.
    pub journal: J,
    /// It went over to the spare journal, so nothing of the end is stored.
    pub in_memory: bool,
}

/// Drives one stream.
pub struct Driver<P, T, J, S, F, C> {
    policy: P,
    transport: T,
    pump: Pump<J, S>,
    spare: Option<J>,
    /// Keys of the commit under way: a spare journal needs them if that fails.
    keys_under_way: Vec<Key>,
    in_memory: bool,
    format: F,
    console: C,
    settings: Settings,
    clock: Clock,
    shutdown: ShutdownHandle,
    started: Instant,
    time_limit: Option<Instant>,
    cuts_in_row: u32,
    backoff: Backoff,
    jitter: Box<dyn FnMut() -> f64>,
    waiting: Waiting,
    /// Frames were taken since a commit was looked for.
    uncommitted: bool,
    /// It was told that the output is behind.
    told_of_output: bool,
    /// Drop notices that were there at the last commit.
    notices_committed: u64,
    stats: Stats,
    progress: Progress,
}

impl<P, T, J, S, F, C> Driver<P, T, J, S, F, C>
where
    P: Policy,
    T: Transport,
    J: Journal + 'static,
    S: Sink + 'static,
    F: Format,
    C: Console,
{
    /// A driver of `policy` over `edge`. `jitter` gives numbers from 0 to 1.
    pub fn new(
        policy: P,
        edge: Edge<T, J, S, F, C>,
        settings: Settings,
        clock: Clock,
        jitter: Box<dyn FnMut() -> f64>,
    ) -> Self {
        Self {
            pump: Pump::new(edge.journal, edge.sink, settings.grouping, policy.unchanged()),
            policy,
            transport: edge.transport,
            spare: edge.spare,
            keys_under_way: Vec::new(),
            in_memory: false,
            format: edge.format,
            console: edge.console,
            clock,
            shutdown: ShutdownHandle::default(),
            started: Instant::now(),
            cuts_in_row: 0,
            time_limit: settings.bounds.time.map(|time| Instant::now() + time),
            backoff: Backoff::new(settings.backoff.clone()),
            jitter,
            waiting: Waiting::new(settings.policies.clone()),
            uncommitted: true,
            told_of_output: false,
            notices_committed: 0,
            stats: Stats::default(),
            progress: Progress { state: "connecting", ..Progress::default() },
            settings,
        }
    }

    /// The same, ended together with others.
    #[must_use]
    pub fn with_shutdown(mut self, shutdown: ShutdownHandle) -> Self {
        self.shutdown = shutdown;
        self
    }

    /// Follows the stream to the end of the run.
    pub async fn run(mut self) -> Outcome<J> {
        let end = self.follow().await;
        let (end, commit_failure) = self.close(end).await;
        self.stats.elapsed = self.started.elapsed();
        self.stats.gaps = self.policy.gaps();
        Outcome {
            end,
            commit_failure,
            stats: self.stats,
            lost_events: self.policy.lost_events(),
            gap_open: self.policy.gap_open(),
            has_position: self.policy.has_position(),
            journal: self.pump.journal,
            in_memory: self.in_memory,
        }
    }

    async fn follow(&mut self) -> End {
        loop {
            let connected = match self.connect().await {
                Ok(Some(connected)) => connected,
                Ok(None) => continue,
                Err(end) => return end,
            };
            let events_before = self.stats.delivered + self.stats.removed;
            let leaving = self.session(connected).await;
            self.policy.disconnected(self.clock.now());
            let fruitful = self.stats.delivered + self.stats.removed > events_before;
            if let Err(end) = self.after_session(leaving, fruitful).await {
                return end;
            }
        }
    }

    async fn after_session(&mut self, leaving: Leaving, fruitful: bool) -> Result<(), End> {
        let (text, delay) = match leaving {
            Leaving::End(end) => return Err(end),
            Leaving::Left => {
                self.notice(NoticeKind::Disconnected, "left, to read again from another position");
                let delay = if fruitful { Some(self.backoff.floor()) } else { self.next_delay(None) };
                let Some(delay) = delay else { return Err(self.retries_used_up(Vec::new(), true)) };
                return self.wait(delay).await;
            }
            Leaving::Ended(Ok(())) if !self.settings.reconnect => return Err(End::ServerEnded),
            Leaving::Ended(Err(broken)) if !self.settings.reconnect => return Err(End::Broken(broken.causes)),
            Leaving::Ended(Ok(())) => ("the server ended the connection".to_owned(), self.next_delay(None)),
            Leaving::Ended(Err(broken)) => {
                (format!("lost the connection: {}", broken.causes.join(": ")), self.next_delay(None))
            }
        };
        self.notice(NoticeKind::Disconnected, &text);
        self.cuts_in_row = if fruitful { self.cuts_in_row + 1 } else { 0 };
        if self.cuts_in_row >= CUTS_TO_TELL && self.cuts_in_row.is_power_of_two() {
            self.say_who_is_slow();
        }
        self.lost_connection(text, delay, true).await
    }

    /// Takes what the policy has to write and to say, in order.
    fn take_outgoing(&mut self) {
        for outgoing in self.policy.outgoing() {
            match outgoing {
                Outgoing::Notice(notice) => {
                    self.count_notice(&notice);
                    self.say(&notice);
                    self.put_notice(&notice);
                }
                Outgoing::Event(event) => self.deliver_held(&event),
                Outgoing::Warning(text) => self.console.warning(&text),
                Outgoing::Note(text) => self.console.note(&text),
                Outgoing::Detail(text) => self.console.detail(1, &text),
            }
        }
    }

    fn notice(&mut self, kind: NoticeKind, text: &str) {
        self.put_notice(&Notice::new(kind, text));
    }

    fn put_notice(&mut self, notice: &Notice) {
        self.waiting.put(|batch| self.format.notice(batch, notice, Clock::wall()));
    }

    fn state(&mut self, state: &'static str) {
        self.progress.state = state;
        self.show_progress();
    }

    fn show_progress(&mut self) {
        self.progress.events = self.stats.delivered;
        self.progress.bytes = self.stats.bytes;
        self.progress.reread = self.policy.reread();
        if let Some(id) = self.policy.dispatch_id() {
            let last = self.progress.last_id.get_or_insert_default();
            last.clear();
            last.push_str(id);
        }
        self.console.progress(&self.progress);
    }
}

fn end_of(stop: Stop) -> End {
    match stop {
        Stop::Dropped => End::Dropped,
        Stop::Expired(how) => End::Expired(how),
        Stop::ReplayEnd => End::ReplayEnd,
    }
}

/// Ends when the run is to end, whatever it waits for. Cancel-safe.
async fn interrupt(shutdown: &ShutdownHandle, limit: Option<Instant>, sink: &impl Sink) -> End {
    tokio::select! {
        reason = shutdown.asked() => match reason {
            Shutdown::Signal(number) => End::Signal(number),
            Shutdown::Count | Shutdown::No => End::Count,
        },
        () = sleep_until(limit) => End::Time,
        () = sink.closed() => End::ReaderGone,
    }
}

/// Sleeps until then; for ever where there is no then.
async fn sleep_until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// When the policy wants to be called, as an instant.
fn instant(clock: &Clock, time: Option<Timestamp>) -> Option<Instant> {
    time.map(|time| clock.instant(time))
}
