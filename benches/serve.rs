//! What a slow client costs `ssectl serve`, and what it costs the others: `cargo bench --bench serve`.
//!
//! 1. **Memory of one slow client.** The server's own hub, whose one socket takes 2 KB a second of a mixed stream of
//!    20 KB a second, for ten minutes of virtual time: one step is a second, nothing sleeps. The figure is the peak of
//!    the heap with the client less that without it, by a counting allocator; the log holds one event, so that what is
//!    held is held for the client.
//! 2. **1,000 clients, 100 of them stalled.** Real sockets on loopback, server and clients on a thread each. The latency
//!    is from just before an event is published to when a client has read it whole.
//!
//! `cargo bench --bench serve -- memory` or `-- clients` runs one of them.

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has nothing to say")]

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ssectl::backpressure::policy::Builder;
use ssectl::server::{Lab, Publication, STREAM_PATH, Server, ServerOptions, Socket};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn main() {
    let wanted = |name: &str| !std::env::args().any(|arg| ["memory", "clients"].contains(&arg.as_str()) && arg != name);
    if wanted("memory") {
        memory();
    }
    if wanted("clients") {
        clients();
    }
}

/// A socket that takes so many bytes until it is told otherwise.
#[derive(Debug, Default)]
struct Throttled(Mutex<usize>);

impl Socket for Throttled {
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut left = self.0.lock().unwrap();
        let count = bytes.len().min(*left);
        *left -= count;
        if count == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(count) }
    }
}

const SECONDS: u64 = 600;
const READ_BYTES_PER_SECOND: usize = 2_000;

