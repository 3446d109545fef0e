//! Control characters made visible: what a server sends cannot drive the terminal of the person who reads it.
//!
//! Escape sequences begin with ESC (U+001B) or, on some terminals, with a C1 control (U+0080 to U+009F); the
//! bidirectional controls of Unicode make text look like other text. All of them are shown, none is passed on.

use std::borrow::Cow;
use std::io::Write;

use wide::u8x16;

/// What becomes of line feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineFeeds {
    /// They stay: the text may have several lines.
    Keep,
    /// They are shown as `\n`: the text must stay on one line.
    Escape,
}

/// Whether a character could change more than its own place on a terminal.
///
/// C0 controls without tab and line feed, DEL, C1 controls, and the characters with the Unicode property
/// `Bidi_Control`: U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
#[must_use]
pub fn is_unsafe(character: char) -> bool {
    match character {
        '\t' | '\n' => false,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => false,
    }
}

/// Appends `text` with its control characters shown: `\r`, `\x1b`, `\u{202e}`. Tabs stay, line feeds as `line_feeds` says.
pub fn escape_controls(out: &mut Vec<u8>, text: &str, line_feeds: LineFeeds) {
    let mut rest = text;
    while let Some((before, character, after)) = split_at(rest, |character| is_shown(character, line_feeds)) {
        out.extend_from_slice(before.as_bytes());
        let shown = match character {
            '\n' => out.write_all(b"\\n"),
            '\r' => out.write_all(b"\\r"),
            ascii if ascii.is_ascii() => write!(out, "\\x{:02x}", u32::from(ascii)),
            other => write!(out, "\\u{{{:x}}}", u32::from(other)),
        };
        shown.expect("a Vec takes every write");
        rest = after;
    }
    out.extend_from_slice(rest.as_bytes());
}

fn is_shown(character: char, line_feeds: LineFeeds) -> bool {
    is_unsafe(character) || (character == '\n' && line_feeds == LineFeeds::Escape)
}

/// The first [unsafe](is_unsafe) character that also is `wanted`, with what is before and after it.
pub(crate) fn split_at_unsafe(text: &str, wanted: impl Fn(char) -> bool) -> Option<(&str, char, &str)> {
    split_at(text, |character| is_unsafe(character) && wanted(character))
}

/// The first character that is to be shown, with what is before and after it. `is_shown` is not asked about characters
/// that no format shows.
fn split_at(text: &str, is_shown: impl Fn(char) -> bool) -> Option<(&str, char, &str)> {
    let mut from = 0;
    loop {
        from += suspect(text.as_bytes().get(from..)?)?;
        let character = text.get(from..)?.chars().next()?;
        let after = from + character.len_utf8();
        if is_shown(character) {
            return Some((&text[..from], character, &text[after..]));
        }
        from = after;
    }
}

/// Where the first byte is with which an unsafe character, or a line feed, can begin.
fn suspect(text: &[u8]) -> Option<usize> {
    let (blocks, rest) = text.as_chunks::<LANES>();
    for (block, start) in blocks.iter().zip((0..).step_by(LANES)) {
        let mask = suspects(block);
        if mask != 0 {
            return Some(start + mask.trailing_zeros() as usize);
        }
    }
    let mut last = [b' '; LANES];
    last[..rest.len()].copy_from_slice(rest);
    let mask = suspects(&last);
    (mask != 0).then(|| text.len() - rest.len() + mask.trailing_zeros() as usize)
}

/// Bytes that are looked at at a time.
const LANES: usize = 16;

/// A bit for each byte that is a C0 control but not a tab, or DEL, or with which the UTF-8 of a C1 control (C2), of
/// U+061C (D8) or of another bidirectional control (E2) begins.
#[inline]
fn suspects(block: &[u8; LANES]) -> u32 {
    let bytes = u8x16::new(*block);
    let is = |byte: u8| bytes.simd_eq(u8x16::splat(byte));
    let control = bytes.min(u8x16::splat(0x1f)).simd_eq(bytes) & !is(b'\t');
    (control | is(0x7f) | is(0xc2) | is(0xd8) | is(0xe2)).to_bitmask()
}

