//! Redirects, proxies and TLS: where a request goes, and what goes along.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod support;

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use ssectl::consumer::id::EventId;
use ssectl::consumer::ports::{Attempt, Body, ConnectError, Connected, Transport};
use ssectl::http::{
    Bearer, BodySource, Header, HeaderSource, HttpBody, HttpTransport, Options, SendCursor, SetupError,
};
use ssectl::redact::Secret;
use support::scripted::{Conn, Gate, Request, Script, Server};
use url::Url;

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

type Outcome = Result<Connected<HttpBody>, ConnectError>;

fn connect(url: &str, cursor: Option<&str>, change: impl FnOnce(&mut Options)) -> Outcome {
    let mut options = Options::new(Url::parse(url).unwrap());
    change(&mut options);
    let attempt = Attempt { cursor: cursor.map(|id| EventId::new(id).unwrap()) };
    run(async { HttpTransport::new(options).unwrap().connect(&attempt).await })
}

fn stream() -> Script {
    Script::new().sse().send("data: a\n\n").close()
}

fn with_secrets(options: &mut Options) {
    for line in ["Cookie: s=1", "X-Api-Key: k", "X-Tenant: t", "Host: virtual.example"] {
        options.headers.push(HeaderSource::Inline(Header::parse(line).unwrap()));
    }
    options.bearer = Some(Bearer::Token(Secret::new("token")));
}

// Redirects

#[test]
fn the_cursor_goes_along_and_each_attempt_starts_at_the_original_url() {
    for status in [301, 302, 303, 307, 308] {
        let server = Server::start([Script::redirect(status, "/b?x=1#part"), stream(), stream()]);
        let mut options = Options::new(Url::parse(&server.url("/a")).unwrap());
        options.headers.push(HeaderSource::Inline(Header::new("Authorization", "Basic x")));
        run(async {
            let mut transport = HttpTransport::new(options).unwrap();
            for cursor in ["5", "6"] {
                let attempt = Attempt { cursor: EventId::new(cursor) };
                transport.connect(&attempt).await.unwrap();
            }
        });
        let requests = server.requests();
        let seen: Vec<_> = requests.iter().map(|r| (r.target.as_str(), r.last_event_id().unwrap())).collect();
        assert_eq!(seen, [("/a", "5".to_owned()), ("/b?x=1", "5".to_owned()), ("/a", "6".to_owned())]);
        assert!(requests.iter().all(|r| r.header("authorization").as_deref() == Some("Basic x")));
    }
}

#[test]
fn a_cursor_in_the_query_goes_along_once() {
    let by_query = |options: &mut Options| {
        options.send_cursor = SendCursor::Query("since".into());
        options.start_params = vec![("from".into(), "1".into())];
    };
    let targets = |location: &str, cursor| {
        let server = Server::start([Script::redirect(302, location), stream()]);
        connect(&server.url("/a"), cursor, by_query).unwrap();
        server.requests().into_iter().map(|request| request.target).collect::<Vec<_>>()
    };
    assert_eq!(targets("/b?y=%2b", Some("5+5")), ["/a?since=5%2B5", "/b?y=%2b&since=5%2B5"]);
    assert_eq!(targets("/b?since=5%2B5&y", Some("5+5")), ["/a?since=5%2B5", "/b?since=5%2B5&y"]);
    assert_eq!(targets("/b", None), ["/a?from=1", "/b?from=1"]);
}

#[test]
fn credentials_stay_at_home_and_the_cursor_does_not() {
    let (home, away) = (Server::start([]), Server::start([]));
    home.add(Script::redirect(307, &away.url("/away")));
    away.add(Script::redirect(307, &home.url("/home-again")));
    home.add(stream());
    connect(&home.url("/a"), Some("5"), with_secrets).unwrap();
    let (at_home, abroad) = (home.requests(), away.requests());
    assert_eq!(at_home[0].header("authorization").as_deref(), Some("Bearer token"));
    assert_eq!(at_home[0].header("host").as_deref(), Some("virtual.example"));
    for request in [&abroad[0], &at_home[1]] {
        for name in ["authorization", "cookie", "x-api-key"] {
            assert_eq!(request.header(name), None, "{name}");
        }
        assert_eq!(request.header("x-tenant").as_deref(), Some("t"));
        assert_eq!(request.last_event_id().as_deref(), Some("5"));
    }
    assert_eq!(abroad[0].header("host").unwrap(), away.addr().to_string());
}

