//! What an attacker costs in memory. Opt-in, since it takes minutes and prints a table instead of judging a machine:
//!
//! ```console
//! $ cargo build --release
//! $ SSECTL_BINARY=target/release/ssectl cargo test --test memory -- --ignored --nocapture
//! ```
//!
//! `SSECTL_RECONNECTS` says how many reconnections are made (10000), `SSECTL_STREAMS` by how many streams of one process.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a figure that cannot be had is an error")]

mod support;

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use support::scripted::{Conn, Script, Server};

/// How long an attack goes on if the tool does not end it.
const ATTACK: Duration = Duration::from_secs(5);

fn binary() -> String {
    std::env::var("SSECTL_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_ssectl").to_owned())
}

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// With a database of its own, as a run has one unless it is told otherwise.
fn start(arguments: &[&str]) -> Child {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap());
    let mut command = Command::new(binary());
    command.args(arguments).arg("-q").env("SSECTL_DB", folder.path().join("db"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// A figure of `/proc/PID/status` in KiB: `VmHWM` is the most that was resident.
fn status(pid: u32, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Lets the tool run until it ends or the time is over; gives the most it had resident, in KiB, and how it ended.
fn peak(mut child: Child, limit: Duration) -> (u64, Option<i32>) {
    let (start, mut most) = (Instant::now(), 0);
    loop {
        most = status(child.id(), "VmHWM").unwrap_or(most);
        if let Some(status) = child.try_wait().unwrap() {
            return (most, status.code());
        }
        if start.elapsed() >= limit {
            child.kill().unwrap();
            child.wait().unwrap();
            return (most, None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn flood(bytes: Vec<u8>) -> Script {
    Script::new().sse_until_close().play(move |conn: &mut Conn| -> io::Result<()> {
        while !conn.is_stopping() {
            conn.send(&bytes)?;
        }
        Ok(())
    })
}

fn gzip(bytes: &[u8], times: usize) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..times {
        packer.write_all(bytes).unwrap();
    }
    packer.finish().unwrap()
}

#[test]
#[ignore = "takes minutes and prints figures; see above"]
fn figures() {
    let zeros = vec![b'a'; 1 << 20];
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    let bomb = move |first: &[u8]| {
        let body = gzip(&[first, &zeros].concat(), 1024);
        Script::new().sse_with("Content-Encoding: gzip\r\n").send(body).until_closed()
    };
    let endless = Script::new().request().raw(head).play(|conn| {
        while !conn.is_stopping() {
            conn.send(&[b"X-Filler: ", vec![b'a'; 8000].as_slice(), b"\r\n"].concat())?;
        }
        Ok(())
    });
    let long_event: &[&str] = &["--max-event-bytes", "1MiB"];
    let ids: Vec<u8> =
        (0..20_000).flat_map(|id| format!("id: {}{id}\ndata: a\n\n", "x".repeat(900)).into_bytes()).collect();
    let attacks: Vec<(&str, Script, &[&str])> = vec![
        ("nothing but comments", flood(b": ping\n".repeat(10_000)), &[]),
        ("an endless comment", flood_after(b": ", vec![b'a'; 1 << 20]), &[]),
        ("an endless name of a field", flood(vec![b'a'; 1 << 20]), &[]),
        ("an endless data line, limit 1 MiB", flood_after(b"data: ", vec![b'a'; 1 << 20]), long_event),
        ("endless id lines", flood([b"id: ".as_slice(), &vec![b'1'; 1 << 16], b"\n"].concat()), &[]),
        ("events with ids of 900 bytes", flood(ids.clone()), &[]),
        ("the same with `--no-store`", flood(ids), &["--no-store"]),
        ("tiny events", flood(b"data\n\n".repeat(10_000)), &[]),
        ("bytes that are not UTF-8", flood(vec![0xff; 1 << 20]), &[]),
        ("retry lines", flood(b"retry: 99999999999\n".repeat(10_000)), &[]),
        ("drop notices", flood(b": dropped 10 messages\nid: 1\ndata: a\n\n".repeat(1_000)), &[]),
        ("1 GiB of comment in 1 MiB of gzip", bomb(b": "), &["--compressed"]),
        ("1 GiB of line ends and comments in gzip", bomb(b"\n: "), &["--compressed"]),
        ("endless headers", endless, &["--max-retries", "0"]),
    ];
    println!("| what is sent | most resident | end |\n| --- | --- | --- |");
    for (what, script, more) in attacks {
        let server = Server::start([]).otherwise(script);
        let url = server.url("/e");
        let (most, code) = peak(start(&[&["tail", &url], more].concat()), ATTACK);
        row(what, most, &code.map_or_else(|| "went on".to_owned(), |code| format!("exit {code}")));
    }
    reconnections();
    one_byte_writes();
}

fn row(what: &str, kib: u64, end: &str) {
    println!("| {what} | {:.1} MiB | {end} |", kib as f64 / 1024.0);
}

fn flood_after(first: &'static [u8], bytes: Vec<u8>) -> Script {
    Script::new().sse_until_close().raw(first).play(move |conn: &mut Conn| -> io::Result<()> {
        while !conn.is_stopping() {
            conn.send(&bytes)?;
        }
        Ok(())
    })
}

/// Memory after many reconnections, each of which gives one event, so that the delay stays the shortest there is.
fn reconnections() {
    let (count, streams) = (number("SSECTL_RECONNECTS", 10_000), number("SSECTL_STREAMS", 20));
    let server = Server::start([]).otherwise(Script::new().sse().send("retry: 100\ndata: a\n\n").close());
    let urls: Vec<String> = (0..streams).map(|stream| server.url(&format!("/{stream}"))).collect();
    let mut arguments = vec!["tail", "--retry-initial", "100ms", "--retry-max", "100ms"];
    arguments.extend(urls.iter().map(String::as_str));
    let mut child = start(&arguments);
    while server.connections() < count.min(100 * streams) / 10 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let early = status(child.id(), "VmRSS").unwrap();
    while server.connections() < count {
        std::thread::sleep(Duration::from_millis(100));
    }
    let late = status(child.id(), "VmRSS").unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    row(
        &format!("{streams} streams, {count} reconnections (early: {:.1} MiB)", early as f64 / 1024.0),
        late,
        "went on",
    );
}

/// A body of 1 MB in writes of one byte: what the tool takes for it, and what a loop of reads takes.
fn one_byte_writes() {
    let plain = timed(|url| {
        let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /e HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
        let mut scrap = [0; 16 * 1024];
        while stream.read(&mut scrap).unwrap() > 0 {}
    });
    let tool = timed(|url| {
        let mut child = start(&["tail", url, "--no-reconnect"]);
        assert!(child.wait().unwrap().success());
    });
    let per_byte = |time: Duration| time.as_nanos() / 1_000_000;
    println!(
        "| 1 MB in writes of one byte: reads alone {} ns a byte, ssectl {} ns | | |",
        per_byte(plain),
        per_byte(tool)
    );
}

fn timed(client: impl FnOnce(&str)) -> Duration {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/e", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        peer.set_nodelay(true).unwrap();
        let mut seen = Vec::new();
        let mut byte = [0];
        while !seen.ends_with(b"\r\n\r\n") {
            peer.read_exact(&mut byte).unwrap();
            seen.push(byte[0]);
        }
        peer.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n").unwrap();
        let event = b"data: 0123456789012345678901234567890123456789\n\n";
        for index in 0..1_000_000 {
            peer.write_all(&event[index % event.len()..][..1]).unwrap();
        }
    });
    let start = Instant::now();
    client(&url);
    let taken = start.elapsed();
    server.join().unwrap();
    taken
}
