//! The names of a rotated export: `{time}` in a template, and `.part` until a file is finished.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::consumer::time::Timestamp;
use crate::output::time::rfc3339_micros;

/// What stands in the template for the time at which a file was begun.
const TIME_PLACEHOLDER: &str = "{time}";

/// The end of the name of a file that is not finished.
pub(super) const PART: &str = ".part";

/// The length of a time in a name (`20261201T012345.123456Z`).
const TIME_LEN: usize = 23;

/// When a file is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationLimit {
    /// It has so many bytes.
    Bytes(u64),
    /// It was begun so long ago.
    Age(Duration),
}

/// How the files of an export follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// Absolute, up to `{time}`.
    before: String,
    /// After it.
    after: String,
    /// When a file is finished.
    pub(super) limit: RotationLimit,
}

impl Rotation {
    /// Reads a template; `None` if it does not hold `{time}`, once and in the name of the file itself.
    ///
    /// # Errors
    /// The present folder is not known.
    pub fn new(template: &Path, limit: RotationLimit) -> io::Result<Option<Self>> {
        let template = std::path::absolute(template)?;
        let text = template.to_string_lossy();
        let found = text.split_once(TIME_PLACEHOLDER);
        let parts = found.filter(|(_, after)| !after.contains('/') && !after.contains(TIME_PLACEHOLDER));
        Ok(parts.map(|(before, after)| Self { before: before.to_owned(), after: after.to_owned(), limit }))
    }

    /// The name of a file that is begun now, while it is not finished. No file has it, or the name it is to get.
    #[must_use]
    pub fn begin(&self, now: Timestamp) -> PathBuf {
        let mut now = now;
        loop {
            let done = PathBuf::from(format!("{}{}{}", self.before, compact(now), self.after));
            let part = part(&done);
            if !done.exists() && !part.exists() {
                return part;
            }
            now = Timestamp(now.0 + 1);
        }
    }

    /// The files of the export that are there, in the order in which they were begun: those that are finished, and those
    /// that are not.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn files(&self) -> io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
        let folder = Path::new(&self.before).parent().filter(|_| !self.before.ends_with('/'));
        let folder = folder.unwrap_or(Path::new(&self.before));
        let (mut done, mut parts) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let text = path.to_string_lossy();
            match text.strip_suffix(PART) {
                Some(name) if self.time_of(name).is_some() => parts.push(path),
                None if self.time_of(&text).is_some() => done.push(path),
                _ => {}
            }
        }
        done.sort();
        parts.sort();
        Ok((done, parts))
    }

    /// The name is one of a file that is not finished.
    #[must_use]
    pub fn is_part(&self, path: &Path) -> bool {
        path.to_string_lossy().strip_suffix(PART).is_some_and(|name| self.time_of(name).is_some())
    }

    /// How long ago a file was begun, by its name.
    pub(super) fn age(&self, part: &Path, now: Timestamp) -> Duration {
        let name = finished(part);
        let begun = self.time_of(&name.to_string_lossy()).and_then(parse);
        begun.map_or(Duration::ZERO, |begun| now.since(begun))
    }

    fn time_of<'a>(&self, name: &'a str) -> Option<&'a str> {
        let time = name.strip_prefix(self.before.as_str())?.strip_suffix(self.after.as_str())?;
        parse(time).map(|_| time)
    }
}

/// The name of a file while it is not finished.
fn part(done: &Path) -> PathBuf {
    let mut name = done.as_os_str().to_owned();
    name.push(PART);
    name.into()
}

/// The name that a file gets when it is finished.
#[must_use]
pub fn finished(part: &Path) -> PathBuf {
    let name = part.to_string_lossy();
    PathBuf::from(name.strip_suffix(PART).unwrap_or(&name))
}

/// A time that sorts as text and stands in a file's name.
fn compact(time: Timestamp) -> String {
    rfc3339_micros(time).chars().filter(|c| !matches!(c, '-' | ':')).collect()
}

fn parse(time: &str) -> Option<Timestamp> {
    if time.len() != TIME_LEN || !time.is_ascii() {
        return None;
    }
    let (date, clock) = (&time[..8], &time[9..]);
    let text = format!(
        "{}-{}-{}{}{}:{}:{}",
        &date[..4],
        &date[4..6],
        &date[6..],
        &time[8..9],
        &clock[..2],
        &clock[2..4],
        &clock[4..]
    );
    crate::output::time::parse_rfc3339_micros(&text)
}
