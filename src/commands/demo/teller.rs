//! Says the story on stdout to a person, and nothing of it to a program.

use std::future::pending;

use super::watcher::Delivered;
use crate::consumer::delivery::EventRecord;
use crate::consumer::ports::{Format, Sink, SinkError};
use crate::consumer::time::Timestamp;
use crate::error::Failure;
use crate::output::format::Formatter;
use crate::output::stdout::StdoutSink;

/// What stands before a quoted line.
const INDENT: &str = "     ";

/// Stdout, as the demo uses it.
pub(super) struct Teller {
    pub(super) stdout: StdoutSink,
    /// Writes records for a person; `None` where a program reads.
    pub(super) format: Option<Formatter>,
}

impl Teller {
    /// Whether a person reads.
    pub(super) fn is_pretty(&self) -> bool {
        self.format.is_some()
    }

    /// Says lines to a person.
    pub(super) async fn say(&self, text: &str) -> Result<(), Failure> {
        if self.is_pretty() { self.write(format!("{text}\n").into_bytes()).await } else { Ok(()) }
    }

    /// Shows a line of somebody else's to a person.
    pub(super) async fn quote(&self, text: &str) -> Result<(), Failure> {
        self.say(&format!("{INDENT}{text}")).await
    }

    /// Shows a record to a person.
    pub(super) async fn show(&mut self, event: &Delivered) -> Result<(), Failure> {
        let Some(format) = &mut self.format else { return Ok(()) };
        let mut line = INDENT.as_bytes().to_vec();
        let time = event.time.parse().map_or(Timestamp(0), |at: jiff::Timestamp| Timestamp(at.as_microsecond()));
        format.event(
            &mut line,
            &EventRecord {
                id: event.id.as_deref(),
                own_id: event.id.as_deref(),
                event: &event.event,
                data: &event.data,
                time,
                replayed: event.replayed,
            },
        );
        self.write(line).await
    }

    /// Writes to whoever reads.
    pub(super) async fn write(&self, text: Vec<u8>) -> Result<(), Failure> {
        match self.stdout.write(text).await {
            Ok(_) => Ok(()),
            // Who watches the output ends the demo, without a word: that is no failure.
            Err(SinkError::Closed) => pending().await,
            Err(SinkError::Failed(error)) => Err(Failure::output(&error)),
        }
    }
}
