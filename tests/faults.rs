//! Faults of the machine: the right exit code, an explanation, and a plain restart that brings everything.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails where something is not there")]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use support::log::{LogEvent, LogServer};
use support::program::{Place, numbers};

/// Runs the binary where no file may grow beyond `kib`; a write beyond that is an error, not the end of the process.
fn limited(place: &Place, kib: u64, arguments: &[&str]) -> Output {
    let program = place.command(arguments);
    let mut command = Command::new("sh");
    // POSIX counts in blocks of 512 bytes, but some shells do not: the limit is read back.
    command
        .arg("-c")
        .arg(format!("trap '' XFSZ; ulimit -f {}; test \"$(ulimit -f)\" = {0} && exec \"$0\" \"$@\"", kib * 2));
    command.arg(program.get_program()).args(program.get_args());
    command.current_dir(program.get_current_dir().unwrap()).env_clear();
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.output().unwrap()
}

fn ids(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
    text.lines().map(id).collect()
}

fn wide(events: u64) -> LogServer {
    let mut builder = LogServer::builder();
    for id in 1..=events {
        builder = builder.event(LogEvent::new(id.to_string(), "x".repeat(1_000)));
    }
    builder.start()
}

const QUICK: [&str; 4] = ["--until-idle", "300ms", "--commit-interval", "10ms"];

#[test]
fn an_export_that_finds_no_room_is_gone_on_with_when_there_is_some() {
    let (place, server) = (Place::new(), wide(2_500));
    let url = server.url("/e");
    let arguments = [&["resume", &url, "--stream", "s", "--to", "out.ndjson"][..], &QUICK].concat();
    let full = limited(&place, 1_024, &arguments);
    let stderr = String::from_utf8_lossy(&full.stderr);
    assert_eq!(full.status.code(), Some(7), "{stderr}");
    assert!(stderr.starts_with("error: cannot write the output"), "{stderr}");
    let done = place.run(&arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=2_500));
}

#[test]
fn a_database_that_finds_no_room_ends_a_resume_and_not_a_tail() {
    let (place, server) = (Place::new(), wide(20));
    let url = server.url("/e");
    let resume = limited(&place, 8, &["resume", &url, "--stream", "s", "-o", "json", "--until-idle", "300ms"]);
    let stderr = String::from_utf8_lossy(&resume.stderr);
    assert_eq!(resume.status.code(), Some(6), "{stderr}");
    assert!(stderr.contains("error: cannot "), "{stderr}");
    let tail = limited(&place, 8, &["tail", &url, "--stream", "s", "-o", "data", "-n", "20"]);
    let stderr = String::from_utf8_lossy(&tail.stderr);
    assert_eq!(tail.status.code(), Some(0), "{stderr}");
    assert_eq!(tail.stdout.len(), 20 * 1_001);
    assert!(stderr.contains("in memory"), "{stderr}");
    let done = place.run(&["resume", &url, "--stream", "s", "-o", "json", "--until-idle", "300ms"]);
    assert_eq!((done.code, done.ids()), (0, numbers(1..=20)), "{}", done.stderr);
}

#[test]
fn a_database_that_is_deleted_in_mid_run_costs_an_export_nothing() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=50).inclusive().start());
    let url = server.url("/e");
    let arguments = ["resume", &url, "--stream", "s", "--to", "out.ndjson", "--commit-interval", "10ms"];
    let running = place.start(&arguments);
    server.wait_for_requests(1);
    server.wait_until_caught_up(0);
    for file in ["ssectl.db", "ssectl.db-wal", "ssectl.db-shm"] {
        let _ = fs::remove_file(place.path(file));
    }
    for id in 51..=60 {
        server.push(&id.to_string(), "x");
    }
    server.wait_until_caught_up(0);
    running.signal("TERM");
    let ended = running.finish();
    assert!([143, 6].contains(&ended.code), "{}", ended.stderr);
    let done = place.run(&[&arguments[..], &["--until-idle", "300ms"]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=60));
}

/// A file system of `kib` in memory, for as long as this lives; `None` where one may not be mounted.
struct Mounted(std::path::PathBuf);

impl Mounted {
    fn new(place: &Place, kib: u64) -> Option<Self> {
        let folder = place.path("small");
        fs::create_dir(&folder).unwrap();
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={kib}k"), "none"]).arg(&folder);
        if command.output().is_ok_and(|done| done.status.success()) {
            return Some(Self(folder));
        }
        println!("SKIPPED: this test needs to mount a file system");
        None
    }

