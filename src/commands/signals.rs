//! SIGINT and SIGTERM end a run in order; a second SIGINT ends it at once.

use tokio::signal::unix::{SignalKind, signal};

use crate::driver::{Shutdown, ShutdownHandle};
use crate::error::{Exit, Failure};
use crate::output::export::Reopen;

/// The numbers of the two signals (POSIX).
const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;

/// Listens from now on, until the runtime ends.
///
/// # Errors
/// The system gives no signal handler.
pub(super) fn listen(shutdown: ShutdownHandle) -> Result<(), Failure> {
    let refused = |error: std::io::Error| Failure::new(Exit::Failure, "listen for signals").cause(error.to_string());
    let mut interrupts = signal(SignalKind::interrupt()).map_err(refused)?;
    let mut terminations = signal(SignalKind::terminate()).map_err(refused)?;
    tokio::task::spawn_local(async move {
        let mut interrupted = false;
        loop {
            tokio::select! {
                _ = interrupts.recv() => {
                    if interrupted {
                        std::process::exit(i32::from(Exit::Interrupted.code()));
                    }
                    interrupted = true;
                    shutdown.ask(Shutdown::Signal(SIGINT));
                }
                _ = terminations.recv() => shutdown.ask(Shutdown::Signal(SIGTERM)),
            }
        }
    });
    Ok(())
}

/// SIGHUP opens exports anew, as log rotation wants it.
///
/// # Errors
/// The system gives no signal handler.
pub(super) fn reopen_on_hangup(reopen: Reopen) -> Result<(), Failure> {
    let mut hangups = signal(SignalKind::hangup())
        .map_err(|error| Failure::new(Exit::Failure, "listen for signals").cause(error.to_string()))?;
    tokio::task::spawn_local(async move {
        while hangups.recv().await.is_some() {
            reopen.ask();
        }
    });
    Ok(())
}
