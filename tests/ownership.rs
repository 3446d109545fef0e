//! Who owns a stream (rules 9 to 11): one writer, takeovers, dead owners, changes from outside.

mod support;

use serde_json::Value;
use support::log::{LogServer, Start};
use support::program::{Finished, Place, Running, numbers};

const NAMED: [&str; 6] = ["--stream", "s", "-o", "json", "--retry-initial", "10ms"];

fn start(place: &Place, command: &str, url: &str, more: &[&str]) -> Running {
    place.start(&[&[command, url], &NAMED[..], more].concat())
}

fn run(place: &Place, command: &str, url: &str, more: &[&str]) -> Finished {
    start(place, command, url, more).finish()
}

fn ten() -> LogServer {
    LogServer::builder().events(1..=10).start()
}

fn has_note(done: &Finished, words: &[&str]) -> bool {
    done.stderr.lines().any(|line| line.starts_with("note:") && words.iter().all(|word| line.contains(word)))
}

fn ended_well(running: Running) -> Finished {
    let done = running.finish();
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    done
}

#[test]
fn a_second_resume_ends_with_6_and_names_the_pid_of_the_first() {
    let (place, server) = (Place::new(), ten());
    let url = server.url("/e");
    let mut first = start(&place, "resume", &url, &["--until-id", "11"]);
    first.until_id("10");
    let pid = first.child.id();
    let second = run(&place, "resume", &url, &[]);
    assert_eq!(second.code, 6);
    assert_eq!(second.stdout, "");
    assert!(second.stderr.starts_with("error: cannot resume `s`\ncaused by: "), "{}", second.stderr);
    assert!(second.stderr.lines().nth(1).unwrap().contains(&pid.to_string()), "{}", second.stderr);
    let owner = &place.show("s")["owner"];
    assert_eq!(owner["pid"], pid);
    assert!(owner["host"].is_string() && owner["since"].is_string());
    server.push("11", "x");
    assert_eq!(ended_well(first).ids(), numbers(1..=11));
    assert_eq!(place.show("s")["latest"], "11");
    assert_eq!(server.connections(), 1, "the second never asked the server");
}

#[test]
fn other_streams_are_nobodys_business() {
    let (place, server) = (Place::new(), ten());
    let url = server.url("/e");
    let mut first = start(&place, "resume", &url, &["--until-id", "11"]);
    first.until_id("10");
    let other = place.run(&["resume", &url, "--stream", "other", "-o", "json", "-n", "10"]);
    assert_eq!(other.code, 0, "{}", other.stderr);
    server.push("11", "x");
    ended_well(first);
}

#[test]
fn resume_takes_a_stream_over_from_a_tail_which_goes_on_in_memory() {
    let (place, server) = (Place::new(), ten());
    let url = server.url("/e");
    let mut tail = start(&place, "tail", &url, &["--until-id", "13"]);
    tail.until_id("10");
    let pid = tail.child.id().to_string();
    let mut resume = start(&place, "resume", &url, &["--until-id", "13"]);
    let taker = resume.child.id().to_string();
    server.wait_for_requests(2);
    server.push("11", "x");
    tail.until_id("11");
    resume.until_id("11");
    server.push("12", "x");
    server.push("13", "x");
    let (tail, resume) = (ended_well(tail), ended_well(resume));
    assert!(has_note(&resume, &["tail", &pid]), "{}", resume.stderr);
    // Where it learns of it with its last commit, there is nothing left to go on with.
    assert!(has_note(&tail, &["taken over", &taker]), "{}", tail.stderr);
    assert_eq!(tail.ids(), numbers(1..=13));
    assert_eq!(resume.ids(), numbers(11..=13), "it goes on from the tail's cursor");
    let shown = place.show("s");
    assert_eq!(shown["latest"], "13");
    assert_eq!(shown["last_end"], "until reached");
}

