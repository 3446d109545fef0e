//! What a user may choose of the policy.

use std::time::Duration;

use super::drop_notice::DropNotices;
use super::id::EventId;
use super::pointer::Pointer;

/// The ordinary replay window (`--window`).
pub const WINDOW_DEFAULT: Duration = Duration::from_secs(15 * 60);

/// Which command follows the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// `tail`: starts at live.
    Tail,
    /// `resume`: starts at the stored cursor.
    Resume,
}

/// `--on-drop`: what a drop notice leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDrop {
    /// Read again from `lagging`.
    #[default]
    Recover,
    /// Say and count it; nothing freezes.
    Warn,
    /// End, the gap stays open.
    Exit,
}

/// `--on-expired`: what follows when the server no longer has the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExpired {
    /// End.
    #[default]
    Stop,
    /// Go on from live.
    Live,
}

/// `--dedupe`: what makes two deliveries the same event (rule 7).
#[derive(Clone, Debug, Default)]
pub enum Dedupe {
    /// The id in force, the type, the data, and which occurrence of such it is.
    #[default]
    Event,
    /// The event's own id alone.
    Id,
    /// A value in the data; as `Event` where it is absent.
    Value(Pointer),
    /// Nothing is removed.
    None,
}

/// All of the policy's choices.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which command follows the stream.
    pub follow: Follow,
    /// The replay window.
    pub window: Duration,
    /// At most one recovery in this time.
    pub cooldown: Duration,
    /// A recovery that would deliver more events is given up.
    pub max_replay: Option<u64>,
    /// What a drop notice leads to.
    pub on_drop: OnDrop,
    /// What an expired cursor leads to.
    pub on_expired: OnExpired,
    /// An expired cursor is followed by a snapshot of the current state, and live, whatever `on_expired` says.
    pub snapshot: bool,
    /// What makes two deliveries the same.
    pub dedupe: Dedupe,
    /// What counts as a drop notice.
    pub notices: DropNotices,
    /// Event types whose ids never move a cursor and are not in force afterwards.
    pub no_cursor_events: Vec<String>,
    /// Where in the data the id is, if it is there.
    pub id_from: Option<Pointer>,
    /// An ended connection is made again.
    pub reconnect: bool,
    /// The cursor goes into a header field, so that not every id can be sent.
    pub header_cursor: bool,
    /// `--last-event-id`: start after this id, whatever is stored.
    pub start: Option<EventId>,
    /// `--initial id:ID`: start after this id if nothing is stored.
    pub initial: Option<EventId>,
}

impl Options {
    /// The defaults of the command-line for `follow`.
    #[must_use]
    pub fn new(follow: Follow) -> Self {
        Self {
            follow,
            window: WINDOW_DEFAULT,
            cooldown: Duration::from_secs(60),
            max_replay: None,
            on_drop: OnDrop::default(),
            on_expired: OnExpired::default(),
            snapshot: false,
            dedupe: Dedupe::default(),
            notices: DropNotices::new(true, &[]),
            no_cursor_events: Vec::new(),
            id_from: None,
            reconnect: true,
            header_cursor: true,
            start: None,
            initial: None,
        }
    }
}
