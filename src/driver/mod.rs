//! Carries the decisions of a policy out, for one stream: connects, reads, writes, commits, waits.
//!
//! Responsible for the order *observe, deliver, make durable, commit*, and for never standing still: a slow output
//! lets the network run ahead by a bounded amount, a slow store holds up no event. Meets transport, store, output and
//! terminal only through the traits of [`crate::consumer::ports`]; decides nothing about cursors.

mod bounds;
mod clock;
mod end;
mod frames;
mod pump;
mod session;

use std::time::Duration;

use tokio::time::Instant;

pub use bounds::{Bounds, Shutdown, ShutdownHandle};
pub use clock::Clock;
pub use end::End;
pub use pump::Grouping;

use crate::consumer::backoff::{Backoff, BackoffOptions};
use crate::consumer::delivery::{Notice, NoticeKind};
use crate::consumer::idle::IdleOption;
use crate::consumer::policy::{Next, Outgoing, Policy, Stop};
use crate::consumer::ports::{
    Attempt, ConnectError, Connected, Console, Format, Journal, JournalError, Progress, Sink, SinkError, Transport,
};
use crate::consumer::record::Key;
use crate::consumer::stats::Stats;
use crate::consumer::time::Timestamp;
use crate::wire::Limits;
use end::Seconds;
use pump::{Done, Pump, PumpError};
use session::Leaving;

