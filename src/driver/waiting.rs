//! What waits for the output, and what of it gives way while the output is behind (`tail --policy`).
//!
//! **Behind** is an output for which something has waited [`PATIENCE`] since it came from the network. From then on what
//! comes while a batch is under way goes through a queue of [`crate::backpressure`], so that of a `coalesce` type the newest
//! of each key waits, and of a `drop` type nothing. It has caught up with a batch during which nothing gave way.
//!
//! Each batch holds all that waits, in the order of publication: what is committed with it was delivered, or replaced by
//! something that is.

use std::time::Duration;

use tokio::time::Instant;

use crate::backpressure::policy::NO_TYPE;
use crate::backpressure::{Offer, Policies, Queue, Route, Taken, Verdict};
use crate::consumer::delivery::EventRecord;
use crate::consumer::ports::Format;
use crate::consumer::time::Timestamp;

/// How long what came may wait for the output before it is behind.
const PATIENCE: Duration = Duration::from_millis(100);
/// No more is decoded once so many bytes wait.
const BATCH_BYTES: usize = 256 * 1024;
/// The same under policies while the output is not known to be behind: what waits then is written, however old it grows.
const BATCH_BYTES_UNDER_POLICIES: usize = 16 * 1024;

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is written with the next batch.
    Written,
    /// It is written in the place of one of its key, which is not.
    Coalesced,
    /// It is not written: its type is `drop`.
    Dropped,
    /// It is not written: a filter holds it back.
    Unwanted,
}

/// Records that wait for the output.
#[derive(Debug)]
pub(super) struct Waiting {
    batch: Vec<u8>,
    /// The buffer for those after them; with the output while a batch is under way.
    spare: Option<Vec<u8>>,
    /// When the oldest of them came from the network.
    since: Instant,
    giving_way: Option<GivingWay>,
}

/// What may give way. The queue is empty unless the output is behind and a batch under way.
#[derive(Debug)]
struct GivingWay {
    policies: Policies,
    queue: Queue<Record>,
    seq: u64,
    behind: bool,
    /// Something did since the last batch was begun.
    gave_way: bool,
}

/// A record that is not formatted yet, since it may still be replaced.
#[derive(Debug)]
enum Record {
    Event {
        id: Option<String>,
        own_id: Option<String>,
        event: String,
        data: String,
        time: Timestamp,
        replayed: bool,
    },
    /// Comments and notices.
    Text(Vec<u8>),
}

impl Record {
    fn event(record: &EventRecord<'_>) -> Self {
        Self::Event {
            id: record.id.map(str::to_owned),
            own_id: record.own_id.map(str::to_owned),
            event: record.event.to_owned(),
            data: record.data.to_owned(),
            time: record.time,
            replayed: record.replayed,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Event { id, own_id, event, data, .. } => {
                let ids = [id, own_id].into_iter().flatten().map(String::len).sum::<usize>();
                ids + event.len() + data.len()
            }
            Self::Text(text) => text.len(),
        }
    }

    fn write(&self, batch: &mut Vec<u8>, format: &mut impl Format) {
        match self {
            Self::Event { id, own_id, event, data, time, replayed } => {
                let (id, own_id) = (id.as_deref(), own_id.as_deref());
                format.event(batch, &EventRecord { id, own_id, event, data, time: *time, replayed: *replayed });
            }
            Self::Text(text) => batch.extend_from_slice(text),
        }
    }
}

impl GivingWay {
    fn new(policies: Policies) -> Self {
        Self { queue: Queue::new(policies.clone()), policies, seq: 0, behind: false, gave_way: false }
    }

    fn offer(&mut self, record: &EventRecord<'_>) -> Fate {
        let fate = self.push(self.policies.route(record.event, record.data), Record::event(record));
        self.gave_way |= fate != Fate::Written;
        fate
    }

    fn push(&mut self, route: Route, payload: Record) -> Fate {
        self.seq += 1;
        match self.queue.push(Offer { seq: self.seq, route, bytes: payload.bytes(), payload }) {
            Verdict::Queued => Fate::Written,
            Verdict::Replaced(_) => Fate::Coalesced,
            Verdict::Dropped | Verdict::Discarded | Verdict::Disconnect => Fate::Dropped,
        }
    }
}

