//! Tries cursors, each on a connection of its own that is left soon.

use std::time::Duration;

use tokio::time::timeout;

use super::reader::{Plan, Reader};
use crate::consumer::id::EventId;
use crate::error::Failure;
use crate::http::SendCursor;
use crate::probe::Recorder;
use crate::probe::resume::{Answer, Attempt, PARAMETERS, UNKNOWN_ID, known_id, works};

/// How long the answer to a cursor is read.
const READ: Duration = Duration::from_millis(1500);
/// How long a server may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// What was tried.
#[derive(Default)]
pub(super) struct Cursors {
    pub(super) known: Vec<Attempt>,
    pub(super) unknown: Option<Attempt>,
}

/// Tries an id that was seen, by the way that the user chose and then by the ways that some servers have; and one that
/// no server can know. Cancelled, it leaves what it has.
pub(super) async fn attempt(plan: &Plan, control: &Reader, cursors: &mut Cursors) -> Result<(), Failure> {
    let Some(id) = known_id(&control.seen()) else { return Ok(()) };
    let chosen = plan.http.send_cursor.clone();
    let others = PARAMETERS.iter().map(|name| SendCursor::Query((*name).to_owned()));
    for way in std::iter::once(chosen).chain(others) {
        let attempt = one(plan, &id, way.clone()).await?;
        let found = works(&control.seen(), &attempt);
        cursors.known.push(attempt);
        if found {
            cursors.unknown = Some(one(plan, UNKNOWN_ID, way).await?);
            break;
        }
    }
    Ok(())
}

async fn one(plan: &Plan, id: &str, way: SendCursor) -> Result<Attempt, Failure> {
    let by = match &way {
        SendCursor::Header => "header".to_owned(),
        SendCursor::Query(name) => format!("query:{name}"),
    };
    let mut plan = plan.clone();
    plan.http.send_cursor = way;
    let mut reader = Reader::new(&plan, None).await?;
    let connected = timeout(ANSWER_MAX, Box::pin(reader.connect(EventId::new(id)))).await;
    let answer = match connected {
        Err(_) => Answer::Refused("no answer came in time".to_owned()),
        Ok(Err(error)) => Answer::Refused(super::refused(error, "", false).causes.join(": ")),
        Ok(Ok(mut connection)) => {
            // That the time is up is what is waited for.
            let _ = timeout(READ, connection.read()).await;
            drop(connection);
            let recorder = reader.recorder();
            drop(reader);
            let seen =
                std::rc::Rc::into_inner(recorder).map(|recorder| Recorder::into_observation(recorder.into_inner()));
            seen.map_or_else(|| Answer::Refused("nothing was read".to_owned()), |seen| Answer::Stream(Box::new(seen)))
        }
    };
    Ok(Attempt { id: id.to_owned(), by, answer })
}
