//! Where a bounded run ends, and the signal that ends all streams of a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;

/// The ends that a user may ask for.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Events that may still be written, over all streams of the process.
    pub count: Option<Arc<AtomicU64>>,
    /// How long the run may take.
    pub time: Option<Duration>,
    /// The id after which it ends.
    pub until_id: Option<String>,
    /// The data after which it ends.
    pub until_data: Option<String>,
    /// How long nothing may come while connected.
    pub until_idle: Option<Duration>,
}

impl Bounds {
    /// A bounded run: one that is to end by itself.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.count.is_some()
            || self.time.is_some()
            || self.until_id.is_some()
            || self.until_data.is_some()
            || self.until_idle.is_some()
    }

    /// No event may be written any more.
    pub(super) fn count_is_used_up(&self) -> bool {
        self.count.as_ref().is_some_and(|count| count.load(Ordering::Relaxed) == 0)
    }

    /// One event was written.
    pub(super) fn count_down(&self) {
        if let Some(count) = &self.count {
            // Streams share a thread, so nothing comes between the test above and this.
            count.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// What ends every stream of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shutdown {
    /// Nothing yet.
    #[default]
    No,
    /// A signal came.
    Signal(i32),
    /// The count of a bounded run is used up.
    Count,
}

/// Both ends of the shutdown: every driver listens, and may ask for it.
#[derive(Clone, Debug)]
pub struct ShutdownHandle {
    sender: Arc<watch::Sender<Shutdown>>,
    receiver: watch::Receiver<Shutdown>,
}

impl Default for ShutdownHandle {
    fn default() -> Self {
        let (sender, receiver) = watch::channel(Shutdown::No);
        Self { sender: Arc::new(sender), receiver }
    }
}

impl ShutdownHandle {
    /// Asks all to end. The first reason stays, except that a signal hurries what ends already.
    pub fn ask(&self, reason: Shutdown) {
        self.sender.send_if_modified(|current| {
            let counts = match reason {
                Shutdown::Signal(_) => !matches!(current, Shutdown::Signal(_)),
                Shutdown::Count | Shutdown::No => *current == Shutdown::No,
            };
            if counts {
                *current = reason;
            }
            counts
        });
    }

    /// Ends with the number of the signal when one has come. Cancel-safe.
    pub async fn signalled(&self) -> i32 {
        let mut receiver = self.receiver.clone();
        match receiver.wait_for(|reason| matches!(reason, Shutdown::Signal(_))).await.map(|reason| *reason) {
            Ok(Shutdown::Signal(number)) => number,
            // The sender is kept by this very handle, so waiting cannot fail.
            _ => std::future::pending().await,
        }
    }

    /// Ends when it was asked for. Cancel-safe.
    pub async fn asked(&self) -> Shutdown {
        let mut receiver = self.receiver.clone();
        // The sender is kept by this very handle, so waiting cannot fail.
        let asked = receiver.wait_for(|reason| *reason != Shutdown::No).await;
        asked.map_or(Shutdown::No, |reason| *reason)
    }
}