/// The text with its control characters shown, on one line; borrowed where there are none.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    if split_at(text, |character| is_shown(character, LineFeeds::Escape)).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    escape_controls(&mut out, text, LineFeeds::Escape);
    Cow::Owned(String::from_utf8(out).expect("whole characters were copied or replaced by ASCII"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str, line_feeds: LineFeeds) -> String {
        let mut out = Vec::new();
        escape_controls(&mut out, text, line_feeds);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn sequences_that_drive_a_terminal_are_shown() {
        // Colour, window title (OSC, ended by BEL), and the same two begun by C1 controls.
        assert_eq!(one_line("\u{1b}[31mred\u{1b}[0m"), "\\x1b[31mred\\x1b[0m");
        assert_eq!(one_line("\u{1b}]0;mine\u{7}"), "\\x1b]0;mine\\x07");
        assert_eq!(one_line("\u{9b}31m \u{9d}0;mine\u{9c}"), "\\u{9b}31m \\u{9d}0;mine\\u{9c}");
        // Back to the start of the line, back one place, delete, end of file.
        assert_eq!(one_line("a\rb\u{8}c\u{7f}d\0"), "a\\rb\\x08c\\x7fd\\x00");
    }

    #[test]
    fn bidirectional_controls_are_shown() {
        let all = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
        let expected = "\\u{61c}\\u{200e}\\u{200f}\\u{202a}\\u{202b}\\u{202c}\\u{202d}\\u{202e}\
                        \\u{2066}\\u{2067}\\u{2068}\\u{2069}";
        assert_eq!(one_line(all), expected);
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        let text = "tab\there, „quoted“, \u{200d}joined, 漢字, \u{2028}, \u{fffd} \\n";
        assert!(matches!(one_line(text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn line_feeds_stay_only_where_they_may() {
        assert_eq!(shown("a\nb", LineFeeds::Keep), "a\nb");
        assert_eq!(shown("a\nb", LineFeeds::Escape), "a\\nb");
    }

    #[test]
    fn every_unsafe_character_is_found_wherever_it_stands() {
        let all = (0..=0x2fff).filter_map(char::from_u32).filter(|&character| is_unsafe(character));
        for character in all {
            for before in [0, 1, 14, 15, 16, 31, 40] {
                let text = format!("{}{character}é", "漢".repeat(before));
                let expected = ("漢".repeat(before), character, "é".to_owned());
                let found = split_at_unsafe(&text, |_| true);
                assert_eq!(found.map(|(before, at, after)| (before.to_owned(), at, after.to_owned())), Some(expected));
            }
        }
    }

    proptest! {
        #[test]
        fn escapes_are_those_of_each_character(text in "[ -~\t\n\r\u{1b}\u{7f}-\u{9f}é\u{61c}漢\u{2028}\u{202e}\u{2066}\u{feff}]{0,60}") {
            let slowly: String = text
                .chars()
                .map(|character| match character {
                    '\n' => "\\n".to_owned(),
                    '\r' => "\\r".to_owned(),
                    other if !is_unsafe(other) => other.to_string(),
                    other if other.is_ascii() => format!("\\x{:02x}", u32::from(other)),
                    other => format!("\\u{{{:x}}}", u32::from(other)),
                })
                .collect();
            prop_assert_eq!(shown(&text, LineFeeds::Escape), slowly);
        }

        #[test]
        fn nothing_unsafe_is_left(text in any::<String>()) {
            let one = one_line(&text);
            prop_assert!(!one.contains('\n') && !one.chars().any(is_unsafe));
            prop_assert!(!shown(&text, LineFeeds::Keep).chars().any(is_unsafe));
        }
    }
}
