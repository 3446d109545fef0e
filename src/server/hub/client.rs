//! One client: what is on its way to the socket, what waits, and where in the log it reads.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use prometheus_client::metrics::histogram::Histogram;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::counts::{ClientStanding, Stats};
use super::event::Published;
use super::log::{Current, Log};
use crate::backpressure::{Kind, Offer, Policies, Queue, RuleIndex, Taken, Verdict};
use crate::wire::encode;

/// How much is taken from the queue for one write, in bytes: what is on its way can no longer be replaced.
const BATCH_BYTES: usize = 4 * 1024;
/// Room for a batch: the last of its blocks may stand over.
const ROOM_BYTES: usize = BATCH_BYTES + 1024;
/// A buffer larger than this is given back when it is empty.
const KEPT_CAPACITY_BYTES: usize = 2 * ROOM_BYTES;

/// Takes bytes if it can at this moment. The one place at which it is seen that a client is slow.
pub trait Socket: Send + Sync + std::fmt::Debug {
    /// How many of these bytes were taken; `WouldBlock` if none can be.
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize>;
}

impl Socket for TcpStream {
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        Self::try_write(self, bytes)
    }
}

/// What the socket could take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushed {
    /// Everything: nothing is left for this client.
    All,
    /// Not everything.
    Blocked,
    /// Everything, and the stream is over.
    End,
    /// The client is gone.
    Gone,
}

/// What all clients share when one is written to.
pub(super) struct Common<'a> {
    pub(super) log: &'a Log,
    pub(super) current: &'a Current,
    pub(super) policies: &'a Policies,
    pub(super) stats: &'a mut Stats,
    pub(super) next_seq: u64,
    /// What a stream that the server ends says last, in milliseconds.
    pub(super) retry_ms: u64,
    pub(super) replays: &'a Histogram,
}

#[derive(Debug)]
pub(super) struct Client {
    socket: Arc<dyn Socket>,
    /// Whole blocks, of which the first `sent` bytes are out.
    sending: Vec<u8>,
    sent: usize,
    /// A snapshot that is being sent.
    snapshot: VecDeque<Arc<Published>>,
    /// The next event to read from the log; `None` once the client is live.
    replay: Option<u64>,
    replayed: u64,
    queue: Queue<Arc<Published>>,
    /// Ends when everything in `sending` is out.
    ending: bool,
    /// Ends when nothing is left for it.
    draining: bool,
    gone: bool,
    sent_bytes: u64,
    /// Calls the connection's task.
    pub(super) wake: Arc<Notify>,
}

