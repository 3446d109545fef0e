//! The built-in expressions by which a drop notice is known.
//!
//! Each says which words it cannot do without, so that it is compiled only when a text has them.

use std::sync::OnceLock;

use regex::Regex;

use super::Stems;

/// One of the expressions.
pub(super) struct Pattern {
    any: Stems,
    all: Stems,
    text: &'static str,
    cell: OnceLock<Regex>,
}

impl Pattern {
    /// A pattern that matches only texts with any of the words `any`, and with all of `all`.
    const fn new(any: Stems, all: Stems, text: &'static str) -> Self {
        Self { any, all, text, cell: OnceLock::new() }
    }

    /// The expression, if it could match a text with these words.
    pub(super) fn regex(&self, stems: Stems) -> Option<&Regex> {
        (stems.has_any(self.any) && stems.has_all(self.all)).then(|| self.compiled())
    }

    /// The expression, whatever the text.
    pub(super) fn compiled(&self) -> &Regex {
        self.cell.get_or_init(|| compile(self.text))
    }
}

/// Spells out the `<WORDS>` that the patterns share, and compiles without regard to case.
fn compile(pattern: &str) -> Regex {
    let spelled = SHARED.iter().fold(pattern.to_owned(), |text, (word, meaning)| text.replace(word, meaning));
    Regex::new(&format!("(?i){spelled}")).expect("the built-in patterns are valid: a test compiles them all")
}

const NONE: Stems = Stems(0);
const GONE: Stems = Stems::GONE;
const GOING: Stems = Stems::GOING;
const LAGGED: Stems = Stems::LAGGED;
const OVERFLOW: Stems = Stems::OVERFLOW;
const SLOW: Stems = Stems::SLOW;
const KEEP: Stems = Stems::KEEP;
const UP: Stems = Stems::UP;
const DIGIT: Stems = Stems::DIGIT;

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

/// Each has a group that holds the count.
pub(super) static COUNTED: [Pattern; 8] = [
    // dropped 10000 messages; skipped 5 of 100 events; dropping at least 3 events
    Pattern::new(
        GONE.and(GOING),
        DIGIT,
        r"\b(?:<GONE>|<GOING>)[\s:=]*<ABOUT><N>(?:\s+(?:out\s+)?of\s+[0-9]+)?\s+<THINGS>\b",
    ),
    // skipped 12; dropped: 88 (nothing more is said of the number)
    Pattern::new(GONE.and(GOING), DIGIT, r"\b(?:<GONE>|<GOING>)[\s:=]*<ABOUT><N><END>"),
    // 5 events were dropped; 31 events dropped; lagged, so 3 messages have been lost
    Pattern::new(
        GONE,
        DIGIT,
        r"<N>(?:\s+(?:out\s+)?of\s+[0-9]+)?\s+<THINGS>\s+(?:(?:were|was|have|has|had|got|been|being|are|is|just)\s+)*<GONE>\b",
    ),
    // 5 dropped messages, at the start of a clause or after a subject
    Pattern::new(GONE, DIGIT, r"(?:<START>|<SUBJECT>\s+)<ABOUT><N>\s+<GONE>\s+<THINGS>\b"),
    // dropped=5; "skipped":12; dropped_messages: 5; events_lost=3; lagged=7
    Pattern::new(
        GONE.and(LAGGED).and(OVERFLOW),
        DIGIT,
        r#"\b(?:[a-z]+_)?(?:<GONE>|lagged|overflow)(?:_(?:messages|events|count|total))?(?:"\s*:|"?\s*=)\s*"?<N>(?:[\s,;)\]}"]|$)"#,
    ),
    Pattern::new(
        GONE.and(LAGGED).and(OVERFLOW),
        DIGIT,
        r"\b(?:<GONE>|lagged|overflow)_(?:messages|events|count|total)\s*:\s*<N><END>",
    ),
    // events dropped: 5; dropped events: 5
    Pattern::new(GONE, DIGIT, r"\b(?:<THINGS>\s+<GONE>|<GONE>\s+<THINGS>)\s*[:=]\s*<N><END>"),
    // lagged 42; lagged by 7 events; Lagged(3); overflow: 12
    Pattern::new(
        LAGGED.and(OVERFLOW),
        DIGIT,
        r"\b(?:lagged|overflow|overflowed)[\s:=(]*(?:behind\s+)?(?:by\s+)?<ABOUT><N>(?:\s+<THINGS>\b|<END>)",
    ),
];

