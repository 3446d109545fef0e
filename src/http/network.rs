//! The thread that the network is read on.
//!
//! Sockets, TLS and HTTP take about as long as all that is done with what they bring, so they have a thread of their own,
//! one for the process, with a runtime of one thread: a runtime of several would cost microseconds for each chunk.

use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::OnceLock;
use std::task::{Context, Poll};

use tokio::runtime::{Builder, Handle};
use tokio::task::{JoinError, JoinHandle};

/// Work on the network's thread. Dropping it ends the work.
#[derive(Debug)]
pub(super) struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        pin!(&mut self.0).poll(context)
    }
}

/// Does `work` on the network's thread.
pub(super) fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Task<T> {
    Task(handle().spawn(work))
}

/// The network's runtime. Where no thread can be had, it is that of whoever asks.
fn handle() -> Handle {
    static NETWORK: OnceLock<Option<Handle>> = OnceLock::new();
    NETWORK.get_or_init(start).clone().unwrap_or_else(Handle::current)
}

fn start() -> Option<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build().ok()?;
    let handle = runtime.handle().clone();
    let thread = std::thread::Builder::new().name("network".to_owned());
    thread.spawn(move || runtime.block_on(pending::<()>())).ok()?;
    Some(handle)
}
