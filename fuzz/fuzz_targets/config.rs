#![no_main]

#[path = "../properties.rs"]
#[allow(dead_code, reason = "each target has one property of these")]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::config(bytes));
