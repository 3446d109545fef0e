//! A value out of an event's data: `--id-from /JSON/POINTER` and `--dedupe /POINTER`.
//!
//! Walks the text without building a tree, so that a number keeps the digits it came with. What the value is used
//! for it must never know.

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A JSON Pointer (RFC 6901). The empty one names the whole document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    tokens: Vec<String>,
}

/// Why a text is no JSON Pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadPointer {
    /// It is not empty and does not begin with `/`.
    NoSlash,
    /// A `~` is not followed by `0` or `1`.
    Tilde,
}

impl fmt::Display for BadPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSlash => "a JSON Pointer begins with `/`, as in `/sequence_number`",
            Self::Tilde => "in a JSON Pointer `~` is written `~0`, and `/` within a name `~1`",
        })
    }
}

impl std::error::Error for BadPointer {}

impl Pointer {
    /// Reads a pointer.
    ///
    /// # Errors
    /// [`BadPointer`] says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, BadPointer> {
        if text.is_empty() {
            return Ok(Self { tokens: Vec::new() });
        }
        let path = text.strip_prefix('/').ok_or(BadPointer::NoSlash)?;
        let tokens = path.split('/').map(unescape).collect::<Result<_, _>>()?;
        Ok(Self { tokens })
    }

    /// The value at this place: a string unescaped, a number digit for digit as it stands, `true` or `false`.
    ///
    /// `None` for null, an object or an array, if the place does not exist, or if `data` is not one JSON value. Of a
    /// name that an object has twice the last one counts, as in JavaScript.
    #[must_use]
    pub fn value<'a>(&self, data: &'a str) -> Option<Cow<'a, str>> {
        let mut json = serde_json::Deserializer::from_str(data);
        let raw = Walk(&self.tokens).deserialize(&mut json).ok()??;
        json.end().ok()?;
        scalar(raw.get())
    }
}

fn unescape(token: &str) -> Result<String, BadPointer> {
    let mut parts = token.split('~');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (sign, rest) = match part.as_bytes().first() {
            Some(b'0') => ('~', &part[1..]),
            Some(b'1') => ('/', &part[1..]),
            _ => return Err(BadPointer::Tilde),
        };
        plain.push(sign);
        plain.push_str(rest);
    }
    Ok(plain)
}

fn scalar(json: &str) -> Option<Cow<'_, str>> {
    match json.as_bytes().first()? {
        b'"' if json.contains('\\') => serde_json::from_str(json).ok().map(Cow::Owned),
        b'"' => Some(Cow::Borrowed(&json[1..json.len() - 1])),
        b'-' | b'0'..=b'9' | b't' | b'f' => Some(Cow::Borrowed(json)),
        _ => None,
    }
}

/// An array index as RFC 6901 writes it: no sign, no leading zero.
fn index(token: &str) -> Option<usize> {
    let canonical = token == "0" || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
    if canonical { token.parse().ok() } else { None }
}

/// Descends by the tokens that are left and borrows what stands at the end of them.
struct Walk<'p>(&'p [String]);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        match self.0.split_first() {
            None => <&RawValue>::deserialize(json).map(Some),
            Some((token, rest)) => json.deserialize_any(Level { token, rest }),
        }
    }
}

