//! JSON strings (RFC 8259, section 7), written as fast as they can be copied.
//!
//! Text is looked at in blocks of 64 bytes, 16 at a time. A block that needs no escape is copied as a whole; of one that
//! does, what lies between two escapes is copied in steps of 16 bytes, which may write past their end: what follows is
//! written over it, or cut off in the end. The escapes are those of `serde_json`, byte for byte.

use std::ops::Range;

use wide::u8x16;

/// Bytes that are looked at at a time.
const LANES: usize = 16;

/// Bytes that one mask covers.
const BLOCK_BYTES: usize = 64;

/// A block, and what a step that begins in it may read.
const WINDOW_BYTES: usize = BLOCK_BYTES + LANES;

/// What a block can become if each byte of it is escaped by one more, and what a step may write past that.
const ROOM_BYTES: usize = 2 * BLOCK_BYTES + LANES;

/// Room is made ready for so much text at a time. (It has to be zeroed.)
const PIECE_BYTES: usize = 1024;

/// The second byte of an escape of two; 0 for the controls that have none and for what needs no escape.
const SHORT_ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'\n' as usize] = b'n';
    table[b'\r' as usize] = b'r';
    table[b'\t' as usize] = b't';
    table[0x08] = b'b';
    table[0x0c] = b'f';
    table
};

/// Appends text of a JSON string without its quotation marks: `"`, `\` and the C0 controls are escaped.
pub(super) fn push_escaped(batch: &mut Vec<u8>, text: &[u8]) {
    if text.len() <= LANES {
        let mut lanes = [b' '; LANES];
        lanes[..text.len()].copy_from_slice(text);
        if mask_of_lanes(&lanes) == 0 {
            return batch.extend_from_slice(text);
        }
    }
    let mut out = Out { end: batch.len(), batch };
    let mut rest = text;
    while let Some((window, (_, after))) = rest.first_chunk().zip(rest.split_at_checked(BLOCK_BYTES)) {
        out.push_block(window, rest.len(), BLOCK_BYTES);
        rest = after;
    }
    // The last blocks lie in a window of their own, filled up with what needs no escape.
    let mut windows = [b' '; BLOCK_BYTES + WINDOW_BYTES];
    windows[..rest.len()].copy_from_slice(rest);
    let mut left = rest.len();
    for start in [0, BLOCK_BYTES] {
        if let (Some(window), true) = (windows[start..].first_chunk(), left > 0) {
            let bytes = left.min(BLOCK_BYTES);
            out.push_block(window, left, bytes);
            left -= bytes;
        }
    }
    let end = out.end;
    batch.truncate(end);
}

/// The batch, and how far it is written: what lies behind that is only room.
struct Out<'b> {
    batch: &'b mut Vec<u8>,
    end: usize,
}

impl Out<'_> {
    /// Appends the first `bytes` bytes of the window, at most a block. Of the text, `left` bytes are left, these included.
    #[inline]
    fn push_block(&mut self, window: &[u8; WINDOW_BYTES], left: usize, bytes: usize) {
        let mask = mask_of_block(window);
        if mask == 0 {
            return self.push_clean(window, bytes);
        }
        if self.batch.len() < self.end + ROOM_BYTES {
            self.batch.resize(self.end + left.min(PIECE_BYTES) + ROOM_BYTES, 0);
        }
        let room = self.batch[self.end..].first_chunk_mut().expect("there is room for a block");
        if let Some(written) = escape_block(window, mask, room) {
            // What fills the window up was copied one to one.
            self.end += written - (BLOCK_BYTES - bytes);
        } else {
            self.batch.truncate(self.end);
            window[..bytes].iter().for_each(|&byte| push_byte(self.batch, byte));
            self.end = self.batch.len();
        }
    }

    #[inline]
    fn push_clean(&mut self, window: &[u8; WINDOW_BYTES], bytes: usize) {
        if let Some(room) = self.batch.get_mut(self.end..self.end + BLOCK_BYTES) {
            room.copy_from_slice(&window[..BLOCK_BYTES]);
        } else {
            self.batch.truncate(self.end);
            self.batch.extend_from_slice(&window[..bytes]);
        }
        self.end += bytes;
    }
}

/// Writes a block with its escapes to the beginning of `room`; how long that is. `None` if one takes more than two bytes.
#[inline]
fn escape_block(window: &[u8; WINDOW_BYTES], mask: u64, room: &mut [u8; ROOM_BYTES]) -> Option<usize> {
    let (mut from, mut to) = (0, 0);
    let mut escapes = mask;
    while escapes != 0 {
        let at = escapes.trailing_zeros() as usize;
        escapes &= escapes - 1;
        let second = SHORT_ESCAPES[usize::from(window[at & IN_BLOCK])];
        if second == 0 {
            return None;
        }
        to = copy(window, from..at, room, to);
        room[to & IN_ROOM] = b'\\';
        room[(to & IN_ROOM) + 1] = second;
        from = at + 1;
        to += 2;
    }
    Some(if from < BLOCK_BYTES { copy(window, from..BLOCK_BYTES, room, to) } else { to })
}

