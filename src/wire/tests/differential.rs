//! Any bytes under any chunking must give what the reference gives.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

/// As configured, with a seed that a failure shows: `PROPTEST_RNG_SEED=… cargo test` runs the same cases again.
pub(super) fn config() -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(RandomState::new().hash_one(0));
    }
    eprintln!("PROPTEST_RNG_SEED={}", config.rng_seed);
    config
}

/// Bytes that look like a stream, wrong in every way that matters.
pub(super) fn stream() -> impl Strategy<Value = Vec<u8>> {
    let token = |bytes: &'static [u8]| Just(bytes.to_vec());
    let line_end = prop_oneof![token(b"\n"), token(b"\r"), token(b"\r\n")];
    let name = prop_oneof![
        6 => token(b"data"), 3 => token(b"id"), 2 => token(b"event"), 2 => token(b"retry"),
        1 => token(b"dat"), 1 => token(b"datas"), 1 => token(b"unknown"), 3 => token(b""),
    ];
    let value = prop_oneof![
        Just("é€😀\u{FEFF}".as_bytes().to_vec()),
        token(b"\xF0\x9F\x98"),
        token(b"\xFF"),
        token(b"\0"),
        "[0-9]{0,24}".prop_map(String::into_bytes),
        "[ -~]{0,12}".prop_map(String::into_bytes),
    ];
    let colon =
        prop_oneof![1 => token(b""), 3 => token(b":"), 5 => token(b": "), 1 => token(b":  ")];
    let line = (name, colon, value, line_end.clone()).prop_map(|(name, colon, value, end)| {
        let value = if colon.is_empty() { Vec::new() } else { value };
        [name, colon, value, end].concat()
    });
    let part = prop_oneof![
        8 => line,
        4 => line_end,
        1 => token(b"\xEF\xBB\xBF"),
        1 => token(b"\xEF\xBB"),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

fn limits() -> impl Strategy<Value = Limits> {
    prop_oneof![
        Just(Limits::default()),
        (0usize..40, 0usize..12).prop_map(|(event_bytes_max, comment_bytes_max)| Limits {
            event_bytes_max,
            comment_bytes_max
        }),
    ]
}

/// Cuts bytes to chunks of these sizes, over and over.
fn cut<'c>(bytes: &'c [u8], sizes: &[usize]) -> Vec<&'c [u8]> {
    let mut rest = bytes;
    let mut chunks = Vec::new();
    for &size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, after) = rest.split_at(size.min(rest.len()));
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_stream_under_any_chunking(
        bytes in stream(),
        sizes in prop::collection::vec(0usize..12, 0..6),
        limits in limits(),
    ) {
        let expected = reference::decode(&bytes, limits);
        let sizes = [sizes, vec![1]].concat();
        prop_assert_eq!(decode(cut(&bytes, &sizes), limits), expected.clone());
        prop_assert_eq!(decode([bytes.as_slice()], limits), expected);
    }

    #[test]
    fn any_bytes_at_all(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 1usize..20) {
        let limits = Limits { event_bytes_max: 50, comment_bytes_max: 5 };
        prop_assert_eq!(decode(bytes.chunks(size), limits), reference::decode(&bytes, limits));
    }

    #[test]
    fn a_decoder_used_again_is_as_a_new_one(first in stream(), second in stream(), limits in limits()) {
        let mut decoder = Decoder::new(limits);
        feed(&mut decoder, &first);
        decoder.finish();
        let before = decoder.odd_bytes();
        let frames = feed(&mut decoder, &second);
        let outcome = Outcome { frames, finish: decoder.finish(), odd: decoder.odd_bytes() - before };
        prop_assert_eq!(outcome, reference::decode(&second, limits));
    }
}
