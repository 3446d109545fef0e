//! Benches of single parts on shapes of streams that are the same in every run. What a whole process reaches is measured
//! end to end.
//!
//! `cargo bench --bench micro`; behind `--`, words choose rows, such as `decode` or `"1.3 KB JSON"`.

#[path = "../support/mod.rs"]
mod support;

mod commit;
mod decoder;
mod work;

fn main() {
    divan::main();
}
