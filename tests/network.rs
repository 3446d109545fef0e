//! Networks, proxies and servers as they are, and what others may see of a run.

#![expect(clippy::unwrap_used, reason = "a test fails where something is not there")]

mod support;

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject as _;
use support::program::{Finished, Place};
use support::scripted::{Conn, Gate, Script, Server};

const EVENT: &str = "id: 1\ndata: a\n\n";

fn tail(place: &Place, url: &str, more: &[&str]) -> Finished {
    place.run(&[&["tail", url, "--stream", "s", "-o", "json"], more].concat())
}

fn stream() -> Script {
    Script::new().sse().send(EVENT).until_closed()
}

fn assert_got_it(done: &Finished) {
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.ids(), ["1"]);
}

// What others may see

#[test]
fn no_credential_stands_in_the_list_of_processes() {
    let place = Place::new();
    let go = Gate::new();
    let server = Server::start([Script::new().sse().wait(&go).send(EVENT).until_closed()]);
    let url = server.url("/e?api_key=hunter2Query").replace("http://", "http://me:hunter2Url@");
    let mut arguments = vec!["tail", &url, "--stream", "s", "-o", "json", "-n", "1"];
    arguments.extend(["-H", "X-Api-Key: hunter2Key", "-u", "me:hunter2User", "--start-param=token=hunter2Start"]);
    arguments.extend(["-d", "{\"prompt\":\"hunter2Body\"}", "--reconnect"]);
    let running = place.start(&arguments);
    let request = server.wait_for_requests(1).remove(0);
    let command_line = fs::read(format!("/proc/{}/cmdline", running.child.id()));
    go.open();
    let done = running.finish();
    assert_got_it(&done);
    assert_eq!(request.header("x-api-key").as_deref(), Some("hunter2Key"));
    assert_eq!(request.header("authorization").as_deref(), Some("Basic bWU6aHVudGVyMlVzZXI="));
    assert_eq!(request.parameter("token").as_deref(), Some("hunter2Start"));
    assert_eq!(request.body, b"{\"prompt\":\"hunter2Body\"}");
    // Where there is no such file there is no such list to be seen.
    if let Ok(command_line) = command_line {
        let command_line = String::from_utf8_lossy(&command_line).replace('\0', " ");
        assert!(command_line.contains("tail") && command_line.contains("X-Api-Key: ***"), "{command_line}");
        assert!(!command_line.contains("hunter2"), "{command_line}");
    }
}