impl Client {
    /// A client that reads the log from `replay` on, or is live; `first` is what it is sent before all.
    pub(super) fn new(socket: Arc<dyn Socket>, policies: &Policies, replay: Option<u64>, first: Vec<u8>) -> Self {
        Self {
            socket,
            sending: first,
            sent: 0,
            snapshot: VecDeque::new(),
            replay,
            replayed: 0,
            queue: Queue::new(policies.clone()),
            ending: false,
            draining: false,
            gone: false,
            sent_bytes: 0,
            wake: Arc::new(Notify::new()),
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.replay.is_none() && !self.is_ending()
    }

    pub(super) fn is_ending(&self) -> bool {
        self.ending || self.draining || self.gone
    }

    /// Nothing waits and nothing is on its way.
    pub(super) fn is_idle(&self) -> bool {
        self.is_live() && self.sending.is_empty() && self.snapshot.is_empty() && self.queue.is_empty()
    }

    pub(super) fn standing(&self, number: u64) -> ClientStanding {
        let state = match self {
            _ if self.is_ending() => "ending",
            Self { replay: Some(_), .. } => "replay",
            _ if self.is_idle() => "live",
            _ => "slow",
        };
        ClientStanding {
            number,
            state,
            queue_frames: self.queue.len(),
            queue_bytes: self.queue.bytes(),
            sent_bytes: self.sent_bytes,
        }
    }

    /// An event was published. A client that keeps up gets it without the queue.
    pub(super) fn offer(&mut self, event: &Arc<Published>, direct: bool, common: &mut Common<'_>) {
        if !self.is_live() {
            return;
        }
        if direct && self.is_idle() && self.write_direct(event.block(true)) {
            common.stats.of(&event.event).delivered += 1;
            return;
        }
        if self.gone {
            return;
        }
        let route = event.route.clone();
        let offer = Offer { seq: event.seq, route, bytes: event.bytes(), payload: Arc::clone(event) };
        let counts = common.stats.of(&event.event);
        match self.queue.push(offer) {
            Verdict::Queued => {}
            Verdict::Replaced(_) => counts.coalesced += 1,
            Verdict::Dropped => counts.dropped += 1,
            Verdict::Discarded => counts.discarded += 1,
            Verdict::Disconnect => {
                common.stats.slow_disconnects += 1;
                self.end(common.retry_ms);
            }
        }
        self.wake.notify_one();
    }

    /// Something that is no event: for a client that is slow it is not worth a place.
    pub(super) fn offer_block(&mut self, block: &[u8]) {
        if self.is_idle() {
            self.write_direct(block);
        }
    }

    /// `false` if the socket takes nothing now. What it leaves of a block is on its way from then on.
    fn write_direct(&mut self, block: &[u8]) -> bool {
        match self.socket.try_write(block) {
            Ok(count) => {
                self.sent_bytes += count as u64;
                if count < block.len() {
                    self.sending.extend_from_slice(&block[count..]);
                    self.wake.notify_one();
                }
                true
            }
            Err(error) if is_busy(&error) => false,
            Err(_) => {
                self.gone = true;
                self.wake.notify_one();
                false
            }
        }
    }

    /// Ends the stream after the block that is on its way; what waits is let go of.
    pub(super) fn end(&mut self, retry_ms: u64) {
        if !self.ending {
            self.ending = true;
            self.queue.clear();
            self.snapshot.clear();
            encode::retry(&mut self.sending, retry_ms);
        }
        self.wake.notify_one();
    }

    /// Ends the stream when nothing is left for the client.
    pub(super) fn drain(&mut self) {
        self.draining = true;
        self.wake.notify_one();
    }

    /// Gives the socket as much as it takes.
    pub(super) fn flush(&mut self, common: &mut Common<'_>) -> Flushed {
        loop {
            if self.gone {
                return Flushed::Gone;
            }
            if self.sent < self.sending.len() {
                match self.socket.try_write(&self.sending[self.sent..]) {
                    Ok(0) => self.gone = true,
                    Ok(count) => {
                        self.sent += count;
                        self.sent_bytes += count as u64;
                    }
                    Err(error) if is_busy(&error) => return Flushed::Blocked,
                    Err(_) => self.gone = true,
                }
                continue;
            }
            self.sent = 0;
            self.sending.clear();
            if self.sending.capacity() > KEPT_CAPACITY_BYTES {
                self.sending = Vec::new();
            }
            if self.ending {
                return Flushed::End;
            }
            self.fill(common);
            if self.sending.is_empty() {
                self.sending = Vec::new();
                match self.draining {
                    true => self.end(common.retry_ms),
                    false => return Flushed::All,
                }
            }
        }
    }

    fn fill(&mut self, common: &mut Common<'_>) {
        self.fill_snapshot(common);
        if self.sending.is_empty() && self.replay.is_some() {
            self.fill_replay(common);
        }
        while self.sending.is_empty() && !self.queue.is_empty() {
            self.fill_live(common);
            self.fill_snapshot(common);
        }
    }

    fn fill_snapshot(&mut self, common: &mut Common<'_>) {
        while self.sending.len() < BATCH_BYTES {
            let Some(event) = self.snapshot.pop_front() else { return };
            let carries_id = self.queue.oldest().is_none_or(|oldest| event.seq < oldest);
            self.send(&event, carries_id, common);
        }
    }

    /// Of state only what is newest is worth reading again, and what is worthless when late is not.
    fn fill_replay(&mut self, common: &mut Common<'_>) {
        let Some(mut next) = self.replay else { return };
        if let Some(oldest) = common.log.oldest().filter(|&oldest| next < oldest) {
            self.notice(oldest - next, common);
            next = oldest;
        }
        while self.sending.len() < BATCH_BYTES && next < common.next_seq {
            if let Some(event) = common.log.get(next)
                && is_replayed(event, common.policies, common.current)
            {
                common.stats.replayed += 1;
                self.replayed += 1;
                let event = Arc::clone(event);
                self.send(&event, true, common);
            }
            next += 1;
        }
        // In the very step in which nothing more is there, the client is live: no hole and no repeat.
        self.replay = (next < common.next_seq).then_some(next);
        if self.replay.is_none() {
            common.replays.observe(self.replayed as f64);
        }
    }

    fn fill_live(&mut self, common: &mut Common<'_>) {
        for taken in self.queue.take(BATCH_BYTES) {
            match taken {
                Taken::Event { payload, carries_id } => self.send(&payload, carries_id, common),
                Taken::Notice { dropped, .. } => self.notice(dropped, common),
                Taken::Snapshot { rule } => self.begin_snapshot(rule, common),
            }
        }
    }

    /// A snapshot looks like the events of a client that keeps up, so a comment before it says what follows.
    fn begin_snapshot(&mut self, rule: RuleIndex, common: &Common<'_>) {
        self.snapshot.extend(common.current.of(rule).cloned());
        encode::comment(&mut self.sending, &format!("snapshot, {} messages", self.snapshot.len()));
    }

    fn send(&mut self, event: &Published, carries_id: bool, common: &mut Common<'_>) {
        if self.sending.capacity() == 0 {
            self.sending.reserve_exact(ROOM_BYTES);
        }
        self.sending.extend_from_slice(event.block(carries_id));
        common.stats.of(&event.event).delivered += 1;
    }

    fn notice(&mut self, dropped: u64, common: &mut Common<'_>) {
        encode::comment(&mut self.sending, &format!("you are reading too slowly, dropped {dropped} messages"));
        common.stats.drop_notices += 1;
    }
}

/// Whether a client that goes on from before this event is sent it.
pub(super) fn is_replayed(event: &Published, policies: &Policies, current: &Current) -> bool {
    *policies.kind(event.route.rule) != Kind::Drop && !current.is_superseded(event)
}

fn is_busy(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
