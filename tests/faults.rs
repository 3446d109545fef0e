//! Faults of the machine: the right exit code, an explanation, and a plain restart that brings everything.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails where something is not there")]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::log::{Cut, LogEvent, LogServer};
use support::program::{Finished, Place, Running, numbers};

/// Runs the binary where no file may grow beyond `kib`; a write beyond that is an error, not the end of the process.
fn limited(place: &Place, kib: u64, arguments: &[&str]) -> Output {
    limited_command(place, kib, arguments).output().unwrap()
}

fn limited_command(place: &Place, kib: u64, arguments: &[&str]) -> Command {
    // POSIX counts in blocks of 512 bytes, but some shells do not: the limit is read back.
    let script = format!("trap '' XFSZ; ulimit -f {}; test \"$(ulimit -f)\" = {0} && exec \"$0\" \"$@\"", kib * 2);
    wrapped(&["sh", "-c", &script], &place.command(arguments))
}

/// `program` as the last arguments of another command.
fn wrapped(before: &[&str], program: &Command) -> Command {
    let mut command = Command::new(before[0]);
    command.args(&before[1..]).arg(program.get_program()).args(program.get_args());
    command.current_dir(program.get_current_dir().unwrap()).env_clear().stdin(Stdio::null());
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
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

/// Sends events from `first` on, one after the other, until the run ends or has had `most`.
fn feed(server: &LogServer, running: &mut Running, first: u64, most: u64) -> u64 {
    for id in first..first + most {
        server.push(&id.to_string(), "x");
        if !running.reaches_id(&id.to_string()) {
            return id;
        }
    }
    first + most - 1
}

/// A store that fails in mid-run ends a `resume` with 6, which says why; the next one brings everything.
fn assert_ends_a_resume(place: &Place, ended: &Finished, again: &[&str], last: u64) {
    assert_eq!(ended.code, 6, "{}", ended.stderr);
    assert!(ended.stderr.contains("error: cannot ") && ended.stderr.contains("hint: "), "{}", ended.stderr);
    let done = place.run(again);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let mut ids: Vec<u64> = [ended.ids(), done.ids()].concat().iter().map(|id| id.parse().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids, (1..=last).collect::<Vec<_>>());
}

/// The file may be as large as it is; only the write-ahead log grows, with each commit.
const WAL_LIMIT_KIB: u64 = 192;

#[test]
fn a_write_ahead_log_that_finds_no_room_ends_a_resume_and_not_a_tail() {
    for command in ["resume", "tail"] {
        let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
        let url = server.url("/e");
        let arguments = [command, &url, "--stream", "s", "-o", "json"];
        let mut running = place.start_command(limited_command(&place, WAL_LIMIT_KIB, &arguments));
        running.until_id("5");
        let last = feed(&server, &mut running, 6, 300);
        let database = fs::metadata(place.db()).unwrap().len();
        assert!(database < WAL_LIMIT_KIB << 10, "it is the log that is full: {database}");
        if command == "tail" {
            assert_eq!(last, 305, "it goes on in memory");
            running.signal("TERM");
            let ended = running.finish();
            assert_eq!((ended.code, ended.ids()), (143, numbers(1..=305)), "{}", ended.stderr);
            assert!(ended.stderr.contains("in memory"), "{}", ended.stderr);
        } else {
            assert!(last < 305, "it ends");
            let ended = running.finish();
            let until = last.to_string();
            let again = [&arguments[..], &["--until-id", &until]].concat();
            assert_ends_a_resume(&place, &ended, &again, last);
        }
    }
}

#[test]
fn a_disk_that_another_file_fills_in_mid_run_ends_a_resume_and_not_a_tail() {
    for command in ["resume", "tail"] {
        let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
        let Some(small) = Mounted::new(&place, 1_024) else { return };
        let (url, db) = (server.url("/e"), small.0.join("s.db"));
        let arguments = [command, &url, "--stream", "s", "-o", "json", "--db", db.to_str().unwrap()];
        let mut running = place.start(&arguments);
        running.until_id("5");
        // It is written until there is no room at all.
        assert!(fs::write(small.0.join("other"), vec![0; 2 << 20]).is_err());
        let last = feed(&server, &mut running, 6, 300);
        fs::remove_file(small.0.join("other")).unwrap();
        if command == "tail" {
            assert_eq!(last, 305, "it goes on in memory");
            running.signal("TERM");
            let ended = running.finish();
            assert!(ended.code == 143 && ended.stderr.contains("in memory"), "{}", ended.stderr);
        } else {
            let ended = running.finish();
            let until = last.to_string();
            let again = [&arguments[..], &["--until-id", &until]].concat();
            assert_ends_a_resume(&place, &ended, &again, last);
        }
    }
}

/// Garbage over all pages of the database but the first, which holds its header.
fn spoil(db: &Path) {
    const PAGE_BYTES: usize = 4_096;
    let mut bytes = fs::read(db).unwrap();
    assert!(bytes.len() > 2 * PAGE_BYTES, "there is something to spoil");
    bytes[PAGE_BYTES..].fill(0xa5);
    let file = fs::OpenOptions::new().write(true).open(db).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &bytes[PAGE_BYTES..], PAGE_BYTES as u64).unwrap();
}

