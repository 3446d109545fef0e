//! An export: a file that only grows, and of which it is known how much of it counts.
//!
//! Responsible for opening it as a careful tool would, for holding its lock, for cutting off what was never committed,
//! and for saying after each `sync` how far it is durable. Does not know what was stored of it: its caller compares.

mod names;
mod pack;
mod sink;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use highway::{HighwayHash, HighwayHasher};

use crate::consumer::record::ExportMark;

pub use names::{Rotation, RotationLimit, finished};
use pack::Packing;
pub use sink::{ExportSink, Reopen};

/// Who may read a new file: its owner, since events can be private.
const MODE: u32 = 0o600;

/// The last bytes before the committed length by which a file is known again.
const TAIL_BYTES: usize = 4096;

/// How often a file is opened again that was renamed between its opening and its lock.
const OPENINGS_MAX: u32 = 8;

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
    /// It was opened anew, and holds something already.
    NotEmpty,
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
            Self::NotEmpty => f.write_str("the file of that name is another one now, and is not empty"),
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
    /// Opens a file, or makes one with mode 0600; takes its lock, and makes its directory entry durable. The target of a
    /// link counts as the file.
    ///
    /// # Errors
    /// [`ExportError`] if it cannot be an export.
    pub fn open(path: &Path) -> Result<Self, ExportError> {
        let path = std::path::absolute(path)?;
        for _ in 0..OPENINGS_MAX {
            match path.metadata() {
                // Looked at before it is opened: opening a pipe or a device may do something.
                Ok(metadata) if !metadata.is_file() => return Err(ExportError::NotRegular),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
            let file = open_or_create(&path)?;
            if !file.metadata()?.is_file() {
                return Err(ExportError::NotRegular);
            }
            file.try_lock().map_err(|error| match error {
                TryLockError::WouldBlock => ExportError::Locked,
                TryLockError::Error(error) => ExportError::Io(error),
            })?;
            if is_at(&file, &path)? {
                // Also where it was there: who made it may have been killed before this.
                sync_directory(&path)?;
                return Ok(Self { file, path });
            }
        }
        Err(ExportError::Io(io::Error::other("it is renamed again and again")))
    }

    /// Looks at a file without taking it.
    ///
    /// # Errors
    /// [`ExportError::Io`] if it cannot be read.
    pub fn read(path: &Path) -> Result<Self, ExportError> {
        Ok(Self { file: File::open(path)?, path: std::path::absolute(path)? })
    }

    /// Looks at the file of a mark, without taking it.
    ///
    /// # Errors
    /// As [`ExportFile::check`]; [`ExportError::Io`] if it cannot be read.
    pub fn inspect(mark: &ExportMark) -> Result<(), ExportError> {
        Self::read(Path::new(&mark.file))?.check(mark)
    }

    /// The name under which the store knows it.
    #[must_use]
    pub fn name(&self) -> String {
        name(&self.path)
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
        if self.length()? > length {
            self.file.set_len(length)?;
        }
        Ok(self.file.sync_all()?)
    }

    /// Calls `take` with each whole line, its end included, and gives the length of the file that holds them. In a
    /// compressed file, lines of a frame that was cut off do not count.
    ///
    /// # Errors
    /// [`ExportError::Io`].
    pub fn whole_lines(&self, mut take: impl FnMut(&[u8])) -> Result<u64, ExportError> {
        let packing = Packing::of(&self.path);
        let whole = packing.whole_frames(self.rewound()?)?;
        let mut reader = packing.reader(self.rewound()?.take(whole))?;
        let (mut line, mut length) = (Vec::new(), 0);
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line)?;
            if read == 0 || line.last() != Some(&b'\n') {
                return Ok(if packing == Packing::Plain { length } else { whole });
            }
            length += read as u64;
            take(&line);
        }
    }

    fn rewound(&self) -> io::Result<&File> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
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

    /// Writes to its end from now on. `reopen` asks for the file to be opened anew by its name; with a `rotation` it is
    /// finished then, and when its limit is reached, and another is begun.
    ///
    /// # Errors
    /// [`ExportError::Io`].
    pub fn into_sink(self, reopen: &Reopen, rotation: Option<Rotation>) -> Result<ExportSink, ExportError> {
        ExportSink::start(self, reopen, rotation)
    }
}

/// The name under which the store knows a file.
fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The file is the one of that name.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match path.metadata() {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn hash(bytes: &[u8]) -> u128 {
    let [low, high] = HighwayHasher::default().hash128(bytes);
    u128::from(high) << 64 | u128::from(low)
}

fn open_or_create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).append(true).create(true).mode(MODE).open(path)?;
    if file.metadata()?.len() == 0 {
        file.sync_all()?;
    }
    Ok(file)
}

/// Makes the entry of a file in its directory durable: of the file itself, where the name is a link to it.
fn sync_directory(path: &Path) -> io::Result<()> {
    let target = path.canonicalize()?;
    File::open(target.parent().unwrap_or(Path::new("/")))?.sync_all()
}