#[test]
fn fields_of_a_file_and_the_user_of_a_url_stay_at_home_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("headers");
    std::fs::write(&path, "X-Plain: p\n").unwrap();
    let (home, away) = (Server::start([]), Server::start([stream()]));
    home.add(Script::redirect(307, &away.url("/away").replace("http://", "http://other:pw@")));
    let url = home.url("/a").replace("http://", "http://me:pw@");
    connect(&url, None, |options| options.headers.push(HeaderSource::File(path))).unwrap();
    assert_eq!(home.requests()[0].header("x-plain").as_deref(), Some("p"));
    assert!(home.requests()[0].header("authorization").is_some());
    assert_eq!(away.requests()[0].header("x-plain"), None);
    assert_eq!(away.requests()[0].header("authorization"), None);
}

#[test]
fn a_refusal_abroad_says_that_credentials_were_not_sent() {
    let (home, away) = (Server::start([]), Server::start([Script::new().respond(401, "", "")]));
    home.add(Script::redirect(307, &away.url("/away")));
    match connect(&home.url("/a"), None, with_secrets) {
        Err(ConnectError::Status { code: 401, detail, .. }) => {
            assert!(detail.contains(&away.addr().to_string()) && detail.contains("credentials"), "{detail}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_method_and_the_body_go_along_where_the_status_says_so() {
    let after = |status: u16, method: &str| -> Request {
        let server = Server::start([Script::redirect(status, "/b"), stream()]);
        let connected = connect(&server.url("/a"), Some("5"), |options| {
            options.method = Some(method.to_owned());
            options.body = Some(BodySource::Inline(b"prompt".to_vec()));
        });
        // By what the user asked for, whatever the redirect made of it: the prompt would be sent again.
        assert!(!connected.unwrap().is_get);
        server.requests().remove(1)
    };
    for (status, method) in [(307, "POST"), (308, "POST"), (301, "PUT"), (302, "PUT")] {
        let request = after(status, method);
        assert_eq!((request.method.as_str(), request.body.as_slice()), (method, &b"prompt"[..]), "{status}");
        assert!(request.header("content-type").is_some());
    }
    for (status, method) in [(301, "POST"), (302, "POST"), (303, "POST"), (303, "PUT")] {
        let request = after(status, method);
        assert_eq!((request.method.as_str(), request.body.as_slice()), ("GET", &b""[..]), "{status}");
        assert_eq!(request.header("content-type"), None);
        assert_eq!(request.header("content-length"), None);
        assert_eq!(request.last_event_id().as_deref(), Some("5"));
    }
}

fn bad_redirect(outcome: Outcome) -> String {
    match outcome {
        Err(ConnectError::BadRedirect(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_redirect_that_leads_nowhere_is_told() {
    let answer = |script: Script| {
        let server = Server::start([]).otherwise(script);
        bad_redirect(connect(&server.url("/a?token=hunter2"), None, |_| ()))
    };
    let missing = answer(Script::new().respond(302, "", ""));
    assert!(missing.contains("without a `Location`") && missing.contains("/a?token=***"), "{missing}");
    assert!(answer(Script::redirect(302, "http://[")).contains("bad `Location`"));
    assert!(answer(Script::redirect(302, "ftp://h/")).contains("`ftp:`"));
    let looped = answer(Script::redirect(302, "/a?token=hunter2"));
    assert!(looped.contains("led back to") && !looped.contains("hunter2"), "{looped}");
}

#[test]
fn ten_redirects_are_followed_and_no_more() {
    let chain = |count: usize| {
        let hops = (1..=count).map(|hop| Script::redirect(302, &format!("/{hop}")));
        let server = Server::start(hops.chain([stream()]));
        (connect(&server.url("/0"), None, |_| ()), server.requests().len())
    };
    let (outcome, requests) = chain(10);
    assert_eq!((outcome.unwrap().body.head().url.rsplit('/').next(), requests), (Some("10"), 11));
    let (outcome, requests) = chain(11);
    assert!(bad_redirect(outcome).contains("10"));
    assert_eq!(requests, 11);
}

#[test]
fn other_statuses_of_the_three_hundreds_are_no_redirects() {
    for status in [300, 304, 305] {
        let server = Server::start([Script::redirect(status, "/b")]);
        let outcome = connect(&server.url("/a"), None, |_| ());
        assert!(matches!(outcome, Err(ConnectError::Status { retryable: false, .. })), "{outcome:?}");
    }
}

// Proxies

#[test]
fn a_proxy_is_asked_for_the_whole_url_with_its_own_credentials() {
    let proxy = Server::start([stream(), stream()]);
    for text in [proxy.url("").replace("http://", "http://me:pw@"), format!("me:pw@{}", proxy.addr())] {
        connect("http://stream.invalid/e", Some("5"), |options| options.proxy = Some(Secret::new(text))).unwrap();
    }
    for request in proxy.requests() {
        assert_eq!(request.target, "http://stream.invalid/e");
        assert_eq!(request.header("proxy-authorization").as_deref(), Some("Basic bWU6cHc="));
        assert_eq!(request.last_event_id().as_deref(), Some("5"));
        assert_eq!(request.header("authorization"), None);
    }
}

#[test]
fn a_proxy_that_refuses_a_tunnel_is_unreachable() {
    let proxy = Server::start([Script::new().respond(407, "", "")]);
    let outcome = connect("https://stream.invalid/e", None, |options| options.proxy = Some(Secret::new(proxy.url(""))));
    assert!(matches!(outcome, Err(ConnectError::Unreachable { .. })), "{outcome:?}");
    assert_eq!(proxy.requests()[0].method, "CONNECT");
    assert_eq!(proxy.requests()[0].target, "stream.invalid:443");
}

/// Variables of the environment cannot be set in a test that has threads, so this one runs in a child process.
#[test]
#[ignore = "run by `the_proxy_variables_of_the_system_are_honoured`"]
fn child_that_connects() {
    let url = std::env::var("SSECTL_TEST_URL").unwrap();
    connect(&url, None, |options| {
        options.proxy = std::env::var("SSECTL_TEST_PROXY").ok().map(Secret::new);
        options.no_proxy = std::env::var("NO_PROXY").ok();
    })
    .unwrap();
}

#[test]
fn the_proxy_variables_of_the_system_are_honoured() {
    let child = |url: &str, variables: &[(&str, &str)]| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child_that_connects", "--ignored"]).env("SSECTL_TEST_URL", url);
        for name in
            ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"]
        {
            command.env_remove(name);
        }
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    };
    let (proxy, direct) = (Server::start([]).otherwise(stream()), Server::start([]).otherwise(stream()));
    let (by, to) = (proxy.url(""), direct.url("/e"));
    child("http://stream.invalid/e", &[("http_proxy", &by)]);
    child("http://stream.invalid/e", &[("ALL_PROXY", &by)]);
    child("http://stream.invalid/e", &[("HTTP_PROXY", &by)]);
    assert_eq!((proxy.connections(), direct.connections()), (3, 0));
    child(&to, &[("http_proxy", &by), ("NO_PROXY", "127.0.0.1")]);
    child(&to, &[("SSECTL_TEST_PROXY", &by), ("NO_PROXY", "127.0.0.1")]);
    assert_eq!((proxy.connections(), direct.connections()), (3, 2));
    child(&to, &[("SSECTL_TEST_PROXY", &by)]);
    assert_eq!((proxy.connections(), direct.connections()), (4, 2));
}

// TLS

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(name)
}

fn certificates(name: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_file_iter(file(name)).unwrap().map(Result::unwrap).collect()
}

/// A server's side: which protocols it speaks, best first, and whether it wants a certificate of the client's.
fn tls(protocols: &[&str], wants_client: bool) -> Arc<rustls::ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = if wants_client {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificates("ca.pem").remove(0)).unwrap();
        let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        builder.with_client_cert_verifier(verifier.build().unwrap())
    } else {
        builder.with_no_client_auth()
    };
    let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
    let mut config = builder.with_single_cert(certificates("server.pem"), key).unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    Arc::new(config)
}

fn trusting(options: &mut Options) {
    options.cacert = Some(file("ca.pem"));
}

#[test]
fn a_stream_comes_over_tls_from_a_server_whose_ca_is_named() {
    let server = Server::start_tls([stream()], tls(&[], false));
    let mut options = Options::new(Url::parse(&server.url("/e")).unwrap());
    trusting(&mut options);
    run(async {
        let mut transport = HttpTransport::new(options).unwrap();
        let mut body = transport.connect(&Attempt::default()).await.unwrap().body;
        assert_eq!(body.chunk().await.unwrap().unwrap(), "data: a\n\n");
        assert!(body.chunk().await.unwrap().is_none());
    });
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused_unless_the_user_says_otherwise() {
    let server = Server::start_tls([stream(), stream()], tls(&[], false));
    match connect(&server.url("/e?token=hunter2"), None, |_| ()) {
        Err(ConnectError::Untrusted { causes }) => {
            let text = causes.join(": ");
            assert!(text.contains("not issued by anybody who is trusted") && !text.contains("hunter2"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    connect(&server.url("/e"), None, |options| options.insecure = true).unwrap();
}

#[test]
fn a_certificate_of_another_host_is_refused() {
    let server = Server::start_tls([stream()], tls(&[], false));
    let url = server.url("/e").replace("127.0.0.1", "127.0.0.2");
    // On systems where 127.0.0.2 is not the loopback there is no connection at all: an error as well.
    match connect(&url, None, trusting) {
        Err(ConnectError::Untrusted { causes }) => assert_eq!(causes[1], "its certificate is for another host name"),
        outcome => assert!(matches!(outcome, Err(ConnectError::Unreachable { .. })), "{outcome:?}"),
    }
}

/// A server that shows a certificate which it signed itself.
fn tls_of(certificate: &str, key: &str) -> Arc<rustls::ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = PrivateKeyDer::from_pem_file(file(key)).unwrap();
    Arc::new(builder.with_no_client_auth().with_single_cert(certificates(certificate), key).unwrap())
}

#[test]
fn a_certificate_that_signed_itself_is_trusted_where_it_is_named_and_for_its_own_name_alone() {
    let server = Server::start_tls([], tls_of("self.pem", "self.key")).otherwise(stream());
    let named = |options: &mut Options| options.cacert = Some(file("self.pem"));
    connect(&server.url("/e"), None, named).unwrap();
    let untrusted = |outcome: Outcome| match outcome {
        Err(ConnectError::Untrusted { causes }) => causes[1].clone(),
        outcome => panic!("{outcome:?}"),
    };
    assert!(untrusted(connect(&server.url("/e"), None, trusting)).starts_with("its certificate"));
    let by_name = server.url("/e").replace("127.0.0.1", "localhost");
    assert_eq!(untrusted(connect(&by_name, None, named)), "its certificate is for another host name");
}

#[test]
fn a_certificate_that_has_expired_is_refused_in_words() {
    let server = Server::start_tls([], tls_of("expired.pem", "server.key")).otherwise(stream());
    match connect(&server.url("/e"), None, |options| options.cacert = Some(file("expired.pem"))) {
        Err(ConnectError::Untrusted { causes }) => assert_eq!(causes[1], "its certificate has expired"),
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn a_server_that_does_not_speak_tls_is_told_as_such() {
    let server = Server::start([]).otherwise(Script::new().raw("HTTP/1.1 400 Bad Request\r\n\r\n").until_closed());
    match connect(&server.url("/e").replace("http:", "https:"), None, trusting) {
        Err(ConnectError::Unreachable { causes }) => assert!(causes[0].contains("does not speak TLS"), "{causes:?}"),
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn a_client_certificate_is_shown_to_a_server_that_wants_one() {
    let server = Server::start_tls([stream(), stream()], tls(&[], true));
    connect(&server.url("/e"), None, |options| {
        trusting(options);
        options.cert = Some(file("client.pem"));
        options.key = Some(file("client.key"));
    })
    .unwrap();
    assert!(connect(&server.url("/e"), None, trusting).is_err());
}

#[test]
fn the_key_may_be_in_the_file_of_the_certificate() {
    let dir = tempfile::tempdir().unwrap();
    let both = dir.path().join("both.pem");
    let pem = [std::fs::read(file("client.pem")).unwrap(), std::fs::read(file("client.key")).unwrap()].concat();
    std::fs::write(&both, pem).unwrap();
    let server = Server::start_tls([stream()], tls(&[], true));
    connect(&server.url("/e"), None, |options| {
        trusting(options);
        options.cert = Some(both);
    })
    .unwrap();
}

#[test]
fn certificates_are_read_again_at_each_attempt() {
    let dir = tempfile::tempdir().unwrap();
    let ca = dir.path().join("ca.pem");
    std::fs::copy(file("ca.pem"), &ca).unwrap();
    let server = Server::start_tls([], tls(&[], false)).otherwise(stream());
    let mut options = Options::new(Url::parse(&server.url("/e")).unwrap());
    options.cacert = Some(ca.clone());
    run(async {
        let mut transport = HttpTransport::new(options).unwrap();
        transport.connect(&Attempt::default()).await.unwrap();
        std::fs::copy(file("client.pem"), &ca).unwrap();
        let outcome = transport.connect(&Attempt::default()).await;
        assert!(matches!(outcome, Err(ConnectError::Untrusted { .. })), "{outcome:?}");
        std::fs::remove_file(&ca).unwrap();
        let outcome = transport.connect(&Attempt::default()).await;
        assert!(matches!(outcome, Err(ConnectError::Unusable { .. })), "{outcome:?}");
        std::fs::copy(file("ca.pem"), &ca).unwrap();
        transport.connect(&Attempt::default()).await.unwrap();
    });
}

#[test]
fn http_2_is_spoken_where_the_server_can_unless_http_1_1_is_asked_for() {
    let server = Server::start_tls([stream(), Script::new().request()], tls(&["h2", "http/1.1"], false));
    connect(&server.url("/e"), None, |options| {
        trusting(options);
        options.http1_only = true;
    })
    .unwrap();
    // The scripted server cannot speak it, but it sees the preface (RFC 9113, section 3.4).
    assert!(connect(&server.url("/e"), None, trusting).is_err());
    let requests = server.wait_for_requests(2);
    assert_eq!(requests[0].version, "HTTP/1.1");
    assert_eq!((requests[1].method.as_str(), requests[1].version.as_str()), ("PRI", "HTTP/2.0"));
}

/// A frame of HTTP/2 (RFC 9113, section 4.1).
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [length[1], length[2], length[3], kind, flags, 0, 0, 0, stream];
    [&head, payload].concat()
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

/// Answers the first stream of an HTTP/2 connection with an event stream of one event.
fn answer_over_http_2(conn: &mut Conn) -> io::Result<()> {
    conn.read_request()?;
    conn.read_exactly(b"SM\r\n\r\n".len())?;
    conn.send(&frame(SETTINGS, 0, 0, &[]))?;
    loop {
        let head = conn.read_exactly(9)?;
        conn.read_exactly(usize::from(head[1]) << 8 | usize::from(head[2]))?;
        if head[3] == HEADERS {
            break;
        }
    }
    conn.send(&frame(SETTINGS, ACK, 0, &[]))?;
    // `:status: 200` is entry 8 of the static table of HPACK, `content-type` is 31 (RFC 7541, appendix A).
    let fields = [&[0x88, 0x0f, 31 - 15, 17], &b"text/event-stream"[..]].concat();
    conn.send(&frame(HEADERS, END_HEADERS, 1, &fields))?;
    conn.send(&frame(DATA, 0, 1, b"data: a\n\n"))
}

#[test]
fn a_stream_over_http_2_ends_breaks_and_is_closed_as_one_over_http_1() {
    let ended = |conn: &mut Conn| conn.send(&frame(DATA, END_STREAM, 1, b""));
    let broken = |conn: &mut Conn| conn.send(&frame(RST_STREAM, 0, 1, &[0, 0, 0, 2]));
    let go = Gate::new();
    let server = Server::start_tls(
        [
            Script::new().play(answer_over_http_2).play(ended).until_closed(),
            Script::new().play(answer_over_http_2).wait(&go).play(broken).until_closed(),
            Script::new().play(answer_over_http_2).until_closed(),
        ],
        tls(&["h2"], false),
    );
    let mut options = Options::new(Url::parse(&server.url("/e")).unwrap());
    trusting(&mut options);
    run(async {
        let mut transport = HttpTransport::new(options).unwrap();
        let mut bodies = Vec::new();
        for _ in 0..3 {
            let connected = transport.connect(&Attempt::default()).await.unwrap();
            assert_eq!(connected.status_line, "HTTP/2 200 OK");
            bodies.push(connected.body);
        }
        for body in &mut bodies {
            assert_eq!(body.chunk().await.unwrap().unwrap(), "data: a\n\n");
        }
        go.open();
        assert_eq!(bodies[0].chunk().await, Ok(None));
        assert_eq!(bodies[1].chunk().await.unwrap_err().causes[0], "the connection broke");
        drop(bodies);
        let waiting = move || (0..3).for_each(|index| server.wait_for_closed(index));
        tokio::task::spawn_blocking(waiting).await.unwrap();
    });
}

#[test]
fn a_server_that_goes_away_over_http_2_ends_the_stream_or_lets_it_end() {
    // The last stream that it will answer, and no error (RFC 9113, section 6.8).
    let goes_away = |conn: &mut Conn| conn.send(&frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]));
    let ended = |conn: &mut Conn| conn.send(&frame(DATA, END_STREAM, 1, b"data: b\n\n"));
    let server = Server::start_tls(
        [
            Script::new().play(answer_over_http_2).play(goes_away).play(ended).until_closed(),
            Script::new().play(answer_over_http_2).play(goes_away).close(),
        ],
        tls(&["h2"], false),
    );
    let mut options = Options::new(Url::parse(&server.url("/e")).unwrap());
    trusting(&mut options);
    run(async {
        let mut transport = HttpTransport::new(options).unwrap();
        for (expected, is_clean) in [("data: a\n\ndata: b\n\n", true), ("data: a\n\n", false)] {
            let mut body = transport.connect(&Attempt::default()).await.unwrap().body;
            let mut text = Vec::new();
            let end = loop {
                match body.chunk().await {
                    Ok(Some(chunk)) => text.extend_from_slice(&chunk),
                    end => break end,
                }
            };
            assert_eq!((String::from_utf8(text).unwrap().as_str(), end.is_ok()), (expected, is_clean), "{end:?}");
        }
    });
}

#[test]
fn http_2_is_spoken_without_tls_where_it_is_known_beforehand() {
    let server = Server::start([Script::new().play(answer_over_http_2).until_closed()]);
    let connected = connect(&server.url("/e"), None, |options| options.http2_only = true).unwrap();
    assert_eq!(connected.status_line, "HTTP/2 200 OK");
}

#[test]
fn files_that_are_no_certificates_are_refused_by_name() {
    let refused = |change: &dyn Fn(&mut Options)| {
        let mut options = Options::new(Url::parse("https://h/").unwrap());
        change(&mut options);
        HttpTransport::new(options).expect_err("it cannot work")
    };
    let readme = file("README.md");
    for change in [&|options: &mut Options| options.cacert = Some(file("README.md")), &|options: &mut Options| {
        options.cert = Some(file("README.md"))
    }] as [&dyn Fn(&mut Options); 2]
    {
        match refused(change) {
            error @ SetupError::TlsFile { .. } => {
                assert!(error.to_string().contains(&readme.display().to_string()), "{error}");
                assert!(!error.is_usage());
            }
            other => panic!("{other:?}"),
        }
    }
    let absent = refused(&|options| options.cacert = Some(file("absent.pem")));
    assert!(absent.to_string().contains("absent.pem"), "{absent}");
    assert_eq!(refused(&|options| options.key = Some(file("client.key"))), SetupError::KeyWithoutCert);
}
