//! Times as the records show them: RFC 3339 in UTC with exactly six fraction digits.
//!
//! Own arithmetic, because it runs once a record and must not allocate; the tests hold it against `jiff`.

use crate::consumer::time::Timestamp;

const MICROS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// 0000-01-01T00:00:00.000000Z: RFC 3339 has four digits for the year, so what lies before is shown as this.
const MICROS_MIN: i64 = -62_167_219_200 * MICROS_PER_SECOND;
/// 9999-12-31T23:59:59.999999Z: what lies after is shown as this.
const MICROS_MAX: i64 = 253_402_300_800 * MICROS_PER_SECOND - 1;

/// Length of such a text, in bytes.
pub const RFC3339_MICROS_LEN: usize = 27;

/// Where the digits of the fraction are in it.
const FRACTION: std::ops::Range<usize> = 20..26;

/// Where the time of day begins in such a text (`20:41:06.123456Z`).
pub(crate) const TIME_OF_DAY_AT: usize = 11;

/// A time as RFC 3339 (section 5.6) in UTC: `2026-11-30T20:41:06.123456Z`.
///
/// Years outside 0000 to 9999, which the RFC cannot write, are shown as the nearest end of that range.
#[must_use]
pub fn rfc3339_micros(time: Timestamp) -> String {
    digits(time).iter().map(|&byte| char::from(byte)).collect()
}

/// The text of a time, kept for the next: most events of a batch came at the same time, and most others in the same second.
#[derive(Clone, Debug)]
pub(crate) struct TimeText {
    time: Timestamp,
    text: [u8; RFC3339_MICROS_LEN],
}

impl TimeText {
    pub(crate) fn new() -> Self {
        let time = Timestamp(0);
        Self { time, text: digits(time) }
    }

    /// What [`rfc3339_micros`] gives.
    #[inline]
    pub(crate) fn of(&mut self, time: Timestamp) -> &[u8; RFC3339_MICROS_LEN] {
        if self.time != time {
            self.change(time);
        }
        &self.text
    }

    fn change(&mut self, time: Timestamp) {
        let second = |time: Timestamp| time.0.div_euclid(MICROS_PER_SECOND);
        let same = second(self.time) == second(time) && (MICROS_MIN..=MICROS_MAX).contains(&time.0);
        self.time = time;
        if same {
            put(&mut self.text[FRACTION], time.0.rem_euclid(MICROS_PER_SECOND));
        } else {
            self.text = digits(time);
        }
    }
}

/// A time from such a text; `None` if it is none.
#[must_use]
pub fn parse_rfc3339_micros(text: &str) -> Option<Timestamp> {
    text.parse::<jiff::Timestamp>().ok().map(|time| Timestamp(time.as_microsecond()))
}

/// The text, all of it ASCII.
fn digits(time: Timestamp) -> [u8; RFC3339_MICROS_LEN] {
    let micros = time.0.clamp(MICROS_MIN, MICROS_MAX);
    let seconds = micros.div_euclid(MICROS_PER_SECOND);
    let fraction = micros.rem_euclid(MICROS_PER_SECOND);
    let (year, month, day) = civil(seconds.div_euclid(SECONDS_PER_DAY));
    let of_day = seconds.rem_euclid(SECONDS_PER_DAY);

    let mut text = *b"0000-00-00T00:00:00.000000Z";
    put(&mut text[0..4], year);
    put(&mut text[5..7], month);
    put(&mut text[8..10], day);
    put(&mut text[11..13], of_day / 3600);
    put(&mut text[14..16], of_day / 60 % 60);
    put(&mut text[17..19], of_day % 60);
    put(&mut text[FRACTION], fraction);
    text
}

/// Writes a number that is not negative into all of `place`, with zeros in front.
fn put(place: &mut [u8], mut number: i64) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
///
/// The year is taken to begin in March, which puts the leap day last; 400 years always have 146,097 days.
fn civil(days: i64) -> (i64, i64, i64) {
    const DAYS_FROM_0000_03_01: i64 = 719_468;
    const DAYS_PER_ERA: i64 = 146_097;
    let days = days + DAYS_FROM_0000_03_01;
    let era = days.div_euclid(DAYS_PER_ERA);
    let of_era = days.rem_euclid(DAYS_PER_ERA);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(micros: i64) -> String {
        rfc3339_micros(Timestamp(micros))
    }

    #[test]
    fn known_times() {
        assert_eq!(shown(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(shown(-1), "1969-12-31T23:59:59.999999Z");
        assert_eq!(shown(1_796_071_266_123_456), "2026-11-30T20:41:06.123456Z");
        assert_eq!(shown(951_782_400_000_001), "2000-02-29T00:00:00.000001Z");
    }

    #[test]
    fn years_that_rfc_3339_cannot_write_are_the_nearest_it_can() {
        assert_eq!(shown(i64::MIN), "0000-01-01T00:00:00.000000Z");
        assert_eq!(shown(i64::MAX), "9999-12-31T23:59:59.999999Z");
        assert_eq!(shown(MICROS_MAX), "9999-12-31T23:59:59.999999Z");
    }

    proptest! {
        #[test]
        fn a_text_that_is_kept_is_that_of_its_time(start in any::<i64>(), steps in proptest::collection::vec(-2_000_000_i64..2_000_000, 1..9)) {
            let mut kept = TimeText::new();
            let mut micros = start;
            for step in steps.into_iter().chain([i64::MIN, i64::MAX, 0]) {
                micros = micros.saturating_add(step);
                prop_assert_eq!(String::from_utf8_lossy(kept.of(Timestamp(micros))), shown(micros));
            }
        }

        #[test]
        fn as_jiff_has_it(micros in MICROS_MIN..253_402_200_000 * MICROS_PER_SECOND) {
            let theirs = jiff::Timestamp::from_microsecond(micros).expect("within the range of jiff");
            prop_assert_eq!(shown(micros), format!("{theirs:.6}"));
        }
    }
}
