//! Another stream, read by the ordinary client with its two cursors, and served to many readers here.
//!
//! What the client writes as SSE (`-o raw`) is decoded again and published. For the client an event is delivered once it
//! is published; cuts and drop notices of the other server are recovered before its events come here.

use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;

use super::outlet::Outlet;
use super::recorded::{Reader, Step};
use crate::commands::ending::{Circumstances, conclude, typed};
use crate::commands::wiring;
use crate::consumer::machine::{Consumer, Start};
use crate::consumer::options::Follow;
use crate::consumer::ports::{Sink, SinkError};
use crate::consumer::record::ExportMark;
use crate::driver::{Clock, Driver, Edge};
use crate::error::{Exit, Failure};
use crate::output::format::{FormatKind, FormatOptions, Formatter};
use crate::redact::RedactedUrl;
use crate::settings::{Settings, StreamSettings};
use crate::store::memory::MemoryStore;
use crate::store::process::LocalProcesses;
use crate::store::thread::{Acquisition, StoreThread};
use crate::store::{Acquire, Mover, Process};

/// Publishes what is written to it. A clone is the same sink.
#[derive(Clone)]
struct RelaySink {
    outlet: Outlet,
    reader: Rc<RefCell<Reader>>,
}

impl Sink for RelaySink {
    async fn write(&self, mut batch: Vec<u8>) -> Result<Vec<u8>, SinkError> {
        let mut steps = Vec::new();
        self.reader.borrow_mut().feed(&batch, &mut steps);
        let mut events = Vec::new();
        for recorded in steps {
            match recorded.step {
                Step::Event(event) => events.push(event),
                Step::Comment(text) => {
                    self.publish(std::mem::take(&mut events)).await?;
                    self.outlet.comment(&text);
                }
                Step::Retry(_) | Step::Cut | Step::Bad(..) => {}
            }
        }
        self.publish(events).await?;
        batch.clear();
        Ok(batch)
    }

    async fn sync(&self) -> Result<Option<ExportMark>, SinkError> {
        Ok(None)
    }

    async fn closed(&self) {
        pending().await
    }
}

impl RelaySink {
    async fn publish(&self, events: Vec<crate::server::Publication>) -> Result<(), SinkError> {
        let failed = |failure: Failure| SinkError::Failed(std::io::Error::other(failure.causes.join(": ")));
        self.outlet.publish(events).await.map_err(failed)
    }
}

/// Relays a stream until it ends.
///
/// # Errors
/// How the client failed, as `tail` says it.
pub(super) async fn play(settings: &Settings, outlet: &Outlet) -> Result<(), Failure> {
    let [stream] = settings.streams.as_slice() else {
        return Err(Failure::usage("relay several streams at once"));
    };
    let terminal = wiring::terminal(settings);
    let url = RedactedUrl(&stream.http.url).to_string();
    let memory = StoreThread::start(MemoryStore::new(LocalProcesses::new()), Clock::wall)?;
    let Acquisition::Owned(journal, owned) = memory.handle().acquire(acquire(stream, &url)).await? else {
        return Err(Failure::new(Exit::Failure, "keep a cursor in memory"));
    };
    let clock = Clock::start();
    let start = Start { record: owned.record, last_gap_number: owned.last_gap_number, key_seed: &owned.key_seed };
    let policy = Consumer::new(stream.policy.clone(), start, clock.now());
    let format = FormatOptions::new(FormatKind::Raw, stream.name.clone());
    let edge = Edge {
        transport: wiring::transport(&stream.http)?,
        journal,
        spare: None,
        sink: RelaySink { outlet: outlet.clone(), reader: Rc::new(RefCell::new(Reader::Unknown)) },
        format: Formatter::new(FormatOptions { comments: true, ..format }),
        console: terminal.stream(&stream.name),
    };
    let bounds = wiring::bounds(settings);
    let driver = wiring::driver_settings(settings, stream, &bounds);
    let outcome = Box::pin(Driver::new(policy, edge, driver, clock, wiring::jitter()).run()).await;
    let circumstances = Circumstances {
        stream: &stream.name,
        url: &url,
        typed: &typed(stream),
        follow: Follow::Tail,
        bounded: false,
        stored: false,
        has_credentials: stream.http.has_credentials(),
    };
    let ending = conclude(outcome, &circumstances);
    terminal.finish();
    ending.result.map(drop)
}

fn acquire(stream: &StreamSettings, url: &str) -> Acquire {
    Acquire {
        stream: stream.name.clone(),
        process: Process::current(),
        mover: Mover::Tail,
        url: url.to_owned(),
        window: stream.policy.window,
        now: Clock::wall(),
    }
}
