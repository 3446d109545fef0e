//! A store on a thread of its own: SQLite blocks, and a lease must be renewed while the output or a slow disk blocks
//! everything else.
//!
//! Responsible for the queue (bounded), for grouping commits into one transaction, and for the leases. Knows nothing of
//! what a store keeps. [`OwnedStream`] is the [`Journal`] that a driver writes to.

use std::collections::HashMap;
use std::future::pending;
use std::mem;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout_at};

use super::{Acquire, Acquired, Change, Edit, Holder, LEASE, Mover, Owned, Store, StoreError, Summary};
use crate::consumer::id::StreamName;
use crate::consumer::ports::{Journal, JournalError};
use crate::consumer::record::{Commit, Epoch, Key, Record};
use crate::consumer::time::Timestamp;

/// How many requests wait in the queue at most, and how many are taken out at once. Each stream has one commit under
/// way at a time, so this is also the most commits in a group.
const QUEUE_REQUESTS_MAX: usize = 64;

/// How often leases are renewed: two renewals may fail before one runs out.
pub const RENEWAL: Duration = Duration::from_secs(LEASE.as_secs() / 3);

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

enum Request {
    Commit(Change, Reply<()>),
    Call(Box<dyn FnOnce(&mut Worker) + Send>),
    Stop(oneshot::Sender<()>),
}

/// A store that runs on its own thread.
pub struct StoreThread {
    handle: StoreHandle,
    thread: JoinHandle<()>,
}

/// Asks a [`StoreThread`]. A clone asks the same one. The methods are those of [`Store`]; `now` is the thread's clock.
/// Dropping a future does not take back what it asked for.
#[derive(Clone)]
pub struct StoreHandle {
    requests: mpsc::Sender<Request>,
}

/// The answer to [`StoreHandle::acquire`].
#[derive(Debug)]
pub enum Acquisition {
    /// The stream is owned; its lease is renewed until it is released or every clone of the handle is gone.
    Owned(OwnedStream, Box<Owned>),
    /// See [`Acquired::Busy`].
    Busy(Holder),
    /// See [`Acquired::Reserved`].
    Reserved(Mover),
}

/// One stream that this process owns. A clone is the same ownership.
#[derive(Clone)]
pub struct OwnedStream {
    stream: StreamName,
    epoch: Epoch,
    store: StoreHandle,
    fenced: watch::Receiver<Option<JournalError>>,
}

impl std::fmt::Debug for OwnedStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnedStream").field("stream", &self.stream).field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

impl StoreThread {
    /// Moves a store to a new thread. Leases are compared between processes, so `clock` should tell the wall clock's
    /// time (one that stands still while the machine sleeps lets a lease run out unseen).
    ///
    /// # Errors
    /// [`StoreError::Failed`] if the system gives no thread.
    pub fn start(
        store: impl Store + 'static,
        clock: impl Fn() -> Timestamp + Send + 'static,
    ) -> Result<Self, StoreError> {
        Self::start_renewing(store, clock, RENEWAL)
    }

    /// As [`StoreThread::start`], with another period in the place of [`RENEWAL`].
    ///
    /// # Errors
    /// As [`StoreThread::start`].
    pub fn start_renewing(
        store: impl Store + 'static,
        clock: impl Fn() -> Timestamp + Send + 'static,
        renewal: Duration,
    ) -> Result<Self, StoreError> {
        let no_thread = |error| StoreError::Failed(format!("the system gave no thread for it: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(no_thread)?;
        let (requests, queue) = mpsc::channel(QUEUE_REQUESTS_MAX);
        let worker = Worker { store: Box::new(store), clock: Box::new(clock), owned: HashMap::new() };
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || runtime.block_on(worker.run(queue, renewal)))
            .map_err(no_thread)?;
        Ok(Self { handle: StoreHandle { requests }, thread })
    }

    /// A handle to ask it by.
    #[must_use]
    pub fn handle(&self) -> StoreHandle {
        self.handle.clone()
    }

    /// Does what was asked before, closes the store and ends the thread. Handles that are left get errors.
    pub async fn finish(self) {
        let (done, closed) = oneshot::channel();
        if self.handle.requests.send(Request::Stop(done)).await.is_ok() {
            // An error is a thread that ended by a panic, which `join` swallows too: it was reported when it happened.
            let _ = closed.await;
        }
        let _ = self.thread.join();
    }
}

impl StoreHandle {
    /// See [`Store::acquire`]; `request.now` is set by the thread.
    ///
    /// # Errors
    /// As there.
    pub async fn acquire(&self, request: Acquire) -> Result<Acquisition, StoreError> {
        let request = Box::new(request);
        let stream = request.stream.clone();
        let answer = self.call(move |worker| worker.acquire(*request)).await?;
        Ok(match answer {
            (Acquired::Owned(owned), fenced) => {
                Acquisition::Owned(OwnedStream { stream, epoch: owned.epoch, store: self.clone(), fenced }, owned)
            }
            (Acquired::Busy(holder), _) => Acquisition::Busy(holder),
            (Acquired::Reserved(mover), _) => Acquisition::Reserved(mover),
        })
    }

