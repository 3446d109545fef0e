//! Bytes to text as the standard's UTF-8 decoder does it: each maximal odd sequence becomes one U+FFFD.
//!
//! A chunk is checked once, as a whole, and what lies in it is then cut out of the checked text.

use super::line::Place;

/// What text with replacements is written to, and how many there were.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) odd: u64,
    /// For data and comments.
    pub(super) data: String,
    pub(super) event: String,
    pub(super) id: String,
}

/// A chunk, and the beginning of it that is UTF-8.
#[derive(Clone, Copy)]
pub(super) struct Chunk<'c> {
    pub(super) bytes: &'c [u8],
    pub(super) text: &'c str,
}

/// As much of the beginning of `chunk` as is UTF-8: all of it but a sequence that its end cuts, as a rule.
#[inline]
pub(super) fn utf8_beginning(chunk: &[u8]) -> &str {
    simdutf8::basic::from_utf8(chunk).unwrap_or_else(|_| up_to_odd(chunk))
}

#[cold]
fn up_to_odd(chunk: &[u8]) -> &str {
    let valid = match simdutf8::compat::from_utf8(chunk) {
        Ok(text) => return text,
        Err(error) => error.valid_up_to(),
    };
    chunk.get(..valid).and_then(|chunk| simdutf8::basic::from_utf8(chunk).ok()).unwrap_or_default()
}

impl<'c> Chunk<'c> {
    /// The text of a value: borrowed if it is UTF-8, else written to `scratch` with replacements, counted in `odd`.
    /// `buffer` is the one made for the value.
    ///
    /// A line end is ASCII and ends any odd sequence, so decoding value by value gives what decoding the whole
    /// stream would.
    #[inline]
    pub(super) fn value<'t>(self, place: Place, buffer: &'t [u8], scratch: &'t mut String, odd: &mut u64) -> &'t str
    where
        'c: 't,
    {
        let bytes = match place {
            Place::Nowhere => return "",
            Place::Chunk(span) => match self.text.get(span.start..span.end) {
                Some(text) => return text,
                None => span.of(self.bytes),
            },
            Place::Buffer => buffer,
        };
        simdutf8::basic::from_utf8(bytes).unwrap_or_else(|_| replace(bytes, scratch, odd))
    }
}

#[cold]
fn replace<'t>(bytes: &[u8], scratch: &'t mut String, odd: &mut u64) -> &'t str {
    scratch.clear();
    for chunk in bytes.utf8_chunks() {
        scratch.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            scratch.push(char::REPLACEMENT_CHARACTER);
            *odd += 1;
        }
    }
    scratch
}

/// `bytes` without a sequence at its end that a cut left unfinished: such a one was not odd in the stream.
pub(super) fn without_cut_sequence(bytes: &[u8]) -> &[u8] {
    let unfinished = bytes.utf8_chunks().last().map_or(0, |chunk| {
        let odd = chunk.invalid();
        let cut = std::str::from_utf8(odd).is_err_and(|error| error.error_len().is_none());
        if cut { odd.len() } else { 0 }
    });
    &bytes[..bytes.len() - unfinished]
}
