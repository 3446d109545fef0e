//! A file as a [`Sink`]: records are appended, and made durable when that is asked for.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::writer::Writer;
use crate::consumer::ports::{Sink, SinkError};

/// Who may read a new file: its owner, since events can be private.
const MODE: u32 = 0o600;

/// A file that grows. Whether its end is where it must be is not looked at here.
#[derive(Clone, Debug)]
pub struct FileSink {
    writer: Writer,
}

impl FileSink {
    /// Opens a file for appending, or makes one with mode 0600 and makes its directory entry durable.
    ///
    /// # Errors
    /// What the system says why not.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (writer, _) = Writer::start("output-file", open_or_create(path)?)?;
        Ok(Self { writer })
    }
}

impl Sink for FileSink {
    async fn write(&self, batch: Vec<u8>) -> Result<Vec<u8>, SinkError> {
        self.writer.write(batch).await
    }

    async fn sync(&self) -> Result<(), SinkError> {
        self.writer.sync().await
    }

    async fn closed(&self) {
        self.writer.closed().await;
    }
}

fn open_or_create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).mode(MODE);
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

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_new_file_is_private_and_grows() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("events.ndjson");
        for text in ["one\n", "two\n"] {
            let sink = FileSink::open(&path).unwrap();
            assert!(sink.write(text.into()).await.unwrap().is_empty());
            sink.sync().await.unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[tokio::test]
    async fn a_file_that_is_there_keeps_its_mode() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("events.ndjson");
        fs::write(&path, "old\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let sink = FileSink::open(&path).unwrap();
        sink.write(b"new\n".to_vec()).await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old\nnew\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(sink.closed().now_or_never().is_none());
    }

    #[test]
    fn a_file_that_cannot_be_made_says_why() {
        let directory = tempfile::tempdir().unwrap();
        let error = FileSink::open(&directory.path().join("missing/events.ndjson")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_full_disk_is_a_failure() {
        let sink = FileSink::open(Path::new("/dev/full")).unwrap();
        let Err(SinkError::Failed(error)) = sink.write(b"x".to_vec()).await else { panic!("it was written") };
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(matches!(sink.sync().await, Err(SinkError::Failed(_))));
    }
}
