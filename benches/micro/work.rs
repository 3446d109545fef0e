//! The work on an event beside decoding: what the policy decides, and the record that is written.
//! Decoding is part of each row; that of the same shape alone is the row `decode`.

use divan::Bencher;
use divan::counter::BytesCount;

use crate::support::shapes;
use crate::support::work::{WRITTEN, Work};

fn works() -> impl Iterator<Item = Work> {
    Work::all().filter(|work| WRITTEN.contains(&work.shape()))
}

#[divan::bench(args = works(), max_time = 1, sample_count = 30)]
fn work(bencher: Bencher<'_, '_>, work: Work) {
    let shape = shapes::shape(work.shape());
    let mut ready = work.begin();
    ready.run(&shape);
    bencher.counter(BytesCount::new(shape.stream.len())).bench_local(|| ready.run(&shape));
}
