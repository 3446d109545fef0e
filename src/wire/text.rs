//! Bytes to text as the standard's UTF-8 decoder does it: each maximal odd sequence becomes one U+FFFD.

/// What text with replacements is written to, and how many there were.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) odd: u64,
    /// For data and comments.
    pub(super) data: String,
    pub(super) event: String,
    pub(super) id: String,
}

/// The text of `bytes`: borrowed if they are UTF-8, else written to `scratch` with replacements, counted in `odd`.
///
/// A line end is ASCII and ends any odd sequence, so decoding value by value gives what decoding the whole
/// stream would.
#[inline]
pub(super) fn decode<'t>(bytes: &'t [u8], scratch: &'t mut String, odd: &mut u64) -> &'t str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => replace(bytes, scratch, odd),
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
