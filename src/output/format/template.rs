//! `-o TEMPLATE`: the words of the user with the parts of an event in them.

use std::fmt;

use super::Plain;
use crate::consumer::delivery::EventRecord;
use crate::output::time::TimeText;

/// The placeholders, for messages.
pub(super) const PLACEHOLDERS: &str = "`{id}`, `{event}`, `{data}`, `{stream}`, `{time}`";

/// A template that was read: `{id} {event} {data} {stream} {time}`, `\n`, `\t`, `\\`, and `{{`, `}}` for braces.
///
/// Each event ends with a line feed, whether the template says so or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Id,
    Event,
    Data,
    Stream,
    Time,
}

/// Why a text is not a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadTemplate {
    /// A placeholder that does not exist; holds the name in the braces.
    UnknownPlaceholder(String),
    /// An escape that does not exist; holds the character after the backslash, `None` at the end.
    UnknownEscape(Option<char>),
    /// A `{` without a `}`, or a `}` without a `{`.
    LoneBrace(char),
}

impl fmt::Display for BadTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPlaceholder(name) => {
                write!(f, "`{{{name}}}` is not a placeholder: there are {PLACEHOLDERS}; write `{{{{` for a brace")
            }
            Self::UnknownEscape(Some(escape)) => {
                write!(f, "`\\{escape}` is not an escape: there are `\\n`, `\\t` and `\\\\`")
            }
            Self::UnknownEscape(None) => f.write_str("it ends with a lone `\\`: write `\\\\` for a backslash"),
            Self::LoneBrace(brace) => write!(f, "a `{brace}` stands alone: write `{brace}{brace}` for a brace"),
        }
    }
}

impl std::error::Error for BadTemplate {}

/// What a template needs besides the event.
pub(super) struct Context<'a> {
    pub(super) time: &'a mut TimeText,
    pub(super) stream: &'a str,
    pub(super) plain: Plain,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// [`BadTemplate`] says what is wrong with it.
    pub fn parse(template: &str) -> Result<Self, BadTemplate> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut rest = template;
        while let Some(character) = rest.chars().next() {
            rest = &rest[character.len_utf8()..];
            match character {
                '\\' => text.push(escape(&mut rest)?),
                '{' | '}' if rest.starts_with(character) => {
                    rest = &rest[1..];
                    text.push(character);
                }
                '{' => {
                    let placeholder = placeholder(&mut rest)?;
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    pieces.push(placeholder);
                }
                '}' => return Err(BadTemplate::LoneBrace('}')),
                other => text.push(other),
            }
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        pieces.push(Piece::Text(text));
        Ok(Self(pieces))
    }

    /// Whether any part of the event is written.
    pub(super) fn has_placeholder(&self) -> bool {
        self.0.iter().any(|piece| !matches!(piece, Piece::Text(_)))
    }

    /// Whether the id is written.
    pub(super) fn has_id(&self) -> bool {
        self.0.contains(&Piece::Id)
    }

    /// Appends an event.
    pub(super) fn event(&self, batch: &mut Vec<u8>, event: &EventRecord<'_>, context: Context<'_>) {
        let Context { time, stream, plain } = context;
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => batch.extend_from_slice(text.as_bytes()),
                Piece::Id => plain.push(batch, event.id.unwrap_or_default()),
                Piece::Event => plain.push(batch, event.event),
                Piece::Data => plain.push(batch, event.data),
                Piece::Stream => plain.push(batch, stream),
                Piece::Time => batch.extend_from_slice(time.of(event.time)),
            }
        }
    }
}

/// Takes the character after a backslash.
fn escape(rest: &mut &str) -> Result<char, BadTemplate> {
    let escape = rest.chars().next();
    let meant = match escape {
        Some('n') => '\n',
        Some('t') => '\t',
        Some('\\') => '\\',
        _ => return Err(BadTemplate::UnknownEscape(escape)),
    };
    *rest = &rest[1..];
    Ok(meant)
}

/// Takes a name and its closing brace.
fn placeholder(rest: &mut &str) -> Result<Piece, BadTemplate> {
    let (name, after) = rest.split_once('}').ok_or(BadTemplate::LoneBrace('{'))?;
    *rest = after;
    match name {
        "id" => Ok(Piece::Id),
        "event" => Ok(Piece::Event),
        "data" => Ok(Piece::Data),
        "stream" => Ok(Piece::Stream),
        "time" => Ok(Piece::Time),
        _ => Err(BadTemplate::UnknownPlaceholder(name.to_owned())),
    }
}
