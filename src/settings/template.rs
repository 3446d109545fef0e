//! Output templates: `{id} {event} {data} {stream} {time}`, `\n` and `\t`, everything else as it stands.

use super::near::nearest;

/// What a template can show of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The last event ID in force.
    Id,
    /// The event type.
    Event,
    /// The data.
    Data,
    /// The stream's name.
    Stream,
    /// When it came.
    Time,
}

/// The placeholders and their names.
const FIELDS: [(&str, Field); 5] = [
    ("id", Field::Id),
    ("event", Field::Event),
    ("data", Field::Data),
    ("stream", Field::Stream),
    ("time", Field::Time),
];

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text as it stands.
    Literal(String),
    /// A field of the event.
    Field(Field),
}

/// A template that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

impl Template {
    /// Reads a template. `{{` and `}}` stand for braces, `\\` for a backslash.
    ///
    /// # Errors
    /// What is wrong with it: an unknown placeholder, a brace or a backslash that stands alone, or nothing to fill in.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                '{' if rest.as_str().starts_with('{') => literal.extend(rest.next()),
                '}' if rest.as_str().starts_with('}') => literal.extend(rest.next()),
                '{' => {
                    let (name, after) =
                        rest.as_str().split_once('}').ok_or("a `{` without its `}`; `{{` writes a brace")?;
                    if !literal.is_empty() {
                        pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                    }
                    pieces.push(Piece::Field(field(name)?));
                    rest = after.chars();
                }
                '}' => return Err("a `}` without its `{`; `}}` writes a brace".to_owned()),
                '\\' => literal.push(escape(rest.next())?),
                other => literal.push(other),
            }
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        if !pieces.iter().any(|piece| matches!(piece, Piece::Field(_))) {
            return Err(format!("a template shows at least one of {}", known_fields()));
        }
        Ok(Self { pieces })
    }

    /// Its parts, in order.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Whether it shows the id.
    #[must_use]
    pub fn has_id(&self) -> bool {
        self.pieces.contains(&Piece::Field(Field::Id))
    }
}

fn field(name: &str) -> Result<Field, String> {
    if let Some((_, field)) = FIELDS.iter().find(|(known, _)| *known == name) {
        return Ok(*field);
    }
    let near = nearest(name, FIELDS.map(|(known, _)| known));
    let near = near.map_or(String::new(), |near| format!(" (did you mean `{{{near}}}`?)"));
    Err(format!("`{{{name}}}` is not known{near}; there are {}", known_fields()))
}

fn known_fields() -> String {
    FIELDS.map(|(name, _)| format!("`{{{name}}}`")).join(", ")
}

fn escape(code: Option<char>) -> Result<char, String> {
    match code {
        Some('n') => Ok('\n'),
        Some('t') => Ok('\t'),
        Some('\\') => Ok('\\'),
        Some(other) => Err(format!("`\\{other}` is not known; there are `\\n`, `\\t` and `\\\\`")),
        None => Err("a backslash at the end; `\\\\` writes one".to_owned()),
    }
}
