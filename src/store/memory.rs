//! The store that lives and ends with the process: `--no-store`, and the model that other stores are tested against.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::invariants::{Stored, violations};
use super::ownership::{Lease, Verdict};
use super::{
    Acquire, Acquired, Edit, GAPS_KEPT, Holder, LEASE, Liveness, Mover, Owned, Store, StoreError, StoredExport,
    Summary, change,
};
use crate::consumer::cursors::advanced;
use crate::consumer::id::StreamName;
use crate::consumer::record::{Commit, Epoch, Gap, GapState, Head, Key, Mark, Record};
use crate::consumer::time::Timestamp;

/// Keeps records in memory.
pub struct MemoryStore {
    liveness: Box<dyn Liveness>,
    leases: BTreeMap<StreamName, Lease>,
    entries: BTreeMap<StreamName, Entry>,
}

/// All that is stored of a stream, but for its lease.
struct Entry {
    key_seed: [u8; 32],
    url: Option<String>,
    window: Duration,
    last_end: Option<String>,
    moved_by: Option<Mover>,
    head: Head,
    marks: BTreeMap<u64, Mark>,
    gaps: BTreeMap<u64, Gap>,
    exports: BTreeMap<String, StoredExport>,
    /// The last of them has sequence number `head.next_seq - 1`.
    keys: VecDeque<Key>,
}

impl Entry {
    fn new() -> Result<Self, StoreError> {
        Ok(Self {
            key_seed: new_seed()?,
            url: None,
            window: Duration::ZERO,
            last_end: None,
            moved_by: None,
            head: Head::default(),
            marks: BTreeMap::new(),
            gaps: BTreeMap::new(),
            exports: BTreeMap::new(),
            keys: VecDeque::new(),
        })
    }

    fn record(&self) -> Record {
        Record {
            head: self.head.clone(),
            marks: self.marks.values().cloned().collect(),
            gap: self.gaps.values().rev().find(|gap| gap.state == GapState::Open).cloned(),
        }
    }

    fn cursor_moved_by(&self) -> Option<Mover> {
        self.moved_by.filter(|_| self.head.latest.is_some() || self.head.lagging.is_some())
    }

    fn first_key(&self) -> u64 {
        self.head.next_seq.saturating_sub(self.keys.len() as u64)
    }

    fn apply(&mut self, commit: &Commit, mover: Mover, edited_at: Option<Timestamp>) {
        if commit.begin {
            self.marks.clear();
            self.keys.clear();
            self.exports.clear();
            for gap in self.gaps.values_mut().filter(|gap| gap.state == GapState::Open) {
                gap.ended_at = Some(change::abandoned_at(gap, commit, edited_at));
                gap.state = GapState::Abandoned;
            }
        }
        if commit.begin || commit.head.latest != self.head.latest {
            self.moved_by = Some(mover);
        }
        self.head = commit.head.clone();
        for ordinal in &commit.marks_drop {
            self.marks.remove(ordinal);
        }
        self.marks.extend(commit.marks_put.iter().map(|mark| (mark.ordinal, mark.clone())));
        self.gaps.extend(commit.gaps_put.iter().map(|gap| (gap.number, gap.clone())));
        while self.gaps.len() > GAPS_KEPT {
            self.gaps.pop_first();
        }
        if let Some(file) = &commit.export_done {
            self.exports.remove(file);
        }
        if let Some(mark) = &commit.export {
            let latest = commit.head.latest.as_ref().map(|place| place.id.clone());
            let (next_seq, delivered_at) = (commit.head.next_seq, commit.head.delivered_at);
            let stored = StoredExport { mark: mark.clone(), latest, next_seq, delivered_at };
            self.exports.insert(mark.file.clone(), stored);
        }
        self.keys.extend(&commit.keys);
        let unneeded = commit.keys_keep_from.saturating_sub(self.first_key());
        let unneeded = usize::try_from(unneeded).unwrap_or(usize::MAX).min(self.keys.len());
        self.keys.drain(..unneeded);
    }

    fn summary(&self, stream: &StreamName, owner: Option<Holder>, now: Timestamp) -> Summary {
        // Rule 2: `lagging` follows from the marks whenever it is looked at.
        let mut record = self.record();
        advanced(&mut record, self.window, now);
        let head = record.head;
        Summary {
            stream: stream.clone(),
            latest: head.latest.map(|place| place.id),
            lagging: head.lagging,
            latest_at: head.latest_at,
            lagging_at: head.lagging_at,
            window: self.window,
            gaps: self.gaps.values().cloned().collect(),
            owner,
            url: self.url.clone(),
            last_end: self.last_end.clone(),
            moved_by: self.moved_by,
            exports: self.exports.values().cloned().collect(),
        }
    }
}

/// The secret of a stream's keys (rule 7).
///
/// # Errors
/// [`StoreError::Failed`] if the system has no randomness to give.
pub(super) fn new_seed() -> Result<[u8; 32], StoreError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)
        .map_err(|error| StoreError::Failed(format!("the system gave no randomness: {error}")))?;
    Ok(seed)
}

impl MemoryStore {
    /// An empty store that asks `liveness` whether a holder still runs.
    #[must_use]
    pub fn new(liveness: impl Liveness + 'static) -> Self {
        Self { liveness: Box::new(liveness), leases: BTreeMap::new(), entries: BTreeMap::new() }
    }

    fn lease(&self, stream: &StreamName) -> Lease {
        self.leases.get(stream).cloned().unwrap_or_default()
    }

