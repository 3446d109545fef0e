//! What the options of `tail`, `resume` and `replay` do, on the real binary.

#![expect(clippy::unwrap_used, reason = "a test fails where something is not there")]

mod support;

use std::fs;

use serde_json::{Value, json};
use support::log::{Cut, LogEvent, LogServer, Start};
use support::program::{Finished, Place, Running, numbers, sql};
use support::scripted::{Request, Script, Server};

fn start(place: &Place, command: &str, url: &str, more: &[&str]) -> Running {
    place.start(&[&[command, url, "--stream", "s", "-o", "json", "--retry-initial", "10ms"], more].concat())
}

/// Runs it to its end, which must be a good one.
#[track_caller]
fn run(place: &Place, command: &str, url: &str, more: &[&str]) -> Finished {
    let done = start(place, command, url, more).finish();
    assert_eq!(done.code, 0, "stdout: {}\nstderr: {}", done.stdout, done.stderr);
    done
}

#[track_caller]
fn set(place: &Place, arguments: &[&str]) {
    let done = place.run(&[&["checkpoint", "set", "s"], arguments].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
}

fn cursors(server: &Server) -> Vec<Option<String>> {
    server.requests().iter().map(Request::last_event_id).collect()
}

fn some(id: &str) -> Option<String> {
    Some(id.to_owned())
}

#[test]
fn the_cursor_may_go_as_a_query_parameter() {
    let place = Place::new();
    let server = LogServer::builder()
        .event(LogEvent::new("a b&c=1", "x"))
        .events(2..=3)
        .cursor_parameter("since_id")
        .cut_after(1, Cut::Clean)
        .start();
    let done = run(&place, "resume", &server.url("/e?x=1"), &["--send-cursor", "query:since_id", "-n", "3"]);
    assert_eq!(done.ids(), ["a b&c=1", "2", "3"]);
    let requests = server.requests();
    let parameters: Vec<_> = requests.iter().map(|request| request.parameter("since_id")).collect();
    assert_eq!(parameters, [None, some("a b&c=1"), some("2")]);
    assert!(requests.iter().all(|request| request.last_event_id().is_none()));
    assert!(requests.iter().all(|request| request.parameter("x").as_deref() == Some("1")));
}

#[test]
fn a_start_parameter_is_sent_while_there_is_no_cursor() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=4).cut_after(2, Cut::Clean).start();
    let url = server.url("/e");
    server.fail_next(503, "");
    run(&place, "resume", &url, &["--start-param", "since=2026-01-01", "--start-param", "all=1", "-n", "3"]);
    run(&place, "resume", &url, &["--start-param", "since=2026-01-01", "-n", "1"]);
    let requests = server.requests();
    let since: Vec<_> = requests.iter().map(|request| request.parameter("since")).collect();
    assert_eq!(since, [some("2026-01-01"), some("2026-01-01"), None, None]);
    assert_eq!(requests[0].parameter("all"), some("1"));
    assert_eq!(cursors(&server), [None, None, some("2"), some("3")]);
}

#[test]
fn last_event_id_begins_a_new_record_at_the_first_connection_only() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=10).cut_after(3, Cut::Reset).start();
    let url = server.url("/e");
    run(&place, "resume", &url, &["-n", "10"]);
    assert_eq!(place.show("s")["lagging"], "1");
    let before = server.requests().len();
    let done = run(&place, "resume", &url, &["--last-event-id", "4", "-n", "5"]);
    assert_eq!(done.ids(), numbers(5..=9));
    assert_eq!(cursors(&server)[before..], [some("4"), some("7")]);
    let shown = place.show("s");
    assert_eq!((&shown["latest"], &shown["lagging"]), (&json!("9"), &json!("4")));
}

#[test]
fn last_event_id_is_for_one_stream() {
    let place = Place::new();
    let done = place.run(&["resume", "http://127.0.0.1:1/a", "http://127.0.0.1:1/b", "--last-event-id", "4"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
}

#[test]
fn initial_says_where_to_start_when_nothing_is_stored() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=6).start();
    let url = server.url("/e");
    assert_eq!(run(&place, "resume", &url, &["--initial", "id:2", "-n", "2"]).ids(), ["3", "4"]);
    assert_eq!(run(&place, "resume", &url, &["--initial", "id:2", "-n", "2"]).ids(), ["5", "6"]);
    assert_eq!(cursors(&server), [some("2"), some("4")]);
    assert_eq!(place.show("s")["lagging"], "2");
}

