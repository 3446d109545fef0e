//! The body of a response: what the hub has for one subscriber, as fast as the socket takes it.
//!
//! It holds nothing back of its own, so that a client that does not read is felt in the hub's queue.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

use super::ServerOptions;
use super::hub::{Hub, SubscriberKey, Taken};
use crate::wire::encode;

/// The body of any response of this server.
pub(super) enum ResponseBody {
    /// A text, once.
    Text(Option<&'static str>),
    /// The event stream.
    Stream(Stream),
}

impl ResponseBody {
    pub(super) fn text(text: &'static str) -> Self {
        Self::Text(Some(text))
    }

    /// Subscribes after `cursor`, or from now on.
    pub(super) fn stream(hub: &Arc<Hub>, cursor: Option<u64>, options: &ServerOptions) -> Self {
        Self::Stream(Stream {
            key: hub.subscribe(cursor),
            hub: Arc::clone(hub),
            retry: options.retry,
            heartbeat: options.heartbeat.map(Heartbeat::new),
        })
    }
}

/// One subscription; dropping it ends it.
pub(super) struct Stream {
    hub: Arc<Hub>,
    key: SubscriberKey,
    /// Still to be sent, once.
    retry: Option<Duration>,
    heartbeat: Option<Heartbeat>,
}

impl Stream {
    fn poll_block(&mut self, context: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        let mut out = Vec::new();
        if let Some(retry) = self.retry.take() {
            encode::retry(&mut out, u64::try_from(retry.as_millis()).unwrap_or(u64::MAX));
        }
        let taken = self.hub.take(self.key, &mut out, context.waker());
        if !out.is_empty() {
            self.heartbeat.iter_mut().for_each(Heartbeat::restart);
            return Poll::Ready(Some(out));
        }
        if taken == Taken::End {
            return Poll::Ready(None);
        }
        match &mut self.heartbeat {
            Some(heartbeat) => heartbeat.poll(context).map(Some),
            None => Poll::Pending,
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.hub.unsubscribe(self.key);
    }
}

/// Sends a comment whenever a stream has been silent for a period.
struct Heartbeat {
    period: Duration,
    timer: Pin<Box<Sleep>>,
}

impl Heartbeat {
    fn new(period: Duration) -> Self {
        Self { period, timer: Box::pin(sleep(period)) }
    }

    fn restart(&mut self) {
        self.timer.as_mut().reset(Instant::now() + self.period);
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Vec<u8>> {
        self.timer.as_mut().poll(context).map(|()| {
            self.restart();
            let mut out = Vec::new();
            encode::comment(&mut out, "heartbeat");
            out
        })
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let block = match self.get_mut() {
            Self::Text(text) => Poll::Ready(text.take().map(|text| Bytes::from_static(text.as_bytes()))),
            Self::Stream(stream) => stream.poll_block(context).map(|block| block.map(Bytes::from)),
        };
        block.map(|block| block.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Text(text) => SizeHint::with_exact(text.map_or(0, |text| text.len() as u64)),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}
