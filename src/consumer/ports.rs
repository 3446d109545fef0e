//! The few traits by which a driver meets the edge. Defined here so that the modules that implement them
//! ([`crate::http`], [`crate::store`], [`crate::output`]) need not know each other.
//!
//! Futures are plain `std` futures; nothing here knows a runtime.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use super::delivery::{EventRecord, Notice};
use super::id::EventId;
use super::record::{Commit, ExportMark, Key};
use super::time::Timestamp;

/// What is asked of a transport: one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// The cursor to send; `None` sends none (and sends the `--start-param`s instead).
    pub cursor: Option<EventId>,
}

/// A response that is an event stream.
#[derive(Debug)]
pub struct Connected<B> {
    /// The rest of the response.
    pub body: B,
    /// `GET`, so that heartbeats may switch the idle watchdog on and an end is followed by a reconnection.
    pub is_get: bool,
    /// The HTTP version and status, for `-v`.
    pub status_line: String,
}

/// Why an attempt did not give an event stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// 204: the server asks to end; not a failure.
    NoContent,
    /// A status of the server's that is not an event stream.
    Status {
        /// The HTTP status code.
        code: u16,
        /// Its reason phrase, and the first line of the body where there is one.
        detail: String,
        /// `Retry-After`, as a delay from now.
        retry_after: Option<Duration>,
        /// 408, 425, 429 or 5xx.
        retryable: bool,
    },
    /// 200 with another media type.
    WrongType {
        /// The `Content-Type` that came, if any.
        content_type: String,
        /// The first line of the body.
        first_line: String,
    },
    /// A redirect that cannot be followed.
    BadRedirect(String),
    /// No response: name resolution, connection, TLS, time-out, reset.
    Unreachable {
        /// What failed, outermost first.
        causes: Vec<String>,
    },
    /// The server's certificate is not trusted. That does not heal by itself.
    Untrusted {
        /// What failed, outermost first.
        causes: Vec<String>,
    },
    /// The two sides cannot agree on TLS, or the server wants a certificate of the client. That does not heal by itself.
    Disagreed {
        /// What failed, outermost first.
        causes: Vec<String>,
    },
    /// The request cannot be made at all: a credential command failed, a file is missing.
    Unusable {
        /// What failed, outermost first.
        causes: Vec<String>,
    },
}

/// The connection broke in mid-body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What failed, outermost first.
    pub causes: Vec<String>,
}

/// Makes requests for one stream.
pub trait Transport {
    /// The rest of a response.
    type Body: Body;

    /// Makes one request and waits for the head of its response.
    ///
    /// # Errors
    /// [`ConnectError`] says why there is no event stream. Dropping the future gives the attempt up.
    fn connect(&mut self, attempt: &Attempt) -> impl Future<Output = Result<Connected<Self::Body>, ConnectError>>;

    /// Fetches the current state of what the stream is about, where the user said from where.
    ///
    /// # Errors
    /// [`ConnectError`] says why there is none.
    fn snapshot(&mut self) -> impl Future<Output = Result<String, ConnectError>> {
        std::future::ready(Err(ConnectError::Unusable { causes: vec!["no snapshot URL is known".to_owned()] }))
    }
}

/// The rest of a response, chunk by chunk as the network gives it. Dropping it closes the connection.
pub trait Body {
    /// Bytes as they came.
    type Chunk: AsRef<[u8]>;

    /// The next bytes; `None` at a clean end. Cancel-safe.
    ///
    /// # Errors
    /// [`Broken`] if the connection ended otherwise.
    fn chunk(&mut self) -> impl Future<Output = Result<Option<Self::Chunk>, Broken>>;
}

/// Why a journal did not take a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalError {
    /// The lease is of an older epoch: somebody else owns the stream now.
    Fenced {
        /// The new owner, in words (`pid 4711 on host`), or what fenced this one off.
        by: String,
        /// The new owner is a `resume` (a `tail` then goes on in memory).
        by_resume: bool,
    },
    /// The store cannot be used.
    Failed {
        /// What failed, outermost first.
        causes: Vec<String>,
    },
}

/// The durable side of one stream's record. A clone is another handle of the same record.
pub trait Journal: Clone {
    /// Makes a change durable, or changes nothing.
    ///
    /// # Errors
    /// [`JournalError`]; after it the journal takes no further commit.
    fn commit(&self, commit: Commit) -> impl Future<Output = Result<(), JournalError>>;