/// These speak of discarded events without one.
pub(super) static PLAIN: [Pattern; 9] = [
    // lagged: reconnect with ...; error - client has lagged
    Pattern::new(
        LAGGED,
        NONE,
        r"^\W*(?:(?:error|err|warn|warning|notice|info)\W+)?(?:<SUBJECT>\s+)?(?:too far behind|lagged|lagging too far)\b",
    ),
    // you are reading too slowly
    Pattern::new(
        SLOW,
        NONE,
        r"\b(?:reading|consuming|receiving|draining|read|consume|reads|consumes)[\s_-]+(?:\w+\s+)?too[\s_-]+slow(?:ly)?\b",
    ),
    // client too slow; ConsumerTooSlow; you are too slow
    Pattern::new(
        SLOW,
        NONE,
        r"\b(?:(?:slow)?<READER>|you)(?:'re)?[\s_-]*(?:(?:is|are|was|were|being)[\s_-]+)*too[\s_-]*slow(?:ly)?\b",
    ),
    // slow consumer, reconnect to resume
    Pattern::new(
        SLOW,
        NONE,
        r"<START>(?:(?:error|err|warn|warning)\W+)?(?:you are (?:a )?)?slow[\s_-]*<READER>(?:$|\s*[,;.!()\[]|:(?:\s*[^\s0-9]|$)|\s+[-–—]|\s+(?:detected|disconnect|dropp|evict|kick|lagg|notice|error|warning))",
    ),
    // client cannot keep up
    Pattern::new(
        KEEP,
        KEEP.and(UP),
        r"\b(?:<READER>|you)\s+(?:(?:is|are|was|were)\s+)?(?:cannot|can\s?not|can't|could\s?not|couldn't|unable to|failed to|fails to|failing to|not able to|did not|didn't|not)\s+keep(?:ing)?\s+up\b",
    ),
    // some events were dropped; messages lost
    Pattern::new(
        GONE,
        NONE,
        r"\b<THINGS>\s+(?:(?:were|was|have|has|had|got|been|being|are being)\s+)*<GONE>(?:<END>|\s+(?:because|due|since|as|for|by|on|while|after|from|in)\b)",
    ),
    // dropped messages; you have missed some events
    Pattern::new(
        GONE,
        NONE,
        r"(?:<START>|<SUBJECT>\s+)<GONE>\s+(?:(?:some|several|many|all|the|a few|your|too many)\s+)*<THINGS>(?:<END>|\s+(?:because|due|since|as|for|to)\b)",
    ),
    // dropping messages
    Pattern::new(GOING, NONE, r"\b<GOING>\s+(?:(?:some|several|many|all|the|a few|your|too many)\s+)*<THINGS>\b"),
    // buffer overflow; queue overflowed, reconnect
    Pattern::new(
        OVERFLOW,
        NONE,
        r"^\W*(?:(?:error|err|warn|warning)\W+)?(?:(?:client|send|output|event|message|subscriber|ring|channel|your)\s+)*(?:(?:buffer|queue|channel)\s+)?(?:has\s+)?overflow(?:ed)?(?:$|\s*[,;.!(]|:(?:\s*[^\s0-9]|$)|\s+[-–—])",
    ),
];

/// What takes the statement back, before it in its clause ...
pub(super) static GUARD_BEFORE: Pattern = Pattern::new(
    NONE,
    NONE,
    r"\b(?:no|not|never|without|zero|if|unless|whenever|when|until|once|would|will|can|could|might|cannot|avoids?|avoiding|prevents?|preventing|to avoid|recover(?:ed|ing|s)?|recovery of|replay(?:ed|ing|s)?|re-?s(?:end|ent|ending|ends)|redeliver(?:ed|ing|s)?|restor(?:ed|ing|es)|resum(?:ed|ing|es)|retr(?:y|ied|ying)|catching up|caught up|backfill(?:ed|ing)?|refill(?:ed|ing)?|sending|delivering|delivered|fetching|fetched|filtered)\b|\bsent(?:\s|$)|n't\b",
);

/// ... and after it.
pub(super) static GUARD_AFTER: Pattern = Pattern::new(
    NONE,
    NONE,
    r"^[^.;]*\b(?:filter(?:ed|s)?|duplicates?|recovered|replayed|resent|redelivered|restored|policy|threshold)\b",
);

/// A delay, not a loss: `lagged 12ms`.
pub(super) static LATE: Pattern = Pattern::new(
    NONE,
    NONE,
    r"\blagged\W*(?:behind\W*)?(?:by\W*)?(?:[0-9.,]+\s*(?:ns|us|µs|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?|milliseconds?|bytes?|[kmg]i?b)\b)",
);
