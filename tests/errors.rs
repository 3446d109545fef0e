//! What is said when something cannot be done: one `error:`, its causes, one hint, and nothing on stdout.

#![expect(clippy::unwrap_used, reason = "a test fails where something is not there")]

mod support;

use std::fs;
use std::path::Path;

use support::log::LogServer;
use support::program::{Finished, Place, sql};
use support::scripted::{Script, Server};

/// A port of the loopback at which nobody listens: bound and closed again a moment ago.
fn dead_url() -> String {
    let server = Server::start([]);
    server.url("/e")
}

/// The form of a final failure; gives back stderr with what differs between runs replaced.
#[track_caller]
fn failure(place: &Place, done: &Finished, code: i32) -> String {
    assert_eq!(done.code, code, "{}{}", done.stdout, done.stderr);
    assert_eq!(done.stdout, "");
    let starts = |word: &str| done.stderr.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!(starts("error:"), 1, "{}", done.stderr);
    assert_eq!(starts("error: cannot "), 1, "{}", done.stderr);
    assert!(starts("hint:") <= 1, "{}", done.stderr);
    assert_eq!(done.stderr.find("\nhint:").is_some(), done.stderr.lines().last().unwrap().starts_with("hint:"));
    let known = ["error:", "caused by:", "hint:", "note:", "warning:"];
    assert!(done.stderr.lines().all(|line| known.iter().any(|word| line.starts_with(word))), "{}", done.stderr);
    redacted(place, &done.stderr)
}

/// As [`failure`], and nothing else is said.
#[track_caller]
fn failure_alone(place: &Place, done: &Finished, code: i32) -> String {
    let text = failure(place, done, code);
    let is_more = |line: &&str| line.starts_with("warning:") || line.starts_with("note:");
    assert_eq!(text.lines().find(is_more), None);
    text
}

fn redacted(place: &Place, text: &str) -> String {
    let folder = place.path("");
    let folder = folder.to_str().unwrap().trim_end_matches('/');
    let text = text.replace(folder, "[FOLDER]");
    // What version of the schema this build has is not the point of any of these.
    let known = ssectl::store::sqlite::SCHEMA_VERSION;
    let text = text.replace(
        &format!("version {}, this build knows {known}", known + 1),
        "version [NEXT], this build knows [KNOWN]",
    );
    let port = regex::Regex::new(r"127\.0\.0\.1:[0-9]+").unwrap();
    let text = port.replace_all(&text, "127.0.0.1:[PORT]");
    let delay = regex::Regex::new(r"in [0-9.]+m?s").unwrap();
    delay.replace_all(&text, "in [DELAY]").into_owned()
}

fn resume(place: &Place, url: &str, more: &[&str]) -> Finished {
    place.run(&[&["resume", url, "--stream", "s", "-o", "json", "--retry-initial", "10ms"], more].concat())
}

#[test]
fn a_host_that_cannot_be_reached() {
    let place = Place::new();
    let none = failure_alone(&place, &resume(&place, &dead_url(), &["--max-retries", "0"]), 4);
    insta::assert_snapshot!("unreachable", none);
    let once = failure(&place, &resume(&place, &dead_url(), &["--max-retries", "1"]), 4);
    insta::assert_snapshot!("unreachable_after_a_retry", once);
    let without = failure_alone(&place, &resume(&place, &dead_url(), &["--no-reconnect"]), 4);
    insta::assert_snapshot!("unreachable_without_reconnecting", without);
}

#[test]
fn a_name_that_does_not_exist() {
    let place = Place::new();
    let done = resume(&place, "http://no-such-host.invalid/e", &["--max-retries", "0"]);
    let text = failure_alone(&place, &done, 4);
    assert!(text.starts_with("error: cannot connect to `http://no-such-host.invalid/e`\ncaused by: "), "{text}");
}

#[test]
fn refusals() {
    let place = Place::new();
    for (name, status, headers, body) in [
        ("refused_404", 404, "", "nothing here\n"),
        ("refused_401", 401, "WWW-Authenticate: Bearer\r\n", ""),
        ("refused_405", 405, "", ""),
        ("refused_html", 200, "Content-Type: text/html\r\n", "<html>\n"),
        ("refused_untyped", 200, "", "{}"),
    ] {
        let server = Server::start([Script::new().respond(status, headers, body)]);
        let text = failure_alone(&place, &resume(&place, &server.url("/e"), &["--no-store"]), 3);
        insta::assert_snapshot!(name, text);
    }
}

fn corrupt(path: &Path) {
    fs::write(path, "this is no database, and it is long enough to be looked at as one. ".repeat(100)).unwrap();
}

/// `resume` ends with 6, `tail` says so in a note and goes on to its end in memory.
#[track_caller]
fn assert_needs_its_store(place: &Place, name: &str, db: &str) {
    let server = LogServer::builder().events(1..=3).start();
    let url = server.url("/e");
    let text = failure_alone(place, &resume(place, &url, &["--db", db]), 6);
    insta::assert_snapshot!(format!("{name}_resume"), text);
    assert_eq!(server.connections(), 0, "nothing is read that could not be kept");
    let done = place.run(&["tail", &url, "--stream", "s", "-o", "json", "-n", "3", "--db", db]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.ids(), ["1", "2", "3"]);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    insta::assert_snapshot!(format!("{name}_tail"), redacted(place, &done.stderr));
}

