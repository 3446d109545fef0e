//! `serve`: a source, a server, and their ends.

mod input;
mod outlet;
mod recorded;
mod relay;
mod synthetic;

use std::io::{self, Write};

use self::outlet::Outlet;
use super::{signals, wiring};
use crate::driver::ShutdownHandle;
use crate::error::{Exit, Failure};
use crate::server::{METRICS_PATH, STREAM_PATH, Server};
use crate::settings::ServeSettings;
use crate::settings::serve::Source;

/// Runs `serve` to its end.
///
/// # Errors
/// Why it cannot listen, or what its source failed with.
pub fn run(settings: ServeSettings) -> Result<Exit, Failure> {
    wiring::run(serve(settings))
}

async fn serve(settings: ServeSettings) -> Result<Exit, Failure> {
    let signals = ShutdownHandle::default();
    signals::listen(signals.clone())?;
    let listen = settings.server.listen;
    if let Source::File(path) = &settings.source {
        input::check(path)?;
    }
    let (log, events) = match &settings.log {
        Some(path) => outlet::open_log(path, settings.server.log_events).map(|(log, events)| (Some(log), events))?,
        None => (None, Vec::new()),
    };
    let server = Server::start(settings.server.clone(), events)
        .await
        .map_err(|error| Failure::new(Exit::Failure, format!("listen on `{listen}`")).cause(error.to_string()))?;
    announce(&server, settings.quiet)?;
    let result = tokio::select! {
        asked = signals.asked() => Ok(signals::exit_of(asked)),
        result = work(&settings, &server, Outlet::new(server.publisher(), log, settings.quiet)) => result.map(|()| Exit::Success),
    };
    server.stop().await;
    result
}

/// Plays the source; then there is nothing left to do but to serve what was played.
async fn work(settings: &ServeSettings, server: &Server, outlet: Outlet) -> Result<(), Failure> {
    server.live(settings.wait).await;
    play(settings, &outlet).await?;
    if settings.once {
        server.idle().await;
        return Ok(());
    }
    note(settings.quiet, "the source has ended; what it gave can be read again until a signal comes");
    std::future::pending().await
}

async fn play(settings: &ServeSettings, outlet: &Outlet) -> Result<(), Failure> {
    let warn = |text: &str| say("warning", text);
    match &settings.source {
        Source::Stdin => input::play_stdin(outlet, &warn).await,
        Source::File(path) => input::play_file(path, settings.speed, outlet, &warn).await,
        Source::Relay(relayed) => Box::pin(relay::play(relayed, outlet)).await,
        Source::Synthetic(types) => synthetic::play(types, outlet).await,
    }
}

/// The first line is for whoever started it: the URL of the stream.
fn announce(server: &Server, quiet: bool) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", server.url(STREAM_PATH)).and_then(|()| out.flush()).map_err(|error| Failure::output(&error))?;
    note(quiet, &format!("{} shows what clients get, {} is for Prometheus", server.url("/"), server.url(METRICS_PATH)));
    Ok(())
}

fn note(quiet: bool, text: &str) {
    if !quiet {
        say("note", text);
    }
}

fn say(word: &str, text: &str) {
    // Nobody reads it if stderr is gone.
    let _ = writeln!(io::stderr(), "{word}: {text}");
}
