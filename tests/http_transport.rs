//! The transport against a scripted server: what is sent, what is made of the answer, how bodies end.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod support;

use std::future::Future;
use std::time::{Duration, SystemTime};

use ssectl::consumer::id::EventId;
use ssectl::consumer::ports::{Attempt, Body, Broken, ConnectError, Connected, Transport};
use ssectl::http::{
    Bearer, BodySource, Header, HeaderSource, HttpBody, HttpTransport, Options, SendCursor, SetupError,
};
use ssectl::redact::Secret;
use support::scripted::{Gate, Request, Script, Server};
use url::Url;

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn options(url: &str) -> Options {
    Options::new(Url::parse(url).unwrap())
}

fn attempt(cursor: Option<&str>) -> Attempt {
    Attempt { cursor: cursor.map(|id| EventId::new(id).unwrap()) }
}

type Outcome = Result<Connected<HttpBody>, ConnectError>;

async fn connect(options: Options, cursor: Option<&str>) -> Outcome {
    HttpTransport::new(options).unwrap().connect(&attempt(cursor)).await
}

/// Makes one request of these options and gives what the server saw.
fn seen(path: &str, cursor: Option<&str>, change: impl FnOnce(&mut Options)) -> Request {
    let server = Server::start([Script::new().sse().close()]);
    let mut options = options(&server.url(path));
    change(&mut options);
    run(connect(options, cursor)).unwrap();
    server.requests().remove(0)
}

/// What comes of an answer of this status, header lines and body.
fn answered(status: u16, headers: &str, body: &str) -> Outcome {
    let server = Server::start([Script::new().respond(status, headers, body)]);
    run(connect(options(&server.url("/e")), None))
}

async fn rest(body: &mut HttpBody) -> (Vec<u8>, Option<Broken>) {
    let mut bytes = Vec::new();
    loop {
        match body.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return (bytes, None),
            Err(broken) => return (bytes, Some(broken)),
        }
    }
}

fn received(script: Script) -> (String, Option<Broken>) {
    let server = Server::start([script]);
    run(async {
        let mut connected = connect(options(&server.url("/e")), None).await.unwrap();
        let (bytes, end) = rest(&mut connected.body).await;
        (String::from_utf8(bytes).unwrap(), end)
    })
}

fn secret_options(url: &str) -> Options {
    let mut options = options(url);
    options.headers.push(HeaderSource::Inline(Header::new("X-Api-Key", "hunter2-key")));
    options.bearer = Some(Bearer::Token(Secret::new("hunter2-token")));
    options
}

fn causes(outcome: Outcome) -> String {
    match outcome {
        Err(ConnectError::Unusable { causes } | ConnectError::Unreachable { causes }) => causes.join(": "),
        other => panic!("{other:?}"),
    }
}

// What is sent

#[test]
fn a_plain_request_says_what_it_wants_and_who_it_is() {
    let request = seen("/e?x=%2b", None, |_| ());
    assert_eq!((request.method.as_str(), request.target.as_str()), ("GET", "/e?x=%2b"));
    assert_eq!(request.header("accept").as_deref(), Some("text/event-stream"));
    assert_eq!(request.header("cache-control").as_deref(), Some("no-store"));
    assert_eq!(request.header("accept-encoding").as_deref(), Some("identity"));
    assert_eq!(request.header("user-agent").unwrap(), format!("ssectl/{}", env!("CARGO_PKG_VERSION")));
    for absent in ["last-event-id", "authorization", "cookie", "content-type", "referer"] {
        assert_eq!(request.header(absent), None, "{absent}");
    }
}

#[test]
fn the_users_fields_take_the_place_of_the_default_ones() {
    let request = seen("/e", None, |options| {
        for line in ["accept: application/json", "User-Agent: me", "Cache-Control:", "X-A: 1", "X-A: 2", "X-E;"] {
            options.headers.push(HeaderSource::Inline(Header::parse(line).unwrap()));
        }
    });
    assert_eq!(request.header_values("accept"), ["application/json"]);
    assert_eq!(request.header_values("user-agent"), ["me"]);
    assert_eq!(request.header_values("x-a"), ["1", "2"]);
    assert_eq!(request.header_values("x-e"), [""]);
    assert_eq!(request.header("cache-control"), None);
}