impl Waiting {
    /// Nothing waits yet; these policies say what gives way.
    pub(super) fn new(policies: Option<Policies>) -> Self {
        let giving_way = policies.map(GivingWay::new);
        Self { batch: Vec::new(), spare: Some(Vec::new()), since: Instant::now(), giving_way }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.batch.is_empty() && self.giving_way.as_ref().is_none_or(|giving_way| giving_way.queue.is_empty())
    }

    /// More may be decoded.
    pub(super) fn has_room(&self) -> bool {
        match &self.giving_way {
            None => self.batch.len() < BATCH_BYTES,
            Some(giving_way) if giving_way.behind && self.is_under_way() => giving_way.queue.bytes() < BATCH_BYTES,
            Some(_) => self.batch.len() < BATCH_BYTES_UNDER_POLICIES,
        }
    }

    /// What is put in from here on came from the network then.
    pub(super) fn came_at(&mut self, then: Instant) {
        if self.is_empty() {
            self.since = then;
        }
    }

    pub(super) fn is_behind(&self) -> bool {
        self.giving_way.as_ref().is_some_and(|giving_way| giving_way.behind)
    }

    /// When the output will be found to be behind, if nothing changes until then.
    pub(super) fn behind_at(&self) -> Option<Instant> {
        let may_be = self.giving_way.as_ref().is_some_and(|giving_way| !giving_way.behind);
        (may_be && self.is_under_way() && !self.is_empty()).then(|| self.since + PATIENCE)
    }

    /// Sees whether the output is behind; `true` when it is found to be.
    pub(super) fn look(&mut self) -> bool {
        let found = self.behind_at().is_some_and(|time| time <= Instant::now());
        if let Some(giving_way) = self.giving_way.as_mut().filter(|_| found) {
            giving_way.behind = true;
            giving_way.gave_way = true;
        }
        found
    }

    /// An event.
    pub(super) fn put_event(&mut self, format: &mut impl Format, record: &EventRecord<'_>) -> Fate {
        if !format.is_wanted(record) {
            return Fate::Unwanted;
        }
        if let Some(giving_way) = self.queue() {
            return giving_way.offer(record);
        }
        format.event(&mut self.batch, record);
        Fate::Written
    }

    /// An event that is written, whatever the policies, and with it all that waits.
    pub(super) fn put_last_event(&mut self, format: &mut impl Format, record: &EventRecord<'_>) -> Fate {
        self.flush(format);
        if !format.is_wanted(record) {
            return Fate::Unwanted;
        }
        format.event(&mut self.batch, record);
        Fate::Written
    }

    /// A comment, a notice or a snapshot, which never gives way.
    pub(super) fn put(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let Some(giving_way) = self.queue() else { return write(&mut self.batch) };
        let mut text = Vec::new();
        write(&mut text);
        if !text.is_empty() {
            giving_way.push(giving_way.policies.route(NO_TYPE, ""), Record::Text(text));
        }
    }

    /// Takes all that waits, to be written.
    pub(super) fn take(&mut self, format: &mut impl Format) -> Vec<u8> {
        self.flush(format);
        if let Some(giving_way) = &mut self.giving_way {
            giving_way.gave_way = false;
        }
        std::mem::replace(&mut self.batch, self.spare.take().unwrap_or_default())
    }

    /// A batch was written; this was its buffer.
    pub(super) fn written(&mut self, buffer: Vec<u8>, format: &mut impl Format) {
        self.spare = Some(buffer);
        if self.giving_way.as_ref().is_some_and(|giving_way| !giving_way.gave_way) {
            self.flush(format);
            self.giving_way.as_mut().expect("it is there").behind = false;
        }
    }

    fn is_under_way(&self) -> bool {
        self.spare.is_none()
    }

    /// Where a record goes that has to wait for an output that is behind.
    fn queue(&mut self) -> Option<&mut GivingWay> {
        let under_way = self.is_under_way();
        self.giving_way.as_mut().filter(|giving_way| giving_way.behind && (under_way || !giving_way.queue.is_empty()))
    }

    fn flush(&mut self, format: &mut impl Format) {
        let Some(giving_way) = &mut self.giving_way else { return };
        for taken in giving_way.queue.take(usize::MAX) {
            if let Taken::Event { payload, .. } = taken {
                payload.write(&mut self.batch, format);
            }
        }
    }
}
