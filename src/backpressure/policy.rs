//! The rules: which event type is treated how, and how a person writes it.
//!
//! A rule is `TYPE=KIND[:ARGUMENT][,NAME=VALUE]…`, as in `price=coalesce:/sym`. `*` is every type that has no rule of
//! its own; all of them share one rule, so that types nobody thought of cannot add up.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::consumer::pointer::Pointer;

/// How many events a `buffer` holds unless told otherwise.
pub const FRAMES_DEFAULT: usize = 1024;
/// How many keys a `coalesce` or `resnapshot` type may have unless told otherwise.
pub const KEYS_DEFAULT: usize = 1024;
/// How many bytes wait for one reader unless told otherwise, [`super::queue::ENTRY_BYTES`] for each entry included.
pub const QUEUE_BYTES_DEFAULT: usize = 1 << 20;
/// The type that stands for all without a rule of their own.
pub const OTHERS: &str = "*";
/// The type of what stands between events, such as comments. No event has it (HTML standard, section 9.2.6: an empty type
/// is dispatched as `message`).
pub const NO_TYPE: &str = "";

/// What happens to an event for which a `buffer` has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// The stream ends; the reader comes again and goes on after its last id.
    Disconnect,
    /// It is discarded, and the next until the reader has come to the hole; there a comment says how many.
    Notice,
}

/// How a type is treated while its reader is slow. A reader that keeps up gets everything, whatever the kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The newest event of each key waits; it replaces the one that waited. For state: prices, positions, progress.
    ///
    /// An event in which the pointer leads to no value is a key of its own. More keys than this end the stream.
    Coalesce {
        /// Where in the data the key stands.
        pointer: Pointer,
        /// How many keys may wait.
        keys: usize,
    },
    /// Every event waits, in order. For what must all arrive: trades, log lines.
    Buffer {
        /// How many may wait.
        frames: usize,
        /// What happens to the next.
        overflow: Overflow,
    },
    /// None waits, and nobody is told. For what is worthless when late.
    Drop,
    /// None waits. When the reader has come so far, one snapshot stands for all that were discarded: the newest event
    /// of each key, or of the type.
    Resnapshot {
        /// Where in the data the key stands, if the type has keys.
        pointer: Option<Pointer>,
        /// How many keys a snapshot holds; the one that was set longest ago goes first.
        keys: usize,
    },
}

impl Kind {
    /// Events of this kind are state: the newest of a key says all that the older ones said.
    #[must_use]
    pub fn is_state(&self) -> bool {
        matches!(self, Self::Coalesce { .. } | Self::Resnapshot { .. })
    }

    /// The word for it in a rule.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Coalesce { .. } => "coalesce",
            Self::Buffer { .. } => "buffer",
            Self::Drop => "drop",
            Self::Resnapshot { .. } => "resnapshot",
        }
    }

    /// Reads what stands behind `TYPE=`.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub fn parse(text: &str) -> Result<Self, BadPolicy> {
        let (head, options) = split_options(text);
        let (word, argument) = head.split_once(':').map_or((head, None), |(word, argument)| (word, Some(argument)));
        let mut options = Options(options);
        let kind = match (word, argument) {
            ("coalesce", Some(pointer)) => Self::Coalesce { pointer: key_pointer(pointer)?, keys: options.keys()? },
            ("coalesce", None) => {
                return Err(BadPolicy::new("`coalesce` needs the place of its key, as in `coalesce:/sym`"));
            }
            ("buffer", frames) => {
                let frames = frames.map_or(Ok(FRAMES_DEFAULT), |frames| count("buffer", frames))?;
                Self::Buffer { frames, overflow: options.overflow()? }
            }
            ("drop", None) => Self::Drop,
            ("drop", Some(_)) => return Err(BadPolicy::new("`drop` takes no argument")),
            ("resnapshot", pointer) => {
                Self::Resnapshot { pointer: pointer.map(key_pointer).transpose()?, keys: options.keys()? }
            }
            (other, _) => {
                let why = format!("`{other}` is no policy; there are `coalesce`, `buffer`, `drop` and `resnapshot`");
                return Err(BadPolicy(why));
            }
        };
        options.none_left(word)?;
        Ok(kind)
    }

    /// The same for [`Policies::of_own_reader`].
    fn parse_of_own_reader(text: &str) -> Result<Self, BadPolicy> {
        let kind = Self::parse(text)?;
        if let Some((name, _)) = split_options(text).1.first() {
            return Err(BadPolicy(format!("`{name}` is an option of `serve`; here all keys wait, however many")));
        }
        match kind {
            Self::Coalesce { pointer, .. } => Ok(Self::Coalesce { pointer, keys: usize::MAX }),
            Self::Drop => Ok(kind),
            Self::Buffer { .. } => Err(BadPolicy::new(
                "`buffer` is a policy of `serve`; here what has no policy waits, and nothing of it is lost",
            )),
            Self::Resnapshot { .. } => Err(BadPolicy::new(
                "`resnapshot` is a policy of `serve`; `coalesce:/POINTER` keeps the newest event of each key",
            )),
        }
    }
}

