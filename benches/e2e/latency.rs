//! What one event waits: from the server's write to the reader's output, at a thousand events a second; and the time
//! from start to the first event.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::server::{Framing, Load, now_us, serve};
use crate::setting;

/// Measures both, unless `words` ask for other rows.
pub fn measure(words: &[String]) {
    let chosen = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    if !chosen("latency") && !chosen("start") {
        return;
    }
    println!("\n| reader | start to first event, ms | latency p50, µs | p99, µs |\n| --- | ---: | ---: | ---: |");
    for (name, arguments) in
        [("curl -sN", None), ("tail -o json --no-store", Some("json")), ("tail -o data", Some("data"))]
    {
        let mut starts = Vec::new();
        let mut waits = Vec::new();
        for _ in 0..setting("E2E_RUNS", 5) {
            let (start, mut events) = once(arguments);
            starts.push(start);
            waits.append(&mut events);
        }
        starts.sort();
        waits.sort_unstable();
        println!(
            "| {name} | {:.1} | {} | {} |",
            starts[starts.len() / 2].as_secs_f64() * 1e3,
            waits[waits.len() / 2],
            waits[waits.len() * 99 / 100]
        );
    }
}

/// The time to the first event, and what each of a thousand waited, in microseconds.
fn once(output: Option<&str>) -> (Duration, Vec<u128>) {
    let events = Load { times: 1_000, ..Load::new("heartbeats", Framing::Paced, 1) };
    let url = format!("http://{}/", serve(events));
    let folder = tempfile::tempdir().expect("there is room for files");
    let mut command = match output {
        None => Command::new("curl"),
        Some(_) => Command::new(env!("CARGO_BIN_EXE_ssectl")),
    };
    match output {
        None => command.args(["-sN", &url]),
        Some("json") => command.args(["tail", "-q", "--no-reconnect", "--no-store", "-o", "json", &url]),
        Some(_) => command.args(["tail", "-q", "--no-reconnect", "-o", "data", &url]),
    };
    command.env("SSECTL_DB", folder.path().join("db")).env("XDG_CONFIG_HOME", folder.path());
    let start = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().expect("it starts");
    let mut first = None;
    let mut waits = Vec::new();
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
        let line = line.expect("it is text");
        let now = now_us();
        let Some((_, sent)) = line.split_once("sent ") else { continue };
        first.get_or_insert_with(|| start.elapsed());
        let sent: u128 = sent
            .trim_end_matches(|c: char| !c.is_ascii_digit())
            .split('"')
            .next()
            .map_or(0, |digits| digits.parse().unwrap_or(0));
        waits.push(now.saturating_sub(sent));
    }
    child.wait().expect("it is a child");
    (first.expect("an event came"), waits)
}
