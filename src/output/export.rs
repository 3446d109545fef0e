//! An export: a file that only grows, and of which it is known how much of it counts.
//!
//! Responsible for opening it as a careful tool would, for holding its lock, for cutting off what was never committed,
//! and for saying after each `sync` how far it is durable. Does not know what was stored of it: its caller compares.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use highway::{HighwayHash, HighwayHasher};

use super::writer::Writer;
use crate::consumer::ports::{Sink, SinkError};
use crate::consumer::record::ExportMark;

/// Who may read a new file: its owner, since events can be private.
const MODE: u32 = 0o600;

/// The last bytes before the committed length by which a file is known again.
const TAIL_BYTES: usize = 4096;

/// Why a file cannot be an export.
#[derive(Debug)]
pub enum ExportError {
    /// A directory, a pipe, a device.
    NotRegular,
    /// Another process writes to it.
    Locked,
    /// The system says no.
    Io(io::Error),
    /// It is shorter than what was committed, in bytes.
    Shorter {
        /// How long it is.
        length: u64,
        /// How long it was when it was committed.
        committed: u64,
    },
    /// What stands before the committed length is not what was written.
    Differs,
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRegular => f.write_str("it is not a regular file"),
            Self::Locked => f.write_str("another process writes to it"),
            Self::Io(error) => error.fmt(f),
            Self::Shorter { length, committed } => {
                write!(f, "it is shorter than what was committed: {length} bytes of {committed}")
            }
            Self::Differs => f.write_str("its end is not what was written to it"),
        }
    }
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// An export that is open and locked, and not yet written to.
#[derive(Debug)]
pub struct ExportFile {
    file: File,
    path: PathBuf,
}

impl ExportFile {
    /// Opens a file, or makes one with mode 0600 and makes its directory entry durable; takes its lock.
    ///
    /// # Errors
    /// [`ExportError`] if it cannot be an export.
    pub fn open(path: &Path) -> Result<Self, ExportError> {
        match path.metadata() {
            Ok(metadata) if !metadata.is_file() => return Err(ExportError::NotRegular),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let file = open_or_create(path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => ExportError::Locked,
            TryLockError::Error(error) => ExportError::Io(error),
        })?;
        Ok(Self { file, path: std::path::absolute(path)? })
    }

    /// Looks at the file of a mark, without taking it.
    ///
    /// # Errors
    /// As [`ExportFile::check`]; [`ExportError::Io`] if it cannot be read.
    pub fn inspect(mark: &ExportMark) -> Result<(), ExportError> {
        let path = PathBuf::from(&mark.file);
        Self { file: File::open(&path)?, path }.check(mark)
    }

    /// The name under which the store knows it.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// How long it is, in bytes.
    ///
    /// # Errors
    /// [`ExportError::Io`].
    pub fn length(&self) -> Result<u64, ExportError> {
        Ok(self.file.metadata()?.len())
    }

    /// Whether it still begins with what was committed. Changes nothing.
    ///
    /// # Errors
    /// [`ExportError::Shorter`], [`ExportError::Differs`].
    pub fn check(&self, mark: &ExportMark) -> Result<(), ExportError> {
        let length = self.length()?;
        if length < mark.length {
            return Err(ExportError::Shorter { length, committed: mark.length });
        }
        if hash(&self.tail(mark.length)?) != mark.tail {
            return Err(ExportError::Differs);
        }
        Ok(())
    }

    /// Cuts off what stands after `length` bytes.
    ///
    /// # Errors
    /// [`ExportError::Io`].
    pub fn cut(&self, length: u64) -> Result<(), ExportError> {
        self.file.set_len(length)?;
        Ok(self.file.sync_all()?)
    }

    /// Calls `take` with each whole line, its end included, and gives the length of all of them.
    ///
    /// # Errors
    /// [`ExportError::Io`].
    pub fn whole_lines(&self, mut take: impl FnMut(&[u8])) -> Result<u64, ExportError> {
        let mut reader = BufReader::new(&self.file);
        reader.seek(SeekFrom::Start(0))?;
        let (mut line, mut length) = (Vec::new(), 0);
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line)?;
            if read == 0 || line.last() != Some(&b'\n') {
                return Ok(length);
            }
            length += read as u64;
            take(&line);
        }
    }

    /// How far it is written now.
    ///
    /// # Errors
    /// [`ExportError::Io`].
    pub fn mark(&self) -> Result<ExportMark, ExportError> {
        let length = self.length()?;
        Ok(ExportMark { file: self.name(), length, tail: hash(&self.tail(length)?) })
    }

    fn tail(&self, length: u64) -> Result<Vec<u8>, ExportError> {
        let bytes = length.min(TAIL_BYTES as u64);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(length - bytes))?;
        let mut tail = Vec::new();
        file.take(bytes).read_to_end(&mut tail)?;
        Ok(tail)
    }

    /// Writes to its end from now on. `reopen` asks for the file to be opened anew by its name.
    ///
    /// # Errors
    /// [`ExportError::Io`].
    pub fn into_sink(self, reopen: Reopen) -> Result<ExportSink, ExportError> {
        let length = self.length()?;
        let written = Written { length, tail: self.tail(length)?.into(), path: self.path };
        let (writer, _) = Writer::start("export", self.file)?;
        Ok(ExportSink { shared: Arc::new(Shared { writer: Mutex::new(writer), written: Mutex::new(written), reopen }) })
    }
}

