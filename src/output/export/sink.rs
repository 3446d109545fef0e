//! An export that is written to: a thread of its own, so that a slow disk blocks nothing else.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::names::{Rotation, RotationLimit, finished};
use super::pack::{Encoder, Packing};
use super::{ExportError, ExportFile, TAIL_BYTES, hash, is_at, name, sync_directory};
use crate::consumer::ports::{Sink, SinkError, Turned};
use crate::consumer::record::ExportMark;
use crate::consumer::time::Timestamp;
use crate::output::writer::{Failure, write_all};

/// Jobs that may wait for the thread. A stream waits for each of them, so it has one at a time.
const JOBS_MAX: usize = 4;

/// Asks exports to be opened anew by their names, as log rotation wants it. A clone asks the same ones.
#[derive(Clone, Debug)]
pub struct Reopen(Arc<watch::Sender<u64>>);

impl Default for Reopen {
    fn default() -> Self {
        Self(Arc::new(watch::channel(0).0))
    }
}

impl Reopen {
    /// Asks all of them.
    pub fn ask(&self) {
        self.0.send_modify(|asked| *asked += 1);
    }
}

/// An export that is written to. Its lock is held until the last clone is dropped.
#[derive(Clone, Debug)]
pub struct ExportSink {
    jobs: mpsc::Sender<Job>,
    status: Arc<Status>,
}

/// What both sides know.
#[derive(Debug)]
struct Status {
    asked: watch::Receiver<u64>,
    /// Keeps `asked` alive.
    _reopen: Reopen,
    /// How often it was asked when it turned last.
    turned_at: AtomicU64,
    /// How long the file is.
    length: AtomicU64,
    limit: Option<RotationLimit>,
    /// When the file's age is reached.
    due: watch::Sender<Option<Instant>>,
}

impl Status {
    fn is_asked(&self) -> bool {
        *self.asked.borrow() != self.turned_at.load(Ordering::Relaxed)
    }

    fn due(&self) -> Option<Instant> {
        // An empty file is not finished, however old it is.
        self.due.borrow().filter(|_| self.length.load(Ordering::Relaxed) > 0)
    }

    fn is_full(&self) -> bool {
        let length = self.length.load(Ordering::Relaxed);
        matches!(self.limit, Some(RotationLimit::Bytes(limit)) if length > 0 && length >= limit)
            || self.due().is_some_and(|due| due <= Instant::now())
    }
}

type Reply<T> = oneshot::Sender<Result<T, SinkError>>;

/// What the thread is asked to do.
#[derive(Debug)]
enum Job {
    Write(Vec<u8>, Reply<Vec<u8>>),
    Sync(Reply<ExportMark>),
    Turn(Reply<Option<Turned>>),
}

impl ExportSink {
    pub(super) fn start(file: ExportFile, reopen: &Reopen, rotation: Option<Rotation>) -> Result<Self, ExportError> {
        let asked = reopen.0.subscribe();
        let status = Arc::new(Status {
            // What was asked before may have been asked after the file was opened.
            turned_at: AtomicU64::new(0),
            asked,
            _reopen: reopen.clone(),
            length: AtomicU64::new(0),
            limit: rotation.as_ref().map(|rotation| rotation.limit),
            due: watch::Sender::new(None),
        });
        let thread = Thread { written: Written::of(file)?, failure: None, rotation, status: Arc::clone(&status) };
        thread.tell();
        let (jobs, queue) = mpsc::channel(JOBS_MAX);
        thread::Builder::new().name("export".to_owned()).spawn(move || thread.run(queue))?;
        Ok(Self { jobs, status })
    }

    async fn ask<T>(&self, job: impl FnOnce(Reply<T>) -> Job) -> Result<T, SinkError> {
        let stopped = || SinkError::Failed(io::Error::other("the thread that writes the export has ended"));
        let (reply, answer) = oneshot::channel();
        self.jobs.send(job(reply)).await.map_err(|_| stopped())?;
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }
}

impl Sink for ExportSink {
    async fn write(&self, batch: Vec<u8>) -> Result<Vec<u8>, SinkError> {
        self.ask(|reply| Job::Write(batch, reply)).await
    }

    async fn sync(&self) -> Result<Option<ExportMark>, SinkError> {
        self.ask(Job::Sync).await.map(Some)
    }

    fn turn_is_due(&self) -> bool {
        self.status.is_asked() || self.status.is_full()
    }

    async fn turn_due(&self) {
        let mut asked = self.status.asked.clone();
        while !self.turn_is_due() {
            let due = self.status.due();
            tokio::select! {
                // The sender is kept by the status, so this fails never.
                _ = asked.changed() => {}
                () = async { tokio::time::sleep_until(due.unwrap_or_else(Instant::now)).await }, if due.is_some() => {}
            }
        }
    }

