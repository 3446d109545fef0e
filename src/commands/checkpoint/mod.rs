//! `ssectl checkpoint`: what is stored, shown to a person or a program, and changed from outside of a run.
//!
//! Responsible for words and forms. What a change means is the store's (rules 9 and 11).

mod change;
mod json;
pub(super) mod pretty;
#[cfg(test)]
mod tests;
mod transfer;

use std::io::{self, Write};
use std::path::Path;

use crate::cli::checkpoint::{CheckpointAction, CheckpointArgs};
use crate::consumer::id::StreamName;
use crate::consumer::time::Timestamp;
use crate::error::{Exit, Failure};
use crate::output::export::ExportFile;
use crate::settings::CheckpointSettings;
use crate::settings::near::all_near;
use crate::settings::values::ListFormat;
use crate::store::{Store, StoreError, Summary};

/// Opens a database by its path; makes it where there is none.
pub type Open<'a> = &'a dyn Fn(&Path) -> Result<Box<dyn Store>, StoreError>;

/// What `checkpoint` works with.
pub struct Context<'a> {
    /// Its settings.
    pub settings: &'a CheckpointSettings,
    /// How a database is opened.
    pub open: Open<'a>,
    /// Where results go.
    pub out: &'a mut dyn Write,
    /// Where `note:` lines go.
    pub notes: &'a mut dyn Write,
    /// Now.
    pub now: Timestamp,
}

/// Does what was asked.
///
/// # Errors
/// A [`Failure`] that says what could not be done. A reader of the output that is gone is no failure.
pub fn run(args: CheckpointArgs, mut context: Context<'_>) -> Result<Exit, Failure> {
    let context = &mut context;
    match args.action {
        CheckpointAction::List { output } => list(context, output),
        CheckpointAction::Show { stream, output } => show(context, &stream, output),
        CheckpointAction::Set { stream, latest, lagging, force } => {
            change::set(context, &stream, change::Cursors { latest, lagging }, force)
        }
        CheckpointAction::Reset { stream, to_lagging, force } => change::reset(context, &stream, to_lagging, force),
        CheckpointAction::Export { stream } => transfer::export(context, &stream),
        CheckpointAction::Import { file, force } => transfer::import(context, &file, force),
        CheckpointAction::Verify => verify(context),
        CheckpointAction::Path => context.print(&format!("{}\n", context.settings.db.display())),
    }
}

impl Context<'_> {
    /// The store, if its file is there; `None` means that nothing is stored yet, and leaves it so.
    fn existing(&self) -> Result<Option<Box<dyn Store>>, Failure> {
        match self.settings.db.try_exists() {
            Ok(false) => Ok(None),
            Ok(true) => self.opened().map(Some),
            Err(error) => Err(self.unusable(&StoreError::Failed(error.to_string()))),
        }
    }

    /// The store, made where there is none.
    fn opened(&self) -> Result<Box<dyn Store>, Failure> {
        (self.open)(&self.settings.db).map_err(|error| self.unusable(&error))
    }

    fn unusable(&self, error: &StoreError) -> Failure {
        Failure::store(format!("use the database `{}`", self.settings.db.display()), error)
    }

    fn summaries(&self) -> Result<Vec<Summary>, Failure> {
        let Some(mut store) = self.existing()? else { return Ok(Vec::new()) };
        store.list(self.now).map_err(|error| self.unusable(&error))
    }

    /// One stored stream, which must be there.
    fn summary(&self, name: &StreamName) -> Result<Summary, Failure> {
        let found = match self.existing()? {
            Some(mut store) => store.show(name, self.now).map_err(|error| self.unusable(&error))?,
            None => None,
        };
        match found {
            Some(summary) => Ok(summary),
            None => Err(self.not_stored(name)),
        }
    }

    /// Nothing is stored of a stream: names the stored ones that are like it.
    fn not_stored(&self, name: &StreamName) -> Failure {
        let failure = Failure::usage(format!("find `{name}` in the store"));
        let stored = match self.summaries() {
            Ok(stored) => stored,
            Err(unusable) => return unusable,
        };
        if stored.is_empty() {
            return failure
                .cause(format!("nothing is stored yet in `{}`", self.settings.db.display()))
                .hint("`ssectl resume URL` stores a cursor; `--db PATH` names another database");
        }
        let failure = failure.cause(format!("`{}` has no such stream", self.settings.db.display()));
        let near = all_near(name.as_str(), stored.iter().map(|summary| summary.stream.as_str()));
        if near.is_empty() {
            return failure.hint("`ssectl checkpoint list` shows what is stored");
        }
        let near: Vec<_> = near.into_iter().map(|near| format!("`{near}`")).collect();
        failure.hint(format!("did you mean {}?", near.join(" or ")))
    }

    fn print(&mut self, text: &str) -> Result<Exit, Failure> {
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            Ok(()) => Ok(Exit::Success),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Success),
            Err(error) => Err(Failure::output(&error)),
        }
    }

    /// Tells a person what was done. That nobody can be told is no failure.
    fn note(&mut self, text: &str) {
        let _ = writeln!(self.notes, "note: {text}");
    }
}

fn list(context: &mut Context<'_>, format: ListFormat) -> Result<Exit, Failure> {
    let mut summaries = context.summaries()?;
    // An attempt that never came to anything leaves its name behind, and nothing that could be shown.
    summaries.retain(|summary| !summary.is_blank());
    match format {
        ListFormat::Json => context.print(&json::list(&summaries)),
        ListFormat::Pretty if summaries.is_empty() => {
            let db = context.settings.db.display().to_string();
            context.note(&format!("nothing is stored yet in `{db}`"));
            Ok(Exit::Success)
        }
        ListFormat::Pretty => context.print(&pretty::list(&summaries)),
    }
}

fn show(context: &mut Context<'_>, target: &str, format: ListFormat) -> Result<Exit, Failure> {
    let name = context.settings.stream_name(target)?;
    let summary = context.summary(&name)?;
    match format {
        ListFormat::Json => context.print(&json::show(&summary)),
        ListFormat::Pretty => context.print(&pretty::show(&summary)),
    }
}

fn verify(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let db = context.settings.db.display().to_string();
    let Some(mut store) = context.existing()? else {
        context.note(&format!("nothing is stored yet in `{db}`"));
        return Ok(Exit::Success);
    };
    let mut findings = store.verify().map_err(|error| context.unusable(&error))?;
    let summaries = match store.list(context.now) {
        Ok(summaries) => summaries,
        // A row that cannot be read is among the findings, which are worth more than one of them as an error.
        Err(StoreError::Corrupt(_)) if !findings.is_empty() => Vec::new(),
        Err(error) => return Err(context.unusable(&error)),
    };
    for stored in summaries.iter().flat_map(|summary| &summary.exports) {
        if let Err(error) = ExportFile::inspect(&stored.mark) {
            findings.push(format!("the export `{}`: {error}", stored.mark.file));
        }
    }
    if findings.is_empty() {
        return context.print(&format!("{db}: all is as it must be\n"));
    }
    context.print(&findings.iter().map(|finding| format!("{finding}\n")).collect::<String>())?;
    let count = findings.len();
    let things = if count == 1 { "1 thing is".to_owned() } else { format!("{count} things are") };
    Err(Failure::new(Exit::Store, format!("call `{db}` sound"))
        .cause(format!("{things} not as it must be"))
        .hint("move it away: a `resume --to FILE` gets its position back from FILE"))
}
