//! What the standard ignores without a word: unknown fields, odd `retry:` lines, ids with NUL, lone CRs.

use std::collections::BTreeMap;

/// How much of a line is looked at, in bytes.
const LINE_BYTES_MAX: usize = 256;
/// How many names of unknown fields are kept.
const UNKNOWN_NAMES_MAX: usize = 16;
/// How much of such a name is kept, in characters.
const NAME_CHARS_MAX: usize = 32;

/// What is odd about the bytes of one connection or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lint {
    /// Lines with a field that the standard does not know, by name.
    pub(super) unknown: BTreeMap<String, u64>,
    /// `retry:` lines that are not digits.
    pub(super) retry_odd: u64,
    /// `id:` lines with NUL.
    pub(super) id_nul: u64,
    /// Lines that end with CR alone.
    pub(super) bare_cr: u64,
    /// A byte order mark stood at the start.
    pub(super) byte_order_mark: bool,
    line: Vec<u8>,
    /// The last byte was a CR: what comes next says whether it stood alone.
    after_cr: bool,
    begun: bool,
}

impl Lint {
    /// Takes the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if std::mem::take(&mut self.after_cr) {
                if byte == b'\n' {
                    continue;
                }
                self.bare_cr += 1;
            }
            match byte {
                b'\n' | b'\r' => {
                    self.after_cr = byte == b'\r';
                    self.end_line();
                }
                _ if self.line.len() < LINE_BYTES_MAX => self.line.push(byte),
                _ => {}
            }
        }
    }

    /// The connection has ended; the next begins anew.
    pub(super) fn finish(&mut self) {
        self.line.clear();
        self.after_cr = false;
        self.begun = false;
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if !std::mem::replace(&mut self.begun, true)
            && let Some(rest) = text.strip_prefix(b"\xEF\xBB\xBF")
        {
            self.byte_order_mark = true;
            text = rest;
        }
        let colon = text.iter().position(|&byte| byte == b':');
        let (name, value) = text.split_at(colon.unwrap_or(text.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" | b"event" => {}
            b"id" => self.id_nul += u64::from(value.contains(&0)),
            b"retry" => self.retry_odd += u64::from(value.is_empty() || !value.iter().all(u8::is_ascii_digit)),
            // A blank line, or a comment.
            b"" => {}
            name => self.unknown(name),
        }
        line.clear();
        self.line = line;
    }

    fn unknown(&mut self, name: &[u8]) {
        let name: String = String::from_utf8_lossy(name).chars().take(NAME_CHARS_MAX).collect();
        if self.unknown.len() < UNKNOWN_NAMES_MAX || self.unknown.contains_key(&name) {
            *self.unknown.entry(name).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lint(bytes: &[u8]) -> Lint {
        let mut whole = Lint::default();
        whole.feed(bytes);
        let mut single = Lint::default();
        bytes.iter().for_each(|&byte| single.feed(&[byte]));
        assert_eq!(whole, single, "the cut of chunks must not matter");
        whole
    }

    #[test]
    fn what_the_standard_knows_is_not_odd() {
        let seen = lint(b": x\ndata: a\ndata\nevent:b\r\nid: 1\nid\nretry: 10\n\n");
        assert!(seen.unknown.is_empty());
        assert_eq!((seen.retry_odd, seen.id_nul, seen.bare_cr, seen.byte_order_mark), (0, 0, 0, false));
    }

    #[test]
    fn what_is_ignored_is_counted() {
        let seen =
            lint(b"\xEF\xBB\xBFData: a\n data: b\nmeta: c\nmeta: d\nretry: 3s\nretry:\nid: a\0b\ndata: x\ry\n\n");
        let names: Vec<_> = seen.unknown.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(names, [(" data", 1), ("Data", 1), ("meta", 2), ("y", 1)]);
        assert_eq!((seen.retry_odd, seen.id_nul, seen.bare_cr, seen.byte_order_mark), (2, 1, 1, true));
    }
}
