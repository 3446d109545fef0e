//! `resume --to FILE`: every event once, in order, whole lines only, whatever happens to the process.

#![expect(clippy::unwrap_used, reason = "a test fails where something is not there")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use support::log::{Cut, LogServer};
use support::program::{Finished, Place, numbers};

const QUICK: [&str; 6] = ["--retry-initial", "10ms", "--commit-interval", "20ms", "--until-idle", "300ms"];

fn ids(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "whole lines only");
    let record = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    text.lines().map(|line| record(line)["id"].as_str().unwrap().to_owned()).collect()
}

fn resume(place: &Place, server: &LogServer, more: &[&str]) -> Finished {
    let url = server.url("/e");
    let arguments = ["resume", &url, "--stream", "s", "--to", "out.ndjson"];
    place.run(&[&arguments[..], &QUICK, more].concat())
}

#[test]
fn an_export_is_gone_on_with_after_its_last_record() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    let done = resume(&place, &server, &[]);
    assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{}", done.stderr);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=5));
    for id in 6..=9 {
        server.push(&id.to_string(), "x");
    }
    assert_eq!(resume(&place, &server, &[]).code, 0);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=9));
    assert_eq!(place.show("s")["latest"], "9");
}

#[test]
fn bytes_past_the_committed_length_are_cut_off() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    resume(&place, &server, &[]);
    let file = place.path("out.ndjson");
    let mut text = fs::read_to_string(&file).unwrap();
    text.push_str("{\"kind\":\"event\",\"stream\":\"s\",\"id\":\"6\",\"ev");
    fs::write(&file, text).unwrap();
    server.push("6", "x");
    assert_eq!(resume(&place, &server, &[]).code, 0);
    assert_eq!(ids(&file), numbers(1..=6));
}

#[test]
fn a_missing_or_empty_file_is_begun_anew_from_the_cursor() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    resume(&place, &server, &[]);
    fs::remove_file(place.path("out.ndjson")).unwrap();
    server.push("6", "x");
    assert_eq!(resume(&place, &server, &[]).code, 0);
    assert_eq!(ids(&place.path("out.ndjson")), ["6"]);
}

#[test]
fn a_file_that_is_not_as_it_was_left_is_refused_and_untouched() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    resume(&place, &server, &[]);
    let file = place.path("out.ndjson");
    let whole = fs::read_to_string(&file).unwrap();
    for changed in [&whole[..whole.len() - 20], &whole.replace("data 5", "DATA 5")] {
        fs::write(&file, changed).unwrap();
        let done = resume(&place, &server, &[]);
        assert_eq!(done.code, 6, "{}", done.stderr);
        assert!(done.stderr.contains("hint: it was left as it is"), "{}", done.stderr);
        assert_eq!(fs::read_to_string(&file).unwrap(), changed);
    }
}

#[test]
fn a_file_without_which_somebody_read_on_is_refused() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    resume(&place, &server, &[]);
    server.push("6", "x");
    let url = server.url("/e");
    assert_eq!(place.run(&["resume", &url, "--stream", "s", "-n", "1"]).ids(), ["6"]);
    let done = resume(&place, &server, &[]);
    assert_eq!(done.code, 6);
    assert!(done.stderr.contains("somebody read the stream on without it"), "{}", done.stderr);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=5));
}

#[test]
fn after_a_reset_a_file_with_records_is_refused_until_it_is_moved_away() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    resume(&place, &server, &[]);
    assert_eq!(place.run(&["checkpoint", "reset", "s"]).code, 0);
    assert_eq!(resume(&place, &server, &[]).code, 6);
    fs::rename(place.path("out.ndjson"), place.path("away")).unwrap();
    assert_eq!(resume(&place, &server, &[]).code, 0);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=5));
}

#[test]
fn last_event_id_and_a_file_with_records_exclude_each_other() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    resume(&place, &server, &[]);
    let done = resume(&place, &server, &["--last-event-id", "2"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=5));
}

#[test]
fn a_lost_database_gets_its_cursor_and_keys_back_from_the_file() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).inclusive().start());
    resume(&place, &server, &[]);
    for file in ["ssectl.db", "ssectl.db-wal", "ssectl.db-shm"] {
        let _ = fs::remove_file(place.path(file));
    }
    server.push("6", "x");
    let done = resume(&place, &server, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=6), "an inclusive server repeats 5, which is known");
    assert_eq!(server.wait_for_requests(2)[1].last_event_id().as_deref(), Some("5"));
    assert_eq!(place.show("s")["latest"], "6");
}

