//! What went wrong, for a person to read and a script to test: exit codes, and errors with a cause and a way on.
//!
//! Responsible for the exit codes of the contract and for the form of the final `error:` lines.
//! Must never know how an error came about: callers hand over words. Must never be given a credential.

use std::fmt;
use std::process::ExitCode;

use crate::consumer::ports::JournalError;
use crate::store::{Holder, StoreError};

/// How the process ends. The numbers are a stable contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: ended as asked (a count, a time, an until, 204, a clean end without reconnecting, a pipe without reader).
    Success,
    /// 1: any failure that has no number of its own.
    Failure,
    /// 2: the command line or the config file cannot be used.
    Usage,
    /// 3: the server refused: a status that is not retried, a wrong content type, an event too large.
    Refused,
    /// 4: no connection, retries used up, or the connection broke and is not to be made again.
    Unreachable,
    /// 5: events are known to be lost.
    Lost,
    /// 6: the store or the export cannot be used: busy, fenced off, corrupt, newer schema, read-only.
    Store,
    /// 7: the output failed, such as a full disk.
    Output,
    /// 130: SIGINT, with everything delivered so far committed.
    Interrupted,
    /// 143: SIGTERM, with everything delivered so far committed.
    Terminated,
}

impl Exit {
    /// The number that the shell sees.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Unreachable => 4,
            Self::Lost => 5,
            Self::Store => 6,
            Self::Output => 7,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// A final failure: what could not be done, why, and what to type next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// How the process ends.
    pub exit: Exit,
    /// What could not be done; completes the sentence "cannot …".
    pub what: String,
    /// Why, outermost first.
    pub causes: Vec<String>,
    /// What to do about it, where there is something to do.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure without causes or hint.
    #[must_use]
    pub fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self { exit, what: what.into(), causes: Vec::new(), hint: None }
    }

    /// The command line or the config file cannot be used (exit 2).
    #[must_use]
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what)
    }

    /// The store did not do what was asked (exit 6, or 2 where it has no such stream or cursor).
    #[must_use]
    pub fn store(what: impl Into<String>, error: &StoreError) -> Self {
        let exit = match error {
            StoreError::UnknownStream | StoreError::NoCursor => Exit::Usage,
            _ => Exit::Store,
        };
        let failure = Self::new(exit, what).cause(store_cause(error));
        match store_hint(error) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }

    /// The output did not take what was written to it (exit 7).
    #[must_use]
    pub fn output(error: &std::io::Error) -> Self {
        let hint = if error.kind() == std::io::ErrorKind::StorageFull {
            "make room and run it again: it goes on after the last event that was taken"
        } else {
            "run it again when the output takes data: it goes on after the last event that was taken"
        };
        Self::new(Exit::Output, "write the output").cause(error.to_string()).hint(hint)
    }

    /// Adds a cause under those that are there.
    #[must_use]
    pub fn cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// Sets the hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: cannot {}", self.what)?;
        for cause in &self.causes {
            write!(f, "\ncaused by: {cause}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::store("use the store", &error)
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        let failure = Self::new(Exit::Store, "keep the cursor");
        match error {
            JournalError::Fenced { by, .. } => failure
                .cause(format!("the stream was taken over: {by}"))
                .hint("nothing was stored after that; `ssectl checkpoint list` shows who owns which stream"),
            JournalError::Failed { causes } => Self { causes, ..failure }.hint(
                "`ssectl checkpoint verify` looks at the database; once it is sound and can be written, \
                 the same command goes on from the last cursor that was kept",
            ),
        }
    }
}

/// `pid 4711 on host`.
#[must_use]
pub fn holder_words(holder: &Holder) -> String {
    format!("pid {} on {}", holder.process.pid, holder.process.host)
}

fn store_cause(error: &StoreError) -> String {
    match error {
        StoreError::Fenced { holder: Some(holder) } => {
            format!("the stream was taken over by {}", holder_words(holder))
        }
        other => other.to_string(),
    }
}

fn store_hint(error: &StoreError) -> Option<String> {
    Some(match error {
        StoreError::Fenced { .. } => "`ssectl checkpoint list` shows who owns which stream".to_owned(),
        StoreError::Busy(holder) => format!("end pid {} first, or name another stream", holder.process.pid),
        StoreError::NewerSchema { .. } => "use the newer ssectl that wrote it, or another file with `--db`".to_owned(),
        StoreError::Corrupt(_) => {
            "move the file away, or use another with `--db`; an export FILE still gives its cursor back".to_owned()
        }
        StoreError::UnknownStream => "`ssectl checkpoint list` shows what is stored".to_owned(),
        StoreError::NoCursor | StoreError::Failed(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumer::time::Timestamp;
    use crate::store::{Mover, Process};

    fn holder() -> Holder {
        Holder {
            process: Process { pid: 4711, host: "here".into(), boot: String::new(), started: 0 },
            mover: Mover::Resume,
            since: Timestamp(0),
            expires_at: Timestamp(1),
        }
    }

    #[test]
    fn numbers_are_those_of_the_contract() {
        use Exit::{Failure, Interrupted, Lost, Output, Refused, Store, Success, Terminated, Unreachable, Usage};
        let all = [Success, Failure, Usage, Refused, Unreachable, Lost, Store, Output, Interrupted, Terminated];
        assert_eq!(all.map(Exit::code), [0, 1, 2, 3, 4, 5, 6, 7, 130, 143]);
    }

    #[test]
    fn a_failure_says_what_why_and_what_next() {
        let failure = Failure::usage("read `x`").cause("it is a directory").cause("os error 21").hint("name a file");
        assert_eq!(
            failure.to_string(),
            "error: cannot read `x`\ncaused by: it is a directory\ncaused by: os error 21\nhint: name a file"
        );
    }

    #[test]
    fn a_busy_stream_names_the_pid() {
        let failure = Failure::store("set the cursor of `a`", &StoreError::Busy(holder()));
        assert_eq!(failure.exit, Exit::Store);
        assert!(failure.to_string().contains("4711"), "{failure}");
    }

    #[test]
    fn an_unknown_stream_is_a_wrong_argument() {
        assert_eq!(Failure::from(StoreError::UnknownStream).exit, Exit::Usage);
        assert_eq!(Failure::from(StoreError::Corrupt("x".into())).exit, Exit::Store);
    }
}
