//! Formats and sinks together, by the public interface: what a program reads from a pipe or a file.

#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

use std::io::Read;

use ssectl::consumer::delivery::EventRecord;
use ssectl::consumer::id::StreamName;
use ssectl::consumer::ports::{Format, Sink};
use ssectl::consumer::time::Timestamp;
use ssectl::output::export::{ExportFile, Reopen};
use ssectl::output::format::{FormatKind, FormatOptions, Formatter};
use ssectl::output::stdout::StdoutSink;

const EVENTS: usize = 1_000;
const EVENTS_A_BATCH: usize = 10;

/// Data that needs every sort of escape.
fn data(number: usize) -> String {
    format!("{{\"n\":{number}}}\n\u{1b}[31m\t\"\\ 漢字\u{2028}")
}

/// Writes all events in batches, with one buffer.
async fn write_events(stream: &str, sink: &mut impl Sink) {
    let stream = StreamName::new(stream).unwrap();
    let mut formatter = Formatter::new(FormatOptions::new(FormatKind::Json, stream));
    let mut batch = Vec::new();
    for number in 0..EVENTS {
        let (id, data) = (number.to_string(), data(number));
        let time = Timestamp(i64::try_from(number).unwrap());
        let (id, event) = (Some(id.as_str()), "message");
        formatter.event(&mut batch, &EventRecord { id, own_id: id, event, data: &data, time, replayed: false });
        if (number + 1) % EVENTS_A_BATCH == 0 {
            batch = sink.write(batch).await.unwrap();
            assert!(batch.is_empty());
        }
    }
    sink.sync().await.unwrap();
}

/// Every event of the stream is there once, in order.
fn check(stream: &str, text: &str) {
    let records = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let records: Vec<_> = records.filter(|record| record["stream"] == stream).collect();
    assert_eq!(records.len(), EVENTS);
    for (number, record) in records.iter().enumerate() {
        assert_eq!(record["id"], number.to_string());
        assert_eq!(record["data"], data(number));
        assert_eq!(record["time"], format!("1970-01-01T00:00:00.{number:06}Z"));
    }
}

#[tokio::test]
async fn two_streams_share_a_pipe() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let read = std::thread::spawn(move || {
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text
    });
    let mut one = StdoutSink::over(writer.into()).unwrap();
    let mut two = one.clone();
    tokio::join!(write_events("one", &mut one), write_events("two", &mut two));
    drop((one, two));
    let text = read.join().unwrap();
    check("one", &text);
    check("two", &text);
}

#[tokio::test]
async fn a_file_holds_every_record() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("events.ndjson");
    write_events("one", &mut ExportFile::open(&path).unwrap().into_sink(&Reopen::default(), None).unwrap()).await;
    check("one", &std::fs::read_to_string(&path).unwrap());
}