#[test]
fn compression_is_asked_for_only_when_asked_to() {
    let request = seen("/e", None, |options| options.compressed = true);
    let asked = request.header("accept-encoding").unwrap();
    for coding in ["gzip", "br", "deflate", "zstd"] {
        assert!(asked.contains(coding), "{asked}");
    }
}

#[test]
fn the_cursor_goes_out_byte_for_byte() {
    for id in ["53990", "a b", "[{\"topic\":\"x\",\"offset\":-1}]", "\u{20ac} \u{e9}", "a\tb", "%2B+&#", "-0"] {
        let request = seen("/e", Some(id), |_| ());
        assert_eq!(request.header_bytes("last-event-id"), Some(id.as_bytes()), "{id}");
        assert_eq!(request.target, "/e");
    }
}

#[test]
fn a_cursor_that_no_header_can_carry_makes_no_request() {
    let server = Server::start([]);
    let outcome = run(connect(options(&server.url("/e")), Some("a\u{1}b")));
    assert!(matches!(outcome, Err(ConnectError::Unusable { .. })), "{outcome:?}");
    assert_eq!(server.connections(), 0);
}

#[test]
fn the_cursor_takes_the_place_of_the_users_own_last_event_id() {
    let own = |options: &mut Options| {
        options.headers.push(HeaderSource::Inline(Header::new("Last-Event-ID", "7")));
    };
    assert_eq!(seen("/e", Some("8"), own).header_values("last-event-id"), ["8"]);
    assert_eq!(seen("/e", None, own).header_values("last-event-id"), ["7"]);
}

#[test]
fn the_cursor_can_be_a_query_parameter() {
    let by_query = |options: &mut Options| options.send_cursor = SendCursor::Query("since".into());
    let request = seen("/e?a=%2b&since=1&b=x+y", Some("9+9&%#= \u{20ac}"), by_query);
    assert_eq!(request.target, "/e?a=%2b&since=9%2B9%26%25%23%3D%20%E2%82%AC&b=x+y");
    assert_eq!(request.parameter("since").as_deref(), Some("9+9&%#= \u{20ac}"));
    assert_eq!(request.header("last-event-id"), None);
    // Without a cursor the URL is the user's.
    assert_eq!(seen("/e?since=1", None, by_query).target, "/e?since=1");
}

#[test]
fn start_parameters_go_out_only_while_there_is_no_cursor() {
    let start = |options: &mut Options| {
        options.start_params =
            [("since", "2026-01-01"), ("topic", "a b"), ("topic", "c")].map(|(n, v)| (n.into(), v.into())).into();
    };
    assert_eq!(seen("/e?x=1&topic=z", None, start).target, "/e?x=1&topic=a%20b&topic=c&since=2026-01-01");
    assert_eq!(seen("/e?x=1&topic=z", Some("5"), start).target, "/e?x=1&topic=z");
}

#[test]
fn a_body_is_posted() {
    let request = seen("/e", None, |options| options.body = Some(BodySource::Inline(b"{\"a\":1}\n".to_vec())));
    assert_eq!((request.method.as_str(), request.body.as_slice()), ("POST", b"{\"a\":1}\n".as_slice()));
    assert_eq!(request.header("content-type").as_deref(), Some("application/x-www-form-urlencoded"));
    let request = seen("/e", None, |options| {
        options.method = Some("PUT".into());
        options.body = Some(BodySource::Inline(b"x".to_vec()));
        options.headers.push(HeaderSource::Inline(Header::new("Content-Type", "application/json")));
    });
    assert_eq!(request.method, "PUT");
    assert_eq!(request.header_values("content-type"), ["application/json"]);
}

