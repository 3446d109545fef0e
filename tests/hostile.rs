//! Servers that mean no good, or do not speak the same language: what is said of them, and what is not.

#![expect(clippy::unwrap_used, reason = "a test fails where something is not there")]

mod support;

use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use support::program::{Finished, Place};
use support::scripted::{Script, Server};

const EVENT: &str = "id: 1\ndata: a\n\n";

fn tail(place: &Place, url: &str, more: &[&str]) -> Finished {
    place.run(&[&["tail", url, "--stream", "s", "-o", "json"], more].concat())
}

// What a server says

#[test]
fn a_server_that_quotes_any_secret_of_a_request_is_not_quoted() {
    let place = Place::new();
    let quoted = "no hunter2Cookie, hunter2Other, hunter2User, hunter2Start, hunter2Key, hunter2Query or hunter2Url";
    let refusal = |status| Script::new().respond(status, "", quoted);
    let server = Server::start([Script::new().sse().send(EVENT).close(), refusal(503), refusal(401)]);
    let url = server.url("/e?api_key=hunter2Query").replace("http://", "http://me:hunter2Url@");
    let secrets =
        ["-H", "Cookie: a=hunter2Cookie; b=hunter2Other", "-u", "me:hunter2User", "-H", "X-Api-Key: hunter2Key"];
    let more = ["--start-param", "token=hunter2Start", "--retry-initial", "100ms", "-vv", "--notices", "--stats"];
    let done = place.run(&[&["resume", &url, "--stream", "s", "-o", "json"], &secrets[..], &more[..]].concat());
    assert_eq!(done.code, 3, "{}", done.stderr);
    for (place, text) in [("stderr", &done.stderr), ("stdout", &done.stdout)] {
        assert!(!text.contains("hunter2"), "{place}: {text}");
    }
    assert!(done.stderr.contains("the server answered 401 Unauthorized: no ***, ***"), "{}", done.stderr);
    assert!(done.stderr.contains("hint: these credentials are not the right ones"), "{}", done.stderr);
    let stored: Vec<u8> =
        [std::fs::read(place.db()).unwrap(), std::fs::read(place.path("ssectl.db-wal")).unwrap_or_default()].concat();
    assert!(!stored.windows(7).any(|bytes| bytes == b"hunter2"), "the database");
}

#[test]
fn a_page_in_place_of_a_stream_cannot_make_text_look_like_other_text() {
    let page = "hello \u{1b}[31m\u{202e}drow\u{2066}\u{9b}";
    let server = Server::start([Script::new().respond(200, "Content-Type: text/html\r\n", page)]);
    let done = tail(&Place::new(), &server.url("/e"), &[]);
    assert_eq!(done.code, 3);
    assert!(done.stderr.contains(r"it begins with: hello \u{1b}[31m\u{202e}drow\u{2066}\u{9b}"), "{}", done.stderr);
}

#[test]
fn what_is_no_http_is_told_as_such() {
    for answer in
        ["SSH-2.0-x\r\n", "ICY 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"]
    {
        let server = Server::start([Script::new().request().raw(answer).until_closed()]);
        let done = tail(&Place::new(), &server.url("/e"), &["--max-retries", "0"]);
        assert_eq!(done.code, 4, "{}", done.stderr);
        assert!(done.stderr.contains(&format!("what `{}` answers is no HTTP", server.addr())), "{}", done.stderr);
    }
}

#[test]
fn who_cannot_be_reached_after_a_redirect_is_named_as_such() {
    let dead = Server::start([]).addr();
    let server = Server::start([Script::redirect(302, &format!("http://me:hunter2@{dead}/x?token=hunter2"))]);
    let done = tail(&Place::new(), &server.url("/e"), &["--max-retries", "0"]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    assert!(done.stderr.contains(&format!("cannot connect to `{dead}` (where a redirect led): ")), "{}", done.stderr);
    assert!(!done.stderr.contains("hunter2"), "{}", done.stderr);
}

#[test]
fn refusals_that_a_flag_mends_name_it() {
    for (status, hint) in [(407, "hint: give the proxy its credentials: `-x "), (431, "hint: what is sent is too long")]
    {
        let server = Server::start([Script::new().respond(status, "", "")]);
        let done = tail(&Place::new(), &server.url("/e"), &[]);
        assert_eq!(done.code, 3, "{}", done.stderr);
        assert!(done.stderr.contains(hint), "{}", done.stderr);
    }
}

// TLS that does not come about

fn tls_file(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(name)
}

/// A server that wants a certificate of the client's.
fn wants_certificate() -> Arc<rustls::ServerConfig> {
    let certificates = |name| CertificateDer::pem_file_iter(tls_file(name)).unwrap().map(Result::unwrap);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificates("ca.pem").next().unwrap()).unwrap();
    let verifier =
        rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_client_cert_verifier(verifier.unwrap());
    let key = PrivateKeyDer::from_pem_file(tls_file("server.key")).unwrap();
    Arc::new(config.with_single_cert(certificates("server.pem").collect(), key).unwrap())
}