#[test]
fn ids_may_be_taken_from_the_data() {
    let place = Place::new();
    let server = Server::start([
        Script::new().sse().send("data: {\"seq\":7}\n\ndata: {\"seq\":\"8\"}\n\ndata: no json\n\n").close(),
        Script::new().sse().send("id: other\ndata: {\"seq\":9}\n\n").keep_open(),
    ]);
    let done = run(&place, "resume", &server.url("/e"), &["--id-from", "/seq", "-n", "4"]);
    let ids: Vec<Value> = done.records().iter().map(|record| record["id"].clone()).collect();
    assert_eq!(ids[..2], [json!("7"), json!("8")]);
    assert_eq!(ids[3], json!("9"));
    assert_eq!(cursors(&server), [None, some("8")]);
    assert_eq!(place.show("s")["latest"], "9");
}

#[test]
fn events_may_be_kept_from_moving_the_cursor() {
    let place = Place::new();
    let server = Server::start([
        Script::new().sse().send("id: 1\ndata: a\n\nevent: keepalive\nid: k9\ndata: k\n\ndata: without id\n\n").close(),
        Script::new().sse().send("id: 2\ndata: b\n\n").keep_open(),
    ]);
    let done = run(&place, "resume", &server.url("/e"), &["--no-cursor-event", "keepalive", "-n", "4"]);
    let third = &done.records()[2];
    assert_eq!(
        (&third["data"], &third["id"]),
        (&json!("without id"), &json!("1")),
        "its id is not in force afterwards"
    );
    assert_eq!(cursors(&server), [None, some("1")]);
    assert_eq!(place.show("s")["latest"], "2");
}

#[test]
fn lagging_follows_at_the_distance_of_the_window() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=3).start();
    let mut running = start(&place, "resume", &server.url("/e"), &["--window", "50ms", "--until-id", "end"]);
    running.until_id("3");
    // The next events come when a window has passed, whatever else the machine does.
    let mut last = String::from("3");
    for id in 4..=5 {
        wait_until(|| {
            let commits = place.show("s");
            let at = commits["latest_at"].as_str().map(str::to_owned);
            commits["latest"] == last && at.is_some_and(|at| older_than_a_window(&at))
        });
        last = id.to_string();
        server.push(&last, "x");
        running.until_id(&last);
    }
    server.push("end", "x");
    assert_eq!(running.finish().code, 0);
    let lagging = place.show("s")["lagging"].as_str().unwrap().to_owned();
    assert!(["3", "4", "5"].contains(&lagging.as_str()), "{lagging}");
    assert_eq!(place.show("s")["window"], "50ms");
}

/// Asks `date` rather than a clock of this test: both clocks are the system's.
fn older_than_a_window(at: &str) -> bool {
    let at = time_of(at);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    now > at + 60
}

/// Milliseconds since 1970 of `2026-11-30T20:41:06.123456Z`, by SQLite.
fn time_of(at: &str) -> u128 {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    let sql = "select cast(round((julianday(?1) - 2440587.5) * 86400000) as integer)";
    connection.query_row(sql, [at], |row| row.get::<_, i64>(0)).unwrap().try_into().unwrap()
}

fn wait_until(mut condition: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed() < support::PATIENCE, "it never came to that");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// A server whose log holds an event twice, as after a recovery; the run reads again from 1.
fn repeats(place: &Place, dedupe: &str) -> Finished {
    let server = LogServer::builder().events(1..=5).start();
    let mut running =
        start(place, "resume", &server.url("/e"), &["--dedupe", dedupe, "--drop-cooldown", "0s", "--until-id", "8"]);
    running.until_id("5");
    server.wait_until_caught_up(0);
    server.push_dropped("6", "data 6");
    server.comment("dropped 1 messages");
    server.push("7", "data 7");
    server.wait_for_requests(2);
    server.push("8", "data 8");
    running.finish()
}

#[test]
fn what_makes_two_deliveries_the_same_may_be_chosen() {
    for dedupe in ["event", "id"] {
        let done = repeats(&Place::new(), dedupe);
        assert_eq!(done.ids(), numbers(1..=8), "{dedupe}: {}", done.stderr);
        assert_eq!(done.replayed(), ["6"]);
    }
    let done = repeats(&Place::new(), "none");
    let mut expected = numbers(1..=5);
    // It reads from 1, exclusive, and removes nothing.
    expected.extend(numbers(2..=8));
    assert_eq!(done.ids(), expected, "{}", done.stderr);
}

