//! Driven by what the store is asked for, never by waiting for a time: the store under the thread tells every call.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use super::*;
use crate::consumer::record::{Head, Place};
use crate::store::contract::{Morgue, moving, name, request};
use crate::store::memory::MemoryStore;

/// Never within a test.
const NEVER: Duration = Duration::from_secs(1_000_000);
const AT_ONCE: Duration = Duration::from_millis(1);

#[derive(Debug, PartialEq)]
enum Call {
    Group(usize),
    Renew(Result<(), StoreError>),
}

/// A memory store that two owners can share, as two processes share a file; it tells its calls and can be stopped.
#[derive(Clone)]
struct Shared {
    inner: Arc<Mutex<MemoryStore>>,
    calls: Sender<Call>,
    fail_commits: Arc<Mutex<Option<StoreError>>>,
}

impl Shared {
    fn new() -> (Self, Receiver<Call>) {
        let (calls, told) = channel();
        let inner = Arc::new(Mutex::new(MemoryStore::new(Morgue::default())));
        (Self { inner, calls, fail_commits: Arc::default() }, told)
    }

    fn acquire_elsewhere(&self, pid: u32, mover: Mover) -> Acquired {
        self.inner.lock().unwrap().acquire(&request("s", pid, mover, 0)).unwrap()
    }
}

impl Store for Shared {
    fn acquire(&mut self, request: &Acquire) -> Result<Acquired, StoreError> {
        self.inner.lock().unwrap().acquire(request)
    }
    fn commit(&mut self, stream: &StreamName, epoch: Epoch, commit: &Commit) -> Result<(), StoreError> {
        self.inner.lock().unwrap().commit(stream, epoch, commit)
    }
    fn commit_all(&mut self, changes: &[Change]) -> Vec<Result<(), StoreError>> {
        self.calls.send(Call::Group(changes.len())).unwrap();
        if let Some(error) = self.fail_commits.lock().unwrap().take() {
            return changes.iter().map(|_| Err(error.clone())).collect();
        }
        self.inner.lock().unwrap().commit_all(changes)
    }
    fn keys(&mut self, stream: &StreamName, from: u64) -> Result<Vec<Key>, StoreError> {
        self.inner.lock().unwrap().keys(stream, from)
    }
    fn renew(&mut self, stream: &StreamName, epoch: Epoch, now: Timestamp) -> Result<(), StoreError> {
        let answer = self.inner.lock().unwrap().renew(stream, epoch, now);
        // Renewals go on when a test no longer listens.
        let _ = self.calls.send(Call::Renew(answer.clone()));
        answer
    }
    fn release(&mut self, stream: &StreamName, epoch: Epoch, last_end: &str) -> Result<(), StoreError> {
        self.inner.lock().unwrap().release(stream, epoch, last_end)
    }
    fn list(&mut self, now: Timestamp) -> Result<Vec<Summary>, StoreError> {
        self.inner.lock().unwrap().list(now)
    }
    fn show(&mut self, stream: &StreamName, now: Timestamp) -> Result<Option<Summary>, StoreError> {
        self.inner.lock().unwrap().show(stream, now)
    }
    fn peek(&mut self, stream: &StreamName) -> Result<Option<Record>, StoreError> {
        self.inner.lock().unwrap().peek(stream)
    }
    fn edit(&mut self, stream: &StreamName, edit: &Edit, force: bool, now: Timestamp) -> Result<(), StoreError> {
        self.inner.lock().unwrap().edit(stream, edit, force, now)
    }
    fn verify(&mut self) -> Result<Vec<String>, StoreError> {
        self.inner.lock().unwrap().verify()
    }
}

fn zero() -> Timestamp {
    Timestamp(0)
}

async fn own(handle: &StoreHandle, stream: &str, mover: Mover) -> OwnedStream {
    match handle.acquire(request(stream, 1, mover, 0)).await.unwrap() {
        Acquisition::Owned(owned, _) => owned,
        other => panic!("not owned: {other:?}"),
    }
}

