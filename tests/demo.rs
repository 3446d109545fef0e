//! `ssectl demo` on the real binary: the figures, the exit codes, and what a person reads.

#![expect(clippy::unwrap_used, reason = "a test fails where something is not there")]

mod support;

use serde_json::Value;
use std::io::Read;
use std::process::Stdio;
use support::program::{Finished, Place};

fn figures(done: &Finished) -> Value {
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines.len(), 1, "one object alone: {}{}", done.stdout, done.stderr);
    serde_json::from_str(lines[0]).unwrap()
}

fn figure(figures: &Value, name: &str) -> u64 {
    figures[name].as_u64().unwrap_or_else(|| panic!("`{name}` is a number: {figures}"))
}

/// Nothing of the demo is left behind.
fn assert_tidy(place: &Place) {
    let left: Vec<_> = std::fs::read_dir(place.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// With its temporary folder inside of the test's own, and proxies in the environment that lead nowhere.
fn demo(place: &Place, arguments: &[&str]) -> std::process::Command {
    let mut command = place.command(arguments);
    command.env("TMPDIR", place.path(".")).env("http_proxy", "http://127.0.0.1:1");
    command
}

fn run(place: &Place, arguments: &[&str]) -> Finished {
    let output = support::program::output(&mut demo(place, arguments));
    Finished {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn assert_good(done: &Finished) {
    let figures = figures(done);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{figures}");
    let names: Vec<&String> = figures.as_object().unwrap().keys().collect();
    assert_eq!(names, ["published", "delivered", "recovered", "duplicates", "lost", "drop_notices"]);
    assert_eq!((figure(&figures, "lost"), figure(&figures, "duplicates")), (0, 0));
    assert_eq!(figure(&figures, "drop_notices"), 1);
    assert_eq!(figure(&figures, "published"), figure(&figures, "delivered"));
    // What the burst had beyond the server's limit for a slow client.
    assert_eq!(figure(&figures, "recovered"), 300 - 64);
}

#[test]
fn the_figures_are_right_twice_in_a_row_and_nothing_is_left_behind() {
    let place = Place::new();
    for _ in 0..2 {
        assert_good(&run(&place, &["demo", "-o", "json"]));
        assert_tidy(&place);
    }
}

#[test]
fn several_demos_side_by_side_do_not_meet() {
    let places: Vec<Place> = (0..4).map(|_| Place::new()).collect();
    std::thread::scope(|scope| {
        for place in &places {
            scope.spawn(move || assert_good(&run(place, &["demo", "-o", "json"])));
        }
    });
}

#[test]
fn a_pipe_gets_the_story_too() {
    let done = run(&Place::new(), &["demo"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("lost 0, duplicates 0"), "{}", done.stdout);
    assert!(done.stdout.contains("verdict: "), "{}", done.stdout);
}

#[test]
fn without_recovery_events_are_lost_and_that_is_exit_1() {
    let place = Place::new();
    let done = run(&place, &["demo", "--on-drop", "warn", "-o", "json"]);
    let figures = figures(&done);
    assert_eq!(done.code, 1, "{figures}");
    assert_eq!(figure(&figures, "lost"), 300 - 64);
    assert_eq!((figure(&figures, "recovered"), figure(&figures, "duplicates")), (0, 0));
    assert_eq!(figure(&figures, "published"), figure(&figures, "delivered") + figure(&figures, "lost"));
    assert_eq!(figure(&figures, "drop_notices"), 1);
    assert!(done.stderr.starts_with("error: "), "{}", done.stderr);
    assert_tidy(&place);
}

#[test]
fn a_person_is_told_the_story_and_the_verdict() {
    let place = Place::new();
    let done = run(&place, &["demo", "-o", "pretty"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{}", done.stdout);
    let story = &done.stdout;
    let told = [
        "reading too slowly, dropped 236 messages",
        "Last-Event-ID: 539",
        "events that were delivered before come again and are removed, 236 are recovered",
        "(replayed)",
        "gap 1, recovered: 236 events announced as dropped, 236 recovered",
        "published 321, delivered 321, recovered 236, lost 0, duplicates 0, drop notices 1",
        "verdict: every event that the server published was delivered, and delivered once",
    ];
    let mut rest = story.as_str();
    for words in told {
        let at = rest.find(words).unwrap_or_else(|| panic!("`{words}` is missing, or out of order:\n{story}"));
        rest = &rest[at..];
    }
    let line = |label: &str| story.lines().find_map(|line| line.trim().strip_prefix(label)).unwrap().trim();
    let id = |label: &str| -> u64 { line(label).split(' ').next().unwrap().parse().unwrap() };
    assert_eq!(id("latest "), 53_901 + 320);
    assert!(id("lagging ") < id("latest "), "{story}");
    assert_eq!(line("owner "), "nobody reads it now");
    assert_tidy(&place);
}

#[test]
fn a_reader_that_goes_early_ends_it_without_a_word() {
    let place = Place::new();
    let mut command = demo(&place, &["demo", "-o", "pretty"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_tidy(&place);
}

#[test]
fn an_interrupt_ends_it_at_once_and_leaves_nothing() {
    let place = Place::new();
    let mut command = demo(&place, &["demo", "-o", "pretty"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0]).unwrap();
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut story = String::new();
    stdout.read_to_string(&mut story).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert!(!story.contains("verdict"), "{story}");
    assert_tidy(&place);
}

#[test]
fn a_full_disk_behind_stdout_is_exit_7() {
    let place = Place::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = demo(&place, &["demo", "-o", "json"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
    assert_tidy(&place);
}
