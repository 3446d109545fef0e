//! The decoder once more, slow and plain: the whole stream at once, sentence by sentence as the standard puts it.
//! What the fast one is compared with.

use super::{Finish, Limits};

/// A frame that owns its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owned {
    Event {
        id: Option<String>,
        event: String,
        data: String,
    },
    Comment {
        text: String,
        truncated: bool,
    },
    Retry(u64),
    IdOnly(String),
    TooLarge {
        limit: usize,
    },
}

/// All that a decoder says of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) frames: Vec<Owned>,
    pub(super) finish: Finish,
    pub(super) odd: u64,
}

#[derive(Default)]
struct Block {
    data: Vec<Vec<u8>>,
    event: Vec<u8>,
    id: Option<Vec<u8>>,
    any: bool,
}

struct Reference {
    limits: Limits,
    block: Block,
    frames: Vec<Owned>,
    odd: u64,
}

/// Decodes a whole stream, which ends where `bytes` ends.
pub(super) fn decode(bytes: &[u8], limits: Limits) -> Outcome {
    let mut reference = Reference {
        limits,
        block: Block::default(),
        frames: Vec::new(),
        odd: 0,
    };
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let (lines, tail) = lines(bytes);
    for line in lines {
        if reference.line(&line) {
            return reference.too_large();
        }
    }
    let mut finish = Finish {
        block: reference.block.any,
        line_bytes: tail.len() as u64,
    };
    if let Some((name, value)) = tail_field(&tail) {
        if reference.size_with(&name, &value) > limits.event_bytes_max {
            return reference.too_large();
        }
        finish.block = true;
    }
    Outcome {
        frames: reference.frames,
        finish,
        odd: reference.odd,
    }
}

/// The lines that have ended, and what follows the last end.
fn lines(bytes: &[u8]) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut lines = Vec::new();
    let mut line = Vec::new();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' if at > 0 && bytes[at - 1] == b'\r' => {}
            b'\n' | b'\r' => lines.push(std::mem::take(&mut line)),
            _ => line.push(byte),
        }
    }
    (lines, line)
}

/// The field's name and its value.
fn name_and_value(line: &[u8]) -> (String, Vec<u8>) {
    let mut parts = line.splitn(2, |&byte| byte == b':');
    let name = parts.next().unwrap_or_default();
    let value = parts.next().unwrap_or_default();
    let value = if value.first() == Some(&b' ') {
        &value[1..]
    } else {
        value
    };
    (String::from_utf8_lossy(name).into_owned(), value.to_vec())
}

/// The field of an unfinished line, if it is certain and part of a block.
fn tail_field(tail: &[u8]) -> Option<(String, Vec<u8>)> {
    let (name, value) = name_and_value(tail);
    (tail.contains(&b':') && ["data", "event", "id"].contains(&name.as_str()))
        .then_some((name, value))
}

impl Reference {
    /// True if the block is now too large.
    fn line(&mut self, line: &[u8]) -> bool {
        if line.is_empty() {
            self.dispatch();
            return false;
        }
        let (name, value) = name_and_value(line);
        if ["data", "event", "id"].contains(&name.as_str())
            && self.size_with(&name, &value) > self.limits.event_bytes_max
        {
            return true;
        }
        match name.as_str() {
            "" => self.comment(&value),
            "data" => {
                self.block.data.push(value);
                self.block.any = true;
            }
            "event" => {
                self.block.event = value;
                self.block.any = true;
            }
            "id" if !value.contains(&0) => {
                self.block.id = Some(value);
                self.block.any = true;
            }
            "retry" => self.retry(&value),
            _ => {}
        }
        false
    }

    fn size_with(&self, name: &str, value: &[u8]) -> usize {
        let mut data = self.block.data.clone();
        let mut beside = self.block.event.len() + self.block.id.as_ref().map_or(0, Vec::len);
        if name == "data" {
            data.push(value.to_vec());
        } else {
            beside += value.len();
        }
        data.join(&b'\n').len() + beside
    }

    fn dispatch(&mut self) {
        let block = std::mem::take(&mut self.block);
        let id = block.id.map(|id| self.text(&id));
        if block.data.is_empty() {
            self.frames.extend(id.map(Owned::IdOnly));
            return;
        }
        let data: Vec<String> = block.data.iter().map(|line| self.text(line)).collect();
        let event = match self.text(&block.event) {
            event if event.is_empty() => "message".to_owned(),
            event => event,
        };
        self.frames.push(Owned::Event {
            id,
            event,
            data: data.join("\n"),
        });
    }

    fn comment(&mut self, value: &[u8]) {
        let limit = self.limits.comment_bytes_max;
        if value.len() <= limit {
            let text = self.text(value);
            return self.frames.push(Owned::Comment {
                text,
                truncated: false,
            });
        }
        // A sequence that only the cut made odd is left out.
        let cut = &value[..limit];
        let unfinished = (1..=3.min(limit)).find(|&last| {
            std::str::from_utf8(&cut[limit - last..])
                .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        });
        let text = self.text(&cut[..limit - unfinished.unwrap_or(0)]);
        self.frames.push(Owned::Comment {
            text,
            truncated: true,
        });
    }

    fn retry(&mut self, value: &[u8]) {
        let value = String::from_utf8_lossy(value);
        if !value.is_empty() && value.chars().all(|char| char.is_ascii_digit()) {
            self.frames
                .push(Owned::Retry(value.parse().unwrap_or(u64::MAX)));
        }
    }

    /// Decodes, and counts the replacement characters that were not in the stream itself.
    fn text(&mut self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let shown = text.matches('\u{FFFD}').count();
        let sent = bytes
            .windows(3)
            .filter(|window| *window == "\u{FFFD}".as_bytes())
            .count();
        self.odd += (shown - sent) as u64;
        text
    }

    fn too_large(mut self) -> Outcome {
        self.frames.push(Owned::TooLarge {
            limit: self.limits.event_bytes_max,
        });
        Outcome {
            frames: self.frames,
            finish: Finish {
                block: true,
                line_bytes: 0,
            },
            odd: self.odd,
        }
    }
}
