//! The splitter: chunks to lines, lines to blocks, blocks to frames.
//!
//! Bytes are pushed, frames are pulled. A value that lies whole in the chunk is lent from there; only what a chunk
//! leaves unfinished, and data of several lines, is copied, to buffers that are used again. Every byte is searched
//! for a line end once, in however many pieces its line comes.

use memchr::memchr2;

use super::field::{Digits, Field, split};
use super::line::{Block, OpenLine, Place, Span, Store};
use super::text::{Chunk, Texts, utf8_beginning, without_cut_sequence};
use super::{DEFAULT_EVENT_TYPE, Event, Finish, Frame, Limits};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A buffer larger than this is given back when a connection ends.
const KEPT_CAPACITY_BYTES_MAX: usize = 1 << 20;

/// Where a decoder stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing but this many bytes of a byte order mark came.
    Start(usize),
    /// In the stream; all that was fed has been pulled.
    Between,
    /// Frames of a chunk are being pulled.
    Pulling,
    /// A block was too large.
    Dead,
}

/// Makes frames of the bytes of one connection after another.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    /// A CR ended the last chunk: an LF at the start of the next belongs to it.
    after_cr: bool,
    store: Store,
    /// The block that is being read. Between two chunks it lies in the store.
    block: Block,
    open: OpenLine,
    texts: Texts,
    /// Bytes that were searched for a line end.
    #[cfg(test)]
    pub(super) searched_bytes: usize,
}

/// The frames of one chunk, to be pulled until there is none.
///
/// Whoever stops earlier gives the connection up: the rest of the chunk is lost, and the decoder takes the next
/// [`Decoder::feed`] for the start of a new stream.
#[derive(Debug)]
pub struct Frames<'a> {
    decoder: &'a mut Decoder,
    chunk: &'a [u8],
    /// Where in the chunk the next line begins.
    at: usize,
    /// Nothing in the chunk can make a block too large.
    roomy: bool,
    /// The beginning of the chunk that is UTF-8; looked for when the first text is asked for.
    text: Option<&'a str>,
}

/// A frame before its text is decoded.
#[derive(Clone, Copy)]
enum Found {
    /// The block is one.
    Event,
    Comment {
        text: Place,
        truncated: bool,
    },
    Retry(u64),
    /// The block has an id and no data.
    IdOnly,
    TooLarge,
}

impl Decoder {
    /// A decoder at the start of a stream.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            state: State::Start(0),
            after_cr: false,
            store: Store::new(limits),
            block: Block::default(),
            open: OpenLine::default(),
            texts: Texts::default(),
            #[cfg(test)]
            searched_bytes: 0,
        }
    }

    /// Takes the next bytes of the connection, as they came; any splitting into chunks gives the same frames.
    ///
    /// Each frame is given as soon as its last byte has come: a CR ends its line without waiting for an LF.
    pub fn feed<'a>(&'a mut self, chunk: &'a [u8]) -> Frames<'a> {
        if self.state == State::Pulling {
            self.finish();
        }
        let mut chunk = chunk;
        if let State::Start(_) = self.state {
            chunk = self.skip_byte_order_mark(chunk);
        }
        if self.after_cr && !chunk.is_empty() {
            self.after_cr = false;
            chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
        }
        if self.state == State::Between {
            self.state = State::Pulling;
        }
        let roomy = self.store.has_room_for(chunk.len());
        Frames { decoder: self, chunk, at: 0, roomy, text: None }
    }

    /// Says that the connection has ended: what was cut off is discarded, as the standard demands, and the decoder is
    /// at the start of a new stream. Only [`Decoder::odd_bytes`] goes on counting.
    ///
    /// The answer is about all that was fed only if all frames of it were pulled.
    pub fn finish(&mut self) -> Finish {
        let block = self.block;
        let begun = block.data.is_some() || block.event.is_some() || block.id.is_some();
        let line_bytes = match self.state {
            State::Start(matched) => matched as u64,
            _ => self.open.bytes(),
        };
        let finish = Finish { block: begun || self.open.is_part_of_block() || self.state == State::Dead, line_bytes };
        self.state = State::Start(0);
        self.after_cr = false;
        self.block = Block::default();
        self.open.forget();
        for buffer in [&mut self.store.data, &mut self.store.event, &mut self.store.id, &mut self.open.value] {
            buffer.clear();
            buffer.shrink_to(KEPT_CAPACITY_BYTES_MAX);
        }
        for text in [&mut self.texts.data, &mut self.texts.event, &mut self.texts.id] {
            text.clear();
            text.shrink_to(KEPT_CAPACITY_BYTES_MAX);
        }
        finish
    }

    /// How many sequences of bytes that are not UTF-8 became U+FFFD in the frames given so far, on all connections.
    #[must_use]
    pub fn odd_bytes(&self) -> u64 {
        self.texts.odd
    }

    /// Bytes that the buffers take up.
    #[cfg(test)]
    pub(super) fn held_capacity_bytes(&self) -> usize {
        let Self { store, texts, open, .. } = self;
        let buffers = [&store.data, &store.event, &store.id, &open.value].map(Vec::capacity);
        let texts = [&texts.data, &texts.event, &texts.id].map(String::capacity);
        buffers.iter().chain(&texts).sum()
    }

    /// Strips the byte order mark at the start of a stream, which may come in pieces.
    fn skip_byte_order_mark<'c>(&mut self, chunk: &'c [u8]) -> &'c [u8] {
        let mut rest = chunk;
        while let State::Start(matched) = self.state {
            let Some((&byte, after)) = rest.split_first() else {
                break;
            };
            if byte != BYTE_ORDER_MARK[matched] {
                self.state = State::Between;
                if matched > 0 {
                    // No field has a name that starts like this.
                    self.open.begin_unknown(matched as u64);
                }
            } else {
                rest = after;
                let matched = matched + 1;
                self.state = if matched == BYTE_ORDER_MARK.len() { State::Between } else { State::Start(matched) };
            }
        }
        rest
    }
}

