//! What a run did, counted, and the summary of `--stats` (rule 14: it says who is slow).

use std::time::Duration;

use super::escape::one_line;
use super::human;
use crate::consumer::id::StreamName;
use crate::consumer::record::GapState;

/// The counters of one stream in one run. Whoever drives the stream fills them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Events delivered, those that a filter held back included.
    pub delivered: u64,
    /// Events written.
    pub written: u64,
    /// Events of `delivered` that a recovery brought.
    pub replayed: u64,
    /// Events removed as delivered before.
    pub removed: u64,
    /// Comments received.
    pub comments: u64,
    /// Bytes received, after decompression.
    pub bytes: u64,
    /// Connections that stood.
    pub connections: u64,
    /// Attempts that gave no event stream.
    pub failed_attempts: u64,
    /// Drop notices received.
    pub drop_notices: u64,
    /// Events that they announced as discarded.
    pub dropped: u64,
    /// Gaps by how they stand at the end.
    pub gaps: Gaps,
    /// Time spent waiting for the network.
    pub waiting_network: Duration,
    /// Time spent waiting for the output.
    pub waiting_output: Duration,
    /// How long the run was.
    pub elapsed: Duration,
}

/// How many gaps stand how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaps([u64; GapState::ALL.len()]);

impl Gaps {
    /// Counts a gap that stands so.
    pub fn add(&mut self, state: GapState) {
        for (count, counted) in self.0.iter_mut().zip(GapState::ALL) {
            *count += u64::from(counted == state);
        }
    }

    /// How many stand so.
    #[must_use]
    pub fn count(&self, state: GapState) -> u64 {
        self.0.iter().zip(GapState::ALL).filter(|&(_, counted)| counted == state).map(|(count, _)| count).sum()
    }

    /// `1 recovered, 2 partial`; `None` where there are none.
    fn in_words(&self) -> Option<String> {
        let some = self.0.iter().zip(GapState::ALL).filter(|&(count, _)| *count > 0);
        let words: Vec<String> =
            some.map(|(count, state)| format!("{} {}", human::number(*count), state.as_str())).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// Which side a stream waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowSide {
    /// The output is read too slowly.
    Output,
    /// The network, or the server, gives no more than this.
    Network,
    /// Neither: most of the time went into the work itself.
    Neither,
}

impl Stats {
    /// The shares of the run spent waiting for the network and for the output, in percent.
    #[must_use]
    pub fn shares_percent(&self) -> (u64, u64) {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        // The waits may overlap or be measured a little later than the run.
        let whole = self.elapsed.max(self.waiting_network).max(self.waiting_output);
        let share = |time| human::percent(micros(time), micros(whole));
        (share(self.waiting_network), share(self.waiting_output))
    }

    /// Who is slow: the side that more than half of the run was spent waiting for.
    #[must_use]
    pub fn slow_side(&self) -> SlowSide {
        match self.shares_percent() {
            (network, output) if output > 50 && output >= network => SlowSide::Output,
            (network, _) if network > 50 => SlowSide::Network,
            _ => SlowSide::Neither,
        }
    }

    /// One sentence on who is slow, for the summary and for the warning under repeated notices or cuts.
    #[must_use]
    pub fn who_is_slow(&self) -> String {
        let (network, output) = self.shares_percent();
        let verdict = match self.slow_side() {
            SlowSide::Output => "the output is the slow side",
            SlowSide::Network => "the output keeps up",
            SlowSide::Neither => "neither side is waited for much",
        };
        format!("{network} % of the time waiting for the network, {output} % for the output: {verdict}")
    }

    /// The lines of the summary. Only the first begins in the first column.
    #[must_use]
    pub fn summary(&self, stream: &StreamName) -> Vec<String> {
        let mut lines = vec![format!("note: summary of `{}`", one_line(stream.as_str()))];
        let mut row = |name: &str, value: String| lines.push(format!("  {name:<12} {value}"));
        row("events", self.events_in_words());
        row("comments", human::number(self.comments));
        row("received", human::size(self.bytes));
        row("connections", self.connections_in_words());
        row("drop notices", self.notices_in_words());
        row("gaps", self.gaps.in_words().unwrap_or_else(|| "none".to_owned()));
        row("time", self.time_in_words());
        row("waiting", self.who_is_slow());
        lines
    }

    fn events_in_words(&self) -> String {
        let mut words = format!("{} delivered, {} written", human::number(self.delivered), human::number(self.written));
        for (count, word) in [(self.replayed, "replayed"), (self.removed, "removed as delivered before")] {
            if count > 0 {
                words.push_str(&format!(", {} {word}", human::number(count)));
            }
        }
        words
    }

    fn connections_in_words(&self) -> String {
        let connections = human::number(self.connections);
        match self.failed_attempts {
            0 => connections,
            failed => format!("{connections}; failed attempts: {}", human::number(failed)),
        }
    }

    fn notices_in_words(&self) -> String {
        match (self.drop_notices, self.dropped) {
            (notices, 0) => human::number(notices),
            (notices, dropped) => {
                format!("{}, {} events announced as dropped", human::number(notices), human::number(dropped))
            }
        }
    }

    fn time_in_words(&self) -> String {
        let elapsed = human::duration(self.elapsed);
        match human::rate(self.delivered, self.elapsed) {
            Some(rate) => format!("{elapsed}, {rate}"),
            None => elapsed,
        }
    }
}

#[cfg(test)]
mod tests {
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
        insta::assert_snapshot!(stats.summary(&StreamName::new("accounts").unwrap()).join("\n"));
    }

    #[test]
    fn summary_of_a_run_without_anything() {
        insta::assert_snapshot!(Stats::default().summary(&StreamName::new("accounts").unwrap()).join("\n"));
    }

    #[test]
    fn gaps_are_counted_by_state() {
        let mut gaps = Gaps::default();
        for state in [GapState::Open, GapState::Ignored, GapState::Open] {
            gaps.add(state);
        }
        assert_eq!(GapState::ALL.map(|state| gaps.count(state)), [2, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn who_is_slow() {
        assert_eq!(waits(10, 80, 100).slow_side(), SlowSide::Output);
        assert_eq!(waits(80, 10, 100).slow_side(), SlowSide::Network);
        assert_eq!(waits(30, 30, 100).slow_side(), SlowSide::Neither);
        assert_eq!(waits(0, 0, 0).slow_side(), SlowSide::Neither);
        assert_eq!(waits(90, 200, 100).shares_percent(), (45, 100), "measured later than the run");
    }

    #[test]
    fn no_line_of_a_summary_looks_like_a_warning_or_an_error() {
        let stream = StreamName::new("error: x").unwrap();
        let lines = Stats::default().summary(&stream);
        assert!(lines[0].starts_with("note: "));
        assert!(lines[1..].iter().all(|line| line.starts_with("  ")));
    }
}