/// The database as a whole is in its file, and what the other connection remembers of it is out of date.
fn fold_the_log_in(db: &Path) {
    let connection = rusqlite::Connection::open(db).unwrap();
    connection.busy_timeout(support::PATIENCE).unwrap();
    connection.execute_batch("UPDATE cursors SET url = url").unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    // The connection is left open: the last one to be closed would remove the log of the other.
    std::mem::forget(connection);
}

#[test]
fn a_page_that_is_corrupt_at_the_start_is_said_and_the_export_brings_everything_back() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).inclusive().start());
    let url = server.url("/e");
    let arguments = [&["resume", &url, "--stream", "s", "--to", "out.ndjson"][..], &QUICK].concat();
    assert_eq!(place.run(&arguments).code, 0);
    spoil(&place.db());
    server.push("6", "x");
    let refused = place.run(&arguments);
    assert_eq!(refused.code, 6, "{}", refused.stderr);
    assert!(refused.stderr.contains("error: cannot ") && refused.stderr.contains("hint: "), "{}", refused.stderr);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=5));
    let tail = place.run(&["tail", &url, "--stream", "s", "-o", "json", "-n", "6"]);
    assert_eq!((tail.code, tail.ids()), (0, numbers(1..=6)), "{}", tail.stderr);
    assert!(tail.stderr.contains("in memory"), "{}", tail.stderr);
    assert_eq!(place.run(&["checkpoint", "verify"]).code, 6);
    fs::rename(place.db(), place.path("away")).unwrap();
    let done = place.run(&arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=6));
}

#[test]
fn a_page_that_becomes_corrupt_in_mid_run_ends_a_resume_and_costs_its_export_nothing() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=50).inclusive().start());
    let url = server.url("/e");
    let arguments = ["resume", &url, "--stream", "s", "--to", "out.ndjson", "--commit-interval", "10ms"];
    let running = place.start(&arguments);
    server.wait_for_requests(1);
    wait_for_latest(&place, "50");
    fold_the_log_in(&place.db());
    spoil(&place.db());
    server.push("51", "x");
    let ended = running.finish();
    assert_eq!(ended.code, 6, "{}", ended.stderr);
    assert!(ended.stderr.contains("error: cannot ") && ended.stderr.contains("hint: "), "{}", ended.stderr);
    for file in ["ssectl.db", "ssectl.db-wal", "ssectl.db-shm"] {
        let _ = fs::remove_file(place.path(file));
    }
    let done = place.run(&[&arguments[..], &["--until-idle", "300ms"]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=51));
}

#[test]
fn a_page_that_becomes_corrupt_in_mid_run_does_not_end_a_tail() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    let url = server.url("/e");
    let mut running = place.start(&["tail", &url, "--stream", "s", "-o", "json"]);
    running.until_id("5");
    wait_for_latest(&place, "5");
    fold_the_log_in(&place.db());
    spoil(&place.db());
    assert_eq!(feed(&server, &mut running, 6, 5), 10);
    running.signal("TERM");
    let ended = running.finish();
    assert_eq!((ended.code, ended.ids()), (143, numbers(1..=10)), "{}", ended.stderr);
    assert!(ended.stderr.contains("in memory"), "{}", ended.stderr);
}

/// Waits until the store has this as the stream's `latest`.
fn wait_for_latest(place: &Place, id: &str) {
    let deadline = std::time::Instant::now() + support::PATIENCE;
    loop {
        let shown = place.run(&["checkpoint", "show", "s", "-o", "json"]);
        if serde_json::from_str::<Value>(&shown.stdout).is_ok_and(|shown| shown["latest"] == id) {
            return;
        }
        assert!(std::time::Instant::now() < deadline, "`{id}` was never stored: {}", shown.stderr);
    }
}