    /// All keys from sequence number `from` on, in order of delivery.
    ///
    /// # Errors
    /// [`JournalError::Failed`] if they cannot be read.
    fn keys(&self, from: u64) -> impl Future<Output = Result<Vec<Key>, JournalError>>;

    /// Ends when the stream is found to be owned by somebody else; never, if it is not.
    fn fenced(&self) -> impl Future<Output = JournalError>;
}

/// Why the output did not take a batch.
#[derive(Debug)]
pub enum SinkError {
    /// The reader of the pipe is gone.
    Closed,
    /// Anything else: the disk is full, ...
    Failed(std::io::Error),
}

impl fmt::Display for SinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the reader of the output is gone"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

/// An output has gone on elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turned {
    /// Where it goes on.
    pub begun: ExportMark,
    /// The name of what is finished, if nothing of it is to be remembered.
    pub done: Option<String>,
}

/// Takes batches of whole records. Delivered means: `write` (for a file, `sync` after it) returned.
///
/// A clone is another handle of the same output.
pub trait Sink: Clone {
    /// Writes a batch and flushes it. The buffer is given back empty, to be used again.
    ///
    /// # Errors
    /// [`SinkError`]; how much of the batch was taken is then unknown.
    fn write(&self, batch: Vec<u8>) -> impl Future<Output = Result<Vec<u8>, SinkError>>;

    /// Makes all that was written durable, where the output is an export, and says how far that is; at once elsewhere.
    ///
    /// # Errors
    /// [`SinkError`] if it cannot be made durable.
    fn sync(&self) -> impl Future<Output = Result<Option<ExportMark>, SinkError>>;

    /// The output wants to go on elsewhere: to be synced, committed and [turned](Self::turn) before it is written to again.
    fn turn_is_due(&self) -> bool {
        false
    }

    /// Ends when [`Self::turn_is_due`]; never, where the output has one place only. Cancel-safe.
    fn turn_due(&self) -> impl Future<Output = ()> {
        std::future::pending()
    }

    /// Goes on elsewhere, if that is due. The commit that goes with the last `sync` is durable, and nothing was written
    /// since; what is given back must be durable before anything is.
    ///
    /// # Errors
    /// [`SinkError`] if it cannot go on, such as a file that cannot be opened anew.
    fn turn(&self) -> impl Future<Output = Result<Option<Turned>, SinkError>> {
        std::future::ready(Ok(None))
    }

    /// Ends when the reader of the output has gone away; never, where that cannot be seen.
    fn closed(&self) -> impl Future<Output = ()>;
}

/// Writes records in the chosen format into a batch. Holds the filters of what is written.
pub trait Format {
    /// No filter holds this event back. One that is held back counts as delivered all the same.
    fn is_wanted(&self, event: &EventRecord<'_>) -> bool;
    /// Appends an event, whatever the filters.
    fn event(&mut self, batch: &mut Vec<u8>, event: &EventRecord<'_>);
    /// Appends a snapshot of the current state, whatever the filters.
    fn snapshot(&mut self, batch: &mut Vec<u8>, data: &str, time: Timestamp);
    /// Appends a comment, if comments are asked for.
    fn comment(&mut self, batch: &mut Vec<u8>, text: &str, time: Timestamp);
    /// Appends a notice, if notices are asked for.
    fn notice(&mut self, batch: &mut Vec<u8>, notice: &Notice, time: Timestamp);
}

/// Where a stream stands, for a progress line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// `connecting`, `live`, `recovering`, `waiting`, ...
    pub state: &'static str,
    /// Events delivered so far.
    pub events: u64,
    /// Bytes received so far.
    pub bytes: u64,
    /// The last id.
    pub last_id: Option<String>,
    /// While reading again: events seen of those between `lagging` and `newest`.
    pub reread: Option<(u64, u64)>,
}

/// What a person is told on stderr, about one stream.
pub trait Console {
    /// A lost connection or refused attempt that will be tried again, or lost events (`warning:`).
    fn warning(&self, text: &str);
    /// Anything else worth a line (`note:`).
    fn note(&self, text: &str);
    /// A line for `-v` (level 1) or `-vv` (level 2).
    fn detail(&self, level: u8, text: &str);
    /// The progress line, where stderr is a terminal. Cheap; may be called at every batch.
    fn progress(&self, progress: &Progress);
}
