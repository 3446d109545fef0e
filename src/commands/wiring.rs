//! What `tail`, `resume`, `replay` and `demo` plug together alike: runtime, terminal, formats, transports, drivers.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::runtime::Builder;
use tokio::task::LocalSet;

use crate::consumer::id::StreamName;
use crate::driver::{self, Bounds, Grouping};
use crate::error::{Exit, Failure};
use crate::http::{HttpTransport, Options as HttpOptions, SetupError};
use crate::output::console::{ConsoleOptions, Terminal};
use crate::output::format::{FormatOptions, Formatter};
use crate::settings::{Settings, StreamSettings, Verbosity};
use crate::wire::Limits;

/// Bytes written after which an export is committed, whatever the time.
const GROUP_BYTES: u64 = 8 << 20;

/// Runs a command's work on one thread, and ends what it left behind.
///
/// # Errors
/// What the work says, or that the system gives no runtime.
pub(super) fn run<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failure, "start").cause(error.to_string()))?;
    let result = LocalSet::new().block_on(&runtime, work);
    // Name resolution and writes to a pipe that nobody reads may still be under way.
    runtime.shutdown_background();
    result
}

/// Stderr, as the settings want it.
pub(super) fn terminal(settings: &Settings) -> Terminal {
    let verbose = match settings.verbosity {
        Verbosity::Quiet | Verbosity::Normal => 0,
        Verbosity::Detail => 1,
        Verbosity::Trace => 2,
    };
    Terminal::new(ConsoleOptions {
        quiet: settings.verbosity == Verbosity::Quiet,
        verbose,
        several: settings.streams.len() > 1,
        color: settings.color.stderr,
        terminal: settings.stderr_is_terminal,
        records_on_terminal: settings.output.to_terminal && settings.output.export.is_none(),
    })
}

/// The format of one stream's records.
pub(super) fn formatter(settings: &Settings, stream: &StreamName) -> Formatter {
    let output = &settings.output;
    let to_terminal = output.to_terminal && output.export.is_none();
    Formatter::new(FormatOptions {
        several: settings.streams.len() > 1,
        comments: output.comments,
        notices: output.notices,
        json_data: output.json_data,
        types: output.events.clone(),
        grep: output.grep.clone(),
        color: settings.color.stdout && output.export.is_none(),
        terminal: to_terminal,
        ..FormatOptions::new(output.format.clone(), stream.clone())
    })
}

/// The bounds of the run; the count is shared by all of its streams.
pub(super) fn bounds(settings: &Settings) -> Bounds {
    let bounds = &settings.bounds;
    Bounds {
        count: bounds.count.map(|count| Arc::new(AtomicU64::new(count))),
        time: bounds.time,
        until_id: bounds.until_id.as_ref().map(ToString::to_string),
        until_data: bounds.until_data.clone(),
        until_idle: bounds.until_idle,
    }
}

/// What the driver of one stream needs to know.
pub(super) fn driver_settings(settings: &Settings, stream: &StreamSettings, bounds: &Bounds) -> driver::Settings {
    let grouping = match &settings.output.export {
        Some(export) => Grouping { durable: true, interval: export.commit_interval, bytes: GROUP_BYTES },
        None => Grouping::default(),
    };
    driver::Settings {
        bounds: bounds.clone(),
        idle: stream.connection.idle,
        backoff: stream.connection.backoff.clone(),
        reconnect: stream.connection.reconnect,
        limits: Limits { event_bytes_max: stream.connection.event_bytes_max, ..Limits::default() },
        read_ahead_bytes: settings.output.read_ahead_bytes,
        grouping,
        url_position: url_position(&stream.http),
        policies: settings.output.policies.clone(),
    }
}

/// The parameter of the URL that a cursor would replace, as it stands there.
fn url_position(options: &HttpOptions) -> Option<String> {
    let name = options.cursor_parameter()?;
    let (_, value) = options.url.query_pairs().find(|(known, _)| known == name)?;
    Some(format!("{name}={}", value.escape_debug()))
}

/// The transport of one stream.
///
/// # Errors
/// What is wrong with its options.
pub(super) fn transport(options: &HttpOptions) -> Result<HttpTransport, Failure> {
    HttpTransport::new(options.clone()).map_err(|error| setup_failure(&error))
}

fn setup_failure(error: &SetupError) -> Failure {
    let exit = if error.is_usage() { Exit::Usage } else { Exit::Failure };
    let failure = Failure::new(exit, "prepare the connection").cause(error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Random numbers from 0 to 1.
pub(super) fn jitter() -> Box<dyn FnMut() -> f64> {
    Box::new(|| {
        // Without randomness every delay is as short as it may be, which is still no storm.
        let random = getrandom::u32().unwrap_or(0);
        f64::from(random) / f64::from(u32::MAX)
    })
}