#[test]
fn standard_input_is_still_the_body_where_the_command_line_was_cleaned() {
    let place = Place::new();
    let server = Server::start([Script::new().sse().send(EVENT).close()]);
    let mut command = place.command(&["tail", &server.url("/e"), "-o", "json", "-u", "me:hunter2", "-d", "@-"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"body").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(server.requests()[0].body, b"body");
}

#[test]
fn a_url_without_a_subcommand_gets_the_two_that_take_one() {
    let done = Place::new().run(&["https://example.com/events"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("hint: `ssectl tail URL`"), "{}", done.stderr);
    let done = Place::new().run(&["tial"]);
    assert_eq!(done.code, 2);
    assert!(!done.stderr.contains("hint: `ssectl tail URL`"), "{}", done.stderr);
}

#[test]
fn no_error_repeats_a_credential_that_was_mistyped() {
    let place = Place::new();
    for arguments in [
        &["tail", "u:hunter2@host/x"][..],
        &["https://u:hunter2@h/x"],
        &["tail", "https://h/x?token=hunter2", "--nonsense"],
        &["replay", "https://h/x", "https://u:hunter2@h/x"],
        &["replay", "https://h/x", "https://h/x?token=hunter2"],
        &["checkpoint", "show", "u:hunter2@host/x"],
        &["checkpoint", "list", "https://u:hunter2@h/x"],
        &["checkpoint", "set", "u:hunter2@h#x", "--latest", "1"],
        &["tail", "https://h/x", "-n", "u:hunter2@h"],
        &["tail", "https://h/x", "-o", "u:hunter2@h"],
        &["Authorization: Bearer hunter2"],
        &["tail", "https://h/x", "--bearer-env", "hunter2"],
    ] {
        let done = place.run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.stderr);
        assert!(!done.stderr.contains("hunter2") && !done.stdout.contains("hunter2"), "{}", done.stderr);
        assert!(done.stderr.starts_with("error: "), "{}", done.stderr);
    }
}

#[test]
fn flags_take_the_place_of_credentials_of_the_config_file() {
    let place = Place::new();
    let server = Server::start([stream(), stream()]);
    let config =
        format!("[streams.a]\nurl = \"{}\"\nheaders = {{ Authorization = \"Basic old\" }}\n", server.url("/e"));
    let path = place.path("config.toml");
    fs::write(&path, config).unwrap();
    let config = ["--config", path.to_str().unwrap()];
    assert_got_it(&place.run(&[&["tail", "a", "-o", "json", "-n", "1", "-u", "me:new"], &config[..]].concat()));
    let both = ["tail", "a", "-o", "json", "-n", "1", "-u", "me:new", "-H", "Authorization: Bearer header"];
    assert_got_it(&place.run(&[&both, &config[..]].concat()));
    let sent: Vec<_> = server.requests().iter().map(|request| request.header_values("authorization")).collect();
    assert_eq!(sent, [["Basic bWU6bmV3"], ["Bearer header"]]);
}

#[test]
fn files_that_are_not_there_are_usage_errors_and_stdin_holds_no_headers() {
    let place = Place::new();
    for (arguments, why) in [
        (["-H", "@absent"], "there is no file `absent`"),
        (["-d", "@absent"], "there is no file `absent`"),
        (["-H", "@-"], "name a file: `@FILE`"),
        (["-n", "0"], "1 event at the earliest"),
    ] {
        let done = tail(&place, "http://127.0.0.1:1/e", &arguments);
        assert_eq!(done.code, 2, "{}", done.stderr);
        assert!(done.stderr.contains(why), "{}", done.stderr);
    }
}

// Waiting

#[test]
fn a_server_that_never_answers_is_left() {
    let place = Place::new();
    let server = Server::start([Script::new().request().until_closed(), stream()]);
    let bounds = ["--idle-timeout", "100ms", "--connect-timeout", "1s", "-n", "1"];
    let done = tail(&place, &server.url("/e"), &bounds);
    assert_got_it(&done);
    assert!(done.stderr.contains("did not begin to answer within 0.1 s"), "{}", done.stderr);
    server.wait_for_closed(0);
}

#[test]
fn a_server_that_takes_its_time_is_waited_for() {
    let place = Place::new();
    let go = Gate::new();
    let server = Server::start([Script::new().request().wait(&go).sse_answer().send(EVENT).until_closed()]);
    let running = place.start(&["tail", &server.url("/e"), "--stream", "s", "-o", "json", "-n", "1"]);
    server.wait_for_requests(1);
    go.open();
    assert_got_it(&running.finish());
}

#[test]
fn a_server_that_closes_at_once_sees_no_storm_whatever_the_user_asks_for() {
    let place = Place::new();
    let server = Server::start([]).otherwise(Script::new().sse().close());
    let start = Instant::now();
    let storm = ["--retry-initial", "0s", "--retry-max", "0s", "--max-retries", "3"];
    let done = tail(&place, &server.url("/e"), &storm);
    // A lower bound: it holds however slow the machine is.
    assert!(start.elapsed() >= Duration::from_millis(300), "{:?}", start.elapsed());
    assert_eq!((done.code, server.connections()), (4, 4), "{}", done.stderr);
    assert!(done.stderr.contains("caused by: given up after 3 retries"), "{}", done.stderr);
    assert!(!done.stderr.contains("curl"), "it does answer: {}", done.stderr);
}

#[test]
fn an_empty_answer_again_and_again_does_not_reset_the_backoff() {
    let place = Place::new();
    let server = Server::start([]).otherwise(Script::new().sse().send(": hello\n\n").close());
    let done = tail(&place, &server.url("/e"), &["--retry-initial", "100ms", "--max-retries", "2"]);
    assert_eq!((done.code, server.connections()), (4, 3), "{}", done.stderr);
    let done = tail(&place, &server.url("/e"), &["--retry-initial", "100ms", "--max-retries", "0"]);
    assert_eq!(done.code, 4);
}

#[test]
fn connections_that_end_again_and_again_are_said_to_with_what_helps() {
    let place = Place::new();
    let scripts = (1..=6).map(|id| Script::new().sse().send(format!("id: {id}\ndata: x\n\n")).close());
    let server = Server::start(scripts.collect::<Vec<_>>());
    let done = tail(&place, &server.url("/e"), &["--retry-initial", "100ms", "-n", "6"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let said: Vec<_> = done.stderr.lines().filter(|line| line.contains("again and again")).collect();
    assert_eq!(said.len(), 1, "after the fourth, and not after each: {}", done.stderr);
    assert!(said[0].starts_with("warning: ") && said[0].contains("waiting for the network"), "{said:?}");
    assert!(said[0].contains("`ssectl probe`"), "{said:?}");
    assert!(said[0].contains("0 drop notices on 4 connections in "), "{said:?}");
}

#[test]
fn a_peer_that_is_gone_without_a_word_is_found_by_its_silence() {
    let place = Place::new();
    let second = Script::new().sse().send("id: 2\ndata: b\n\n").until_closed();
    let server = Server::start([stream(), second]);
    let done = tail(&place, &server.url("/e"), &["--idle-timeout", "200ms", "--retry-initial", "100ms", "-n", "2"]);
    assert_eq!((done.code, done.ids()), (0, vec!["1".to_owned(), "2".to_owned()]), "{}", done.stderr);
    assert_eq!(server.requests()[1].last_event_id().as_deref(), Some("1"));
    assert!(done.stderr.contains("nothing came for longer than the idle time-out"), "{}", done.stderr);
    server.wait_for_closed(0);
}

#[test]
fn ctrl_c_is_heeded_at_once_while_it_waits_for_an_answer() {
    let place = Place::new();
    let server = Server::start([Script::new().request().until_closed()]);
    let running = place.start(&["tail", &server.url("/e"), "-o", "json"]);
    server.wait_for_requests(1);
    running.signal("INT");
    assert_eq!(running.finish().code, 130);
    server.wait_for_closed(0);
}

// Cursors on the wire

#[test]
fn a_position_in_the_url_is_replaced_by_the_cursor_and_told_as_such() {
    let place = Place::new();
    let server = Server::start([Script::new().sse().send(EVENT).close(), stream()]);
    let url = server.url("/e?since=5&x=1");
    let done = tail(&place, &url, &["--send-cursor", "query:since", "-v", "--retry-initial", "100ms", "--for", "2s"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let asked: Vec<_> = server.requests().iter().map(|request| request.query().to_owned()).collect();
    assert_eq!(asked, ["since=5&x=1", "since=1&x=1"]);
    assert!(done.stderr.contains("connecting with `since=5` of the URL"), "{}", done.stderr);
}

#[test]
fn verbose_names_the_flag_that_gave_the_position() {
    for (command, flag, value) in [("tail", "--last-event-id", "7"), ("resume", "--initial", "id:7")] {
        let place = Place::new();
        let server = Server::start([Script::new().sse().send(EVENT).close()]);
        let url = server.url("/e");
        let done = place.run(&[command, &url, "-o", "json", "-v", "-n", "1", flag, value]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(done.stderr.contains(&format!("connecting with `7`: as `{flag}` says")), "{}", done.stderr);
    }
}

#[test]
fn an_id_that_no_header_can_carry_is_not_said_to_be_replaced_by_an_older_one_where_none_is_sent() {
    let place = Place::new();
    let server = Server::start([Script::new().sse().send("id: a\u{1}b\ndata: a\n\n").close(), stream()]);
    let done = tail(&place, &server.url("/e"), &["--retry-initial", "100ms", "-n", "2"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(server.requests()[1].last_event_id(), None);
    assert!(done.stderr.contains("cannot be sent in a header; none is sent"), "{}", done.stderr);
}

#[test]
fn lagging_past_latest_is_refused() {
    let place = Place::new();
    let done = place.run(&["checkpoint", "set", "s", "--latest", "5", "--lagging", "9"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("hint: `--latest 9 --lagging 5`"), "{}", done.stderr);
}

#[test]
fn an_attempt_that_never_connected_is_not_listed() {
    let place = Place::new();
    let dead = Server::start([]).url("/e");
    assert_eq!(place.run(&["resume", &dead, "--max-retries", "0"]).code, 4);
    assert_eq!(place.run(&["checkpoint", "list", "-o", "json"]).stdout.trim(), "[]");
}

// Odd answers

#[test]
fn where_a_redirect_led_is_told_with_what_came_of_it() {
    let place = Place::new();
    let there = Server::start([]).otherwise(Script::new().respond(404, "", "nothing here"));
    let location = there.url("/elsewhere?token=hunter2");
    let here = Server::start([]).otherwise(Script::redirect(302, &location));
    let done = tail(&place, &here.url("/e"), &[]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    let told = format!("(a redirect led to `{}`)", there.url("/elsewhere?token=***"));
    assert!(done.stderr.contains(&told), "{}", done.stderr);
}

#[test]
fn chunks_of_any_size_with_extensions_trailers_and_an_early_answer_are_one_body() {
    let place = Place::new();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    let body = "2;x=y\r\nid\r\n1\r\n:\r\n0000b\r\n 1\ndata: a\n\r\n1\r\n\n\r\n0\r\nX-Trailer: b\r\n\r\n";
    let early = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
    let server = Server::start([Script::new().request().raw(early).raw(head).raw(body).close()]);
    assert_got_it(&tail(&place, &server.url("/e"), &["--no-reconnect"]));
}

#[test]
fn an_answer_of_http_1_0_lasts_until_the_connection_ends() {
    let place = Place::new();
    let head = "HTTP/1.0 200 OK\r\nContent-Type: Text/Event-Stream; charset=UTF-8\r\n\r\n";
    let server = Server::start([Script::new().request().raw(head).raw(EVENT).close()]);
    assert_got_it(&tail(&place, &server.url("/e"), &["--no-reconnect"]));
}

#[test]
fn endless_headers_end_the_attempt() {
    let place = Place::new();
    let flood = |conn: &mut Conn| -> io::Result<()> {
        conn.send(b"HTTP/1.1 200 OK\r\n")?;
        while !conn.is_stopping() {
            conn.send(format!("X-Filler: {}\r\n", "a".repeat(8000)).as_bytes())?;
        }
        Ok(())
    };
    let server = Server::start([Script::new().request().play(flood)]);
    let done = tail(&place, &server.url("/e"), &["--max-retries", "0"]);
    assert_eq!(done.code, 4, "{}", done.stderr);
}

#[test]
fn a_compressed_bomb_ends_at_the_limit_of_an_event() {
    let place = Place::new();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(b"data: ").unwrap();
    packer.write_all(&vec![b'a'; 8 << 20]).unwrap();
    let bomb = packer.finish().unwrap();
    let script = Script::new().sse_with("Content-Encoding: gzip\r\n").send(&bomb).until_closed();
    let done = tail(&place, &Server::start([script]).url("/e"), &["--compressed", "--max-event-bytes", "1MiB"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert!(done.stderr.contains("larger than the limit of 1048576 bytes"), "{}", done.stderr);
}

/// One flushed piece of a compressed body for each text.
fn packed(coding: &str, texts: &[&str]) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    let mut take = |whole: &[u8], taken: &mut usize| {
        pieces.push(whole[*taken..].to_vec());
        *taken = whole.len();
    };
    let mut taken = 0;
    match coding {
        "gzip" => {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            for text in texts {
                packer.write_all(text.as_bytes()).unwrap();
                packer.flush().unwrap();
                take(packer.get_ref(), &mut taken);
            }
        }
        "deflate" => {
            let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            for text in texts {
                packer.write_all(text.as_bytes()).unwrap();
                packer.flush().unwrap();
                take(packer.get_ref(), &mut taken);
            }
        }
        "zstd" => {
            let mut packer = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
            for text in texts {
                packer.write_all(text.as_bytes()).unwrap();
                packer.flush().unwrap();
                take(packer.get_ref(), &mut taken);
            }
        }
        "br" => {
            let mut packer = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 20);
            for text in texts {
                packer.write_all(text.as_bytes()).unwrap();
                packer.flush().unwrap();
                take(packer.get_ref(), &mut taken);
            }
        }
        other => panic!("{other}"),
    }
    pieces
}

#[test]
fn every_compression_gives_an_event_when_it_is_flushed_and_breaks_when_it_is_cut_off() {
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let place = Place::new();
        let pieces = packed(coding, &[EVENT, "id: 2\ndata: b\n\n"]);
        let (second, cut) = (Gate::new(), Gate::new());
        let script = Script::new().sse_with(&format!("Content-Encoding: {coding}\r\n")).send(&pieces[0]);
        let script = script.wait(&second).send(&pieces[1]).wait(&cut).close();
        let server = Server::start([script]);
        let url = server.url("/e");
        let mut running = place.start(&["tail", &url, "-o", "json", "--compressed", "--no-reconnect"]);
        running.until_id("1");
        second.open();
        running.until_id("2");
        cut.open();
        let done = running.finish();
        assert_eq!(done.code, 4, "{coding}: {}", done.stderr);
        let asked = server.requests()[0].header("accept-encoding").unwrap();
        assert!(asked.contains(coding), "{asked}");
    }
}

// Ways through the network

#[test]
fn an_address_that_is_dead_does_not_keep_from_one_that_is_not() {
    let place = Place::new();
    let server = Server::start([stream()]);
    // On most systems it has two addresses, and nobody listens at `::1`.
    let url = server.url("/e").replace("127.0.0.1", "localhost");
    assert_got_it(&tail(&place, &url, &["-n", "1"]));
}

#[test]
fn a_server_at_an_address_of_ipv6_is_reached() {
    let Ok(listener) = TcpListener::bind("[::1]:0") else { return };
    let url = format!("http://[::1]:{}/e", listener.local_addr().unwrap().port());
    let serving = std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        let head = read_head(&mut peer);
        peer.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\ndata: a\n\n").unwrap();
        head
    });
    let place = Place::new();
    assert_got_it(&place.run(&["tail", &url, "-o", "json", "-n", "1"]));
    assert!(serving.join().unwrap().contains("host: [::1]:"));
}

fn read_head(peer: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        peer.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// A SOCKS5 proxy (RFC 1928) that answers itself instead of connecting anywhere.
fn socks5(user: bool) -> impl Fn(&mut Conn) -> io::Result<()> + Send + Sync {
    move |conn: &mut Conn| {
        let greeting = conn.read_exactly(2)?;
        conn.read_exactly(usize::from(greeting[1]))?;
        conn.send(&[5, if user { 2 } else { 0 }])?;
        if user {
            let length = usize::from(conn.read_exactly(2)?[1]);
            assert_eq!(conn.read_exactly(length)?, b"me");
            let length = usize::from(conn.read_exactly(1)?[0]);
            assert_eq!(conn.read_exactly(length)?, b"hunter2");
            conn.send(&[1, 0])?;
        }
        let request = conn.read_exactly(5)?;
        assert_eq!((request[3], usize::from(request[4])), (3, "stream.invalid".len()), "by name");
        assert_eq!(conn.read_exactly(usize::from(request[4]) + 2)?[..14], *b"stream.invalid");
        conn.send(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    }
}

#[test]
fn a_socks5_proxy_is_given_the_name_and_the_credentials() {
    let place = Place::new();
    let script = |user| Script::new().play(socks5(user)).sse().send(EVENT).until_closed();
    let server = Server::start([script(false), script(true)]);
    for user in ["", "me:hunter2@"] {
        let proxy = format!("socks5h://{user}{}", server.addr());
        let done = tail(&place, "http://stream.invalid/e", &["-n", "1", "-x", &proxy]);
        assert_got_it(&done);
    }
}

#[test]
fn a_proxy_that_is_not_there_is_named_and_its_password_is_not() {
    let place = Place::new();
    let proxy = Server::start([]).addr();
    let given = format!("http://me:hunter2@{proxy}");
    let done = tail(&place, "http://stream.invalid/e", &["-x", &given, "--max-retries", "0"]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    assert!(done.stderr.contains(&format!("`stream.invalid:80` through the proxy `{proxy}`")), "{}", done.stderr);
    assert!(!done.stderr.contains("hunter2"), "{}", done.stderr);
}

#[test]
fn a_tunnel_is_asked_for_by_name_and_what_the_proxy_says_is_told() {
    let place = Place::new();
    let proxy = Server::start([Script::new().respond(407, "", "")]);
    let by = proxy.url("");
    let done = tail(&place, "https://stream.invalid/e", &["-x", &by, "--max-retries", "0"]);
    assert_eq!(done.code, 4, "{}", done.stderr);
    assert_eq!(proxy.requests()[0].target, "stream.invalid:443");
    assert!(done.stderr.contains("through the proxy"), "{}", done.stderr);
}

/// Passes bytes on both ways after a `CONNECT`.
fn tunnel(conn: &mut Conn, to: std::net::SocketAddr) -> io::Result<()> {
    conn.read_request()?;
    conn.send(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    conn.pass_on(TcpStream::connect(to)?)
}

#[test]
fn a_tunnel_through_a_proxy_leads_to_tls() {
    let place = Place::new();
    let key = rustls::pki_types::PrivateKeyDer::from_pem_file(tls_file("self.key")).unwrap();
    let chain = rustls::pki_types::CertificateDer::pem_file_iter(tls_file("self.pem")).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(chain.map(Result::unwrap).collect(), key).unwrap();
    let server = Server::start_tls([stream()], std::sync::Arc::new(config));
    let to = server.addr();
    let proxy = Server::start([Script::new().play(move |conn| tunnel(conn, to))]);
    let trust = tls_file("self.pem");
    let by = proxy.url("");
    let done = tail(&place, &server.url("/e"), &["-x", &by, "--cacert", trust.to_str().unwrap(), "-n", "1"]);
    assert_got_it(&done);
    assert_eq!(proxy.requests()[0].method, "CONNECT");
}

fn tls_file(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(name)
}

#[test]
fn a_certificate_that_cannot_be_trusted_is_a_final_error_in_words() {
    let place = Place::new();
    let key = rustls::pki_types::PrivateKeyDer::from_pem_file(tls_file("server.key")).unwrap();
    let chain = rustls::pki_types::CertificateDer::pem_file_iter(tls_file("server.pem")).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(chain.map(Result::unwrap).collect(), key).unwrap();
    let server = Server::start_tls([], std::sync::Arc::new(config)).otherwise(stream());
    let other = tls_file("self.pem");
    let done = tail(&place, &server.url("/e"), &["--cacert", other.to_str().unwrap()]);
    assert_eq!((done.code, server.connections()), (4, 1), "{}", done.stderr);
    assert!(done.stderr.contains("caused by: its certificate was not issued by anybody"), "{}", done.stderr);
    assert!(done.stderr.contains("hint: `--cacert FILE`"), "{}", done.stderr);
    assert_got_it(&tail(&place, &server.url("/e"), &["-k", "-n", "1"]));
}

// Signals

#[test]
fn an_interrupt_that_the_parent_wants_ignored_stays_ignored() {
    let place = Place::new();
    let go = Gate::new();
    let server = Server::start([Script::new().sse().send(EVENT).wait(&go).send("id: 2\ndata: b\n\n").until_closed()]);
    let url = server.url("/e");
    let ssectl = env!("CARGO_BIN_EXE_ssectl");
    let script = format!("trap '' INT; exec {ssectl} tail '{url}' -o json --no-store -n 2");
    let mut command = place.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(std::process::Stdio::null());
    let mut child = shell.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = io::BufRead::lines(io::BufReader::new(child.stdout.take().unwrap()));
    assert!(lines.next().unwrap().unwrap().contains("\"id\":\"1\""));
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    go.open();
    assert!(lines.next().unwrap().unwrap().contains("\"id\":\"2\""));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A stream whose cursor is gone, and what follows it.
fn expired(place: &Place, more: impl IntoIterator<Item = Script>) -> Server {
    assert_eq!(place.run(&["checkpoint", "set", "s", "--latest", "1"]).code, 0);
    let live = Script::new().sse().send("id: 9\ndata: b\n\n").until_closed();
    Server::start([Script::new().respond(410, "", "gone"), live].into_iter().chain(more))
}

fn resume_from_snapshot(place: &Place, server: &Server, snapshot: &str) -> Finished {
    let url = server.url("/e");
    let words =
        ["resume", &url, "--stream", "s", "-o", "json", "-n", "1", "-u", "me:hunter2", "--snapshot-url", snapshot];
    place.run(&words)
}

#[test]
fn an_expired_cursor_is_followed_by_the_snapshot_and_live() {
    let place = Place::new();
    let server = expired(&place, [Script::new().respond(200, "Content-Type: application/json\r\n", "{\"a\":1}")]);
    let done = resume_from_snapshot(&place, &server, &server.url("/state"));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let kinds: Vec<_> = done.records().iter().map(|record| record["kind"].clone()).collect();
    assert_eq!(kinds, ["snapshot", "event"], "{}", done.stdout);
    assert_eq!(done.records()[0]["data"], "{\"a\":1}");
    assert!(done.stderr.contains("warning: events since the cursor are lost"), "{}", done.stderr);
    let asked = &server.requests()[2];
    assert_eq!((asked.path(), asked.last_event_id()), ("/state", None));
    assert!(asked.header("authorization").is_some(), "it is the stream's own origin");
    assert_eq!(place.show("s")["latest"], "9");
}

#[test]
fn without_the_snapshot_an_expired_cursor_ends_with_5_and_stays() {
    let place = Place::new();
    let server = expired(&place, [Script::new().respond(503, "", "busy")]);
    let done = resume_from_snapshot(&place, &server, &server.url("/state"));
    assert_eq!(done.code, 5, "{}", done.stderr);
    assert!(done.stderr.contains("error: cannot go on with `s` from a snapshot"), "{}", done.stderr);
    assert!(done.stderr.contains("503") && done.stderr.contains("hint: "), "{}", done.stderr);
    assert_eq!((done.stdout.as_str(), &place.show("s")["latest"]), ("", &"1".into()));
}

#[test]
fn a_snapshot_of_another_origin_gets_no_credentials() {
    let place = Place::new();
    let other = Server::start([Script::new().respond(200, "", "state")]);
    let server = expired(&place, []);
    let done = resume_from_snapshot(&place, &server, &other.url("/state"));
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(other.requests()[0].header("authorization").is_none());
}
