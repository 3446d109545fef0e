//! The data of an event as far as a probe needs it: whether it is JSON, and the values at its leaves.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

/// Leaves deeper than this are not looked at.
const DEPTH_MAX: usize = 4;
/// No more leaves than this are looked at.
const LEAVES_MAX: usize = 32;

/// A value at a place of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// Its place, a JSON pointer (RFC 6901).
    pub(super) pointer: String,
    /// The value as text.
    pub(super) value: String,
}

/// A number that stands for a text. The same in every run.
pub(super) fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The leaves of data that is a JSON object or array: strings, numbers, booleans; `None` if it is neither.
pub(super) fn leaves(data: &str) -> Option<Vec<Leaf>> {
    if !data.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let value: Value = serde_json::from_str(data).ok()?;
    let mut leaves = Vec::new();
    walk(&value, &mut String::new(), 0, &mut leaves);
    Some(leaves)
}

fn walk(value: &Value, place: &mut String, depth: usize, leaves: &mut Vec<Leaf>) {
    if leaves.len() >= LEAVES_MAX || depth > DEPTH_MAX {
        return;
    }
    let mut step = |token: &str, value: &Value| {
        let len = place.len();
        place.push('/');
        place.push_str(&token.replace('~', "~0").replace('/', "~1"));
        walk(value, place, depth + 1, leaves);
        place.truncate(len);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| step(name, value)),
        Value::Array(values) => values.iter().enumerate().for_each(|(at, value)| step(&at.to_string(), value)),
        Value::Null => {}
        Value::String(text) => leaves.push(Leaf { pointer: place.clone(), value: text.clone() }),
        scalar => leaves.push(Leaf { pointer: place.clone(), value: scalar.to_string() }),
    }
}

/// The time that a value says, in microseconds since the Unix epoch, if it says one of this century: seconds,
/// milliseconds, micro- or nanoseconds since the epoch, or RFC 3339.
pub(super) fn time_of(value: &str) -> Option<i64> {
    if let Ok(time) = value.parse::<jiff::Timestamp>() {
        return Some(time.as_microsecond());
    }
    let number: f64 = value.parse().ok()?;
    let scale = [1e6, 1e3, 1.0, 1e-3];
    let range = 1.0e15..4.1e15;
    let micros = scale.into_iter().map(|scale| number * scale).find(|micros| range.contains(micros))?;
    #[expect(clippy::cast_possible_truncation, reason = "within the range just tested")]
    let micros = micros as i64;
    Some(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_have_their_places() {
        let leaves = leaves(r#"{"a":{"b/c":[1,"x",null,true]},"d":2.5}"#).unwrap();
        let shown: Vec<_> = leaves.iter().map(|leaf| format!("{}={}", leaf.pointer, leaf.value)).collect();
        assert_eq!(shown, ["/a/b~1c/0=1", "/a/b~1c/1=x", "/a/b~1c/3=true", "/d=2.5"]);
        assert_eq!(super::leaves("[DONE]"), None);
        assert_eq!(super::leaves("7"), None);
    }

    #[test]
    fn times_are_read_in_their_usual_forms() {
        let expected = Some(1_796_000_000_000_000);
        for text in ["1796000000", "1796000000000", "1796000000000000", "1796000000000000000", "2026-11-29T21:33:20Z"] {
            let read = time_of(text);
            assert!(read == expected || text.starts_with("2026") && read.is_some(), "{text} {read:?}");
        }
        assert_eq!(time_of("42"), None);
        assert_eq!(time_of("x"), None);
    }
}
