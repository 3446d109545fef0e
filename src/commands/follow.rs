//! `tail` and `resume`: several streams side by side, each with a driver of its own.

use std::rc::Rc;

use tokio::task::JoinSet;
use url::Url;

use super::ending::{Circumstances, Ending, conclude, shell_word, typed};
use super::exports::Begin;
use super::sinks::{AnySink, export_path};
use super::{signals, wiring};
use crate::consumer::machine::{Consumer, Start};
use crate::consumer::options::Follow;
use crate::consumer::time::Timestamp;
use crate::driver::{Bounds, Clock, Driver, Edge, Outcome, ShutdownHandle};
use crate::error::{Exit, Failure, holder_words};
use crate::output::console::Terminal;
use crate::output::export::Reopen;
use crate::output::stats::summary;
use crate::output::stdout::StdoutSink;
use crate::redact::RedactedUrl;
use crate::settings::{Settings, StreamSettings};
use crate::store::memory::MemoryStore;
use crate::store::process::LocalProcesses;
use crate::store::sqlite::SqliteStore;
use crate::store::thread::{Acquisition, OwnedStream, StoreHandle, StoreThread};
use crate::store::{Acquire, Mover, Owned, Process, StoreError};

/// Runs `tail` or `resume` to its end.
///
/// # Errors
/// The failure of the only stream. With several, each failure is said when it happens, and the code of the first is
/// returned.
pub fn run(settings: Settings) -> Result<Exit, Failure> {
    let terminal = wiring::terminal(&settings);
    let result = wiring::run(follow_all(settings, terminal.clone()));
    terminal.finish();
    result
}

/// What the streams of a run share.
struct Shared {
    settings: Settings,
    follow: Follow,
    terminal: Terminal,
    /// The database; `None` with `--no-store`, or where a `tail` has to do without.
    store: Option<StoreHandle>,
    memory: StoreHandle,
    stdout: Option<StdoutSink>,
    bounds: Bounds,
    shutdown: ShutdownHandle,
    reopen: Reopen,
}

async fn follow_all(settings: Settings, terminal: Terminal) -> Result<Exit, Failure> {
    let follow = settings.streams.first().map_or(Follow::Tail, |stream| stream.policy.follow);
    let shutdown = ShutdownHandle::default();
    let reopen = Reopen::default();
    signals::listen(shutdown.clone())?;
    if settings.output.export.is_some() {
        signals::reopen_on_hangup(reopen.clone())?;
    }
    let database = open_database(&settings, follow, &terminal)?;
    let memory = StoreThread::start(MemoryStore::new(LocalProcesses::new()), Clock::wall)?;
    let stdout = match settings.output.export {
        Some(_) => None,
        None => Some(StdoutSink::open().map_err(|error| Failure::output(&error))?),
    };
    let shared = Rc::new(Shared {
        bounds: wiring::bounds(&settings),
        settings,
        follow,
        terminal,
        store: database.as_ref().map(StoreThread::handle),
        memory: memory.handle(),
        stdout,
        shutdown,
        reopen,
    });
    let result = join(&shared).await;
    if let Some(database) = database {
        database.finish().await;
    }
    result
}

/// Rule 12: without its store a `tail` says so and goes on in memory, a `resume` does not start.
fn open_database(settings: &Settings, follow: Follow, terminal: &Terminal) -> Result<Option<StoreThread>, Failure> {
    let Some(path) = &settings.store.db else { return Ok(None) };
    let opened =
        SqliteStore::open(path, LocalProcesses::new()).and_then(|store| StoreThread::start(store, Clock::wall));
    match opened {
        Ok(thread) => Ok(Some(thread)),
        Err(error) if follow == Follow::Tail => {
            terminal.note(&format!(
                "the database `{}` cannot be used ({error}); this `tail` keeps its cursor in memory",
                path.display()
            ));
            Ok(None)
        }
        Err(error) => {
            let failure = Failure::store(format!("use the database `{}`", path.display()), &error);
            let known = failure.hint.is_some();
            Err(if known {
                failure
            } else {
                failure.hint("name another with `--db PATH`, or keep nothing with `--no-store`")
            })
        }
    }
}

