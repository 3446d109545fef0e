//! Small programs such as one would write on the peer crates: reqwest's bytes into their parser, NDJSON to stdout.

use std::io::{self, Write};

use eventsource_stream::Eventsource;
use futures_util::{StreamExt, TryStreamExt};
use sse_stream::SseStream;

/// Runs the peer `name` on `url`.
pub fn run(name: &str, url: &str) {
    let runtime = match name {
        "sse-stream-threads" => tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build(),
        _ => tokio::runtime::Builder::new_current_thread().enable_all().build(),
    };
    runtime.expect("the system gives a runtime").block_on(async {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let response = reqwest::Client::new().get(url).send().await.expect("the server answers");
        match name {
            "read" => read(response).await,
            "eventsource-stream" => eventsource_stream(response).await,
            _ => sse_stream(response).await,
        }
    });
}

/// Reads and writes, and looks at nothing.
async fn read(mut response: reqwest::Response) {
    let mut out = io::stdout().lock();
    while let Some(chunk) = response.chunk().await.expect("the server sends") {
        out.write_all(&chunk).expect("the output takes it");
    }
}

#[derive(serde::Serialize)]
struct Record<'a> {
    id: Option<&'a str>,
    event: &'a str,
    data: &'a str,
}

fn write(out: &mut impl Write, record: &Record<'_>) {
    serde_json::to_writer(&mut *out, record).expect("the output takes it");
    out.write_all(b"\n").expect("the output takes it");
}

async fn eventsource_stream(response: reqwest::Response) {
    let mut events = response.bytes_stream().eventsource();
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    while let Some(event) = events.next().await {
        let event = event.expect("the stream is one");
        write(&mut out, &Record { id: Some(&event.id), event: &event.event, data: &event.data });
    }
}

async fn sse_stream(response: reqwest::Response) {
    let mut events = SseStream::from_bytes_stream(response.bytes_stream().map_err(io::Error::other));
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    while let Some(event) = events.next().await {
        let event = event.expect("the stream is one");
        let data = event.data.unwrap_or_default();
        write(
            &mut out,
            &Record { id: event.id.as_deref(), event: event.event.as_deref().unwrap_or("message"), data: &data },
        );
    }
}
