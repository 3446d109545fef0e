//! From a source to the server: first into the log's file, if there is one, then to the clients. So no client has an id
//! that is given to another event after a crash.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Exit, Failure};
use crate::server::{Publication, Publisher};
use crate::store::StoreError;
use crate::store::sqlite::event_log::{EventLog, LoggedEvent};

/// Where events go. A clone is the same outlet.
#[derive(Clone, Debug)]
pub(super) struct Outlet {
    publisher: Publisher,
    log: Option<Arc<Mutex<EventLog>>>,
    /// It was said that events have no ids.
    told: Rc<Cell<bool>>,
}

/// Opens the log's file, and gives what is in it.
///
/// # Errors
/// It cannot be used (exit 6).
pub(super) fn open_log(path: &Path, events_max: usize) -> Result<(EventLog, Vec<Publication>), Failure> {
    let failure = |error: StoreError| {
        let failure = Failure::store(format!("use the log `{}`", path.display()), &error);
        Failure { hint: Some("one server at a time uses a log; name another with `--log FILE`".to_owned()), ..failure }
    };
    let log = EventLog::open(path, events_max).map_err(failure)?;
    let events = log.events().map_err(failure)?;
    let plain = |LoggedEvent { id, event, data }| Publication { id, event, data };
    Ok((log, events.into_iter().map(plain).collect()))
}

impl Outlet {
    /// With `quiet`, that events have no ids is not said.
    pub(super) fn new(publisher: Publisher, log: Option<EventLog>, quiet: bool) -> Self {
        Self { publisher, log: log.map(|log| Arc::new(Mutex::new(log))), told: Rc::new(Cell::new(quiet)) }
    }

    /// Publishes events in one step.
    ///
    /// # Errors
    /// The log's file did not take them (exit 6); nobody has got them then.
    pub(super) async fn publish(&self, mut events: Vec<Publication>) -> Result<(), Failure> {
        if events.is_empty() {
            return Ok(());
        }
        self.publisher.number(&mut events);
        if events.iter().any(|event| event.id.is_none()) && !self.told.replace(true) {
            super::say("note", "events without ids cannot be resumed from; `--number` gives them ids");
        }
        if let Some(log) = &self.log {
            let kept: Vec<_> = events.iter().cloned().map(logged).collect();
            let log = Arc::clone(log);
            let append = move || log.lock().unwrap_or_else(PoisonError::into_inner).append(&kept);
            let appended = tokio::task::spawn_blocking(append).await;
            appended
                .map_err(|error| Failure::new(Exit::Failure, "keep the log").cause(error.to_string()))?
                .map_err(|error| Failure::store("keep the log", &error))?;
        }
        self.publisher.publish(events);
        Ok(())
    }

    pub(super) fn comment(&self, text: &str) {
        self.publisher.comment(text);
    }

    pub(super) fn retry(&self, millis: u64) {
        self.publisher.retry(millis);
    }

    /// Ends all streams, as the source's own connection ended.
    pub(super) fn cut(&self) {
        self.publisher.disconnect();
    }
}

fn logged(Publication { id, event, data }: Publication) -> LoggedEvent {
    LoggedEvent { id, event, data }
}