    async fn turn(&self) -> Result<Option<Turned>, SinkError> {
        if !self.turn_is_due() {
            return Ok(None);
        }
        self.ask(Job::Turn).await
    }

    async fn closed(&self) {
        std::future::pending().await
    }
}

/// The file, and what of it has to be known without reading it.
struct Written {
    file: ExportFile,
    encoder: Encoder,
    length: u64,
    tail: VecDeque<u8>,
}

impl Written {
    fn of(file: ExportFile) -> Result<Self, ExportError> {
        let length = file.length()?;
        let (tail, encoder) = (file.tail(length)?.into(), Packing::of(&file.path).encoder());
        Ok(Self { file, encoder, length, tail })
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        write_all(&self.file.file, bytes)?;
        self.length += bytes.len() as u64;
        self.tail.extend(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]);
        let surplus = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..surplus);
        Ok(())
    }

    /// Gives the buffer back empty.
    fn write(&mut self, mut batch: Vec<u8>) -> io::Result<Vec<u8>> {
        let packed = self.encoder.pack(&batch)?;
        self.append(&packed)?;
        batch.clear();
        Ok(batch)
    }

    fn sync(&mut self) -> io::Result<ExportMark> {
        let rest = self.encoder.end()?;
        self.append(&rest)?;
        self.file.file.sync_data()?;
        Ok(ExportMark { file: self.file.name(), length: self.length, tail: hash(self.tail.make_contiguous()) })
    }
}

/// The thread's side.
struct Thread {
    written: Written,
    failure: Option<Failure>,
    rotation: Option<Rotation>,
    status: Arc<Status>,
}

impl Thread {
    fn run(mut self, mut queue: mpsc::Receiver<Job>) {
        while let Some(job) = queue.blocking_recv() {
            // Nobody waits for the answer if the stream was stopped meanwhile: no reason to stop here.
            match job {
                Job::Write(batch, reply) => drop(reply.send(self.attempt(|this| this.written.write(batch)))),
                Job::Sync(reply) => drop(reply.send(self.attempt(|this| this.written.sync()))),
                Job::Turn(reply) => drop(reply.send(self.attempt(Self::turn))),
            }
        }
    }

    /// Does something with the file, unless something failed before. Who is answered finds the status up to date.
    fn attempt<T>(&mut self, work: impl FnOnce(&mut Self) -> io::Result<T>) -> Result<T, SinkError> {
        if let Some(failure) = &self.failure {
            return Err(failure.error());
        }
        let done = work(self);
        self.status.length.store(self.written.length, Ordering::Relaxed);
        done.map_err(|error| {
            let failure = Failure::from(error);
            let told = failure.error();
            self.failure = Some(failure);
            told
        })
    }

    fn turn(&mut self) -> io::Result<Option<Turned>> {
        let asked = *self.status.asked.borrow();
        let turned = match self.rotation.clone() {
            Some(rotation) => self.rotate(&rotation),
            None => self.open_anew(),
        };
        self.status.turned_at.store(asked, Ordering::Relaxed);
        self.tell();
        turned.map_err(|error| match error {
            ExportError::Io(error) => error,
            other => io::Error::other(other.to_string()),
        })
    }

    /// The file of the same name, if that is another one now.
    fn open_anew(&mut self) -> Result<Option<Turned>, ExportError> {
        let path = self.written.file.path.clone();
        if is_at(&self.written.file.file, &path)? {
            return Ok(None);
        }
        let file = ExportFile::open(&path)?;
        if file.length()? > 0 {
            return Err(ExportError::NotEmpty);
        }
        let begun = file.mark()?;
        self.written = Written::of(file)?;
        Ok(Some(Turned { begun, done: None }))
    }

    /// Finishes the file, which is durable and committed, and begins the next.
    fn rotate(&mut self, rotation: &Rotation) -> Result<Option<Turned>, ExportError> {
        if self.written.length == 0 {
            return Ok(None);
        }
        let part = self.written.file.path.clone();
        let done = finished(&part);
        fs::rename(&part, &done)?;
        sync_directory(&done)?;
        let file = ExportFile::open(&rotation.begin(now()))?;
        let begun = file.mark()?;
        self.written = Written::of(file)?;
        Ok(Some(Turned { begun, done: Some(name(&part)) }))
    }

    /// Puts the status right after the file has changed.
    fn tell(&self) {
        self.status.length.store(self.written.length, Ordering::Relaxed);
        let due = match &self.rotation {
            Some(rotation) => match rotation.limit {
                RotationLimit::Age(limit) => {
                    let left = limit.saturating_sub(rotation.age(&self.written.file.path, now()));
                    Instant::now().checked_add(left)
                }
                RotationLimit::Bytes(_) => None,
            },
            None => None,
        };
        self.status.due.send_replace(due);
    }
}

/// The wall clock.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
