//! `probe` with the real binary, against `serve` under each of its policies and against a server that buffers all.
//!
//! `SSECTL_PROBE_RUNS=20 cargo test --test probe tally -- --ignored --nocapture` probes each so often and prints the
//! tally; with `SSECTL_PROBE_ONLY=resnapshot` those alone whose policy holds that word.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::program::{Place, Running};
use support::scripted::{Script, Server};

/// A server and the policy that is to be named.
const CASES: [(&str, &str); 7] = [
    ("price=coalesce:/sym", "coalesced"),
    ("price=buffer:64", "buffer-disconnect"),
    ("price=buffer:64,overflow=notice", "dropped-notice"),
    ("price=drop", "dropped"),
    ("price=resnapshot", "resnapshot"),
    ("price=resnapshot:/sym", "resnapshot"),
    (UNBOUNDED, "unbounded"),
];
/// Not `serve`, but a server that keeps everything for everybody.
const UNBOUNDED: &str = "everything";

fn codes(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

fn probe(place: &Place, url: &str, arguments: &[&str]) -> Value {
    let all: Vec<&str> = [&["probe", url, "-o", "json"], arguments].concat();
    let run = place.run(&all);
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).expect("one JSON object")
}

/// `serve` with eight keys, and its URL.
fn serve(place: &Place, policy: &str) -> (Running, String) {
    let made_up = "price:rate=200/s,keys=8,size=120";
    let mut server = place.start(&["serve", "--synthetic", made_up, "--policy", policy]);
    let url = server.line();
    (server, url)
}

/// A server with a queue without bound for each client: 400 events of 400 bytes a second.
fn unbounded() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/events", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let begun = Instant::now();
        for client in listener.incoming() {
            let Ok(client) = client else { return };
            std::thread::spawn(move || feed(client, begun));
        }
    });
    url
}

