//! Whole programs against a loopback server: `curl -sN`, a bare read loop, small programs on the peer crates, and
//! ssectl in its modes, interleaved, so that a ratio is of one moment. Prints the tables of `docs/performance.md`.
//!
//! `cargo bench --bench e2e` measures all rows, `cargo bench --bench e2e -- ROW...` those whose names hold one of the
//! words; `E2E_RUNS` (5) says how many times each, `E2E_MEGABYTES` (256) how much is sent.
//! `... -- serve ROW` serves what a row sends until it is interrupted, for a profiler on the reader's side.

#[path = "../support/shapes.rs"]
#[expect(dead_code, reason = "other benches use the rest")]
mod shapes;

mod latency;
mod peers;
mod rows;
mod run;
mod server;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.first().map(String::as_str) {
        // The bench is its own peer program: cargo gives benches no other binary than the package's.
        Some("peer") => peers::run(&arguments[1], &arguments[2]),
        Some("serve") => rows::serve_row(&arguments[1]),
        _ => {
            rows::measure(&arguments);
            latency::measure(&arguments);
        }
    }
}

/// A number from the environment.
fn setting(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}
