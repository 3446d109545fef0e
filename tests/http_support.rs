//! The log server that other tests rely on, tested by a client of a few lines.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use support::log::{Cut, LogEvent, LogServer, Start, TooOld};
use support::scripted::Server;

/// A connection that has sent its request.
struct Client(TcpStream);

impl Client {
    fn new(server: &Server, target: &str, cursor: Option<&str>) -> Self {
        let mut stream = TcpStream::connect(server.addr()).unwrap();
        stream.set_read_timeout(Some(support::PATIENCE)).unwrap();
        let cursor = cursor.map_or_else(String::new, |id| format!("Last-Event-ID: {id}\r\n"));
        write!(stream, "GET {target} HTTP/1.1\r\nHost: h\r\n{cursor}\r\n").unwrap();
        Self(stream)
    }

    /// All until the end of the connection.
    fn rest(mut self) -> String {
        let mut text = String::new();
        // A reset ends it too.
        let _ = self.0.read_to_string(&mut text);
        text
    }

    /// Reads until this text has come.
    fn until(&mut self, text: &str) -> String {
        let mut seen = String::new();
        let mut byte = [0];
        while !seen.contains(text) {
            self.0.read_exact(&mut byte).unwrap();
            seen.push(char::from(byte[0]));
        }
        seen
    }
}

fn ids(response: &str) -> Vec<&str> {
    response.lines().filter_map(|line| line.strip_prefix("id: ")).collect()
}

fn ask(server: &LogServer, cursor: Option<&str>) -> String {
    Client::new(server, "/e", cursor).rest()
}

#[test]
fn what_comes_after_the_cursor_is_served_and_204_when_nothing_does() {
    let server = LogServer::builder().events(1..=5).start();
    server.finish();
    assert_eq!(ids(&ask(&server, Some("3"))), ["4", "5"]);
    assert_eq!(ids(&ask(&server, None)), ["1", "2", "3", "4", "5"]);
    assert!(ask(&server, Some("5")).starts_with("HTTP/1.1 204 "));
    assert!(ask(&server, Some("3")).ends_with("0\r\n\r\n"));
    let cursors: Vec<_> = server.requests().iter().map(support::scripted::Request::last_event_id).collect();
    assert_eq!(cursors[..2], [Some("3".to_owned()), None]);
}

#[test]
fn retention_and_the_ways_of_too_old_cursors() {
    let with = |too_old| {
        let server = LogServer::builder().events(1..=5).retained_from(2).too_old(too_old).start();
        server.finish();
        server
    };
    let server = with(TooOld::Status(410));
    assert!(ask(&server, Some("1")).starts_with("HTTP/1.1 410 Gone"));
    assert_eq!(ids(&ask(&server, Some("2"))), ["3", "4", "5"]);
    assert_eq!(ids(&ask(&server, None)), ["3", "4", "5"]);
    assert_eq!(ids(&ask(&with(TooOld::ServeRetained), Some("unknown"))), ["3", "4", "5"]);
    assert!(ask(&with(TooOld::ServeLive), Some("1")).starts_with("HTTP/1.1 204"));
    server.discard_before("5");
    assert!(ask(&server, Some("3")).starts_with("HTTP/1.1 410 Gone"));
}

#[test]
fn the_ways_of_odd_servers() {
    let served = |builder: support::log::Builder, target: &str, cursor| {
        let server = builder.start();
        server.finish();
        let response = Client::new(&server, target, cursor).rest();
        ids(&response).join(" ")
    };
    let log = || LogServer::builder().events(1..=3);
    assert_eq!(served(log().inclusive(), "/", Some("2")), "2 3");
    assert_eq!(served(log().ignores_cursor(), "/", Some("2")), "1 2 3");
    assert_eq!(served(log().cursor_parameter("since"), "/?since=2", Some("1")), "3");
    assert_eq!(served(log().without_cursor(Start::Live), "/", None), "");
    // An exclusive server skips the rest of a group of equal ids.
    assert_eq!(served(log().event(LogEvent::new("2", "twin")).events(4..=4), "/", Some("2")), "4");
}

#[test]
fn live_connections_get_what_is_new_and_miss_what_is_dropped() {
    let server = LogServer::builder().events(1..=1).start();
    let mut client = Client::new(&server, "/e", None);
    client.until("data 1");
    server.wait_until_caught_up(0);
    server.push_dropped("2", "lost");
    server.comment("dropped 1 messages");
    server.push_event(LogEvent::new("3", "a\nb").of_type("trade"));
    let live = client.until("data: b\n");
    assert!(!live.contains("lost") && live.contains(": dropped 1 messages\n"), "{live}");
    assert!(live.contains("id: 3\nevent: trade\ndata: a\n"), "{live}");
    server.disconnect(Cut::Clean);
    assert!(client.rest().ends_with("0\r\n\r\n"));
    server.finish();
    let replayed = ask(&server, Some("1"));
    assert_eq!(ids(&replayed), ["2", "3"]);
    assert!(!replayed.contains(": dropped"));
}

#[test]
fn connections_are_cut_as_told() {
    let cut = |how| {
        let server = LogServer::builder().events(1..=3).cut_after(2, how).start();
        ask(&server, None)
    };
    assert!(cut(Cut::Clean).ends_with("0\r\n\r\n"));
    let truncated = cut(Cut::Truncated);
    assert!(ids(&truncated) == ["1", "2"] && truncated.ends_with("data: data 2\n\n\r\n"), "{truncated:?}");
    assert_eq!(ids(&cut(Cut::Reset)), ["1", "2"]);
    let half = cut(Cut::MidEvent);
    assert!(half.contains("id: 3\n") && !half.contains("data 3"), "{half}");
}

#[test]
fn refusals_come_once_each_in_order() {
    let server = LogServer::builder().events(1..=1).start();
    server.fail_next(503, "Retry-After: 1\r\n");
    server.fail_next(401, "");
    server.finish();
    let first = ask(&server, None);
    assert!(first.starts_with("HTTP/1.1 503 ") && first.contains("Retry-After: 1\r\n"), "{first}");
    assert!(ask(&server, None).starts_with("HTTP/1.1 401 "));
    assert_eq!(ids(&ask(&server, None)), ["1"]);
}

#[test]
fn a_client_that_goes_away_is_noticed() {
    let server = LogServer::builder().start();
    let mut client = Client::new(&server, "/e", None);
    client.until("\r\n\r\n");
    drop(client);
    server.wait_for_closed(0);
}
