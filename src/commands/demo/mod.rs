//! `demo`: the whole story in ten seconds, on loopback. A server of our own drops events, the real client recovers
//! them, and the server's log is the judge.
//!
//! Plugs the same parts together as `tail` does: transport, policy, driver and a database, in a folder that goes when
//! the demo ends. Only the output is its own, since it must know what was delivered. The environment's proxies are
//! not used, the user's database and config file are not touched.

mod figures;
mod folder;
mod story;
mod teller;
mod watcher;

use std::time::Duration;

use url::Url;

use self::figures::Figures;
use self::folder::Folder;
use self::story::{Pace, Story};
use self::teller::Teller;
use self::watcher::Watcher;
use super::checkpoint::pretty;
use super::{signals, wiring};
use crate::consumer::backoff::BackoffOptions;
use crate::consumer::id::StreamName;
use crate::consumer::idle::IdleOption;
use crate::consumer::machine::{Consumer, Start};
use crate::consumer::options::{Follow, OnDrop, Options as Policy};
use crate::consumer::ports::Sink;
use crate::driver::{self, Bounds, Clock, Driver, Edge, Grouping, Outcome, Shutdown, ShutdownHandle};
use crate::error::{Exit, Failure};
use crate::http::{HttpTransport, Options as HttpOptions};
use crate::output::format::{FormatKind, FormatOptions, Formatter};
use crate::output::stdout::StdoutSink;
use crate::server::DemoServer;
use crate::settings::values::ListFormat;
use crate::settings::{DemoSettings, defaults};
use crate::store::process::LocalProcesses;
use crate::store::sqlite::SqliteStore;
use crate::store::thread::{Acquisition, OwnedStream, StoreHandle, StoreThread};
use crate::store::{Acquire, Mover, Process};
use crate::wire::Limits;

/// The name of the stream.
const STREAM: &str = "demo";
/// The id of the first event.
const FIRST_ID: u64 = 53_901;
/// The slow-client limit of the server, in events.
const LIMIT_EVENTS: usize = 64;
/// A connection on loopback stands at once or never.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs `demo` to its end.
///
/// # Errors
/// Events were lost or delivered twice; or why the story did not come to its end.
pub fn run(settings: &DemoSettings) -> Result<Exit, Failure> {
    wiring::run(demo(settings))
}

async fn demo(settings: &DemoSettings) -> Result<Exit, Failure> {
    let signals = ShutdownHandle::default();
    signals::listen(signals.clone())?;
    let stdout = StdoutSink::open().map_err(|error| Failure::output(&error))?;
    let folder = Folder::create(&settings.temporary)?;
    let path = folder.path("ssectl.db");
    let database = SqliteStore::open(&path, LocalProcesses::new())
        .and_then(|store| StoreThread::start(store, Clock::wall))
        .map_err(|error| Failure::store(format!("use the database `{}`", path.display()), &error))?;
    let result = tokio::select! {
        asked = signals.asked() => Ok(signals::exit_of(asked)),
        () = stdout.closed() => Ok(Exit::Success),
        result = Box::pin(perform(settings, stdout.clone(), database.handle())) => result,
    };
    database.finish().await;
    drop(folder);
    result
}

/// Sets the stage, lets the story happen while the client runs, and judges.
async fn perform(settings: &DemoSettings, stdout: StdoutSink, store: StoreHandle) -> Result<Exit, Failure> {
    let stream = StreamName::new(STREAM).expect("the name has neither `#` nor control characters");
    let server = DemoServer::start(FIRST_ID, LIMIT_EVENTS).await.map_err(|error| {
        Failure::new(Exit::Failure, "start the demo's server on this machine").cause(error.to_string())
    })?;
    let pretty = settings.format == ListFormat::Pretty;
    let pace = if pretty { Pace::PERSON } else { Pace::PROGRAM };
    let watcher = Watcher::default();
    let stop = ShutdownHandle::default();
    let client = Client { server: &server, store: &store, stream: &stream, watcher: &watcher };
    let mut client = Box::pin(client.driver(settings.on_drop, pace).await?.with_shutdown(stop.clone()).run());
    let format = pretty.then(|| {
        let options = FormatOptions::new(FormatKind::Pretty, stream.clone());
        Formatter::new(FormatOptions { color: settings.color.stdout, ..options })
    });
    let mut story = Story {
        server,
        limit: LIMIT_EVENTS,
        store,
        stream,
        watcher,
        teller: Teller { stdout, format },
        pace,
        on_drop: settings.on_drop,
        published: 0,
    };
    tokio::select! {
        told = story.tell() => told?,
        outcome = &mut client => return Err(ended_early(&outcome, &story)),
    }
    stop.ask(Shutdown::Count);
    conclude(&mut story, client.await).await
}

