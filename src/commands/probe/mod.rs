//! `probe`: reads a stream without storing anything, and says what it found.
//!
//! Makes the connections, keeps time, and shows the report. What follows from what was seen is [`crate::probe`]'s to
//! say, how it looks [`crate::output::probe`]'s.

mod cursors;
mod reader;
mod slow;

use std::cell::RefCell;
use std::time::Duration;

use self::cursors::Cursors;
use self::reader::{Connection, Plan, Reader};
use self::slow::{Orders, Slow};
use super::ending::{no_connection, refused_failure};
use super::{signals, wiring};
use crate::consumer::ports::{ConnectError, Sink, SinkError};
use crate::driver::{Clock, ShutdownHandle};
use crate::error::{Exit, Failure};
use crate::output::probe as shown;
use crate::output::stdout::StdoutSink;
use crate::output::time::rfc3339_micros;
use crate::probe::connection::Facts;
use crate::probe::pressure::{self, PressureReport};
use crate::probe::resume::{self, ResumeReport};
use crate::probe::{Code, Findings, Report, connection, events};
use crate::redact::RedactedUrl;
use crate::settings::ProbeSettings;
use crate::settings::values::ListFormat;

/// Runs `probe` to its end.
///
/// # Errors
/// Why nothing could be probed.
pub fn run(settings: &ProbeSettings) -> Result<Exit, Failure> {
    wiring::run(probe(settings))
}

async fn probe(settings: &ProbeSettings) -> Result<Exit, Failure> {
    let shutdown = ShutdownHandle::default();
    signals::listen(shutdown.clone())?;
    let stdout = StdoutSink::open().map_err(|error| Failure::output(&error))?;
    let clock = Clock::start();
    let plan =
        Plan { http: settings.stream.http.clone(), event_bytes_max: settings.stream.connection.event_bytes_max, clock };
    let mut control = Reader::new(&plan, None).await?;
    let connected = tokio::select! {
        number = shutdown.signalled() => return Ok(signals::exit_of_signal(number)),
        connected = Box::pin(control.connect(None)) => connected,
    };
    let url = RedactedUrl(&plan.http.url).to_string();
    let mut connection = connected.map_err(|error| refused(error, &url, plan.http.has_credentials()))?;
    let facts = facts(&connection, &plan, &url);
    let slow = slow_reader(settings, &plan, &control).await?;
    let signal = tokio::select! {
        number = shutdown.signalled() => Some(number),
        () = stdout.closed() => return Ok(Exit::Success),
        () = Box::pin(watch(settings, &mut connection, &slow)) => None,
    };
    let mut cursors = Cursors::default();
    let signal = match signal {
        None if plan.http.effective_method() == "GET" => tokio::select! {
            number = shutdown.signalled() => Some(number),
            tried = Box::pin(try_cursors(&plan, &control, &mut connection, &mut cursors)) => {
                tried?;
                None
            }
        },
        signal => signal,
    };
    let seen = Seen { facts, slow, cursors, interrupted: signal.is_some() };
    let report = report(settings, &seen, &control);
    if let Some(path) = &settings.report {
        std::fs::write(path, shown::page(&report)).map_err(|error| {
            Failure::new(Exit::Output, format!("write `{}`", path.display())).cause(error.to_string())
        })?;
    }
    show(settings, &report, &stdout).await?;
    Ok(signal.map_or(Exit::Success, signals::exit_of_signal))
}

/// The probe makes each connection once, so what a client would try again is the end too.
fn refused(error: ConnectError, url: &str, has_credentials: bool) -> Failure {
    match error {
        ConnectError::Status { code, detail, retryable: true, .. } => {
            no_connection(vec![format!("the server answered {code} {detail}")], 0, url)
        }
        other => refused_failure(other, url, has_credentials),
    }
}

/// What is known of a connection besides what was read on it.
fn facts(connection: &Connection, plan: &Plan, url: &str) -> Facts {
    let head = &connection.head;
    let leg = connection.legs.last();
    let peer = leg.and_then(|leg| leg.peer).or(head.peer);
    Facts {
        url: url.to_owned(),
        final_url: head.url.clone(),
        status_line: head.status_line.clone(),
        fields: head.fields.clone(),
        peer: peer.map(|peer| peer.to_string()),
        is_loopback: peer.is_some_and(|peer| peer.ip().is_loopback()),
        is_tls: head.url.starts_with("https:"),
        redirects: match leg {
            Some(_) => connection.legs.len() - 1,
            None => usize::from(head.url != RedactedUrl(&plan.http.url).to_string()),
        },
        dns: leg.and_then(|leg| leg.dns),
        connect: leg.and_then(|leg| leg.connect),
        tls: leg.and_then(|leg| leg.tls),
        head: Some(connection.took),
    }
}

/// The slow reader, not yet connected; or why there is none.
type SlowReader = Result<(Slow, RefCell<Option<Reader>>), &'static str>;

