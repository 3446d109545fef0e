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
