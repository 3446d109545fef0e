//! One connection: reads ahead of the output by a bounded amount, hands frames on, keeps the time.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::end::End;
use super::{Clock, Driver, instant, interrupt, sleep_until};
use crate::consumer::idle::Idle;
use crate::consumer::policy::{Next, Policy};
use crate::consumer::ports::{Body, Broken, Connected, Console, Format, Journal, Sink, Transport};
use crate::wire::Decoder;

/// Why a connection is over.
#[derive(Debug)]
pub(super) enum Leaving {
    /// It ended, cleanly or not.
    Ended(Result<(), Broken>),
    /// The policy left it.
    Left,
    /// The run is to end.
    End(End),
}

/// What is known of the connection while it stands.
pub(super) struct Link<K> {
    decoder: Decoder,
    pub(super) state: LinkState,
    queue: ReadAhead<K>,
    ended: Option<Result<(), Broken>>,
}

/// The part that frames change.
pub(super) struct LinkState {
    pub(super) idle: Idle,
    /// When an event came last, or the connection was made.
    pub(super) event_at: Instant,
    /// When the present chunk was looked at.
    pub(super) chunk_at: Instant,
}

/// Chunks that came and are not decoded yet.
struct ReadAhead<K> {
    /// Each with when it came.
    chunks: VecDeque<(Instant, K)>,
    bytes: usize,
    bytes_max: usize,
}

impl<K: AsRef<[u8]>> ReadAhead<K> {
    fn push(&mut self, chunk: K) {
        self.bytes += chunk.as_ref().len();
        self.chunks.push_back((Instant::now(), chunk));
    }

    fn pop(&mut self) -> Option<(Instant, K)> {
        let (came, chunk) = self.chunks.pop_front()?;
        self.bytes -= chunk.as_ref().len();
        Some((came, chunk))
    }

    fn is_full(&self) -> bool {
        self.bytes >= self.bytes_max
    }
}

/// What woke the session.
enum Woken<K> {
    Chunk(Result<Option<K>, Broken>),
    Done(super::pump::Done),
    Time,
    /// The output is to go on elsewhere, which the next write begins with.
    Turn,
    Interrupt(End),
    Fenced(crate::consumer::ports::JournalError),
}

