//! A private folder that is gone when the demo is.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::error::{Exit, Failure};

/// The folder is nobody else's business.
const MODE: u32 = 0o700;
/// Names that are tried before the system is taken to be at fault.
const NAMES_MAX: u32 = 16;

/// A folder of this process's own. Dropping it removes it with all that is in it.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes one in `parent`.
    ///
    /// # Errors
    /// It cannot be made there.
    pub(super) fn create(parent: &Path) -> Result<Self, Failure> {
        Self::try_create(parent).map_err(|error| {
            Failure::new(Exit::Failure, format!("make a folder for the demo's database in `{}`", parent.display()))
                .cause(error.to_string())
                .hint("name another place for it: `TMPDIR=FOLDER ssectl demo`")
        })
    }

    fn try_create(parent: &Path) -> io::Result<Self> {
        for _ in 0..NAMES_MAX {
            let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
            let path = parent.join(format!("ssectl-demo-{random:016x}"));
            match DirBuilder::new().mode(MODE).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The path of something in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system, which empties such places.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_private_and_goes_with_what_is_in_it() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::TempDir::new().unwrap();
        let folder = Folder::create(parent.path()).unwrap();
        let file = folder.path("file");
        fs::write(&file, "x").unwrap();
        assert_eq!(fs::metadata(&folder.0).unwrap().permissions().mode() & 0o777, MODE);
        drop(folder);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_place_that_is_not_there_is_named_with_a_way_on() {
        let failure = Folder::create(Path::new("/nowhere/at/all")).unwrap_err();
        assert_eq!(failure.exit, Exit::Failure);
        assert!(failure.to_string().contains("/nowhere/at/all"), "{failure}");
        assert!(failure.hint.unwrap().contains("TMPDIR"));
    }
}
