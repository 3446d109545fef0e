//! How runs end: exit codes, what is committed then, and what is said.

mod support;

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::{Duration, Instant};

use support::log::{Cut, LogEvent, LogServer, Start};
use support::program::{Finished, Place, numbers, read_all};
use support::scripted::{Gate, Script, Server};

/// `resume URL --stream s -o json` and more.
fn resume<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["resume", url, "--stream", "s", "-o", "json", "--retry-initial", "10ms"];
    arguments.extend(more);
    arguments
}

/// The same for `tail`.
fn tail<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = resume(url, more);
    arguments[0] = "tail";
    arguments
}

/// Ended with this code, and said so with one `error:` (or none).
#[track_caller]
fn assert_ended(done: &Finished, code: i32) {
    assert_eq!(done.code, code, "stdout: {}\nstderr: {}", done.stdout, done.stderr);
    let errors = done.stderr.lines().filter(|line| line.starts_with("error:")).count();
    let expected = usize::from(!matches!(code, 0 | 130 | 143));
    assert_eq!(errors, expected, "{}", done.stderr);
}

/// A stream of one connection that stays open.
fn open_stream(events: &str) -> Server {
    Server::start([Script::new().sse().send(events).keep_open()])
}

const THREE: &str = "id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: c\n\n";

#[test]
fn a_reader_that_takes_one_line_ends_the_run_and_resume_goes_on_after_what_was_delivered() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=1).start();
    let url = server.url("/e");
    let (running, stdout) = place.start_unread(&resume(&url, &[]));
    let mut lines = BufReader::new(stdout);
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(line.contains("\"id\":\"1\""), "{line}");
    drop(lines);
    // Whether it notices at once or with the next event: that one was not delivered.
    server.push("2", "b");
    assert_ended(&running.finish(), 0);
    assert_eq!(place.show("s")["latest"], "1");
    let done = place.run(&resume(&url, &["-n", "1"]));
    assert_eq!(done.ids(), ["2"]);
}

#[test]
fn an_idle_run_ends_when_its_reader_goes() {
    let place = Place::new();
    let server = open_stream(THREE);
    let (running, stdout) = place.start_unread(&tail(&server.url("/e"), &[]));
    let mut lines = BufReader::new(stdout).lines();
    assert!(lines.by_ref().take(3).last().unwrap().unwrap().contains("\"3\""));
    drop(lines);
    assert_ended(&running.finish(), 0);
    assert_eq!(place.show("s")["latest"], "3");
}

#[test]
fn a_run_that_waits_to_connect_again_ends_when_its_reader_goes() {
    let place = Place::new();
    let server = Server::start([Script::new().sse().send("retry: 3600000\n\nid: 1\ndata: a\n\n").close()]);
    let (running, stdout) = place.start_unread(&tail(&server.url("/e"), &[]));
    let mut lines = BufReader::new(stdout).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"1\""));
    drop(lines);
    assert_ended(&running.finish(), 0);
    assert_eq!(place.show("s")["latest"], "1");
}

#[test]
fn signals_end_a_run_with_everything_delivered_committed() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let (place, server) = (Place::new(), open_stream(THREE));
        let mut running = place.start(&resume(&server.url("/e"), &[]));
        running.until_id("3");
        running.signal(signal);
        let done = running.finish();
        assert_ended(&done, code);
        assert_eq!(done.ids(), ["1", "2", "3"]);
        let shown = place.show("s");
        assert_eq!(shown["latest"], "3");
        assert_eq!(shown["owner"], serde_json::Value::Null);
    }
}

#[test]
fn signals_end_a_run_that_waits_to_connect_again() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let place = Place::new();
        let server = Server::start([]).otherwise(Script::new().respond(503, "Retry-After: 3600\r\n", ""));
        let running = place.start(&resume(&server.url("/e"), &[]));
        server.wait_for_requests(1);
        running.signal(signal);
        assert_ended(&running.finish(), code);
    }
}

/// A stream that fills the pipe: one small event, then far more than a pipe holds.
fn flood(last: u64) -> String {
    let big = "x".repeat(100_000);
    let mut events = String::from("id: 1\ndata: small\n\n");
    for id in 2..=last {
        events.push_str(&format!("id: {id}\ndata: {big}\n\n"));
    }
    events
}