#[test]
fn a_server_that_wants_another_certificate_of_the_client_ends_the_run_in_words() {
    let stranger = [tls_file("self.pem"), tls_file("self.key")].map(|path| path.to_str().unwrap().to_owned());
    let [cert, key] = &stranger;
    let ca = tls_file("ca.pem");
    let trust = ["--cacert", ca.to_str().unwrap()];
    for (shown, why) in [
        (&[][..], "it wants a certificate of the client"),
        (&["--cert", cert, "--key", key][..], "it does not accept the client's certificate"),
    ] {
        let server = Server::start_tls([], wants_certificate()).otherwise(Script::new().sse().close());
        let done = tail(&Place::new(), &server.url("/e"), &[&trust, shown].concat());
        assert_eq!((done.code, server.connections()), (4, 1), "{}", done.stderr);
        let told =
            format!("caused by: cannot agree on TLS with `{}`\ncaused by: {why}\nhint: `--cert FILE`", server.addr());
        assert!(done.stderr.contains(&told), "{}", done.stderr);
    }
}

#[test]
fn a_refusal_of_tls_ends_the_run_in_words() {
    // The descriptions of RFC 8446, section 6.
    for (alert, why) in [
        (70, "it has no version of TLS that is safe"),
        (40, "it refuses: it may want a certificate of the client, or a cipher that is not offered"),
        (112, "it knows no host of this name"),
    ] {
        let refuse = move |conn: &mut support::scripted::Conn| {
            // The type of the record, its version, its length; a fatal alert.
            conn.read_exactly(5)?;
            conn.send(&[21, 3, 3, 0, 2, 2, alert])
        };
        let server = Server::start([]).otherwise(Script::new().play(refuse).until_closed());
        let done = tail(&Place::new(), &server.url("/e").replace("http:", "https:"), &[]);
        assert_eq!((done.code, server.connections()), (4, 1), "{}", done.stderr);
        assert!(done.stderr.contains(&format!("caused by: {why}\n")), "{}", done.stderr);
    }
}

// Much of it

#[test]
fn ids_of_ten_thousand_bytes_and_of_json_go_back_byte_for_byte() {
    let long = "x/ \u{e9}".repeat(2_500);
    for id in [long.as_str(), r#"{"a":[1,"b c"],"d":"\u0041"}"#, "a#b#c", "00053990"] {
        let place = Place::new();
        let first = Script::new().sse().send(format!("id: {id}\ndata: a\n\n")).close();
        let server = Server::start([first, Script::new().sse().send("id: end\ndata: b\n\n").until_closed()]);
        let done = place.run(&["resume", &server.url("/e"), "-o", "json", "-n", "1"]);
        assert_eq!((done.code, done.ids()), (0, vec![id.to_owned()]), "{}", done.stderr);
        let done = place.run(&["resume", &server.url("/e"), "-o", "json", "-n", "1"]);
        assert_eq!((done.code, done.ids()), (0, vec!["end".to_owned()]), "{}", done.stderr);
        assert_eq!(server.requests()[1].header_bytes("last-event-id"), Some(id.as_bytes()));
    }
}

#[test]
fn an_id_scheme_that_changes_while_it_runs_is_followed() {
    let place = Place::new();
    let numbers = "id: 998\ndata: a\n\nid: 999\ndata: b\n\n";
    let ulids = "id: 01ARZ3NDEKTSV4RRFFQ69G5FAV\ndata: c\n\n";
    let back = "id: 7\ndata: d\n\n";
    let scripts = [numbers, ulids, back].map(|text| Script::new().sse().send(text).close());
    let server = Server::start(scripts).otherwise(Script::no_content());
    let done = place.run(&["resume", &server.url("/e"), "--stream", "s", "-o", "json", "--retry-initial", "100ms"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.ids(), ["998", "999", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "7"]);
    let sent: Vec<_> = server.requests().iter().map(|request| request.last_event_id()).collect();
    assert_eq!(sent, [None, Some("999".into()), Some("01ARZ3NDEKTSV4RRFFQ69G5FAV".into()), Some("7".into())]);
    assert_eq!(place.show("s")["latest"], "7");
}

#[test]
fn an_event_of_many_megabytes_and_a_million_comments_pass() {
    let comments = ": ping\n".repeat(1_000_000);
    let data = "0123456789abcdef".repeat(512 * 1024);
    let text = format!("{comments}id: 1\ndata: {data}\n\n");
    let server = Server::start([Script::new().sse_until_close().raw(text).close()]);
    let done = place_data(&server);
    assert_eq!((done.code, done.stdout.len()), (0, data.len() + 1), "{}", done.stderr);
    assert!(done.stdout.trim_end() == data, "the data came whole");
}

fn place_data(server: &Server) -> Finished {
    Place::new().run(&["tail", &server.url("/e"), "-o", "data", "--no-reconnect"])
}
