//! One program, run once: how long it took and how much memory it held at most.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often a program's memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What a run took.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// From start to end.
    pub time: Duration,
    /// The largest resident size that was seen, in KiB (`VmHWM`).
    pub memory_kib: u64,
}

/// Runs `command` to its end with its output thrown away.
pub fn once(mut command: Command) -> Taken {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    let status_file = format!("/proc/{}/status", child.id());
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut highest = 0;
            while !ended.load(Ordering::Relaxed) {
                highest = highest.max(memory_kib(Path::new(&status_file)));
                thread::sleep(LOOK_EVERY);
            }
            highest
        });
        let status = child.wait().expect("it is a child");
        let time = start.elapsed();
        ended.store(true, Ordering::Relaxed);
        assert!(status.success(), "{command:?} ended with {status}");
        Taken { time, memory_kib: watcher.join().expect("it does not panic") }
    })
}

fn memory_kib(status: &Path) -> u64 {
    let text = std::fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}
