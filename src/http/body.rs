//! The rest of a response, in chunks worth waking anybody for.
//!
//! Most servers send an HTTP chunk an event, the HTTP library gives no more than a few kilobytes at a time, and waking
//! whoever waits for them for each costs several times what reading an event costs. So a task beside the connection's own,
//! on the network's thread, collects what is there already, waits for nothing more once there is something, and hands it on.
//! Must never know what the bytes mean.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use reqwest::Response;
use tokio::sync::mpsc;

use super::{errors, network};
use crate::consumer::ports::Broken;

/// What is collected is handed on when it has so many bytes.
const COLLECTED_BYTES_MAX: usize = 128 << 10;
/// A chunk of so many bytes is handed on as it is: copying it would cost more than waking somebody.
const COPIED_BYTES_MAX: usize = 64 << 10;
/// Collected chunks that may wait for their reader.
const WAITING_MAX: usize = 2;

type Part = Result<Bytes, Broken>;

/// Reads a response ahead of whoever takes its chunks, by a few of them. Dropping it ends the connection.
#[derive(Debug)]
pub(super) struct Collector {
    parts: mpsc::Receiver<Part>,
    _task: network::Task<()>,
}

impl Collector {
    /// Starts to read `response`.
    pub(super) fn new(response: Response) -> Self {
        let (sender, parts) = mpsc::channel(WAITING_MAX);
        Self { parts, _task: network::spawn(collect(response, sender)) }
    }

    /// The next bytes, never none of them; `None` at a clean end. Cancel-safe.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, Broken> {
        self.parts.recv().await.transpose()
    }
}

async fn collect(mut response: Response, parts: mpsc::Sender<Part>) {
    let mut collected = BytesMut::new();
    loop {
        let next = response.chunk().await;
        let mut ended = take(next, &mut collected, &parts).await;
        while ended.is_none() && !collected.is_empty() && collected.len() < COLLECTED_BYTES_MAX {
            let Some(next) = ready(response.chunk()).await else { break };
            ended = take(next, &mut collected, &parts).await;
        }
        let failed = hand_on(&mut collected, &parts).await.is_err();
        match ended {
            None if !failed => {}
            Some(Some(broken)) => {
                // Whoever has gone does not care why the connection broke.
                let _ = parts.send(Err(broken)).await;
                return;
            }
            _ => return,
        }
    }
}

/// Collects one chunk, or hands it on. `Some` at the end: `None` in it if that is a clean one.
async fn take(
    next: reqwest::Result<Option<Bytes>>,
    collected: &mut BytesMut,
    parts: &mpsc::Sender<Part>,
) -> Option<Option<Broken>> {
    match next {
        Ok(Some(chunk)) if chunk.len() < COPIED_BYTES_MAX => {
            collected.extend_from_slice(&chunk);
            None
        }
        Ok(Some(chunk)) => {
            let gone = hand_on(collected, parts).await.is_err() || parts.send(Ok(chunk)).await.is_err();
            gone.then_some(None)
        }
        Ok(None) => Some(None),
        Err(error) => Some(Some(errors::broken(error))),
    }
}

/// Hands on what is collected. An empty HTTP/2 frame is no byte, so it must not look like a sign of life.
async fn hand_on(collected: &mut BytesMut, parts: &mpsc::Sender<Part>) -> Result<(), ()> {
    if collected.is_empty() {
        return Ok(());
    }
    parts.send(Ok(collected.split().freeze())).await.map_err(drop)
}

/// What a cancel-safe future gives at once, or after the connection's own task had its turn.
async fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut had_a_turn = false;
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if had_a_turn => Poll::Ready(None),
        Poll::Pending => {
            had_a_turn = true;
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}