    fn remount(&self, mode: &str) {
        let mut command = Command::new("mount");
        let done = command.args(["-o", &format!("remount,{mode}")]).arg(&self.0).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_for_database_and_export_costs_nothing() {
    let (place, server) = (Place::new(), wide(1_500));
    let Some(small) = Mounted::new(&place, 1_024) else { return };
    let (url, file) = (server.url("/e"), small.0.join("out.ndjson"));
    let db = small.0.join("s.db");
    let (to, db) = (file.to_str().unwrap(), db.to_str().unwrap());
    let arguments = [&["resume", &url, "--stream", "s", "--to", to, "--db", db][..], &QUICK].concat();
    let full = place.run(&arguments);
    assert!([6, 7].contains(&full.code), "{}", full.stderr);
    assert!(full.stderr.starts_with("error: cannot "), "{}", full.stderr);
    let done = Command::new("mount").args(["-o", "remount,size=65536k"]).arg(&small.0).status().unwrap();
    assert!(done.success());
    let done = place.run(&arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(ids(&file), numbers(1..=1_500));
}

#[test]
fn a_database_that_becomes_read_only_ends_a_resume_and_not_a_tail() {
    for (command, code) in [("resume", 6), ("tail", 0)] {
        let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
        let Some(small) = Mounted::new(&place, 16_384) else { return };
        let (url, db) = (server.url("/e"), small.0.join("s.db"));
        let arguments = [command, &url, "--stream", "s", "-o", "json", "--db", db.to_str().unwrap()];
        // What is open for writing keeps a mount from becoming read-only: the database is closed by the first run.
        assert_eq!(place.run(&[&arguments[..], &["--until-id", "5"]].concat()).code, 0);
        small.remount("ro");
        server.push("6", "x");
        let done = place.run(&[&arguments[..], &["--until-id", "6"]].concat());
        assert_eq!(done.code, code, "{}", done.stderr);
        let begins = if code == 6 { "error: cannot " } else { "note:" };
        assert!(done.stderr.contains(begins), "{}", done.stderr);
        small.remount("rw");
        let resume = [&["resume"], &arguments[1..], &["--until-id", "6"]].concat();
        let done = place.run(&resume);
        assert_eq!((done.code, done.ids().last().map(String::as_str)), (0, Some("6")), "{}", done.stderr);
    }
}

#[test]
fn a_database_that_another_program_locks_ends_a_resume_and_not_a_tail() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    let url = server.url("/e");
    let arguments = |command, until| [command, url.as_str(), "--stream", "s", "-o", "json", "--until-id", until];
    let (mut resume, other) = (place.start(&arguments("resume", "6")), Place::new());
    let mut tail = other.start(&arguments("tail", "6"));
    resume.until_id("5");
    tail.until_id("5");
    let lock = |place: &Place| {
        let connection = rusqlite::Connection::open(place.db()).unwrap();
        connection.busy_timeout(support::PATIENCE).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        connection
    };
    let locks = (lock(&place), lock(&other));
    server.push("6", "x");
    let (resume, tail) = (resume.finish(), tail.finish());
    assert_eq!(resume.code, 6, "{}", resume.stderr);
    assert!(resume.stderr.contains("locked"), "{}", resume.stderr);
    assert_eq!((tail.code, tail.ids()), (0, numbers(1..=6)), "{}", tail.stderr);
    drop(locks);
    // The lease of the run that could not give it back has its process, which is gone.
    let done = place.run(&arguments("resume", "6"));
    assert_eq!((done.code, done.ids().last().map(String::as_str)), (0, Some("6")), "{}", done.stderr);
}

#[test]
fn a_pipe_that_nobody_reads_holds_up_nothing_but_the_cursor() {
    let (place, server) = (Place::new(), wide(2_000));
    let url = server.url("/e");
    let arguments = ["resume", &url, "--stream", "s", "-o", "json"];
    let (running, stdout) = place.start_unread(&arguments);
    server.wait_for_requests(1);
    running.signal("TERM");
    let ended = running.finish();
    assert_eq!(ended.code, 143, "{}", ended.stderr);
    let given = support::program::read_all(stdout).join().unwrap();
    let whole = given.rfind('\n').map_or("", |end| &given[..=end]);
    let done = place.run(&[&arguments[..], &["--until-id", "2000"]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let file = place.path("given");
    fs::write(&file, format!("{whole}{}", done.stdout)).unwrap();
    let mut got: Vec<u64> = ids(&file).iter().map(|id| id.parse().unwrap()).collect();
    got.sort_unstable();
    got.dedup();
    assert_eq!(got, (1..=2_000).collect::<Vec<_>>());
}
