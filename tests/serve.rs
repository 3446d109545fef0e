//! `ssectl serve` as its users run it: the real binary, and as its client the real binary, or a socket.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use ssectl::wire::{Decoder, Frame, Limits};
use support::PATIENCE;
use support::program::{Place, numbers, read_all};

/// A running `ssectl serve`.
struct Serve {
    child: Child,
    input: Option<ChildStdin>,
    _stdout: BufReader<ChildStdout>,
    errors: Option<JoinHandle<String>>,
    url: String,
}

impl Serve {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let arguments: Vec<&str> = ["serve"].iter().chain(arguments).copied().collect();
        let mut command = place.command(&arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let errors = read_all(child.stderr.take().unwrap());
        let mut url = String::new();
        stdout.read_line(&mut url).unwrap();
        if url.is_empty() {
            panic!("it did not start: {}", errors.join().unwrap());
        }
        let input = child.stdin.take();
        Self { child, input, _stdout: stdout, errors: Some(errors), url: url.trim_end().to_owned() }
    }

    fn addr(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().strip_suffix("/events").unwrap()
    }

    fn feed(&mut self, text: &str) {
        self.input.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Begins a request; what follows its head is left to be read.
    fn get(&self, target: &str) -> (String, BufReader<TcpStream>) {
        let mut socket = TcpStream::connect(self.addr()).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(socket, "GET {target} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n").unwrap();
        let mut reader = BufReader::new(socket);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(reader.read_line(&mut head).unwrap(), 0, "no whole head: {head}");
        }
        (head, reader)
    }

    fn whole(&self, target: &str) -> String {
        let mut text = String::new();
        self.get(target).1.read_to_string(&mut text).unwrap();
        text
    }