#[test]
fn filters_hold_back_events_and_cursors_move_all_the_same() {
    let place = Place::new();
    let event = |id: &str, kind: &str, data: &str| LogEvent::new(id, data).of_type(kind);
    let server = LogServer::builder()
        .event(event("1", "trade", "buy 10"))
        .event(event("2", "quote", "buy 11"))
        .event(event("3", "trade", "sell 12"))
        .event(event("4", "order", "buy 13"))
        .event(event("5", "news", "none"))
        .start();
    let url = server.url("/e");
    let more = ["-e", "trade", "-e", "order", "--grep", "^buy", "--until-idle", "200ms"];
    assert_eq!(run(&place, "resume", &url, &more).ids(), ["1", "4"]);
    assert_eq!(place.show("s")["latest"], "5");
    let place = Place::new();
    let done = run(&place, "resume", &url, &["--grep", "10$", "--grep", "12$", "--until-id", "5"]);
    assert_eq!(done.ids(), ["1", "3"], "a bound counts what was held back too");
}

#[test]
fn comments_and_notices_are_records_when_asked_for() {
    let place = Place::new();
    let server = Server::start([
        Script::new().sse().send(":ping\n\n: two words\n\n:  indented\n\nid: 1\ndata: a\n\n").close(),
        Script::new().sse().send("id: 2\ndata: b\n\n").keep_open(),
    ]);
    let url = server.url("/e");
    let done = run(&place, "tail", &url, &["--no-store", "--comments", "--notices", "-n", "2"]);
    let mut records = done.records();
    for record in &mut records {
        let time = record.as_object_mut().unwrap().remove("time").unwrap();
        assert!(time_of(time.as_str().unwrap()) > 0);
        assert_eq!(record["stream"], "s");
    }
    let kinds: Vec<_> =
        records.iter().map(|record| record["notice"].as_str().or(record["kind"].as_str()).unwrap()).collect();
    let expected =
        ["connected", "comment", "comment", "comment", "event", "disconnected", "reconnecting", "connected", "event"];
    assert_eq!(kinds, expected);
    assert_eq!(records[1], json!({"kind": "comment", "stream": "s", "text": "ping"}));
    assert_eq!(records[2]["text"], "two words");
    assert_eq!(records[3]["text"], " indented");
    assert_eq!(records[4], json!({"kind": "event", "stream": "s", "id": "1", "event": "message", "data": "a"}));
}

#[test]
fn a_summary_is_for_stderr() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=5).start();
    let done = run(&place, "resume", &server.url("/e"), &["--stats", "-n", "5", "-q"]);
    assert_eq!(done.records().len(), 5);
    assert!(done.stderr.contains("summary of `s`"), "{}", done.stderr);
    assert!(done.stderr.contains("5 delivered, 5 written"), "{}", done.stderr);
    assert!(done.stderr.contains("waiting"), "{}", done.stderr);
}