/// A place in a block is below 64, and one in the room, before which no more than a block was read, below 128: masking
/// changes nothing, and saves checks.
const IN_BLOCK: usize = BLOCK_BYTES - 1;
const IN_ROOM: usize = 2 * BLOCK_BYTES - 1;

/// Copies a part of a block to `to` and following; where it ends there.
#[inline]
fn copy(window: &[u8; WINDOW_BYTES], part: Range<usize>, room: &mut [u8; ROOM_BYTES], to: usize) -> usize {
    let mut step = |from: usize, to: usize| {
        let (from, to) = (from & IN_BLOCK, to & IN_ROOM);
        room[to..to + LANES].copy_from_slice(&window[from..from + LANES]);
    };
    step(part.start, to);
    let bytes = part.len();
    let mut copied = LANES;
    while copied < bytes {
        step(part.start + copied, to + copied);
        copied += LANES;
    }
    to + bytes
}

/// A bit for each of the first 64 bytes that needs an escape.
#[inline]
fn mask_of_block(window: &[u8; WINDOW_BYTES]) -> u64 {
    let (lanes, _) = window[..BLOCK_BYTES].as_chunks();
    let masks = lanes.iter().map(|lanes| u64::from(mask_of_lanes(lanes)));
    masks.rev().fold(0, |all, mask| all << LANES | mask)
}

#[inline]
fn mask_of_lanes(lanes: &[u8; LANES]) -> u32 {
    let lanes = u8x16::new(*lanes);
    let control = lanes.min(u8x16::splat(0x1f)).simd_eq(lanes);
    let quote = lanes.simd_eq(u8x16::splat(b'"'));
    let backslash = lanes.simd_eq(u8x16::splat(b'\\'));
    (control | quote | backslash).to_bitmask()
}

/// Appends one byte with its escape, if it needs one.
fn push_byte(batch: &mut Vec<u8>, byte: u8) {
    match SHORT_ESCAPES[usize::from(byte)] {
        0 if byte < 0x20 => push_code_unit(batch, char::from(byte)),
        0 => batch.push(byte),
        second => batch.extend_from_slice(&[b'\\', second]),
    }
}

/// Appends `\u` and four hexadecimal digits. The character lies in the basic plane: all that is escaped does.
pub(super) fn push_code_unit(batch: &mut Vec<u8>, character: char) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let code = u32::from(character) as usize;
    batch.extend_from_slice(b"\\u");
    batch.extend([12, 8, 4, 0].map(|shift| DIGITS[code >> shift & 0xf]));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same by `serde_json`, behind what is in the batch already.
    fn assert_as_serde(text: &str) {
        let mut batch = b"before".to_vec();
        push_escaped(&mut batch, text.as_bytes());
        let theirs = serde_json::to_string(text).unwrap();
        let expected = format!("before{}", &theirs[1..theirs.len() - 1]);
        assert_eq!(String::from_utf8(batch).unwrap(), expected, "{text:?}");
    }

    #[test]
    fn every_byte_at_every_place_is_escaped_as_serde_json_does_it() {
        for length in [1, 15, 16, 17, 63, 64, 65, 79, 80, 81, 145, 200] {
            for byte in 0..0x80 {
                for filler in ["a", "\"", " "] {
                    for at in [0, length / 3, length / 2, length - 1] {
                        let mut text = filler.repeat(length);
                        text.replace_range(at..=at, &char::from(byte).to_string());
                        assert_as_serde(&text);
                    }
                }
            }
        }
    }

    #[test]
    fn every_place_of_one_escape() {
        for at in 0..300 {
            for bad in ['"', '\\', '\n', '\0', '\u{1f}'] {
                assert_as_serde(&format!("{}{bad}{}", "x".repeat(at), "é".repeat(300 - at)));
            }
        }
    }

    proptest! {
        #[test]
        fn as_serde_json_escapes(text in any::<String>()) {
            assert_as_serde(&text);
        }

        #[test]
        fn as_serde_json_escapes_what_is_mostly_escapes(words in proptest::collection::vec("[\"\\\\\n\u{0}-\u{1f} -~é漢]{0,40}", 0..12)) {
            assert_as_serde(&words.concat());
        }

        #[test]
        fn as_serde_json_escapes_json(words in proptest::collection::vec("[a-z\" \\\\]{0,30}", 0..40)) {
            assert_as_serde(&serde_json::to_string(&words).unwrap());
        }
    }
}