/// Runs the binary where the kernel answers calls on one file with an error (`strace(1)`, `--inject`). `None` where that
/// cannot be had.
fn with_failing_calls(place: &Place, (inject, file): (&str, &Path), arguments: &[&str]) -> Option<Finished> {
    let tracing = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output();
    if !tracing.is_ok_and(|done| done.status.success()) {
        println!("SKIPPED: this test needs `strace`, and to be allowed to trace");
        return None;
    }
    let (inject, file) = (format!("inject={inject}"), file.to_str().unwrap());
    let before = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", file, "-e", &inject];
    Some(place.start_command(wrapped(&before, &place.command(arguments))).finish())
}

#[test]
fn an_input_output_error_of_the_export_is_an_output_that_failed() {
    for inject in ["write:error=EIO:when=1+", "fdatasync:error=EIO:when=1+"] {
        let (place, server) = (Place::new(), LogServer::builder().events(1..=20).start());
        let (url, file) = (server.url("/e"), place.path("out.ndjson"));
        let arguments = [&["resume", &url, "--stream", "s", "--to", "out.ndjson"][..], &QUICK].concat();
        fs::write(&file, "").unwrap();
        let Some(failed) = with_failing_calls(&place, (inject, &file), &arguments) else { return };
        assert_eq!(failed.code, 7, "{inject}: {}", failed.stderr);
        assert!(failed.stderr.starts_with("error: cannot write the output"), "{}", failed.stderr);
        assert!(failed.stderr.contains("os error 5") && failed.stderr.contains("hint: "), "{}", failed.stderr);
        let done = place.run(&arguments);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_eq!(ids(&file), numbers(1..=20));
    }
}

/// What is open for writing keeps a mount from becoming read-only, unless the file system itself gives up.
#[test]
fn a_store_that_fails_or_becomes_read_only_in_mid_run_ends_a_resume_and_not_a_tail() {
    for error in ["EIO", "EROFS"] {
        for command in ["resume", "tail"] {
            let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
            let (url, wal) = (server.url("/e"), place.path("ssectl.db-wal"));
            let arguments = [command, &url, "--stream", "s", "-o", "json"];
            assert_eq!(place.run(&[&arguments[..], &["--until-id", "5"]].concat()).code, 0);
            for id in 6..=25 {
                server.push(&id.to_string(), "x");
            }
            server.set_cut(Some((2, Cut::Clean)));
            let run = [&arguments[..], &["--until-id", "25", "--retry-initial", "1ms"]].concat();
            let inject = format!("pwrite64:error={error}:when=12+");
            let Some(ended) = with_failing_calls(&place, (&inject, &wal), &run) else { return };
            server.set_cut(None);
            if command == "tail" {
                assert_eq!(ended.code, 0, "{}", ended.stderr);
                assert!(ended.stderr.contains("in memory"), "{}", ended.stderr);
                continue;
            }
            assert_eq!(ended.code, 6, "{}", ended.stderr);
            assert!(ended.stderr.contains("error: cannot ") && ended.stderr.contains("hint: "), "{}", ended.stderr);
            let done = place.run(&[&arguments[..], &["--until-id", "25"]].concat());
            assert_eq!(done.code, 0, "{}", done.stderr);
            let mut ids: Vec<u64> = [ended.ids(), done.ids()].concat().iter().map(|id| id.parse().unwrap()).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids, (6..=25).collect::<Vec<_>>());
        }
    }
}

/// A disk that is mounted anew for reading alone while it is written to: Linux refuses that, and nothing happens.
#[test]
fn a_mount_cannot_become_read_only_under_a_run() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    let Some(small) = Mounted::new(&place, 16_384) else { return };
    let (url, db) = (server.url("/e"), small.0.join("s.db"));
    let mut running = place.start(&["resume", &url, "--stream", "s", "-o", "json", "--db", db.to_str().unwrap()]);
    running.until_id("5");
    let done = Command::new("mount").args(["-o", "remount,ro"]).arg(&small.0).output().unwrap();
    assert!(!done.status.success(), "it is busy");
    assert_eq!(feed(&server, &mut running, 6, 5), 10);
    running.signal("TERM");
    assert_eq!(running.finish().code, 143);
}
