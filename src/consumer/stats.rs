//! What a run did, counted; says who is slow (rule 14).

use std::time::Duration;

use super::record::GapState;

/// The counters of one stream in one run. Whoever drives the stream fills them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Events delivered, those that a filter held back included.
    pub delivered: u64,
    /// Events written.
    pub written: u64,
    /// Events of `delivered` that a newer one of their key replaced while the output was behind (`--policy`).
    pub coalesced: u64,
    /// Events of `delivered` that were dropped while the output was behind (`--policy`).
    pub given_up: u64,
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
        let share = |time| percent(micros(time), micros(whole));
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

    /// What helps against notices and cuts that come again and again.
    #[must_use]
    pub fn what_helps(&self) -> &'static str {
        match self.slow_side() {
            SlowSide::Output => "a faster output helps, against short stalls a larger `--read-ahead`",
            SlowSide::Network | SlowSide::Neither => "`ssectl probe` tells what the server does to its readers",
        }
    }
}

/// A part of a whole in percent, rounded; 0 of nothing.
fn percent(part: u64, whole: u64) -> u64 {
    let (part, whole) = (u128::from(part.min(whole)), u128::from(whole.max(1)));
    u64::try_from((part * 100 + whole / 2) / whole).unwrap_or(100)
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
    fn a_share_is_rounded_and_never_more_than_the_whole() {
        assert_eq!(
            [(2, 3), (5, 0), (9, 3), (u64::MAX, u64::MAX)].map(|(part, whole)| percent(part, whole)),
            [67, 0, 100, 100]
        );
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
        assert!(waits(10, 80, 100).what_helps().contains("--read-ahead"));
        assert!(waits(80, 10, 100).what_helps().contains("ssectl probe"));
        assert_eq!(waits(90, 200, 100).shares_percent(), (45, 100), "measured later than the run");
    }
}