#[test]
fn a_tail_whose_stream_was_taken_over_still_recovers() {
    let (place, server) = (Place::new(), ten());
    let url = server.url("/e");
    let mut tail = start(&place, "tail", &url, &["--until-id", "14", "--notices"]);
    tail.until_id("10");
    let mut resume = start(&place, "resume", &url, &["--until-id", "14"]);
    server.wait_for_requests(2);
    server.wait_until_caught_up(1);
    server.push("11", "x");
    resume.until_id("11");
    tail.until_id("11");
    server.push_dropped("12", "x");
    server.comment("dropped 1 messages");
    server.push("13", "x");
    tail.until_notice("recovery-finished");
    server.push("14", "x");
    let (tail, resume) = (ended_well(tail), ended_well(resume));
    assert_eq!(tail.ids(), numbers(1..=14));
    assert_eq!(resume.ids(), numbers(11..=14));
}

#[test]
fn a_second_tail_keeps_its_cursor_in_memory() {
    let (place, server) = (Place::new(), ten());
    let url = server.url("/e");
    let mut first = start(&place, "tail", &url, &["--until-id", "11"]);
    first.until_id("10");
    let pid = first.child.id();
    let mut second = start(&place, "tail", &url, &["--until-id", "11"]);
    second.until_id("10");
    assert_eq!(place.show("s")["owner"]["pid"], pid);
    server.push("11", "x");
    let (first, second) = (ended_well(first), ended_well(second));
    assert_eq!(first.stderr, "");
    assert!(has_note(&second, &["in memory", &pid.to_string()]), "{}", second.stderr);
    assert_eq!(second.ids(), numbers(1..=11));
}

#[test]
fn a_tail_leaves_a_scripts_cursor_alone() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=10).without_cursor(Start::Live).start();
    let url = server.url("/e");
    assert_eq!(place.run(&["checkpoint", "set", "s", "--latest", "1"]).code, 0);
    let script = run(&place, "resume", &url, &["-n", "4"]);
    assert_eq!(script.ids(), numbers(2..=5));
    let before = place.show("s");
    let mut tail = start(&place, "tail", &url, &["--until-id", "11", "--notices"]);
    tail.until_notice("connected");
    server.wait_for_requests(2);
    server.wait_until_caught_up(1);
    server.push("11", "x");
    let tail = ended_well(tail);
    assert!(has_note(&tail, &["in memory", "ssectl resume"]), "{}", tail.stderr);
    assert_eq!(tail.ids(), ["11"], "from now on");
    assert_eq!(place.show("s"), before);
    let script = run(&place, "resume", &url, &["--until-id", "11"]);
    assert_eq!(script.ids(), numbers(6..=11), "what the tail showed is not skipped");
}

#[test]
fn a_tail_after_a_tail_begins_a_new_record() {
    let place = Place::new();
    let server = LogServer::builder().events(1..=10).without_cursor(Start::Live).start();
    let url = server.url("/e");
    for (index, id) in ["11", "12"].into_iter().enumerate() {
        let mut tail = start(&place, "tail", &url, &["-n", "1", "--notices"]);
        tail.until_notice("connected");
        server.wait_for_requests(index + 1);
        server.wait_until_caught_up(index);
        server.push(id, "x");
        let tail = ended_well(tail);
        assert_eq!(tail.stderr, "");
        assert_eq!(tail.ids(), [id]);
        let shown = place.show("s");
        assert_eq!(
            (&shown["latest"], &shown["lagging"]),
            (&Value::from(id), &Value::from(id)),
            "nothing older is left"
        );
    }
    assert_eq!(server.requests()[1].last_event_id(), None, "a tail starts live");
    // A resume goes on from where the tail ended: rule 10 keeps tails from scripts, not scripts from tails.
    server.push("13", "x");
    assert_eq!(run(&place, "resume", &url, &["-n", "1"]).ids(), ["13"]);
}

