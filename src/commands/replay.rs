//! `replay`: the replay window again. Reads the store, writes nothing to it.

use super::ending::{Circumstances, conclude, typed};
use super::sinks::AnySink;
use super::{signals, wiring};
use crate::consumer::cursors::advanced;
use crate::consumer::options::Follow;
use crate::consumer::record::Record;
use crate::consumer::replay::Replay;
use crate::driver::{Clock, Driver, Edge, ShutdownHandle};
use crate::error::{Exit, Failure};
use crate::output::console::Terminal;
use crate::output::stats::summary;
use crate::output::stdout::StdoutSink;
use crate::redact::RedactedUrl;
use crate::settings::{Settings, StreamSettings};
use crate::store::memory::MemoryStore;
use crate::store::process::LocalProcesses;
use crate::store::thread::{Acquisition, StoreThread};
use crate::store::{Acquire, Mover, Process};

/// Runs `replay` to its end.
///
/// # Errors
/// Why it could not be done.
pub fn run(settings: &Settings) -> Result<Exit, Failure> {
    let terminal = wiring::terminal(settings);
    let result = wiring::run(replay(settings, &terminal));
    terminal.finish();
    result
}

async fn replay(settings: &Settings, terminal: &Terminal) -> Result<Exit, Failure> {
    let [stream] = settings.streams.as_slice() else {
        return Err(Failure::usage("replay several streams at once"));
    };
    let mut record = stored(settings, stream)?;
    let clock = Clock::start();
    advanced(&mut record, stream.policy.window, clock.now());
    let policy = Replay::new(stream.policy.clone(), &record).ok_or_else(|| nothing_stored(stream))?;
    let shutdown = ShutdownHandle::default();
    signals::listen(shutdown.clone())?;
    let url = RedactedUrl(&stream.http.url).to_string();
    let memory = StoreThread::start(MemoryStore::new(LocalProcesses::new()), Clock::wall)?;
    let acquire = Acquire {
        stream: stream.name.clone(),
        process: Process::current(),
        mover: Mover::Resume,
        url: url.clone(),
        window: stream.policy.window,
        now: Clock::wall(),
    };
    let Acquisition::Owned(journal, _) = memory.handle().acquire(acquire).await? else {
        return Err(Failure::new(Exit::Failure, "keep a journal in memory"));
    };
    let edge = Edge {
        transport: wiring::transport(&stream.http)?,
        journal,
        spare: None,
        sink: AnySink::Stdout(StdoutSink::open().map_err(|error| Failure::output(&error))?),
        format: wiring::formatter(settings, &stream.name),
        console: terminal.stream(&stream.name),
    };
    let bounds = wiring::bounds(settings);
    let driver_settings = wiring::driver_settings(settings, stream, &bounds);
    let outcome =
        Driver::new(policy, edge, driver_settings, clock, wiring::jitter()).with_shutdown(shutdown).run().await;
    if settings.output.stats {
        terminal.lines(&summary(&outcome.stats, &stream.name));
    }
    let circumstances = Circumstances {
        stream: &stream.name,
        url: &url,
        typed: &typed(stream),
        follow: Follow::Resume,
        bounded: true,
        stored: true,
        has_credentials: stream.http.has_credentials(),
    };
    conclude(outcome, &circumstances).result
}

fn stored(settings: &Settings, stream: &StreamSettings) -> Result<Record, Failure> {
    let path = settings.store.db.as_ref().filter(|path| path.exists()).ok_or_else(|| nothing_stored(stream))?;
    let read = |error| Failure::store(format!("read the database `{}`", path.display()), &error);
    let mut store = super::open_store(path).map_err(read)?;
    store.peek(&stream.name).map_err(read)?.ok_or_else(|| nothing_stored(stream))
}

fn nothing_stored(stream: &StreamSettings) -> Failure {
    Failure::usage(format!("replay `{}`", stream.name)).cause("nothing is stored of the stream").hint(format!(
        "`ssectl resume {}` begins a record; `ssectl checkpoint list` shows what is stored",
        typed(stream)
    ))
}
