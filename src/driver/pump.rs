//! The way out: a batch to the output, then the commit of what it delivered. One of each is under way at a time.

use std::collections::VecDeque;
use std::future::{Future, pending};
use std::pin::Pin;
use std::time::Duration;

use tokio::time::Instant;

use crate::consumer::ports::{Journal, JournalError, Sink, SinkError};
use crate::consumer::record::Commit;

type Pending<T> = Option<Pin<Box<dyn Future<Output = T>>>>;

/// When what was delivered is made durable and committed.
#[derive(Clone, Copy, Debug)]
pub struct Grouping {
    /// The output is a file that must be made durable before a commit.
    pub durable: bool,
    /// No two commits are nearer to each other than this, unless the run ends ...
    pub interval: Duration,
    /// ... or so many bytes were written since.
    pub bytes: u64,
}

impl Default for Grouping {
    /// While there is more to write: else every commit would take the processor from it.
    fn default() -> Self {
        Self { durable: false, interval: Duration::from_millis(20), bytes: u64::MAX }
    }
}

/// Writes and commits of one stream.
pub(super) struct Pump<J, S> {
    pub(super) journal: J,
    sink: S,
    grouping: Grouping,
    writing: Pending<Result<Vec<u8>, SinkError>>,
    /// What is to be committed once the batch under way is delivered.
    delivers: Option<Commit>,
    committing: Pending<Result<(), PumpError>>,
    /// Delivered and not yet given to the journal. One, unless a record begins in between.
    queued: VecDeque<Commit>,
    /// The last commit, without what it changed: the output may have something of its own to store.
    unchanged: Commit,
    written_bytes: u64,
    committed_at: Instant,
    failed: bool,
}

/// What of the way out failed.
#[derive(Debug)]
pub(super) enum PumpError {
    Journal(JournalError),
    Sink(SinkError),
}

/// What is done.
#[derive(Debug)]
pub(super) enum Done {
    /// The batch is delivered; here is its buffer.
    Written(Result<Vec<u8>, SinkError>),
    /// The commit is durable.
    Committed(Result<(), PumpError>),
}

impl<J: Journal + 'static, S: Sink + 'static> Pump<J, S> {
    /// `unchanged` is a commit that changes nothing of what is stored.
    pub(super) fn new(journal: J, sink: S, grouping: Grouping, unchanged: Commit) -> Self {
        Self {
            unchanged,
            journal,
            sink,
            grouping,
            writing: None,
            delivers: None,
            committing: None,
            queued: VecDeque::new(),
            written_bytes: 0,
            committed_at: Instant::now(),
            failed: false,
        }
    }

    pub(super) fn sink(&self) -> &S {
        &self.sink
    }

    /// The output is busy: with a batch, or with an export's commit, during which nothing may be written.
    pub(super) fn is_writing(&self) -> bool {
        self.writing.is_some() || (self.grouping.durable && self.committing.is_some())
    }

    /// The output is a file: how far it is written is part of a commit, so none is begun while a batch is under way.
    pub(super) fn is_exclusive(&self) -> bool {
        self.grouping.durable
    }

    /// A batch was not taken: what the policy knows is ahead of what was delivered.
    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    pub(super) fn is_committing(&self) -> bool {
        self.committing.is_some()
    }

    /// Writes a batch. `delivers` is all that is delivered with it.
    pub(super) fn write(&mut self, batch: Vec<u8>, delivers: Option<Commit>) {
        self.delivers = delivers;
        self.written_bytes += batch.len() as u64;
        let sink = self.sink.clone();
        self.writing = Some(Box::pin(async move { sink.write(batch).await }));
    }

    /// A commit may be begun now.
    pub(super) fn commit_is_due(&self) -> bool {
        self.committing.is_none()
            && (self.committed_at.elapsed() >= self.grouping.interval || self.written_bytes >= self.grouping.bytes)
    }

