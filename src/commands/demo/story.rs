//! What happens in the demo, step by step. Every step waits for what it is about, never for a time to pass; only the
//! pace at which a person is shown things is a matter of time.

use std::future::Future;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::teller::Teller;
use super::watcher::{Seen, Watcher};
use crate::consumer::id::{EventId, StreamName};
use crate::consumer::options::OnDrop;
use crate::error::{Exit, Failure};
use crate::server::DemoServer;
use crate::settings::parse::duration_text;
use crate::store::Summary;
use crate::store::thread::StoreHandle;

/// Events that come live at first; with [`Pace::step`] between them they take longer than the replay window.
const LIVE_EVENTS: u64 = 12;
/// Events of the burst.
const BURST_EVENTS: u64 = 300;
/// Events that come while the client recovers: the first is the far side of the gap.
const MEANWHILE_EVENTS: u64 = 3;
/// Events that come live at the end.
const LAST_EVENTS: u64 = 6;
/// How long anything is waited for before the demo is given up: only something broken takes so long.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the store is asked whether a commit has come.
const STORE_POLL: Duration = Duration::from_millis(5);

/// How fast things go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Between two live events.
    pub(super) step: Duration,
    /// Between two parts of the story.
    pub(super) pause: Duration,
    /// The replay window.
    pub(super) window: Duration,
}

impl Pace {
    /// For a person: slow enough to read along.
    pub(super) const PERSON: Self =
        Self { step: Duration::from_millis(250), pause: Duration::from_millis(600), window: Duration::from_secs(2) };
    /// For a program.
    pub(super) const PROGRAM: Self =
        Self { step: Duration::from_millis(20), pause: Duration::ZERO, window: Duration::from_millis(150) };
}

/// Everything that a story is told with.
pub(super) struct Story {
    pub(super) server: DemoServer,
    /// The slow-client limit of the server, in events.
    pub(super) limit: usize,
    pub(super) store: StoreHandle,
    pub(super) stream: StreamName,
    pub(super) watcher: Watcher,
    pub(super) teller: Teller,
    pub(super) pace: Pace,
    pub(super) on_drop: OnDrop,
    /// Events published so far.
    pub(super) published: u64,
}

impl Story {
    /// Tells it, from the connection to the last event.
    ///
    /// # Errors
    /// Something that should happen did not; or stdout failed.
    pub(super) async fn tell(&mut self) -> Result<(), Failure> {
        self.connect().await?;
        self.live().await?;
        self.burst().await?;
        match self.on_drop {
            OnDrop::Recover => self.recovery().await?,
            OnDrop::Warn | OnDrop::Exit => self.no_recovery().await?,
        }
        self.last().await
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        let text = format!(
            "1. A server on this machine: {}\n   It keeps a log. A reader that is too slow may have {} events waiting; \
             more are discarded.",
            self.server.url(),
            self.limit
        );
        self.teller.say(&text).await?;
        self.within("the client to connect", self.server.live(1)).await?;
        self.teller.say("   `tail` has connected. It sent no cursor: it follows from now.\n").await
    }

    async fn live(&mut self) -> Result<(), Failure> {
        self.teller.say("2. Live events:").await?;
        self.publish_live(LIVE_EVENTS).await?;
        let stored = self.stored().await?;
        let text = format!(
            "   Two cursors are stored: latest is {}, and lagging, {} behind it, is {}.\n",
            id_or_none(stored.latest.as_ref()),
            duration_text(self.pace.window),
            id_or_none(stored.lagging.as_ref()),
        );
        self.teller.say(&text).await?;
        sleep(self.pace.pause).await;
        Ok(())
    }

    async fn burst(&mut self) -> Result<(), Failure> {
        let first = self.published;
        self.published += BURST_EVENTS;
        self.server.publish_all((first..first + BURST_EVENTS).map(|number| ("trade".to_owned(), trade(number))));
        let notice = |seen: &Seen| seen.notice("drop-notice").is_some() && !seen.comments.is_empty();
        self.within("the server's drop notice", self.watcher.wait_for(notice)).await?;
        let text = format!(
            "3. A burst: {BURST_EVENTS} events in one instant. {} fit in the queue, the server discards the rest.\n   \
             The connection stays open. Only a comment tells of it, and most clients throw comments away:",
            self.limit
        );
        self.teller.say(&text).await?;
        let comment = self.watcher.seen().comments.last().cloned().unwrap_or_default();
        self.teller.quote(&format!(": {comment}")).await
    }

