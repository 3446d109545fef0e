//! Whether the server says that it discarded events, and how many (rule 4).
//!
//! Reads the text of a comment, or type and data of an event that may be a drop event. Whether such an event was
//! delivered before, and what follows from a notice, it must never know. Texts that servers send are in
//! `tests/data/comments.json`; the patterns here are meant to cover their kin.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::{Captures, Regex};
use serde_json::Value;

mod patterns;

use patterns::{COUNTED, GUARD_AFTER, GUARD_BEFORE, LATE, PLAIN};

/// Event types that are drop notices unless the defaults are off.
pub const DROP_EVENTS: [&str; 3] = ["lagged", "overflow", "slow_consumer"];

/// Event types by which a server says that the cursor is expired.
pub const RESET_EVENTS: [&str; 4] = ["stream-reset", "resync", "resync_required", "reload_required"];

/// The defaults look at this much of a comment; a notice is one short sentence, padding may be megabytes.
const TEXT_BYTES_MAX: usize = 4096;

/// The name of the group of a user's expression that holds the count.
const COUNT_GROUP: &str = "dropped";

/// A server's word that it discarded events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// How many, where it says so; never 0.
    pub count: Option<u64>,
}

/// Whether an event of this type says that the server no longer has the cursor.
#[must_use]
pub fn is_reset_event(event_type: &str) -> bool {
    RESET_EVENTS.contains(&event_type)
}

/// What counts as a drop notice on one stream.
#[derive(Clone, Debug)]
pub struct DropNotices {
    defaults: bool,
    extra: Vec<Regex>,
    events: Vec<String>,
}

impl DropNotices {
    /// The built-in patterns and event types if `defaults`, and the user's expressions (`--drop-notice`).
    #[must_use]
    pub fn new(defaults: bool, extra: &[Regex]) -> Self {
        let events = DROP_EVENTS.iter().filter(|_| defaults).map(|&name| name.to_owned()).collect();
        Self { defaults, extra: extra.to_vec(), events }
    }

    /// Adds the user's own event types (`--drop-event`).
    #[must_use]
    pub fn with_events(mut self, types: impl IntoIterator<Item = String>) -> Self {
        self.events.extend(types);
        self
    }

    /// Reads a comment: what follows its colon and one space. A count of 0 makes it no notice, whoever says it.
    #[must_use]
    pub fn comment(&self, text: &str) -> Option<Dropped> {
        let said = self.by_user(text).or_else(|| by_default(text).filter(|_| self.defaults));
        said.and_then(Said::notice)
    }

    /// Reads an event; `None` if its type is no drop event, or if it announces 0.
    ///
    /// The count is the data where that is a bare number, else the number under the first of `dropped`, `skipped`,
    /// `missed`, `lagged` and `count` in a JSON object, else what the data would announce as a comment.
    #[must_use]
    pub fn event(&self, event_type: &str, data: &str) -> Option<Dropped> {
        if !self.events.iter().any(|name| name == event_type) {
            return None;
        }
        let said = by_json(data).or_else(|| self.by_user(data)).or_else(|| by_default(data));
        said.unwrap_or(Said::Uncounted).notice()
    }

    fn by_user(&self, text: &str) -> Option<Said> {
        let mut said = None;
        for captures in self.extra.iter().filter_map(|regex| regex.captures(text)) {
            match captures.name(COUNT_GROUP) {
                Some(group) => said = Some(Said::of(group.as_str()).better(said)),
                None => said = Some(counted_by_user(text).better(said)),
            }
        }
        said
    }
}

/// What a text says of a count. The order is that of what we would rather believe of one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    Zero,
    Uncounted,
    Count(u64),
}

impl Said {
    /// A number with or without separators of thousands. One that no `u64` holds is no count we could report.
    fn of(number: &str) -> Self {
        let digits: String = number.chars().filter(|c| !matches!(c, ',' | '_' | '\'')).collect();
        match digits.trim().parse() {
            Ok(0) => Self::Zero,
            Ok(count) => Self::Count(count),
            Err(_) => Self::Uncounted,
        }
    }

    /// The first real count wins; else a zero, which is a plain statement, over none at all.
    fn better(self, earlier: Option<Self>) -> Self {
        match (earlier, self) {
            (Some(count @ Self::Count(_)), _) | (_, count @ Self::Count(_)) => count,
            (Some(Self::Zero), _) | (_, Self::Zero) => Self::Zero,
            _ => Self::Uncounted,
        }
    }

    fn notice(self) -> Option<Dropped> {
        match self {
            Self::Zero => None,
            Self::Uncounted => Some(Dropped { count: None }),
            Self::Count(count) => Some(Dropped { count: Some(count) }),
        }
    }
}

fn counted_by_user(text: &str) -> Said {
    let text = head(text);
    counted(text, Stems::of(text)).unwrap_or(Said::Uncounted)
}