/// Asks exports to be opened anew by their names, as log rotation wants it. A clone asks the same ones.
#[derive(Clone, Debug, Default)]
pub struct Reopen(Arc<Mutex<Vec<Arc<AtomicBool>>>>);

impl Reopen {
    /// Asks all of them.
    pub fn ask(&self) {
        for one in lock(&self.0).iter() {
            one.store(true, Ordering::Relaxed);
        }
    }

    /// The ask of one export.
    #[must_use]
    pub fn one(&self) -> Self {
        let one = Arc::new(AtomicBool::new(false));
        lock(&self.0).push(Arc::clone(&one));
        Self(Arc::new(Mutex::new(vec![one])))
    }

    /// Whether it is asked; not any more, after this.
    fn take(&self) -> bool {
        lock(&self.0).iter().any(|one| one.swap(false, Ordering::Relaxed))
    }
}

/// An export that is written to. The lock is held until the last clone is dropped.
#[derive(Clone, Debug)]
pub struct ExportSink {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    writer: Mutex<Writer>,
    written: Mutex<Written>,
    reopen: Reopen,
}

#[derive(Debug)]
struct Written {
    path: PathBuf,
    length: u64,
    tail: VecDeque<u8>,
}

impl Written {
    fn mark(&mut self) -> ExportMark {
        let file = self.path.to_string_lossy().into_owned();
        ExportMark { file, length: self.length, tail: hash(self.tail.make_contiguous()) }
    }

    fn add(&mut self, length: usize, end: &[u8]) {
        self.length += length as u64;
        self.tail.extend(end);
        let surplus = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..surplus);
    }
}

impl ExportSink {
    fn writer(&self) -> Writer {
        lock(&self.shared.writer).clone()
    }

    fn open_anew(&self) -> Result<(), ExportError> {
        let path = lock(&self.shared.written).path.clone();
        let file = ExportFile::open(&path)?;
        let length = file.length()?;
        *lock(&self.shared.written) = Written { length, tail: file.tail(length)?.into(), path };
        *lock(&self.shared.writer) = Writer::start("export", file.file)?.0;
        Ok(())
    }
}

impl Sink for ExportSink {
    async fn write(&self, batch: Vec<u8>) -> Result<Vec<u8>, SinkError> {
        let length = batch.len();
        let end = batch[length.saturating_sub(TAIL_BYTES)..].to_vec();
        let buffer = self.writer().write(batch).await?;
        lock(&self.shared.written).add(length, &end);
        Ok(buffer)
    }

    async fn sync(&self) -> Result<Option<ExportMark>, SinkError> {
        self.writer().sync().await?;
        Ok(Some(lock(&self.shared.written).mark()))
    }

    async fn committed(&self) -> Result<(), SinkError> {
        if !self.shared.reopen.take() {
            return Ok(());
        }
        match self.open_anew() {
            // Nobody took it away: the file is still this one, and still locked by us.
            Ok(()) | Err(ExportError::Locked) => Ok(()),
            Err(ExportError::Io(error)) => Err(SinkError::Failed(error)),
            Err(other) => Err(SinkError::Failed(io::Error::other(other.to_string()))),
        }
    }

    async fn closed(&self) {
        std::future::pending().await
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is kept under these locks is whole between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hash(bytes: &[u8]) -> u128 {
    let [low, high] = HighwayHasher::default().hash128(bytes);
    u128::from(high) << 64 | u128::from(low)
}

fn open_or_create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).mode(MODE);
    match options.clone().create_new(true).open(path) {
        Ok(file) => {
            file.sync_all()?;
            sync_directory(path)?;
            Ok(file)
        }
        // Not `create_new` now: what is there may have been taken away since, or be a link to what is not there.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.create(true).open(path),
        Err(error) => Err(error),
    }
}

