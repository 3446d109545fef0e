//! A line that comes in pieces: its field is decided as soon as it can be, and only what has a use is kept.
//! Also where the parts of a block lie. Knows nothing of line ends, frames or text.

use super::Limits;
use super::field::{Digits, Field, NAME_BYTES_MAX, split};

/// Where a value lies: nowhere (there is none), in the chunk at hand, or in the buffer made for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Place<'c> {
    #[default]
    Nowhere,
    Chunk(&'c [u8]),
    Buffer,
}

impl<'c> Place<'c> {
    pub(super) fn is_some(self) -> bool {
        !matches!(self, Self::Nowhere)
    }

    /// The bytes, where `buffer` is the one made for this value.
    #[inline]
    pub(super) fn bytes<'b>(self, buffer: &'b [u8]) -> &'b [u8]
    where
        'c: 'b,
    {
        match self {
            Self::Nowhere => &[],
            Self::Chunk(bytes) => bytes,
            Self::Buffer => buffer,
        }
    }

    /// Copies what lies in the chunk to the buffer, before the chunk goes.
    fn keep(self, buffer: &mut Vec<u8>) -> Place<'static> {
        match self {
            Self::Nowhere => Place::Nowhere,
            Self::Chunk(bytes) => {
                buffer.clear();
                buffer.extend_from_slice(bytes);
                Place::Buffer
            }
            Self::Buffer => Place::Buffer,
        }
    }
}

/// The parts of the block that is being read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block<'c> {
    pub(super) data: Place<'c>,
    pub(super) event: Place<'c>,
    pub(super) id: Place<'c>,
}

/// The buffers for the parts of a block, used again for each block.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) limits: Limits,
    pub(super) data: Vec<u8>,
    pub(super) event: Vec<u8>,
    pub(super) id: Vec<u8>,
}

impl Store {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            data: Vec::new(),
            event: Vec::new(),
            id: Vec::new(),
        }
    }

    /// Copies the parts of a block out of the chunk.
    pub(super) fn keep(&mut self, block: Block<'_>) -> Block<'static> {
        Block {
            data: block.data.keep(&mut self.data),
            event: block.event.keep(&mut self.event),
            id: block.id.keep(&mut self.id),
        }
    }

    /// Makes the buffer ready for one more data value, which is then to be appended to it.
    pub(super) fn begin_data(&mut self, block: Block<'_>) {
        if block.data.keep(&mut self.data).is_some() {
            self.data.push(b'\n');
        } else {
            self.data.clear();
        }
    }

    /// How many bytes of value may still be read for `field` in this block. Without bound where the event's limit does
    /// not count; `None` if the line is too much even with an empty value (it needs a line break between data lines).
    #[inline]
    pub(super) fn room(&self, field: Field, block: Block<'_>) -> Option<usize> {
        if !matches!(field, Field::Data | Field::Event | Field::Id) {
            return Some(usize::MAX);
        }
        let line_break = usize::from(field == Field::Data && block.data.is_some());
        let held = block.data.bytes(&self.data).len()
            + block.event.bytes(&self.event).len()
            + block.id.bytes(&self.id).len()
            + line_break;
        self.limits.event_bytes_max.checked_sub(held)
    }

    /// Whether a value of `bytes` bytes for `field` stays within the limit. (A block may be full to the last byte.)
    #[inline]
    pub(super) fn fits(&self, field: Field, block: Block<'_>, bytes: usize) -> bool {
        self.room(field, block).is_some_and(|room| bytes <= room)
    }
}

/// The block is larger than its limit.
#[derive(Debug)]
pub(super) struct TooLarge;

/// A line whose end has not come yet.
///
/// The value of a data line goes straight to the block's own buffer, so that a huge one is held once; other
/// values are kept here, since an `id` may turn out void and a comment is no part of the block.
#[derive(Debug, Default)]
pub(super) struct OpenLine {
    /// Bytes so far, in all.
    bytes: u64,
    /// The first bytes, until the field is decided.
    head: [u8; NAME_BYTES_MAX + 1],
    head_bytes: usize,
    field: Option<Field>,
    /// The next byte of the value would be its first, where one space is no part of it.
    at_value: bool,
    /// What the limit leaves for the rest of the value.
    room: usize,
    /// Of an event type, an id or a comment.
    pub(super) value: Vec<u8>,
    pub(super) truncated: bool,
    pub(super) digits: Digits,
}

impl OpenLine {
    /// Whether there is such a line.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.bytes > 0
    }

    /// How long it is so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it has begun to be part of a block.
    pub(super) fn is_part_of_block(&self) -> bool {
        self.is_open() && matches!(self.field, Some(Field::Data | Field::Event | Field::Id))
    }

    /// Begins a line of which `bytes` bytes are known to be of no use.
    pub(super) fn begin_unknown(&mut self, bytes: u64) {
        self.bytes = bytes;
        self.field = Some(Field::Unknown);
        self.room = usize::MAX;
    }

    /// Reads on. `block` must lie in the store, not in a chunk, if the line's beginning came with an earlier chunk.
    pub(super) fn push(
        &mut self,
        piece: &[u8],
        block: Block<'_>,
        store: &mut Store,
    ) -> Result<(), TooLarge> {
        self.bytes += piece.len() as u64;
        let mut rest = piece;
        while self.field.is_none() {
            let Some((&byte, after)) = rest.split_first() else {
                return Ok(());
            };
            rest = after;
            self.head[self.head_bytes] = byte;
            self.head_bytes += 1;
            if byte == b':' || self.head_bytes == self.head.len() {
                self.decide(block, store)?;
            }
        }
        self.push_value(rest, store)
    }

    /// Fixes the field by what has come of its name.
    fn decide(&mut self, block: Block<'_>, store: &mut Store) -> Result<Field, TooLarge> {
        let (field, _) = split(&self.head[..self.head_bytes]);
        self.room = store.room(field, block).ok_or(TooLarge)?;
        if field == Field::Data {
            store.begin_data(block);
        }
        self.value.clear();
        self.truncated = false;
        self.digits = Digits::default();
        self.at_value = true;
        self.field = Some(field);
        Ok(field)
    }

    fn push_value(&mut self, piece: &[u8], store: &mut Store) -> Result<(), TooLarge> {
        let mut rest = piece;
        if self.at_value && !rest.is_empty() {
            self.at_value = false;
            rest = rest.strip_prefix(b" ").unwrap_or(rest);
        }
        self.room = self.room.checked_sub(rest.len()).ok_or(TooLarge)?;
        match self.field {
            Some(Field::Data) => store.data.extend_from_slice(rest),
            Some(Field::Event | Field::Id) => self.value.extend_from_slice(rest),
            Some(Field::Comment) => {
                let kept = rest
                    .len()
                    .min(store.limits.comment_bytes_max - self.value.len());
                self.value.extend_from_slice(&rest[..kept]);
                self.truncated |= kept < rest.len();
            }
            Some(Field::Retry) => self.digits.push(rest),
            Some(Field::Unknown) | None => {}
        }
        Ok(())
    }

    /// Ends the line. Its value stays readable until the next line is opened; data lies in the store.
    pub(super) fn close(&mut self, block: Block<'_>, store: &mut Store) -> Result<Field, TooLarge> {
        let field = match self.field {
            Some(field) => field,
            None => self.decide(block, store)?,
        };
        self.forget();
        Ok(field)
    }

    /// There is no open line any more.
    pub(super) fn forget(&mut self) {
        self.bytes = 0;
        self.head_bytes = 0;
        self.field = None;
    }
}
