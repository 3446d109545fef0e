//! One reader of the stream: a connection through a tap, and what was seen on it.

use std::cell::{Ref, RefCell};
use std::rc::Rc;
use std::time::Duration;

use crate::commands::wiring;
use crate::consumer::id::EventId;
use crate::consumer::ports::{Attempt, Body, ConnectError, Transport};
use crate::consumer::time::Timestamp;
use crate::driver::Clock;
use crate::error::{Exit, Failure};
use crate::http::tap::{Leg, Tap};
use crate::http::{Head, HttpBody, HttpTransport, Options};
use crate::probe::{Ended, Observation, Recorder};

/// What readers share: what is asked for, and the time.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) http: Options,
    pub(super) event_bytes_max: usize,
    pub(super) clock: Clock,
}

/// A reader. What it saw can be looked at while it reads.
pub(super) struct Reader {
    plan: Plan,
    tap: Option<Rc<Tap>>,
    transport: HttpTransport,
    recorder: Rc<RefCell<Recorder>>,
}

impl Reader {
    /// A reader that has not connected; the system is asked for a receive buffer of this size.
    pub(super) async fn new(plan: &Plan, receive_buffer_bytes: Option<u32>) -> Result<Self, Failure> {
        let tap = Tap::start(&plan.http, receive_buffer_bytes).await;
        let tap = tap.map_err(|error| Failure::new(Exit::Failure, "listen on loopback").cause(error.to_string()))?;
        let mut options = plan.http.clone();
        let tap = tap.map(Rc::new);
        options.via = tap.as_ref().map(|tap| tap.via());
        let transport = wiring::transport(&options)?;
        let recorder = Rc::new(RefCell::new(Recorder::new(plan.event_bytes_max)));
        Ok(Self { plan: plan.clone(), tap, transport, recorder })
    }

    /// What sets the pace, where there is something to set it.
    pub(super) fn tap(&self) -> Option<Rc<Tap>> {
        self.tap.clone()
    }

    /// What time it is for the whole probe.
    pub(super) fn now(&self) -> Timestamp {
        self.plan.clock.now()
    }

    /// What records; shared with the connections.
    pub(super) fn recorder(&self) -> Rc<RefCell<Recorder>> {
        Rc::clone(&self.recorder)
    }

    /// The connections that were made, where they are known.
    pub(super) fn legs(&self) -> Vec<Leg> {
        self.tap.as_ref().map(|tap| tap.legs()).unwrap_or_default()
    }

    /// What was seen so far.
    pub(super) fn seen(&self) -> Ref<'_, Observation> {
        Ref::map(self.recorder.borrow(), Recorder::observation)
    }

    /// Makes a connection.
    pub(super) async fn connect(&mut self, cursor: Option<EventId>) -> Result<Connection, ConnectError> {
        let begun = self.plan.clock.now();
        let before = self.legs().len();
        let connected = Box::pin(self.transport.connect(&Attempt { cursor })).await;
        let now = self.plan.clock.now();
        match connected {
            Ok(connected) => {
                self.recorder.borrow_mut().opened(now);
                let head = connected.body.head().clone();
                Ok(Connection {
                    head,
                    took: now.since(begun),
                    legs: self.legs().split_off(before),
                    body: connected.body,
                    recorder: Rc::clone(&self.recorder),
                    clock: self.plan.clock,
                })
            }
            // The tap knows better than its client why there is no connection.
            Err(ConnectError::Unreachable { causes }) => {
                let failed = self.legs().pop().and_then(|leg| Some((leg.target, leg.error?)));
                let causes = match failed {
                    Some((target, error)) => vec![format!("cannot connect to `{target}`"), error],
                    None => causes,
                };
                Err(ConnectError::Unreachable { causes })
            }
            Err(other) => Err(other),
        }
    }
}

/// A response that is being read.
pub(super) struct Connection {
    pub(super) head: Head,
    /// From asking until the head was there.
    pub(super) took: Duration,
    /// The connections that were made for it: one for each redirect, and one for the answer.
    pub(super) legs: Vec<Leg>,
    body: HttpBody,
    recorder: Rc<RefCell<Recorder>>,
    clock: Clock,
}

impl Connection {
    /// Reads the next piece; `true` if the response is over. Cancel-safe.
    pub(super) async fn step(&mut self) -> bool {
        let chunk = self.body.chunk().await;
        let now = self.clock.now();
        let mut recorder = self.recorder.borrow_mut();
        let ended = match chunk {
            Ok(Some(bytes)) if recorder.bytes(now, &bytes) => return false,
            Ok(Some(_)) => Ended::TooLarge,
            Ok(None) => Ended::Clean,
            Err(broken) => Ended::Broken(broken.causes.join(": ")),
        };
        recorder.ended(now, ended);
        true
    }

    /// Reads to the end of the response. Cancel-safe.
    pub(super) async fn read(&mut self) {
        while !self.step().await {}
    }
}
