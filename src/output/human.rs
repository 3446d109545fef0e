//! Figures for people: grouped numbers, sizes, durations, rates.

use std::time::Duration;

/// `1,234,567`.
pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `512 B`, `3.4 MiB`.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut size = as_f64(bytes) / 1024.0;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

/// `0.35 s`, `12.3 s`, `4m 05s`, `2h 03m 04s`.
pub(super) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match seconds {
        0..10 => format!("{:.2} s", duration.as_secs_f64()),
        10..60 => format!("{:.1} s", duration.as_secs_f64()),
        60..3600 => format!("{minutes}m {:02}s", seconds % 60),
        _ => format!("{hours}h {minutes:02}m {:02}s", seconds % 60),
    }
}

/// Events a second over a time: `12.3/s`; `None` where no time has passed.
pub(super) fn rate(events: u64, time: Duration) -> Option<String> {
    let seconds = time.as_secs_f64();
    (seconds > 0.0).then(|| {
        let rate = as_f64(events) / seconds;
        if rate < 100.0 { format!("{rate:.1}/s") } else { format!("{rate:.0}/s") }
    })
}

#[expect(clippy::cast_precision_loss, reason = "shown with a few digits only")]
fn as_f64(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(number), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1023, 1024, 3_565_158].map(size), ["0 B", "1023 B", "1.0 KiB", "3.4 MiB"]);
        assert_eq!(
            [350, 12_300, 245_000, 7_384_000].map(|millis| duration(Duration::from_millis(millis))),
            ["0.35 s", "12.3 s", "4m 05s", "2h 03m 04s"]
        );
        assert_eq!(rate(123, Duration::from_secs(10)).as_deref(), Some("12.3/s"));
        assert_eq!(rate(5_000, Duration::from_secs(2)).as_deref(), Some("2500/s"));
        assert_eq!(rate(1, Duration::ZERO), None);
    }
}
