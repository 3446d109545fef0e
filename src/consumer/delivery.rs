//! What leaves the policy for the output: events, comments and the tool's own notices.

use super::time::Timestamp;

/// An event as it is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRecord<'a> {
    /// The last event ID in force at dispatch; `None` if there is none.
    pub id: Option<&'a str>,
    /// The event's own `id:` value, if it had one (the empty one included): what `-o raw` writes again.
    pub own_id: Option<&'a str>,
    /// The event type; `message` where the server named none.
    pub event: &'a str,
    /// The data, lines joined by `\n`.
    pub data: &'a str,
    /// Wall-clock time at which it came.
    pub time: Timestamp,
    /// Delivered by a recovery before its end.
    pub replayed: bool,
}

/// The text of a `recovery-finished` notice where all came that was dropped.
pub const GAP_FILLED: &str = "the gap is filled";

/// The kinds of notice, in the words of the record contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoticeKind {
    /// A connection stands.
    Connected,
    /// A connection ended.
    Disconnected,
    /// The next attempt is planned.
    Reconnecting,
    /// The server said that it discarded events.
    DropNotice,
    /// A recovery begins to read again.
    RecoveryStarted,
    /// A recovery ended, `recovered` or `partial`.
    RecoveryFinished,
    /// A gap that nothing can fill.
    GapUnrecoverable,
    /// An explicit empty `id:` reset the last event ID.
    CursorReset,
    /// The server no longer has the cursor.
    CursorExpired,
}

impl NoticeKind {
    /// The value of `notice` in a record.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Disconnected => "disconnected",
            Self::Reconnecting => "reconnecting",
            Self::DropNotice => "drop-notice",
            Self::RecoveryStarted => "recovery-started",
            Self::RecoveryFinished => "recovery-finished",
            Self::GapUnrecoverable => "gap-unrecoverable",
            Self::CursorReset => "cursor-reset",
            Self::CursorExpired => "cursor-expired",
        }
    }
}

/// Something the tool itself has to say about a stream, for a program (a record) and for a person (stderr).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What kind.
    pub kind: NoticeKind,
    /// One sentence or, for a drop notice, the server's own text.
    pub text: String,
    /// Events announced as discarded.
    pub dropped: Option<u64>,
    /// Events that the recovery delivered.
    pub recovered: Option<u64>,
    /// Events that the recovery removed as delivered before.
    pub removed: Option<u64>,
}

impl Notice {
    /// A notice without figures.
    #[must_use]
    pub fn new(kind: NoticeKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), dropped: None, recovered: None, removed: None }
    }
}