#[test]
fn only_a_get_is_one() {
    let is_get = |change: fn(&mut Options)| {
        let server = Server::start([Script::new().sse().close()]);
        let mut options = options(&server.url("/e"));
        change(&mut options);
        run(connect(options, None)).unwrap().is_get
    };
    assert!(is_get(|_| ()));
    assert!(!is_get(|options| options.body = Some(BodySource::Inline(Vec::new()))));
    assert!(!is_get(|options| options.method = Some("QUERY".into())));
}

#[test]
fn files_are_read_again_at_each_attempt() {
    let dir = tempfile::tempdir().unwrap();
    let (headers, body) = (dir.path().join("headers"), dir.path().join("body"));
    std::fs::write(&headers, "Authorization: Basic one\r\n\nX-A: 1\n").unwrap();
    std::fs::write(&body, "first").unwrap();
    let server = Server::start([]).otherwise(Script::new().sse().close());
    let mut options = options(&server.url("/e"));
    options.headers.push(HeaderSource::File(headers.clone()));
    options.body = Some(BodySource::File(body.clone()));
    run(async {
        let mut transport = HttpTransport::new(options).unwrap();
        transport.connect(&attempt(None)).await.unwrap();
        std::fs::write(&headers, "Authorization: Basic two").unwrap();
        std::fs::write(&body, "second").unwrap();
        transport.connect(&attempt(None)).await.unwrap();
        std::fs::remove_file(&headers).unwrap();
        let text = causes(transport.connect(&attempt(None)).await);
        assert!(text.contains("cannot read") && text.contains("headers"), "{text}");
    });
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].header_values("authorization"), ["Basic one"]);
    assert_eq!(requests[0].header_values("x-a"), ["1"]);
    assert_eq!(requests[1].header_values("authorization"), ["Basic two"]);
    assert_eq!((requests[0].body.as_slice(), requests[1].body.as_slice()), (&b"first"[..], &b"second"[..]));
}

/// Standard input of a test is not its own, so this one runs in a child process.
#[test]
#[ignore = "run by `standard_input_is_read_once_and_sent_at_each_attempt`"]
fn child_that_posts_its_input() {
    let mut options = options(&std::env::var("SSECTL_TEST_URL").unwrap());
    options.body = Some(BodySource::Stdin);
    run(async {
        let mut transport = HttpTransport::new(options).unwrap();
        // Given up while the input is read, then tried twice.
        let _ = tokio::time::timeout(Duration::ZERO, transport.connect(&attempt(None))).await;
        println!("ready");
        for _ in 0..2 {
            transport.connect(&attempt(None)).await.unwrap();
        }
    });
}

#[test]
fn standard_input_is_read_once_and_sent_at_each_attempt() {
    use std::io::{BufRead as _, Write as _};
    let server = Server::start([]).otherwise(Script::new().sse().close());
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_posts_its_input", "--ignored", "--nocapture"])
        .env("SSECTL_TEST_URL", server.url("/e"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("ready")), "the child ends only after its input");
    child.stdin.take().unwrap().write_all(b"a prompt\n").unwrap();
    said.for_each(drop);
    assert!(child.wait().unwrap().success());
    let bodies: Vec<_> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies, [b"a prompt\n", b"a prompt\n"]);
}

#[test]
fn a_bad_line_of_a_header_file_is_named_by_number_and_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("headers");
    std::fs::write(&path, "X-A: 1\n\nBearer hunter2\n").unwrap();
    let mut options = options("http://127.0.0.1:9/");
    options.headers.push(HeaderSource::File(path));
    let text = causes(run(connect(options, None)));
    assert!(text.contains("line 3") && !text.contains("hunter2"), "{text}");
}

// Credentials