#[test]
fn a_corrupt_database() {
    let place = Place::new();
    let db = place.path("bad.db");
    corrupt(&db);
    let before = fs::read(&db).unwrap();
    assert_needs_its_store(&place, "corrupt", db.to_str().unwrap());
    assert_eq!(fs::read(&db).unwrap(), before, "it is left as it was");
    for arguments in [&["list"][..], &["show", "s"], &["set", "s", "--latest", "1"], &["verify"]] {
        let done = place.run(&[&["checkpoint"], arguments, &["--db", db.to_str().unwrap()]].concat());
        failure_alone(&place, &done, 6);
    }
}

#[test]
fn a_database_of_a_newer_version() {
    let place = Place::new();
    assert_eq!(place.run(&["checkpoint", "set", "s", "--latest", "1"]).code, 0);
    let version: i64 =
        sql(&place.db(), "select cast(user_version as text) from pragma_user_version")[0][0].parse().unwrap();
    let connection = rusqlite::Connection::open(place.db()).unwrap();
    connection.pragma_update(None, "user_version", version + 1).unwrap();
    drop(connection);
    assert_needs_its_store(&place, "newer", place.db().to_str().unwrap());
}

#[test]
fn a_database_where_a_file_is_in_the_way_of_its_folder() {
    let place = Place::new();
    fs::write(place.path("file"), "").unwrap();
    assert_needs_its_store(&place, "no_folder", place.path("file/ssectl.db").to_str().unwrap());
}

#[test]
fn a_database_that_is_a_folder() {
    let place = Place::new();
    fs::create_dir(place.path("folder")).unwrap();
    assert_needs_its_store(&place, "folder", place.path("folder").to_str().unwrap());
}

#[test]
fn a_store_that_fails_in_mid_run() {
    for (command, code) in [("resume", 6), ("tail", 0)] {
        let place = Place::new();
        let server = LogServer::builder().events(1..=2).start();
        let url = server.url("/e");
        let mut running =
            place.start(&[command, &url, "--stream", "s", "-o", "json", "--until-id", "4", "--retry-initial", "10ms"]);
        running.until_id("2");
        server.wait_until_caught_up(0);
        let connection = rusqlite::Connection::open(place.db()).unwrap();
        connection.busy_timeout(support::PATIENCE).unwrap();
        // From here on nothing can be written.
        connection
            .execute_batch(
                "create trigger full before update on cursors begin select raise(abort, 'disk full'); end;
                 create trigger full2 before insert on cursors begin select raise(abort, 'disk full'); end;",
            )
            .unwrap();
        server.push("3", "x");
        if command == "tail" {
            running.until_id("3");
        }
        server.push("4", "x");
        let done = running.finish();
        assert_eq!(done.code, code, "{}", done.stderr);
        assert!(done.stderr.contains("disk full"), "{}", done.stderr);
        if command == "tail" {
            assert_eq!(done.ids(), ["1", "2", "3", "4"]);
            assert!(done.stderr.starts_with("note:"), "{}", done.stderr);
        } else {
            assert!(done.stderr.starts_with("error: cannot "), "{}", done.stderr);
        }
    }
}

#[test]
fn unknown_streams() {
    let place = Place::new();
    let named = |arguments: &[&str], name: &str| {
        insta::assert_snapshot!(name.to_owned(), failure_alone(&place, &place.run(arguments), 2));
    };
    named(&["resume", "nowhere"], "unknown_stream");
    named(&["checkpoint", "show", "nowhere"], "unknown_stream_show");
    named(&["checkpoint", "reset", "nowhere"], "unknown_stream_reset");
    named(&["replay", "http://127.0.0.1:1/e"], "replay_nothing");
    named(&["tail", "http://127.0.0.1:1/e", "--stream", "a#b"], "stream_with_hash");
    named(&["checkpoint", "set", "a#b", "--latest", "1"], "set_stream_with_hash");
}

#[test]
fn an_option_of_another_command() {
    let place = Place::new();
    for (arguments, tip) in [
        (&["resume", "http://127.0.0.1:1/e", "--policy", "a=drop"][..], "`--policy` is an option of `tail`, `serve`"),
        (&["tail", "http://127.0.0.1:1/e", "--to=x"], "`--to` is an option of `resume`"),
        (&["serve", "-", "--window", "1m"], "`--window` is an option of `tail`, `resume`"),
    ] {
        let done = place.run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains(tip), "{arguments:?}: {}", done.stderr);
        assert!(!done.stderr.contains("similar"), "{arguments:?}: {}", done.stderr);
    }
}

#[test]
fn arguments_that_cannot_be_used() {
    let place = Place::new();
    for (arguments, word) in [
        (&["--grep", "("][..], "--grep"),
        (&["--drop-notice", "[a"], "--drop-notice"),
        (&["--window", "15 fortnights"], "--window"),
        (&["--window", "15"], "--window"),
        (&["--for=-1s"], "--for"),
        (&["--max-event-bytes", "many"], "--max-event-bytes"),
        (&["-n", "0"], "--count"),
        (&["--idle-timeout", "sometimes"], "--idle-timeout"),
        (&["--send-cursor", "cookie"], "--send-cursor"),
        (&["--id-from", "seq"], "--id-from"),
        (&["--policy", "price=coalesce:sym"], "--policy"),
        (&["--policy", "trade=buffer:5"], "a policy of `serve`"),
    ] {
        let done = place.run(&[&["tail", "http://127.0.0.1:1/e"], arguments].concat());
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.stderr);
        assert_eq!(done.stdout, "");
        assert!(done.stderr.starts_with("error:"), "{}", done.stderr);
        assert!(done.stderr.contains(word), "{arguments:?}: {}", done.stderr);
        assert!(!place.db().exists(), "nothing is made for a command that cannot be run");
    }
}