impl Default for Kind {
    /// 1,024 events, then the end of the stream: nothing is lost that the log has.
    fn default() -> Self {
        Self::Buffer { frames: FRAMES_DEFAULT, overflow: Overflow::Disconnect }
    }
}

/// What is wrong with a rule, as the rest of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPolicy(String);

impl BadPolicy {
    fn new(why: &str) -> Self {
        Self(why.to_owned())
    }
}

impl fmt::Display for BadPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadPolicy {}

/// A pointer may hold commas: an option is only what follows one and has a known name.
fn split_options(text: &str) -> (&str, Vec<(&str, &str)>) {
    let mut head = text;
    let mut options = Vec::new();
    while let Some((before, last)) = head.rsplit_once(',') {
        match last.split_once('=') {
            Some((name, value)) if !name.contains('/') => options.push((name, value)),
            _ => break,
        }
        head = before;
    }
    options.reverse();
    (head, options)
}

fn split_rule(text: &str) -> Result<(&str, &str), BadPolicy> {
    text.split_once('=')
        .filter(|(event, _)| !event.is_empty())
        .ok_or_else(|| BadPolicy::new("a policy is written `TYPE=KIND`, as in `price=coalesce:/sym`"))
}

fn key_pointer(text: &str) -> Result<Pointer, BadPolicy> {
    Pointer::parse(text).map_err(|why| BadPolicy(format!("`{text}` is no JSON pointer: {why}")))
}

fn count(name: &str, text: &str) -> Result<usize, BadPolicy> {
    match text.parse() {
        Ok(0) | Err(_) => Err(BadPolicy(format!("`{text}` is no number of at least 1, which `{name}` needs"))),
        Ok(count) => Ok(count),
    }
}

/// The options of a rule that nobody has asked for yet.
struct Options<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Options<'a> {
    fn take(&mut self, name: &str) -> Option<&'a str> {
        let at = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.remove(at).1)
    }

    fn keys(&mut self) -> Result<usize, BadPolicy> {
        self.take("keys").map_or(Ok(KEYS_DEFAULT), |text| count("keys", text))
    }

    fn overflow(&mut self) -> Result<Overflow, BadPolicy> {
        match self.take("overflow") {
            None | Some("disconnect") => Ok(Overflow::Disconnect),
            Some("notice") => Ok(Overflow::Notice),
            Some(other) => Err(BadPolicy(format!("`overflow` is `disconnect` or `notice`, not `{other}`"))),
        }
    }

    fn none_left(&self, word: &str) -> Result<(), BadPolicy> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(BadPolicy(format!("`{word}` has no option `{name}`"))),
        }
    }
}

/// Names a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleIndex(u32);

impl RuleIndex {
    /// Its number, from 0; less than [`Policies::len`].
    #[must_use]
    pub fn number(self) -> usize {
        self.0 as usize
    }

    fn new(number: usize) -> Self {
        Self(u32::try_from(number).expect("nobody writes four thousand million rules"))
    }
}

/// Where an event belongs: found once, used for every reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Its rule.
    pub rule: RuleIndex,
    /// Its key (its type and the value at the pointer), for state; `None` if it has none.
    pub key: Option<Arc<str>>,
}

#[derive(Debug)]
struct Rule {
    event: String,
    kind: Kind,
    /// Types of this rule keep their order with those of another.
    together: bool,
}

#[derive(Debug)]
struct Rules {
    rules: Vec<Rule>,
    by_type: BTreeMap<String, RuleIndex>,
    queue_bytes_max: usize,
}

/// All rules of a stream. A clone is the same rules.
#[derive(Clone, Debug)]
pub struct Policies(Arc<Rules>);

impl Default for Policies {
    fn default() -> Self {
        Builder::default().build()
    }
}