#[test]
fn credentials_of_the_url_the_flag_the_token_and_the_header_go_out_the_last_first() {
    let base = |change: fn(&mut Options)| {
        let server = Server::start([Script::new().sse().close()]);
        let url = server.url("/e").replace("http://", "http://url%40user:p%3Aw@");
        let mut options = options(&url);
        change(&mut options);
        run(connect(options, None)).unwrap();
        server.requests().remove(0).header_values("authorization")
    };
    assert_eq!(base(|_| ()), ["Basic dXJsQHVzZXI6cDp3"]);
    assert_eq!(base(|options| options.user = Some(Secret::new("me:pw"))), ["Basic bWU6cHc="]);
    let with_token = |options: &mut Options| {
        options.user = Some(Secret::new("me:pw"));
        options.bearer = Some(Bearer::Token(Secret::new("tok")));
    };
    assert_eq!(base(with_token), ["Bearer tok"]);
    let with_header = |options: &mut Options| {
        options.bearer = Some(Bearer::Token(Secret::new("tok")));
        options.headers.push(HeaderSource::Inline(Header::new("authorization", "Own x")));
    };
    assert_eq!(base(with_header), ["Own x"]);
}

#[test]
fn the_credential_command_is_run_at_each_attempt() {
    let dir = tempfile::tempdir().unwrap();
    let count = dir.path().join("count");
    let server = Server::start([]).otherwise(Script::new().sse().close());
    let mut options = options(&server.url("/e"));
    options.bearer = Some(Bearer::Command(format!(
        "echo x >> '{0}'; echo; echo \"  token-$(wc -l < '{0}' | tr -d ' ')  \"",
        count.display()
    )));
    run(async {
        let mut transport = HttpTransport::new(options).unwrap();
        transport.connect(&attempt(None)).await.unwrap();
        transport.connect(&attempt(None)).await.unwrap();
    });
    let sent: Vec<_> = server.requests().iter().map(|request| request.header("authorization").unwrap()).collect();
    assert_eq!(sent, ["Bearer token-1", "Bearer token-2"]);
}

#[test]
fn a_credential_command_that_fails_makes_no_request_and_its_output_is_not_shown() {
    let failure = |command: &str| {
        let mut options = options("http://127.0.0.1:9/");
        options.bearer = Some(Bearer::Command(command.to_owned()));
        let outcome = run(connect(options, None));
        assert!(matches!(outcome, Err(ConnectError::Unusable { .. })), "{outcome:?}");
        causes(outcome)
    };
    let text = failure("echo hunter2; echo 'vault is \u{1b}[1msealed' >&2; exit 3");
    assert!(text.contains("vault is \\u{1b}[1msealed") && text.contains('3') && !text.contains("hunter2"), "{text}");
    assert!(failure("true").contains("printed nothing"));
    assert!(failure("printf 'hunter2\\nhunter2'").contains("line break"));
    // One that never stops printing ends too.
    assert!(!failure("yes hunter2").contains("hunter2"));
}

// What is made of the answer

#[test]
fn an_event_stream_connects() {
    for kind in ["text/event-stream", "Text/Event-Stream;charset=utf-8"] {
        let connected =
            answered(200, &format!("Content-Type: {kind}\r\nX-Served-By: a\r\nSet-Cookie: s=1\r\n"), "data: x\n\n");
        let connected = connected.unwrap();
        assert_eq!(connected.status_line, "HTTP/1.1 200 OK");
        assert!(connected.is_get);
        let head = connected.body.head();
        assert_eq!(head.field("X-Served-By"), Some("a"));
        assert_eq!(head.field("set-cookie"), Some("***"));
        assert!(head.peer.is_some());
    }
}

