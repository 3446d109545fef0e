//! Which response a request gets. Knows paths and methods; the log only by its hub.

use super::head::{Head, NoHead};
use super::hub::{Begun, Hub};
use super::{METRICS_PATH, SNAPSHOT_PATH, STATS_PATH, STREAM_PATH, ServerOptions, metrics};

/// The page that shows the server's figures.
const PAGE: &str = include_str!("page.html");

const TEXT: &str = "text/plain; charset=utf-8";

/// What a request gets.
pub(super) enum Answer {
    /// A whole response.
    Whole(Vec<u8>),
    /// The event stream.
    Stream,
    /// The stream of figures.
    Stats,
}

/// The answer to a request.
pub(super) fn answer(head: &Head, hub: &Hub, options: &ServerOptions) -> Answer {
    if head.is_of_a_foreign_host && !options.any_host {
        // A page of that name would read it in a browser on this machine (DNS rebinding).
        let text = "this server is for this machine alone: ask for it at localhost\n";
        return Answer::Whole(response("421 Misdirected Request", TEXT, text.as_bytes(), ""));
    }
    let known = [STREAM_PATH, STATS_PATH, SNAPSHOT_PATH, METRICS_PATH, "/"];
    if !known.contains(&head.path.as_str()) {
        let text = format!("there are only {} here\n", known.join(", "));
        return Answer::Whole(response("404 Not Found", TEXT, text.as_bytes(), ""));
    }
    if head.method != "GET" {
        return Answer::Whole(response(
            "405 Method Not Allowed",
            TEXT,
            b"everything here is read with GET\n",
            "allow: GET\r\n",
        ));
    }
    match head.path.as_str() {
        STREAM_PATH => Answer::Stream,
        STATS_PATH => Answer::Stats,
        SNAPSHOT_PATH => {
            let json = serde_json::to_vec(&hub.snapshot()).expect("texts under names are JSON");
            Answer::Whole(response("200 OK", "application/json", &json, ""))
        }
        METRICS_PATH => Answer::Whole(response("200 OK", metrics::MEDIA_TYPE, metrics::text(hub).as_bytes(), "")),
        _ => Answer::Whole(response("200 OK", "text/html; charset=utf-8", PAGE.as_bytes(), PAGE_HEADERS)),
    }
}

/// The page needs nothing but itself and its own stream.
const PAGE_HEADERS: &str = "content-security-policy: default-src 'none'; style-src 'unsafe-inline'; \
                            script-src 'unsafe-inline'; connect-src 'self'\r\n";

/// The answer to what is no request.
pub(super) fn no_head(why: NoHead) -> Answer {
    let (status, text) = match why {
        NoHead::TooLarge => ("431 Request Header Fields Too Large", "the head of the request is too large\n"),
        NoHead::TooSlow => ("408 Request Timeout", "the head of the request took too long\n"),
        NoHead::Bad | NoHead::Gone => ("400 Bad Request", "this is no HTTP request\n"),
    };
    Answer::Whole(response(status, TEXT, text.as_bytes(), ""))
}

/// The answer to a request for a stream that cannot be had.
pub(super) fn no_stream(begun: Begun, options: &ServerOptions) -> Vec<u8> {
    match begun {
        Begun::Full => {
            let text = format!("there are {} clients already, and no room for more\n", options.clients_max);
            response("503 Service Unavailable", TEXT, text.as_bytes(), "retry-after: 5\r\n")
        }
        Begun::Expired | Begun::Here(_) => {
            let text = format!("the log does not have this event id; {SNAPSHOT_PATH} has the current state\n");
            response("410 Gone", TEXT, text.as_bytes(), "")
        }
    }
}

/// The head of a stream. It has no length and no framing: it ends with its connection (RFC 9112, section 6.3).
pub(super) fn stream_head() -> &'static [u8] {
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store\r\nx-accel-buffering: no\r\n\
      connection: close\r\n\r\n"
}

fn response(status: &str, media_type: &str, body: &[u8], headers: &str) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {media_type}\r\ncontent-length: {}\r\ncache-control: no-store\r\n\
         connection: close\r\n{headers}\r\n",
        body.len()
    );
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(body);
    bytes
}