/// Makes the entry of a file in its directory durable.
fn sync_directory(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("events.ndjson");
        (directory, path)
    }

    /// The thread of a sink that was dropped lets its lock go a little later.
    fn open(path: &Path) -> ExportFile {
        loop {
            match ExportFile::open(path) {
                Err(ExportError::Locked) => std::thread::yield_now(),
                opened => return opened.unwrap(),
            }
        }
    }

    fn sink(path: &Path) -> ExportSink {
        open(path).into_sink(Reopen::default()).unwrap()
    }

    #[tokio::test]
    async fn a_new_file_is_private_and_grows_and_is_known_again() {
        let (_directory, path) = place();
        let mut last = None;
        for text in ["one\n", "two\n"] {
            let sink = sink(&path);
            assert!(sink.write(text.into()).await.unwrap().is_empty());
            last = sink.sync().await.unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let file = open(&path);
        assert_eq!(Some(file.mark().unwrap()), last);
        file.check(&last.unwrap()).unwrap();
    }

    #[tokio::test]
    async fn the_tail_is_that_of_the_file_whatever_the_batches() {
        let (_directory, path) = place();
        let sink = sink(&path);
        for size in [1, TAIL_BYTES - 1, 3 * TAIL_BYTES, 7] {
            let batch: Vec<u8> = (0..size).map(|n| u8::try_from(n % 251).unwrap()).collect();
            sink.write(batch).await.unwrap();
            let mark = sink.sync().await.unwrap().unwrap();
            let written = fs::read(&path).unwrap();
            assert_eq!(mark.length, written.len() as u64);
            assert_eq!(mark.tail, hash(&written[written.len().saturating_sub(TAIL_BYTES)..]));
        }
    }

    #[test]
    fn a_shorter_or_changed_file_is_seen_and_left_alone() {
        let (_directory, path) = place();
        fs::write(&path, "one\ntwo\n").unwrap();
        let mark = ExportFile::open(&path).unwrap().mark().unwrap();
        fs::write(&path, "one\n").unwrap();
        let shorter = ExportFile::open(&path).unwrap().check(&mark);
        assert!(matches!(shorter, Err(ExportError::Shorter { length: 4, committed: 8 })));
        fs::write(&path, "one\nTWO\nthree\n").unwrap();
        assert!(matches!(ExportFile::open(&path).unwrap().check(&mark), Err(ExportError::Differs)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\nTWO\nthree\n");
    }

    #[test]
    fn a_second_writer_and_what_is_no_file_are_refused() {
        let (directory, path) = place();
        let _first = ExportFile::open(&path).unwrap();
        assert!(matches!(ExportFile::open(&path), Err(ExportError::Locked)));
        assert!(matches!(ExportFile::open(directory.path()), Err(ExportError::NotRegular)));
        assert!(matches!(ExportFile::open(Path::new("/dev/null")), Err(ExportError::NotRegular)));
        let missing = ExportFile::open(&directory.path().join("missing/events.ndjson"));
        assert!(matches!(missing, Err(ExportError::Io(error)) if error.kind() == io::ErrorKind::NotFound));
    }

    #[test]
    fn whole_lines_end_before_one_that_was_cut() {
        let (_directory, path) = place();
        fs::write(&path, "one\ntwo\nthr").unwrap();
        let mut lines = Vec::new();
        let length = ExportFile::open(&path).unwrap().whole_lines(|line| lines.push(line.to_vec())).unwrap();
        assert_eq!((length, lines), (8, vec![b"one\n".to_vec(), b"two\n".to_vec()]));
    }

    #[tokio::test]
    async fn after_a_rotation_the_name_is_opened_anew_with_the_next_commit() {
        let (directory, path) = place();
        let reopen = Reopen::default();
        let sink = ExportFile::open(&path).unwrap().into_sink(reopen.one()).unwrap();
        sink.write(b"old\n".to_vec()).await.unwrap();
        let away = directory.path().join("events.1");
        fs::rename(&path, &away).unwrap();
        reopen.ask();
        sink.write(b"old too\n".to_vec()).await.unwrap();
        assert_eq!(sink.sync().await.unwrap().unwrap().length, 12);
        sink.committed().await.unwrap();
        sink.write(b"new\n".to_vec()).await.unwrap();
        assert_eq!(sink.sync().await.unwrap().unwrap().length, 4);
        assert_eq!(fs::read_to_string(&away).unwrap(), "old\nold too\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "new\n");
        reopen.ask();
        sink.committed().await.unwrap();
        sink.write(b"more\n".to_vec()).await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new\nmore\n", "nobody took it away");
    }
}
