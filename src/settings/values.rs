//! The types that settings are made of, once their text has been understood.

use std::path::PathBuf;
use std::time::Duration;

use super::secret::Secret;
use super::template::Template;
use crate::consumer::id::EventId;

/// When a silent connection is given up (`--idle-timeout`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleTimeout {
    /// Off until the server has shown a steady heartbeat, then three times its period.
    Auto,
    /// Never.
    Off,
    /// After this much silence.
    After(Duration),
}

/// Where a cursor goes in a request (`--send-cursor`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendCursor {
    /// The `Last-Event-ID` header.
    Header,
    /// The query parameter of this name.
    Query(String),
}

/// A query parameter (`--start-param`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameValue {
    /// Its name, not encoded.
    pub name: String,
    /// Its value, not encoded.
    pub value: Secret,
}

/// A JSON pointer (RFC 6901) that names something inside of a value: it starts with `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPointer(pub(super) String);

impl JsonPointer {
    /// The pointer as text, as `serde_json`'s `Value::pointer` takes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What makes two deliveries the same (`--dedupe`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dedupe {
    /// The id in force, the type, the data, and which occurrence of such equals it is.
    Event,
    /// The id alone.
    Id,
    /// A value in the data; where it is absent, as [`Dedupe::Event`].
    Pointer(JsonPointer),
    /// Nothing: no event is ever removed.
    None,
}

/// Where `resume` starts when nothing is stored (`--initial`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initial {
    /// From now.
    Live,
    /// After this id.
    Id(EventId),
}

/// What a drop notice leads to (`--on-drop`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDrop {
    /// The window is read again and what is missing is delivered.
    Recover,
    /// It is said and counted; nothing freezes.
    Warn,
    /// The run ends with exit code 5; the gap stays open for the next `resume`.
    Exit,
}

/// What an expired cursor leads to (`--on-expired`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnExpired {
    /// The run ends with exit code 5.
    Stop,
    /// The stream goes on from now.
    Live,
}

/// The form of records (`-o`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// For a person.
    Pretty,
    /// One JSON object a line.
    Json,
    /// The data alone.
    Data,
    /// SSE again.
    Raw,
    /// A template of the user's.
    Template(Template),
}

impl OutputFormat {
    /// Whether a record in this form tells its id, so that a position can be read back from it.
    #[must_use]
    pub fn has_ids(&self) -> bool {
        match self {
            Self::Pretty | Self::Json | Self::Raw => true,
            Self::Data => false,
            Self::Template(template) => template.has_id(),
        }
    }
}

/// The form of what `checkpoint list` and `show` print, and of the demo's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListFormat {
    /// For a person.
    Pretty,
    /// For a program.
    Json,
}

/// When output is coloured (`--color`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Request headers (`-H`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderSource {
    /// One header. An empty value removes a header that would be sent otherwise, as in curl.
    Inline {
        /// Its name.
        name: String,
        /// Its value.
        value: Secret,
    },
    /// A file with one header a line, read again at each attempt.
    File(PathBuf),
}

/// The body of a request (`-d`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodySource {
    /// This text.
    Text(Secret),
    /// The contents of a file.
    File(PathBuf),
    /// All of the standard input, read once.
    Stdin,
}

/// Who the request is from (`--user`, `--bearer-env`, `--bearer-cmd`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// HTTP Basic (RFC 7617).
    Basic {
        /// The user.
        user: String,
        /// The password.
        password: Secret,
    },
    /// A bearer token (RFC 6750).
    Bearer(Secret),
    /// A shell command that prints a bearer token; run again at each attempt.
    BearerCommand(Secret),
}