    /// The figure of a line of `/metrics`, summed over labels.
    fn metric(&self, name: &str) -> u64 {
        let metrics = self.whole("/metrics");
        let of = |line: &str| line.strip_prefix(name).filter(|rest| rest.starts_with([' ', '{'])).map(str::to_owned);
        metrics.lines().filter_map(of).map(|rest| rest.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    }

    fn wait_for_metric(&self, name: &str, least: u64) {
        let deadline = Instant::now() + PATIENCE;
        while self.metric(name) < least {
            assert!(Instant::now() < deadline, "{name} did not come to {least}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn end(mut self, signal: &str) -> (i32, String) {
        let sent =
            std::process::Command::new("kill").arg(format!("-{signal}")).arg(self.child.id().to_string()).status();
        assert!(sent.unwrap().success());
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        (code, self.errors.take().unwrap().join().unwrap())
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn block(reader: &mut impl BufRead) -> String {
    let mut text = String::new();
    loop {
        if reader.read_line(&mut text).unwrap() == 0 || text.ends_with("\n\n") {
            return text;
        }
    }
}

fn record(number: u64) -> String {
    format!("{{\"event\":\"trade\",\"data\":\"{number} {}\"}}\n", "x".repeat(1000))
}

#[test]
fn a_plain_client_sees_standard_sse() {
    let place = Place::new();
    let mut serve = Serve::start(&place, &["-", "--number", "--quiet"]);
    let (head, mut stream) = serve.get("/events");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("content-type: text/event-stream\r\n"), "{head}");
    serve.feed("{\"event\":\"trade\",\"data\":\"{\\\"n\\\":1}\"}\n{\"data\":\"two\\nlines\"}\n{\"kind\":\"comment\",\"text\":\"hi\"}\n");
    assert_eq!(block(&mut stream), "id: 1\nevent: trade\ndata: {\"n\":1}\n\n");
    assert_eq!(block(&mut stream), "id: 2\ndata: two\ndata: lines\n\n");
    assert_eq!(block(&mut stream), ": hi\n\n");
    let (_, mut later) = serve.get("/events?last-event-id=1");
    assert_eq!(block(&mut later), "id: 2\ndata: two\ndata: lines\n\n");
    assert!(serve.get("/events?last-event-id=77").0.starts_with("HTTP/1.1 410 "));
}

/// A `tail` whose output nobody reads is slow; once the server has felt it, the output is read to its end.
fn survive(policy: &str, felt: &str) -> (Vec<String>, u64) {
    let place = Place::new();
    let arguments = ["-", "--number", "--policy", policy, "--retry", "100ms", "--replay-cap", "1000000"];
    let mut serve = Serve::start(&place, &arguments);
    let url = serve.url.clone();
    // The last event is known by its data.
    let (tail, stdout) = place.start_unread(&[
        "tail",
        &url,
        "--no-store",
        "--read-ahead",
        "64KiB",
        "--until-data",
        "the end",
        "-o",
        "json",
        "--retry-initial",
        "10ms",
        "--drop-cooldown",
        "0s",
    ]);
    serve.wait_for_metric("ssectl_serve_clients", 1);
    let mut count = 0;
    while serve.metric(felt) == 0 {
        for _ in 0..200 {
            count += 1;
            serve.feed(&record(count));
        }
        assert!(count < 1_000_000, "the server never felt its client");
    }
    let output = read_all(stdout);
    serve.wait_for_metric("ssectl_serve_published_total", count);
    serve.feed("{\"event\":\"last\",\"data\":\"the end\"}\n");
    let ended = tail.finish();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let events = output.join().unwrap();
    let ids =
        events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned());
    (ids.collect(), count + 1)
}

#[test]
fn serve_and_tail_lose_nothing_where_an_overflow_disconnects() {
    let (ids, last) = survive("*=buffer:32,overflow=disconnect", "ssectl_serve_slow_disconnects_total");
    assert_eq!(ids, numbers(1..=last));
}

#[test]
fn serve_and_tail_lose_nothing_where_an_overflow_is_told() {
    let (mut ids, last) = survive("*=buffer:32,overflow=notice", "ssectl_serve_dropped_total");
    ids.sort_by_key(|id| id.parse::<u64>().unwrap());
    assert_eq!(ids, numbers(1..=last), "every event once");
}

#[test]
fn a_slow_client_converges_to_the_newest_of_each_key() {
    let place = Place::new();
    let mut serve = Serve::start(&place, &["-", "--number", "--policy", "price=coalesce:/sym"]);
    let (_, mut stream) = serve.get("/events");
    serve.wait_for_metric("ssectl_serve_clients", 1);
    let mut number = 0;
    while serve.metric("ssectl_serve_coalesced_total") < 100 {
        for _ in 0..200 {
            number += 1;
            let data = format!(
                "{{\\\"sym\\\":\\\"S{}\\\",\\\"n\\\":{number},\\\"pad\\\":\\\"{}\\\"}}",
                number % 4,
                "x".repeat(1000)
            );
            serve.feed(&format!("{{\"event\":\"price\",\"data\":\"{data}\"}}\n"));
        }
    }
    serve.wait_for_metric("ssectl_serve_published_total", number);
    let mut newest = [0; 4];
    while newest.iter().min() < Some(&(number - 3)) {
        let block = block(&mut stream);
        let data = block.lines().find_map(|line| line.strip_prefix("data: ")).expect("an event");
        let n = serde_json::from_str::<Value>(data).unwrap()["n"].as_u64().unwrap();
        let key = usize::try_from(n % 4).unwrap();
        assert!(n > newest[key], "a key never goes back");
        newest[key] = n;
    }
    assert!(serve.metric("ssectl_serve_delivered_total") <= number - 100);
}

#[test]
fn a_recorded_stream_is_a_server_again_with_its_ids_comments_and_cuts() {
    let place = Place::new();
    let recorded = [
        r#"{"kind":"event","id":"a-1","event":"trade","data":"one","time":"2026-12-01T00:00:00Z"}"#,
        r#"{"kind":"comment","text":"ping","time":"2026-12-01T00:00:00.01Z"}"#,
        r#"{"kind":"event","id":"a-2","event":"message","data":"two","time":"2026-12-01T00:00:00.02Z"}"#,
        r#"{"kind":"notice","notice":"disconnected","text":"","time":"2026-12-01T00:00:00.03Z"}"#,
        r#"{"kind":"event","id":"a-3","event":"message","data":"three","time":"2026-12-01T00:00:00.04Z"}"#,
    ];
    std::fs::write(place.path("recorded.ndjson"), recorded.join("\n")).unwrap();
    let serve = Serve::start(&place, &["recorded.ndjson", "--speed", "1000x", "--retry", "250ms"]);
    let (_, mut stream) = serve.get("/events");
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text, "id: a-1\nevent: trade\ndata: one\n\n: ping\n\nid: a-2\ndata: two\n\nretry: 250\n\n");
    serve.wait_for_metric("ssectl_serve_published_total", 3);
    let (_, mut again) = serve.get("/events?last-event-id=a-2");
    assert_eq!(block(&mut again), "id: a-3\ndata: three\n\n");
}

#[test]
fn a_recorded_sse_stream_comes_out_as_it_went_in() {
    let place = Place::new();
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/streams/broker.sse");
    let serve = Serve::start(&place, &[recorded, "--once", "--speed", "max", "--policy", "*=buffer:100000"]);
    let text = serve.whole("/events");
    let events = |bytes: &[u8]| {
        let mut decoder = Decoder::new(Limits::default());
        let mut frames = decoder.feed(bytes);
        let mut events = Vec::new();
        while let Some(frame) = frames.next() {
            if let Frame::Event(event) = frame {
                events.push((event.id.map(str::to_owned), event.event.to_owned(), event.data.to_owned()));
            }
        }
        events
    };
    let (went_in, came_out) = (events(&std::fs::read(recorded).unwrap()), events(text.as_bytes()));
    assert!(went_in.len() > 100);
    assert_eq!(came_out, went_in);
}

#[test]
fn a_log_outlives_its_server() {
    let place = Place::new();
    let arguments = ["-", "--number", "--log", "events.db"];
    let mut serve = Serve::start(&place, &arguments);
    (1..=5).for_each(|number| serve.feed(&record(number)));
    serve.wait_for_metric("ssectl_serve_published_total", 5);
    let second = place.run(&["serve", "--synthetic", "a", "--log", "events.db"]);
    assert_eq!(second.code, 6, "{}", second.stderr);
    assert_eq!(serve.end("KILL").0, -1);
    let mut serve = Serve::start(&place, &arguments);
    serve.feed(&record(6));
    serve.wait_for_metric("ssectl_serve_published_total", 1);
    let (_, mut stream) = serve.get("/events?last-event-id=3");
    let ids: Vec<_> = (0..3).map(|_| block(&mut stream).lines().next().unwrap().to_owned()).collect();
    assert_eq!(ids, ["id: 4", "id: 5", "id: 6"]);
}

#[test]
fn a_relay_serves_what_another_server_gives() {
    let place = Place::new();
    let mut origin = Serve::start(&place, &["-", "--number"]);
    let relay = Serve::start(&place, &["--relay", &origin.url]);
    origin.wait_for_metric("ssectl_serve_clients", 1);
    let (_, mut first) = relay.get("/events");
    let (_, mut second) = relay.get("/events");
    relay.wait_for_metric("ssectl_serve_clients", 2);
    origin.feed("{\"event\":\"trade\",\"data\":\"a\"}\n{\"event\":\"trade\",\"data\":\"b\"}\n");
    for stream in [&mut first, &mut second] {
        assert_eq!(block(stream), "id: 1\nevent: trade\ndata: a\n\n");
        assert_eq!(block(stream), "id: 2\nevent: trade\ndata: b\n\n");
    }
    assert_eq!(origin.metric("ssectl_serve_connections_total"), 1);
}

#[test]
fn a_signal_ends_it_in_order() {
    for (signal, expected) in [("TERM", 143), ("INT", 130)] {
        let place = Place::new();
        let serve = Serve::start(&place, &["-", "--retry", "7s"]);
        let (_, mut stream) = serve.get("/events");
        serve.wait_for_metric("ssectl_serve_clients", 1);
        let (code, errors) = serve.end(signal);
        assert_eq!(code, expected, "{errors}");
        assert!(!errors.contains("error"), "{errors}");
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(text, "retry: 7000\n\n");
    }
}

#[test]
fn a_public_name_that_leads_here_gets_nothing() {
    let place = Place::new();
    let serve = Serve::start(&place, &["-"]);
    for target in ["/events", "/snapshot", "/metrics", "/"] {
        let mut socket = TcpStream::connect(serve.addr()).unwrap();
        write!(socket, "GET {target} HTTP/1.1\r\nHost: rebound.example:80\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 421 "), "{target}: {answer}");
    }
    drop(serve);
    let serve = Serve::start(&place, &["-", "--allow-remote"]);
    let mut socket = TcpStream::connect(serve.addr()).unwrap();
    write!(socket, "GET /metrics HTTP/1.1\r\nHost: rebound.example:80\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[test]
fn what_cannot_be_served_is_said() {
    let place = Place::new();
    std::fs::write(place.path("empty.ndjson"), "").unwrap();
    std::fs::write(place.path("garbage.txt"), "nothing of\nthis kind\n").unwrap();
    for (arguments, code, word) in [
        (&["serve"][..], 2, "hint:"),
        (&["serve", "--synthetic", "a:colour=red"], 2, "colour"),
        (&["serve", "-", "--policy", "a=bufer:5"], 2, "no policy"),
        (&["serve", "-", "--listen", "0.0.0.0:0"], 2, "--allow-remote"),
        (&["serve", "nowhere.ndjson"], 1, "nowhere.ndjson"),
        (&["serve", "empty.ndjson"], 1, "it is empty"),
        (&["serve", "garbage.txt", "--wait", "0", "--once"], 1, "no event in it"),
        (&["serve", "."], 1, "a directory"),
        (&["serve", "-", "--policy", "buffer:3"], 2, "TYPE=buffer:3"),
        (&["serve", "--synthetic", "a;b;a"], 2, "twice"),
        (&["serve", "-", "-u", "a:b"], 2, "without `--relay STREAM`"),
        (&["serve", "--synthetic", "a", "--drop-event", "x"], 2, "--relay"),
        (&["serve", "--synthetic", "a", "--log", "/proc/none/x.db"], 6, "/proc/none/x.db"),
    ] {
        let ended = place.run(arguments);
        assert_eq!(ended.code, code, "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(word), "{arguments:?}: {}", ended.stderr);
    }
}
