//! A thread of its own that writes to one file descriptor, so that a slow output blocks nothing else.
//!
//! Batches come over a bounded channel and are written whole, one after the other: those of several streams never
//! mix. After a failure part of a batch may have been written, so nothing is written any more: every later batch is
//! refused with the same failure.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::{mpsc, oneshot, watch};

use crate::consumer::ports::SinkError;

/// Jobs that may wait for the thread. A stream waits for its batch to be written, so it has one of them at a time.
const JOBS_MAX: usize = 16;

/// A batch to write, and where the answer goes.
struct Job {
    batch: Vec<u8>,
    answer: oneshot::Sender<Result<Vec<u8>, SinkError>>,
}

/// A handle of the thread, which ends when the last of them is dropped.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
    gone: watch::Receiver<bool>,
}

/// Tells everybody who waits that the reader of the output is gone.
pub(super) type Gone = Arc<watch::Sender<bool>>;

impl Writer {
    /// Starts a thread named `name` that owns `file`.
    pub(super) fn start(name: &str, file: File) -> io::Result<(Self, Gone)> {
        let (jobs, queue) = mpsc::channel(JOBS_MAX);
        let (told, gone) = watch::channel(false);
        let told = Arc::new(told);
        let thread = Thread { file, failure: None, gone: Arc::clone(&told) };
        thread::Builder::new().name(name.to_owned()).spawn(move || thread.run(queue))?;
        Ok((Self { jobs, gone }, told))
    }

    /// Writes a batch whole; gives the buffer back empty. If the future is dropped, the batch may still be written.
    pub(super) async fn write(&self, batch: Vec<u8>) -> Result<Vec<u8>, SinkError> {
        if batch.is_empty() {
            return Ok(batch);
        }
        let stopped = || SinkError::Failed(io::Error::other("the thread that writes the output has ended"));
        let (answer, answered) = oneshot::channel();
        self.jobs.send(Job { batch, answer }).await.map_err(|_| stopped())?;
        answered.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Ends when the reader is known to be gone; never, where that cannot be known.
    pub(super) async fn closed(&self) {
        let mut gone = self.gone.clone();
        if gone.wait_for(|gone| *gone).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// The thread's side.
struct Thread {
    file: File,
    failure: Option<Failure>,
    gone: Gone,
}

impl Thread {
    fn run(mut self, mut queue: mpsc::Receiver<Job>) {
        while let Some(Job { mut batch, answer }) = queue.blocking_recv() {
            let result = self.write(&batch);
            batch.clear();
            // Nobody waits for the answer if the stream was stopped meanwhile: no reason to stop here.
            drop(answer.send(result.map(|()| batch)));
        }
    }

    /// Writes a batch, unless something failed before.
    fn write(&mut self, batch: &[u8]) -> Result<(), SinkError> {
        if self.failure.is_none() {
            self.failure = write_all(&self.file, batch).err().map(Failure::from);
        }
        match &self.failure {
            None => Ok(()),
            Some(failure) => {
                if *failure == Failure::Closed {
                    self.gone.send_replace(true);
                }
                Err(failure.error())
            }
        }
    }
}

/// A failure that can be reported more than once, which [`io::Error`] cannot.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Closed,
    System(i32),
    Other(io::ErrorKind, String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset, _) => Self::Closed,
            (_, Some(code)) => Self::System(code),
            (kind, None) => Self::Other(kind, error.to_string()),
        }
    }
}

impl Failure {
    pub(super) fn error(&self) -> SinkError {
        match self {
            Self::Closed => SinkError::Closed,
            Self::System(code) => SinkError::Failed(io::Error::from_raw_os_error(*code)),
            Self::Other(kind, text) => SinkError::Failed(io::Error::new(*kind, text.clone())),
        }
    }
}

/// Writes all bytes, also where the descriptor is non-blocking (whoever shares it may have made it so).
pub(super) fn write_all(mut file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                wait(&mut [PollFd::new(file, PollFlags::OUT)])?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Waits until one of the descriptors has something to report; signals do not end the wait.
pub(super) fn wait(descriptors: &mut [PollFd<'_>]) -> io::Result<()> {
    loop {
        match poll(descriptors, None) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
