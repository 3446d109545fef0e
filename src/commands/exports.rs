//! How `resume --to FILE` begins: what stands in FILE is compared with what is stored, and one of the two gives way or
//! neither does.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ending::shell_word;
use crate::consumer::ports::Journal;
use crate::consumer::rebuild::{Delivered, Rebuild};
use crate::consumer::record::Commit;
use crate::consumer::time::Timestamp;
use crate::driver::Clock;
use crate::error::{Exit, Failure};
use crate::output::export::{ExportError, ExportFile, ExportSink, Reopen, Rotation, RotationLimit, finished};
use crate::output::format::FormatKind;
use crate::output::time::parse_rfc3339_micros;
use crate::settings::StreamSettings;
use crate::store::thread::OwnedStream;
use crate::store::{Owned, StoredExport};

/// An export that is about to be gone on with.
pub(super) struct Begin<'a> {
    pub(super) path: &'a Path,
    pub(super) rotate: Option<RotationLimit>,
    pub(super) stream: &'a StreamSettings,
    pub(super) format: &'a FormatKind,
    pub(super) json_data: bool,
    pub(super) reopen: Reopen,
}

/// The files of an export, as they are found.
struct Found {
    /// The one that is written to.
    file: ExportFile,
    /// Those that were finished before, in order.
    done: Vec<PathBuf>,
    rotation: Option<Rotation>,
    /// What is stored of a file that was finished, or taken away, by somebody who did not live to say so.
    stale: Option<String>,
}