/// How many whole records are in the output.
fn whole_records(output: &str) -> u64 {
    output.split_inclusive('\n').filter(|line| line.ends_with('\n')).count() as u64
}

#[test]
fn a_signal_while_nobody_reads_commits_what_was_delivered_and_no_more() {
    let place = Place::new();
    let gate = Gate::new();
    let (small, big) = {
        let events = flood(20);
        let at = events.find("id: 2\n").unwrap();
        (events[..at].to_owned(), events[at..].to_owned())
    };
    let server = Server::start([Script::new().sse().send(small).wait(&gate).send(big).keep_open()]);
    let (mut running, stdout) = place.start_unread(&resume(&server.url("/e"), &[]));
    let mut reader = BufReader::with_capacity(1, stdout);
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    gate.open();
    // The next record has begun to come, so the output is blocked from here on.
    reader.read_exact(&mut [0; 1]).unwrap();
    running.signal("INT");
    while !running.has_ended() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_ended(&running.finish(), 130);
    let shown = place.show("s");
    let latest: u64 = shown["latest"].as_str().unwrap().parse().unwrap();
    assert!((1..=1 + whole_records(&rest)).contains(&latest), "{latest}");
    assert_eq!(shown["last_end"], "signal 2");
}

#[test]
fn a_second_interrupt_ends_at_once_though_nobody_reads() {
    let place = Place::new();
    let server = open_stream(&flood(20));
    let (mut running, stdout) = place.start_unread(&resume(&server.url("/e"), &[]));
    // The first record, and the first byte of those that a pipe cannot hold.
    let mut reader = BufReader::with_capacity(1, stdout);
    reader.read_line(&mut String::new()).unwrap();
    reader.read_exact(&mut [0; 1]).unwrap();
    let start = Instant::now();
    while !running.has_ended() {
        let _ = std::process::Command::new("kill").arg("-INT").arg(running.child.id().to_string()).status();
        assert!(start.elapsed() < support::PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_ended(&running.finish(), 130);
    // The orderly end would have said so here; the stream is free nonetheless.
    let shown = place.show("s");
    assert_eq!(shown["last_end"], serde_json::Value::Null);
    assert_eq!(shown["owner"], serde_json::Value::Null);
}

#[test]
fn a_bounded_run_waits_for_a_slow_reader_and_cuts_nothing_off() {
    let place = Place::new();
    let server = Server::start([]).otherwise(Script::new().sse().send(flood(3)).keep_open());
    for arguments in [["-n", "3"], ["--until-id", "3"], ["--until-idle", "0.1s"], ["--for", "0.3s"]] {
        let (mut running, stdout) =
            place.start_unread(&tail(&server.url("/e"), &[&["--no-store"], &arguments[..]].concat()));
        let reading = Instant::now();
        while reading.elapsed() < Duration::from_millis(1500) {
            assert!(!running.has_ended(), "{arguments:?}: ended with its output undelivered");
            std::thread::sleep(Duration::from_millis(20));
        }
        let output = read_all(stdout);
        assert_ended(&running.finish(), 0);
        let output = output.join().unwrap();
        // What `--for` finds unread in memory at its end is for the next run; no record is cut off.
        let least = if arguments[0] == "--for" { 1 } else { 3 };
        assert!(output.ends_with('\n') && (least..=3).contains(&whole_records(&output)), "{arguments:?}");
    }
}

#[test]
fn the_end_of_for_waits_for_a_reader_that_reads_nothing_but_not_for_ever() {
    let place = Place::new();
    let server = open_stream(&flood(20));
    let (running, stdout) = place.start_unread(&resume(&server.url("/e"), &["--for", "0.2s"]));
    assert_ended(&running.finish(), 0);
    let mut reader = BufReader::new(stdout);
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    let whole = whole_records(&String::from_utf8(rest).unwrap());
    // Nothing may be stored that the pipe did not get.
    let latest = place.show("s")["latest"].as_str().map_or(0, |id| id.parse::<u64>().unwrap());
    assert!(latest <= whole, "{latest} of {whole}");
}

#[test]
fn count_counts_what_is_written() {
    let place = Place::new();
    let server = LogServer::builder()
        .events(1..=3)
        .event(LogEvent::new("4", "x").of_type("wanted"))
        .events(5..=6)
        .event(LogEvent::new("7", "x").of_type("wanted"))
        .events(8..=9)
        .start();
    let done = place.run(&resume(&server.url("/e"), &["-n", "2", "-e", "wanted"]));
    assert_ended(&done, 0);
    assert_eq!(done.ids(), ["4", "7"]);
    assert_eq!(place.show("s")["latest"], "7");
    let done = place.run(&resume(&server.url("/e"), &["-n", "1"]));
    assert_eq!(done.ids(), ["8"]);
}

#[test]
fn a_count_goes_on_over_connections() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=30).cut_after(7, Cut::Reset).start();
    let done = place.run(&resume(&server.url("/e"), &["-n", "30"]));
    assert_ended(&done, 0);
    assert_eq!(done.ids(), numbers(1..=30));
}

