//! What a run shall do: flags, config file and environment become plain values, once.
//!
//! Responsible for precedence (flags over the stream's table over `[defaults]`), for defaults, and for every usage
//! check that can be made before anything is opened. Only here is the environment read. Knows nothing of how a
//! setting is carried out.

pub mod config;
pub mod environment;
mod layer;
pub mod names;
pub mod near;
pub mod parse;
mod resolve;
pub mod secret;
mod stream;
pub mod template;
#[cfg(test)]
mod tests;
pub mod values;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;
use url::Url;

use self::secret::Secret;
use self::values::{
    BodySource, Credentials, Dedupe, HeaderSource, IdleTimeout, Initial, JsonPointer, ListFormat, NameValue, OnDrop,
    OnExpired, OutputFormat, SendCursor,
};
use crate::consumer::id::{EventId, StreamName};

pub use self::environment::Environment;
pub use self::resolve::{CheckpointSettings, DemoSettings};

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
    pub const MAX_EVENT_BYTES: u64 = 64 << 20;
    /// `--window`.
    pub const WINDOW: Duration = Duration::from_secs(15 * 60);
    /// `--drop-cooldown`.
    pub const DROP_COOLDOWN: Duration = Duration::from_secs(60);
    /// `--read-ahead`, in bytes.
    pub const READ_AHEAD_BYTES: u64 = 8 << 20;
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
}

/// One stream.
#[derive(Clone)]
pub struct StreamSettings {
    /// Its name.
    pub name: StreamName,
    /// Its URL, which may hold credentials: show it redacted only.
    pub url: Url,
    /// The name is one of the config file (rule 13 warns when its URL is no longer the stored one).
    pub from_config: bool,
    /// How to connect.
    pub connection: ConnectionSettings,
    /// How its cursors are kept.
    pub cursors: CursorSettings,
}

impl fmt::Debug for StreamSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamSettings")
            .field("name", &self.name)
            .field("from_config", &self.from_config)
            .field("connection", &self.connection)
            .field("cursors", &self.cursors)
            .finish_non_exhaustive()
    }
}

/// How a stream is connected to.
#[derive(Clone, Debug)]
pub struct ConnectionSettings {
    /// The request method.
    pub method: String,
    /// Request headers, in order; none of them twice but where the user said it twice.
    pub headers: Vec<HeaderSource>,
    /// The request body.
    pub body: Option<BodySource>,
    /// Who the request is from.
    pub credentials: Option<Credentials>,
    /// Certificates are not verified.
    pub insecure: bool,
    /// A PEM file with the only certificates to trust.
    pub cacert: Option<PathBuf>,
    /// A PEM file with a client certificate.
    pub cert: Option<PathBuf>,
    /// A PEM file with the key of `cert`; if `None` it is in the same file.
    pub key: Option<PathBuf>,
    /// The URL of a proxy, with its scheme.
    pub proxy: Option<Secret>,
    /// HTTP/2 is not offered.
    pub http1_only: bool,
    /// A compressed response is asked for.
    pub compressed: bool,
    /// The most time that connecting may take.
    pub connect_timeout: Duration,
    /// When a silent connection is given up.
    pub idle_timeout: IdleTimeout,
    /// The delay before the first reconnection, until the server sets another.
    pub retry_initial: Duration,
    /// The longest delay that backing off leads to; not under `retry_initial`.
    pub retry_max: Duration,
    /// After how many failed attempts in a row to give up; `None`: never.
    pub max_retries: Option<u32>,
    /// Whether the end of a connection is followed by another.
    pub reconnect: bool,
    /// Where the cursor goes.
    pub send_cursor: SendCursor,
    /// Query parameters to send while there is no cursor.
    pub start_params: Vec<NameValue>,
    /// The position of the first connection, whatever is stored.
    pub last_event_id: Option<EventId>,
    /// Where in the data the id is.
    pub id_from: Option<JsonPointer>,
    /// Event types whose ids move no cursor.
    pub no_cursor_events: Vec<String>,
    /// The largest event that is accepted, in bytes.
    pub event_bytes_max: u64,
}

/// How a stream's cursors are kept.
#[derive(Clone, Debug)]
pub struct CursorSettings {
    /// The replay window.
    pub window: Duration,
    /// Comments that match one of these are drop notices.
    pub drop_notices: Vec<Regex>,
    /// The notices and event types that are known anyway count too.
    pub default_drop_notices: bool,
    /// Event types that count as drop notices, besides the known ones.
    pub drop_events: Vec<String>,
    /// What makes two deliveries the same.
    pub dedupe: Dedupe,
    /// At most one recovery in this time.
    pub drop_cooldown: Duration,
    /// The most events that a recovery may deliver.
    pub replay_events_max: Option<u64>,
    /// What a drop notice leads to.
    pub on_drop: OnDrop,
    /// What an expired cursor leads to.
    pub on_expired: OnExpired,
    /// Where `resume` starts when nothing is stored.
    pub initial: Initial,
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
    pub read_ahead_bytes: u64,
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