impl Begin<'_> {
    /// Opens FILE, brings it and the record together, and gives the sink. The record may become that of FILE.
    ///
    /// # Errors
    /// Why FILE cannot be gone on with; it is then as it was.
    pub(super) async fn run(self, owned: &mut Owned, journal: &OwnedStream) -> Result<ExportSink, Failure> {
        let found = match self.rotate {
            None => self.one_file()?,
            Some(limit) => self.rotated(limit, owned)?,
        };
        let mut commit = self.together(&found, owned)?;
        // Before anything is written: whatever happens next, FILE is known.
        commit.export = Some(found.file.mark().map_err(|error| self.refused(&error))?);
        commit.export_done = found.stale;
        journal.commit(commit).await.map_err(Failure::from)?;
        found.file.into_sink(&self.reopen, found.rotation).map_err(|error| self.refused(&error))
    }

    fn one_file(&self) -> Result<Found, Failure> {
        let file = ExportFile::open(self.path).map_err(|error| self.refused(&error))?;
        Ok(Found { file, done: Vec::new(), rotation: None, stale: None })
    }

    /// The file of a rotated export that is not finished, or a new one.
    fn rotated(&self, limit: RotationLimit, owned: &Owned) -> Result<Found, Failure> {
        let refused = |error: std::io::Error| self.refused(&error.into());
        let rotation = Rotation::new(self.path, limit).map_err(refused)?.ok_or_else(|| {
            Failure::usage(format!("rotate the export `{}`", self.path.display()))
                .cause("each file needs a name of its own")
                .hint("put `{time}` into the name of the file once, as in `--to '{stream}-{time}.ndjson'`")
        })?;
        let (done, parts) = rotation.files().map_err(refused)?;
        let stored = |path: &Path| owned.exports.iter().find(|stored| Path::new(&stored.mark.file) == path);
        let mut parts = parts;
        // A file that was made and never written to is left behind by who was killed before it was known.
        let is_litter = |path: &Path| stored(path).is_none() && path.metadata().is_ok_and(|file| file.len() == 0);
        let (litter, kept): (Vec<_>, Vec<_>) = parts.drain(..).partition(|path| is_litter(path));
        let unfinished = match kept.as_slice() {
            [] => litter.first().cloned().unwrap_or_else(|| rotation.begin(Clock::wall())),
            [one] => one.clone(),
            [first, ..] => {
                return Err(self
                    .failure(format!("several of its files are not finished, `{}` among them", first.display()))
                    .hint("one process writes one; move away those that are not of this stream"));
            }
        };
        let gone = |stored: &&StoredExport| {
            let path = Path::new(&stored.mark.file);
            path != unfinished && rotation.is_part(path) && !path.exists()
        };
        let stale = owned.exports.iter().find(gone);
        if let Some(stored) = stale {
            self.check_finished(stored)?;
        }
        let stale = stale.map(|stored| stored.mark.file.clone());
        let file = ExportFile::open(&unfinished).map_err(|error| self.refused(&error))?;
        Ok(Found { file, done, rotation: Some(rotation), stale })
    }

    /// A file was given its final name, and its process was killed before that was stored.
    fn check_finished(&self, stored: &StoredExport) -> Result<(), Failure> {
        let done = finished(Path::new(&stored.mark.file));
        if !done.exists() {
            // Whoever waited for it has taken it.
            return Ok(());
        }
        let file = ExportFile::read(&done).map_err(|error| self.refused(&error))?;
        file.check(&stored.mark).map_err(|error| self.refused(&error))
    }

    /// The commit with which FILE is known and the record is that of FILE.
    fn together(&self, found: &Found, owned: &mut Owned) -> Result<Commit, Failure> {
        let length = found.file.length().map_err(|error| self.refused(&error))?;
        let unchanged = |owned: &Owned| Commit { head: owned.record.head.clone(), ..Commit::default() };
        let lost = !owned.known && !found.done.is_empty();
        if length == 0 && !lost {
            return Ok(unchanged(owned));
        }
        if self.stream.policy.start.is_some() {
            return Err(Failure::usage("start after `--last-event-id`")
                .cause(format!("`{}` holds records, and would have a hole or a repeat", self.path.display()))
                .hint("name a new FILE, or leave `--last-event-id` out"));
        }
        let name = found.file.name();
        let Some(stored) = owned.exports.iter().find(|stored| stored.mark.file == name) else {
            return self.without_mark(found, owned);
        };
        found.file.check(&stored.mark).map_err(|error| self.refused(&error))?;
        if !stored.is_at(&owned.record.head) {
            return Err(self
                .failure("somebody read the stream on without it, so it would have a hole".to_owned())
                .hint("move it away, and a new one goes on from the stored cursor"));
        }
        found.file.cut(stored.mark.length).map_err(|error| self.refused(&error))?;
        Ok(unchanged(owned))
    }

    /// FILE holds records, and nothing is stored of it.
    fn without_mark(&self, found: &Found, owned: &mut Owned) -> Result<Commit, Failure> {
        if owned.known {
            return Err(self
                .failure("it holds records, but what is stored of the stream does not know it".to_owned())
                .hint("move it away, and a new one goes on from the stored cursor"));
        }
        if *self.format != FormatKind::Json {
            return Err(self
                .failure("the database is lost, and only a `json` export gives its cursor back".to_owned())
                .hint(format!(
                    "move it away, and name the position: `ssectl resume {} --initial id:ID --to FILE`",
                    shell_word(self.stream.name.as_str())
                )));
        }
        let mut rebuild = Rebuild::new(&owned.key_seed, &self.stream.policy);
        for done in &found.done {
            let file = ExportFile::read(done).map_err(|error| self.refused(&error))?;
            self.read_into(&mut rebuild, &file)?;
        }
        let whole = self.read_into(&mut rebuild, &found.file)?;
        found.file.cut(whole).map_err(|error| self.refused(&error))?;
        let Some(commit) = rebuild.finish(Clock::wall()) else {
            return Ok(Commit { head: owned.record.head.clone(), ..Commit::default() });
        };
        owned.record.head = commit.head.clone();
        owned.record.marks = commit.marks_put.clone();
        Ok(commit)
    }

    /// Takes all whole records of a file, and gives its length without what was cut off.
    fn read_into(&self, rebuild: &mut Rebuild, file: &ExportFile) -> Result<u64, Failure> {
        let mut bad = None;
        let mut number = 0;
        let whole = file.whole_lines(|line| {
            number += 1;
            if let Err(why) = self.take_line(rebuild, line) {
                bad.get_or_insert((number, why));
            }
        });
        let whole = whole.map_err(|error| self.refused(&error))?;
        match bad {
            None => Ok(whole),
            Some((number, why)) => Err(self
                .failure(format!("line {number} of `{}` {why}", file.name()))
                .hint("move it away, or name another FILE")),
        }
    }

    fn take_line(&self, rebuild: &mut Rebuild, line: &[u8]) -> Result<(), String> {
        let line: Line<'_> =
            serde_json::from_slice(line).map_err(|_| "is not a record, so it is no export".to_owned())?;
        let own = self.stream.name.as_str();
        if line.stream != own {
            return Err(format!("is of the stream `{}`, not of `{own}`", line.stream.escape_debug()));
        }
        match line.kind.as_str() {
            "event" => {}
            "notice" => {
                rebuild.notice(&line.notice.unwrap_or_default());
                return Ok(());
            }
            _ => return Ok(()),
        }
        let event = line.event.ok_or_else(|| "is not a record, so it is no export".to_owned())?;
        // With `--json-data` the text that came cannot be told any more, so there are no keys, only a position.
        let text = line.data.filter(|_| !self.json_data);
        let data: Option<String> = text.and_then(|data| serde_json::from_str(data.get()).ok());
        rebuild.push(&Delivered {
            id: line.id.as_deref(),
            event: &event,
            data: data.as_deref(),
            at: parse_rfc3339_micros(&line.time).unwrap_or(Timestamp(0)),
            replayed: line.replayed,
            moves: !self.stream.policy.no_cursor_events.contains(&event),
        });
        Ok(())
    }

    fn failure(&self, why: String) -> Failure {
        Failure::new(Exit::Store, format!("go on with the export `{}`", self.path.display())).cause(why)
    }

    fn refused(&self, error: &ExportError) -> Failure {
        let failure = self.failure(error.to_string());
        match error {
            ExportError::Locked => failure.hint("end the other `ssectl resume --to` first, or name another FILE"),
            ExportError::NotRegular => {
                failure.hint("an export is a file that only grows; for a pipe, leave `--to` out")
            }
            ExportError::Shorter { .. } | ExportError::Differs | ExportError::NotEmpty => {
                failure.hint("it was left as it is; move it away, and a new one goes on from the stored cursor")
            }
            ExportError::Io(_) => failure,
        }
    }
}

/// A line of a `json` export.
#[derive(Deserialize)]
struct Line<'a> {
    kind: String,
    stream: String,
    id: Option<String>,
    event: Option<String>,
    notice: Option<String>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    time: String,
    #[serde(default)]
    replayed: bool,
}