/// How long an output that takes no more is waited for when the run is to end.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);
/// The same at the end of `--for`: a slow reader gets what it is owed, one that reads nothing does not hold the run.
const TIME_GRACE: Duration = Duration::from_secs(5);
/// The same for an export, which is then durable and committed.
const EXPORT_GRACE: Duration = Duration::from_secs(60);
/// Connections that end after events, one after the other, until it is told who is slow (rule 14).
const CUTS_TO_TELL: u32 = 4;
/// Statuses that may mean that the server no longer has the cursor, if the same request without one gets 200 (rule 6).
const CURSOR_STATUSES: [u16; 4] = [400, 404, 412, 422];

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
    /// Records that wait for the output.
    batch: Vec<u8>,
    /// The buffer for those after them.
    next_batch: Vec<u8>,
    /// Frames were taken since a commit was looked for.
    uncommitted: bool,
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
            batch: Vec::new(),
            next_batch: Vec::new(),
            uncommitted: true,
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

    /// Says what was lost and waits for the next attempt, if there is one.
    async fn lost_connection(&mut self, text: String, delay: Option<Duration>, answered: bool) -> Result<(), End> {
        let Some(delay) = delay else { return Err(self.retries_used_up(vec![text], answered)) };
        self.console.warning(&format!("{text}; connecting again in {}", Seconds(delay)));
        self.notice(NoticeKind::Reconnecting, &format!("in {}", Seconds(delay)));
        self.wait(delay).await
    }

    fn retries_used_up(&self, causes: Vec<String>, answered: bool) -> End {
        End::NoConnection { causes, retries: self.backoff.retries(), answered }
    }

    fn next_delay(&mut self, retry_after: Option<Duration>) -> Option<Duration> {
        let jitter = (self.jitter)();
        self.backoff.next(jitter, retry_after)
    }

    /// One attempt. `None`: it gave no stream, and what follows was waited for.
    async fn connect(&mut self) -> Result<Option<Connected<T::Body>>, End> {
        self.state("connecting");
        // Keys are asked for below: what was delivered must be among them.
        self.settle().await?;
        let plan = self.policy.plan(self.clock.now());
        self.take_outgoing();
        let position = plan.cursor.as_ref().map_or_else(|| "no cursor".to_owned(), |id| format!("`{id}`"));
        match self.settings.url_position.as_ref().filter(|_| plan.cursor.is_none()) {
            Some(own) => {
                self.console.detail(1, &format!("connecting with `{own}` of the URL, since no cursor is known"))
            }
            None => self.console.detail(1, &format!("connecting with {position}: {}", plan.why)),
        }
        let keys = match plan.keys_from {
            Some(from) => match self.pump.journal.keys(from).await {
                Ok(keys) => keys,
                Err(error) => {
                    self.store_failed(error).await?;
                    Vec::new()
                }
            },
            None => Vec::new(),
        };
        let attempt = Attempt { cursor: plan.cursor };
        match self.attempt(&attempt).await? {
            Ok(connected) => {
                self.stats.connections += 1;
                self.console.detail(1, &format!("connected: {}", connected.status_line));
                self.notice(NoticeKind::Connected, &format!("with {position}"));
                let next = self.policy.connected(keys, self.clock.now());
                self.take_outgoing();
                debug_assert!(next == Next::Go || matches!(next, Next::Stop(_)), "a fresh connection is not left");
                self.leave_for(next).map_or(Ok(Some(connected)), Err)
            }
            Err(error) => {
                self.stats.failed_attempts += 1;
                self.after_refusal(&attempt, error).await?;
                Ok(None)
            }
        }
    }

    fn leave_for(&self, next: Next) -> Option<End> {
        match next {
            Next::Stop(stop) => Some(end_of(stop)),
            Next::Go | Next::Leave => None,
        }
    }

    async fn attempt(&mut self, attempt: &Attempt) -> Result<Result<Connected<T::Body>, ConnectError>, End> {
        let interrupt = interrupt(&self.shutdown, self.time_limit, self.pump.sink());
        // A `tail` learns of it when it is connected, and goes on.
        let ends_if_fenced = self.spare.is_none() && !self.in_memory;
        tokio::select! {
            result = self.transport.connect(attempt) => Ok(result),
            end = interrupt => Err(end),
            error = self.pump.journal.fenced(), if ends_if_fenced => Err(End::Store(error)),
        }
    }

    async fn after_refusal(&mut self, attempt: &Attempt, error: ConnectError) -> Result<(), End> {
        match error {
            ConnectError::NoContent => Err(End::NoContent),
            ConnectError::Status { code, ref detail, retry_after, retryable: true } => {
                let text = format!("the server answered {code} {detail}");
                self.try_again(text, retry_after, true).await
            }
            ConnectError::Unreachable { causes } => self.try_again(causes.join(": "), None, false).await,
            // A command that gave credentials before, or a certificate that was trusted, fails as the network does: for
            // a while.
            ConnectError::Unusable { causes }
            | ConnectError::Untrusted { causes }
            | ConnectError::Disagreed { causes }
                if self.stats.connections > 0 =>
            {
                self.try_again(causes.join(": "), None, false).await
            }
            ConnectError::Status { code, .. } if attempt.cursor.is_some() && self.cursor_is_refused(code).await? => {
                let how = format!("it answered {code} to a request with the cursor");
                let next = self.policy.cursor_refused(&how, self.clock.now());
                self.take_outgoing();
                self.leave_for(next).map_or(Ok(()), Err)
            }
            other => Err(End::Refused(other)),
        }
    }

    async fn try_again(&mut self, text: String, retry_after: Option<Duration>, answered: bool) -> Result<(), End> {
        if !self.settings.reconnect {
            return Err(End::NoConnection { causes: vec![text], retries: 0, answered });
        }
        let delay = self.next_delay(retry_after);
        self.lost_connection(text, delay, answered).await
    }

    /// Rule 6: 410 says so; others may, if the same request without a cursor gets 200.
    async fn cursor_is_refused(&mut self, code: u16) -> Result<bool, End> {
        if code == 410 {
            return Ok(true);
        }
        if !CURSOR_STATUSES.contains(&code) {
            return Ok(false);
        }
        Ok(self.attempt(&Attempt { cursor: None }).await?.is_ok())
    }

    /// Waits before the next attempt.
    async fn wait(&mut self, delay: Duration) -> Result<(), End> {
        self.state("waiting");
        self.drain().await?;
        let until = Instant::now() + delay;
        let sink = self.pump.sink().clone();
        loop {
            let journal = self.pump.journal.clone();
            let busy = self.pump.is_committing();
            tokio::select! {
                done = self.pump.done(), if busy => self.take_done(done).await?,
                () = sink.turn_due(), if !busy => self.start_write(),
                () = tokio::time::sleep_until(until) => return Ok(()),
                end = interrupt(&self.shutdown, self.time_limit, &sink) => return Err(end),
                error = journal.fenced(), if !self.in_memory => self.store_failed(error).await?,
            }
        }
    }

    /// Writes what is to be written and waits until the output has taken it.
    async fn drain(&mut self) -> Result<(), End> {
        let sink = self.pump.sink().clone();
        while self.pump.is_writing() || !self.batch.is_empty() {
            self.start_write();
            let done = tokio::select! {
                done = self.pump.done() => done,
                end = interrupt(&self.shutdown, self.time_limit, &sink) => return Err(end),
            };
            self.take_done(done).await?;
        }
        Ok(())
    }

    /// Writes and commits all there is.
    async fn settle(&mut self) -> Result<(), End> {
        self.drain().await?;
        loop {
            if !self.pump.is_committing() && !self.start_commit() {
                return Ok(());
            }
            let done = self.pump.done().await;
            self.take_done(done).await?;
        }
    }

    /// Writes what is to be written, unless the output is to go on elsewhere first.
    fn start_write(&mut self) {
        if !self.pump.is_writing() && self.pump.turn_is_due() {
            // What is queued is what is written; what the policy has decided since is in the batch.
            self.take_delivered();
            self.notices_committed = self.stats.drop_notices;
            self.pump.begin_turn();
        }
        if !self.pump.is_writing() && !self.batch.is_empty() {
            self.uncommitted = false;
            let delivers = self.policy.take_commit(self.clock.now());
            let next = std::mem::take(&mut self.next_batch);
            self.pump.write(std::mem::replace(&mut self.batch, next), delivers);
        }
    }

    /// A gap that was opened is made durable at once, whatever the grouping: the next process must know of it.
    fn commit_is_due(&self) -> bool {
        let opened = self.stats.drop_notices > self.notices_committed && !self.pump.is_committing();
        opened || self.pump.commit_is_due()
    }

    /// Begins a commit of what is delivered, if anything changed and none is under way.
    fn start_commit(&mut self) -> bool {
        self.take_delivered();
        if self.pump.is_committing() || (self.pump.is_exclusive() && self.pump.is_writing()) {
            return false;
        }
        let Some(commit) = self.pump.next_commit() else { return false };
        self.notices_committed = self.stats.drop_notices;
        if self.spare.is_some() {
            self.keys_under_way.clone_from(&commit.keys);
        }
        self.pump.commit(commit);
        true
    }

    /// Queues what is delivered for a commit, before the policy goes on to what is not. Does nothing while it is
    /// ahead of the output.
    fn take_delivered(&mut self) {
        if self.pump.is_writing() || !self.batch.is_empty() || self.pump.has_failed() {
            return;
        }
        self.uncommitted = false;
        if let Some(commit) = self.policy.take_commit(self.clock.now()) {
            self.pump.queue_commit(commit);
        }
    }

    async fn take_done(&mut self, done: Done) -> Result<(), End> {
        match done {
            Done::Written(Ok(buffer)) => {
                self.next_batch = buffer;
            }
            Done::Written(Err(error)) | Done::Committed(Err(PumpError::Sink(error))) => {
                return Err(match error {
                    SinkError::Closed => End::ReaderGone,
                    SinkError::Failed(error) => End::Output(error),
                });
            }
            Done::Committed(Ok(())) => self.keys_under_way.clear(),
            Done::Committed(Err(PumpError::Journal(error))) => self.store_failed(error).await?,
        }
        self.take_delivered();
        if self.commit_is_due() {
            self.start_commit();
        }
        Ok(())
    }

    /// Rules 9 and 12: a `tail` goes on in memory, everything else ends.
    async fn store_failed(&mut self, error: JournalError) -> Result<(), End> {
        let why = match &error {
            JournalError::Fenced { by, by_resume: true } => format!("the stream was taken over by {by}"),
            JournalError::Fenced { .. } => return Err(End::Store(error)),
            JournalError::Failed { causes } => format!("the store failed: {}", causes.join(": ")),
        };
        let Some(spare) = self.spare.take() else { return Err(End::Store(error)) };
        self.console.note(&format!("{why}; this `tail` goes on in memory, its cursor is no longer stored"));
        // A commit under way would only fail in the same way.
        self.pump.forget_commit();
        let mut pending = std::mem::take(&mut self.keys_under_way);
        while let Some(mut queued) = self.pump.next_commit().or_else(|| self.pump.take_delivers()) {
            pending.append(&mut queued.keys);
        }
        let mut whole = self.policy.whole();
        let mut keys = self.pump.journal.keys(whole.keys_keep_from).await.unwrap_or_default();
        // Whoever took the stream over may have delivered more since; that is none of ours.
        let ours = whole.head.next_seq.saturating_sub(whole.keys_keep_from);
        keys.truncate(usize::try_from(ours).unwrap_or(usize::MAX).saturating_sub(pending.len()));
        keys.append(&mut pending);
        whole.keys = keys;
        self.pump.journal = spare;
        self.in_memory = true;
        self.pump.journal.commit(whole).await.map_err(End::Store)
    }

    /// Ends the run: hands over what was taken from the stream, and commits what is delivered.
    async fn close(&mut self, mut end: End) -> (End, Option<JournalError>) {
        self.finish_writing(&mut end).await;
        if matches!(end, End::Store(_)) {
            return (end, None);
        }
        (end, self.finish_committing().await)
    }

    /// Waits until the output has taken all there is: for as long as that takes, since what is cut off would be
    /// missing, but only [`OUTPUT_GRACE`] once a signal asks to end, and [`TIME_GRACE`] once the time is over. What is then
    /// still in its hands is not delivered.
    async fn finish_writing(&mut self, end: &mut End) {
        let shutdown = self.shutdown.clone();
        let gone = matches!(end, End::ReaderGone | End::Output(_));
        let mut hurried = gone || matches!(end, End::Signal(_));
        // A file takes what is written, if slowly; the reader of a pipe may never.
        let grace = if self.pump.is_exclusive() { EXPORT_GRACE } else { OUTPUT_GRACE };
        let mut limit = match end {
            _ if hurried => Some(Instant::now() + grace),
            End::Time => Some(Instant::now() + grace.max(TIME_GRACE)),
            _ => None,
        };
        while self.pump.is_writing() || !(gone || self.batch.is_empty()) {
            if !gone {
                self.start_write();
            }
            let done = tokio::select! {
                done = self.pump.done() => done,
                number = shutdown.signalled(), if !hurried => {
                    *end = End::Signal(number);
                    hurried = true;
                    limit = Some(Instant::now() + grace);
                    continue;
                }
                () = sleep_until(limit) => return,
            };
            if let Err(failure) = self.take_done(done).await {
                // What asked for the end stays the reason, unless the output lost what it should have had.
                if !gone && !matches!(failure, End::ReaderGone) {
                    *end = failure;
                }
                return;
            }
        }
    }

    async fn finish_committing(&mut self) -> Option<JournalError> {
        loop {
            if !self.pump.is_committing() && !self.start_commit() {
                return None;
            }
            match self.pump.done().await {
                Done::Committed(Err(PumpError::Journal(error))) => return Some(error),
                Done::Committed(Err(PumpError::Sink(_))) => return None,
                Done::Committed(Ok(())) | Done::Written(_) => {}
            }
        }
    }

    /// Takes what the policy has to write and to say, in order.
    fn take_outgoing(&mut self) {
        for outgoing in self.policy.outgoing() {
            match outgoing {
                Outgoing::Notice(notice) => {
                    self.count_notice(&notice);
                    self.say(&notice);
                    self.format.notice(&mut self.batch, &notice, Clock::wall());
                }
                Outgoing::Event(event) => self.deliver_held(&event),
                Outgoing::Warning(text) => self.console.warning(&text),
                Outgoing::Note(text) => self.console.note(&text),
                Outgoing::Detail(text) => self.console.detail(1, &text),
            }
        }
    }

    fn notice(&mut self, kind: NoticeKind, text: &str) {
        let notice = Notice::new(kind, text);
        self.format.notice(&mut self.batch, &notice, Clock::wall());
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
