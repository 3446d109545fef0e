//! SIGINT and SIGTERM end a run in order; a second SIGINT ends it at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

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
    let ignored = ignored_signals();
    let heard = |kind: SignalKind, number: i32| -> Result<Option<Signal>, Failure> {
        if ignored & (1 << (number - 1)) != 0 { Ok(None) } else { signal(kind).map(Some).map_err(refused) }
    };
    let mut interrupts = heard(SignalKind::interrupt(), SIGINT)?;
    let mut terminations = heard(SignalKind::terminate(), SIGTERM)?;
    tokio::task::spawn_local(async move {
        let mut interrupted = false;
        loop {
            tokio::select! {
                () = next(&mut interrupts) => {
                    if interrupted {
                        std::process::exit(i32::from(Exit::Interrupted.code()));
                    }
                    interrupted = true;
                    shutdown.ask(Shutdown::Signal(SIGINT));
                }
                () = next(&mut terminations) => shutdown.ask(Shutdown::Signal(SIGTERM)),
            }
        }
    });
    Ok(())
}

/// The exit code of a run that was asked to end.
pub(super) fn exit_of(asked: Shutdown) -> Exit {
    match asked {
        Shutdown::Signal(number) => exit_of_signal(number),
        Shutdown::Count | Shutdown::No => Exit::Success,
    }
}

/// The exit code of a run that a signal ended.
pub(super) fn exit_of_signal(number: i32) -> Exit {
    if number == SIGTERM { Exit::Terminated } else { Exit::Interrupted }
}

/// The next signal of a kind; none ever, if the kind is ignored.
async fn next(signal: &mut Option<Signal>) {
    let came = match signal {
        Some(signal) => signal.recv().await.is_some(),
        None => false,
    };
    if !came {
        std::future::pending().await
    }
}

/// The signals that whoever started this process wants to be ignored, a bit each from 1: a shell does so with SIGINT for
/// what it starts in the background (POSIX, 2.11), and `nohup` with SIGHUP. None, where the system does not say.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
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
