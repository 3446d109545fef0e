//! `resume --to FILE`: every event once, in order, whole lines only, whatever happens to the process.

#![expect(clippy::unwrap_used, reason = "a test fails where something is not there")]

mod support;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::PATIENCE;
use support::log::{Cut, LogEvent, LogServer};
use support::program::{Finished, Place, numbers};

const QUICK: [&str; 6] = ["--retry-initial", "10ms", "--commit-interval", "20ms", "--until-idle", "300ms"];

fn ids(file: &Path) -> Vec<String> {
    ids_of(&fs::read_to_string(file).unwrap())
}

fn ids_of(text: &str) -> Vec<String> {
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

/// Runs until FILE holds something that no commit covers, and kills it then.
fn kill_before_a_commit(place: &Place, server: &LogServer) {
    let url = server.url("/e");
    let running = place.start(&["resume", &url, "--stream", "s", "--to", "out.ndjson", "--commit-interval", "1h"]);
    wait_for(|| fs::metadata(place.path("out.ndjson")).is_ok_and(|file| file.len() > 0));
    running.kill();
}

/// Waits for a condition that comes about by itself.
fn wait_for(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "it never came");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn killed_before_its_first_commit_it_is_gone_on_with() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    kill_before_a_commit(&place, &server);
    let done = resume(&place, &server, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=5));
}

#[test]
fn killed_after_the_file_was_taken_away_it_goes_on_with_the_new_one() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    resume(&place, &server, &[]);
    fs::rename(place.path("out.ndjson"), place.path("out.1")).unwrap();
    server.push("6", "x");
    kill_before_a_commit(&place, &server);
    let done = resume(&place, &server, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(ids(&place.path("out.1")), numbers(1..=5));
    assert_eq!(ids(&place.path("out.ndjson")), ["6"]);
}

#[test]
fn a_hangup_opens_the_name_anew_though_nothing_comes() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    resume(&place, &server, &[]);
    let url = server.url("/e");
    let to = ["resume", &url, "--stream", "s", "--to", "out.ndjson", "--commit-interval", "1h"];
    let running = place.start(&to);
    server.wait_for_requests(2);
    server.wait_until_caught_up(1);
    fs::rename(place.path("out.ndjson"), place.path("out.1")).unwrap();
    running.signal("HUP");
    wait_for(|| place.path("out.ndjson").exists());
    server.push("6", "x");
    wait_for(|| fs::metadata(place.path("out.ndjson")).is_ok_and(|file| file.len() > 0));
    running.kill();
    server.push("7", "x");
    let done = resume(&place, &server, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(ids(&place.path("out.1")), numbers(1..=5));
    assert_eq!(ids(&place.path("out.ndjson")), numbers(6..=7));
    assert_eq!(place.run(&["checkpoint", "verify"]).code, 0);
}

#[test]
fn an_event_without_an_id_that_was_read_elsewhere_is_a_hole_too() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    resume(&place, &server, &[]);
    server.push_event(LogEvent::new("", "without").without_id());
    let url = server.url("/e");
    let elsewhere = place.run(&["resume", &url, "--stream", "s", "-o", "data", "-n", "1"]);
    assert_eq!(elsewhere.stdout, "without\n");
    assert_eq!(place.show("s")["latest"], "5");
    let done = resume(&place, &server, &[]);
    assert_eq!(done.code, 6, "{}", done.stderr);
    assert!(done.stderr.contains("somebody read the stream on without it"), "{}", done.stderr);
}

#[test]
fn the_file_of_another_stream_gives_no_cursor() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    resume(&place, &server, &[]);
    let url = server.url("/e");
    let done = place.run(&["resume", &url, "--stream", "t", "--to", "out.ndjson", "--until-idle", "0.1s"]);
    assert_eq!(done.code, 6, "{}", done.stderr);
    assert!(done.stderr.contains("is of the stream `s`, not of `t`"), "{}", done.stderr);
    assert_eq!(ids(&place.path("out.ndjson")), numbers(1..=5));
}

fn lose_the_database(place: &Place) {
    for file in ["ssectl.db", "ssectl.db-wal", "ssectl.db-shm"] {
        let _ = fs::remove_file(place.path(file));
    }
}

#[test]
fn a_lost_database_in_mid_recovery_loses_nothing() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=20).start());
    let record = |id: u64, replayed: &str| {
        format!(
            "{{\"kind\":\"event\",\"stream\":\"s\",\"id\":\"{id}\",\"event\":\"message\",\"data\":\"data {id}\",\
             \"time\":\"2026-01-01T00:00:{id:02}.000000Z\"{replayed}}}\n"
        )
    };
    // 6 to 12 were dropped, 13 to 15 came live, and the recovery had got to 7.
    let mut text: String = (1..=5).chain(13..=15).map(|id| record(id, "")).collect();
    text.push_str(&(6..=7).map(|id| record(id, ",\"replayed\":true")).collect::<String>());
    text.push_str("{\"kind\":\"ev");
    fs::write(place.path("out.ndjson"), text).unwrap();
    let done = resume(&place, &server, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let mut got = ids(&place.path("out.ndjson"));
    got.sort_by_key(|id| id.parse::<u64>().unwrap());
    assert_eq!(got, numbers(1..=20));
}