#[test]
fn for_ends_after_a_time_in_any_state() {
    let place = Place::new();
    let server = Server::start([
        Script::new().sse().send(THREE).keep_open(),
        Script::new().respond(503, "Retry-After: 3600\r\n", ""),
        Script::new().request().keep_open(),
    ]);
    for (ids, last) in [(numbers(1..=3), "3"), (vec![], "3"), (vec![], "3")] {
        let done = place.run(&resume(&server.url("/e"), &["--for", "300ms"]));
        assert_ended(&done, 0);
        assert_eq!(done.ids(), ids);
        assert_eq!(place.show("s")["latest"], last);
    }
}

#[test]
fn until_id_and_until_data_are_inclusive() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=5).event(LogEvent::new("6", "[DONE]")).events(7..=8).start();
    let url = server.url("/e");
    let done = place.run(&resume(&url, &["--until-id", "3"]));
    assert_ended(&done, 0);
    assert_eq!(done.ids(), numbers(1..=3));
    let done = place.run(&resume(&url, &["--until-data", "[DONE]"]));
    assert_ended(&done, 0);
    assert_eq!(done.ids(), numbers(4..=6));
    assert_eq!(place.show("s")["latest"], "6");
}

#[test]
fn until_data_ends_though_the_event_is_filtered_out() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=2).event(LogEvent::new("3", "[DONE]")).events(4..=4).start();
    let done = place.run(&resume(&server.url("/e"), &["--until-data", "[DONE]", "--grep", "data"]));
    assert_ended(&done, 0);
    assert_eq!(done.ids(), ["1", "2"]);
    assert_eq!(place.show("s")["latest"], "3");
}

#[test]
fn until_idle_takes_no_notice_of_comments() {
    let place = Place::new();
    let server = Server::start([Script::new().sse().send(THREE).play(|conn| {
        while !conn.is_stopping() && !conn.is_closed_by_peer() {
            conn.send_chunk(b": ping\n\n")?;
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    })]);
    let done = place.run(&resume(&server.url("/e"), &["--until-idle", "300ms"]));
    assert_ended(&done, 0);
    assert_eq!(done.ids(), numbers(1..=3));
}

#[test]
fn until_idle_counts_time_while_connected_only() {
    let place = Place::new();
    let server = Server::start([
        Script::new().respond(503, "Retry-After: 1\r\n", ""),
        Script::new().sse().send(THREE).keep_open(),
    ]);
    let done = place.run(&resume(&server.url("/e"), &["--until-idle", "300ms"]));
    assert_ended(&done, 0);
    assert_eq!(done.ids(), numbers(1..=3));
}

#[test]
fn until_idle_does_not_end_while_a_recovery_waits() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=10).start();
    let url = server.url("/e");
    let mut running = place.start(&resume(&url, &["--drop-cooldown", "1s", "--until-idle", "300ms", "--notices"]));
    running.until_id("10");
    server.wait_until_caught_up(0);
    server.push_dropped("11", "x");
    server.comment("dropped 1 messages");
    server.push("12", "x");
    running.until_notice("recovery-finished");
    // Within the cooldown: this one waits for longer than the idle time.
    server.push_dropped("13", "x");
    server.comment("dropped 1 messages");
    server.push("14", "x");
    let done = running.finish();
    assert_ended(&done, 0);
    let mut ids = done.ids();
    ids.sort_by_key(|id| id.parse::<u64>().unwrap());
    assert_eq!(ids, numbers(1..=14), "{}", done.stderr);
    assert_eq!(place.show("s")["gaps"][1]["state"], "recovered");
}

