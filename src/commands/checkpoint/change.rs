//! `checkpoint set` and `reset`.

use std::cmp::Ordering;

use super::Context;
use crate::consumer::compare::compare;
use crate::consumer::id::{EventId, StreamName};
use crate::error::{Exit, Failure};
use crate::store::{Edit, NewCursors, StoreError};

/// The cursors that were given.
pub struct Cursors {
    /// `--latest`.
    pub latest: EventId,
    /// `--lagging`.
    pub lagging: Option<EventId>,
}

/// Sets a stream's cursors, and makes the stream where there is none.
pub fn set(context: &mut Context<'_>, target: &str, cursors: Cursors, force: bool) -> Result<Exit, Failure> {
    let name = context.settings.stream_name(target)?;
    if let Some(lagging) = &cursors.lagging
        && compare(lagging.as_str(), cursors.latest.as_str()) == Some(Ordering::Greater)
    {
        let (latest, lagging) = (cursors.latest.as_str().escape_debug(), lagging.as_str().escape_debug());
        return Err(Failure::usage(format!("set the cursors of `{name}`"))
            .cause(format!("`lagging` is the older position, and `{lagging}` comes after `{latest}`"))
            .hint(format!("`--latest {lagging} --lagging {latest}` has them the other way round")));
    }
    let mut store = context.opened()?;
    let is_new = store.show(&name, context.now).is_ok_and(|known| known.is_none());
    let new = if is_new { "; nothing was stored of it before" } else { "" };
    let note = format!("the next `resume` of `{name}` goes on after `{}`{new}", cursors.latest.as_str().escape_debug());
    let edit = Edit::Set(NewCursors { latest: cursors.latest, lagging: cursors.lagging, window: None, url: None });
    let done = store.edit(&name, &edit, force, context.now);
    done.map_err(|error| refused(context, &name, &format!("set the cursors of `{name}`"), &error))?;
    context.note(&note);
    Ok(Exit::Success)
}

/// Forgets a stream, or sets it back to `lagging`.
pub fn reset(context: &mut Context<'_>, target: &str, to_lagging: bool, force: bool) -> Result<Exit, Failure> {
    let name = context.settings.stream_name(target)?;
    let Some(mut store) = context.existing()? else { return Err(context.not_stored(&name)) };
    let edit = if to_lagging { Edit::ToLagging } else { Edit::Forget };
    let done = store.edit(&name, &edit, force, context.now);
    done.map_err(|error| refused(context, &name, &format!("reset `{name}`"), &error))?;
    context.note(&if to_lagging {
        format!("the next `resume` of `{name}` goes on after its `lagging`; what came since comes again")
    } else {
        format!("nothing is stored of `{name}` any more; move its export FILE away, if it has one")
    });
    Ok(Exit::Success)
}

/// A change that the store did not make, with what a person can do about it.
pub fn refused(context: &Context<'_>, name: &StreamName, what: &str, error: &StoreError) -> Failure {
    match error {
        StoreError::UnknownStream => context.not_stored(name),
        StoreError::Busy(holder) => Failure::store(what, error)
            .hint(format!("end pid {} first; or `--force` fences it off: it stores nothing more", holder.process.pid)),
        _ => Failure::store(what, error),
    }
}
