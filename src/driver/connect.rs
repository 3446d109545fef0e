//! From one connection to the next: attempts, refusals, what is waited between them.

use std::time::Duration;

use tokio::time::Instant;

use super::end::{End, Seconds};
use super::{Clock, Driver, end_of, interrupt};
use crate::consumer::delivery::NoticeKind;
use crate::consumer::policy::{Next, Policy};
use crate::consumer::ports::{Attempt, ConnectError, Connected, Console, Format, Journal, Sink, Transport};

/// Statuses that may mean that the server no longer has the cursor, if the same request without one gets 200 (rule 6).
const CURSOR_STATUSES: [u16; 4] = [400, 404, 412, 422];

impl<P, T, J, S, F, C> Driver<P, T, J, S, F, C>
where
    P: Policy,
    T: Transport,
    J: Journal + 'static,
    S: Sink + 'static,
    F: Format,
    C: Console,
{
    /// Says what was lost and waits for the next attempt, if there is one.
    pub(super) async fn lost_connection(
        &mut self,
        text: String,
        delay: Option<Duration>,
        answered: bool,
    ) -> Result<(), End> {
        let Some(delay) = delay else { return Err(self.retries_used_up(vec![text], answered)) };
        self.console.warning(&format!("{text}; connecting again in {}", Seconds(delay)));
        self.notice(NoticeKind::Reconnecting, &format!("in {}", Seconds(delay)));
        self.wait(delay).await
    }

    pub(super) fn retries_used_up(&self, causes: Vec<String>, answered: bool) -> End {
        End::NoConnection { causes, retries: self.backoff.retries(), answered }
    }

    pub(super) fn next_delay(&mut self, retry_after: Option<Duration>) -> Option<Duration> {
        let jitter = (self.jitter)();
        self.backoff.next(jitter, retry_after)
    }

    /// One attempt. `None`: it gave no stream, and what follows was waited for.
    pub(super) async fn connect(&mut self) -> Result<Option<Connected<T::Body>>, End> {
        self.state("connecting");
        // Keys are asked for below: what was delivered must be among them.
        self.settle().await?;
        let plan = self.policy.plan(self.clock.now());
        self.take_outgoing();
        let position = plan.cursor.as_ref().map_or_else(|| "no cursor".to_owned(), |id| format!("`{id}`"));
        match self.settings.url_position.as_ref().filter(|_| plan.cursor.is_none()) {
            Some(own) => {
                self.console.detail(1, &format!("connecting with `{own}` of the URL, since no cursor is known"))
            }
            None => self.console.detail(1, &format!("connecting with {position}: {}", plan.why)),
        }
        let keys = match plan.keys_from {
            Some(from) => match self.pump.journal.keys(from).await {
                Ok(keys) => keys,
                Err(error) => {
                    self.store_failed(error).await?;
                    Vec::new()
                }
            },
            None => Vec::new(),
        };
        let attempt = Attempt { cursor: plan.cursor };
        match self.attempt(&attempt).await? {
            Ok(connected) => {
                self.stats.connections += 1;
                self.console.detail(1, &format!("connected: {}", connected.status_line));
                self.notice(NoticeKind::Connected, &format!("with {position}"));
                let next = self.policy.connected(keys, self.clock.now());
                self.take_outgoing();
                debug_assert!(next == Next::Go || matches!(next, Next::Stop(_)), "a fresh connection is not left");
                if plan.snapshot {
                    self.deliver_snapshot().await?;
                }
                self.leave_for(next).map_or(Ok(Some(connected)), Err)
            }
            Err(error) => {
                self.stats.failed_attempts += 1;
                self.after_refusal(&attempt, error).await?;
                Ok(None)
            }
        }
    }

    /// After the stream was connected to, so that no event is missed between the two.
    async fn deliver_snapshot(&mut self) -> Result<(), End> {
        let interrupt = interrupt(&self.shutdown, self.time_limit, self.pump.sink());
        let fetched = tokio::select! {
            fetched = self.transport.snapshot() => fetched,
            end = interrupt => return Err(end),
        };
        let data = fetched.map_err(End::NoSnapshot)?;
        self.waiting.put(|batch| self.format.snapshot(batch, &data, Clock::wall()));
        Ok(())
    }

    pub(super) fn leave_for(&self, next: Next) -> Option<End> {
        match next {
            Next::Stop(stop) => Some(end_of(stop)),
            Next::Go | Next::Leave => None,
        }
    }

    pub(super) async fn attempt(&mut self, attempt: &Attempt) -> Result<Result<Connected<T::Body>, ConnectError>, End> {
        let interrupt = interrupt(&self.shutdown, self.time_limit, self.pump.sink());
        // A `tail` learns of it when it is connected, and goes on.
        let ends_if_fenced = self.spare.is_none() && !self.in_memory;
        tokio::select! {
            result = self.transport.connect(attempt) => Ok(result),
            end = interrupt => Err(end),
            error = self.pump.journal.fenced(), if ends_if_fenced => Err(End::Store(error)),
        }
    }

    pub(super) async fn after_refusal(&mut self, attempt: &Attempt, error: ConnectError) -> Result<(), End> {
        match error {
            ConnectError::NoContent => Err(End::NoContent),
            ConnectError::Status { code, ref detail, retry_after, retryable: true } => {
                let text = format!("the server answered {code} {detail}");
                self.try_again(text, retry_after, true).await
            }
            ConnectError::Unreachable { causes } => self.try_again(causes.join(": "), None, false).await,
            // A command that gave credentials before, or a certificate that was trusted, fails as the network does: for
            // a while.
            ConnectError::Unusable { causes }
            | ConnectError::Untrusted { causes }
            | ConnectError::Disagreed { causes }
                if self.stats.connections > 0 =>
            {
                self.try_again(causes.join(": "), None, false).await
            }
            ConnectError::Status { code, .. } if attempt.cursor.is_some() && self.cursor_is_refused(code).await? => {
                let how = format!("it answered {code} to a request with the cursor");
                let next = self.policy.cursor_refused(&how, self.clock.now());
                self.take_outgoing();
                self.leave_for(next).map_or(Ok(()), Err)
            }
            other => Err(End::Refused(other)),
        }
    }

    pub(super) async fn try_again(
        &mut self,
        text: String,
        retry_after: Option<Duration>,
        answered: bool,
    ) -> Result<(), End> {
        if !self.settings.reconnect {
            return Err(End::NoConnection { causes: vec![text], retries: 0, answered });
        }
        let delay = self.next_delay(retry_after);
        self.lost_connection(text, delay, answered).await
    }

    /// Rule 6: 410 says so; others may, if the same request without a cursor gets 200.
    pub(super) async fn cursor_is_refused(&mut self, code: u16) -> Result<bool, End> {
        if code == 410 {
            return Ok(true);
        }
        if !CURSOR_STATUSES.contains(&code) {
            return Ok(false);
        }
        Ok(self.attempt(&Attempt { cursor: None }).await?.is_ok())
    }

    /// Waits before the next attempt.
    pub(super) async fn wait(&mut self, delay: Duration) -> Result<(), End> {
        self.state("waiting");
        self.drain().await?;
        let until = Instant::now() + delay;
        let sink = self.pump.sink().clone();
        loop {
            let journal = self.pump.journal.clone();
            let busy = self.pump.is_committing();
            tokio::select! {
                done = self.pump.done(), if busy => self.take_done(done).await?,
                () = sink.turn_due(), if !busy => self.start_write(),
                () = tokio::time::sleep_until(until) => return Ok(()),
                end = interrupt(&self.shutdown, self.time_limit, &sink) => return Err(end),
                error = journal.fenced(), if !self.in_memory => self.store_failed(error).await?,
            }
        }
    }
}
