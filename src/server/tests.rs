use super::{DemoServer, ServerOptions};
use std::collections::VecDeque;
use std::future::Future;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// A test that hangs fails; nothing is measured by it.
const HANG: Duration = Duration::from_secs(60);

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(HANG, test).await.expect("the test hangs") });
}

async fn start(options: ServerOptions) -> DemoServer {
    DemoServer::start(ServerOptions { heartbeat: None, first_id: 100, ..options }).await.unwrap()
}

/// The size of an event's data in a [`burst`], in bytes.
const BURST_DATA_BYTES: usize = 1024;

/// Publishes events of about 1 KiB at one instant.
fn burst(server: &DemoServer, count: usize) -> u64 {
    let padding = "x".repeat(BURST_DATA_BYTES);
    server.publish_all((1..=count).map(|n| ("burst".to_owned(), format!(r#"{{"n":{n},"padding":"{padding}"}}"#))))
}

/// A client that speaks just enough HTTP: one request, a chunked response, blocks of a stream.
struct Client {
    socket: TcpStream,
    head: String,
    raw: Vec<u8>,
    body: Vec<u8>,
    blocks: VecDeque<String>,
    ended: bool,
}

impl Client {
    async fn get(server: &DemoServer, target: &str, headers: &str) -> Self {
        Self::send(server, &format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n")).await
    }

    async fn send(server: &DemoServer, request: &str) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(16 * 1024).unwrap();
        let mut socket = socket.connect(server.addr).await.unwrap();
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut raw = Vec::new();
        while !raw.ends_with(b"\r\n\r\n") {
            raw.push(socket.read_u8().await.expect("a whole head"));
        }
        let head = String::from_utf8(raw).unwrap().to_lowercase();
        Self { socket, head, raw: Vec::new(), body: Vec::new(), blocks: VecDeque::new(), ended: false }
    }

    /// The next block; `None` at the clean end of the body.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some(block) = self.blocks.pop_front() {
                return Some(block);
            }
            if self.ended {
                assert_eq!(self.body, b"", "the body ends between blocks");
                return None;
            }
            let mut buffer = [0; 4096];
            let count = self.socket.read(&mut buffer).await.unwrap();
            assert_ne!(count, 0, "the connection ended within the body");
            self.raw.extend_from_slice(&buffer[..count]);
            self.unchunk();
            self.split();
        }
    }

    fn unchunk(&mut self) {
        while let Some(line_end) = find(&self.raw, b"\r\n") {
            let size = std::str::from_utf8(&self.raw[..line_end]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            let start = line_end + 2;
            if self.raw.len() < start + size + 2 {
                return;
            }
            self.body.extend_from_slice(&self.raw[start..start + size]);
            self.raw.drain(..start + size + 2);
            self.ended |= size == 0;
        }
    }

    fn split(&mut self) {
        while let Some(end) = find(&self.body, b"\n\n") {
            let block: Vec<u8> = self.body.drain(..end + 2).collect();
            self.blocks.push_back(String::from_utf8(block).unwrap());
        }
    }

    /// The id of the next block, which must be an event.
    async fn id(&mut self) -> u64 {
        let block = self.block().await.expect("an event");
        id_of(&block).unwrap_or_else(|| panic!("no event: {block:?}"))
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn id_of(block: &str) -> Option<u64> {
    block.lines().next()?.strip_prefix("id: ")?.parse().ok()
}

fn lost_in(block: &str) -> Option<u64> {
    let count = block.strip_prefix(": you are reading too slowly, dropped ")?;
    count.strip_suffix(" messages\n\n")?.parse().ok()
}

#[test]
fn live_events_come_as_they_are_published() {
    run(async {
        let server = start(ServerOptions::default()).await;
        server.publish("trade", "missed");
        let mut client = Client::get(&server, "/events", "").await;
        assert!(client.head.starts_with("http/1.1 200 ok\r\n"), "{}", client.head);
        assert!(client.head.contains("content-type: text/event-stream\r\n"), "{}", client.head);
        server.live(1).await;
        assert_eq!(server.publish("trade", r#"{"n":1}"#), 101);
        server.publish("message", "two\nlines");
        assert_eq!(client.block().await.unwrap(), "id: 101\nevent: trade\ndata: {\"n\":1}\n\n");
        assert_eq!(client.block().await.unwrap(), "id: 102\ndata: two\ndata: lines\n\n");
        assert_eq!(server.stats().connections, 1);
        assert_eq!(server.log().iter().map(|event| event.id).collect::<Vec<_>>(), [100, 101, 102]);
    });
}

#[test]
fn a_cursor_in_header_or_query_replays_what_follows_it() {
    run(async {
        let server = start(ServerOptions::default()).await;
        burst(&server, 20);
        let cases = [
            ("/events", "Last-Event-ID: 116\r\n"),
            ("/events?last-event-id=116", ""),
            ("/events?a=b&last-event-id=%3116", ""),
            ("/events?last-event-id=100", "Last-Event-ID: 116\r\n"),
        ];
        for (target, headers) in cases {
            let mut client = Client::get(&server, target, headers).await;
            for id in 117..=119 {
                assert_eq!(client.id().await, id, "{target} {headers}");
            }
            assert_eq!(server.last_cursor(), Some(116), "{target} {headers}");
        }
        assert_eq!(server.stats().replayed, 12);
        Client::get(&server, "/events", "").await;
        assert_eq!(server.last_cursor(), None);
    });
}

#[test]
fn a_burst_drops_the_same_number_each_time_for_a_client_of_any_speed() {
    run(async {
        let server = start(ServerOptions::default()).await;
        let mut client = Client::get(&server, "/events", "").await;
        server.live(1).await;
        assert_eq!(burst(&server, 2000), 2099);
        for id in 100..356 {
            assert_eq!(client.id().await, id);
        }
        let notice = client.block().await.unwrap();
        assert_eq!(notice, ": you are reading too slowly, dropped 1744 messages\n\n");
        server.publish("tick", "after");
        assert_eq!(client.id().await, 2100);
        let stats = server.stats();
        assert_eq!((stats.published, stats.discarded, stats.drop_notices), (2001, 1744, 1));
        let mut again = Client::get(&server, "/events", "Last-Event-ID: 355\r\n").await;
        for id in 356..=2100 {
            assert_eq!(again.id().await, id, "the log has what was discarded");
        }
    });
}

#[test]
fn a_client_that_does_not_read_is_felt_through_the_socket() {
    run(async {
        let server = start(ServerOptions { queue_events: 32, ..ServerOptions::default() }).await;
        let mut client = Client::get(&server, "/events", "").await;
        server.live(1).await;
        while server.stats().discarded == 0 {
            burst(&server, 1);
            tokio::task::yield_now().await;
        }
        let last = burst(&server, 100);
        let (mut expected, mut lost) = (100, 0);
        while expected <= last {
            let block = client.block().await.unwrap();
            if let Some(count) = lost_in(&block) {
                lost += count;
                expected += count;
            } else {
                assert_eq!(id_of(&block), Some(expected));
                expected += 1;
            }
        }
        assert_eq!(expected, last + 1);
        assert!(lost >= 100);
        assert_eq!(lost, server.stats().discarded);
    });
}

#[test]
fn the_seam_from_replay_to_live_has_no_hole_and_no_repeat() {
    run(async {
        let server = start(ServerOptions { queue_events: 10_000, ..ServerOptions::default() }).await;
        burst(&server, 300);
        let mut client = Client::get(&server, "/events", "Last-Event-ID: 149\r\n").await;
        let publish = async {
            for _ in 0..300 {
                burst(&server, 1);
                tokio::task::yield_now().await;
            }
        };
        let read = async {
            for id in 150..700 {
                assert_eq!(client.id().await, id);
            }
        };
        tokio::join!(publish, read);
        let replayed = server.stats().replayed;
        assert!((150..=550).contains(&replayed), "{replayed}");
        server.live(1).await;
    });
}

#[test]
fn heartbeats_fill_silence_and_retry_comes_first() {
    run(async {
        let (heartbeat, retry) = (Some(Duration::from_millis(5)), Some(Duration::from_millis(250)));
        let server = DemoServer::start(ServerOptions { heartbeat, retry, ..ServerOptions::default() }).await.unwrap();
        let mut client = Client::get(&server, "/events", "").await;
        assert_eq!(client.block().await.unwrap(), "retry: 250\n\n");
        for _ in 0..3 {
            assert_eq!(client.block().await.unwrap(), ": heartbeat\n\n");
        }
    });
}

#[test]
fn stop_delivers_what_is_queued_and_ends_cleanly() {
    run(async {
        let server = start(ServerOptions::default()).await;
        let mut client = Client::get(&server, "/events", "").await;
        let _idle = TcpStream::connect(server.addr).await.unwrap();
        server.live(1).await;
        server.publish("tick", "last");
        let addr = server.addr;
        let (client, ()) = tokio::join!(
            async {
                assert_eq!(client.id().await, 100);
                assert_eq!(client.block().await, None);
                client
            },
            server.stop(),
        );
        drop(client);
        assert!(TcpStream::connect(addr).await.is_err(), "nobody listens any more");
    });
}

#[test]
fn stop_does_not_wait_for_a_client_that_never_reads() {
    run(async {
        let server = start(ServerOptions::default()).await;
        let _client = Client::get(&server, "/events", "").await;
        server.live(1).await;
        burst(&server, 256);
        server.stop().await;
    });
}

#[test]
fn disconnect_ends_streams_and_the_next_connection_goes_on() {
    run(async {
        let server = start(ServerOptions::default()).await;
        let mut client = Client::get(&server, "/events", "").await;
        server.live(1).await;
        server.publish("tick", "one");
        server.disconnect();
        server.publish("tick", "two");
        assert_eq!(client.id().await, 100);
        assert_eq!(client.block().await, None);
        let mut client = Client::get(&server, "/events", "Last-Event-ID: 100\r\n").await;
        assert_eq!(client.id().await, 101);
    });
}

#[test]
fn a_client_that_went_away_is_forgotten() {
    run(async {
        let server = start(ServerOptions::default()).await;
        let client = Client::get(&server, "/events", "").await;
        server.live(1).await;
        drop(client);
        while server.hub.live() > 0 {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn other_requests_are_refused() {
    run(async {
        let server = start(ServerOptions::default()).await;
        let client = Client::get(&server, "/", "").await;
        assert!(client.head.starts_with("http/1.1 404 "), "{}", client.head);
        let client = Client::send(&server, "DELETE /events HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        assert!(client.head.starts_with("http/1.1 405 "), "{}", client.head);
        assert!(client.head.contains("allow: get\r\n"), "{}", client.head);
        assert_eq!(server.stats().connections, 0);
    });
}