impl<'a> Frames<'a> {
    /// The next frame; `None` when the chunk is used up. The frame lends from the chunk or from the decoder.
    #[expect(clippy::should_implement_trait, reason = "a frame borrows from this, which `Iterator` cannot say")]
    #[inline]
    pub fn next(&mut self) -> Option<Frame<'_>> {
        let found = self.advance()?;
        Some(self.frame(found))
    }

    /// Decodes the text of a frame.
    #[inline]
    fn frame(&mut self, found: Found) -> Frame<'_> {
        let text = match found {
            Found::Event | Found::IdOnly | Found::Comment { text: Place::Chunk(_), .. } => {
                *self.text.get_or_insert_with(|| utf8_beginning(self.chunk))
            }
            _ => "",
        };
        let chunk = Chunk { bytes: self.chunk, text };
        let Decoder { store, texts, open, block, .. } = &mut *self.decoder;
        match found {
            Found::Event => {
                let block = std::mem::take(block);
                let data = chunk.value(block.data, &store.data, &mut texts.data, &mut texts.odd);
                let event = chunk.value(block.event, &store.event, &mut texts.event, &mut texts.odd);
                let event = if event.is_empty() { DEFAULT_EVENT_TYPE } else { event };
                let id = match block.id {
                    Place::Nowhere => None,
                    id => Some(chunk.value(id, &store.id, &mut texts.id, &mut texts.odd)),
                };
                Frame::Event(Event { id, event, data })
            }
            Found::Comment { text, truncated } => {
                let text = match text {
                    Place::Chunk(span) if truncated => Place::Chunk(Span {
                        end: span.start + without_cut_sequence(span.of(chunk.bytes)).len(),
                        ..span
                    }),
                    other => other,
                };
                let held = if truncated { without_cut_sequence(&open.value) } else { &open.value };
                Frame::Comment { text: chunk.value(text, held, &mut texts.data, &mut texts.odd), truncated }
            }
            Found::Retry(millis) => Frame::Retry(millis),
            Found::IdOnly => {
                let block = std::mem::take(block);
                Frame::IdOnly(chunk.value(block.id, &store.id, &mut texts.id, &mut texts.odd))
            }
            Found::TooLarge => Frame::TooLarge { limit: store.limits.event_bytes_max },
        }
    }

    /// Reads lines until one makes a frame.
    #[inline]
    fn advance(&mut self) -> Option<Found> {
        if self.decoder.state != State::Pulling {
            return None;
        }
        if self.decoder.open.is_open() {
            // Of the lines that end in a chunk, the first alone can have begun before it.
            let Some(line) = self.take_line() else { return self.leave_chunk() };
            let found = self.rest_of_line(line);
            if found.is_some() {
                return found;
            }
        }
        loop {
            let Some(line) = self.take_line() else { return self.leave_chunk() };
            let found = if line.start == line.end { self.blank_line() } else { self.whole_line(line) };
            if found.is_some() {
                return found;
            }
        }
    }

    /// The next line that ends in the chunk, without its end.
    #[inline]
    fn take_line(&mut self) -> Option<Span> {
        let start = self.at;
        let rest = self.chunk.get(start..)?;
        let length = line_end(rest)?;
        let both = rest.get(length) == Some(&b'\r') && rest.get(length + 1) == Some(&b'\n');
        self.at = start + length + 1 + usize::from(both);
        #[cfg(test)]
        {
            self.decoder.searched_bytes += length + 1;
        }
        Some(Span { start, end: start + length })
    }

    /// Keeps what the chunk has begun, for the next one.
    fn leave_chunk(&mut self) -> Option<Found> {
        let tail = self.chunk.get(self.at..).unwrap_or_default();
        let decoder = &mut *self.decoder;
        #[cfg(test)]
        {
            decoder.searched_bytes += tail.len();
        }
        if let Some(last) = self.chunk.last() {
            decoder.after_cr = *last == b'\r';
        }
        decoder.block = decoder.store.keep(decoder.block, self.chunk);
        decoder.state = State::Between;
        if decoder.open.push(tail, decoder.block, &mut decoder.store).is_err() {
            return self.too_large();
        }
        None
    }

    /// Ends the block: with data it is an event, and an id counts in any case.
    #[inline]
    fn blank_line(&mut self) -> Option<Found> {
        let block = &mut self.decoder.block;
        if block.data.is_some() {
            return Some(Found::Event);
        }
        let found = block.id.is_some().then_some(Found::IdOnly);
        if found.is_none() {
            block.event = Place::Nowhere;
        }
        found
    }

    /// A line that lies whole in the chunk.
    #[inline]
    fn whole_line(&mut self, line: Span) -> Option<Found> {
        let (field, value) = split(line.of(self.chunk));
        let Decoder { block, store, .. } = &mut *self.decoder;
        if !self.roomy && !store.fits(field, *block, value.len()) {
            return self.too_large();
        }
        let span = Span { start: line.end - value.len(), ..line };
        match field {
            Field::Data if block.data.is_some() => {
                store.add_data(block.data, span, self.chunk);
                block.data = Place::Buffer;
            }
            Field::Data => block.data = Place::Chunk(span),
            Field::Event => block.event = Place::Chunk(span),
            Field::Id if !value.contains(&0) => block.id = Place::Chunk(span),
            Field::Comment => {
                let limit = store.limits.comment_bytes_max;
                let kept = Span { end: span.start + value.len().min(limit), ..span };
                return Some(Found::Comment { text: Place::Chunk(kept), truncated: value.len() > limit });
            }
            Field::Retry => return Digits::of(value).map(Found::Retry),
            Field::Id | Field::Unknown => {}
        }
        None
    }

    /// The last piece of a line that an earlier chunk began.
    fn rest_of_line(&mut self, piece: Span) -> Option<Found> {
        let piece = piece.of(self.chunk);
        let Decoder { open, store, block, .. } = &mut *self.decoder;
        let closed = open.push(piece, *block, store).and_then(|()| open.close(*block, store));
        let Ok(field) = closed else {
            return self.too_large();
        };
        match field {
            Field::Data => block.data = Place::Buffer,
            Field::Event => {
                std::mem::swap(&mut open.value, &mut store.event);
                block.event = Place::Buffer;
            }
            Field::Id if !open.value.contains(&0) => {
                std::mem::swap(&mut open.value, &mut store.id);
                block.id = Place::Buffer;
            }
            Field::Comment => {
                return Some(Found::Comment { text: Place::Buffer, truncated: open.truncated });
            }
            Field::Retry => return open.digits.value().map(Found::Retry),
            Field::Id | Field::Unknown => {}
        }
        None
    }

    #[cold]
    fn too_large(&mut self) -> Option<Found> {
        self.decoder.open.forget();
        self.decoder.block = Block::default();
        self.decoder.state = State::Dead;
        self.at = self.chunk.len();
        Some(Found::TooLarge)
    }
}

/// Where the first line ends.
#[inline]
fn line_end(rest: &[u8]) -> Option<usize> {
    let Some(head) = rest.first_chunk::<16>() else {
        return memchr2(b'\n', b'\r', rest);
    };
    // Many lines end within a few words, where calling the search costs more than this does.
    let head = u128::from_le_bytes(*head);
    #[expect(clippy::cast_possible_truncation, reason = "one half after the other")]
    for (searched, word) in [(0, head as u64), (8, (head >> 64) as u64)] {
        let found = line_ends(word);
        if found != 0 {
            return Some(searched + found.trailing_zeros() as usize / 8);
        }
    }
    memchr2(b'\n', b'\r', &rest[16..]).map(|at| 16 + at)
}

/// The high bits of those of eight bytes that are LF or CR. The lowest that is set is right: a subtraction borrows
/// from the bytes above only out of a byte that is one of these itself.
#[inline]
fn line_ends(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let is_zero = |word: u64| word.wrapping_sub(ONES) & !word;
    (is_zero(word ^ (ONES * u64::from(b'\n'))) | is_zero(word ^ (ONES * u64::from(b'\r')))) & (ONES << 7)
}