/// Keeps the thread from its queue until the answer is dropped. The thread has begun to wait when this returns.
fn hold(handle: &StoreHandle) -> Sender<()> {
    let ((release, held), (begun, begins)) = (channel::<()>(), channel());
    let job = move |_: &mut Worker| {
        begun.send(()).unwrap();
        assert!(held.recv().is_err());
    };
    assert!(handle.requests.try_send(Request::Call(Box::new(job))).is_ok());
    begins.recv().unwrap();
    release
}

#[tokio::test]
async fn a_handle_does_what_the_store_does() {
    let (shared, _told) = Shared::new();
    let thread = StoreThread::start_renewing(shared, || Timestamp(5), NEVER).unwrap();
    let handle = thread.handle();
    let owned = own(&handle, "s", Mover::Resume).await;
    let head = Head { next_seq: 2, ..moving("7").head };
    owned.commit(Commit { head: head.clone(), keys: vec![1, 2], ..Commit::default() }).await.unwrap();
    assert_eq!(owned.keys(1).await.unwrap(), [2]);
    assert_eq!(handle.peek(&name("s")).await.unwrap().unwrap().head, head);
    let again = handle.acquire(request("s", 2, Mover::Resume, 0)).await.unwrap();
    assert!(matches!(again, Acquisition::Busy(holder) if holder.since == Timestamp(5)), "the thread's clock counts");
    assert!(matches!(handle.edit(&name("s"), Edit::ToLagging, false).await, Err(StoreError::Busy(_))));
    owned.release("asked to").await.unwrap();
    let summary = handle.show(&name("s")).await.unwrap().unwrap();
    assert_eq!(summary.last_end.as_deref(), Some("asked to"));
    assert_eq!(handle.list().await.unwrap(), [summary]);
    assert!(matches!(
        handle.acquire(request("s", 2, Mover::Tail, 0)).await.unwrap(),
        Acquisition::Reserved(Mover::Resume)
    ));
    handle.edit(&name("s"), Edit::Forget, false).await.unwrap();
    assert_eq!(handle.verify().await.unwrap(), Vec::<String>::new());
    thread.finish().await;
    assert!(matches!(handle.list().await, Err(StoreError::Failed(_))));
    assert!(matches!(owned.commit(moving("8")).await, Err(JournalError::Failed { .. })));
}

#[tokio::test]
async fn commits_that_wait_are_one_group() {
    let (shared, told) = Shared::new();
    let thread = StoreThread::start_renewing(shared, zero, NEVER).unwrap();
    let handle = thread.handle();
    let streams = [own(&handle, "a", Mover::Resume).await, own(&handle, "b", Mover::Resume).await];
    let stale = OwnedStream { epoch: Epoch(77), ..streams[0].clone() };
    let held = hold(&handle);
    let all = tokio::join!(
        biased;
        streams[0].commit(moving("1")),
        streams[1].commit(moving("2")),
        async { drop(held) },
    );
    assert_eq!((all.0, all.1), (Ok(()), Ok(())));
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [Call::Group(2)]);
    assert!(matches!(stale.commit(moving("3")).await, Err(JournalError::Fenced { .. })));
    streams[0].commit(moving("4")).await.unwrap();
    thread.finish().await;
}

#[tokio::test]
async fn commits_of_one_stream_do_not_share_a_group() {
    let (shared, told) = Shared::new();
    let failure = Arc::clone(&shared.fail_commits);
    let thread = StoreThread::start_renewing(shared, zero, NEVER).unwrap();
    let owned = own(&thread.handle(), "s", Mover::Resume).await;
    *failure.lock().unwrap() = Some(StoreError::Failed("the disk is gone".into()));
    let held = hold(&thread.handle());
    let (one, two, ()) =
        tokio::join!(biased; owned.commit(moving("1")), owned.commit(moving("2")), async { drop(held) });
    let failed = Err(JournalError::Failed { causes: vec!["the disk is gone".into()] });
    assert_eq!((one, two), (failed.clone(), failed.clone()), "after an error no further commit is taken");
    assert_eq!(owned.commit(moving("3")).await, failed);
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [Call::Group(1)]);
    thread.finish().await;
}

