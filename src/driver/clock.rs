//! Time for a run: one reading of the wall clock at the start, the monotonic clock from there.

use std::time::{SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

use crate::consumer::time::Timestamp;

/// The clock of one run.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    wall_start: Timestamp,
}

impl Clock {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { start: Instant::now(), wall_start: Self::wall() }
    }

    /// The time of day, for records: follows the system's clock wherever that goes.
    #[must_use]
    pub fn wall() -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    /// Now, for the policy: never goes back.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.wall_start.plus(self.start.elapsed())
    }

    /// When `time` will be.
    #[must_use]
    pub fn instant(&self, time: Timestamp) -> Instant {
        self.start + time.since(self.wall_start)
    }
}