#[test]
fn a_compressed_export_is_one_file_for_the_usual_tools() {
    for ending in ["zst", "gz"] {
        let (place, server) = (Place::new(), LogServer::builder().events(1..=5).inclusive().start());
        let (url, file) = (server.url("/e"), format!("out.ndjson.{ending}"));
        let to = ["resume", &url, "--stream", "s", "--to", &file];
        let arguments = [&to[..], &QUICK].concat();
        assert_eq!(place.run(&arguments).code, 0);
        server.push("6", "x");
        assert_eq!(place.run(&arguments).code, 0);
        assert_eq!(ids_of(&unpacked(&place.path(&file))), numbers(1..=6));
        assert_eq!(place.run(&["checkpoint", "verify"]).code, 0);
        lose_the_database(&place);
        server.push("7", "x");
        let done = place.run(&arguments);
        assert_eq!(done.code, 0, "{ending}: {}", done.stderr);
        assert_eq!(ids_of(&unpacked(&place.path(&file))), numbers(1..=7), "{ending}");
    }
}

#[test]
fn a_rotated_export_has_final_names_for_what_is_finished() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    let url = server.url("/e");
    let to = ["resume", &url, "--stream", "s", "--to", "{stream}-{time}.ndjson", "--rotate", "1h"];
    let arguments = [&to[..], &QUICK].concat();
    assert_eq!(place.run(&arguments).code, 0);
    let (done, parts) = rotated(&place);
    assert_eq!((done.len(), ids(&parts[0])), (0, numbers(1..=5)));
    let running = place.start(&to);
    server.wait_for_requests(2);
    server.wait_until_caught_up(1);
    running.signal("HUP");
    wait_for(|| rotated(&place).0.len() == 1);
    server.push("6", "x");
    wait_for(|| rotated(&place).1.iter().any(|part| fs::metadata(part).is_ok_and(|file| file.len() > 0)));
    running.kill();
    let finished = rotated(&place).0;
    assert_eq!(ids(&finished[0]), numbers(1..=5));
    fs::rename(&finished[0], place.path("picked-up")).unwrap();
    assert_eq!(place.run(&arguments).code, 0);
    let (done, parts) = rotated(&place);
    assert_eq!((done.len(), ids(&parts[0])), (0, vec!["6".to_owned()]));
    assert_eq!(place.run(&["checkpoint", "verify"]).code, 0);
    lose_the_database(&place);
    server.push("7", "x");
    assert_eq!(place.run(&arguments).code, 0);
    assert_eq!(ids(&rotated(&place).1[0]), numbers(6..=7));
}

/// The files of a rotated export: those that are finished, and those that are not.
fn rotated(place: &Place) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let entries = fs::read_dir(place.path(".")).unwrap().map(|entry| entry.unwrap().path());
    let ours = entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("s-"));
    let (mut parts, mut done): (Vec<_>, Vec<_>) =
        ours.partition(|path| path.extension().is_some_and(|extension| extension == "part"));
    done.sort();
    parts.sort();
    (done, parts)
}

fn unpacked(file: &Path) -> String {
    let bytes = fs::read(file).unwrap();
    let mut text = String::new();
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("zst") => zstd::stream::read::Decoder::new(&bytes[..]).unwrap().read_to_string(&mut text).unwrap(),
        Some("gz") => flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap(),
        _ => {
            text = String::from_utf8(bytes).unwrap();
            0
        }
    };
    text
}

/// A number that looks random, from a seed that is printed.
struct Random(u64);

impl Random {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// An export that is killed again and again.
struct Victim {
    to: &'static [&'static str],
    kills: u64,
    /// The server drops events and says so. Else the order is that of the server.
    drops: bool,
    /// Somebody takes FILE away and sends SIGHUP.
    hangups: bool,
}

/// 50 kills in an ordinary run.
const VICTIMS: [Victim; 5] = [
    Victim { to: &["--to", "s-all.ndjson"], kills: 14, drops: true, hangups: false },
    Victim { to: &["--to", "s-all.ndjson"], kills: 10, drops: false, hangups: true },
    Victim { to: &["--to", "s-all.ndjson.zst"], kills: 8, drops: true, hangups: false },
    Victim { to: &["--to", "s-all.ndjson.gz"], kills: 8, drops: false, hangups: false },
    Victim { to: &["--to", "s-{time}.ndjson", "--rotate", "1k"], kills: 10, drops: false, hangups: true },
];