impl<P, T, J, S, F, C> Driver<P, T, J, S, F, C>
where
    P: Policy,
    T: Transport,
    J: Journal + 'static,
    S: Sink + 'static,
    F: Format,
    C: Console,
{
    pub(super) async fn session(&mut self, connected: Connected<T::Body>) -> Leaving {
        let mut body = connected.body;
        let mut idle = Idle::new(self.settings.idle, connected.is_get);
        idle.on_bytes(self.clock.now());
        let mut link = Link {
            decoder: Decoder::new(self.settings.limits),
            state: LinkState { idle, event_at: Instant::now(), chunk_at: Instant::now() },
            queue: ReadAhead { chunks: VecDeque::new(), bytes: 0, bytes_max: self.settings.read_ahead_bytes },
            ended: None,
        };
        self.state(if self.policy.reread().is_some() { "recovering" } else { "live" });
        loop {
            if self.waiting.is_behind() {
                // What comes now may give way if it has to wait, and not otherwise.
                self.start_write();
            }
            self.look_at_output();
            // While a batch is written the next one is made.
            if self.waiting.has_room()
                && let Some(leaving) = self.work(&mut link)
            {
                return leaving;
            }
            self.start_write();
            if self.commit_is_due() {
                self.start_commit();
            }
            let woken = self.wake(&mut body, &link).await;
            if let Some(leaving) = self.take_woken(woken, &mut link).await {
                return leaving;
            }
        }
    }

    /// Waits for whatever comes first, and counts who is waited for (rule 14).
    async fn wake(
        &mut self,
        body: &mut T::Body,
        link: &Link<<T::Body as Body>::Chunk>,
    ) -> Woken<<T::Body as Body>::Chunk> {
        let writing = self.pump.is_writing();
        let behind = writing && !self.waiting.is_empty();
        let pull = link.ended.is_none() && !link.queue.is_full();
        let time = self.next_time(link, writing, pull);
        let start = Instant::now();
        let journal = self.pump.journal.clone();
        let sink = self.pump.sink().clone();
        let woken = tokio::select! {
            biased;
            done = self.pump.done(), if writing || self.pump.is_committing() => Woken::Done(done),
            end = interrupt(&self.shutdown, self.time_limit, &sink) => Woken::Interrupt(end),
            chunk = body.chunk(), if pull => Woken::Chunk(chunk),
            () = sleep_until(time) => Woken::Time,
            () = sink.turn_due(), if !writing => Woken::Turn,
            error = journal.fenced(), if !self.in_memory => Woken::Fenced(error),
        };
        let waited = start.elapsed();
        if behind {
            self.stats.waiting_output += waited
        } else {
            self.stats.waiting_network += waited
        }
        woken
    }

    /// When something is to be done though nothing comes.
    fn next_time(&self, link: &Link<<T::Body as Body>::Chunk>, writing: bool, pull: bool) -> Option<Instant> {
        let watchdog = instant(&self.clock, link.state.idle.deadline()).filter(|_| pull);
        let policy = instant(&self.clock, self.policy.deadline()).filter(|_| !writing);
        let commits = self.pump.has_queued_commit() || (!writing && self.uncommitted);
        let commit = (commits && !self.pump.is_committing()).then(|| self.pump.commit_at());
        // What came and is not decoded yet may hold an event.
        let idle = self.until_idle(&link.state).filter(|_| link.queue.chunks.is_empty());
        [watchdog, policy, commit, idle, self.waiting.behind_at()].into_iter().flatten().min()
    }

    /// When `--until-idle` ends the run.
    fn until_idle(&self, state: &LinkState) -> Option<Instant> {
        let idle = self.settings.bounds.until_idle?;
        (!self.policy.recovery_waits()).then(|| state.event_at + idle)
    }

    async fn take_woken(
        &mut self,
        woken: Woken<<T::Body as Body>::Chunk>,
        link: &mut Link<<T::Body as Body>::Chunk>,
    ) -> Option<Leaving> {
        match woken {
            Woken::Chunk(Ok(Some(chunk))) => {
                link.state.idle.on_bytes(self.clock.now());
                self.stats.bytes += chunk.as_ref().len() as u64;
                link.queue.push(chunk);
                None
            }
            Woken::Chunk(Ok(None)) => {
                link.ended = Some(Ok(()));
                None
            }
            Woken::Chunk(Err(broken)) => {
                link.ended = Some(Err(broken));
                None
            }
            Woken::Done(done) => {
                let full = link.queue.is_full();
                let result = self.take_done(done).await;
                if full {
                    // Nothing was read while the output was behind: that is not the server's silence.
                    link.state.idle.on_bytes(self.clock.now());
                }
                result.err().map(Leaving::End)
            }
            Woken::Time => self.take_time(link),
            Woken::Turn => None,
            Woken::Interrupt(end) => Some(Leaving::End(end)),
            Woken::Fenced(error) => self.store_failed(error).await.err().map(Leaving::End),
        }
    }

    fn take_time(&mut self, link: &mut Link<<T::Body as Body>::Chunk>) -> Option<Leaving> {
        let now = self.clock.now();
        if link.queue.chunks.is_empty() && self.until_idle(&link.state).is_some_and(|end| end <= Instant::now()) {
            return Some(Leaving::End(End::Idle));
        }
        let silent = link.state.idle.deadline().is_some_and(|deadline| deadline <= now);
        (silent && !link.queue.is_full()).then(|| {
            let causes = vec!["nothing came for longer than the idle time-out".to_owned()];
            Leaving::Ended(Err(Broken { causes }))
        })
    }

    /// Decodes what came, up to one batch.
    fn work(&mut self, link: &mut Link<<T::Body as Body>::Chunk>) -> Option<Leaving> {
        if self.settings.bounds.count_is_used_up() {
            return Some(Leaving::End(End::Count));
        }
        while self.waiting.has_room() {
            let Some((came, chunk)) = link.queue.pop() else { break };
            let times = (self.clock.now(), Clock::wall());
            link.state.chunk_at = Instant::now();
            self.waiting.came_at(came);
            self.look_at_output();
            let mut frames = link.decoder.feed(chunk.as_ref());
            while let Some(frame) = frames.next() {
                if let Some(leaving) = self.take_frame(&frame, &mut link.state, times) {
                    return Some(leaving);
                }
            }
        }
        self.show_progress();
        if !link.queue.chunks.is_empty() {
            return None;
        }
        // After what came: a deadline is about the server's silence, not about how long the output was busy.
        let next = self.policy.tick(self.clock.now());
        self.take_outgoing();
        if let Some(leaving) = self.leaving(next) {
            return Some(leaving);
        }
        link.ended.take().map(|result| self.ended(link, result))
    }

    /// An output that is found to be behind is told of once.
    fn look_at_output(&mut self) {
        if !self.waiting.look() {
            return;
        }
        let text =
            "the output is behind: until it has caught up, events give way as `--policy` says (`--stats` counts them)";
        match std::mem::replace(&mut self.told_of_output, true) {
            false => self.console.note(text),
            true => self.console.detail(1, text),
        }
    }

    fn ended(&mut self, link: &mut Link<<T::Body as Body>::Chunk>, result: Result<(), Broken>) -> Leaving {
        if !link.decoder.finish().is_clean() {
            self.console.detail(1, "the connection ended in the middle of a block, which is not delivered");
        }
        Leaving::Ended(result)
    }

    pub(super) fn leaving(&self, next: Next) -> Option<Leaving> {
        match next {
            Next::Go => None,
            Next::Leave => Some(Leaving::Left),
            Next::Stop(stop) => Some(Leaving::End(super::end_of(stop))),
        }
    }
}
