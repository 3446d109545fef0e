//! How `resume --to FILE` begins: what stands in FILE is compared with what is stored, and one of the two gives way or
//! neither does.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ending::shell_word;
use crate::consumer::ports::Journal;
use crate::consumer::rebuild::{Delivered, Rebuild};
use crate::consumer::time::Timestamp;
use crate::driver::Clock;
use crate::error::{Exit, Failure};
use crate::output::export::{ExportError, ExportFile, ExportSink, Reopen};
use crate::output::format::FormatKind;
use crate::output::time::parse_rfc3339_micros;
use crate::settings::StreamSettings;
use crate::store::Owned;
use crate::store::thread::OwnedStream;

/// An export that is about to be gone on with.
pub(super) struct Begin<'a> {
    pub(super) path: &'a Path,
    pub(super) stream: &'a StreamSettings,
    pub(super) format: &'a FormatKind,
    pub(super) json_data: bool,
    pub(super) reopen: Reopen,
}

impl Begin<'_> {
    /// Opens FILE, brings it and the record together, and gives the sink. The record may become that of FILE.
    ///
    /// # Errors
    /// Why FILE cannot be gone on with; it is then as it was.
    pub(super) async fn run(self, owned: &mut Owned, journal: &OwnedStream) -> Result<ExportSink, Failure> {
        let file = ExportFile::open(self.path).map_err(|error| self.refused(&error))?;
        let length = file.length().map_err(|error| self.refused(&error))?;
        if length > 0 {
            self.go_on(&file, owned, journal).await?;
        }
        file.into_sink(self.reopen.one()).map_err(|error| self.refused(&error))
    }

    async fn go_on(&self, file: &ExportFile, owned: &mut Owned, journal: &OwnedStream) -> Result<(), Failure> {
        if self.stream.policy.start.is_some() {
            return Err(Failure::usage("start after `--last-event-id`")
                .cause(format!("`{}` holds records, and would have a hole or a repeat", self.path.display()))
                .hint("name a new FILE, or leave `--last-event-id` out"));
        }
        let name = file.name();
        let Some(stored) = owned.exports.iter().find(|stored| stored.mark.file == name) else {
            return self.without_mark(file, owned, journal).await;
        };
        file.check(&stored.mark).map_err(|error| self.refused(&error))?;
        let latest = owned.record.head.latest.as_ref().map(|place| &place.id);
        if stored.latest.as_ref() != latest {
            return Err(self
                .failure("somebody read the stream on without it, so it would have a hole".to_owned())
                .hint("move it away, and a new one goes on from the stored cursor"));
        }
        file.cut(stored.mark.length).map_err(|error| self.refused(&error))
    }

    /// FILE holds records, and nothing is stored of it.
    async fn without_mark(&self, file: &ExportFile, owned: &mut Owned, journal: &OwnedStream) -> Result<(), Failure> {
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
        let mut rebuild = Rebuild::new(&owned.key_seed, self.stream.policy.dedupe.clone(), self.stream.policy.window);
        let mut bad_line = None;
        let mut number = 0;
        let whole = file.whole_lines(|line| {
            number += 1;
            if take_line(&mut rebuild, line, self.json_data).is_none() {
                bad_line.get_or_insert(number);
            }
        });
        let whole = whole.map_err(|error| self.refused(&error))?;
        if let Some(number) = bad_line {
            return Err(self
                .failure(format!("its line {number} is not a record, so it is no export"))
                .hint("move it away, or name another FILE"));
        }
        file.cut(whole).map_err(|error| self.refused(&error))?;
        let Some(mut commit) = rebuild.finish(Clock::wall()) else { return Ok(()) };
        commit.export = Some(file.mark().map_err(|error| self.refused(&error))?);
        owned.record.head = commit.head.clone();
        owned.record.marks = commit.marks_put.clone();
        journal.commit(commit).await.map_err(Failure::from)
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
            ExportError::Shorter { .. } | ExportError::Differs => {
                failure.hint("it was left as it is; move it away, and a new one goes on from the stored cursor")
            }
            ExportError::Io(_) => failure,
        }
    }
}

/// A line of a `json` export.
#[derive(Deserialize)]
struct Line<'a> {
    kind: &'a str,
    id: Option<String>,
    event: Option<String>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    time: String,
    #[serde(default)]
    replayed: bool,
}

/// Takes a line; `None` if it is no record.
fn take_line(rebuild: &mut Rebuild, line: &[u8], json_data: bool) -> Option<()> {
    let line: Line<'_> = serde_json::from_slice(line).ok()?;
    if line.kind != "event" {
        return Some(());
    }
    // With `--json-data` the text that came cannot be told any more, so there are no keys, only a position.
    let data: Option<String> = line.data.filter(|_| !json_data).and_then(|data| serde_json::from_str(data.get()).ok());
    rebuild.push(&Delivered {
        id: line.id.as_deref(),
        event: line.event.as_deref()?,
        data: data.as_deref(),
        at: parse_rfc3339_micros(&line.time).unwrap_or(Timestamp(0)),
        replayed: line.replayed,
    });
    Some(())
}
