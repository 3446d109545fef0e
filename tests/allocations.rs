//! An event on its way through the process needs no memory of its own, once buffers have grown.

use ssectl::consumer::delivery::EventRecord;
use ssectl::consumer::id::StreamName;
use ssectl::consumer::ports::Format;
use ssectl::consumer::time::Timestamp;
use ssectl::output::format::{FormatKind, FormatOptions, Formatter};
use ssectl::wire::{Decoder, Frame, Limits};

/// Ids, types, several lines, every line end, comments, a time, text that is not ASCII, JSON and controls to escape.
fn stream() -> Vec<u8> {
    let block = "id: 12345\nevent: trade\ndata: {\"symbol\":\"ACME\",\"note\":\"a\\\\b\"}\n\n: keep-alive\n\n\
                 data: two\r\ndata: lines\r\n\r\nretry: 3000\nid: 12346\n\ndata: \u{1}é漢😀\rdata: more\r\r";
    block.repeat(200).into_bytes()
}

fn write_all(decoder: &mut Decoder, formatter: &mut Formatter, batch: &mut Vec<u8>, chunks: (&[u8], usize)) -> usize {
    let (stream, size) = chunks;
    let mut events = 0;
    for (number, chunk) in (0..).zip(stream.chunks(size)) {
        let mut frames = decoder.feed(chunk);
        while let Some(frame) = frames.next() {
            let Frame::Event(event) = frame else { continue };
            events += 1;
            let (id, event, data) = (event.id, event.event, event.data);
            let time = Timestamp(1_796_071_266_000_000 + number);
            formatter.event(batch, &EventRecord { id, own_id: id, event, data, time, replayed: false });
        }
    }
    batch.clear();
    events
}

#[test]
fn decoding_and_writing_allocate_nothing_once_buffers_have_grown() {
    let stream = stream();
    for output in ["json", "data", "raw", "pretty", "{id} {data}"] {
        let kind = FormatKind::parse(output).expect("the format is valid");
        let name = StreamName::new("counted").expect("the name is valid");
        let mut formatter = Formatter::new(FormatOptions::new(kind, name));
        let mut decoder = Decoder::new(Limits::default());
        let mut batch = Vec::new();
        for size in [stream.len(), 4096, 1460, 7, 1] {
            // The decoder's buffers change places, so that it takes a few rounds until each is large enough.
            let rounds = [(); 8].map(|()| write_all(&mut decoder, &mut formatter, &mut batch, (&stream, size)));
            let events = rounds[0];
            assert_eq!(events, 600, "{output}");
            let again = || assert_eq!(write_all(&mut decoder, &mut formatter, &mut batch, (&stream, size)), events);
            let counted = allocation_counter::measure(again);
            assert_eq!(counted.count_total, 0, "-o {output}, chunks of {size} bytes");
        }
    }
}

/// The count sees what it should: a decoder that is new has no buffers yet.
#[test]
fn a_new_decoder_allocates_for_what_a_chunk_cuts() {
    let counted = allocation_counter::measure(|| {
        let mut decoder = Decoder::new(Limits::default());
        assert!(decoder.feed(b"data: cut").next().is_none());
    });
    assert!(counted.count_total > 0);
}
