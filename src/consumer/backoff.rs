//! How long to wait before the next attempt, and when to give up.
//!
//! Knows delays and counts; why a connection ended, and the clock, it must never know. Randomness is an argument.

use std::time::Duration;

/// The shortest delay there is, whoever asks for a shorter one: a server by `retry:`, or the user.
const DELAY_MIN: Duration = Duration::from_millis(100);
/// The longest reconnection time that a server can set, by `retry:` or `Retry-After`.
const SERVER_DELAY_MAX: Duration = Duration::from_secs(60 * 60);
/// Jitter lengthens a delay by at most this share of it.
const JITTER_SHARE_MAX: f64 = 0.2;

/// What the user may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackoffOptions {
    /// The first delay (`--retry-initial`), 100 ms at least; a server's `retry:` replaces it.
    pub initial: Duration,
    /// The longest delay (`--retry-max`) before jitter, 100 ms at least; only a server may ask for a longer one.
    pub max: Duration,
    /// How many attempts in a row may be retries (`--max-retries`); `None` for any number.
    pub max_retries: Option<u32>,
}

/// The delays of one stream: exponential, starting over whenever an event came.
#[derive(Clone, Debug)]
pub struct Backoff {
    options: BackoffOptions,
    /// The reconnection time that the server asked for (HTML standard, 9.2.6: the `retry` field).
    server: Option<Duration>,
    /// Retries since an event came.
    retries: u32,
}

impl Backoff {
    /// Delays as set by the user, until a server asks for others.
    #[must_use]
    pub fn new(options: BackoffOptions) -> Self {
        Self { options, server: None, retries: 0 }
    }

    /// The delay before the next attempt; `None` if the retries are used up.
    ///
    /// `jitter` is a random number from 0 to 1; it only lengthens, by at most 20 %. `retry_after` is what the last
    /// response asked for. The result is never shorter than that (up to an hour) nor than [`Self::floor`].
    pub fn next(&mut self, jitter: f64, retry_after: Option<Duration>) -> Option<Duration> {
        if self.options.max_retries.is_some_and(|max| self.retries >= max) {
            return None;
        }
        let base = self.server.unwrap_or(self.options.initial.max(DELAY_MIN));
        let longest = self.options.max.max(self.floor()).max(DELAY_MIN);
        let doubled = base.saturating_mul(2_u32.saturating_pow(self.retries)).min(longest);
        self.retries = self.retries.saturating_add(1);
        let delay = doubled.max(retry_after.unwrap_or_default().min(SERVER_DELAY_MAX));
        Some(lengthened(delay, jitter))
    }

    /// Takes the value of a `retry:` field, in milliseconds, as the new initial delay.
    pub fn server_retry(&mut self, ms: u64) {
        self.server = Some(Duration::from_millis(ms).clamp(DELAY_MIN, SERVER_DELAY_MAX));
    }

    /// An event came: delays and retries start over. A connection alone is no success; a server that accepts and
    /// closes at once would otherwise be asked for ever without a pause.
    pub fn received_event(&mut self) {
        self.retries = 0;
    }

    /// How many retries were made since an event came.
    #[must_use]
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// What the server's `retry:` asks for at least, also before a reconnection of our own choice; zero if it asks nothing.
    #[must_use]
    pub fn floor(&self) -> Duration {
        self.server.unwrap_or_default()
    }
}

fn lengthened(delay: Duration, jitter: f64) -> Duration {
    let jitter = if jitter.is_finite() { jitter.clamp(0.0, 1.0) } else { 0.0 };
    let more = Duration::try_from_secs_f64(delay.as_secs_f64() * JITTER_SHARE_MAX * jitter).unwrap_or_default();
    delay.saturating_add(more)
}

#[cfg(test)]
mod tests {
    use super::{Backoff, BackoffOptions};
    use proptest::prelude::*;
    use std::time::Duration;

    const HOUR: Duration = Duration::from_secs(3600);

    fn backoff(initial_ms: u64, max_ms: u64, max_retries: Option<u32>) -> Backoff {
        let (initial, max) = (Duration::from_millis(initial_ms), Duration::from_millis(max_ms));
        Backoff::new(BackoffOptions { initial, max, max_retries })
    }

    fn delays_ms(backoff: &mut Backoff, count: usize) -> Vec<u128> {
        (0..count).map(|_| backoff.next(0.0, None).unwrap().as_millis()).collect()
    }