    async fn recovery(&mut self) -> Result<(), Failure> {
        let stored = self.stored().await?;
        let latest = id_or_none(stored.latest.as_ref());
        let text =
            format!("   To go on after {latest}, the last id, would skip them for good. So latest freezes there.\n");
        self.teller.say(&text).await?;
        self.publish_meanwhile().await?;
        let again = self.watcher.wait_for(|seen| seen.notices("connected") >= 2);
        self.within("the client to connect again", again).await?;
        self.teller.say("4. The client leaves the open connection and reads again, from lagging:").await?;
        let cursor = self.server.last_cursor().unwrap_or_else(|| "none".to_owned());
        self.teller.quote(&format!("Last-Event-ID: {cursor}")).await?;
        let end = |seen: &Seen| seen.notices("recovery-finished") + seen.notices("gap-unrecoverable") > 0;
        self.within("the recovery to end", self.watcher.wait_for(end)).await?;
        self.show_recovered().await
    }

    async fn show_recovered(&mut self) -> Result<(), Failure> {
        let (removed, recovered) = {
            let seen = self.watcher.seen();
            let removed = seen.notice("recovery-finished").and_then(|said| said.removed).unwrap_or(0);
            (removed, seen.replayed().cloned().collect::<Vec<_>>())
        };
        let text = format!(
            "   {removed} events that were delivered before come again and are removed, {} are recovered:",
            recovered.len()
        );
        self.teller.say(&text).await?;
        if let [first, second, between @ .., last] = recovered.as_slice() {
            self.teller.show(first).await?;
            self.teller.show(second).await?;
            self.teller.quote(&format!("... {} more ...", between.len())).await?;
            self.teller.show(last).await?;
        }
        self.teller.say("").await?;
        sleep(self.pace.pause).await;
        Ok(())
    }

    async fn no_recovery(&mut self) -> Result<(), Failure> {
        let text = "\n4. `--on-drop warn`: the notice is counted and nothing is read again, as in other clients.\n";
        self.teller.say(text).await?;
        self.publish_meanwhile().await
    }

    async fn last(&mut self) -> Result<(), Failure> {
        self.teller.say("5. The stream goes on live:").await?;
        self.publish_live(LAST_EVENTS).await?;
        self.stored().await?;
        self.teller.say("").await
    }

    /// Publishes events one by one, and shows each when it is delivered.
    async fn publish_live(&mut self, events: u64) -> Result<(), Failure> {
        for _ in 0..events {
            sleep(self.pace.step).await;
            let id = self.publish();
            let delivered = self.watcher.wait_for(|seen| seen.event(id).is_some());
            self.within(&format!("the event {id} to be delivered"), delivered).await?;
            let event = self.watcher.seen().event(id).cloned();
            if let Some(event) = event {
                self.teller.show(&event).await?;
            }
        }
        Ok(())
    }

    /// Publishes events that nobody waits for here.
    async fn publish_meanwhile(&mut self) -> Result<(), Failure> {
        for _ in 0..MEANWHILE_EVENTS {
            self.publish();
            sleep(self.pace.step).await;
        }
        Ok(())
    }

    fn publish(&mut self) -> u64 {
        let number = self.published;
        self.published += 1;
        self.server.publish("trade", &trade(number))
    }

    /// Waits until the store holds the last id that was delivered as `latest`.
    async fn stored(&self) -> Result<Summary, Failure> {
        let look = async {
            loop {
                let newest = self.watcher.seen().events.last().and_then(|event| event.id.clone());
                let stored = self.store.show(&self.stream).await?;
                match stored {
                    Some(stored) if stored.latest.as_ref().map(EventId::as_str) == newest.as_deref() => {
                        return Ok(stored);
                    }
                    _ => sleep(STORE_POLL).await,
                }
            }
        };
        self.within("the cursors to be stored", look).await?
    }

    async fn within<T>(&self, what: &str, event: impl Future<Output = T>) -> Result<T, Failure> {
        timeout(PATIENCE, event).await.map_err(|_| {
            let failure = Failure::new(Exit::Failure, "finish the demo")
                .cause(format!("waited {} in vain for {what}", duration_text(PATIENCE)));
            match &self.watcher.seen().warning {
                Some(warning) => failure.cause(warning.clone()),
                None => failure,
            }
        })
    }
}

/// A price that goes up and down, in cents.
fn trade(number: u64) -> String {
    let cents = 10_000 + number * 37 % 450;
    format!(r#"{{"symbol":"ACME","price":"{}.{:02}"}}"#, cents / 100, cents % 100)
}

fn id_or_none(id: Option<&EventId>) -> String {
    id.map_or("none".to_owned(), ToString::to_string)
}