#[tokio::test]
async fn leases_are_renewed_while_nothing_else_happens() {
    let (shared, told) = Shared::new();
    let store = shared.clone();
    let now = Arc::new(AtomicI64::new(0));
    let clock = Arc::clone(&now);
    let tick = move || Timestamp(clock.load(Ordering::SeqCst));
    let thread = StoreThread::start_renewing(shared, tick, AT_ONCE).unwrap();
    let owned = own(&thread.handle(), "s", Mover::Resume).await;
    now.store(1_000_000_000, Ordering::SeqCst);
    // The first may have read the clock before it was set.
    assert_eq!(told.recv().unwrap(), Call::Renew(Ok(())));
    assert_eq!(told.recv().unwrap(), Call::Renew(Ok(())));
    let late = Timestamp(1_000_000_000);
    let owner = store.inner.lock().unwrap().show(&name("s"), late).unwrap().unwrap().owner.unwrap();
    assert_eq!(owner.expires_at, late.plus(LEASE));
    drop(owned);
    thread.finish().await;
}

#[tokio::test]
async fn a_takeover_is_told_at_once_and_remembered() {
    let (shared, told) = Shared::new();
    let store = shared.clone();
    let thread = StoreThread::start_renewing(shared, zero, AT_ONCE).unwrap();
    let owned = own(&thread.handle(), "s", Mover::Tail).await;
    let watching = owned.clone();
    assert!(matches!(store.acquire_elsewhere(2, Mover::Resume), Acquired::Owned(_)));
    let fenced = watching.fenced().await;
    assert_eq!(fenced, JournalError::Fenced { by: "pid 2 on here (`resume`)".into(), by_resume: true });
    assert_eq!(owned.commit(moving("1")).await, Err(fenced));
    assert!(!told.try_iter().any(|call| matches!(call, Call::Group(_))), "the store was not asked again");
    thread.finish().await;
}

#[tokio::test]
async fn a_commit_finds_a_takeover_before_a_renewal_does() {
    let (shared, _told) = Shared::new();
    let store = shared.clone();
    let thread = StoreThread::start_renewing(shared, zero, NEVER).unwrap();
    let owned = own(&thread.handle(), "s", Mover::Resume).await;
    store.inner.lock().unwrap().edit(&name("s"), &Edit::Forget, true, zero()).unwrap();
    let refused = owned.commit(moving("1")).await.unwrap_err();
    assert!(matches!(refused, JournalError::Fenced { by_resume: false, .. }));
    assert_eq!(owned.fenced().await, refused);
    thread.finish().await;
}

#[tokio::test]
async fn a_stream_that_nobody_writes_any_more_is_not_renewed() {
    let (shared, told) = Shared::new();
    let thread = StoreThread::start_renewing(shared, zero, NEVER).unwrap();
    let handle = thread.handle();
    let kept = own(&handle, "kept", Mover::Resume).await;
    drop(own(&handle, "dropped", Mover::Resume).await);
    let released = own(&handle, "released", Mover::Resume).await;
    released.release("").await.unwrap();
    let failed = own(&handle, "failed", Mover::Resume).await;
    let hole = Head { next_seq: 9, latest: None::<Place>, ..Head::default() };
    failed.commit(Commit { head: hole, ..Commit::default() }).await.unwrap_err();
    let renew = |worker: &mut Worker| {
        worker.renew_all();
        Ok(())
    };
    told.try_iter().for_each(drop);
    handle.call(renew).await.unwrap();
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [Call::Renew(Ok(()))]);
    kept.commit(moving("1")).await.unwrap();
    thread.finish().await;
}

#[tokio::test]
async fn what_was_asked_before_the_end_is_done() {
    let (shared, _told) = Shared::new();
    let store = shared.clone();
    let thread = StoreThread::start_renewing(shared, zero, NEVER).unwrap();
    let owned = own(&thread.handle(), "s", Mover::Resume).await;
    let held = hold(&thread.handle());
    let (committed, (), ()) = tokio::join!(biased; owned.commit(moving("1")), thread.finish(), async { drop(held) });
    committed.unwrap();
    let record = store.inner.lock().unwrap().peek(&name("s")).unwrap().unwrap();
    assert_eq!(record.head, moving("1").head);
}
