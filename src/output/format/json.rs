//! `-o json`: the record contract, written straight into the batch.

use serde_json::value::RawValue;

use super::push_number;
use super::quoted::{push_code_unit, push_escaped};
use crate::consumer::delivery::{EventRecord, Notice};
use crate::consumer::time::Timestamp;
use crate::output::escape::split_at_unsafe;
use crate::output::time::TimeText;

/// The beginnings of the three kinds of record of one stream, which never change.
#[derive(Clone, Debug)]
pub(super) struct Heads {
    event: Vec<u8>,
    snapshot: Vec<u8>,
    comment: Vec<u8>,
    notice: Vec<u8>,
    terminal: bool,
    time: TimeText,
}

impl Heads {
    pub(super) fn new(stream: &str, terminal: bool) -> Self {
        let head = |kind: &str, next: &str| {
            let mut head = format!("{{\"kind\":\"{kind}\",\"stream\":").into_bytes();
            push_string(&mut head, stream, terminal);
            head.extend_from_slice(next.as_bytes());
            head
        };
        Self {
            event: head("event", ",\"id\":"),
            snapshot: head("snapshot", ",\"data\":"),
            comment: head("comment", ",\"text\":"),
            notice: head("notice", ",\"notice\":\""),
            terminal,
            time: TimeText::new(),
        }
    }

    pub(super) fn event(&mut self, batch: &mut Vec<u8>, event: &EventRecord<'_>, json_data: bool) {
        batch.extend_from_slice(&self.event);
        match event.id {
            Some(id) => push_string(batch, id, self.terminal),
            None => batch.extend_from_slice(b"null"),
        }
        batch.extend_from_slice(b",\"event\":");
        push_string(batch, event.event, self.terminal);
        batch.extend_from_slice(b",\"data\":");
        if !(json_data && push_value(batch, event.data, self.terminal)) {
            push_string(batch, event.data, self.terminal);
        }
        self.push_time(batch, event.time);
        batch.extend_from_slice(if event.replayed { b",\"replayed\":true}\n" } else { b"}\n" });
    }

    pub(super) fn snapshot(&mut self, batch: &mut Vec<u8>, data: &str, time: Timestamp, json_data: bool) {
        batch.extend_from_slice(&self.snapshot);
        if !(json_data && push_value(batch, data, self.terminal)) {
            push_string(batch, data, self.terminal);
        }
        self.push_time(batch, time);
        batch.extend_from_slice(b"}\n");
    }

    pub(super) fn comment(&mut self, batch: &mut Vec<u8>, text: &str, time: Timestamp) {
        batch.extend_from_slice(&self.comment);
        push_string(batch, text, self.terminal);
        self.push_time(batch, time);
        batch.extend_from_slice(b"}\n");
    }

    pub(super) fn notice(&mut self, batch: &mut Vec<u8>, notice: &Notice, time: Timestamp) {
        batch.extend_from_slice(&self.notice);
        batch.extend_from_slice(notice.kind.as_str().as_bytes());
        batch.extend_from_slice(b"\",\"text\":");
        push_string(batch, &notice.text, self.terminal);
        let figures = [("dropped", notice.dropped), ("recovered", notice.recovered), ("removed", notice.removed)];
        for (name, figure) in figures {
            if let Some(figure) = figure {
                batch.extend_from_slice(b",\"");
                batch.extend_from_slice(name.as_bytes());
                batch.extend_from_slice(b"\":");
                push_number(batch, figure);
            }
        }
        self.push_time(batch, time);
        batch.extend_from_slice(b"}\n");
    }

    fn push_time(&mut self, batch: &mut Vec<u8>, time: Timestamp) {
        batch.extend_from_slice(b",\"time\":\"");
        batch.extend_from_slice(self.time.of(time));
        batch.push(b'"');
    }
}

/// Appends a JSON string (RFC 8259, section 7). For a terminal, what could drive it is escaped too.
pub(super) fn push_string(batch: &mut Vec<u8>, text: &str, terminal: bool) {
    batch.push(b'"');
    if terminal {
        push_pieces_shown(batch, text);
    } else {
        push_escaped(batch, text.as_bytes());
    }
    batch.push(b'"');
}

/// As [`push_escaped`], with characters that could drive a terminal escaped.
fn push_pieces_shown(batch: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    // The C0 controls are escaped in any case.
    while let Some((before, character, after)) = split_at_unsafe(rest, |character| character >= '\u{7f}') {
        push_escaped(batch, before.as_bytes());
        push_code_unit(batch, character);
        rest = after;
    }
    push_escaped(batch, rest.as_bytes());
}

/// Appends data as the JSON value that it is, on one line; `false` and nothing appended if it is none.
///
/// A string with half a surrogate pair (`"\ud800"`) fits the grammar, but no Unicode text and few readers: it does
/// not count as a value, so that one event cannot make its record unreadable.
fn push_value(batch: &mut Vec<u8>, data: &str, terminal: bool) -> bool {
    let Ok(value) = serde_json::from_str::<&RawValue>(data) else { return false };
    let text = value.get();
    if has_lone_surrogate(text.as_bytes()) {
        return false;
    }
    let compacted;
    let text = if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some() {
        compacted = compact(text);
        &compacted
    } else {
        text
    };
    if terminal {
        push_value_shown(batch, text);
    } else {
        batch.extend_from_slice(text.as_bytes());
    }
    true
}