#[test]
fn kills_at_any_moment_lose_nothing_and_repeat_nothing() {
    let seed = std::env::var("SSECTL_KILL_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    println!("SSECTL_KILL_SEED={seed}");
    let more = std::env::var("SSECTL_KILLS_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    let mut random = Random(seed);
    let (mut kills, mut events) = (0, 0);
    for victim in &VICTIMS {
        events += kill_again_and_again(&Victim { kills: victim.kills * more, ..*victim }, &mut random, seed);
        kills += victim.kills * more;
    }
    println!("{kills} kills, {events} events, lost 0, duplicates 0");
}

fn kill_again_and_again(victim: &Victim, random: &mut Random, seed: u64) -> usize {
    let place = Place::new();
    let server = LogServer::builder().events(1..=20).cut_after(40, Cut::MidEvent).start();
    let url = server.url("/e");
    let to = ["resume", &url, "--stream", "s", "--drop-cooldown", "0s", "--retry-initial", "1ms"];
    let to = [&to[..], victim.to].concat();
    let mut id = 20;
    for _ in 0..victim.kills {
        let mut command = place.command(&[&to[..], &["--commit-interval", "3ms"]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let life = Duration::from_micros(random.below(60_000));
        let end = Instant::now() + life;
        while Instant::now() < end {
            push_some(&server, &mut id, victim.drops, random);
            if victim.hangups && random.below(6) == 0 {
                take_away(&place, victim.to[1], &mut child);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = child.kill();
        child.wait().unwrap();
    }
    server.set_cut(None);
    let done = place.run(&[&to[..], &["--until-idle", "1.2s"]].concat());
    let expected: &[i32] = if victim.drops { &[0, 5] } else { &[0] };
    assert!(expected.contains(&done.code), "seed {seed}, {:?}: {}", victim.to, done.stderr);
    let (mut files, parts) = rotated(&place);
    files.extend(parts);
    let mut got: Vec<Timeless> = files.iter().flat_map(|file| timeless(&unpacked(file))).collect();
    if victim.drops {
        // What was dropped comes after what was sent meanwhile, and is marked as replayed.
        got.sort_by_key(|record| record.id);
    }
    let (count, expected) = (got.len(), server.log());
    assert_eq!(expected.len() as u64, id);
    for (got, expected) in got.iter().zip(&expected) {
        let id = expected.id.as_deref().unwrap();
        let plain = record_of(id, &expected.data, false);
        let replayed = victim.drops && got.bytes == record_of(id, &expected.data, true);
        assert!(replayed || got.bytes == plain, "seed {seed}, {:?}: {} is not {plain}", victim.to, got.bytes);
    }
    assert_eq!(count, expected.len(), "seed {seed}, {:?}", victim.to);
    assert_eq!(place.run(&["checkpoint", "verify"]).code, 0, "seed {seed}");
    count
}

/// A record's bytes but those of its time, which is the reader's own.
struct Timeless {
    id: u64,
    bytes: String,
}

fn timeless(text: &str) -> Vec<Timeless> {
    assert!(text.is_empty() || text.ends_with('\n'), "whole lines only");
    let record = |line: &str| {
        let (before, rest) = line.split_once("\"time\":\"").unwrap();
        let (time, after) = rest.split_once('"').unwrap();
        assert_eq!(time.len(), "2026-11-30T20:41:06.123456Z".len(), "{line}");
        let id = serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().parse().unwrap();
        Timeless { id, bytes: format!("{before}\"time\":\"\"{after}") }
    };
    text.lines().map(record).collect()
}

/// The record of an event of the server's, written here once more so that the program is not compared with itself.
fn record_of(id: &str, data: &str, replayed: bool) -> String {
    let replayed = if replayed { ",\"replayed\":true" } else { "" };
    let data = data.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    format!(
        "{{\"kind\":\"event\",\"stream\":\"s\",\"id\":\"{id}\",\"event\":\"message\",\"data\":\"{data}\",\
         \"time\":\"\"{replayed}}}"
    )
}

/// Data that differ from event to event in length and in what has to be escaped.
fn data_of(id: u64) -> String {
    format!("data {id} \"\\\t ü🦀{}", "\n{\"x\":1}".repeat((id % 5) as usize))
}

fn push_some(server: &LogServer, id: &mut u64, drops: bool, random: &mut Random) {
    for _ in 0..random.below(6) {
        *id += 1;
        server.push(&id.to_string(), &data_of(*id));
    }
    if drops && random.below(4) == 0 {
        let dropped = 1 + random.below(4);
        for _ in 0..dropped {
            *id += 1;
            server.push_dropped(&id.to_string(), &data_of(*id));
        }
        server.comment(&format!("you are reading too slowly, dropped {dropped} messages"));
    }
}

/// As logrotate does, under a name that sorts before FILE; ends when the process has begun FILE anew. A rotated export
/// has no such file, and is only told to rotate. Not before FILE is held: the signal would end the process.
fn take_away(place: &Place, file: &str, child: &mut Child) {
    let path = place.path(file);
    let held = |path: &Path| File::open(path).is_ok_and(|file| file.try_lock().is_err());
    let rotates = !path.exists();
    if !(held(&path) || (rotates && rotated(place).1.iter().any(|part| held(part)))) {
        return;
    }
    if !rotates {
        let number = fs::read_dir(place.path(".")).unwrap().count();
        fs::rename(&path, place.path(&format!("s-{number:04}.ndjson"))).unwrap();
    }
    assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
    if !rotates {
        wait_for(|| path.exists());
    }
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
}
