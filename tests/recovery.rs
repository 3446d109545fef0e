//! The reason this tool exists, on the real binary: a drop notice, the lagging cursor, nothing lost, nothing twice.

mod support;

use support::log::{LogServer, Start};
use support::program::{Place, numbers, sql};

const NOTICE: &str = "you are reading too slowly, dropped 40 messages";

/// 1 to 100 live, then 101 to 140 dropped and said so, then 141 to 200 live.
fn drop_forty(server: &LogServer) {
    for id in 101..=140 {
        server.push_dropped(&id.to_string(), &format!("data {id}"));
    }
    server.comment(NOTICE);
    for id in 141..=200 {
        server.push(&id.to_string(), &format!("data {id}"));
    }
}

fn live_server() -> LogServer {
    LogServer::builder().events(1..=100).without_cursor(Start::Beginning).start()
}

#[test]
fn tail_recovers_what_was_dropped_once_and_in_order() {
    let (place, server) = (Place::new(), live_server());
    let mut tail = place.start(&["tail", &server.url("/events"), "--stream", "s", "-o", "json", "-n", "200"]);
    tail.until_id("100");
    drop_forty(&server);
    let done = tail.finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.ids(), numbers(1..=200));
    assert_eq!(done.replayed(), numbers(101..=140));
    let requests = server.wait_for_requests(2);
    assert_eq!(requests[0].last_event_id(), None);
    assert_eq!(requests[1].last_event_id().as_deref(), Some("1"), "the request after the notice carries lagging");
    let shown = place.show("s");
    assert_eq!(shown["latest"], "200");
    assert_eq!(shown["lagging"], "1");
    assert_eq!(shown["gaps"][0]["state"], "recovered");
    assert_eq!(shown["gaps"][0]["dropped"], 40);
    assert_eq!(shown["gaps"][0]["recovered"], 40);
}

#[test]
fn on_drop_warn_loses_them_and_a_bounded_run_ends_with_5() {
    let (place, server) = (Place::new(), live_server());
    let url = server.url("/events");
    let mut tail = place.start(&["tail", &url, "-o", "json", "--on-drop", "warn", "--until-id", "200"]);
    tail.until_id("100");
    drop_forty(&server);
    let done = tail.finish();
    assert_eq!(done.code, 5, "{}", done.stderr);
    let mut expected = numbers(1..=100);
    expected.extend(numbers(141..=200));
    assert_eq!(done.ids(), expected);
    assert!(done.stderr.contains("error: cannot deliver every event"), "{}", done.stderr);
}

#[test]
fn a_notice_within_the_cooldown_is_recovered_once_when_that_ends() {
    let (place, server) = (Place::new(), live_server());
    let url = server.url("/events");
    let mut tail =
        place.start(&["tail", &url, "--stream", "s", "-o", "json", "--drop-cooldown", "2s", "--until-idle", "1s"]);
    tail.until_id("100");
    drop_forty(&server);
    tail.until_id("200");
    server.wait_until_caught_up(1);
    server.push_dropped("201", "data 201");
    server.comment("dropped 1 messages");
    server.push("202", "data 202");
    server.push_dropped("203", "data 203");
    server.comment("dropped 1 messages");
    for id in 204..=222 {
        server.push(&id.to_string(), &format!("data {id}"));
    }
    let done = tail.finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let mut ids = done.ids();
    assert_eq!(ids.len(), 222);
    assert_eq!(ids[..200], numbers(1..=200));
    ids.sort_by_key(|id| id.parse::<u64>().unwrap());
    assert_eq!(ids, numbers(1..=222));
    assert_eq!(done.replayed()[40..], ["201", "203"]);
    assert_eq!(server.wait_for_requests(3).len(), 3, "two recoveries, not three");
}

#[test]
fn a_server_that_ignores_the_cursor_is_unrecoverable_and_the_stream_goes_on() {
    let place = Place::new();
    let server = LogServer::builder().without_cursor(Start::Live).ignores_cursor().start();
    let url = server.url("/events");
    let mut tail = place.start(&["tail", &url, "--stream", "s", "-o", "json", "--notices", "--until-id", "300"]);
    tail.until_notice("connected");
    server.wait_until_caught_up(0);
    for id in 1..=5 {
        server.push(&id.to_string(), "x");
    }
    tail.until_id("5");
    server.push_dropped("6", "x");
    server.comment("dropped 1 messages");
    server.push("7", "x");
    server.wait_for_requests(2);
    server.wait_until_caught_up(1);
    server.push("8", "x");
    server.wait_for_requests(3);
    server.wait_until_caught_up(2);
    server.push("9", "x");
    let notice = tail.until_notice("gap-unrecoverable");
    assert_eq!(notice["dropped"], 1);
    server.push("300", "x");
    let done = tail.finish();
    assert_eq!(done.code, 5, "{}", done.stderr);
    assert_eq!(done.ids(), ["1", "2", "3", "4", "5", "7", "8", "9", "300"]);
    let shown = place.show("s");
    assert_eq!(shown["gaps"][0]["state"], "unrecoverable");
    assert_eq!(shown["latest"], "300");
}