impl Policies {
    /// The rules of these texts, each `TYPE=KIND…`; without one for `*`, [`Kind::default`] is the rule for the rest.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, BadPolicy> {
        let mut builder = Builder::default();
        for text in texts {
            builder.rule(text)?;
        }
        Ok(builder.build())
    }

    /// The rules of these texts for a reader that whoever applies them waits for: of a type with a rule the newest of each
    /// key waits (`coalesce:/POINTER`), or nothing (`drop`). All else waits, however much that is; so does [`NO_TYPE`].
    ///
    /// # Errors
    /// What is wrong with one of them, or that it only makes sense in a server.
    pub fn of_own_reader<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, BadPolicy> {
        let mut builder = Builder::default();
        builder.queue_bytes_max(usize::MAX);
        for text in texts {
            let (event, kind) = split_rule(text)?;
            builder.insert(event, Kind::parse_of_own_reader(kind)?)?;
        }
        let keep = Kind::Buffer { frames: usize::MAX, overflow: Overflow::Disconnect };
        builder.kinds.insert(NO_TYPE.to_owned(), keep.clone());
        builder.kinds.entry(OTHERS.to_owned()).or_insert(keep);
        Ok(builder.build())
    }

    /// How many rules there are, at least one.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always the rule for the rest")]
    pub fn len(&self) -> usize {
        self.0.rules.len()
    }

    /// Each rule: the type as it was written, and how it is treated. The last is that of `*`.
    pub fn rules(&self) -> impl Iterator<Item = (RuleIndex, &str, &Kind)> {
        self.0.rules.iter().enumerate().map(|(number, rule)| (RuleIndex::new(number), rule.event.as_str(), &rule.kind))
    }

    /// How a rule's events are treated.
    #[must_use]
    pub fn kind(&self, rule: RuleIndex) -> &Kind {
        &self.0.rules[rule.number()].kind
    }

    /// Types of this rule keep their order with those of another.
    #[must_use]
    pub fn is_together(&self, rule: RuleIndex) -> bool {
        self.0.rules[rule.number()].together
    }

    /// How many bytes may wait for one reader.
    #[must_use]
    pub fn queue_bytes_max(&self) -> usize {
        self.0.queue_bytes_max
    }

    /// The rule of an event, and its key.
    #[must_use]
    pub fn route(&self, event: &str, data: &str) -> Route {
        let others = RuleIndex::new(self.0.rules.len() - 1);
        let rule = self.0.by_type.get(event).copied().unwrap_or(others);
        let value = match self.kind(rule) {
            Kind::Coalesce { pointer, .. } | Kind::Resnapshot { pointer: Some(pointer), .. } => pointer.value(data),
            Kind::Resnapshot { pointer: None, .. } => Some("".into()),
            Kind::Buffer { .. } | Kind::Drop => None,
        };
        // No type has a line break, so no type and value run together.
        Route { rule, key: value.map(|value| format!("{event}\n{value}").into()) }
    }
}

/// Rules that are being put together.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    kinds: BTreeMap<String, Kind>,
    together: Vec<Vec<String>>,
    queue_bytes_max: Option<usize>,
}

impl Builder {
    /// Adds a rule, `TYPE=KIND…`.
    ///
    /// # Errors
    /// What is wrong with it, or that the type has one.
    pub fn rule(&mut self, text: &str) -> Result<(), BadPolicy> {
        let (event, kind) = split_rule(text)?;
        self.add(event, kind)
    }

    /// Adds a rule for a type; `kind` is what stands behind `TYPE=`.
    ///
    /// # Errors
    /// What is wrong with it, or that the type has one.
    pub fn add(&mut self, event: &str, kind: &str) -> Result<(), BadPolicy> {
        self.insert(event, Kind::parse(kind)?)
    }

    fn insert(&mut self, event: &str, kind: Kind) -> Result<(), BadPolicy> {
        match self.kinds.insert(event.to_owned(), kind) {
            None => Ok(()),
            Some(_) => Err(BadPolicy(format!("the type `{event}` has two policies"))),
        }
    }

    /// These types keep their order among each other: a newer event never replaces an older one that waits before
    /// something else of them, but takes its place at the end.
    pub fn together(&mut self, types: impl IntoIterator<Item = String>) {
        self.together.push(types.into_iter().collect());
    }

    /// How many bytes may wait for one reader.
    pub fn queue_bytes_max(&mut self, bytes: usize) {
        self.queue_bytes_max = Some(bytes.max(1));
    }

    /// The rules.
    #[must_use]
    pub fn build(mut self) -> Policies {
        let others = self.kinds.remove(OTHERS).unwrap_or_default();
        let has_own = |event: &String| self.kinds.contains_key(event);
        let all_others = |types: &[String]| types.iter().any(|event| !has_own(event));
        let is_together = |event: &str| self.together.iter().any(|types| types.iter().any(|known| known == event));
        let together_others = self.together.iter().any(|types| all_others(types));
        let mut rules: Vec<_> = (self.kinds.iter())
            .map(|(event, kind)| Rule { event: event.clone(), kind: kind.clone(), together: is_together(event) })
            .collect();
        let by_type =
            rules.iter().enumerate().map(|(number, rule)| (rule.event.clone(), RuleIndex::new(number))).collect();
        rules.push(Rule { event: OTHERS.to_owned(), kind: others, together: together_others });
        let queue_bytes_max = self.queue_bytes_max.unwrap_or(QUEUE_BYTES_DEFAULT);
        Policies(Arc::new(Rules { rules, by_type, queue_bytes_max }))
    }
}