#[test]
fn no_content_is_the_servers_way_to_end() {
    let place = Place::new();
    let server = Server::start([Script::new().sse().send(THREE).close(), Script::no_content()]);
    let done = place.run(&resume(&server.url("/e"), &[]));
    assert_ended(&done, 0);
    assert_eq!(done.ids(), numbers(1..=3));
    assert_eq!(place.show("s")["last_end"], "204 No Content");
}

#[test]
fn without_reconnecting_a_clean_end_is_success_and_a_broken_one_is_not() {
    for (script, code) in [
        (Script::new().sse().send(THREE).close(), 0),
        (Script::new().sse_until_close().send(THREE).close(), 0),
        (Script::new().sse().send(THREE).cut(), 4),
    ] {
        let (place, server) = (Place::new(), Server::start([script]));
        let done = place.run(&resume(&server.url("/e"), &["--no-reconnect"]));
        assert_ended(&done, code);
        assert_eq!(done.ids(), numbers(1..=3));
        assert_eq!(place.show("s")["latest"], "3");
        assert_eq!(server.connections(), 1);
    }
}

#[test]
fn post_implies_no_reconnect_and_reconnect_undoes_it() {
    let place = Place::new();
    let script = || Script::new().sse().send(THREE).close();
    let server = Server::start([script(), script(), Script::no_content()]);
    let url = server.url("/e");
    let done = place.run(&tail(&url, &["--no-store", "-d", "{\"prompt\":1}"]));
    assert_ended(&done, 0);
    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].method.as_str()), (1, "POST"));
    let done = place.run(&tail(&url, &["--no-store", "-d", "{}", "--reconnect"]));
    assert_ended(&done, 0);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_post_that_is_refused_for_now_is_not_sent_twice() {
    let place = Place::new();
    let server = Server::start([Script::new().respond(503, "", "")]);
    let done = place.run(&tail(&server.url("/e"), &["--no-store", "-d", "{}"]));
    assert_ended(&done, 4);
    assert_eq!(server.connections(), 1);
}

#[test]
fn retries_used_up() {
    let place = Place::new();
    let server = Server::start([]).otherwise(Script::new().respond(503, "", ""));
    let done = place.run(&resume(&server.url("/e"), &["--max-retries", "2"]));
    assert_ended(&done, 4);
    assert_eq!(server.connections(), 3);
    assert_eq!(done.stderr.lines().filter(|line| line.starts_with("warning:")).count(), 2, "{}", done.stderr);
}

#[test]
fn retries_are_counted_anew_after_a_connection_that_gave_something() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=9).cut_after(3, Cut::Reset).start();
    server.fail_next(503, "");
    let done = place.run(&resume(&server.url("/e"), &["--max-retries", "1", "-n", "9"]));
    assert_ended(&done, 0);
    assert_eq!(done.ids(), numbers(1..=9));
}

#[test]
fn a_status_that_is_not_retried() {
    for status in [400, 401, 403, 404, 405, 451] {
        let (place, server) = (Place::new(), Server::start([Script::new().respond(status, "", "no such stream\n")]));
        let done = place.run(&resume(&server.url("/e"), &[]));
        assert_ended(&done, 3);
        assert!(done.stderr.contains(&status.to_string()), "{}", done.stderr);
        assert_eq!(server.connections(), 1);
    }
}

#[test]
fn statuses_that_are_retried() {
    for status in [408, 425, 429, 500, 502, 503, 504] {
        let place = Place::new();
        let server = Server::start([Script::new().respond(status, "", ""), Script::no_content()]);
        assert_ended(&place.run(&resume(&server.url("/e"), &[])), 0);
        assert_eq!(server.connections(), 2, "{status}");
    }
}

#[test]
fn a_wrong_content_type_is_refused_with_the_first_line() {
    let place = Place::new();
    let server =
        Server::start([Script::new().respond(200, "Content-Type: text/html\r\n", "<html>log in first\nmore\n")]);
    let done = place.run(&resume(&server.url("/e"), &[]));
    assert_ended(&done, 3);
    assert!(done.stderr.contains("text/html"), "{}", done.stderr);
    assert!(done.stderr.contains("<html>log in first"), "{}", done.stderr);
    assert!(!done.stderr.contains("more"), "{}", done.stderr);
}

