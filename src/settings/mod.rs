//! What a run shall do: flags, config file and environment become plain values, once.
//!
//! Responsible for precedence (flags over the stream's table over `[defaults]`), for defaults, and for every usage
//! check that can be made before anything is opened. Only here is the environment read. Knows nothing of how a
//! setting is carried out.

mod arguments;
pub mod config;
pub mod environment;
mod layer;
pub mod near;
pub mod parse;
mod resolve;
pub mod serve;
mod stream;
#[cfg(test)]
mod tests;
pub mod values;

use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;

use self::values::{ListFormat, OnDrop, OutputFormat};
use crate::backpressure::Policies;
use crate::consumer::backoff::BackoffOptions;
use crate::consumer::id::{EventId, StreamName};
use crate::consumer::idle::IdleOption;
use crate::consumer::options::Options as Policy;
use crate::http;
use crate::output::export::RotationLimit;

pub use self::arguments::Arguments;
pub use self::environment::Environment;
pub use self::resolve::{CheckpointSettings, DemoSettings, ProbeSettings};
pub use self::serve::ServeSettings;

/// What holds where neither a flag nor the config file says otherwise.
pub mod defaults {
    use std::time::Duration;

    /// `--connect-timeout`.
    pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
    /// `--retry-initial`.
    pub const RETRY_INITIAL: Duration = Duration::from_secs(1);
    /// `--retry-max`.
    pub const RETRY_MAX: Duration = Duration::from_secs(30);
    /// `--max-event-bytes`.
    pub const MAX_EVENT_BYTES: usize = 64 << 20;
    /// `--window`.
    pub const WINDOW: Duration = crate::consumer::options::WINDOW_DEFAULT;
    /// `--drop-cooldown`.
    pub const DROP_COOLDOWN: Duration = Duration::from_secs(60);
    /// `--read-ahead`, in bytes.
    pub const READ_AHEAD_BYTES: usize = 8 << 20;
    /// `probe --for`.
    pub const PROBE_FOR: Duration = Duration::from_secs(30);
    /// `--commit-interval`.
    pub const COMMIT_INTERVAL: Duration = Duration::from_secs(1);
}

/// All that `tail`, `resume` or `replay` was asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The streams, at least one; their names differ.
    pub streams: Vec<StreamSettings>,
    /// Where cursors are kept.
    pub store: StoreSettings,
    /// What is written.
    pub output: OutputSettings,
    /// When the run ends by itself.
    pub bounds: BoundSettings,
    /// How much is said on stderr.
    pub verbosity: Verbosity,
    /// Where colour is used.
    pub color: Color,
    /// stderr is a terminal, so progress may be shown.
    pub stderr_is_terminal: bool,
}

/// One stream.
#[derive(Clone, Debug)]
pub struct StreamSettings {
    /// Its name.
    pub name: StreamName,
    /// The name is one of the config file (rule 13 says when its URL is no longer the stored one).
    pub from_config: bool,
    /// What is requested, and how.
    pub http: http::Options,
    /// How connections follow each other.
    pub connection: ConnectionSettings,
    /// What the policy is to do.
    pub policy: Policy,
}

/// How the connections of a stream follow each other.
#[derive(Clone, Debug)]
pub struct ConnectionSettings {
    /// When a silent connection is given up.
    pub idle: IdleOption,
    /// Delays and retries.
    pub backoff: BackoffOptions,
    /// Whether the end of a connection is followed by another.
    pub reconnect: bool,
    /// The largest event that is accepted, in bytes.
    pub event_bytes_max: usize,
}

/// Where cursors are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// The database; `None` keeps everything in memory.
    pub db: Option<PathBuf>,
}

/// What is written, and how.
#[derive(Clone, Debug)]
pub struct OutputSettings {
    /// The form of records.
    pub format: OutputFormat,
    /// Write to a file as an export, not to stdout.
    pub export: Option<ExportSettings>,
    /// How far the network may run ahead of the output, in bytes.
    pub read_ahead_bytes: usize,
    /// Comments are written too.
    pub comments: bool,
    /// The tool's own notices are written too.
    pub notices: bool,
    /// Data that is JSON is embedded as a value.
    pub json_data: bool,
    /// Event types that are written; all, if empty.
    pub events: Vec<String>,
    /// Data that is written matches one of these; all, if empty.
    pub grep: Vec<Regex>,
    /// A summary is printed on stderr at the end.
    pub stats: bool,
    /// What gives way while the output is behind; nothing, if `None`.
    pub policies: Option<Policies>,
    /// stdout is a terminal: every format shows control characters escaped.
    pub to_terminal: bool,
}

/// An export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportSettings {
    /// The file; its name may hold `{stream}`, and does with several streams.
    pub file: PathBuf,
    /// How often what was written is made durable.
    pub commit_interval: Duration,
    /// When a file is finished and another begun; the name then holds `{time}`.
    pub rotate: Option<RotationLimit>,
}

/// What ends a run that would go on for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundSettings {
    /// This many events were written.
    pub count: Option<u64>,
    /// This time has passed.
    pub time: Option<Duration>,
    /// The event of this id was written.
    pub until_id: Option<EventId>,
    /// An event with this data was written.
    pub until_data: Option<String>,
    /// No event came for this long.
    pub until_idle: Option<Duration>,
}

impl BoundSettings {
    /// Whether the run is a bounded one.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        *self != Self::default()
    }
}

/// How much is said on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Warnings and errors alone.
    Quiet,
    /// Notes too.
    Normal,
    /// `-v`: which position was chosen and why, and the like.
    Detail,
    /// `-vv`: more.
    Trace,
}

/// Where colour is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color {
    /// On stdout.
    pub stdout: bool,
    /// On stderr.
    pub stderr: bool,
}