    /// See [`Store::list`].
    ///
    /// # Errors
    /// As there.
    pub async fn list(&self) -> Result<Vec<Summary>, StoreError> {
        self.call(|worker| worker.store.list((worker.clock)())).await
    }

    /// See [`Store::show`].
    ///
    /// # Errors
    /// As there.
    pub async fn show(&self, stream: &StreamName) -> Result<Option<Summary>, StoreError> {
        let stream = stream.clone();
        self.call(move |worker| worker.store.show(&stream, (worker.clock)())).await
    }

    /// See [`Store::peek`].
    ///
    /// # Errors
    /// As there.
    pub async fn peek(&self, stream: &StreamName) -> Result<Option<Record>, StoreError> {
        let stream = stream.clone();
        self.call(move |worker| worker.store.peek(&stream)).await
    }

    /// See [`Store::keys`].
    ///
    /// # Errors
    /// As there.
    pub async fn keys(&self, stream: &StreamName, from: u64) -> Result<Vec<Key>, StoreError> {
        let stream = stream.clone();
        self.call(move |worker| worker.store.keys(&stream, from)).await
    }

    /// See [`Store::edit`].
    ///
    /// # Errors
    /// As there.
    pub async fn edit(&self, stream: &StreamName, edit: Edit, force: bool) -> Result<(), StoreError> {
        let stream = stream.clone();
        self.call(move |worker| worker.store.edit(&stream, &edit, force, (worker.clock)())).await
    }

    /// See [`Store::verify`].
    ///
    /// # Errors
    /// As there.
    pub async fn verify(&self) -> Result<Vec<String>, StoreError> {
        self.call(|worker| worker.store.verify()).await
    }

    async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Worker) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = move |worker: &mut Worker| drop(reply.send(work(worker)));
        self.ask(Request::Call(Box::new(job)), answer).await
    }

    async fn ask<T>(
        &self,
        request: Request,
        answer: oneshot::Receiver<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let closed = || StoreError::Failed("it was closed before".to_owned());
        self.requests.send(request).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }
}

impl OwnedStream {
    /// The stream.
    #[must_use]
    pub fn stream(&self) -> &StreamName {
        &self.stream
    }

    /// Under which epoch it is owned.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Ends when the stream is found to be owned by somebody else, by a renewal or by a commit; never, if it is not.
    pub async fn fenced(&self) -> JournalError {
        let mut fenced = self.fenced.clone();
        let found = fenced.wait_for(Option::is_some).await.ok().and_then(|found| found.clone());
        match found {
            Some(error) => error,
            None => pending().await,
        }
    }

    /// Gives the stream back, after the commits asked for before, and notes how the run ended.
    ///
    /// # Errors
    /// As [`Store::release`].
    pub async fn release(&self, last_end: &str) -> Result<(), StoreError> {
        let (stream, epoch, last_end) = (self.stream.clone(), self.epoch, last_end.to_owned());
        self.store.call(move |worker| worker.release(&stream, epoch, &last_end)).await
    }
}

impl Journal for OwnedStream {
    async fn commit(&self, commit: Commit) -> Result<(), JournalError> {
        let (reply, answer) = oneshot::channel();
        let change = Change { stream: self.stream.clone(), epoch: self.epoch, commit: Box::new(commit) };
        self.store.ask(Request::Commit(change, reply), answer).await.map_err(|error| journal_error(&error))
    }

    async fn keys(&self, from: u64) -> Result<Vec<Key>, JournalError> {
        self.store.keys(&self.stream, from).await.map_err(|error| journal_error(&error))
    }
}

/// A store's error in the words of the driver.
fn journal_error(error: &StoreError) -> JournalError {
    match error {
        StoreError::Fenced { holder: Some(holder) } => JournalError::Fenced {
            by: format!("pid {} on {} (`{}`)", holder.process.pid, holder.process.host, holder.mover.as_str()),
            by_resume: holder.mover == Mover::Resume,
        },
        StoreError::Fenced { holder: None } => {
            JournalError::Fenced { by: "a change made with `ssectl checkpoint`".to_owned(), by_resume: false }
        }
        other => JournalError::Failed { causes: vec![other.to_string()] },
    }
}

/// What the thread knows of a stream that it owns.
struct Lease {
    epoch: Epoch,
    fenced: watch::Sender<Option<JournalError>>,
    /// Why no commit is taken any more.
    failed: Option<StoreError>,
}

