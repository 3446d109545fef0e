//! The splitter: chunks to lines, lines to blocks, blocks to frames.
//!
//! Bytes are pushed, frames are pulled. A value that lies whole in the chunk is lent from there; only what a chunk
//! leaves unfinished, and data of several lines, is copied, to buffers that are used again. Every byte is searched
//! for a line end once, in however many pieces its line comes.

use memchr::memchr2;

use super::field::{Digits, Field, split};
use super::line::{Block, OpenLine, Place, Store};
use super::text::{Texts, decode, without_cut_sequence};
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
    /// The unfinished block, between two chunks.
    block: Block<'static>,
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
    rest: &'a [u8],
    block: Block<'a>,
}

/// A frame before its text is decoded.
#[derive(Clone, Copy)]
enum Found<'c> {
    Event(Block<'c>),
    Comment { text: Place<'c>, truncated: bool },
    Retry(u64),
    IdOnly(Place<'c>),
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
        let mut rest = self.skip_byte_order_mark(chunk);
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        if self.state == State::Between {
            self.state = State::Pulling;
        }
        let block = std::mem::take(&mut self.block);
        Frames {
            decoder: self,
            rest,
            block,
        }
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
        let finish = Finish {
            block: begun || self.open.is_part_of_block() || self.state == State::Dead,
            line_bytes,
        };
        self.state = State::Start(0);
        self.after_cr = false;
        self.block = Block::default();
        self.open.forget();
        for buffer in [
            &mut self.store.data,
            &mut self.store.event,
            &mut self.store.id,
            &mut self.open.value,
        ] {
            buffer.clear();
            buffer.shrink_to(KEPT_CAPACITY_BYTES_MAX);
        }
        for text in [
            &mut self.texts.data,
            &mut self.texts.event,
            &mut self.texts.id,
        ] {
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
        let Self {
            store, texts, open, ..
        } = self;
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
                self.state = if matched == BYTE_ORDER_MARK.len() {
                    State::Between
                } else {
                    State::Start(matched)
                };
            }
        }
        rest
    }

    /// Decodes the text of a frame.
    #[inline]
    fn frame<'f>(&'f mut self, found: Found<'f>) -> Frame<'f> {
        let Self {
            store, texts, open, ..
        } = self;
        match found {
            Found::Event(block) => {
                let data = decode(
                    block.data.bytes(&store.data),
                    &mut texts.data,
                    &mut texts.odd,
                );
                let event = decode(
                    block.event.bytes(&store.event),
                    &mut texts.event,
                    &mut texts.odd,
                );
                let event = if event.is_empty() {
                    DEFAULT_EVENT_TYPE
                } else {
                    event
                };
                let id = block.id.is_some().then_some(block.id.bytes(&store.id));
                let id = id.map(|id| decode(id, &mut texts.id, &mut texts.odd));
                Frame::Event(Event { id, event, data })
            }
            Found::Comment { text, truncated } => {
                let bytes = text.bytes(&open.value);
                let bytes = if truncated {
                    without_cut_sequence(bytes)
                } else {
                    bytes
                };
                Frame::Comment {
                    text: decode(bytes, &mut texts.data, &mut texts.odd),
                    truncated,
                }
            }
            Found::Retry(millis) => Frame::Retry(millis),
            Found::IdOnly(id) => {
                Frame::IdOnly(decode(id.bytes(&store.id), &mut texts.id, &mut texts.odd))
            }
            Found::TooLarge => Frame::TooLarge {
                limit: store.limits.event_bytes_max,
            },
        }
    }
}