/// The events of one second: 125 prices of 8 symbols, 42 trades, 1 notification; about 20 KB as SSE.
fn second(second: u64, mut publish: impl FnMut(&str, String)) {
    for n in 0..125 {
        let number = second * 125 + n;
        let price = format!(
            r#"{{"sym":"S{}","bid":"{number}.25","ask":"{number}.75","size":1200,"venue":"XETR","t":{number}}}"#,
            n % 8
        );
        publish("price", price);
        if n % 3 == 0 {
            let trade = format!(
                r#"{{"sym":"S{}","px":"{number}.50","qty":100,"side":"buy","id":"{number}-{number}","t":{number}}}"#,
                n % 8
            );
            publish("trade", trade);
        }
    }
    publish("notification", format!(r#"{{"text":"something that must not be lost, number {second}"}}"#));
}

struct Slow {
    peak: u64,
    published_bytes: u64,
    delivered: u64,
    summary: String,
}

fn slow_client(policies: &[&str], with_client: bool) -> Slow {
    let mut result = Slow { peak: 0, published_bytes: 0, delivered: 0, summary: String::new() };
    let info = allocation_counter::measure(|| {
        let mut builder = Builder::default();
        policies.iter().for_each(|policy| builder.rule(policy).unwrap());
        if policies.iter().any(|policy| policy.contains("100000000")) {
            builder.queue_bytes_max(usize::MAX / 2);
        }
        let policies = builder.build();
        let lab = Lab::new(&ServerOptions { policies, log_events: 1, first_id: Some(1), ..ServerOptions::default() });
        let socket = Arc::new(Throttled::default());
        let mut client = with_client.then(|| lab.client(socket.clone()).unwrap());
        for at in 0..SECONDS {
            *socket.0.lock().unwrap() = READ_BYTES_PER_SECOND;
            if let Some(key) = client {
                lab.flush(key);
            }
            second(at, |event, data| {
                result.published_bytes += (data.len() + event.len() + 32) as u64;
                lab.publish(Publication { id: None, event: event.to_owned(), data });
            });
            // A client that was cut comes back at once.
            if client.is_some()
                && lab.stats().slow_disconnects > 0
                && lab.standings().iter().all(|one| one.state == "ending")
            {
                client = lab.client(socket.clone());
            }
        }
        let stats = lab.stats();
        let total = stats.total();
        result.delivered = total.delivered;
        result.summary = format!(
            "{} delivered, {} coalesced, {} dropped, {} cuts",
            total.delivered, total.coalesced, total.dropped, stats.slow_disconnects
        );
    });
    result.peak = info.bytes_max;
    result
}

fn memory() {
    println!("one client that reads 2 KB/s of a mixed stream, ten minutes of virtual time");
    println!("{:<44} {:>12} {:>12}   what became of the events", "policy", "held, peak", "limit");
    let cases: [(&str, &[&str], Option<u64>); 5] = [
        ("*=buffer:256,overflow=notice", &["*=buffer:256,overflow=notice"], Some(90_000)),
        (
            "price, trade=coalesce, *=buffer:16 …notice",
            &["price=coalesce:/sym", "trade=coalesce:/sym", "*=buffer:16,overflow=notice"],
            Some(12_000),
        ),
        (
            "price=coalesce, trade=drop, *=buffer:16 …notice",
            &["price=coalesce:/sym", "trade=drop", "*=buffer:16,overflow=notice"],
            Some(12_000),
        ),
        ("price=resnapshot, *=buffer:64 …notice", &["price=resnapshot:/sym", "*=buffer:64,overflow=notice"], None),
        ("*=buffer:100000000 (unbounded)", &["*=buffer:100000000"], None),
    ];
    for (name, policies, limit) in cases {
        let with = slow_client(policies, true);
        let without = slow_client(policies, false);
        let held = with.peak - without.peak;
        let limit = limit.map_or("-".to_owned(), |limit| format!("{limit}{}", if held > limit { " OVER" } else { "" }));
        println!("{name:<44} {held:>12} {limit:>12}   {}", with.summary);
        if name.contains("256") {
            println!("{:<44} {:>12}", "  (published a second, in bytes)", with.published_bytes / SECONDS);
        }
    }
    println!();
}

const CLIENTS: usize = 1_000;
const EVENTS: u64 = 200;
const PERIOD: Duration = Duration::from_millis(50);
/// Large enough that a stalled client's buffers are full soon.
const DATA_BYTES: usize = 1_000;

/// Reads a stream for ever; sends the time at which each event had come.
async fn fast(addr: SocketAddr, begun: Instant, seen: Sender<(u64, Duration)>) {
    let mut socket = connect(addr).await;
    let mut text = Vec::new();
    loop {
        if socket.read_buf(&mut text).await.unwrap_or(0) == 0 {
            return;
        }
        while let Some(end) = text.windows(2).position(|two| two == b"\n\n") {
            let block: Vec<u8> = text.drain(..end + 2).collect();
            let block = String::from_utf8_lossy(&block);
            if let Some(number) = block.split("data: ").nth(1).and_then(|data| data.split(' ').next()?.parse().ok()) {
                let _ = seen.send((number, begun.elapsed()));
            }
        }
    }
}

async fn connect(addr: SocketAddr) -> TcpStream {
    let mut socket = TcpStream::connect(addr).await.unwrap();
    socket.write_all(format!("GET {STREAM_PATH} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    socket
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(0)
}

struct Run {
    latencies: Vec<Duration>,
    /// Resident size and queued bytes, at a quarter, half, three quarters and the end.
    memory: Vec<(u64, usize)>,
}

/// The server on this thread, the clients on another.
fn run(stalled: usize) -> Run {
    let begun = Instant::now();
    let mut builder = Builder::default();
    builder.rule("*=buffer:16,overflow=notice").unwrap();
    let options =
        ServerOptions { policies: builder.build(), first_id: Some(1), heartbeat: None, ..ServerOptions::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (seen, results) = channel();
    let mut published = Vec::new();
    let mut memory = Vec::new();
    runtime.block_on(async {
        let server = Server::start(options, []).await.unwrap();
        let addr = server.addr();
        let _clients = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut held = Vec::new();
                for number in 0..CLIENTS {
                    if number < stalled {
                        held.push(connect(addr).await);
                    } else {
                        tokio::spawn(fast(addr, begun, seen.clone()));
                    }
                }
                drop(seen);
                std::future::pending::<()>().await;
            });
        });
        server.live(CLIENTS).await;
        // The stalled ones' buffers are filled first, so that all that is measured is measured beside full queues.
        let publisher = server.publisher();
        let data = |number: u64| Publication {
            id: None,
            event: "tick".into(),
            data: format!("{number} {}", "x".repeat(DATA_BYTES)),
        };
        let warm_up = EVENTS * 10;
        for number in 0..warm_up {
            publisher.publish([data(number + 1_000_000)]);
            tokio::task::yield_now().await;
            let slow = server.standings(CLIENTS).iter().filter(|client| client.queue_frames >= 16).count();
            if slow >= stalled && stalled > 0 || number > 50 && stalled == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        for number in 0..EVENTS {
            tokio::time::sleep(PERIOD).await;
            published.push(begun.elapsed());
            publisher.publish([data(number)]);
            if (number + 1) % (EVENTS / 4) == 0 {
                memory.push((resident_kib(), server.standings(CLIENTS).iter().map(|client| client.queue_bytes).sum()));
            }
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    });
    let events = results.try_iter().filter(|(number, _)| *number < EVENTS);
    let mut latencies: Vec<_> =
        events.map(|(number, at)| at.saturating_sub(published[usize::try_from(number).unwrap()])).collect();
    latencies.sort();
    Run { latencies, memory }
}

fn clients() {
    println!("{CLIENTS} clients on loopback, {EVENTS} events of {DATA_BYTES} bytes, one each {PERIOD:?}");
    println!(
        "{:<10} {:>12} {:>10} {:>10} {:>10}   resident KiB and queued bytes, at each quarter",
        "stalled", "deliveries", "p50", "p99", "max"
    );
    for stalled in [0, 100, 0, 100] {
        let Run { latencies, memory } = run(stalled);
        let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
        let memory: Vec<_> = memory.iter().map(|(resident, queued)| format!("{resident}/{queued}")).collect();
        let millis = |duration: Duration| format!("{:.2} ms", duration.as_secs_f64() * 1000.0);
        println!(
            "{stalled:<10} {:>12} {:>10} {:>10} {:>10}   {}",
            latencies.len(),
            millis(at(0.5)),
            millis(at(0.99)),
            millis(at(1.0)),
            memory.join("  ")
        );
    }
}
