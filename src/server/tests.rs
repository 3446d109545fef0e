use std::collections::VecDeque;
use std::future::Future;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::{DemoServer, Publication, STREAM_PATH, Server, ServerOptions};
use crate::backpressure::Policies;

/// A test that hangs fails; nothing is measured by it.
const HANG: Duration = Duration::from_secs(60);

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(HANG, test).await.expect("the test hangs") });
}

fn options(policies: &[&str]) -> ServerOptions {
    let policies = Policies::parse(policies.iter().copied()).unwrap();
    ServerOptions { heartbeat: None, first_id: Some(100), policies, ..ServerOptions::default() }
}

async fn start(policies: &[&str]) -> Server {
    Server::start(options(policies), []).await.unwrap()
}

fn publish(server: &Server, event: &str, data: &str) {
    server.publisher().publish([Publication { id: None, event: event.into(), data: data.into() }]);
}

/// A client that speaks just enough HTTP: one request, a response that ends with its connection.
struct Client {
    socket: TcpStream,
    head: String,
    body: Vec<u8>,
    blocks: VecDeque<String>,
}

impl Client {
    async fn get(server: &Server, target: &str, headers: &str) -> Self {
        Self::send(server, &format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n")).await
    }

    async fn send(server: &Server, request: &str) -> Self {
        Self::send_to(server.addr(), request).await
    }

    async fn send_to(addr: std::net::SocketAddr, request: &str) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(16 * 1024).unwrap();
        let mut socket = socket.connect(addr).await.unwrap();
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut raw = Vec::new();
        while !raw.ends_with(b"\r\n\r\n") {
            raw.push(socket.read_u8().await.expect("a whole head"));
        }
        let head = String::from_utf8(raw).unwrap();
        Self { socket, head, body: Vec::new(), blocks: VecDeque::new() }
    }

    /// The next block; `None` at the clean end of the body.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some(block) = self.blocks.pop_front() {
                return Some(block);
            }
            let mut buffer = [0; 4096];
            let count = self.socket.read(&mut buffer).await.unwrap();
            if count == 0 {
                assert_eq!(self.body, b"", "the body ends between blocks");
                return None;
            }
            self.body.extend_from_slice(&buffer[..count]);
            while let Some(end) = self.body.windows(2).position(|two| two == b"\n\n") {
                let block: Vec<u8> = self.body.drain(..end + 2).collect();
                self.blocks.push_back(String::from_utf8(block).unwrap());
            }
        }
    }

    async fn rest(mut self) -> String {
        let mut text = String::new();
        self.socket.read_to_string(&mut text).await.unwrap();
        text
    }

    /// The id of the next block, which must be an event.
    async fn id(&mut self) -> u64 {
        let block = self.block().await.expect("an event");
        id_of(&block).unwrap_or_else(|| panic!("no event: {block:?}"))
    }
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
        let server = start(&[]).await;
        publish(&server, "trade", "missed");
        let mut client = Client::get(&server, STREAM_PATH, "").await;
        assert!(client.head.starts_with("HTTP/1.1 200 OK\r\n"), "{}", client.head);
        assert!(client.head.contains("content-type: text/event-stream\r\n"), "{}", client.head);
        server.live(1).await;
        publish(&server, "trade", r#"{"n":1}"#);
        publish(&server, "message", "two\nlines");
        assert_eq!(client.block().await.unwrap(), "id: 101\nevent: trade\ndata: {\"n\":1}\n\n");
        assert_eq!(client.block().await.unwrap(), "id: 102\ndata: two\ndata: lines\n\n");
        assert_eq!(server.stats().connections, 1);
    });
}

#[test]
fn a_cursor_in_header_or_query_replays_what_follows_it() {
    run(async {
        let server = start(&[]).await;
        (0..20).for_each(|_| publish(&server, "tick", ""));
        let cases = [
            (STREAM_PATH, "Last-Event-ID: 116\r\n"),
            ("/events?last-event-id=116", ""),
            ("/events?last-event-id=100", "Last-Event-ID: 116\r\n"),
        ];
        for (target, headers) in cases {
            let mut client = Client::get(&server, target, headers).await;
            for id in 117..=119 {
                assert_eq!(client.id().await, id, "{target} {headers}");
            }
        }
        let client = Client::get(&server, STREAM_PATH, "Last-Event-ID: nonsense\r\n").await;
        assert!(client.head.starts_with("HTTP/1.1 410 "), "{}", client.head);
    });
}

#[test]
fn a_client_that_does_not_read_is_felt_through_the_socket_and_loses_what_it_is_told() {
    run(async {
        let server = start(&["*=buffer:32,overflow=notice"]).await;
        let mut client = Client::get(&server, STREAM_PATH, "").await;
        server.live(1).await;
        let data = "x".repeat(1000);
        let mut last = 99;
        while server.stats().total().dropped < 100 {
            publish(&server, "tick", &data);
            last += 1;
            tokio::task::yield_now().await;
        }
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
        assert_eq!(lost, server.stats().total().dropped);
    });
}

#[test]
fn the_seam_from_replay_to_live_has_no_hole_and_no_repeat() {
    run(async {
        let server = start(&["*=buffer:100000"]).await;
        let data = "x".repeat(1000);
        (0..300).for_each(|_| publish(&server, "tick", &data));
        let mut client = Client::get(&server, STREAM_PATH, "Last-Event-ID: 149\r\n").await;
        let publishing = async {
            for _ in 0..300 {
                publish(&server, "tick", &data);
                tokio::task::yield_now().await;
            }
        };
        let reading = async {
            for id in 150..700 {
                assert_eq!(client.id().await, id);
            }
        };
        tokio::join!(publishing, reading);
        server.live(1).await;
    });
}