    #[test]
    fn delays_double_up_to_the_longest() {
        assert_eq!(delays_ms(&mut backoff(1000, 30_000, None), 7), [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
        assert_eq!(delays_ms(&mut backoff(150, 170, None), 3), [150, 170, 170]);
        assert_eq!(delays_ms(&mut backoff(60_000, 30_000, None), 2), [30_000, 30_000]);
    }

    #[test]
    fn an_event_starts_over() {
        let mut backoff = backoff(1000, 30_000, Some(2));
        assert_eq!(delays_ms(&mut backoff, 2), [1000, 2000]);
        assert_eq!(backoff.next(0.0, None), None);
        backoff.received_event();
        assert_eq!(delays_ms(&mut backoff, 2), [1000, 2000]);
        assert_eq!(backoff.next(0.0, None), None);
        assert_eq!(backoff.next(0.0, Some(HOUR)), None);
    }

    #[test]
    fn no_retries_means_none() {
        assert_eq!(backoff(1000, 30_000, Some(0)).next(0.0, None), None);
    }

    #[test]
    fn the_servers_retry_replaces_the_initial_delay() {
        let mut backoff = backoff(1000, 30_000, None);
        assert_eq!(backoff.floor(), Duration::ZERO);
        backoff.server_retry(250);
        assert_eq!(backoff.floor(), Duration::from_millis(250));
        assert_eq!(delays_ms(&mut backoff, 3), [250, 500, 1000]);
        backoff.server_retry(3000);
        backoff.received_event();
        assert_eq!(delays_ms(&mut backoff, 2), [3000, 6000]);
    }

    #[test]
    fn the_servers_retry_has_a_floor_and_a_ceiling_and_may_exceed_the_longest() {
        let mut backoff = backoff(1000, 30_000, None);
        backoff.server_retry(0);
        assert_eq!(backoff.floor(), Duration::from_millis(100));
        backoff.server_retry(60_000);
        assert_eq!(delays_ms(&mut backoff, 3), [60_000, 60_000, 60_000]);
        backoff.server_retry(u64::MAX);
        assert_eq!(backoff.floor(), HOUR);
        assert_eq!(backoff.next(0.0, None), Some(HOUR));
    }

    #[test]
    fn a_new_retry_in_mid_series_is_never_undercut() {
        let mut backoff = backoff(1000, 30_000, None);
        delays_ms(&mut backoff, 3);
        backoff.server_retry(45_000);
        assert_eq!(delays_ms(&mut backoff, 1), [45_000]);
    }

    #[test]
    fn retry_after_lengthens_up_to_an_hour_and_never_shortens() {
        let mut backoff = backoff(1000, 30_000, None);
        assert_eq!(backoff.next(0.0, Some(Duration::from_secs(120))), Some(Duration::from_secs(120)));
        assert_eq!(backoff.next(0.0, Some(Duration::ZERO)), Some(Duration::from_secs(2)));
        assert_eq!(backoff.next(0.0, Some(Duration::MAX)), Some(HOUR));
    }

    #[test]
    fn jitter_lengthens_by_a_fifth_at_most() {
        let with = |jitter| backoff(1000, 30_000, None).next(jitter, None).unwrap().as_millis();
        assert_eq!([with(0.0), with(0.5), with(1.0)], [1000, 1100, 1200]);
        assert_eq!([with(-3.0), with(7.0), with(f64::NAN)], [1000, 1200, 1000]);
    }

    #[test]
    fn no_delay_is_a_storm() {
        assert_eq!(delays_ms(&mut backoff(0, 30_000, None), 3), [100, 200, 400]);
        assert_eq!(delays_ms(&mut backoff(1, 1, None), 3), [100, 100, 100]);
        assert_eq!(delays_ms(&mut backoff(0, 0, None), 3), [100, 100, 100]);
    }

    proptest! {
        #[test]
        fn a_delay_keeps_every_promise(
            initial in 0_u64..100_000, max in 0_u64..100_000, retry in proptest::option::of(0_u64..10_000_000),
            after in proptest::option::of(0_u64..10_000), jitter in 0.0_f64..=1.0, tries in 1_usize..80,
        ) {
            let mut backoff = backoff(initial, max, None);
            if let Some(ms) = retry {
                backoff.server_retry(ms);
            }
            let after = after.map(Duration::from_secs);
            for _ in 0..tries {
                let delay = backoff.next(jitter, after).unwrap();
                let asked = after.unwrap_or_default().min(HOUR).max(backoff.floor());
                prop_assert!(delay >= asked);
                prop_assert!(delay <= asked.max(Duration::from_millis(max.max(100))).mul_f64(1.2001));
            }
        }
    }
}