#[test]
fn another_media_type_does_not() {
    let html = "\r\n \n  <title>\u{1b}]0;Sign in\u{7}</title>\nmore";
    match answered(200, "Content-Type: text/html; charset=utf-8\r\n", html) {
        Err(ConnectError::WrongType { content_type, first_line }) => {
            assert_eq!(content_type, "text/html; charset=utf-8");
            assert_eq!(first_line, "<title>\\u{1b}]0;Sign in\\u{7}</title>");
        }
        other => panic!("{other:?}"),
    }
    match answered(200, "", "") {
        Err(ConnectError::WrongType { content_type, first_line }) => assert_eq!(content_type + &first_line, ""),
        other => panic!("{other:?}"),
    }
    match answered(200, "Content-Type: text/plain\r\n", &"x".repeat(100_000)) {
        Err(ConnectError::WrongType { first_line, .. }) => assert_eq!(first_line, "x".repeat(512)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_line_of_a_body_that_does_not_come_is_not_waited_for() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhalf a line";
    let server = Server::start([Script::new().request().raw(head).keep_open()]);
    match run(connect(options(&server.url("/e")), None)) {
        Err(ConnectError::WrongType { first_line, .. }) => assert_eq!(first_line, "half a line"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_content_asks_to_end() {
    assert_eq!(answered(204, "", "").unwrap_err(), ConnectError::NoContent);
}

#[test]
fn statuses_are_told_apart_by_whether_they_are_retried() {
    for (code, expected) in [
        (400, false),
        (401, false),
        (404, false),
        (408, true),
        (410, false),
        (425, true),
        (429, true),
        (500, true),
        (503, true),
        (599, true),
        (201, false),
        (304, false),
    ] {
        match answered(code, "", "") {
            Err(ConnectError::Status { code: got, retryable, retry_after: None, .. }) => {
                assert_eq!((got, retryable), (code, expected));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_status_is_told_with_its_reason_and_first_line() {
    let detail = |code, body| match answered(code, "", body) {
        Err(ConnectError::Status { detail, .. }) => detail,
        other => panic!("{other:?}"),
    };
    assert_eq!(detail(404, "no such stream\nmore"), "Not Found: no such stream");
    assert_eq!(detail(410, ""), "Gone");
    assert_eq!(detail(599, "odd"), "odd");
}

#[test]
fn a_server_that_quotes_a_credential_is_not_quoted() {
    let server = Server::start([Script::new().respond(
        401,
        "",
        "bad token hunter2-token, key hunter2-key, query hunter2-query",
    )]);
    let outcome = run(connect(secret_options(&server.url("/e?api_key=hunter2-query")), None));
    match outcome {
        Err(ConnectError::Status { detail, .. }) => {
            assert_eq!(detail, "Unauthorized: bad token ***, key ***, query ***")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn retry_after_is_a_delay_from_now() {
    let delay = |value: &str| match answered(503, &format!("Retry-After: {value}\r\n"), "") {
        Err(ConnectError::Status { retry_after, retryable: true, .. }) => retry_after,
        other => panic!("{other:?}"),
    };
    assert_eq!(delay("120"), Some(Duration::from_secs(120)));
    assert_eq!(delay("soon"), None);
    let at = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3600));
    let until = delay(&at).unwrap();
    assert!(until <= Duration::from_secs(3600) && until > Duration::from_secs(3000), "{until:?}");
    assert_eq!(delay("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
}

#[test]
fn a_port_where_nobody_listens_is_unreachable_and_no_credential_is_told() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = Url::parse(&format!("http://me:hunter2-url@127.0.0.1:{port}/e?token=hunter2-query")).unwrap();
    let outcome = run(connect(secret_options(url.as_str()), None));
    assert!(matches!(outcome, Err(ConnectError::Unreachable { .. })), "{outcome:?}");
    let text = causes(outcome);
    assert!(text.starts_with(&format!("cannot connect to `127.0.0.1:{port}`: ")) && text.contains("refused"), "{text}");
    assert!(!text.contains("hunter2") && !text.contains("token"), "{text}");
}

#[test]
fn a_connection_that_ends_before_the_head_is_unreachable() {
    for script in [
        Script::new().request().close(),
        Script::new().request().raw("HTTP/1.1 2").cut(),
        Script::new().request().reset(),
    ] {
        let server = Server::start([script]);
        let outcome = run(connect(options(&server.url("/e")), None));
        assert!(matches!(outcome, Err(ConnectError::Unreachable { .. })), "{outcome:?}");
        assert_eq!(server.connections(), 1, "an attempt is one connection");
        let text = causes(outcome);
        assert!(text.contains("gave no response"), "{text}");
    }
}

#[test]
fn what_is_not_http_is_unreachable() {
    let server = Server::start([Script::new().request().raw("SSH-2.0-x\r\n").until_closed()]);
    assert!(matches!(run(connect(options(&server.url("/e")), None)), Err(ConnectError::Unreachable { .. })));
}

// Bodies

#[test]
fn a_body_comes_as_it_was_sent() {
    let text = "id: 1\ndata: a\n\n: ping\n\nid: 2\nda";
    for script in [
        Script::new().sse().send(&text[..7]).send(&text[7..]).close(),
        Script::new().sse_until_close().send(&text[..7]).send(&text[7..]).close(),
        Script::new().respond(200, "Content-Type: text/event-stream\r\n", text),
    ] {
        assert_eq!(received(script), (text.to_owned(), None));
    }
}

#[test]
fn a_body_cut_off_is_broken_after_all_that_came() {
    let length = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100\r\n\r\n";
    for script in [
        Script::new().sse().send("data: a\n\n").cut(),
        Script::new().sse().send("data: a\n\n").raw("ff\r\n").cut(),
        Script::new().request().raw(length).raw("data: a\n\n").cut(),
    ] {
        let (text, end) = received(script);
        assert_eq!(text, "data: a\n\n");
        let causes = end.expect("the body lacks its end").causes;
        assert!(causes.len() >= 2 && causes[0] == "the connection broke", "{causes:?}");
    }
}

#[test]
fn a_reset_is_broken() {
    let go = Gate::new();
    let server = Server::start([Script::new().sse().send("data: a\n\n").wait(&go).reset()]);
    run(async {
        let mut body = connect(options(&server.url("/e")), None).await.unwrap().body;
        assert_eq!(body.chunk().await.unwrap().unwrap(), "data: a\n\n");
        go.open();
        let causes = body.chunk().await.unwrap_err().causes.join(": ");
        assert!(causes.contains("reset"), "{causes}");
    });
}

#[test]
fn the_head_is_there_before_any_event_and_half_an_event_comes_at_once() {
    let (first, second) = (Gate::new(), Gate::new());
    let script = Script::new().sse().wait(&first).send("data: ha").wait(&second).send("lf\n\n").close();
    let server = Server::start([script]);
    run(async {
        let mut body = connect(options(&server.url("/e")), None).await.unwrap().body;
        first.open();
        assert_eq!(body.chunk().await.unwrap().unwrap(), "data: ha");
        second.open();
        assert_eq!(body.chunk().await.unwrap().unwrap(), "lf\n\n");
        assert!(body.chunk().await.unwrap().is_none());
    });
}

#[test]
fn a_wait_for_a_chunk_that_is_given_up_loses_nothing() {
    let go = Gate::new();
    let server = Server::start([Script::new().sse().send("a").wait(&go).send("b").send("c").close()]);
    run(async {
        let mut body = connect(options(&server.url("/e")), None).await.unwrap().body;
        assert_eq!(body.chunk().await.unwrap().unwrap(), "a");
        for _ in 0..3 {
            tokio::time::timeout(Duration::from_millis(1), body.chunk()).await.unwrap_err();
        }
        go.open();
        assert_eq!(rest(&mut body).await, (b"bc".to_vec(), None));
    });
}

#[test]
fn a_body_that_is_dropped_closes_the_connection() {
    let server = Server::start([Script::new().sse().send("data: a\n\n").until_closed()]);
    run(async {
        let mut transport = HttpTransport::new(options(&server.url("/e"))).unwrap();
        let mut body = transport.connect(&attempt(None)).await.unwrap().body;
        body.chunk().await.unwrap();
        drop(body);
        // The transport lives on; only the body went. The runtime must run for the socket to be closed.
        tokio::task::spawn_blocking(move || server.wait_for_closed(0)).await.unwrap();
        drop(transport);
    });
}

#[test]
fn an_attempt_that_is_given_up_closes_its_connection() {
    let server = Server::start([Script::new().request().until_closed()]);
    run(async {
        let mut transport = HttpTransport::new(options(&server.url("/e"))).unwrap();
        {
            let attempt = attempt(None);
            let mut connecting = std::pin::pin!(transport.connect(&attempt));
            while server.requests().is_empty() {
                tokio::time::timeout(Duration::from_millis(5), &mut connecting).await.unwrap_err();
            }
        }
        tokio::task::spawn_blocking(move || server.wait_for_closed(0)).await.unwrap();
    });
}

#[test]
fn every_attempt_is_a_connection_of_its_own() {
    let keep_alive = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata: a\n\n";
    let server = Server::start([]).otherwise(Script::new().request().raw(keep_alive).until_closed());
    run(async {
        let mut transport = HttpTransport::new(options(&server.url("/e"))).unwrap();
        for _ in 0..3 {
            let mut body = transport.connect(&attempt(None)).await.unwrap().body;
            assert_eq!(rest(&mut body).await.0, b"data: a\n\n");
        }
    });
    assert_eq!(server.requests().iter().map(|request| request.connection).collect::<Vec<_>>(), [0, 1, 2]);
}

/// A gzip member of stored blocks: what a server that flushes after each event sends.
fn gzip_of(parts: &[&str]) -> Vec<Vec<u8>> {
    let mut pieces = vec![vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]];
    for part in parts {
        let length = u16::try_from(part.len()).unwrap();
        let mut block = vec![0];
        block.extend(length.to_le_bytes());
        block.extend((!length).to_le_bytes());
        block.extend(part.as_bytes());
        pieces.push(block);
    }
    pieces
}

#[test]
fn a_compressed_event_comes_out_when_its_block_is_there_asked_for_or_not() {
    for compressed in [true, false] {
        let go = Gate::new();
        let pieces = gzip_of(&["data: a\n\n", "data: b\n\n"]);
        let script = Script::new().sse_with("Content-Encoding: gzip\r\n");
        let script = script.send(&pieces[0]).send(&pieces[1]).wait(&go).send(&pieces[2]).until_closed();
        let server = Server::start([script]);
        run(async {
            let mut options = options(&server.url("/e"));
            options.compressed = compressed;
            let mut body = connect(options, None).await.unwrap().body;
            assert_eq!(body.chunk().await.unwrap().unwrap(), "data: a\n\n");
            go.open();
            assert_eq!(body.chunk().await.unwrap().unwrap(), "data: b\n\n");
        });
    }
}

#[test]
fn an_encoding_that_nobody_knows_is_no_event_stream() {
    match answered(200, "Content-Type: text/event-stream\r\nContent-Encoding: lzma\r\n", "x") {
        Err(ConnectError::WrongType { content_type, .. }) => assert!(content_type.contains("lzma"), "{content_type}"),
        other => panic!("{other:?}"),
    }
}

// Options that cannot work

#[test]
fn options_that_cannot_work_are_refused_before_any_attempt() {
    let refused = |url: &str, change: fn(&mut Options)| {
        let mut options = options(url);
        change(&mut options);
        HttpTransport::new(options).expect_err("it cannot work")
    };
    assert_eq!(refused("ftp://h/", |_| ()), SetupError::Scheme("ftp".into()));
    assert_eq!(refused("http://h/", |o| o.method = Some("G ET".into())), SetupError::Method("G ET".into()));
    assert_eq!(refused("http://h/", |o| o.send_cursor = SendCursor::Query(String::new())), SetupError::NoParameterName);
    let bad_header = |o: &mut Options| o.headers.push(HeaderSource::Inline(Header::new("a b", "hunter2")));
    let error = refused("http://h/", bad_header);
    assert!(matches!(error, SetupError::Header { .. }) && error.is_usage() && error.hint().is_some());
    assert!(!error.to_string().contains("hunter2"));
    for proxy in ["gopher://me:hunter2@h", "http://me:hunter2@", ""] {
        let mut options = options("http://h/");
        options.proxy = Some(Secret::new(proxy));
        let error = HttpTransport::new(options).expect_err(proxy);
        assert!(matches!(error, SetupError::Proxy(_)), "{error:?}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