fn feed(mut client: TcpStream, begun: Instant) {
    let _ = client.read(&mut [0; 4096]);
    let (queue, waiting) = channel::<String>();
    let mut number = begun.elapsed().as_millis() * 400 / 1000;
    std::thread::spawn(move || {
        loop {
            while number < begun.elapsed().as_millis() * 400 / 1000 {
                number += 1;
                let pad = "x".repeat(360);
                let block =
                    format!("event: price\ndata: {{\"sym\":\"K{}\",\"n\":{number},\"pad\":\"{pad}\"}}\n\n", number % 8);
                if queue.send(block).is_err() {
                    return;
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    });
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n".to_owned();
    for block in std::iter::once(head).chain(waiting) {
        if client.write_all(block.as_bytes()).is_err() {
            return;
        }
    }
}

/// The policy that is named for `price`, and the rest of what was found of it.
fn named(case: &str, watch: &str) -> (String, Value) {
    let place = Place::new();
    let (server, url) = match case {
        UNBOUNDED => (None, unbounded()),
        policy => {
            let (server, url) = serve(&place, policy);
            (Some(server), url)
        }
    };
    let mut report = probe(&place, &url, &["--for", watch]);
    if let Some(server) = server {
        server.kill();
    }
    let mut price = report["backpressure"]["types"][0].take();
    price.as_object_mut().map(|price| price.remove("ages"));
    (price["policy"].as_str().unwrap_or_default().to_owned(), price)
}

#[test]
fn policies_are_named() {
    let cases = CASES.map(|(case, expected)| (case, expected, std::thread::spawn(move || named(case, "10s"))));
    let wrong: Vec<String> = cases
        .into_iter()
        .filter_map(|(case, expected, probe)| {
            let (policy, figures) = probe.join().expect("a probe ends");
            (policy != expected).then(|| format!("{case} was named {policy}: {figures}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// How often the right policy is named: `SSECTL_PROBE_RUNS=20 cargo test --test probe tally -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes, and its figures depend on the machine"]
fn tally_of_policies() {
    let runs: usize = std::env::var("SSECTL_PROBE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(20);
    let only = std::env::var("SSECTL_PROBE_ONLY").unwrap_or_default();
    let cases: Vec<(&str, &str)> = CASES.into_iter().filter(|(case, _)| case.contains(&only)).collect();
    let mut tally = vec![0; cases.len()];
    for _ in 0..runs {
        let start = |(case, _): &(&'static str, &str)| {
            let case = *case;
            std::thread::spawn(move || named(case, "10s"))
        };
        let probes: Vec<_> = cases.iter().map(start).collect();
        for (number, probe) in probes.into_iter().enumerate() {
            let (policy, figures) = probe.join().expect("a probe ends");
            let (case, expected) = cases[number];
            tally[number] += usize::from(policy == expected);
            if policy != expected {
                println!("{case} was named {policy}: {figures}");
            }
        }
    }
    for ((case, expected), right) in cases.iter().zip(tally) {
        println!("{case:34} {expected:18} {right} of {runs}");
    }
}

#[test]
fn a_stream_and_its_connection_are_described() {
    let place = Place::new();
    let stream = "retry: 1500\n: hello\nmeta: x\n\nid: 1\nevent: trade\ndata: {\"sequence_number\":1}\n\n\
                  id: 2\nevent: trade\ndata: {\"sequence_number\":2}\n\nid: 2\nevent: trade\ndata: {\"sequence_number\":3}\n\ndata: cut o";
    let heads = "Cache-Control: max-age=60\r\nVia: 1.1 proxy\r\n";
    let script = || Script::new().sse_with(heads).send(stream).close();
    let server = Server::start([script(), script()]);
    let page = place.path("report.html");
    let report = probe(&place, &server.url("/events"), &["--for", "30s", "--report", page.to_str().unwrap()]);
    let found = codes(&report);
    for code in [
        "cache-allowed",
        "behind-proxy",
        "proxy-may-buffer",
        "server-closed",
        "cut-off",
        "ids-shared",
        "ids-comparable",
        "id-in-data",
        "retry",
        "comments",
        "unknown-fields",
    ] {
        assert!(found.contains(&code), "{code} is not among {found:?}");
    }
    assert_eq!(report["events"]["ids"]["in_data"], "/sequence_number");
    assert_eq!(report["events"]["retry_ms"], 1500);
    assert_eq!(report["events"]["types"][0]["event"], "trade");
    assert_eq!(report["connection"]["http_version"], "HTTP/1.1");
    assert!(report["connection"]["timings"]["connect_ms"].is_number());
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("ids-shared") && !page.contains("<script"));
}

#[test]
fn cursors_are_tried() {
    let place = Place::new();
    let (server, url) = serve(&place, "price=buffer:1000");
    let report = probe(&place, &url, &["--for", "2s"]);
    server.kill();
    let found = codes(&report);
    assert!(found.contains(&"resume-works") && found.contains(&"resume-exclusive"), "{found:?}");
    assert_eq!(report["resume"]["works_by"], "header");
    assert_eq!(report["resume"]["holes"], 0);
    assert_eq!(report["resume"]["unknown"], "refused", "{}", report["resume"]);
}

#[test]
fn a_report_for_people_fits_80_columns() {
    let place = Place::new();
    let (server, url) = serve(&place, "price=drop");
    let run = place.run(&["probe", &url, "--for", "3s", "-o", "pretty"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for section in ["Connection", "Events", "Resume", "Backpressure", "Seconds late"] {
        assert!(run.stdout.contains(section), "{section} is not in\n{}", run.stdout);
    }
    let widest = run.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?} in\n{}", run.stdout);
    server.kill();
}

#[test]
fn an_interrupted_probe_reports_what_it_has() {
    let place = Place::new();
    let script = || Script::new().sse().send("id: 1\ndata: a\n\n").until_closed();
    let server = Server::start([script(), script()]);
    let run = place.start(&["probe", &server.url("/events"), "--for", "1h", "-o", "json"]);
    server.wait_for_requests(2);
    run.signal("INT");
    let run = run.finish();
    assert_eq!(run.code, 130, "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).expect("one JSON object");
    assert_eq!((&report["interrupted"], &report["kind"]), (&true.into(), &"probe".into()));
}

#[test]
fn what_cannot_be_probed_says_why() {
    let place = Place::new();
    let refused = place.run(&["probe", "http://127.0.0.1:1/"]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(refused.stderr.contains("Connection refused"), "{}", refused.stderr);
    let server =
        Server::start([Script::new().request().send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").close()]);
    let missing = place.run(&["probe", &server.url("/nothing")]);
    assert_eq!(missing.code, 3, "{}", missing.stderr);
    assert_eq!(place.run(&["probe", "http://127.0.0.1:1/", "--limit-rate", "0"]).code, 2);
}

#[test]
fn every_code_is_in_the_table() {
    let table = include_str!("../docs/probe.md");
    for code in ssectl::probe::Code::ALL {
        assert!(table.contains(&format!("| `{}` |", code.as_str())), "`{}` is not in docs/probe.md", code.as_str());
    }
}
