//! A TOML document as a plain tree in which every key knows its line.

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::settings::environment::Environment;

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Its line, from 1.
    pub line: usize,
    /// Its value.
    pub value: Value,
}

/// A value, as far as the config file has use for it.
#[derive(Clone, Debug)]
pub enum Value {
    /// A string.
    Text(String),
    /// An integer, in decimal digits.
    Integer(String),
    /// `true` or `false`.
    Boolean(bool),
    /// An array.
    List(Vec<Value>),
    /// A table, inline or not.
    Table(Vec<Entry>),
    /// Something that no key takes.
    Other(&'static str),
}

impl Value {
    /// A text, with its variables replaced.
    pub fn text(&self, env: &Environment) -> Result<String, String> {
        match self {
            Self::Text(text) => env.expand(text),
            other => Err(format!("expected a string, not {}", other.kind())),
        }
    }

    /// A text, or a list of them.
    pub fn texts(&self, env: &Environment) -> Result<Vec<String>, String> {
        match self {
            Self::List(values) => values.iter().map(|value| value.text(env)).collect(),
            other => {
                Ok(vec![other.text(env).map_err(|_| format!("expected a list of strings, not {}", other.kind()))?])
            }
        }
    }

    /// The text of a number: an integer, or a string with one.
    pub fn number<T: std::str::FromStr>(&self, env: &Environment) -> Result<T, String> {
        let text = match self {
            Self::Integer(digits) => digits.clone(),
            other => other.text(env).map_err(|_| format!("expected a whole number, not {}", other.kind()))?,
        };
        text.parse().map_err(|_| "expected a whole number from 0".to_owned())
    }

    /// `true` or `false`.
    pub fn boolean(&self) -> Result<bool, String> {
        match self {
            Self::Boolean(value) => Ok(*value),
            other => Err(format!("expected `true` or `false`, not {}", other.kind())),
        }
    }

    /// Whether values of variables have become a part of it.
    pub fn shows_variables(&self, env: &Environment) -> bool {
        match self {
            Self::Text(text) => env.expand(text).is_ok_and(|expanded| expanded != *text),
            Self::List(values) => values.iter().any(|value| value.shows_variables(env)),
            Self::Table(entries) => entries.iter().any(|entry| entry.value.shows_variables(env)),
            Self::Integer(_) | Self::Boolean(_) | Self::Other(_) => false,
        }
    }

    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Integer(_) => "a number (a duration or a size is a string with a unit, such as \"15s\")",
            Self::Boolean(_) => "a boolean",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(kind) => kind,
        }
    }
}

/// Reads a document.
///
/// # Errors
/// What is not TOML in it, with its line.
pub fn parse(text: &str) -> Result<Vec<Entry>, String> {
    let lines = Lines(text);
    match DeTable::parse(text) {
        Ok(root) => Ok(table(root.get_ref(), &lines)),
        Err(error) => {
            let line = error.span().map_or(1, |span| lines.at(span.start));
            Err(format!("line {line}: {}", error.message()))
        }
    }
}

struct Lines<'a>(&'a str);

impl Lines<'_> {
    /// The line in which a byte lies, from 1.
    fn at(&self, offset: usize) -> usize {
        self.0.as_bytes()[..offset.min(self.0.len())].iter().filter(|&&byte| byte == b'\n').count() + 1
    }
}

/// The entries in the order of the file, which the parser does not keep.
fn table(table: &DeTable<'_>, lines: &Lines<'_>) -> Vec<Entry> {
    let mut pairs: Vec<_> = table.iter().collect();
    pairs.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, item): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| Entry {
        key: key.get_ref().to_string(),
        line: lines.at(key.span().start),
        value: value(item.get_ref(), lines),
    };
    pairs.into_iter().map(entry).collect()
}

fn value(value: &DeValue<'_>, lines: &Lines<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) if integer.radix() == 10 => Value::Integer(integer.as_str().to_owned()),
        DeValue::Integer(_) => Value::Other("a number that is not decimal"),
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Array(values) => Value::List(values.iter().map(|item| self::value(item.get_ref(), lines)).collect()),
        DeValue::Table(entries) => Value::Table(table(entries, lines)),
        DeValue::Float(_) => Value::Other("a number with a fraction"),
        DeValue::Datetime(_) => Value::Other("a date"),
    }
}
