//! The head of a request: method, path, and where a cursor may stand. Read by `httparse`, within a size and a time.

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use super::ServerOptions;

const HEADERS_MAX: usize = 100;
const READ_BYTES: usize = 1024;
const CURSOR: &str = "last-event-id";
/// As the parameter is spelt in the wild.
const CURSOR_PARAMETERS: [&str; 3] = [CURSOR, "lastEventId", "last_event_id"];

/// What is known of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) path: String,
    /// The id to start after. The header wins: a browser's reconnection sends it with the URL it was first given.
    pub(super) cursor: Option<String>,
    /// It was asked for by a name that a stranger's DNS could lead here.
    pub(super) is_of_a_foreign_host: bool,
}

/// Why there is no head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoHead {
    /// It is no HTTP.
    Bad,
    /// It is too large.
    TooLarge,
    /// It took too long.
    TooSlow,
    /// The client went away.
    Gone,
}

/// Reads a head.
pub(super) async fn read(socket: &mut TcpStream, options: &ServerOptions) -> Result<Head, NoHead> {
    let head = read_bytes(socket, options.head_bytes_max);
    let limit: Duration = options.head_time;
    tokio::time::timeout(limit, head).await.unwrap_or(Err(NoHead::TooSlow))
}

async fn read_bytes(socket: &mut TcpStream, bytes_max: usize) -> Result<Head, NoHead> {
    let mut bytes = Vec::with_capacity(READ_BYTES);
    loop {
        let before = bytes.len();
        let count = socket.read_buf(&mut bytes).await.map_err(|_| NoHead::Gone)?;
        if count == 0 {
            return Err(NoHead::Gone);
        }
        // Looked at again only when it may be whole: a head that comes byte by byte is not parsed a thousand times.
        let tail = &bytes[before.saturating_sub(3)..];
        let whole = tail.windows(2).any(|pair| pair == b"\n\n") || tail.windows(3).any(|three| three == b"\n\r\n");
        if whole && let Some(head) = parse(&bytes)? {
            return Ok(head);
        }
        if bytes.len() > bytes_max {
            return Err(NoHead::TooLarge);
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Option<Head>, NoHead> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(NoHead::TooLarge),
        Err(_) => return Err(NoHead::Bad),
    }
    let target = request.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let header = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(CURSOR));
    let of_header = header.map(|header| String::from_utf8_lossy(header.value).trim().to_owned());
    let is_cursor = |name: &str| CURSOR_PARAMETERS.contains(&name);
    let of_query = || url::form_urlencoded::parse(query.as_bytes()).find(|(name, _)| is_cursor(name));
    let host = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("host"));
    Ok(Some(Head {
        method: request.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        cursor: of_header.or_else(|| of_query().map(|(_, value)| value.into_owned())),
        is_of_a_foreign_host: host.is_some_and(|host| is_foreign(&String::from_utf8_lossy(host.value))),
    }))
}

/// A public name, which has a dot. Addresses and names without one (`localhost`, that of a container) lead nowhere else.
fn is_foreign(host: &str) -> bool {
    let host = host.trim();
    if host.starts_with('[') {
        return false;
    }
    let name = host.split_once(':').map_or(host, |(name, _)| name).trim_end_matches('.');
    let is_local = name.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case("localhost"));
    name.contains('.') && !is_local && name.parse::<Ipv4Addr>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Head {
        parse(text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn a_cursor_is_read_from_header_or_query() {
        let cursor = |text: &str| head(text).cursor;
        assert_eq!(cursor("GET /events HTTP/1.1\r\nLast-Event-ID:  a-7 \r\n\r\n").as_deref(), Some("a-7"));
        assert_eq!(cursor("GET /events?a=b&last-event-id=%3116 HTTP/1.1\r\n\r\n").as_deref(), Some("116"));
        assert_eq!(cursor("GET /e?lastEventId=7 HTTP/1.1\r\n\r\n").as_deref(), Some("7"));
        assert_eq!(cursor("GET /e?last_event_id=8 HTTP/1.1\r\n\r\n").as_deref(), Some("8"));
        assert_eq!(cursor("GET /e?last-event-id=1 HTTP/1.1\r\nlast-event-id: 2\r\n\r\n").as_deref(), Some("2"));
        assert_eq!(cursor("GET /e HTTP/1.1\r\n\r\n"), None);
        assert_eq!(head("GET /e?x HTTP/1.1\r\n\r\n").path, "/e");
    }

    #[test]
    fn a_public_name_is_foreign() {
        for host in ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example."] {
            assert!(head(&format!("GET /e HTTP/1.1\r\nhost: {host}\r\n\r\n")).is_of_a_foreign_host, "{host}");
        }
        for host in ["localhost", "LOCALHOST:1", "a.localhost:80", "127.0.0.1:8080", "[::1]:8080", "[::1]", "box", ""] {
            assert!(!head(&format!("GET /e HTTP/1.1\r\nHost: {host}\r\n\r\n")).is_of_a_foreign_host, "{host}");
        }
        assert!(!head("GET /e HTTP/1.0\r\n\r\n").is_of_a_foreign_host);
    }

    #[test]
    fn what_is_no_head_is_refused() {
        assert_eq!(parse(b"hello\r\n\r\n"), Err(NoHead::Bad));
        assert_eq!(parse(b"GET / HTTP/1.1\r\nA: b\r\n"), Ok(None));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(HEADERS_MAX + 1));
        assert_eq!(parse(many.as_bytes()), Err(NoHead::TooLarge));
    }
}