    /// When the next commit may be begun, where it waits for its interval.
    pub(super) fn commit_at(&self) -> Instant {
        self.committed_at + self.grouping.interval
    }

    /// What was to be committed with the batch under way, which whoever asks takes care of.
    pub(super) fn take_delivers(&mut self) -> Option<Commit> {
        self.delivers.take()
    }

    /// What is to be committed next, after all that was queued before.
    pub(super) fn queue_commit(&mut self, commit: Commit) {
        match self.queued.back_mut() {
            Some(before) if !commit.begin => join(before, commit),
            _ => self.queued.push_back(commit),
        }
    }

    pub(super) fn has_queued_commit(&self) -> bool {
        !self.queued.is_empty()
    }

    pub(super) fn next_commit(&mut self) -> Option<Commit> {
        self.queued.pop_front()
    }

    /// The output is to go on elsewhere before it is written to again.
    pub(super) fn turn_is_due(&self) -> bool {
        self.grouping.durable && !self.failed && self.sink.turn_is_due()
    }

    /// Commits what is queued, or only how far the output is written, so that the output can go on elsewhere.
    pub(super) fn begin_turn(&mut self) {
        let commit = self.next_commit().unwrap_or_else(|| self.unchanged.clone());
        self.commit(commit);
    }

    pub(super) fn commit(&mut self, mut commit: Commit) {
        self.written_bytes = 0;
        self.committed_at = Instant::now();
        if self.grouping.durable {
            self.unchanged = Commit { head: commit.head.clone(), ..Commit::default() };
        }
        let unchanged = self.unchanged.clone();
        let (journal, sink, durable) = (self.journal.clone(), self.sink.clone(), self.grouping.durable);
        self.committing = Some(Box::pin(async move {
            if !durable {
                return journal.commit(commit).await.map_err(PumpError::Journal);
            }
            commit.export = sink.sync().await.map_err(PumpError::Sink)?;
            journal.commit(commit).await.map_err(PumpError::Journal)?;
            match sink.turn().await.map_err(PumpError::Sink)? {
                Some(turned) => {
                    let begun = Commit { export: Some(turned.begun), export_done: turned.done, ..unchanged };
                    journal.commit(begun).await.map_err(PumpError::Journal)
                }
                None => Ok(()),
            }
        }));
    }

    /// Waits no longer for the commit under way.
    pub(super) fn forget_commit(&mut self) {
        self.committing = None;
    }

    /// Waits for what is under way. Cancel-safe.
    pub(super) async fn done(&mut self) -> Done {
        let done = tokio::select! {
            written = under_way(&mut self.writing) => Done::Written(written),
            committed = under_way(&mut self.committing) => Done::Committed(committed),
        };
        match done {
            Done::Written(ref result) => {
                self.failed |= result.is_err();
                self.writing = None;
                if let Some(commit) = self.delivers.take().filter(|_| !self.failed) {
                    self.queue_commit(commit);
                }
            }
            Done::Committed(_) => self.committing = None,
        }
        done
    }
}

/// Makes one commit of two in a row.
fn join(before: &mut Commit, mut after: Commit) {
    let put = |ordinal| after.marks_put.iter().any(|mark| mark.ordinal == ordinal);
    before.marks_drop.retain(|&ordinal| !put(ordinal));
    before.marks_put.retain(|mark| !put(mark.ordinal) && !after.marks_drop.contains(&mark.ordinal));
    before.gaps_put.retain(|gap| after.gaps_put.iter().all(|later| later.number != gap.number));
    before.marks_put.append(&mut after.marks_put);
    before.marks_drop.append(&mut after.marks_drop);
    before.gaps_put.append(&mut after.gaps_put);
    before.keys.append(&mut after.keys);
    before.head = after.head;
    before.keys_keep_from = after.keys_keep_from;
}

async fn under_way<T>(future: &mut Pending<T>) -> T {
    match future {
        Some(future) => future.await,
        None => pending().await,
    }
}