/// Appends a JSON value with characters that could drive a terminal escaped; they can stand in its strings only.
fn push_value_shown(batch: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    while let Some((before, character, after)) = split_at_unsafe(rest, |_| true) {
        batch.extend_from_slice(before.as_bytes());
        push_code_unit(batch, character);
        rest = after;
    }
    batch.extend_from_slice(rest.as_bytes());
}

/// A JSON value without the white space between its tokens.
fn compact(value: &str) -> String {
    let mut in_string = false;
    let mut escaped = false;
    value
        .chars()
        .filter(|&character| {
            let blank = !in_string && matches!(character, ' ' | '\t' | '\n' | '\r');
            if character == '"' && !escaped {
                in_string = !in_string;
            }
            escaped = in_string && character == '\\' && !escaped;
            !blank
        })
        .collect()
}

/// Whether a `\u` escape in a JSON value is half of a surrogate pair without its other half.
fn has_lone_surrogate(value: &[u8]) -> bool {
    let mut rest = value;
    let mut high_is_open = false;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        if high_is_open && at > 0 {
            return true;
        }
        let Some(escape) = rest.get(at + 1) else { return true };
        let code = if *escape == b'u' { code_unit(&rest[at + 2..]) } else { 0 };
        let is_low = (0xdc00..0xe000).contains(&code);
        if is_low != high_is_open {
            return true;
        }
        high_is_open = (0xd800..0xdc00).contains(&code);
        rest = &rest[at + if *escape == b'u' { 6 } else { 2 }..];
    }
    high_is_open
}

/// The value of the four hexadecimal digits at the start; 0 if there are none.
fn code_unit(digits: &[u8]) -> u32 {
    let digits = digits.get(..4).and_then(|digits| std::str::from_utf8(digits).ok());
    digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn string(text: &str, terminal: bool) -> String {
        let mut out = Vec::new();
        push_string(&mut out, text, terminal);
        String::from_utf8(out).unwrap()
    }

    fn value(data: &str) -> Option<String> {
        let mut out = Vec::new();
        push_value(&mut out, data, false).then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn escapes_of_a_string() {
        assert_eq!(
            string("a\"b\\c\n\t\r\u{8}\u{c}\0\u{1f}\u{7f}é", false),
            "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0000\\u001f\u{7f}é\""
        );
    }

    #[test]
    fn on_a_terminal_a_string_is_the_same_to_a_program_and_safe_for_a_person() {
        let text = "\u{1b}[31m \u{9b}31m \u{7f} \u{202e} \"\n漢";
        let shown = string(text, true);
        assert_eq!(shown, "\"\\u001b[31m \\u009b31m \\u007f \\u202e \\\"\\n漢\"");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }

    #[test]
    fn data_that_is_json_is_embedded_as_it_came() {
        for data in ["{}", "[1, 2]", "-1.50e3", "null", "true", "\"text\"", "{\"a\":1,\"a\":2}", "\"\\ud83d\\ude00\""] {
            assert_eq!(value(data).as_deref(), Some(data));
        }
        assert_eq!(value(" {} \n").as_deref(), Some("{}"));
    }

    #[test]
    fn data_that_is_not_json_is_none() {
        for data in ["", "hello", "{", "{} {}", "01", "[DONE]", "NaN", "\"a\nb\"", "'a'", "{\"a\":1,}"] {
            assert_eq!(value(data), None, "{data}");
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_no_value() {
        for data in [
            r#""\ud800""#,
            r#""\udc00""#,
            r#""\ud800\n""#,
            r#""\ud800x\udc00""#,
            r#""\ud800\ud800\udc00""#,
            r#"["\uD83d","\uDE00"]"#,
        ] {
            assert_eq!(value(data), None, "{data}");
        }
        assert!(value(r#""\\ud800""#).is_some(), "an escaped backslash, then letters");
    }

    #[test]
    fn json_on_several_lines_is_put_on_one() {
        let data = "{\n  \"a b\": [1,\r\n\t2],\n  \"c\\\\\": \"\\\" \\\\\\\" x\"\n}";
        assert_eq!(value(data).as_deref(), Some(r#"{"a b":[1,2],"c\\":"\" \\\" x"}"#));
    }

    proptest! {
        #[test]
        fn a_string_reads_back(text in any::<String>(), terminal in any::<bool>()) {
            let shown = string(&text, terminal);
            prop_assert!(!shown.contains('\n'));
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }

        #[test]
        fn a_value_reads_back(words in proptest::collection::vec("[ \\\\\"\na-z\u{1b}\u{202e}]{0,9}", 0..4), terminal in any::<bool>()) {
            let json = serde_json::json!({ "words": words, "n": words.len() });
            let data = serde_json::to_string_pretty(&json).unwrap();
            let mut out = Vec::new();
            prop_assert!(push_value(&mut out, &data, terminal));
            prop_assert!(!out.contains(&b'\n'));
            prop_assert_eq!(serde_json::from_slice::<serde_json::Value>(&out).unwrap(), json);
        }
    }
}