async fn slow_reader(settings: &ProbeSettings, plan: &Plan, control: &Reader) -> Result<SlowReader, Failure> {
    if plan.http.effective_method() != "GET" {
        return Ok(Err("the method is not GET, so nothing is sent twice"));
    }
    let reader = Reader::new(plan, Some(slow::RECEIVE_BUFFER_BYTES)).await?;
    let Some(tap) = reader.tap() else {
        return Ok(Err("a proxy that is spoken to over TLS leaves no place for a slow reader"));
    };
    let orders = Orders { watch: settings.watch, limit_rate: settings.limit_rate, slow_for: settings.slow_for };
    let notices = settings.stream.policy.notices.clone();
    let slow = Slow::new(orders, plan.clock, control.recorder(), (reader.recorder(), tap), notices);
    Ok(Ok((slow, RefCell::new(Some(reader)))))
}

/// Reads on the first connection, and slowly beside it, until the time is up or the first connection has ended.
async fn watch(settings: &ProbeSettings, connection: &mut Connection, slow: &SlowReader) {
    let Ok((slow, reader)) = slow else {
        // That the time is up is what was asked for.
        let _ = tokio::time::timeout(settings.watch, connection.read()).await;
        return;
    };
    let reader = reader.borrow_mut().take();
    let reading = async {
        if let Some(reader) = reader {
            slow.read(reader).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = slow.conduct() => {}
        () = Box::pin(reading) => {}
        () = connection.read() => {}
    }
}

/// What the slow reader showed.
fn pressure(slow: &SlowReader, control: &Reader, findings: &mut Findings) -> Option<PressureReport> {
    let slow = match slow {
        Ok((slow, _)) => slow,
        Err(why) => {
            findings.add(Code::PressureSkipped, *why);
            return None;
        }
    };
    let recorder = slow.slow.borrow();
    if recorder.observation().stands.is_empty() {
        findings.add(Code::SecondRefused, "the second connection got no event stream");
        return None;
    }
    let (seen, pauses) = (control.seen(), slow.pauses());
    Some(pressure::analyse(&slow.trial(&seen, recorder.observation(), &pauses), findings))
}

/// Tries cursors while the first connection is read on, since it says what there was to come back.
async fn try_cursors(
    plan: &Plan,
    control: &Reader,
    connection: &mut Connection,
    cursors: &mut Cursors,
) -> Result<(), Failure> {
    let stands = control.seen().stands.first().is_some_and(|stand| stand.ended.is_none());
    let reading = async {
        if stands {
            connection.read().await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        tried = Box::pin(cursors::attempt(plan, control, cursors)) => tried,
        () = reading => Ok(()),
    }
}

/// All that was seen besides what the control saw.
struct Seen {
    facts: Facts,
    slow: SlowReader,
    cursors: Cursors,
    interrupted: bool,
}

/// What cursors led to.
fn resumption(cursors: &Cursors, control: &Reader, findings: &mut Findings) -> Option<ResumeReport> {
    if cursors.known.is_empty() {
        findings.add(Code::ResumeSkipped, "no ids came, the method is not GET, or the probe was interrupted");
        return None;
    }
    Some(resume::analyse(&control.seen(), &cursors.known, cursors.unknown.as_ref(), findings))
}

fn report(settings: &ProbeSettings, all: &Seen, control: &Reader) -> Report {
    let (facts, slow, interrupted) = (&all.facts, &all.slow, all.interrupted);
    let now = control.now();
    let seen = control.seen();
    let begun = seen.stands.first().map_or(now, |stand| stand.opened).minus(facts.head.unwrap_or(Duration::ZERO));
    let mut findings = Findings::default();
    let connection = connection::analyse(facts, &seen, now, &mut findings);
    let events = events::analyse(&seen, &settings.stream.policy.notices, now, &mut findings);
    let resume = resumption(&all.cursors, control, &mut findings);
    let backpressure = pressure(slow, control, &mut findings);
    Report {
        kind: "probe",
        version: env!("CARGO_PKG_VERSION"),
        url: facts.url.clone(),
        time: rfc3339_micros(begun),
        duration_ms: (now.since(begun).as_secs_f64() * 1e3).round(),
        interrupted,
        connection,
        events,
        resume,
        backpressure,
        findings: findings.into_vec(),
    }
}

async fn show(settings: &ProbeSettings, report: &Report, stdout: &StdoutSink) -> Result<(), Failure> {
    let text = match settings.format {
        ListFormat::Json => shown::json(report),
        ListFormat::Pretty => shown::pretty(report, settings.color.stdout),
    };
    match stdout.write(text.into_bytes()).await {
        Ok(_) | Err(SinkError::Closed) => Ok(()),
        Err(SinkError::Failed(error)) => Err(Failure::output(&error)),
    }
}
