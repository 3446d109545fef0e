//! The types that settings are made of, once their text has been understood.

pub use crate::consumer::idle::IdleOption as IdleTimeout;
pub use crate::consumer::options::{Dedupe, OnDrop, OnExpired};
pub use crate::consumer::pointer::Pointer;
pub use crate::http::{BodySource, Header, HeaderSource, SendCursor};
pub use crate::output::format::{BadFormat, BadTemplate, FormatKind as OutputFormat};

use crate::consumer::id::EventId;
use crate::redact::Secret;

/// Where `resume` starts when nothing is stored (`--initial`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initial {
    /// From now.
    Live,
    /// After this id.
    Id(EventId),
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
