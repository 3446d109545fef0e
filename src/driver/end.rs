//! How a run ends, in the driver's own words; what exit code that is, is decided elsewhere.

use std::fmt;
use std::io;
use std::time::Duration;

use crate::consumer::ports::{ConnectError, JournalError};

/// Why a run ended.
#[derive(Debug)]
pub enum End {
    /// `-n`: so many events are written.
    Count,
    /// `--for`: the time is over.
    Time,
    /// `--until-id`, `--until-data`: it came.
    Until,
    /// `--until-idle`: nothing came for so long.
    Idle,
    /// The cursor is expired, and the snapshot to go on from cannot be had.
    NoSnapshot(ConnectError),
    /// 204: the server asks to end.
    NoContent,
    /// The server ended the connection cleanly, and it is not made again.
    ServerEnded,
    /// A `replay` came to its end.
    ReplayEnd,
    /// The reader of the output is gone.
    ReaderGone,
    /// A signal, by number.
    Signal(i32),
    /// `--on-drop exit`.
    Dropped,
    /// The server no longer has the cursor.
    Expired(String),
    /// The server refused, and that is not tried again.
    Refused(ConnectError),
    /// It could not connect, and that is not tried again; or the retries are used up.
    NoConnection {
        /// What failed, outermost first.
        causes: Vec<String>,
        /// How many retries were made.
        retries: u32,
        /// The server was there and answered, if not with a stream that lasts.
        answered: bool,
    },
    /// The connection broke, and it is not made again.
    Broken(Vec<String>),
    /// An event is larger than the limit, in bytes.
    TooLarge(usize),
    /// The store cannot be used, or somebody else owns the stream.
    Store(JournalError),
    /// The output failed.
    Output(io::Error),
}

impl End {
    /// A word or two for `last_end` of `checkpoint show`.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Self::Count => "count reached".to_owned(),
            Self::Time => "time over".to_owned(),
            Self::Until => "until reached".to_owned(),
            Self::Idle => "idle".to_owned(),
            Self::NoContent => "204 No Content".to_owned(),
            Self::ServerEnded => "the server ended the connection".to_owned(),
            Self::ReplayEnd => "replayed".to_owned(),
            Self::ReaderGone => "the reader of the output was gone".to_owned(),
            Self::Signal(number) => format!("signal {number}"),
            Self::Dropped => "drop notice".to_owned(),
            Self::Expired(_) | Self::NoSnapshot(_) => "cursor expired".to_owned(),
            Self::Refused(_) => "refused by the server".to_owned(),
            Self::NoConnection { .. } => "no connection".to_owned(),
            Self::Broken(_) => "the connection broke".to_owned(),
            Self::TooLarge(_) => "event too large".to_owned(),
            Self::Store(_) => "store failed".to_owned(),
            Self::Output(_) => "output failed".to_owned(),
        }
    }
}

/// A delay for a person: `1.5s`, `20ms`, `1h0m57s`.
pub(super) struct Seconds(pub(super) Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < Duration::from_secs(1) {
            return write!(f, "{}ms", self.0.as_millis());
        }
        let seconds = self.0.as_secs();
        match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
            (0, 0, _) => write!(f, "{:.1}s", self.0.as_secs_f64()),
            (0, minutes, seconds) => write!(f, "{minutes}m{seconds}s"),
            (hours, minutes, seconds) => write!(f, "{hours}h{minutes}m{seconds}s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_written_for_a_person() {
        let text = |ms| Seconds(Duration::from_millis(ms)).to_string();
        assert_eq!([text(20), text(1500), text(59_940)], ["20ms", "1.5s", "59.9s"]);
        assert_eq!([text(60_000), text(125_000), text(3_657_000)], ["1m0s", "2m5s", "1h0m57s"]);
    }
}