#[test]
fn several_streams_run_side_by_side_and_every_record_names_its_own() {
    let place = Place::new();
    let one = LogServer::builder().events(1..=3).start();
    let two = LogServer::builder().events(1..=2).start();
    let (first, second) = (one.url("/one"), two.url("/two?x=1"));
    let done = place.run(&["resume", &first, &second, "-o", "json", "-n", "5"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let of = |name: &str| {
        let records = done.records().into_iter().filter(|record| record["stream"] == name);
        records.map(|record| record["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let names = [format!("{}/one", one.addr()), format!("{}/two?x=1", two.addr())];
    assert_eq!(of(&names[0]), numbers(1..=3));
    assert_eq!(of(&names[1]), numbers(1..=2));
    for (name, latest) in names.iter().zip(["3", "2"]) {
        assert_eq!(place.show(name)["latest"], latest);
    }
    assert_eq!(place.show(&second)["latest"], "2", "a URL stands for its name");
    let pretty = place.run(&["tail", "--no-store", &first, &second, "-o", "pretty", "-n", "5"]);
    for line in pretty.stdout.lines() {
        assert!(names.iter().any(|name| line.contains(name.as_str())), "{line}");
    }
}

fn config(place: &Place, text: &str) -> String {
    let path = place.path("config.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn streams_of_the_config_file_have_defaults_tables_and_flags() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=3).cursor_parameter("since").start();
    let url = server.url("/accounts");
    let config = config(
        &place,
        &format!(
            "[defaults]\nwindow = \"7m\"\nretry-initial = \"10ms\"\n\n[streams.accounts]\nurl = \"{url}\"\n\
             headers = {{ X-Team = \"one\" }}\nsend-cursor = \"query:since\"\nwindow = \"2h\"\n\n\
             [streams.other]\nurl = \"{url}\"\n"
        ),
    );
    let done = place.run(&["resume", "accounts", "--config", &config, "-o", "json", "-n", "2"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.records()[0]["stream"], "accounts");
    let done = place.run(&["resume", "accounts", "--config", &config, "-o", "json", "-n", "1"]);
    assert_eq!(done.ids(), ["3"]);
    let requests = server.requests();
    assert_eq!(requests[0].header("x-team").as_deref(), Some("one"));
    assert_eq!(requests[1].parameter("since"), some("2"));
    assert_eq!(place.show("accounts")["window"], "2h");
    let done = place.run(&["resume", "other", "--config", &config, "-o", "json", "-n", "1"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(place.show("other")["window"], "7m");
    let done = place.run(&["resume", "other", "--config", &config, "-o", "json", "-n", "1", "--window", "3m"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(place.show("other")["window"], "3m");
    let done = place.run(&["resume", "acounts", "--config", &config]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("`accounts`"), "{}", done.stderr);
}

#[test]
fn a_config_name_that_leads_elsewhere_is_warned_about_before_its_cursor_goes_there() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=4).start();
    let run = |path: &str| {
        let config = config(&place, &format!("[streams.a]\nurl = \"{}\"\n", server.url(path)));
        let done = place.run(&["resume", "a", "--config", &config, "-o", "json", "-n", "1"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.stderr
    };
    assert_eq!(run("/one?x=1"), "");
    assert_eq!(run("/one?x=2"), "", "neither host nor path has changed");
    let warned = run("/two");
    assert!(warned.starts_with("note: `a` was `"), "{warned}");
    assert!(warned.contains("/one") && warned.contains("/two"), "{warned}");
    assert_eq!(run("/two"), "", "said once");
    assert_eq!(cursors(&server), [None, some("1"), some("2"), some("3")]);
}

#[test]
fn no_credential_is_stored_or_said() {
    let secrets = ["hunter22", "tok3nTok3n", "he4derS3cret", "c00kieS3cret"];
    let place = Place::new();
    let server = LogServer::builder().events(1..=3).cut_after(2, Cut::Reset).start();
    let url = server.url("/e?x=1&access_token=tok3nTok3n").replace("http://", "http://me:hunter22@");
    let arguments = |url: &str| {
        [
            "resume",
            url,
            "-o",
            "json",
            "-vv",
            "--stats",
            "--notices",
            "--retry-initial",
            "10ms",
            "-H",
            "X-Api-Key: he4derS3cret",
            "-H",
            "Cookie: session=c00kieS3cret",
        ]
        .map(str::to_owned)
    };
    let run = |url: &str, more: &[&str]| {
        let arguments = arguments(url);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(more.iter().copied()).collect();
        place.run(&arguments)
    };
    let mut said = Vec::new();
    let done = run(&url, &["-n", "3"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    said.push(done);
    let request = server.requests()[0].clone();
    assert_eq!(request.parameter("access_token"), some("tok3nTok3n"));
    assert_eq!(request.header("authorization").as_deref(), Some("Basic bWU6aHVudGVyMjI="));
    assert_eq!(request.header("x-api-key").as_deref(), Some("he4derS3cret"));
    // Every kind of failure.
    server.fail_next(403, "");
    said.push(run(&url, &[]));
    server.fail_next(503, "");
    said.push(run(&url, &["--max-retries", "0"]));
    server.fail_next(302, "Location: http://127.0.0.1:1/moved?access_token=tok3nTok3n\r\n");
    said.push(run(&url, &["--max-retries", "0"]));
    server.fail_next(410, "");
    said.push(run(&url, &[]));
    let dead = "http://me:hunter22@127.0.0.1:1/e?access_token=tok3nTok3n";
    said.push(run(dead, &["--max-retries", "1"]));
    said.push(run("ftp://me:hunter22@127.0.0.1/e?access_token=tok3nTok3n", &[]));
    said.push(run("http://me:hunter22@[/e?access_token=tok3nTok3n", &[]));
    said.push(run(&url, &["-H", "tok3nTok3n without colon"]));
    assert_eq!(said.iter().map(|done| done.code).collect::<Vec<_>>(), [0, 3, 4, 4, 5, 4, 2, 2, 2]);
    let name = format!("{}/e?x=1", server.addr());
    said.push(place.run(&["checkpoint", "show", &name]));
    said.push(place.run(&["checkpoint", "list", "-o", "json"]));
    said.push(place.run(&["checkpoint", "export"]));
    assert_eq!(place.show(&name)["latest"], "3");
    for secret in secrets.iter().copied().chain(["bWU6aHVudGVyMjI"]) {
        for done in &said {
            assert!(!done.stdout.contains(secret), "{secret}: {}", done.stdout);
            assert!(!done.stderr.contains(secret), "{secret}: {}", done.stderr);
        }
        for file in fs::read_dir(place.path("")).unwrap() {
            let path = file.unwrap().path();
            let Ok(bytes) = fs::read(&path) else { continue };
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} in {}", path.display());
        }
    }
}

#[test]
fn replay_reads_the_window_again_and_moves_no_cursor() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=8).start();
    let url = server.url("/e");
    run(&place, "resume", &url, &["--until-id", "5"]);
    let before = place.show("s");
    let rows = sql(&place.db(), "select latest, lagging from cursors");
    let done = run(&place, "replay", &url, &[]);
    assert_eq!(done.ids(), numbers(2..=5), "to the id that was latest, from lagging");
    assert_eq!(cursors(&server)[1], some("1"));
    assert_eq!(place.show("s"), before);
    assert_eq!(sql(&place.db(), "select latest, lagging from cursors"), rows);
    assert_eq!(run(&place, "replay", &url, &["-n", "2"]).ids(), ["2", "3"]);
}

#[test]
fn replay_ends_with_the_last_event_under_the_latest_id_or_at_one_past_it() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=2).event(LogEvent::new("2", "again")).events(3..=3).start();
    server.push("3", "again");
    let url = server.url("/e");
    run(&place, "resume", &url, &["-n", "5"]);
    for id in 4..=9 {
        server.push(&id.to_string(), "x");
    }
    let done = run(&place, "replay", &url, &[]);
    assert_eq!(done.ids(), ["2", "2", "3", "3"]);
    // The id is no longer there.
    set(&place, &["--latest", "3", "--lagging", "1"]);
    server.discard_before("5");
    let done = run(&place, "replay", &url, &[]);
    assert_eq!(done.stdout, "");
}

#[test]
fn replay_does_not_hinder_who_owns_the_stream() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=5).start();
    let url = server.url("/e");
    let mut running = start(&place, "resume", &url, &["--until-id", "6"]);
    running.until_id("5");
    wait_until(|| place.show("s")["latest"] == "5");
    assert_eq!(run(&place, "replay", &url, &[]).ids(), numbers(2..=5));
    server.push("6", "x");
    assert_eq!(running.finish().code, 0);
    assert_eq!(place.show("s")["latest"], "6");
}

#[test]
fn an_inclusive_server_gives_nothing_twice() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=9).inclusive().cut_after(4, Cut::Reset).start();
    let url = server.url("/e");
    assert_eq!(run(&place, "resume", &url, &["-n", "7"]).ids(), numbers(1..=7));
    assert_eq!(run(&place, "resume", &url, &["-n", "2"]).ids(), numbers(8..=9));
}

#[test]
fn an_empty_id_sends_none_at_the_next_connection_and_keeps_the_stored_cursor() {
    let place = Place::new();
    let server = Server::start([
        Script::new().sse().send("id: 1\ndata: a\n\nid\ndata: b\n\n").close(),
        Script::no_content(),
        Script::no_content(),
    ]);
    let url = server.url("/e");
    let done = run(&place, "resume", &url, &[]);
    assert_eq!(done.records()[1]["id"], Value::Null);
    assert_eq!(place.show("s")["latest"], "1");
    run(&place, "resume", &url, &[]);
    assert_eq!(cursors(&server), [None, None, some("1")]);
}

#[test]
fn verbose_says_which_position_served_and_why() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=2).without_cursor(Start::Beginning).start();
    let url = server.url("/e");
    run(&place, "resume", &url, &["-n", "1"]);
    let done = run(&place, "resume", &url, &["-n", "1", "-v"]);
    assert!(done.stderr.lines().any(|line| line.starts_with("note:") && line.contains("`1`")), "{}", done.stderr);
}

#[test]
fn without_a_store_nothing_is_written_anywhere() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=2).start();
    run(&place, "resume", &server.url("/e"), &["-n", "2", "--no-store"]);
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 0);
}

#[test]
fn going_on_from_live_is_said_even_where_little_is_said() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=20).retained_from(10).gone_when_too_old(410).start();
    let url = server.url("/e");
    let arguments = ["resume", &url, "--last-event-id", "2", "--on-expired", "live", "-n", "1", "-q", "-o", "json"];
    let done = place.run(&arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.stderr, "warning: events since the cursor are lost; going on from live\n");
}
