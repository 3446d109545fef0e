//! The idle watchdog: until when a silent connection counts as alive.
//!
//! Knows times of bytes and of comments. That a deadline has passed is for the driver to see; what a comment says
//! must never matter here.

use super::time::Timestamp;
use std::time::Duration;

/// How many heartbeat comments must have come in steady intervals before `auto` switches the watchdog on.
const HEARTBEATS_MIN: usize = 3;
/// The deadline under `auto`, in heartbeat periods.
const PERIODS: u32 = 3;
/// Under `auto` no connection is given up before this silence.
const AUTO_MIN: Duration = Duration::from_secs(10);
/// Comments closer together are one beat: a greeting of many comment lines at once has no period.
const BEAT_MIN: Duration = Duration::from_millis(500);

/// The value of `--idle-timeout`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdleOption {
    /// Off until a GET stream has shown a steady heartbeat.
    #[default]
    Auto,
    /// Never.
    Off,
    /// After this silence, on any stream.
    Fixed(Duration),
}

/// The watchdog of one connection.
///
/// Under `auto`, three heartbeat comments are steady when neither of the two intervals between them is more than
/// half as long again as the other. Events may come between them. The period is the longer interval, and follows
/// when later heartbeats are steady at another pace.
#[derive(Clone, Debug)]
pub struct Idle {
    /// `--idle-timeout`, or what the heartbeat has taught.
    timeout: Option<Duration>,
    /// Heartbeats still teach.
    learns: bool,
    last_byte: Option<Timestamp>,
    /// The last beats, oldest first; at most [`HEARTBEATS_MIN`].
    beats: Vec<Timestamp>,
}

impl Idle {
    /// The watchdog for a new connection. It stands still until the first [`Self::on_bytes`], which the head of the
    /// response counts as.
    #[must_use]
    pub fn new(option: IdleOption, is_get: bool) -> Self {
        let timeout = if let IdleOption::Fixed(timeout) = option { Some(timeout) } else { None };
        let learns = option == IdleOption::Auto && is_get;
        Self { timeout, learns, last_byte: None, beats: Vec::with_capacity(HEARTBEATS_MIN) }
    }

    /// Bytes came, whatever they are.
    pub fn on_bytes(&mut self, now: Timestamp) {
        self.last_byte = self.last_byte.max(Some(now));
    }

    /// A comment came that is no drop notice. Feeds the watchdog as well.
    pub fn on_heartbeat_comment(&mut self, now: Timestamp) {
        self.on_bytes(now);
        if !self.learns || self.beats.last().is_some_and(|&last| now.since(last) < BEAT_MIN) {
            return;
        }
        if self.beats.len() == HEARTBEATS_MIN {
            self.beats.remove(0);
        }
        self.beats.push(now);
        if let Some(period) = steady_period(&self.beats) {
            self.timeout = Some(period.saturating_mul(PERIODS).max(AUTO_MIN));
        }
    }

    /// When the connection counts as dead unless a byte comes first; `None` while the watchdog is off.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        Some(self.last_byte?.plus(self.timeout?))
    }
}

fn steady_period(beats: &[Timestamp]) -> Option<Duration> {
    if beats.len() < HEARTBEATS_MIN {
        return None;
    }
    let intervals = || beats.windows(2).map(|pair| pair[1].since(pair[0]));
    let (shortest, longest) = (intervals().min()?, intervals().max()?);
    (longest <= shortest + shortest / 2).then_some(longest)
}

#[cfg(test)]
mod tests {
    use super::{Idle, IdleOption};
    use crate::consumer::time::Timestamp;
    use std::time::Duration;

    fn at(ms: i64) -> Timestamp {
        Timestamp(ms * 1000)
    }

    fn auto_after(beats_ms: &[i64]) -> Idle {
        let mut idle = Idle::new(IdleOption::Auto, true);
        idle.on_bytes(at(0));
        for &ms in beats_ms {
            idle.on_heartbeat_comment(at(ms));
        }
        idle
    }

    #[test]
    fn a_fixed_timeout_runs_from_the_last_byte_on_any_stream() {
        for is_get in [true, false] {
            let mut idle = Idle::new(IdleOption::Fixed(Duration::from_millis(500)), is_get);
            assert_eq!(idle.deadline(), None);
            idle.on_bytes(at(1000));
            assert_eq!(idle.deadline(), Some(at(1500)));
            idle.on_heartbeat_comment(at(1400));
            assert_eq!(idle.deadline(), Some(at(1900)));
            for ms in [20_000, 40_000, 60_000] {
                idle.on_heartbeat_comment(at(ms));
            }
            assert_eq!(idle.deadline(), Some(at(60_500)));
        }
    }

    #[test]
    fn off_is_off() {
        let mut idle = Idle::new(IdleOption::Off, true);
        for ms in [0, 15_000, 30_000, 45_000] {
            idle.on_heartbeat_comment(at(ms));
        }
        assert_eq!(idle.deadline(), None);
    }

    #[test]
    fn auto_needs_three_steady_heartbeats() {
        assert_eq!(auto_after(&[]).deadline(), None);
        assert_eq!(auto_after(&[15_000, 30_000]).deadline(), None);
        assert_eq!(auto_after(&[15_000, 30_000, 45_000]).deadline(), Some(at(90_000)));
    }

    #[test]
    fn auto_is_for_get_alone() {
        let mut idle = Idle::new(IdleOption::Auto, false);
        for ms in [15_000, 30_000, 45_000, 60_000] {
            idle.on_heartbeat_comment(at(ms));
        }
        assert_eq!(idle.deadline(), None);
    }

    #[test]
    fn auto_waits_ten_seconds_at_least() {
        assert_eq!(auto_after(&[1000, 2000, 3000]).deadline(), Some(at(13_000)));
    }

    #[test]
    fn uneven_comments_teach_nothing_but_later_steady_ones_do() {
        assert_eq!(auto_after(&[1000, 2000, 40_000]).deadline(), None);
        assert_eq!(auto_after(&[10_000, 20_000, 35_000]).deadline(), Some(at(35_000 + 45_000)));
        assert_eq!(auto_after(&[10_000, 20_000, 35_001]).deadline(), None);
        assert_eq!(auto_after(&[1000, 2000, 40_000, 78_000]).deadline(), Some(at(78_000 + 114_000)));
    }

    #[test]
    fn a_greeting_of_many_comments_is_one_beat() {
        assert_eq!(auto_after(&[0, 0, 0, 0, 1, 2]).deadline(), None);
        assert_eq!(auto_after(&[0, 0, 0, 30_000, 60_000]).deadline(), Some(at(60_000 + 90_000)));
        let fast: Vec<i64> = (0..20).map(|n| n * 100).collect();
        assert_eq!(auto_after(&fast).deadline(), Some(at(1900 + 10_000)));
    }

    #[test]
    fn any_byte_feeds_it_and_events_between_heartbeats_do_not_unsettle_it() {
        let mut idle = auto_after(&[15_000]);
        idle.on_bytes(at(17_000));
        idle.on_heartbeat_comment(at(30_000));
        idle.on_bytes(at(31_000));
        idle.on_heartbeat_comment(at(45_000));
        idle.on_bytes(at(60_500));
        assert_eq!(idle.deadline(), Some(at(60_500 + 45_000)));
    }

    #[test]
    fn what_was_learned_stays_through_uneven_comments() {
        assert_eq!(auto_after(&[15_000, 30_000, 45_000, 46_000]).deadline(), Some(at(46_000 + 45_000)));
    }
}
