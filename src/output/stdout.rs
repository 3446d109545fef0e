//! The process's standard output as a [`Sink`]: one thread writes, another notices that the reader has gone.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::thread;

use rustix::event::{PollFd, PollFlags};

use super::writer::{Gone, Writer, wait};
use crate::consumer::ports::{Sink, SinkError};
use crate::consumer::record::ExportMark;

/// Standard output, shared by all streams of the process: a clone is another handle of the same.
///
/// Written through a descriptor of its own, past the line buffer of [`std::io::Stdout`]. Batches are written in the
/// order in which they come, each whole. After a failure every later batch fails in the same way.
#[derive(Clone, Debug)]
pub struct StdoutSink {
    writer: Writer,
    /// Ends the watcher when the last handle goes.
    _watch: Option<Arc<PipeWriter>>,
}

impl StdoutSink {
    /// Takes the standard output of the process. No other part of it may write there from now on.
    ///
    /// # Errors
    /// The system gives no further descriptor or thread.
    pub fn open() -> io::Result<Self> {
        Self::over(io::stdout().as_fd().try_clone_to_owned()?)
    }

    /// The same over another descriptor.
    ///
    /// # Errors
    /// The system gives no further descriptor or thread.
    pub fn over(descriptor: OwnedFd) -> io::Result<Self> {
        let file = File::from(descriptor);
        let kind = file.metadata()?.file_type();
        let watched = (kind.is_fifo() || kind.is_socket()).then(|| file.try_clone()).transpose()?;
        let (writer, gone) = Writer::start("output", file)?;
        let watch = watched.map(|file| watch(file, gone)).transpose()?;
        Ok(Self { writer, _watch: watch.map(Arc::new) })
    }
}

impl Sink for StdoutSink {
    async fn write(&self, batch: Vec<u8>) -> Result<Vec<u8>, SinkError> {
        self.writer.write(batch).await
    }

    async fn sync(&self) -> Result<Option<ExportMark>, SinkError> {
        Ok(None)
    }

    async fn closed(&self) {
        self.writer.closed().await;
    }
}

/// Starts the thread that notices that nobody reads any more, even while nothing is written. Ends it when what is
/// returned is dropped: it must not keep a pipe open that everybody else has closed.
fn watch(file: File, gone: Gone) -> io::Result<PipeWriter> {
    let (stopped, stop) = io::pipe()?;
    thread::Builder::new().name("output-watch".to_owned()).spawn(move || {
        if reader_has_gone(&file, &stopped) {
            gone.send_replace(true);
        }
    })?;
    Ok(stop)
}