async fn join(shared: &Rc<Shared>) -> Result<Exit, Failure> {
    let several = shared.settings.streams.len() > 1;
    let mut streams = JoinSet::new();
    for index in 0..shared.settings.streams.len() {
        let shared = Rc::clone(shared);
        streams.spawn_local(async move { follow_one(&shared, index).await });
    }
    let mut first: Option<Exit> = None;
    while let Some(joined) = streams.join_next().await {
        let result = joined.unwrap_or_else(|error| {
            Err(Failure::new(Exit::Failure, "go on").cause(format!("a defect of ssectl itself: {error}")))
        });
        match result {
            Ok(Exit::Success) => {}
            Ok(exit) => first = first.or(Some(exit)),
            Err(failure) if several => {
                shared.terminal.lines(&failure.to_string().lines().map(str::to_owned).collect::<Vec<_>>());
                first = first.or(Some(failure.exit));
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(first.unwrap_or(Exit::Success))
}

async fn follow_one(shared: &Shared, index: usize) -> Result<Exit, Failure> {
    let stream = &shared.settings.streams[index];
    let transport = wiring::transport(&stream.http)?;
    let console = shared.terminal.stream(&stream.name);
    let url = RedactedUrl(&stream.http.url).to_string();
    let (journal, mut owned, stored) = acquire(shared, stream, &url).await?;
    warn_of_moved_url(shared, stream, &owned, &url);
    let spare = match (shared.follow, stored) {
        (Follow::Tail, true) => Some(in_memory(shared, stream, &url).await?.0),
        _ => None,
    };
    let sink = sink(shared, stream, &mut owned, &journal).await?;
    let clock = Clock::start();
    let policy = policy(stream, *owned, clock.now());
    let edge =
        Edge { transport, journal, spare, sink, format: wiring::formatter(&shared.settings, &stream.name), console };
    let settings = wiring::driver_settings(&shared.settings, stream, &shared.bounds);
    let outcome =
        Driver::new(policy, edge, settings, clock, wiring::jitter()).with_shutdown(shared.shutdown.clone()).run().await;
    finish(shared, stream, outcome, (&url, stored)).await
}

fn policy(stream: &StreamSettings, owned: Owned, now: Timestamp) -> Consumer {
    let start = Start { record: owned.record, last_gap_number: owned.last_gap_number, key_seed: &owned.key_seed };
    Consumer::new(stream.policy.clone(), start, now)
}

/// Gives the stream back and says how it ended.
async fn finish(
    shared: &Shared,
    stream: &StreamSettings,
    outcome: Outcome<OwnedStream>,
    (url, stored): (&str, bool),
) -> Result<Exit, Failure> {
    let last_end = outcome.end.in_words();
    let journal = outcome.journal.clone();
    let stats = outcome.stats.clone();
    let circumstances = Circumstances {
        stream: &stream.name,
        url,
        typed: &typed(stream),
        follow: shared.follow,
        bounded: shared.bounds.is_bounded() || !stream.connection.reconnect,
        stored,
        has_credentials: stream.http.has_credentials(),
    };
    let Ending { result, note } = conclude(outcome, &circumstances);
    // Fenced off or broken, it is not ours to give back.
    if let Err(error) = journal.release(&last_end).await {
        shared.terminal.detail(1, &format!("the stream could not be given back: {error}"));
    }
    if let Some(note) = note {
        shared.terminal.note(&note);
    }
    if shared.settings.output.stats {
        shared.terminal.lines(&summary(&stats, &stream.name));
    }
    result
}

/// Standard output, or the stream's export, brought together with what is stored.
async fn sink(
    shared: &Shared,
    stream: &StreamSettings,
    owned: &mut Owned,
    journal: &OwnedStream,
) -> Result<AnySink, Failure> {
    let (stdout, export) = (&shared.stdout, &shared.settings.output.export);
    let (None, Some(export)) = (stdout, export) else {
        let stdout = stdout.clone().map_or_else(StdoutSink::open, Ok);
        return stdout.map(AnySink::Stdout).map_err(|error| Failure::output(&error));
    };
    let begin = Begin {
        path: &export_path(&export.file, &stream.name),
        rotate: export.rotate,
        stream,
        format: &shared.settings.output.format,
        json_data: shared.settings.output.json_data,
        reopen: shared.reopen.clone(),
    };
    let begun = begin.run(owned, journal).await;
    if begun.is_err() {
        // The refusal is what is to be told; a stream that cannot be given back is given up with the process.
        let _ = journal.release("export refused").await;
    }
    begun.map(AnySink::Export)
}

/// Makes the stream this process's own (rules 9 and 10). The last part says whether it is stored.
async fn acquire(
    shared: &Shared,
    stream: &StreamSettings,
    url: &str,
) -> Result<(OwnedStream, Box<Owned>, bool), Failure> {
    let Some(store) = &shared.store else {
        let (journal, owned) = in_memory(shared, stream, url).await?;
        return Ok((journal, owned, false));
    };
    let tail = shared.follow == Follow::Tail;
    let why = match store.acquire(request(shared, stream, url)).await {
        Ok(Acquisition::Owned(journal, owned)) => {
            if let Some(holder) = &owned.taken_from {
                shared.terminal.note(&format!("taken over from the `tail` of {}", holder_words(holder)));
            }
            return Ok((journal, owned, true));
        }
        Ok(Acquisition::Busy(holder)) if tail => format!("the stream is in use by {}", holder_words(&holder)),
        Ok(Acquisition::Reserved(_)) => {
            format!("its stored cursor is a script's; `ssectl resume {}` goes on from it", typed(stream))
        }
        Ok(Acquisition::Busy(holder)) => {
            return Err(Failure::store(format!("resume `{}`", stream.name), &StoreError::Busy(holder)));
        }
        Err(error) if tail => format!("the store cannot be used ({error})"),
        Err(error) => return Err(Failure::store(format!("resume `{}`", stream.name), &error)),
    };
    shared.terminal.note(&format!("`{}`: {why}; this `tail` keeps its cursor in memory", stream.name));
    let (journal, owned) = in_memory(shared, stream, url).await?;
    Ok((journal, owned, false))
}

async fn in_memory(shared: &Shared, stream: &StreamSettings, url: &str) -> Result<(OwnedStream, Box<Owned>), Failure> {
    match shared.memory.acquire(request(shared, stream, url)).await? {
        Acquisition::Owned(journal, owned) => Ok((journal, owned)),
        Acquisition::Busy(_) | Acquisition::Reserved(_) => {
            Err(Failure::usage(format!("follow `{}` twice in one process", stream.name)))
        }
    }
}

fn request(shared: &Shared, stream: &StreamSettings, url: &str) -> Acquire {
    Acquire {
        stream: stream.name.clone(),
        process: Process::current(),
        mover: match shared.follow {
            Follow::Tail => Mover::Tail,
            Follow::Resume => Mover::Resume,
        },
        url: url.to_owned(),
        window: stream.policy.window,
        now: Clock::wall(),
    }
}

/// Rule 13: a config name that leads elsewhere now is warned about before its cursor goes there.
fn warn_of_moved_url(shared: &Shared, stream: &StreamSettings, owned: &Owned, url: &str) {
    let Some(previous) = owned.previous_url.as_deref().filter(|_| stream.from_config) else { return };
    let place =
        |text: &str| Url::parse(text).ok().map(|url| (url.host_str().map(str::to_owned), url.path().to_owned()));
    if place(previous) != place(url) && owned.record.head.latest.is_some() {
        shared.terminal.note(&format!(
            "`{}` was `{previous}` when its cursor was stored and is `{url}` now; the cursor is sent there. \
             If that is another stream: `ssectl checkpoint reset {}`",
            stream.name,
            shell_word(stream.name.as_str())
        ));
    }
}
