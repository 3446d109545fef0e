//! Streams in the shapes that servers send them, for the benches and the count of instructions. The same bytes in
//! every run: the only source of variety is a generator with a fixed seed.

/// Bytes of a stream, unless its shape says otherwise.
const STREAM_BYTES: usize = 4 << 20;

/// How a busy connection's bytes come.
const CHUNK_BYTES: usize = 64 << 10;

/// A stream and the sizes of the chunks in which it comes.
pub struct Shape {
    /// All bytes.
    pub stream: Vec<u8>,
    /// Chunks are of these sizes, in turn.
    pub chunk_bytes: &'static [usize],
}

impl Shape {
    /// The stream as it comes.
    pub fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.stream.as_slice();
        let mut sizes = self.chunk_bytes.iter().cycle();
        std::iter::from_fn(move || {
            let size = sizes.next().copied().unwrap_or(1).min(rest.len());
            let (chunk, after) = rest.split_at(size);
            rest = after;
            (!chunk.is_empty()).then_some(chunk)
        })
    }
}

/// The names of all shapes, in the order of the tables.
pub const NAMES: [&str; 11] = [
    "small events",
    "1.3 KB JSON",
    "150-byte deltas",
    "20-line events",
    "1 MiB lines",
    "64 MiB line",
    "CRLF",
    "multi-byte text",
    "heartbeats",
    "one-byte chunks",
    "hostile drip",
];

/// Makes the shape of a name.
pub fn shape(name: &str) -> Shape {
    sized(name, if ["one-byte chunks", "hostile drip"].contains(&name) { STREAM_BYTES / 8 } else { STREAM_BYTES })
}

/// Makes a shape with so many bytes, or a few more (the 64 MiB line has its own).
pub fn sized(name: &str, bytes: usize) -> Shape {
    let stream = match name {
        "small events" => repeated(bytes, small),
        "1.3 KB JSON" => repeated(bytes, json_event),
        "150-byte deltas" => repeated(bytes, delta),
        "20-line events" => repeated(bytes, many_lines),
        "1 MiB lines" => repeated(bytes, |out, random| line(out, random, 1 << 20)),
        "64 MiB line" => repeated(1, |out, random| line(out, random, (64 << 20) - 64)),
        "CRLF" => repeated(bytes, crlf),
        "multi-byte text" => repeated(bytes, multi_byte),
        "heartbeats" => repeated(bytes, |out, _| out.extend_from_slice(b": keep-alive\n\n")),
        "one-byte chunks" => repeated(bytes, small),
        "hostile drip" => repeated(bytes, hostile),
        other => panic!("`{other}` is not the name of a shape"),
    };
    let chunk_bytes: &[usize] = match name {
        "one-byte chunks" => &[1],
        "hostile drip" => &[1, 2, 1, 5, 3, 1, 7],
        _ => &[CHUNK_BYTES],
    };
    Shape { stream, chunk_bytes }
}

/// Numbers that look like any (Marsaglia's xorshift).
pub struct Random(u64);

impl Random {
    /// Below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Appends blocks until there are `bytes`.
fn repeated(bytes: usize, mut block: impl FnMut(&mut Vec<u8>, &mut Random)) -> Vec<u8> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut out = Vec::with_capacity(bytes + bytes / 8);
    while out.len() < bytes {
        block(&mut out, &mut random);
    }
    out
}

fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// 80 bytes with all fields.
fn small(out: &mut Vec<u8>, random: &mut Random) {
    let id = 1_000_000 + out.len();
    let price = random.below(90_000) + 10_000;
    push(out, &format!("id: {id:08}\nevent: trade\ndata: {{\"symbol\":\"ACME\",\"price\":{price},\"size\":12}}\n\n"));
}

/// JSON of about 1.2 KB as an API gives it: many short strings and numbers.
fn json_event(out: &mut Vec<u8>, random: &mut Random) {
    push(out, &format!("id: {}\ndata: ", 1_718_000_000_000 + out.len()));
    push(out, &json_value(random, 1_250));
    push(out, "\n\n");
}

/// A JSON object of at least so many bytes.
pub fn json_value(random: &mut Random, bytes: usize) -> String {
    const WORDS: [&str; 8] =
        ["update", "Main Street 12", "en", "edit", "a longer remark, with a comma", "ok", "EUR", "x"];
    let mut text = String::from("{\"type\":\"change\",\"items\":[");
    while text.len() < bytes {
        let word = WORDS[random.below(8) as usize];
        let (number, flag) = (random.below(1_000_000), random.below(2) == 0);
        text.push_str(&format!(
            "{{\"id\":{number},\"title\":\"{word}\",\"minor\":{flag},\"length\":{}}},",
            number % 977
        ));
    }
    text.pop();
    text.push_str("]}");
    text
}

/// What a language model's API sends for a token.
fn delta(out: &mut Vec<u8>, random: &mut Random) {
    let token = random.below(100_000);
    push(
        out,
        &format!(
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\
             \"text_delta\",\"text\":\" word{token}\"}}}}\n\n"
        ),
    );
}

fn many_lines(out: &mut Vec<u8>, random: &mut Random) {
    push(out, &format!("id: {}\n", out.len()));
    for number in 0..20 {
        push(out, &format!("data: line {number} of a text that was pasted, {}\n", random.below(1_000_000_000)));
    }
    push(out, "\n");
}

/// One event with one data line.
fn line(out: &mut Vec<u8>, random: &mut Random, bytes: usize) {
    push(out, "data: ");
    let piece = json_value(random, 4_096);
    let end = out.len() + bytes;
    while out.len() < end {
        push(out, &piece[..piece.len().min(end - out.len())]);
    }
    push(out, "\n\n");
}

fn crlf(out: &mut Vec<u8>, random: &mut Random) {
    push(out, &format!("id: {}\r\ndata: {}\r\n\r\n", out.len(), json_value(random, 250)));
}

fn multi_byte(out: &mut Vec<u8>, random: &mut Random) {
    const WORDS: [&str; 6] = ["こんにちは", "Straße", "données", "мир", "😀", "数据流"];
    push(out, "data: ");
    for _ in 0..40 {
        push(out, WORDS[random.below(6) as usize]);
        push(out, " ");
    }
    push(out, "\n\n");
}

/// Everything that makes a parser work for little: names that are almost names, one-byte data lines, lone CRs, bytes
/// that are no UTF-8, comments and times between the lines of a block.
fn hostile(out: &mut Vec<u8>, random: &mut Random) {
    const LINES: [&[u8]; 10] = [
        b"data:\n",
        b"data\r",
        b"data: \xff\xfe\n",
        b"dat: x\n",
        b"event:\r\n",
        b"id: a\0b\n",
        b": \xc3\n",
        b"retry: 1x\n",
        b"\n",
        b"data: \xe2\x82\r\n",
    ];
    out.extend_from_slice(LINES[random.below(10) as usize]);
}