/// Waits for either end. Asks for no event: errors and hang-ups are reported unasked (POSIX, `poll`).
fn reader_has_gone(file: &File, stopped: &PipeReader) -> bool {
    let mut descriptors = [PollFd::new(file, PollFlags::empty()), PollFd::new(stopped, PollFlags::empty())];
    loop {
        if wait(&mut descriptors).is_err() {
            return false;
        }
        let [output, stop] = &descriptors;
        if output.revents().intersects(PollFlags::ERR | PollFlags::HUP) {
            return true;
        }
        // Anything else is an end too, so that no state of a descriptor can make this spin.
        if !stop.revents().is_empty() || !output.revents().is_empty() {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::*;

    /// Far more than a pipe holds (64 KiB on Linux by default).
    const MORE_THAN_A_PIPE_BYTES: usize = 1 << 20;

    fn over_pipe() -> (PipeReader, StdoutSink) {
        let (reader, writer) = io::pipe().unwrap();
        (reader, StdoutSink::over(writer.into()).unwrap())
    }

    /// Only so that a failing test ends; nothing depends on how long it is.
    async fn in_time<T>(future: impl Future<Output = T>) -> T {
        tokio::time::timeout(Duration::from_secs(30), future).await.expect("it ends")
    }

    fn read_all(mut reader: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
        thread::spawn(move || {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).unwrap();
            all
        })
    }

    #[tokio::test]
    async fn a_batch_is_written_and_its_buffer_given_back() {
        let (mut reader, sink) = over_pipe();
        let mut batch = Vec::with_capacity(100);
        batch.extend_from_slice(b"one\ntwo\n");
        let place = batch.as_ptr();
        let back = in_time(sink.write(batch)).await.unwrap();
        assert!(back.is_empty());
        assert_eq!((back.as_ptr(), back.capacity()), (place, 100));
        let mut got = [0; 8];
        reader.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"one\ntwo\n");
        in_time(sink.sync()).await.unwrap();
    }

    #[tokio::test]
    async fn the_pipe_is_closed_with_the_last_handle() {
        let (reader, sink) = over_pipe();
        let other = sink.clone();
        in_time(sink.write(b"a".to_vec())).await.unwrap();
        drop(sink);
        in_time(other.write(b"b".to_vec())).await.unwrap();
        drop(other);
        let read = tokio::task::spawn_blocking(move || read_all(reader).join().unwrap());
        assert_eq!(in_time(read).await.unwrap(), b"ab");
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_closes_the_output_for_every_handle() {
        let (reader, sink) = over_pipe();
        let other = sink.clone();
        drop(reader);
        assert!(matches!(in_time(sink.write(b"x".to_vec())).await, Err(SinkError::Closed)));
        assert!(matches!(in_time(other.write(b"x".to_vec())).await, Err(SinkError::Closed)));
        in_time(other.closed()).await;
    }

    #[tokio::test]
    async fn an_idle_stream_notices_that_the_reader_of_a_pipe_is_gone() {
        let (reader, sink) = over_pipe();
        assert!(sink.closed().now_or_never().is_none());
        drop(reader);
        in_time(sink.closed()).await;
    }

    #[tokio::test]
    async fn an_idle_stream_notices_that_the_reader_of_a_socket_is_gone() {
        let (reader, writer) = UnixStream::pair().unwrap();
        let sink = StdoutSink::over(writer.into()).unwrap();
        assert!(sink.closed().now_or_never().is_none());
        drop(reader);
        in_time(sink.closed()).await;
    }

    #[tokio::test]
    async fn a_file_has_no_reader_that_could_go() {
        let sink = StdoutSink::over(tempfile::tempfile().unwrap().into()).unwrap();
        in_time(sink.write(b"x".to_vec())).await.unwrap();
        assert!(sink._watch.is_none());
        assert!(sink.closed().now_or_never().is_none());
    }

    #[tokio::test]
    async fn a_slow_reader_holds_up_the_batch_and_nothing_else() {
        let (reader, sink) = over_pipe();
        let mut blocked = Box::pin(sink.write(vec![b'x'; MORE_THAN_A_PIPE_BYTES]));
        assert!(blocked.as_mut().now_or_never().is_none(), "nobody reads");
        let read = read_all(reader);
        in_time(blocked).await.unwrap();
        drop(sink);
        assert_eq!(read.join().unwrap().len(), MORE_THAN_A_PIPE_BYTES);
    }

    #[tokio::test]
    async fn batches_of_several_streams_do_not_mix() {
        let (reader, sink) = over_pipe();
        let read = read_all(reader);
        let batches = ["a", "b", "c"].map(|name| {
            let sink = sink.clone();
            async move {
                for _ in 0..8 {
                    let line = format!("{}\n", name.repeat(100_000));
                    sink.write(line.into_bytes()).await.unwrap();
                }
            }
        });
        in_time(futures_util::future::join_all(batches)).await;
        drop(sink);
        let got = String::from_utf8(read.join().unwrap()).unwrap();
        assert_eq!(got.lines().count(), 24);
        for line in got.lines() {
            assert_eq!(line.len(), 100_000);
            assert_eq!(line.trim_matches(line.chars().next().unwrap()), "");
        }
    }

    #[tokio::test]
    async fn a_descriptor_that_does_not_block_is_waited_for() {
        let (reader, writer) = io::pipe().unwrap();
        rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::NONBLOCK).unwrap();
        let sink = StdoutSink::over(writer.into()).unwrap();
        let read = read_all(reader);
        in_time(sink.write(vec![b'x'; MORE_THAN_A_PIPE_BYTES])).await.unwrap();
        drop(sink);
        assert_eq!(read.join().unwrap().len(), MORE_THAN_A_PIPE_BYTES);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_full_disk_is_a_failure_and_stays_one() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let sink = StdoutSink::over(full.into()).unwrap();
        for _ in 0..2 {
            let Err(SinkError::Failed(error)) = in_time(sink.write(b"x".to_vec())).await else {
                panic!("it was written");
            };
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
        assert!(sink.closed().now_or_never().is_none());
    }
}