    fn take(&mut self, request: &Acquire, taken_from: Option<Holder>) -> Result<Owned, StoreError> {
        let entry = match self.entries.remove(&request.stream) {
            Some(entry) => entry,
            None => Entry::new()?,
        };
        let entry = self.entries.entry(request.stream.clone()).or_insert(entry);
        let previous_url = entry.url.replace(request.url.clone()).filter(|url| *url != request.url);
        entry.window = request.window;
        entry.last_end = None;
        let lease = self.leases.entry(request.stream.clone()).or_default();
        let known = lease.edited || !entry.gaps.is_empty() || entry.head != Head::default();
        lease.take(request);
        Ok(Owned {
            epoch: Epoch(lease.epoch),
            record: entry.record(),
            last_gap_number: entry.gaps.last_key_value().map_or(0, |(number, _)| *number),
            key_seed: entry.key_seed,
            taken_from,
            previous_url,
            known,
            exports: entry.exports.values().cloned().collect(),
        })
    }

    fn summary(&self, stream: &StreamName, entry: &Entry, now: Timestamp) -> Summary {
        let owner = self.leases.get(stream).and_then(|lease| lease.living(now, &*self.liveness)).cloned();
        entry.summary(stream, owner, now)
    }
}

impl Store for MemoryStore {
    fn acquire(&mut self, request: &Acquire) -> Result<Acquired, StoreError> {
        let moved_by = self.entries.get(&request.stream).and_then(Entry::cursor_moved_by);
        Ok(match self.lease(&request.stream).judge(request, moved_by, &*self.liveness) {
            Verdict::Busy(holder) => Acquired::Busy(holder),
            Verdict::Reserved(mover) => Acquired::Reserved(mover),
            Verdict::Take(from) => Acquired::Owned(Box::new(self.take(request, from)?)),
        })
    }

    fn commit(&mut self, stream: &StreamName, epoch: Epoch, commit: &Commit) -> Result<(), StoreError> {
        let mover = self.lease(stream).owner(epoch)?.mover;
        let entry = self.entries.get_mut(stream).ok_or(StoreError::UnknownStream)?;
        change::first_key_seq(commit, entry.head.next_seq)?;
        entry.apply(commit, mover, None);
        Ok(())
    }

    fn keys(&mut self, stream: &StreamName, from: u64) -> Result<Vec<Key>, StoreError> {
        let Some(entry) = self.entries.get(stream) else {
            return Ok(Vec::new());
        };
        let skipped = usize::try_from(from.saturating_sub(entry.first_key())).unwrap_or(usize::MAX);
        Ok(entry.keys.iter().skip(skipped).copied().collect())
    }

    fn renew(&mut self, stream: &StreamName, epoch: Epoch, now: Timestamp) -> Result<(), StoreError> {
        let lease = self.leases.entry(stream.clone()).or_default();
        lease.owner(epoch)?;
        if let Some(holder) = &mut lease.holder {
            holder.expires_at = now.plus(LEASE);
        }
        Ok(())
    }

    fn release(&mut self, stream: &StreamName, epoch: Epoch, last_end: &str) -> Result<(), StoreError> {
        let lease = self.leases.entry(stream.clone()).or_default();
        lease.owner(epoch)?;
        lease.release();
        if let Some(entry) = self.entries.get_mut(stream) {
            entry.last_end = Some(last_end.to_owned());
        }
        Ok(())
    }

    fn list(&mut self, now: Timestamp) -> Result<Vec<Summary>, StoreError> {
        Ok(self.entries.iter().map(|(stream, entry)| self.summary(stream, entry, now)).collect())
    }

    fn show(&mut self, stream: &StreamName, now: Timestamp) -> Result<Option<Summary>, StoreError> {
        Ok(self.entries.get(stream).map(|entry| self.summary(stream, entry, now)))
    }

    fn peek(&mut self, stream: &StreamName) -> Result<Option<Record>, StoreError> {
        Ok(self.entries.get(stream).map(Entry::record))
    }

    fn edit(&mut self, stream: &StreamName, edit: &Edit, force: bool, now: Timestamp) -> Result<(), StoreError> {
        let mut lease = self.lease(stream);
        if let Some(holder) = lease.living(now, &*self.liveness).filter(|_| !force) {
            return Err(StoreError::Busy(holder.clone()));
        }
        let commit = change::of_edit(edit, self.entries.get(stream).map(|entry| &entry.head), now)?;
        match commit {
            None => drop(self.entries.remove(stream)),
            Some(commit) => {
                if !self.entries.contains_key(stream) {
                    self.entries.insert(stream.clone(), Entry::new()?);
                }
                let entry = self.entries.get_mut(stream).expect("it was inserted where it was missing");
                entry.apply(&commit, Mover::Set, Some(now));
                if let Edit::Set(cursors) = edit {
                    entry.window = cursors.window.unwrap_or(entry.window);
                    entry.url = cursors.url.clone().or(entry.url.take());
                }
            }
        }
        lease.clear();
        self.leases.insert(stream.clone(), lease);
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<String>, StoreError> {
        let check = |(stream, entry): (&StreamName, &Entry)| {
            let (marks, gaps): (Vec<_>, Vec<_>) =
                (entry.marks.values().cloned().collect(), entry.gaps.values().cloned().collect());
            let segments: &[(u64, u64)] = &[(entry.first_key(), entry.keys.len() as u64)];
            let segments = if entry.keys.is_empty() { &[] } else { segments };
            violations(&Stored { stream, head: &entry.head, marks: &marks, gaps: &gaps, segments })
        };
        Ok(self.entries.iter().flat_map(check).collect())
    }
}