fn head(text: &str) -> &str {
    let end = (0..=TEXT_BYTES_MAX.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

fn by_default(text: &str) -> Option<Said> {
    let text = head(text);
    let stems = Stems::of(text);
    counted(text, stems).or_else(|| plain(text, stems).then_some(Said::Uncounted))
}

/// The count that a text announces: the first that is not 0, or `Zero` if all are.
fn counted(text: &str, stems: Stems) -> Option<Said> {
    let mut said = None;
    for captures in
        COUNTED.iter().filter_map(|pattern| pattern.regex(stems)).flat_map(|regex| regex.captures_iter(text))
    {
        if is_guarded(text, &captures) {
            continue;
        }
        let number = captures.name(COUNT_GROUP).map_or("", |group| group.as_str());
        said = Some(Said::of(number).better(said));
    }
    said
}

/// Whether a text speaks of discarded events without a count.
fn plain(text: &str, stems: Stems) -> bool {
    let mut matches = PLAIN.iter().filter_map(|pattern| pattern.regex(stems)?.captures(text));
    matches.any(|captures| !is_guarded(text, &captures)) && !LATE.compiled().is_match(text)
}

/// Whether what stands before the match in its clause takes the statement back (`if`, `no`, `recovered`), or what
/// follows says that it was meant so (`filtered`).
fn is_guarded(text: &str, captures: &Captures<'_>) -> bool {
    let Some(all) = captures.get(0) else {
        return false;
    };
    let before = &text[..all.start()];
    let clause = before.rfind([',', ';', ':', '.', '!', '(']).map_or(before, |at| &before[at + 1..]);
    GUARD_BEFORE.compiled().is_match(clause) || GUARD_AFTER.compiled().is_match(&text[all.end()..])
}

/// The count in data that is JSON: a bare number, or an object's field.
fn by_json(data: &str) -> Option<Said> {
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_u64().map(|count| Said::of(&count.to_string())),
        Value::String(text) => text.parse::<u64>().ok().map(|count| Said::of(&count.to_string())),
        _ => None,
    };
    let json: Value = serde_json::from_str(data).ok()?;
    let fields = ["dropped", "skipped", "missed", "lagged", "count"];
    match &json {
        Value::Object(object) => fields.iter().find_map(|&field| number(object.get(field)?)),
        bare => number(bare),
    }
}

/// Which of the words that the built-in patterns cannot do without a text has.
///
/// Compiling all patterns takes longer than everything else at the start of a run, and most comments are heartbeats. So
/// a text is searched for these words first, and only those patterns that could match are compiled, once each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stems(u8);

impl Stems {
    /// `dropped`, `lost`, ...
    const GONE: Self = Self(1);
    /// `dropping`, `losing`, ...
    const GOING: Self = Self(1 << 1);
    const LAGGED: Self = Self(1 << 2);
    const OVERFLOW: Self = Self(1 << 3);
    const SLOW: Self = Self(1 << 4);
    const KEEP: Self = Self(1 << 5);
    const UP: Self = Self(1 << 6);
    const DIGIT: Self = Self(1 << 7);
    const ALL: Self = Self(u8::MAX);

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn has_any(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    fn has_all(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    fn of(text: &str) -> Self {
        static SEARCH: OnceLock<AhoCorasick> = OnceLock::new();
        let search = SEARCH.get_or_init(|| {
            let words = STEMS.iter().map(|(word, _)| word);
            let builder =
                AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::Standard).build(words);
            builder.expect("a few short words are not too many")
        });
        let digit = if text.bytes().any(|byte| byte.is_ascii_digit()) { Self::DIGIT } else { Self(0) };
        let found = search.find_overlapping_iter(text).map(|found| STEMS[found.pattern().as_usize()].1);
        found.fold(digit, Self::and)
    }
}

/// Every alternative of the patterns' `<GONE>` and `<GOING>` begins with, or is, one of these. The last two are the
/// characters beyond ASCII that a pattern takes for an `s` or a `k`: with one of them anything may match.
const STEMS: [(&str, Stems); 27] = [
    ("dropped", Stems::GONE),
    ("discarded", Stems::GONE),
    ("skipped", Stems::GONE),
    ("lost", Stems::GONE),
    ("missed", Stems::GONE),
    ("evicted", Stems::GONE),
    ("shed", Stems::GONE),
    ("omitted", Stems::GONE),
    ("overwritten", Stems::GONE),
    ("trimmed", Stems::GONE),
    ("dropping", Stems::GOING),
    ("discarding", Stems::GOING),
    ("skipping", Stems::GOING),
    ("losing", Stems::GOING),
    ("missing", Stems::GOING),
    ("evicting", Stems::GOING),
    ("shedding", Stems::GOING),
    ("omitting", Stems::GOING),
    ("lagged", Stems::LAGGED),
    ("lagging", Stems::LAGGED),
    ("too far behind", Stems::LAGGED),
    ("overflow", Stems::OVERFLOW),
    ("slow", Stems::SLOW),
    ("keep", Stems::KEEP),
    ("up", Stems::UP),
    ("\u{17f}", Stems::ALL),
    ("\u{212a}", Stems::ALL),
];

#[cfg(test)]
mod tests;