#[test]
fn heartbeats_fill_silence_and_retry_comes_first() {
    run(async {
        let (heartbeat, retry) = (Some(Duration::from_millis(5)), Some(Duration::from_millis(250)));
        let server = Server::start(ServerOptions { heartbeat, retry, ..options(&[]) }, []).await.unwrap();
        let mut client = Client::get(&server, STREAM_PATH, "").await;
        assert_eq!(client.block().await.unwrap(), "retry: 250\n\n");
        for _ in 0..3 {
            assert_eq!(client.block().await.unwrap(), ": heartbeat\n\n");
        }
    });
}

#[test]
fn stop_tells_clients_when_to_come_back_and_ends_cleanly() {
    run(async {
        let server = start(&[]).await;
        let mut client = Client::get(&server, STREAM_PATH, "").await;
        let _idle = TcpStream::connect(server.addr()).await.unwrap();
        server.live(1).await;
        publish(&server, "tick", "last");
        let addr = server.addr();
        let (client, ()) = tokio::join!(
            async {
                assert_eq!(client.id().await, 100);
                assert_eq!(client.block().await.unwrap(), "retry: 1000\n\n");
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
        let server = start(&["*=drop"]).await;
        let _client = Client::get(&server, STREAM_PATH, "").await;
        server.live(1).await;
        let data = "x".repeat(10_000);
        while server.stats().total().dropped == 0 {
            publish(&server, "tick", &data);
        }
        server.stop().await;
    });
}

#[test]
fn a_client_that_went_away_is_forgotten() {
    run(async {
        let server = start(&[]).await;
        let client = Client::get(&server, STREAM_PATH, "").await;
        server.live(1).await;
        drop(client);
        while !server.standings(1).is_empty() {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn state_and_metrics_can_be_fetched() {
    run(async {
        let server = start(&["price=coalesce:/sym"]).await;
        publish(&server, "price", r#"{"sym":"A","p":1}"#);
        publish(&server, "price", r#"{"sym":"A","p":2}"#);
        let snapshot = Client::get(&server, "/snapshot", "").await.rest().await;
        let snapshot: serde_json::Value = serde_json::from_str(&snapshot).unwrap();
        assert_eq!(snapshot["last_event_id"], "101");
        assert_eq!(snapshot["state"].as_array().unwrap().len(), 1);
        assert_eq!(snapshot["state"][0]["data"], r#"{"sym":"A","p":2}"#);
        let metrics = Client::get(&server, "/metrics", "").await.rest().await;
        assert!(metrics.contains("ssectl_serve_published_total{type=\"price\"} 2\n"), "{metrics}");
        assert!(metrics.ends_with("# EOF\n"), "{metrics}");
        let page = Client::get(&server, "/", "").await;
        assert!(page.head.contains("content-type: text/html"), "{}", page.head);
        let mut figures = Client::get(&server, "/stats", "").await;
        let block = figures.block().await.unwrap();
        assert!(block.starts_with("event: stats\ndata: {"), "{block}");
    });
}

#[test]
fn what_is_no_good_request_is_refused() {
    run(async {
        let head_time = Duration::from_millis(20);
        let server =
            Server::start(ServerOptions { head_time, head_bytes_max: 2000, ..options(&[]) }, []).await.unwrap();
        let long = format!("GET / HTTP/1.1\r\nA: {}\r\n", "b".repeat(3000));
        for (request, status) in [
            ("GET /nowhere HTTP/1.1\r\n\r\n", "404"),
            ("DELETE /events HTTP/1.1\r\n\r\n", "405"),
            ("nonsense\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\n", "408"),
            (&long, "431"),
        ] {
            let client = Client::send(&server, request).await;
            assert!(client.head.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {}", client.head);
        }
        assert_eq!(server.stats().connections, 0);
    });
}

#[test]
fn no_more_clients_than_may_be() {
    run(async {
        let server = Server::start(ServerOptions { clients_max: 1, ..options(&[]) }, []).await.unwrap();
        let _first = Client::get(&server, STREAM_PATH, "").await;
        let second = Client::get(&server, STREAM_PATH, "").await;
        assert!(second.head.starts_with("HTTP/1.1 503 ") && second.head.contains("retry-after: 5"), "{}", second.head);
    });
}

#[test]
fn a_burst_of_the_demo_drops_the_same_number_for_a_client_of_any_speed() {
    run(async {
        let server = DemoServer::start(100, 256).await.unwrap();
        let mut client = Client::send_to(server.addr(), "GET /events HTTP/1.1\r\n\r\n").await;
        server.live(1).await;
        let data = "x".repeat(1000);
        assert_eq!(server.publish_all((0..2000).map(|_| ("burst".to_owned(), data.clone()))), 2099);
        for id in 100..356 {
            assert_eq!(client.id().await, id);
        }
        assert_eq!(lost_in(&client.block().await.unwrap()), Some(1744));
        assert_eq!(server.publish("tick", "after"), 2100);
        assert_eq!(client.id().await, 2100);
        assert_eq!(server.log().len(), 2001);
    });
}
