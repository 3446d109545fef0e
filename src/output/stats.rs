//! The summary of `--stats`, for a person.

use super::escape::one_line;
use super::human;
use crate::consumer::id::StreamName;
use crate::consumer::record::GapState;
use crate::consumer::stats::{Gaps, Stats};

/// The lines of the summary. Only the first begins in the first column.
#[must_use]
pub fn summary(stats: &Stats, stream: &StreamName) -> Vec<String> {
    let mut lines = vec![format!("note: summary of `{}`", one_line(stream.as_str()))];
    let mut row = |name: &str, value: String| lines.push(format!("  {name:<12} {value}"));
    row("events", events_in_words(stats));
    row("comments", human::number(stats.comments));
    row("received", human::size(stats.bytes));
    row("connections", connections_in_words(stats));
    row("drop notices", notices_in_words(stats));
    row("gaps", gaps_in_words(&stats.gaps).unwrap_or_else(|| "none".to_owned()));
    row("time", time_in_words(stats));
    row("waiting", stats.who_is_slow());
    lines
}

fn events_in_words(stats: &Stats) -> String {
    let mut words = format!("{} delivered, {} written", human::number(stats.delivered), human::number(stats.written));
    for (count, word) in [
        (stats.coalesced, "coalesced"),
        (stats.given_up, "dropped by `--policy`"),
        (stats.replayed, "replayed"),
        (stats.removed, "removed as delivered before"),
    ] {
        if count > 0 {
            words.push_str(&format!(", {} {word}", human::number(count)));
        }
    }
    words
}

fn connections_in_words(stats: &Stats) -> String {
    let connections = human::number(stats.connections);
    match stats.failed_attempts {
        0 => connections,
        failed => format!("{connections}; failed attempts: {}", human::number(failed)),
    }
}

fn notices_in_words(stats: &Stats) -> String {
    match (stats.drop_notices, stats.dropped) {
        (notices, 0) => human::number(notices),
        (notices, dropped) => {
            format!("{}, {} events announced as dropped", human::number(notices), human::number(dropped))
        }
    }
}

fn time_in_words(stats: &Stats) -> String {
    let elapsed = human::duration(stats.elapsed);
    match human::rate(stats.delivered, stats.elapsed) {
        Some(rate) => format!("{elapsed}, {rate}"),
        None => elapsed,
    }
}

/// `1 recovered, 2 partial`; `None` where there are none.
fn gaps_in_words(gaps: &Gaps) -> Option<String> {
    let words: Vec<String> = GapState::ALL
        .iter()
        .filter(|&&state| gaps.count(state) > 0)
        .map(|&state| format!("{} {}", human::number(gaps.count(state)), state.as_str()))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn waits(network_ms: u64, output_ms: u64, elapsed_ms: u64) -> Stats {
        Stats {
            waiting_network: Duration::from_millis(network_ms),
            waiting_output: Duration::from_millis(output_ms),
            elapsed: Duration::from_millis(elapsed_ms),
            ..Stats::default()
        }
    }

    #[test]
    fn summary_of_a_run_with_drops() {
        let mut stats = Stats {
            delivered: 1_234_567,
            written: 1_200_000,
            coalesced: 30_000,
            given_up: 4_567,
            replayed: 9_990,
            removed: 4_021,
            comments: 77,
            bytes: 3_565_158_400,
            connections: 3,
            failed_attempts: 1,
            drop_notices: 2,
            dropped: 20_000,
            ..waits(3_600_000, 36_000, 3_725_000)
        };
        stats.gaps.add(GapState::Recovered);
        stats.gaps.add(GapState::Partial);
        stats.gaps.add(GapState::Recovered);
        insta::assert_snapshot!(summary(&stats, &StreamName::new("accounts").unwrap()).join("\n"));
    }

    #[test]
    fn summary_of_a_run_without_anything() {
        insta::assert_snapshot!(summary(&Stats::default(), &StreamName::new("accounts").unwrap()).join("\n"));
    }

    #[test]
    fn no_line_of_a_summary_looks_like_a_warning_or_an_error() {
        let stream = StreamName::new("error: x").unwrap();
        let lines = summary(&Stats::default(), &stream);
        assert!(lines[0].starts_with("note: "));
        assert!(lines[1..].iter().all(|line| line.starts_with("  ")));
    }
}
