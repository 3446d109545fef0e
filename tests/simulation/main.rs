//! Whole lives of a stream in microseconds: the policy against a model server that drops, cuts, forgets and lies,
//! and a client that crashes between any two steps. What must hold is checked after every step.
//!
//! `SSECTL_SIM_HISTORIES=1000000 cargo test --release --test simulation` runs a million; each history has a number,
//! and `SSECTL_SIM_ONLY=NUMBER` runs that one again and tells its story.

mod client;
mod random;
mod server;
mod world;

use world::World;

/// Histories of an ordinary run: seconds.
const HISTORIES: u64 = 4_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn histories_lose_nothing_and_repeat_nothing() {
    if let Some(only) = number("SSECTL_SIM_ONLY") {
        World::new(only, true).live();
        return;
    }
    let histories = number("SSECTL_SIM_HISTORIES").unwrap_or(HISTORIES);
    let mut events = 0;
    let mut recoveries = 0;
    let mut lossless = (0, 0);
    for seed in 0..histories {
        let world = World::new(seed, false).live();
        events += world.delivered();
        recoveries += world.gaps_ended();
        let (gaps, called_lost) = world.called_lost();
        lossless = (lossless.0 + gaps, lossless.1 + called_lost);
    }
    println!("{histories} histories, {events} events delivered, {recoveries} gaps ended");
    let (gaps, called_lost) = lossless;
    println!("of {gaps} gaps in which nothing was lost in the end, {called_lost} are called lost");
    // Holes within holes, with a crash between them, are beyond what is stored.
    assert!(called_lost * 100 <= gaps, "what came after all is called lost");
    assert!(recoveries > histories / 10, "the histories must be about something");
}