#[test]
fn resume_killed_in_the_middle_of_a_recovery_goes_on_with_it() {
    let (place, server) = (Place::new(), live_server());
    let url = server.url("/events");
    let arguments = ["resume", &url, "--stream", "s", "-o", "json", "--drop-cooldown", "0s"];
    let mut first = place.start(&arguments);
    first.until_id("100");
    // The recovery's connection is cut short, and everything after it waits.
    server.set_cut(Some((60, support::log::Cut::Reset)));
    drop_forty(&server);
    server.wait_for_requests(3);
    let killed = first.kill();
    server.set_cut(None);
    let mut again = place.start(&[&arguments[..], &["--until-idle", "2s"]].concat());
    again.until_id("200");
    let done = again.finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let mut all = killed.ids();
    all.extend(done.ids());
    let mut distinct = all.clone();
    distinct.sort_by_key(|id| id.parse::<u64>().unwrap());
    distinct.dedup();
    assert_eq!(distinct, numbers(1..=200), "nothing lost");
    // What the killed process had given to stdout may come again, and nothing else.
    let twice = all.len() - distinct.len();
    let given = killed.ids();
    let repeated = done.ids().iter().filter(|id| given.contains(id)).count();
    assert_eq!(twice, repeated);
    let shown = place.show("s");
    assert_eq!(shown["latest"], "200");
    assert_eq!(shown["gaps"][0]["state"], "recovered", "{shown}");
}

#[test]
fn streams_whose_ids_collide_keep_their_own_cursors() {
    let place = Place::new();
    let one = LogServer::builder().events(1..=5).start();
    let two = LogServer::builder().events(1..=3).start();
    for (server, name) in [(&one, "one"), (&two, "two")] {
        let done = place.run(&["resume", &server.url("/e"), "--stream", name, "-o", "json", "--until-idle", "0.2s"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let rows = sql(&place.db(), "select latest, lagging from cursors order by stream");
    assert_eq!(rows, [["one#5", "one#1"], ["two#3", "two#1"]]);
}

#[test]
fn ids_shared_by_several_events_lose_nothing_at_a_cut() {
    let place = Place::new();
    let body = include_str!("data/streams/recentchange.sse");
    let mut builder = LogServer::builder();
    let mut count = 0;
    for block in body.split("\n\n").filter(|block| block.contains("data:")) {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        builder = builder.event(support::log::LogEvent::new(field("id:").unwrap(), field("data:").unwrap()));
        count += 1;
    }
    // The log finds a cursor by the last event of its id, as an exclusive server does; cut in the middle of groups.
    let server = builder.cut_after(37, support::log::Cut::MidEvent).start();
    let count_text = count.to_string();
    let done = place.run(&[
        "resume",
        &server.url("/e"),
        "--stream",
        "s",
        "-o",
        "json",
        "-n",
        &count_text,
        "--retry-initial",
        "10ms",
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let sent: Vec<String> = body
        .split("\n\n")
        .filter_map(|block| block.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned))
        .collect();
    let got: Vec<String> = done.records().iter().map(|record| record["data"].as_str().unwrap().to_owned()).collect();
    assert_eq!(got, sent);
}

#[test]
fn a_refusal_that_only_the_cursor_gets_means_that_it_is_expired() {
    for status in [400, 404, 410, 412, 422] {
        let place = Place::new();
        let server = LogServer::builder().events(1..=20).gone_when_too_old(status).start();
        let url = server.url("/e");
        let arguments = ["resume", &url, "--stream", "s", "-o", "json", "--retry-initial", "10ms"];
        assert_eq!(place.run(&[&arguments[..], &["-n", "5"]].concat()).ids(), numbers(1..=5));
        server.discard_before("15");
        let stopped = place.run(&arguments);
        assert_eq!((stopped.code, stopped.stdout.as_str()), (5, ""), "{status}: {}", stopped.stderr);
        assert!(stopped.stderr.contains("--on-expired live"), "{}", stopped.stderr);
        assert_eq!(place.show("s")["latest"], "5");
        let live = place.run(&[&arguments[..], &["--on-expired", "live", "-n", "3"]].concat());
        assert_eq!((live.code, live.ids()), (0, numbers(15..=17)), "{status}: {}", live.stderr);
    }
}

#[test]
fn a_refusal_that_everybody_gets_is_a_refusal_and_the_cursor_stays() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=20).start();
    let url = server.url("/e");
    let arguments = ["resume", &url, "--stream", "s", "-o", "json"];
    place.run(&[&arguments[..], &["-n", "5"]].concat());
    for _ in 0..2 {
        server.fail_next(404, "");
    }
    let refused = place.run(&arguments);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert_eq!(place.show("s")["latest"], "5");
}

#[test]
fn a_refused_lagging_cursor_leads_to_a_second_attempt_from_before_latest() {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=100).gone_when_too_old(410).start());
    let url = server.url("/e");
    let mut resume = place.start(&["resume", &url, "--stream", "s", "-o", "json", "--until-id", "110"]);
    resume.until_id("100");
    server.wait_until_caught_up(0);
    server.discard_before("90");
    for id in 101..=104 {
        server.push_dropped(&id.to_string(), "x");
    }
    server.comment("dropped 4 messages");
    for id in 105..=110 {
        server.push(&id.to_string(), "x");
    }
    let done = resume.finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.ids(), numbers(1..=110));
    assert_eq!(done.replayed(), numbers(101..=104));
    let sent: Vec<_> = server.wait_for_requests(3).iter().map(|request| request.last_event_id()).collect();
    assert_eq!(sent, [None, Some("1".to_owned()), Some("99".to_owned())]);
    assert_eq!(place.show("s")["gaps"][0]["state"], "recovered");
}
