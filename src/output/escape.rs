//! Control characters made visible: what a server sends cannot drive the terminal of the person who reads it.
//!
//! Escape sequences begin with ESC (U+001B) or, on some terminals, with a C1 control (U+0080 to U+009F); the
//! bidirectional controls of Unicode make text look like other text. All of them are shown, none is passed on.

use std::borrow::Cow;
use std::io::Write;

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
    let mut copied = 0;
    for (at, character) in text.char_indices() {
        let line_feed = character == '\n' && line_feeds == LineFeeds::Escape;
        if !line_feed && !is_unsafe(character) {
            continue;
        }
        out.extend_from_slice(&text.as_bytes()[copied..at]);
        copied = at + character.len_utf8();
        let shown = match character {
            '\n' => out.write_all(b"\\n"),
            '\r' => out.write_all(b"\\r"),
            ascii if ascii.is_ascii() => write!(out, "\\x{:02x}", u32::from(ascii)),
            other => write!(out, "\\u{{{:x}}}", u32::from(other)),
        };
        shown.expect("a Vec takes every write");
    }
    out.extend_from_slice(&text.as_bytes()[copied..]);
}

/// The text with its control characters shown, on one line; borrowed where there are none.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|character| character == '\n' || is_unsafe(character)) {
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

    proptest! {
        #[test]
        fn nothing_unsafe_is_left(text in any::<String>()) {
            let one = one_line(&text);
            prop_assert!(!one.contains('\n') && !one.chars().any(is_unsafe));
            prop_assert!(!shown(&text, LineFeeds::Keep).chars().any(is_unsafe));
        }
    }
}
