//! The tour of the README, typed against a server that does what the README says it does.

mod support;

use support::log::{LogEvent, LogServer, Start};
use support::program::Place;

/// The lines of the README's first console block.
fn tour() -> Vec<String> {
    let readme = include_str!("../README.md");
    let (_, rest) = readme.split_once("```console\n").expect("a console block");
    let (block, _) = rest.split_once("```").expect("its end");
    block.lines().map(str::to_owned).collect()
}

/// The words of a command line, with the quotes that the README uses.
fn words(line: &str) -> Vec<String> {
    let quoted = line.split('\'').enumerate();
    quoted
        .flat_map(|(part, text)| match part % 2 {
            1 => vec![text.to_owned()],
            _ => text.split_whitespace().map(str::to_owned).collect(),
        })
        .collect()
}

/// Times are what they are.
fn masked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("202") {
        let (before, time) = rest.split_at(at);
        let end = time.find('Z').map_or(time.len(), |end| end + 1);
        let looks_like_time = time[..end].contains('T') && end <= 28;
        out.push_str(before);
        out.push_str(if looks_like_time { "TIME" } else { &time[..3] });
        rest = if looks_like_time { &time[end..] } else { &time[3..] };
    }
    out.push_str(rest);
    // Columns are as wide as what stands in them.
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_tour_is_true() {
    let place = Place::new();
    let event = |n: u64| LogEvent::new(n.to_string(), format!("{{\"n\":{n}}}")).of_type("trade");
    let server =
        LogServer::builder().event(event(1)).event(event(2)).event(event(3)).without_cursor(Start::Beginning).start();
    let lines = tour();
    let mut at = 0;
    while at < lines.len() {
        let command = lines[at].strip_prefix("$ ssectl ").expect("a command");
        let end = lines[at + 1..].iter().position(|line| line.starts_with("$ ")).map_or(lines.len(), |n| at + 1 + n);
        let arguments: Vec<String> = words(command)
            .into_iter()
            .map(|word| if word.starts_with("http://") { server.url("/events") } else { word })
            .collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut run = place.start(&arguments);
        if at == 0 {
            run.until_id("3");
            for n in 4..=6 {
                server.push_dropped_event(event(n));
            }
            server.comment("you are reading too slowly, dropped 3 messages");
            server.push_event(event(7));
            server.push_event(event(8));
        }
        let done = run.finish();
        assert_eq!(done.code, 0, "{command}: {}", done.stderr);
        let shown: Vec<&String> = lines[at + 1..end].iter().collect();
        let (stderr, stdout): (Vec<&String>, Vec<&String>) =
            shown.into_iter().partition(|line| line.starts_with("note: ") || line.starts_with("warning: "));
        let got = |text: &str| text.lines().map(masked).collect::<Vec<_>>();
        let said = |lines: Vec<&String>| lines.into_iter().map(|line| masked(line)).collect::<Vec<_>>();
        assert_eq!(got(&done.stdout), said(stdout), "{command}");
        assert_eq!(got(&done.stderr), said(stderr), "{command}");
        at = end;
    }
}
