//! What goes out: batches to the output, commits to the store once their batch is delivered, both brought to their end.

use std::time::Duration;

use tokio::time::Instant;

use super::end::End;
use super::pump::{Done, PumpError};
use super::{Driver, interrupt, sleep_until};
use crate::consumer::policy::Policy;
use crate::consumer::ports::{Console, Format, Journal, JournalError, Sink, SinkError, Transport};

/// How long an output that takes no more is waited for when the run is to end.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);
/// The same at the end of `--for`: a slow reader gets what it is owed, one that reads nothing does not hold the run.
const TIME_GRACE: Duration = Duration::from_secs(5);
/// The same for an export, which is then durable and committed.
const EXPORT_GRACE: Duration = Duration::from_secs(60);

impl<P, T, J, S, F, C> Driver<P, T, J, S, F, C>
where
    P: Policy,
    T: Transport,
    J: Journal + 'static,
    S: Sink + 'static,
    F: Format,
    C: Console,
{
    /// Writes what is to be written and waits until the output has taken it.
    pub(super) async fn drain(&mut self) -> Result<(), End> {
        let sink = self.pump.sink().clone();
        while self.pump.is_writing() || !self.waiting.is_empty() {
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
    pub(super) async fn settle(&mut self) -> Result<(), End> {
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
    pub(super) fn start_write(&mut self) {
        if !self.pump.is_writing() && self.pump.turn_is_due() {
            // What is queued is what is written; what the policy has decided since waits.
            self.take_delivered();
            self.notices_committed = self.stats.drop_notices;
            self.pump.begin_turn();
        }
        if !self.pump.is_writing() && !self.waiting.is_empty() {
            self.uncommitted = false;
            let delivers = self.policy.take_commit(self.clock.now());
            self.pump.write(self.waiting.take(&mut self.format), delivers);
        }
    }

    /// A gap that was opened is made durable at once, whatever the grouping: the next process must know of it. So is what
    /// a pipe or a terminal has taken, once it has taken all there is.
    pub(super) fn commit_is_due(&self) -> bool {
        let opened = self.stats.drop_notices > self.notices_committed;
        let caught_up = !self.pump.is_exclusive() && !self.pump.is_writing() && self.waiting.is_empty();
        ((opened || caught_up) && !self.pump.is_committing()) || self.pump.commit_is_due()
    }

    /// Begins a commit of what is delivered, if anything changed and none is under way.
    pub(super) fn start_commit(&mut self) -> bool {
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
    pub(super) fn take_delivered(&mut self) {
        if self.pump.is_writing() || !self.waiting.is_empty() || self.pump.has_failed() {
            return;
        }
        self.uncommitted = false;
        if let Some(commit) = self.policy.take_commit(self.clock.now()) {
            self.pump.queue_commit(commit);
        }
    }

    pub(super) async fn take_done(&mut self, done: Done) -> Result<(), End> {
        match done {
            Done::Written(Ok(buffer)) => self.waiting.written(buffer, &mut self.format),
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
    pub(super) async fn store_failed(&mut self, error: JournalError) -> Result<(), End> {
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
    pub(super) async fn close(&mut self, mut end: End) -> (End, Option<JournalError>) {
        self.finish_writing(&mut end).await;
        if matches!(end, End::Store(_)) {
            return (end, None);
        }
        (end, self.finish_committing().await)
    }

    /// Waits until the output has taken all there is: for as long as that takes, since what is cut off would be
    /// missing, but only [`OUTPUT_GRACE`] once a signal asks to end, and [`TIME_GRACE`] once the time is over. What is then
    /// still in its hands is not delivered.
    pub(super) async fn finish_writing(&mut self, end: &mut End) {
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
        while self.pump.is_writing() || !(gone || self.waiting.is_empty()) {
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

    pub(super) async fn finish_committing(&mut self) -> Option<JournalError> {
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
}
