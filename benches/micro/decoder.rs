//! The decoder alone, on every shape of stream, next to the crates that do the same and to two lower bounds.
//! The contenders of one shape run one after the other, so that a ratio is of one moment.

use std::fmt;

use divan::Bencher;
use divan::counter::BytesCount;

use crate::support::contenders::Contender;
use crate::support::shapes;

/// One cell of the table.
#[derive(Clone, Copy)]
struct Cell {
    shape: &'static str,
    contender: Contender,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} | {}", self.shape, self.contender)
    }
}

fn cells() -> impl Iterator<Item = Cell> {
    let all = shapes::NAMES.into_iter().flat_map(|shape| Contender::ALL.map(|contender| Cell { shape, contender }));
    all.filter(|cell| cell.contender.can_read(cell.shape))
}

#[divan::bench(args = cells(), max_time = 1, sample_count = 50)]
fn decode(bencher: Bencher<'_, '_>, cell: Cell) {
    let shape = shapes::shape(cell.shape);
    bencher.counter(BytesCount::new(shape.stream.len())).bench_local(|| cell.contender.read(&shape));
}
