//! Who may own a stream (rule 9) and who may move its cursor (rule 10), for every store alike.
//!
//! Data in, decisions out: a store loads a [`Lease`], asks it, and keeps what it has become.

use super::{Acquire, Holder, LEASE, Liveness, Mover, StoreError};
use crate::consumer::record::Epoch;
use crate::consumer::time::Timestamp;

/// The ownership of one stream as it is stored. Outlives the stream's record, so that a fenced owner stays fenced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lease {
    /// The generation; moves with every change of hands.
    pub(super) epoch: u64,
    /// The owner, or the last one.
    pub(super) holder: Option<Holder>,
    /// The holder has given the stream back.
    pub(super) released: bool,
    /// It was changed from outside at some time, so what an old export holds is no longer where the stream stands.
    pub(super) edited: bool,
}

/// What becomes of a request to own a stream.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It is granted; a living holder is fenced off by it, if there is one here.
    Take(Option<Holder>),
    /// This living process owns the stream.
    Busy(Holder),
    /// The stored cursor belongs to who moved it last (rule 10).
    Reserved(Mover),
}

impl Lease {
    /// The holder, if it still owns the stream.
    pub(super) fn living(&self, now: Timestamp, liveness: &dyn Liveness) -> Option<&Holder> {
        let holder = self.holder.as_ref().filter(|_| !self.released)?;
        (holder.expires_at > now && !liveness.is_dead(&holder.process)).then_some(holder)
    }

    /// Decides about a request. `cursor_moved_by` is who last moved the stored cursor, if there is a cursor.
    pub(super) fn judge(&self, request: &Acquire, cursor_moved_by: Option<Mover>, liveness: &dyn Liveness) -> Verdict {
        let living = self.living(request.now, liveness);
        if request.mover == Mover::Tail {
            return match (living, cursor_moved_by) {
                (Some(holder), _) => Verdict::Busy(holder.clone()),
                (None, Some(mover)) if mover != Mover::Tail => Verdict::Reserved(mover),
                (None, _) => Verdict::Take(None),
            };
        }
        match living {
            Some(holder) if holder.mover != Mover::Tail => Verdict::Busy(holder.clone()),
            other => Verdict::Take(other.cloned()),
        }
    }

    /// Gives the stream to who asked for it.
    pub(super) fn take(&mut self, request: &Acquire) {
        self.epoch = self.epoch.saturating_add(1);
        self.released = false;
        self.holder = Some(Holder {
            process: request.process.clone(),
            mover: request.mover,
            since: request.now,
            expires_at: request.now.plus(LEASE),
        });
    }

    /// The holder gives the stream back.
    pub(super) fn release(&mut self) {
        self.epoch = self.epoch.saturating_add(1);
        self.released = true;
    }

    /// The stream is changed from outside: whoever held it does no more.
    pub(super) fn clear(&mut self) {
        self.epoch = self.epoch.saturating_add(1);
        self.released = false;
        self.edited = true;
        self.holder = None;
    }

    /// The holder under this epoch.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if the epoch is not the current one.
    pub(super) fn owner(&self, epoch: Epoch) -> Result<&Holder, StoreError> {
        match &self.holder {
            Some(holder) if self.epoch == epoch.0 && !self.released => Ok(holder),
            holder => Err(StoreError::Fenced { holder: holder.clone() }),
        }
    }
}
