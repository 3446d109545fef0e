//! One piece of work on a fixed input, for `.ci/instructions`, which counts its instructions under callgrind.
//!
//! `instructions decode SHAPE` and `instructions write FORMAT SHAPE`; `instructions list` names them all. Only what
//! runs below [`measured`] is counted.

use std::hint::black_box;

#[path = "../benches/support/shapes.rs"]
#[expect(dead_code, reason = "the benches take whole streams")]
mod shapes;
#[path = "../benches/support/work.rs"]
mod work;

use work::Work;

/// Bytes of a stream that are worked on: enough for the beginning not to count, and few enough for an emulator.
const STREAM_BYTES: usize = 256 << 10;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words == ["list"] {
        for work in Work::all() {
            println!("{work}");
        }
        return;
    }
    let Some(work) = Work::all().find(|work| work.to_string() == words.join(" ")) else {
        panic!("`{}` is no work: ask for `list`", words.join(" "));
    };
    let mut shape = shapes::sized(work.shape(), STREAM_BYTES);
    shape.stream.truncate(STREAM_BYTES);
    // Once to fill buffers, and for what is made when it is first used.
    let mut ready = work.begin();
    ready.run(&shape);
    measured(|| black_box(ready.run(&shape)));
}

/// Its name is how callgrind knows what to count.
#[inline(never)]
fn measured(work: impl FnOnce() -> usize) {
    black_box(work());
}