/// One level of the document: the token that is looked for in it, and those for further down.
struct Level<'p> {
    token: &'p str,
    rest: &'p [String],
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(here) = map.next_key_seed(Is(self.token))? {
            if here {
                found = map.next_value_seed(Walk(self.rest))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let wanted = index(self.token);
        let mut found = None;
        for at in 0_usize.. {
            if Some(at) == wanted {
                match seq.next_element_seed(Walk(self.rest))? {
                    Some(value) => found = value,
                    None => break,
                }
            } else if seq.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
        }
        Ok(found)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// Whether a name is the one looked for; keeps nothing of it.
struct Is<'p>(&'p str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{BadPointer, Pointer};

    fn value(pointer: &str, data: &str) -> Option<String> {
        Pointer::parse(pointer).unwrap().value(data).map(std::borrow::Cow::into_owned)
    }

    #[test]
    fn finds_strings_unescaped() {
        assert_eq!(value("/id", r#"{"a":1,"id":"x\n\u00e9\"\\"}"#).as_deref(), Some("x\né\"\\"));
        assert_eq!(value("/event_ulid", r#" { "event_ulid" : "01ARZ" } "#).as_deref(), Some("01ARZ"));
        assert_eq!(value("/id", r#"{"id":""}"#).as_deref(), Some(""));
        assert_eq!(value("/id", r#"{"id":"\ud83d\ude00"}"#).as_deref(), Some("😀"));
    }

    #[test]
    fn keeps_numbers_digit_for_digit() {
        for number in ["0", "-0", "9007199254740993", "123456789012345678901234567890", "1e3", "1.50", "-1E+2"] {
            assert_eq!(value("/n", &format!("{{\"n\": {number} }}")).as_deref(), Some(number));
        }
    }

    #[test]
    fn a_huge_number_beside_the_path_does_no_harm() {
        assert_eq!(value("/n", r#"{"x":1e999,"n":7}"#).as_deref(), Some("7"));
    }

    #[test]
    fn gives_booleans_as_text_and_nothing_for_the_rest() {
        assert_eq!(value("/a", r#"{"a":true}"#).as_deref(), Some("true"));
        assert_eq!(value("/a", r#"{"a":false}"#).as_deref(), Some("false"));
        for other in ["null", "{}", "[]", r#"{"a":1}"#, "[1]"] {
            assert_eq!(value("/a", &format!("{{\"a\":{other}}}")), None);
        }
    }

    #[test]
    fn walks_objects_and_arrays() {
        let data = r#"{"a":{"b":[10,{"c":"deep"},[30,31]]},"0":"name"}"#;
        assert_eq!(value("/a/b/0", data).as_deref(), Some("10"));
        assert_eq!(value("/a/b/1/c", data).as_deref(), Some("deep"));
        assert_eq!(value("/a/b/2/1", data).as_deref(), Some("31"));
        assert_eq!(value("/0", data).as_deref(), Some("name"));
        for nowhere in ["/a/b/3", "/a/b/-", "/a/b/00", "/a/b/+1", "/a/b/0/x", "/a/b/1/c/d", "/A", "/a/", "/a/b/"] {
            assert_eq!(value(nowhere, data), None, "{nowhere}");
        }
    }

    #[test]
    fn follows_the_examples_of_rfc_6901() {
        let data = r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#;
        let cases = [("/foo/0", "bar"), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"), ("/e^f", "3"), ("/g|h", "4")];
        for (pointer, expected) in
            cases.into_iter().chain([("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"), ("/m~0n", "8")])
        {
            assert_eq!(value(pointer, data).as_deref(), Some(expected), "{pointer}");
        }
        assert_eq!(value("/~01", r#"{"~1":"tilde first"}"#).as_deref(), Some("tilde first"));
        assert_eq!(value("", "42").as_deref(), Some("42"));
    }

    #[test]
    fn of_a_name_given_twice_the_last_counts() {
        assert_eq!(value("/a", r#"{"a":1,"a":2}"#).as_deref(), Some("2"));
        assert_eq!(value("/a/b", r#"{"a":{"b":1},"a":{}}"#), None);
    }

    #[test]
    fn what_is_not_one_json_value_has_none() {
        for data in ["", "[DONE]", "{", r#"{"a":1"#, r#"{"a":1} x"#, r#"{"a":01}"#, r#"{"a":"\ud800"}"#, "plain"] {
            assert_eq!(value("/a", data), None, "{data}");
        }
    }

    #[test]
    fn deep_nesting_beside_the_path_is_no_limit() {
        let deep = format!("{{\"x\":{}{},\"a\":1}}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(value("/a", &deep).as_deref(), Some("1"));
    }

    #[test]
    fn bad_pointers_are_refused() {
        assert_eq!(Pointer::parse("id"), Err(BadPointer::NoSlash));
        assert_eq!(Pointer::parse("#/id"), Err(BadPointer::NoSlash));
        assert_eq!(Pointer::parse("/a~"), Err(BadPointer::Tilde));
        assert_eq!(Pointer::parse("/a~2"), Err(BadPointer::Tilde));
    }
}
