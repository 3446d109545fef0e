//! The demo's own output and console: takes what a run delivers, keeps it, and tells who waits.
//!
//! Sees the records of `-o json`, as a program that reads them from a pipe does; nothing of the client's inside.

use std::cell::{Ref, RefCell};
use std::future::pending;
use std::io;
use std::rc::Rc;

use serde::Deserialize;
use tokio::sync::Notify;

use crate::consumer::ports::{Console, Progress, Sink, SinkError};
use crate::consumer::record::ExportMark;

/// A record, as the contract has it.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line {
    Event(Delivered),
    Comment { text: String },
    Notice(Said),
}

/// An event as it was delivered.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Delivered {
    pub(super) id: Option<String>,
    pub(super) event: String,
    pub(super) data: String,
    pub(super) time: String,
    #[serde(default)]
    pub(super) replayed: bool,
}

/// A notice of the client's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Said {
    pub(super) notice: String,
    #[serde(default)]
    pub(super) dropped: Option<u64>,
    #[serde(default)]
    pub(super) removed: Option<u64>,
}

/// All that was seen so far, each kind in its order.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) events: Vec<Delivered>,
    pub(super) comments: Vec<String>,
    pub(super) said: Vec<Said>,
    /// The last warning: what a demo that does not come to its end has to say.
    pub(super) warning: Option<String>,
}

impl Seen {
    /// How many notices of a kind came.
    pub(super) fn notices(&self, kind: &str) -> u64 {
        u64::try_from(self.said.iter().filter(|said| said.notice == kind).count()).unwrap_or(u64::MAX)
    }

    /// The first notice of a kind.
    pub(super) fn notice(&self, kind: &str) -> Option<&Said> {
        self.said.iter().find(|said| said.notice == kind)
    }

    /// The events that a recovery brought.
    pub(super) fn replayed(&self) -> impl Iterator<Item = &Delivered> {
        self.events.iter().filter(|event| event.replayed)
    }

    /// The last event of this id.
    pub(super) fn event(&self, id: u64) -> Option<&Delivered> {
        let id = id.to_string();
        self.events.iter().rev().find(|event| event.id.as_deref() == Some(&id))
    }

    fn take(&mut self, batch: &[u8]) -> io::Result<()> {
        for line in batch.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line)? {
                Line::Event(event) => self.events.push(event),
                Line::Comment { text } => self.comments.push(text),
                Line::Notice(said) => self.said.push(said),
            }
        }
        Ok(())
    }
}

/// Takes records and warnings. A clone is another handle of the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Watcher {
    seen: Rc<RefCell<Seen>>,
    changed: Rc<Notify>,
}

impl Watcher {
    /// What was seen so far. Not to be kept over an `await`.
    pub(super) fn seen(&self) -> Ref<'_, Seen> {
        self.seen.borrow()
    }

    /// Waits until something was seen.
    pub(super) async fn wait_for(&self, found: impl Fn(&Seen) -> bool) {
        loop {
            let changed = self.changed.notified();
            if found(&self.seen()) {
                return;
            }
            changed.await;
        }
    }
}

impl Sink for Watcher {
    async fn write(&self, mut batch: Vec<u8>) -> Result<Vec<u8>, SinkError> {
        let taken = self.seen.borrow_mut().take(&batch);
        taken.map_err(SinkError::Failed)?;
        self.changed.notify_waiters();
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

impl Console for Watcher {
    fn warning(&self, text: &str) {
        self.seen.borrow_mut().warning = Some(text.to_owned());
    }

    fn note(&self, _: &str) {}

    fn detail(&self, _: u8, _: &str) {}

    fn progress(&self, _: &Progress) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_sorted_by_kind_and_a_waiter_is_told() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let watcher = Watcher::default();
        let batch = concat!(
            r#"{"kind":"notice","stream":"s","notice":"drop-notice","text":"x","dropped":7,"time":"t"}"#,
            "\n",
            r#"{"kind":"event","stream":"s","id":"5","event":"e","data":"d","time":"t","replayed":true}"#,
            "\n",
            r#"{"kind":"comment","stream":"s","text":"dropped 7 messages","time":"t"}"#,
            "\n"
        );
        let back = runtime.block_on(async {
            let wait = watcher.wait_for(|seen| !seen.comments.is_empty());
            tokio::join!(wait, watcher.write(batch.as_bytes().to_vec())).1
        });
        assert_eq!(back.unwrap(), b"");
        let seen = watcher.seen();
        assert_eq!(seen.notices("drop-notice"), 1);
        assert_eq!(seen.notice("drop-notice").unwrap().dropped, Some(7));
        assert!(seen.event(5).unwrap().replayed);
        assert_eq!(seen.event(6), None);
        assert_eq!(seen.comments, ["dropped 7 messages"]);
    }
}