#[test]
fn an_event_that_is_too_large_ends_the_run_with_the_cursor_before_it() {
    let place = Place::new();
    let big = "x".repeat(3000);
    let server = open_stream(&format!("{THREE}id: 4\ndata: {big}\n\nid: 5\ndata: e\n\n"));
    let done = place.run(&resume(&server.url("/e"), &["--max-event-bytes", "2k"]));
    assert_ended(&done, 3);
    assert_eq!(done.ids(), numbers(1..=3));
    assert!(done.stderr.contains("--max-event-bytes"), "{}", done.stderr);
    assert_eq!(place.show("s")["latest"], "3");
}

/// Ten events, then one that is dropped, said so, and one more.
fn dropped_once() -> LogServer {
    LogServer::builder().events(1..=10).start()
}

fn drop_one(server: &LogServer) {
    server.wait_until_caught_up(0);
    server.push_dropped("11", "x");
    server.comment("dropped 1 messages");
    server.push("12", "x");
}

#[test]
fn on_drop_exit_ends_with_5_and_the_next_resume_recovers() {
    let (place, server) = (Place::new(), dropped_once());
    let url = server.url("/e");
    let mut running = place.start(&resume(&url, &["--on-drop", "exit"]));
    running.until_id("10");
    drop_one(&server);
    let done = running.finish();
    assert_ended(&done, 5);
    assert_eq!(done.ids(), numbers(1..=10));
    let shown = place.show("s");
    assert_eq!(shown["gaps"][0]["state"], "open");
    assert_eq!(shown["latest"], "10");
    let done = place.run(&resume(&url, &["--until-idle", "300ms", "--drop-cooldown", "0s"]));
    assert_ended(&done, 0);
    assert_eq!(done.ids(), ["11", "12"]);
    let shown = place.show("s");
    assert_eq!(shown["gaps"][0]["state"], "recovered", "{shown}");
    assert_eq!(shown["latest"], "12");
}

#[test]
fn without_reconnecting_resume_leaves_the_gap_to_the_next_run() {
    let (place, server) = (Place::new(), dropped_once());
    let url = server.url("/e");
    let mut running = place.start(&resume(&url, &["--no-reconnect", "--until-id", "12"]));
    running.until_id("10");
    drop_one(&server);
    let done = running.finish();
    assert_ended(&done, 0);
    assert!(done.stderr.lines().any(|line| line.starts_with("note: a gap is still open")), "{}", done.stderr);
    let shown = place.show("s");
    assert_eq!(shown["gaps"][0]["state"], "open");
    assert_eq!(shown["latest"], "10");
    let done = place.run(&resume(&url, &["--until-idle", "300ms", "--drop-cooldown", "0s"]));
    assert_ended(&done, 0);
    assert_eq!(done.ids(), ["11"]);
    assert_eq!(place.show("s")["latest"], "12");
}

#[test]
fn without_reconnecting_tail_and_no_store_say_that_events_are_lost() {
    for arguments in [&["tail"][..], &["resume", "--no-store"]] {
        let (place, server) = (Place::new(), dropped_once());
        let url = server.url("/e");
        let more = ["--no-reconnect", "--until-id", "12", "-o", "json", "--stream", "s"];
        let mut running = place.start(&[arguments, &[&url], &more].concat());
        running.until_id("10");
        drop_one(&server);
        let done = running.finish();
        assert_ended(&done, 5);
        let expected: Vec<String> = numbers(1..=12).into_iter().filter(|id| id != "11").collect();
        assert_eq!(done.ids(), expected);
    }
}