#[test]
fn a_file_is_held_by_one_process() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    let url = server.url("/e");
    let running = place.start(&["resume", &url, "--stream", "s", "--to", "out.ndjson"]);
    server.wait_for_requests(1);
    server.wait_until_caught_up(0);
    let other = place.run(&["resume", &url, "--stream", "other", "--to", "out.ndjson", "--until-idle", "0.1s"]);
    assert_eq!(other.code, 6);
    assert!(other.stderr.contains("another process writes to it"), "{}", other.stderr);
    running.signal("TERM");
    assert_eq!(running.finish().code, 143);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=5));
}

#[test]
fn verify_looks_at_exports_too() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    resume(&place, &server, &[]);
    assert_eq!(place.run(&["checkpoint", "verify"]).code, 0);
    fs::write(place.path("out.ndjson"), "short").unwrap();
    let found = place.run(&["checkpoint", "verify"]);
    assert_eq!(found.code, 6);
    assert!(found.stdout.contains("it is shorter than what was committed: 5 bytes of"), "{}", found.stdout);
}

#[test]
fn what_is_no_file_is_refused() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    let url = server.url("/e");
    for target in [".", "/dev/null", "missing/out.ndjson"] {
        let done = place.run(&["resume", &url, "--stream", "s", "--to", target, "--until-idle", "0.1s"]);
        assert_eq!(done.code, 6, "{target}: {}", done.stderr);
        assert!(done.stderr.starts_with("error: cannot go on with the export"), "{}", done.stderr);
    }
}

#[test]
fn several_streams_have_a_file_each() {
    let place = Place::new();
    let one = LogServer::builder().events(1..=5).start();
    let two = LogServer::builder().events(1..=3).start();
    let (one, two) = (one.url("/one"), two.url("/two"));
    let done = place.run(&[&["resume", &one, &two, "--to", "{stream}.ndjson"][..], &QUICK].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let mut lengths: Vec<usize> = fs::read_dir(place.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ndjson"))
        .map(|path| ids(&path).len())
        .collect();
    lengths.sort_unstable();
    assert_eq!(lengths, [3, 5]);
}

#[test]
fn a_recovery_goes_into_the_file_too() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=100).start());
    let url = server.url("/e");
    let arguments = ["resume", &url, "--stream", "s", "--to", "out.ndjson"];
    let running = place.start(&[&arguments[..], &QUICK[..4], &["--until-id", "200"]].concat());
    server.wait_for_requests(1);
    server.wait_until_caught_up(0);
    for id in 101..=140 {
        server.push_dropped(&id.to_string(), "x");
    }
    server.comment("you are reading too slowly, dropped 40 messages");
    for id in 141..=200 {
        server.push(&id.to_string(), "x");
    }
    let done = running.finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=200));
    assert_eq!(place.run(&["checkpoint", "verify"]).code, 0);
}

/// A number that looks random, from a seed that is printed.
struct Random(u64);

impl Random {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Kills in an ordinary run.
const KILLS: u64 = 50;

#[test]
fn kills_at_any_moment_lose_nothing_and_repeat_nothing() {
    let seed = std::env::var("SSECTL_KILL_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("SSECTL_KILL_SEED={seed}");
    let mut random = Random(seed);
    let place = Place::new();
    let server = LogServer::builder().events(1..=20).cut_after(40, Cut::MidEvent).start();
    let url = server.url("/e");
    let arguments = ["resume", &url, "--stream", "s", "--to", "out.ndjson", "--drop-cooldown", "0s"];
    let mut id = 20;
    for _ in 0..KILLS {
        let mut command =
            place.command(&[&arguments[..], &["--retry-initial", "1ms", "--commit-interval", "3ms"]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let life = Duration::from_micros(random.below(60_000));
        let end = std::time::Instant::now() + life;
        while std::time::Instant::now() < end {
            for _ in 0..random.below(6) {
                id += 1;
                server.push(&id.to_string(), &format!("data {id}"));
            }
            if random.below(4) == 0 {
                let dropped = 1 + random.below(4);
                for _ in 0..dropped {
                    id += 1;
                    server.push_dropped(&id.to_string(), "dropped");
                }
                server.comment(&format!("you are reading too slowly, dropped {dropped} messages"));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    server.set_cut(None);
    let done = place.run(&[&arguments[..], &["--retry-initial", "1ms", "--until-idle", "1.5s"]].concat());
    assert!([0, 5].contains(&done.code), "seed {seed}: {}", done.stderr);
    let mut got = ids(&place.path("out.ndjson"));
    let count = got.len();
    got.sort_by_key(|id| id.parse::<u64>().unwrap());
    got.dedup();
    assert_eq!(got.len(), count, "seed {seed}: an event is there twice");
    assert_eq!(got, numbers(1..=id), "seed {seed}: events are lost");
    println!("{KILLS} kills, {count} events, lost 0, duplicates 0");
    assert_eq!(place.run(&["checkpoint", "verify"]).code, 0, "seed {seed}");
}
