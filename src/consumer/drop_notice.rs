//! Whether the server says that it discarded events, and how many (rule 4).
//!
//! Reads the text of a comment, or type and data of an event that may be a drop event. Whether such an event was
//! delivered before, and what follows from a notice, it must never know. Texts that servers send are in
//! `tests/data/comments.json`; the patterns here are meant to cover their kin.

use regex::{Captures, Regex};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::LazyLock;

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
    events: BTreeSet<String>,
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
        if !self.events.contains(event_type) {
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
                None => said = Some(counted(head(text)).unwrap_or(Said::Uncounted).better(said)),
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

fn head(text: &str) -> &str {
    let end = (0..=TEXT_BYTES_MAX.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

fn by_default(text: &str) -> Option<Said> {
    let text = head(text);
    counted(text).or_else(|| plain(text).then_some(Said::Uncounted))
}

/// The count that a text announces: the first that is not 0, or `Zero` if all are.
fn counted(text: &str) -> Option<Said> {
    let mut said = None;
    for captures in PATTERNS.counted.iter().flat_map(|regex| regex.captures_iter(text)) {
        if is_guarded(text, &captures) {
            continue;
        }
        let number = captures.name(COUNT_GROUP).map_or("", |group| group.as_str());
        said = Some(Said::of(number).better(said));
    }
    said
}

/// Whether a text speaks of discarded events without a count.
fn plain(text: &str) -> bool {
    let mut matches = PATTERNS.plain.iter().filter_map(|regex| regex.captures(text));
    matches.any(|captures| !is_guarded(text, &captures)) && !PATTERNS.late.is_match(text)
}

/// Whether what stands before the match in its clause takes the statement back (`if`, `no`, `recovered`), or what
/// follows says that it was meant so (`filtered`).
fn is_guarded(text: &str, captures: &Captures<'_>) -> bool {
    let Some(all) = captures.get(0) else {
        return false;
    };
    let before = &text[..all.start()];
    let clause = before.rfind([',', ';', ':', '.', '!', '(']).map_or(before, |at| &before[at + 1..]);
    PATTERNS.guard_before.is_match(clause) || PATTERNS.guard_after.is_match(&text[all.end()..])
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

static PATTERNS: LazyLock<Patterns> = LazyLock::new(Patterns::new);

/// The built-in expressions.
struct Patterns {
    /// Each has a group that holds the count.
    counted: Vec<Regex>,
    /// These speak of discarded events without one.
    plain: Vec<Regex>,
    guard_before: Regex,
    guard_after: Regex,
    /// A delay, not a loss: `lagged 12ms`.
    late: Regex,
}

impl Patterns {
    fn new() -> Self {
        Self {
            counted: compiled(&COUNTED),
            plain: compiled(&PLAIN),
            guard_before: compile(GUARD_BEFORE),
            guard_after: compile(GUARD_AFTER),
            late: compile(LATE),
        }
    }
}

fn compiled(patterns: &[&str]) -> Vec<Regex> {
    patterns.iter().copied().map(compile).collect()
}

/// Spells out the `<WORDS>` that the patterns share, and compiles without regard to case.
fn compile(pattern: &str) -> Regex {
    let spelled = SHARED.iter().fold(pattern.to_owned(), |text, (word, meaning)| text.replace(word, meaning));
    Regex::new(&format!("(?i){spelled}")).expect("the built-in patterns are valid: a test compiles them all")
}

/// Words of the patterns below, in the order in which they are spelled out (earlier ones may use later ones).
const SHARED: [(&str, &str); 9] = [
    (
        "<SUBJECT>",
        r"(?:(?:the |your |this |a )?<READER>|you|we|server|stream|channel)(?: (?:has|have|is|are|was|were|may have|might have|just|already))*",
    ),
    ("<N>", r"\b(?P<dropped>[0-9]{1,3}(?:[,_'][0-9]{3})+|[0-9]+)"),
    (
        "<THINGS>",
        r"(?:(?:pending|queued|buffered|old|older|oldest|unread|undelivered|unsent|live|stream|sse|server-sent|data)\s+)*(?:messages?|msgs?|events?|items?|records?|updates?|notifications?|frames?|entry|entries|lines?|rows?|payloads?)(?:\(s\))?",
    ),
    ("<GONE>", r"(?:dropped|discarded|skipped|lost|missed|evicted|shed|omitted|overwritten|trimmed)"),
    ("<GOING>", r"(?:dropping|discarding|skipping|losing|missing|evicting|shedding|omitting)"),
    (
        "<ABOUT>",
        r"(?:(?:at least|about|around|approximately|approx\.?|over|more than|the|last|next|oldest|first|some|another|a total of|total of|~|≈)\s*)*",
    ),
    ("<END>", r#"\s*(?:$|[,;!)\]}"]|[.:](?:\s|$)|\s[-–—])"#),
    ("<START>", r"(?:^|[,;:.!(\[]\s*|\s[-–—]\s+)\s*"),
    ("<READER>", r"(?:client|consumer|subscriber|reader|receiver|listener|connection|subscription|peer)"),
];

const COUNTED: [&str; 8] = [
    // dropped 10000 messages; skipped 5 of 100 events; dropping at least 3 events
    r"\b(?:<GONE>|<GOING>)[\s:=]*<ABOUT><N>(?:\s+(?:out\s+)?of\s+[0-9]+)?\s+<THINGS>\b",
    // skipped 12; dropped: 88 (nothing more is said of the number)
    r"\b(?:<GONE>|<GOING>)[\s:=]*<ABOUT><N><END>",
    // 5 events were dropped; 31 events dropped; lagged, so 3 messages have been lost
    r"<N>(?:\s+(?:out\s+)?of\s+[0-9]+)?\s+<THINGS>\s+(?:(?:were|was|have|has|had|got|been|being|are|is|just)\s+)*<GONE>\b",
    // 5 dropped messages, at the start of a clause or after a subject
    r"(?:<START>|<SUBJECT>\s+)<ABOUT><N>\s+<GONE>\s+<THINGS>\b",
    // dropped=5; "skipped":12; dropped_messages: 5; events_lost=3; lagged=7
    r#"\b(?:[a-z]+_)?(?:<GONE>|lagged|overflow)(?:_(?:messages|events|count|total))?(?:"\s*:|"?\s*=)\s*"?<N>(?:[\s,;)\]}"]|$)"#,
    r"\b(?:<GONE>|lagged|overflow)_(?:messages|events|count|total)\s*:\s*<N><END>",
    // events dropped: 5; dropped events: 5
    r"\b(?:<THINGS>\s+<GONE>|<GONE>\s+<THINGS>)\s*[:=]\s*<N><END>",
    // lagged 42; lagged by 7 events; Lagged(3); overflow: 12
    r"\b(?:lagged|overflow|overflowed)[\s:=(]*(?:behind\s+)?(?:by\s+)?<ABOUT><N>(?:\s+<THINGS>\b|<END>)",
];

const PLAIN: [&str; 9] = [
    // lagged: reconnect with ...; error - client has lagged
    r"^\W*(?:(?:error|err|warn|warning|notice|info)\W+)?(?:<SUBJECT>\s+)?(?:too far behind|lagged|lagging too far)\b",
    // you are reading too slowly
    r"\b(?:reading|consuming|receiving|draining|read|consume|reads|consumes)[\s_-]+(?:\w+\s+)?too[\s_-]+slow(?:ly)?\b",
    // client too slow; ConsumerTooSlow; you are too slow
    r"\b(?:(?:slow)?<READER>|you)(?:'re)?[\s_-]*(?:(?:is|are|was|were|being)[\s_-]+)*too[\s_-]*slow(?:ly)?\b",
    // slow consumer, reconnect to resume
    r"<START>(?:(?:error|err|warn|warning)\W+)?(?:you are (?:a )?)?slow[\s_-]*<READER>(?:$|\s*[,;.!()\[]|:(?:\s*[^\s0-9]|$)|\s+[-–—]|\s+(?:detected|disconnect|dropp|evict|kick|lagg|notice|error|warning))",
    // client cannot keep up
    r"\b(?:<READER>|you)\s+(?:(?:is|are|was|were)\s+)?(?:cannot|can\s?not|can't|could\s?not|couldn't|unable to|failed to|fails to|failing to|not able to|did not|didn't|not)\s+keep(?:ing)?\s+up\b",
    // some events were dropped; messages lost
    r"\b<THINGS>\s+(?:(?:were|was|have|has|had|got|been|being|are being)\s+)*<GONE>(?:<END>|\s+(?:because|due|since|as|for|by|on|while|after|from|in)\b)",
    // dropped messages; you have missed some events
    r"(?:<START>|<SUBJECT>\s+)<GONE>\s+(?:(?:some|several|many|all|the|a few|your|too many)\s+)*<THINGS>(?:<END>|\s+(?:because|due|since|as|for|to)\b)",
    // dropping messages
    r"\b<GOING>\s+(?:(?:some|several|many|all|the|a few|your|too many)\s+)*<THINGS>\b",
    // buffer overflow; queue overflowed, reconnect
    r"^\W*(?:(?:error|err|warn|warning)\W+)?(?:(?:client|send|output|event|message|subscriber|ring|channel|your)\s+)*(?:(?:buffer|queue|channel)\s+)?(?:has\s+)?overflow(?:ed)?(?:$|\s*[,;.!(]|:(?:\s*[^\s0-9]|$)|\s+[-–—])",
];

const GUARD_BEFORE: &str = r"\b(?:no|not|never|without|zero|if|unless|whenever|when|until|once|would|will|can|could|might|cannot|avoids?|avoiding|prevents?|preventing|to avoid|recover(?:ed|ing|s)?|recovery of|replay(?:ed|ing|s)?|re-?s(?:end|ent|ending|ends)|redeliver(?:ed|ing|s)?|restor(?:ed|ing|es)|resum(?:ed|ing|es)|retr(?:y|ied|ying)|catching up|caught up|backfill(?:ed|ing)?|refill(?:ed|ing)?|sending|delivering|delivered|fetching|fetched|filtered)\b|\bsent(?:\s|$)|n't\b";
const GUARD_AFTER: &str =
    r"^[^.;]*\b(?:filter(?:ed|s)?|duplicates?|recovered|replayed|resent|redelivered|restored|policy|threshold)\b";
const LATE: &str = r"\blagged\W*(?:behind\W*)?(?:by\W*)?(?:[0-9.,]+\s*(?:ns|us|µs|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?|milliseconds?|bytes?|[kmg]i?b)\b)";

#[cfg(test)]
mod tests;