#[test]
fn a_killed_owner_owns_nothing() {
    let (place, server) = (Place::new(), ten());
    let url = server.url("/e");
    let mut first = start(&place, "resume", &url, &[]);
    first.until_id("10");
    let killed = first.kill();
    assert_eq!(place.show("s")["owner"], Value::Null);
    server.push("11", "x");
    let second = run(&place, "resume", &url, &["--until-id", "11"]);
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert_eq!(second.ids().last().unwrap(), "11");
    assert_eq!(killed.ids(), numbers(1..=10));
}

/// `checkpoint` with these arguments is refused while `resume` runs, and with `--force` fences it off.
#[track_caller]
fn assert_fences(arguments: &[&str], latest: Option<&str>) {
    let (place, server) = (Place::new(), ten());
    let url = server.url("/e");
    let mut running = start(&place, "resume", &url, &[]);
    running.until_id("10");
    let pid = running.child.id();
    let arguments = [&["checkpoint"], arguments].concat();
    let refused = place.run(&arguments);
    assert_eq!(refused.code, 6, "{}", refused.stderr);
    assert!(refused.stderr.contains(&pid.to_string()), "{}", refused.stderr);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert!(!running.has_ended());
    let forced = place.run(&[&arguments[..], &["--force"]].concat());
    assert_eq!(forced.code, 0, "{}", forced.stderr);
    // It learns of it at its next write, at the latest.
    server.push("11", "x");
    let done = running.finish();
    assert_eq!(done.code, 6, "{}", done.stderr);
    assert!(done.stderr.starts_with("error: cannot "), "{}", done.stderr);
    match latest {
        Some(latest) => assert_eq!(place.show("s")["latest"], latest),
        None => assert_eq!(place.run(&["checkpoint", "show", "s"]).code, 2),
    }
}

#[test]
fn checkpoint_set_is_refused_on_a_stream_in_use_unless_forced() {
    assert_fences(&["set", "s", "--latest", "3"], Some("3"));
}

#[test]
fn checkpoint_reset_is_refused_on_a_stream_in_use_unless_forced() {
    assert_fences(&["reset", "s"], None);
}

#[test]
fn checkpoint_reset_to_lagging_is_refused_on_a_stream_in_use_unless_forced() {
    assert_fences(&["reset", "s", "--to-lagging"], Some("1"));
}

#[test]
fn a_fenced_run_that_waits_to_connect_again_ends_with_6_too() {
    let (place, server) = (Place::new(), ten());
    let url = server.url("/e");
    let mut running = start(&place, "resume", &url, &["--notices", "--max-retries", "1000"]);
    running.until_id("10");
    server.wait_until_caught_up(0);
    server.fail_next(503, "Retry-After: 3600\r\n");
    server.disconnect(support::log::Cut::Reset);
    server.wait_for_requests(2);
    running.until_notice("reconnecting");
    let forced = place.run(&["checkpoint", "set", "s", "--latest", "3", "--force"]);
    assert_eq!(forced.code, 0, "{}", forced.stderr);
    let done = running.finish();
    assert_eq!(done.code, 6, "{}", done.stderr);
    assert_eq!(place.show("s")["latest"], "3");
}

#[test]
fn a_new_record_abandons_the_open_gap() {
    let (place, server) = (Place::new(), ten());
    let url = server.url("/e");
    let mut running = start(&place, "resume", &url, &["--on-drop", "exit"]);
    running.until_id("10");
    server.push_dropped("11", "x");
    server.comment("dropped 1 messages");
    assert_eq!(running.finish().code, 5);
    assert_eq!(place.run(&["checkpoint", "set", "s", "--latest", "5"]).code, 0);
    let shown = place.show("s");
    assert_eq!(shown["gaps"][0]["state"], "abandoned");
    assert_eq!((&shown["latest"], &shown["lagging"]), (&Value::from("5"), &Value::from("5")));
    let done = run(&place, "resume", &url, &["--until-id", "11"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.ids(), numbers(6..=11));
}
