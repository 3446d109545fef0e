//! The seeds of the fuzz targets, and what fuzzing found, as ordinary tests.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../fuzz/properties.rs"]
mod properties;

use std::path::Path;

fn run(target: &str, property: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        property(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count > 0, "there are seeds");
}

#[test]
fn seeds_of_the_decoder() {
    run("decoder", properties::decoder);
}

#[test]
fn seeds_of_the_cursor_key() {
    run("cursor_key", properties::cursor_key);
}

#[test]
fn seeds_of_the_config_file() {
    run("config", properties::config);
}

#[test]
fn seeds_of_the_store() {
    run("store", properties::store);
}