#[test]
fn an_expired_cursor_ends_with_5_and_on_expired_live_goes_on() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=5).without_cursor(Start::Live).gone_when_too_old(410).start();
    let url = server.url("/e");
    assert_ended(&place.run(&["checkpoint", "set", "s", "--latest", "1"]), 0);
    server.discard_before("4");
    let done = place.run(&resume(&url, &[]));
    assert_ended(&done, 5);
    assert_eq!(done.stdout, "");
    assert!(done.stderr.contains("--on-expired live"), "{}", done.stderr);
    assert_eq!(place.show("s")["latest"], "1");
    let mut running = place.start(&resume(&url, &["--on-expired", "live", "--notices", "--until-id", "6"]));
    running.until_notice("connected");
    server.wait_for_requests(3);
    server.wait_until_caught_up(2);
    server.push("6", "x");
    let done = running.finish();
    assert_eq!(done.ids(), ["6"]);
    assert_ended(&done, 0);
    assert_eq!(place.show("s")["latest"], "6");
}

#[test]
fn a_refused_cursor_is_told_from_a_refusal_by_a_request_without_it() {
    let place = Place::new();
    assert_ended(&place.run(&["checkpoint", "set", "s", "--latest", "1"]), 0);
    let refusal = |status| Script::new().respond(status, "", "");
    let server = Server::start([refusal(400), Script::new().sse().keep_open(), refusal(400), refusal(400)]);
    assert_ended(&place.run(&resume(&server.url("/e"), &[])), 5);
    assert_ended(&place.run(&resume(&server.url("/e"), &[])), 3);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_run_with_7_and_commits_nothing_undelivered() {
    let place = Place::new();
    let server = open_stream(THREE);
    let url = server.url("/e");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = place.command(&resume(&url, &[])).stdout(full).stderr(Stdio::piped()).output().unwrap();
    let done = Finished {
        code: output.status.code().unwrap(),
        stdout: String::new(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    assert_ended(&done, 7);
    assert_eq!(place.show("s")["latest"], serde_json::Value::Null);
}

#[test]
fn of_two_streams_one_may_fail_and_the_other_goes_on_to_its_end() {
    let place = Place::new();
    let bad = Server::start([Script::new().respond(404, "", "")]);
    let good = LogServer::builder().events(1..=3).start();
    let (bad_url, good_url) = (bad.url("/bad"), good.url("/good"));
    let mut running = place.start(&["resume", &bad_url, &good_url, "-o", "json", "--until-data", "end"]);
    running.until_id("3");
    bad.wait_for_requests(1);
    good.push("4", "end");
    let done = running.finish();
    assert_ended(&done, 3);
    assert_eq!(done.ids(), numbers(1..=4));
}

#[test]
fn a_block_cut_off_by_the_end_is_never_delivered_and_its_id_never_kept() {
    for how in [Cut::MidEvent, Cut::Truncated, Cut::Reset, Cut::Clean] {
        let place = Place::new();
        let server = LogServer::builder().events(1..=9).cut_after(4, how).start();
        let done = place.run(&resume(&server.url("/e"), &["-n", "9"]));
        assert_ended(&done, 0);
        assert_eq!(done.ids(), numbers(1..=9), "{how:?}");
        let cursors: Vec<_> = server.requests().iter().map(support::scripted::Request::last_event_id).collect();
        assert_eq!(cursors, [None, Some("4".to_owned()), Some("8".to_owned())]);
    }
}

#[test]
fn an_id_whose_block_was_cut_off_is_not_kept_at_the_end_of_a_run() {
    let place = Place::new();
    let server = Server::start([Script::new().sse().send("id: 1\ndata: a\n\nid: 2\ndata: b\n").close()]);
    let done = place.run(&resume(&server.url("/e"), &["--no-reconnect"]));
    assert_ended(&done, 0);
    assert_eq!(done.ids(), ["1"]);
    assert_eq!(place.show("s")["latest"], "1");
}

#[test]
fn a_resume_that_has_no_position_at_its_end_says_that_the_next_starts_live_again() {
    let place = Place::new();
    let said = "the next `ssectl resume";
    let quiet = Server::start([Script::new().sse().send("data: no id\n\n").until_closed()]);
    let done = place.run(&resume(&quiet.url("/e"), &["--until-idle", "100ms"]));
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains(said) && done.stderr.contains("--initial id:ID"), "{}", done.stderr);
    let placed = Server::start([Script::new().sse().send("id: 1\n\n").until_closed()]);
    let done = place.run(&resume(&placed.url("/e"), &["--until-idle", "100ms"]));
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!done.stderr.contains(said), "an id-only block is a position: {}", done.stderr);
}