impl<'a> Frames<'a> {
    /// The next frame; `None` when the chunk is used up. The frame lends from the chunk or from the decoder.
    #[expect(
        clippy::should_implement_trait,
        reason = "a frame borrows from this, which `Iterator` cannot say"
    )]
    #[inline]
    pub fn next(&mut self) -> Option<Frame<'_>> {
        let found = self.advance()?;
        Some(self.decoder.frame(found))
    }

    /// Reads lines until one makes a frame.
    #[inline]
    fn advance(&mut self) -> Option<Found<'a>> {
        if self.decoder.state != State::Pulling {
            return None;
        }
        loop {
            let end = match self.rest {
                // A blank line is too short to be worth a search.
                [b'\n' | b'\r', ..] => Some(0),
                rest => memchr2(b'\n', b'\r', rest),
            };
            let Some(end) = end else {
                return self.leave_chunk();
            };
            let (line, ended) = self.rest.split_at(end);
            self.rest = match ended {
                [b'\r', b'\n', after @ ..] | [_, after @ ..] => after,
                [] => ended,
            };
            self.decoder.after_cr = ended == b"\r";
            #[cfg(test)]
            {
                self.decoder.searched_bytes += end + 1;
            }
            let found = if self.decoder.open.is_open() {
                self.rest_of_line(line)
            } else if line.is_empty() {
                self.blank_line()
            } else {
                self.whole_line(line)
            };
            if found.is_some() {
                return found;
            }
        }
    }

    /// Keeps what the chunk has begun, for the next one.
    fn leave_chunk(&mut self) -> Option<Found<'a>> {
        let tail = std::mem::take(&mut self.rest);
        let decoder = &mut *self.decoder;
        #[cfg(test)]
        {
            decoder.searched_bytes += tail.len();
        }
        decoder.block = decoder.store.keep(std::mem::take(&mut self.block));
        decoder.state = State::Between;
        if decoder
            .open
            .push(tail, decoder.block, &mut decoder.store)
            .is_err()
        {
            return self.too_large();
        }
        None
    }

    /// Ends the block: with data it is an event, and an id counts in any case.
    #[inline]
    fn blank_line(&mut self) -> Option<Found<'a>> {
        let block = std::mem::take(&mut self.block);
        if block.data.is_some() {
            Some(Found::Event(block))
        } else if block.id.is_some() {
            Some(Found::IdOnly(block.id))
        } else {
            None
        }
    }

    /// A line that lies whole in the chunk.
    #[inline]
    fn whole_line(&mut self, line: &'a [u8]) -> Option<Found<'a>> {
        let (field, value) = split(line);
        if !self.decoder.store.fits(field, self.block, value.len()) {
            return self.too_large();
        }
        match field {
            Field::Data if self.block.data.is_some() => {
                self.decoder.store.begin_data(self.block);
                self.decoder.store.data.extend_from_slice(value);
                self.block.data = Place::Buffer;
            }
            Field::Data => self.block.data = Place::Chunk(value),
            Field::Event => self.block.event = Place::Chunk(value),
            Field::Id if !value.contains(&0) => self.block.id = Place::Chunk(value),
            Field::Comment => {
                let limit = self.decoder.store.limits.comment_bytes_max;
                let kept = &value[..value.len().min(limit)];
                return Some(Found::Comment {
                    text: Place::Chunk(kept),
                    truncated: value.len() > limit,
                });
            }
            Field::Retry => return Digits::of(value).map(Found::Retry),
            Field::Id | Field::Unknown => {}
        }
        None
    }

    /// The last piece of a line that an earlier chunk began.
    fn rest_of_line(&mut self, piece: &[u8]) -> Option<Found<'a>> {
        let Decoder { open, store, .. } = &mut *self.decoder;
        let closed = open
            .push(piece, self.block, store)
            .and_then(|()| open.close(self.block, store));
        let Ok(field) = closed else {
            return self.too_large();
        };
        match field {
            Field::Data => self.block.data = Place::Buffer,
            Field::Event => {
                std::mem::swap(&mut open.value, &mut store.event);
                self.block.event = Place::Buffer;
            }
            Field::Id if !open.value.contains(&0) => {
                std::mem::swap(&mut open.value, &mut store.id);
                self.block.id = Place::Buffer;
            }
            Field::Comment => {
                return Some(Found::Comment {
                    text: Place::Buffer,
                    truncated: open.truncated,
                });
            }
            Field::Retry => return open.digits.value().map(Found::Retry),
            Field::Id | Field::Unknown => {}
        }
        None
    }

    #[cold]
    fn too_large(&mut self) -> Option<Found<'a>> {
        self.decoder.open.forget();
        self.decoder.block = Block::default();
        self.decoder.state = State::Dead;
        self.rest = &[];
        Some(Found::TooLarge)
    }
}