/// What the client is made of.
struct Client<'a> {
    server: &'a DemoServer,
    store: &'a StoreHandle,
    stream: &'a StreamName,
    watcher: &'a Watcher,
}

impl Client<'_> {
    /// The driver of a `tail`.
    async fn driver(
        &self,
        on_drop: OnDrop,
        pace: Pace,
    ) -> Result<Driver<Consumer, HttpTransport, OwnedStream, Watcher, Formatter, Watcher>, Failure> {
        let url = self.server.url();
        let acquire = Acquire {
            stream: self.stream.clone(),
            process: Process::current(),
            mover: Mover::Tail,
            url: url.clone(),
            window: pace.window,
            now: Clock::wall(),
        };
        let Acquisition::Owned(journal, owned) = self.store.acquire(acquire).await? else {
            return Err(Failure::new(Exit::Failure, "own the demo's stream"));
        };
        let clock = Clock::start();
        let start = Start { record: owned.record, last_gap_number: owned.last_gap_number, key_seed: &owned.key_seed };
        let policy = Policy { window: pace.window, on_drop, ..Policy::new(Follow::Tail) };
        let policy = Consumer::new(policy, start, clock.now());
        let url = Url::parse(&url).expect("an address with a path is a URL");
        let http = HttpOptions { direct: true, connect_timeout: CONNECT_TIMEOUT, ..HttpOptions::new(url) };
        let format = FormatOptions::new(FormatKind::Json, self.stream.clone());
        let edge = Edge {
            transport: wiring::transport(&http)?,
            journal,
            spare: None,
            sink: self.watcher.clone(),
            format: Formatter::new(FormatOptions { comments: true, notices: true, ..format }),
            console: self.watcher.clone(),
        };
        Ok(Driver::new(policy, edge, driver_settings(), clock, wiring::jitter()))
    }
}

/// What `tail` has without flags.
fn driver_settings() -> driver::Settings {
    driver::Settings {
        bounds: Bounds::default(),
        idle: IdleOption::Auto,
        backoff: BackoffOptions { initial: defaults::RETRY_INITIAL, max: defaults::RETRY_MAX, max_retries: None },
        reconnect: true,
        limits: Limits::default(),
        read_ahead_bytes: defaults::READ_AHEAD_BYTES,
        grouping: Grouping::default(),
        url_position: None,
        policies: None,
    }
}

fn ended_early(outcome: &Outcome<OwnedStream>, story: &Story) -> Failure {
    let failure = Failure::new(Exit::Failure, "finish the demo")
        .cause(format!("the client ended before the story did: {}", outcome.end.in_words()));
    match &story.watcher.seen().warning {
        Some(warning) => failure.cause(warning.clone()),
        None => failure,
    }
}

/// Gives the stream back, shows what is stored, and judges.
async fn conclude(story: &mut Story, outcome: Outcome<OwnedStream>) -> Result<Exit, Failure> {
    if let Some(error) = outcome.commit_failure {
        return Err(error.into());
    }
    outcome.journal.release(&outcome.end.in_words()).await?;
    let figures = Figures::new(&story.server.log(), &story.watcher.seen());
    if story.teller.is_pretty() {
        if let Some(summary) = story.store.show(&story.stream).await? {
            story.teller.say(&format!("6. `ssectl checkpoint show {STREAM}` says:\n")).await?;
            for line in pretty::show(&summary).lines() {
                let line = if line.is_empty() { String::new() } else { format!("   {line}") };
                story.teller.say(&line).await?;
            }
        }
        story.teller.say(&verdict(&figures)).await?;
    } else {
        let mut object = serde_json::to_vec(&figures).expect("numbers under names are JSON");
        object.push(b'\n');
        story.teller.write(object).await?;
    }
    judge(&figures)
}

fn verdict(figures: &Figures) -> String {
    let Figures { published, delivered, recovered, duplicates, lost, drop_notices } = figures;
    let word = if figures.are_good() {
        "every event that the server published was delivered, and delivered once"
    } else {
        "events were lost or delivered twice"
    };
    format!(
        "\n7. The server's log against what was delivered:\n\n   \
         published {published}, delivered {delivered}, recovered {recovered}, lost {lost}, duplicates {duplicates}, \
         drop notices {drop_notices}\n\nverdict: {word}"
    )
}

fn judge(figures: &Figures) -> Result<Exit, Failure> {
    if figures.are_good() {
        return Ok(Exit::Success);
    }
    let failure = Failure::new(Exit::Failure, "deliver every event once").cause(format!(
        "of {} events {} were lost, and {} came twice",
        figures.published, figures.lost, figures.duplicates
    ));
    Err(failure.hint("`ssectl demo` without `--on-drop warn` recovers what the server dropped"))
}