impl Lease {
    fn fail(&mut self, error: &StoreError) {
        if self.failed.is_some() {
            return;
        }
        self.failed = Some(error.clone());
        if matches!(error, StoreError::Fenced { .. }) {
            self.fenced.send_replace(Some(journal_error(error)));
        }
    }
}

/// The state of the thread.
struct Worker {
    store: Box<dyn Store>,
    clock: Box<dyn Fn() -> Timestamp + Send>,
    owned: HashMap<StreamName, Lease>,
}

impl Worker {
    async fn run(mut self, mut queue: mpsc::Receiver<Request>, renewal: Duration) {
        let mut batch = Vec::with_capacity(QUEUE_REQUESTS_MAX);
        let mut renew_at = Instant::now() + renewal;
        loop {
            let received = timeout_at(renew_at, queue.recv_many(&mut batch, QUEUE_REQUESTS_MAX)).await;
            if received == Ok(0) {
                return;
            }
            if let Some(stopped) = self.serve(&mut batch) {
                queue.close();
                drop(self);
                // Nobody waits any more if this fails.
                let _ = stopped.send(());
                return;
            }
            // Looked at after every batch: a queue that is never empty must not starve the leases.
            if Instant::now() >= renew_at {
                self.renew_all();
                renew_at = Instant::now() + renewal;
            }
        }
    }

    /// Does all that was received, in order, commits that follow each other in one transaction.
    fn serve(&mut self, batch: &mut Vec<Request>) -> Option<oneshot::Sender<()>> {
        let mut group = Group::default();
        for request in batch.drain(..) {
            match request {
                Request::Commit(change, reply) => {
                    // What a stream commits next may rest on this one, which may yet fail.
                    if group.changes.iter().any(|other| other.stream == change.stream) {
                        self.commit(mem::take(&mut group));
                    }
                    if let Some(error) = self.refusal(&change) {
                        let _ = reply.send(Err(error));
                        continue;
                    }
                    group.changes.push(change);
                    group.replies.push(reply);
                }
                Request::Call(job) => {
                    self.commit(mem::take(&mut group));
                    job(self);
                }
                Request::Stop(stopped) => {
                    self.commit(group);
                    return Some(stopped);
                }
            }
        }
        self.commit(group);
        None
    }

    /// The answer to a commit of a stream that failed before.
    fn refusal(&self, change: &Change) -> Option<StoreError> {
        self.owned.get(&change.stream).filter(|lease| lease.epoch == change.epoch)?.failed.clone()
    }

    fn commit(&mut self, group: Group) {
        if group.changes.is_empty() {
            return;
        }
        let results = self.store.commit_all(&group.changes);
        for ((change, reply), result) in group.changes.iter().zip(group.replies).zip(results) {
            if let Err(error) = &result {
                self.fail(&change.stream, change.epoch, error);
            }
            let _ = reply.send(result);
        }
    }

    fn fail(&mut self, stream: &StreamName, epoch: Epoch, error: &StoreError) {
        if let Some(lease) = self.owned.get_mut(stream).filter(|lease| lease.epoch == epoch) {
            lease.fail(error);
        }
    }

    fn acquire(
        &mut self,
        mut request: Acquire,
    ) -> Result<(Acquired, watch::Receiver<Option<JournalError>>), StoreError> {
        request.now = (self.clock)();
        let acquired = self.store.acquire(&request)?;
        let (fenced, receiver) = watch::channel(None);
        if let Acquired::Owned(owned) = &acquired {
            let lease = Lease { epoch: owned.epoch, fenced, failed: None };
            if let Some(mut before) = self.owned.insert(request.stream, lease) {
                // This process took the stream from itself.
                before.fail(&StoreError::Fenced { holder: owned.taken_from.clone() });
            }
        }
        Ok((acquired, receiver))
    }

    fn release(&mut self, stream: &StreamName, epoch: Epoch, last_end: &str) -> Result<(), StoreError> {
        if self.owned.get(stream).is_some_and(|lease| lease.epoch == epoch) {
            self.owned.remove(stream);
        }
        self.store.release(stream, epoch, last_end)
    }

    /// Renews every lease that somebody still writes under. Any error but a fence is left to the next renewal, and to
    /// the next commit, which will say it.
    fn renew_all(&mut self) {
        self.owned.retain(|_, lease| lease.fenced.receiver_count() > 0);
        let now = (self.clock)();
        for (stream, lease) in self.owned.iter_mut().filter(|(_, lease)| lease.failed.is_none()) {
            if let Err(error @ StoreError::Fenced { .. }) = self.store.renew(stream, lease.epoch, now) {
                lease.fail(&error);
            }
        }
    }
}

/// Commits that go into one transaction.
#[derive(Default)]
struct Group {
    changes: Vec<Change>,
    replies: Vec<Reply<()>>,
}

#[cfg(test)]
mod tests;
