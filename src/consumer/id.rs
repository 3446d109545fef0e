//! The names of things: a stream, an event's id, and a cursor, which is the two together.

use std::fmt;

use smol_str::SmolStr;

/// The name of a stream: the key of all that is stored of it. Not empty, holds no `#` and no control character.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamName(String);

/// Why a text cannot be a stream's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadStreamName {
    /// The text is empty.
    Empty,
    /// The text has a `#`, which ends the name in a stored cursor.
    Hash,
    /// The text has a control character.
    Control,
}

impl fmt::Display for BadStreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "a stream name cannot be empty",
            Self::Hash => "a stream name cannot contain `#`, which ends the name in a stored cursor",
            Self::Control => "a stream name cannot contain control characters",
        })
    }
}

impl std::error::Error for BadStreamName {}

impl StreamName {
    /// Checks a text and makes it a name.
    ///
    /// # Errors
    /// [`BadStreamName`] says what is wrong with the text.
    pub fn new(name: impl Into<String>) -> Result<Self, BadStreamName> {
        let name = name.into();
        if name.is_empty() {
            return Err(BadStreamName::Empty);
        }
        if name.contains('#') {
            return Err(BadStreamName::Hash);
        }
        if name.chars().any(char::is_control) {
            return Err(BadStreamName::Control);
        }
        Ok(Self(name))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The value of an event's own `id:` line, byte for byte; never empty (an empty one resets, it names nothing).
///
/// Cursors hold several copies of each id that comes: most are short enough to be held without an allocation, and a
/// longer one is shared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventId(SmolStr);

impl EventId {
    /// An id from a value that came; `None` for the empty one.
    #[must_use]
    pub fn new(value: impl Into<SmolStr>) -> Option<Self> {
        let value = value.into();
        (!value.is_empty()).then_some(Self(value))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether an HTTP header field can carry this id unchanged: no control character, no white space at
    /// either end (RFC 9110, section 5.5: a recipient strips it).
    #[must_use]
    pub fn fits_header(&self) -> bool {
        let bytes = self.0.as_bytes();
        let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
        !blank(bytes.first())
            && !blank(bytes.last())
            && bytes.iter().all(|&byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f))
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A stored position: `stream#id`. What follows the first `#` is the id, whatever it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Whose position it is.
    pub stream: StreamName,
    /// The id on the wire.
    pub id: EventId,
}

impl Cursor {
    /// Reads the stored form; `None` if it is not one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (stream, id) = text.split_once('#')?;
        Some(Self { stream: StreamName::new(stream).ok()?, id: EventId::new(id)? })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.stream, self.id)
    }
}
