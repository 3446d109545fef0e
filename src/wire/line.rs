//! A line that comes in pieces: its field is decided as soon as it can be, and only what has a use is kept.
//! Also where the parts of a block lie. Knows nothing of line ends, frames or text.

use super::Limits;
use super::field::{Digits, Field, NAME_BYTES_MAX, split};

/// Where a value lies: nowhere (there is none), in the chunk at hand, or in the buffer made for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Place {
    #[default]
    Nowhere,
    Chunk(Span),
    Buffer,
}

/// A part of the chunk at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    #[inline]
    pub(super) fn of(self, chunk: &[u8]) -> &[u8] {
        chunk.get(self.start..self.end).unwrap_or_default()
    }
}

impl Place {
    #[inline]
    pub(super) fn is_some(self) -> bool {
        !matches!(self, Self::Nowhere)
    }

    /// How long the value is, where `buffer` is the one made for it.
    #[inline]
    fn bytes(self, buffer: &[u8]) -> usize {
        match self {
            Self::Nowhere => 0,
            Self::Chunk(span) => span.end - span.start,
            Self::Buffer => buffer.len(),
        }
    }

    /// Copies what lies in the chunk to the buffer, before the chunk goes.
    #[inline]
    fn keep(self, chunk: &[u8], buffer: &mut Vec<u8>) -> Self {
        match self {
            Self::Nowhere => Self::Nowhere,
            Self::Chunk(span) => {
                buffer.clear();
                buffer.extend_from_slice(span.of(chunk));
                Self::Buffer
            }
            Self::Buffer => Self::Buffer,
        }
    }
}

/// The parts of the block that is being read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    pub(super) data: Place,
    pub(super) event: Place,
    pub(super) id: Place,
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
        Self { limits, data: Vec::new(), event: Vec::new(), id: Vec::new() }
    }

    /// Copies the parts of a block out of the chunk.
    pub(super) fn keep(&mut self, block: Block, chunk: &[u8]) -> Block {
        Block {
            data: block.data.keep(chunk, &mut self.data),
            event: block.event.keep(chunk, &mut self.event),
            id: block.id.keep(chunk, &mut self.id),
        }
    }

    /// Appends one more data value of a block that has data.
    #[inline]
    pub(super) fn add_data(&mut self, data: Place, value: Span, chunk: &[u8]) {
        data.keep(chunk, &mut self.data);
        self.data.push(b'\n');
        self.data.extend_from_slice(value.of(chunk));
    }

    /// Makes the buffer ready for one more data value, which is then to be appended to it.
    fn begin_data(&mut self, data: Place) {
        if data.is_some() {
            self.data.push(b'\n');
        } else {
            self.data.clear();
        }
    }

    /// How many bytes of value may still be read for `field` in this block. Without bound where the event's limit does
    /// not count; `None` if the line is too much even with an empty value (it needs a line break between data lines).
    #[inline]
    pub(super) fn room(&self, field: Field, block: Block) -> Option<usize> {
        if !matches!(field, Field::Data | Field::Event | Field::Id) {
            return Some(usize::MAX);
        }
        let line_break = usize::from(field == Field::Data && block.data.is_some());
        let held =
            block.data.bytes(&self.data) + block.event.bytes(&self.event) + block.id.bytes(&self.id) + line_break;
        self.limits.event_bytes_max.checked_sub(held)
    }

    /// Whether no block can become too large by a chunk of `bytes` bytes. (A line break between two data values counts
    /// as one byte, and comes of a line of five at least.)
    #[inline]
    pub(super) fn has_room_for(&self, bytes: usize) -> bool {
        let Self { limits, data, event, id } = self;
        let held = data.len().saturating_add(event.len()).saturating_add(id.len());
        held.saturating_add(bytes) <= limits.event_bytes_max
    }

    /// Whether a value of `bytes` bytes for `field` stays within the limit. (A block may be full to the last byte.)
    #[inline]
    pub(super) fn fits(&self, field: Field, block: Block, bytes: usize) -> bool {
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
    pub(super) fn push(&mut self, piece: &[u8], block: Block, store: &mut Store) -> Result<(), TooLarge> {
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
    fn decide(&mut self, block: Block, store: &mut Store) -> Result<Field, TooLarge> {
        let (field, _) = split(&self.head[..self.head_bytes]);
        self.room = store.room(field, block).ok_or(TooLarge)?;
        if field == Field::Data {
            store.begin_data(block.data);
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
                let kept = rest.len().min(store.limits.comment_bytes_max - self.value.len());
                self.value.extend_from_slice(&rest[..kept]);
                self.truncated |= kept < rest.len();
            }
            Some(Field::Retry) => self.digits.push(rest),
            Some(Field::Unknown) | None => {}
        }
        Ok(())
    }

    /// Ends the line. Its value stays readable until the next line is opened; data lies in the store.
    pub(super) fn close(&mut self, block: Block, store: &mut Store) -> Result<Field, TooLarge> {
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
