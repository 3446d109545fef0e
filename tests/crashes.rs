//! Processes that are killed or stopped at any moment: what a reader of the pipe gets, and who may move the cursor.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails where something is not there")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::log::{Cut, LogServer};
use support::program::{Place, Running, numbers, read_all};

/// A number that looks random, from a seed that is printed.
struct Random(u64);

impl Random {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|number| number.parse().ok())
}

/// The ids of the whole lines; what a kill cut off is not a record.
fn whole_ids(text: &str) -> Vec<u64> {
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().parse().unwrap();
    whole.lines().map(id).collect()
}

#[test]
fn kills_at_any_moment_leave_no_hole_in_what_a_pipe_was_given() {
    let seed = number_from("SSECTL_KILL_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    let more = number_from("SSECTL_KILLS_TIMES").unwrap_or(1);
    println!("SSECTL_KILL_SEED={seed}");
    let mut random = Random(seed);
    let (mut events, mut kills) = (0, 0);
    for drops in [false, true] {
        events += kill_pipes(15 * more, drops, &mut random, seed);
        kills += 15 * more;
    }
    println!("{kills} kills, {events} events, lost 0");
}

/// Kills again and again; how many events the server had.
fn kill_pipes(kills: u64, drops: bool, random: &mut Random, seed: u64) -> u64 {
    let place = Place::new();
    let server = LogServer::builder().events(1..=20).cut_after(40, Cut::MidEvent).start();
    let url = server.url("/e");
    let arguments = ["resume", &url, "--stream", "s", "-o", "json", "--drop-cooldown", "0s", "--retry-initial", "1ms"];
    let (mut last, mut got) = (20, BTreeSet::new());
    for _ in 0..kills {
        let mut command = place.command(&arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let reader = read_all(child.stdout.take().unwrap());
        let end = Instant::now() + Duration::from_micros(random.below(80_000));
        while Instant::now() < end {
            push_some(&server, &mut last, drops, random);
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        got.extend(whole_ids(&reader.join().unwrap()));
    }
    server.set_cut(None);
    let done = place.run(&[&arguments[..], &["--until-idle", "1.2s"]].concat());
    let expected: &[i32] = if drops { &[0, 5] } else { &[0] };
    assert!(expected.contains(&done.code), "seed {seed}, drops {drops}: {}", done.stderr);
    got.extend(whole_ids(&done.stdout));
    let missing: Vec<u64> = (1..=last).filter(|id| !got.contains(id)).collect();
    assert_eq!(missing, Vec::<u64>::new(), "seed {seed}, drops {drops}, of {last} events: {}", done.stderr);
    last
}

fn push_some(server: &LogServer, last: &mut u64, drops: bool, random: &mut Random) {
    for _ in 0..random.below(6) {
        *last += 1;
        server.push(&last.to_string(), &format!("data {last}"));
    }
    if drops && random.below(4) == 0 {
        let dropped = 1 + random.below(4);
        for _ in 0..dropped {
            *last += 1;
            server.push_dropped(&last.to_string(), "dropped");
        }
        server.comment(&format!("you are reading too slowly, dropped {dropped} messages"));
    }
}

/// Stops a process and moves the end of every lease into the past, as if the time of one had gone by. A process that is
/// stopped in the middle of a commit holds the database, so it is let go on until it is stopped outside of one.
fn stop_beyond_the_lease(place: &Place, process: &Running) {
    let database = rusqlite::Connection::open(place.db()).unwrap();
    database.busy_timeout(Duration::ZERO).unwrap();
    let deadline = Instant::now() + support::PATIENCE;
    loop {
        process.signal("STOP");
        if database.execute("UPDATE leases SET expires_at = 0", []).is_ok() {
            return;
        }
        process.signal("CONT");
        assert!(Instant::now() < deadline, "it commits for ever");
    }
}

#[test]
fn a_process_that_was_stopped_for_longer_than_its_lease_moves_no_cursor() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=10).start());
    let url = server.url("/e");
    let arguments = ["resume", &url, "--stream", "s", "-o", "json"];
    let mut stopped = place.start(&arguments);
    stopped.until_id("10");
    stop_beyond_the_lease(&place, &stopped);
    for id in 11..=13 {
        server.push(&id.to_string(), "x");
    }
    let taker = place.run(&[&arguments[..], &["--until-id", "12"]].concat());
    assert_eq!(taker.code, 0, "{}", taker.stderr);
    assert_eq!(taker.ids().last().unwrap(), "12");
    let before = place.show("s");
    stopped.signal("CONT");
    let done = stopped.finish();
    assert_eq!(done.code, 6, "{}", done.stderr);
    assert!(done.stderr.contains("error: cannot "), "{}", done.stderr);
    assert_eq!(place.show("s"), before, "whoever was fenced off changes nothing");
    let rest = place.run(&[&arguments[..], &["--until-id", "13"]].concat());
    assert_eq!((rest.code, rest.ids()), (0, numbers(13..=13)), "{}", rest.stderr);
}

fn ids(file: &Path) -> Vec<String> {
    whole_ids(&fs::read_to_string(file).unwrap()).iter().map(ToString::to_string).collect()
}

#[test]
fn an_export_of_a_stopped_process_is_held_by_its_lock() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=10).start());
    let url = server.url("/e");
    let arguments = ["resume", &url, "--stream", "s", "--to", "out.ndjson", "--commit-interval", "1ms"];
    let stopped = place.start(&arguments);
    let deadline = Instant::now() + support::PATIENCE;
    while fs::read_to_string(place.path("out.ndjson")).map_or(0, |text| text.lines().count()) < 10 {
        assert!(Instant::now() < deadline, "the export is written");
        std::thread::yield_now();
    }
    stop_beyond_the_lease(&place, &stopped);
    server.push("11", "x");
    let written = fs::read(place.path("out.ndjson")).unwrap();
    let taker = place.run(&[&arguments[..], &["--until-id", "11"]].concat());
    assert_eq!(taker.code, 6, "{}", taker.stderr);
    assert!(taker.stderr.contains("out.ndjson"), "{}", taker.stderr);
    assert_eq!(fs::read(place.path("out.ndjson")).unwrap(), written, "nobody else writes to it");
    stopped.signal("CONT");
    stopped.signal("TERM");
    let ended = stopped.finish();
    assert!([143, 6].contains(&ended.code), "{}", ended.stderr);
    let done = place.run(&[&arguments[..], &["--until-id", "11"]].concat());
    assert!(done.code == 0, "{}", done.stderr);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=11));
}
