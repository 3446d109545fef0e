//! The match on a field's name, and the value of `retry`. Knows nothing of blocks or chunks.

/// The longest name that means something: `event`, `retry`.
pub(super) const NAME_BYTES_MAX: usize = 5;

/// What a line that is not blank is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Comment,
    Data,
    Event,
    Id,
    Retry,
    Unknown,
}

/// Splits a line (not blank, without its end) into its field and the value after the colon and one space.
///
/// HTML standard, "Interpreting an event stream": a line without a colon is a field with an empty value. The value
/// of an unknown field is nobody's business and comes out empty.
#[inline]
pub(super) fn split(line: &[u8]) -> (Field, &[u8]) {
    let (field, rest) = match line {
        [b'd', b'a', b't', b'a', rest @ ..] => (Field::Data, rest),
        [b'i', b'd', rest @ ..] => (Field::Id, rest),
        [b'e', b'v', b'e', b'n', b't', rest @ ..] => (Field::Event, rest),
        [b':', ..] => (Field::Comment, line),
        [b'r', b'e', b't', b'r', b'y', rest @ ..] => (Field::Retry, rest),
        _ => return (Field::Unknown, &[]),
    };
    match rest {
        [] => (field, &[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => (field, value),
        _ => (Field::Unknown, &[]),
    }
}

/// The value of a `retry` line, read digit by digit so that no number of digits needs a buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Digits {
    millis: u64,
    any: bool,
    bad: bool,
}

impl Digits {
    /// Reads on.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte.is_ascii_digit() {
                self.any = true;
                self.millis = self
                    .millis
                    .saturating_mul(10)
                    .saturating_add(u64::from(byte - b'0'));
            } else {
                self.bad = true;
            }
        }
    }

    /// The number in milliseconds; `None` unless the value was ASCII digits only and at least one.
    pub(super) fn value(self) -> Option<u64> {
        (self.any && !self.bad).then_some(self.millis)
    }

    /// The number that a whole value stands for.
    pub(super) fn of(bytes: &[u8]) -> Option<u64> {
        let mut digits = Self::default();
        digits.push(bytes);
        digits.value()
    }
}
