//! Which process this is, and whether another one of this host still runs (rule 9).
//!
//! Knows nothing of leases: it answers one question about one process.

use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::{Liveness, Process};

impl Process {
    /// This process.
    #[must_use]
    pub fn current() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            boot: boot(),
            started: stat(pid).map_or(0, |stat| stat.started),
        }
    }
}

/// The processes of this host, asked of the system.
#[derive(Clone, Debug)]
pub struct LocalProcesses {
    here: Process,
}

impl LocalProcesses {
    /// Seen from this process.
    #[must_use]
    pub fn new() -> Self {
        Self { here: Process::current() }
    }
}

impl Default for LocalProcesses {
    fn default() -> Self {
        Self::new()
    }
}

impl Liveness for LocalProcesses {
    /// A process of another host, of another boot or behind another namespace of process ids is never known to be
    /// dead: its lease has to run out.
    fn is_dead(&self, holder: &Process) -> bool {
        if holder.host != self.here.host || holder.boot != self.here.boot {
            return false;
        }
        let Some(pid) = i32::try_from(holder.pid).ok().and_then(Pid::from_raw) else {
            return true;
        };
        if test_kill_process(pid) == Err(Errno::SRCH) {
            return true;
        }
        // Without /proc the pid alone has to do: a later process of the same pid then counts as the holder.
        stat(holder.pid).is_some_and(|stat| stat.ended || (holder.started != 0 && stat.started != holder.started))
    }
}

/// The boot's id, and the namespace in which pids are counted: two containers may share a host name and a kernel.
fn boot() -> String {
    let Ok(boot) = fs::read_to_string("/proc/sys/kernel/random/boot_id") else {
        return String::new();
    };
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), namespace.display()).trim_end().to_owned()
}

struct Stat {
    ended: bool,
    started: u64,
}

fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads a line of `/proc/PID/stat` (proc(5)): the state is field 3, the start time field 22, and field 2 is a name in
/// parentheses that may itself hold blanks and parentheses.
fn parse_stat(line: &str) -> Option<Stat> {
    let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    // A zombie was killed and only waits for its parent to notice.
    let ended = matches!(state, "Z" | "X" | "x");
    Some(Stat { ended, started: fields.nth(18)?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives() {
        let here = Process::current();
        assert_eq!(here.pid, std::process::id());
        assert!(!here.host.is_empty());
        assert!(!LocalProcesses::new().is_dead(&here));
    }

    #[test]
    fn an_ended_child_is_dead_even_before_it_is_waited_for() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let stat = stat(child.id());
        let holder = Process { pid: child.id(), started: stat.map_or(0, |stat| stat.started), ..Process::current() };
        let processes = LocalProcesses::new();
        assert!(!processes.is_dead(&holder));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(processes.is_dead(&holder));
    }

    #[test]
    fn a_later_process_of_the_same_pid_is_another() {
        let here = Process::current();
        if here.started != 0 {
            assert!(LocalProcesses::new().is_dead(&Process { started: here.started + 1, ..here }));
        }
    }

    #[test]
    fn what_cannot_be_seen_from_here_is_not_known_to_be_dead() {
        let gone = Process { pid: i32::MAX as u32, started: 1, ..Process::current() };
        let processes = LocalProcesses::new();
        assert!(processes.is_dead(&gone));
        assert!(!processes.is_dead(&Process { host: "elsewhere".into(), ..gone.clone() }));
        assert!(!processes.is_dead(&Process { boot: "another".into(), ..gone }));
    }

    #[test]
    fn a_name_with_parentheses_is_skipped() {
        let tail = "1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3";
        let stat = parse_stat(&format!("42 (a ) Z (b) S {tail}")).unwrap();
        assert!(!stat.ended);
        assert_eq!(stat.started, 987_654);
        assert!(parse_stat(&format!("42 (cat) Z {tail}")).unwrap().ended);
        assert!(parse_stat("42 (cat").is_none());
    }
}
