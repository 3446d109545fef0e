//! `checkpoint export` and `import`: cursors as JSON, from one machine to another.

use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::change::refused;
use super::{Context, json};
use crate::consumer::id::{EventId, StreamName};
use crate::error::{Exit, Failure};
use crate::settings::parse::{duration, duration_text, event_id};
use crate::store::{Edit, NewCursors, Store, Summary};

/// The version of the form that is written, and the only one that is read.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    streams: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    stream: String,
    latest: String,
    lagging: Option<String>,
    window: Option<String>,
    url: Option<String>,
}

/// Prints the cursors of the named streams, or of all.
pub fn export(context: &mut Context<'_>, targets: &[String]) -> Result<Exit, Failure> {
    let named = !targets.is_empty();
    let summaries = if named {
        let named = targets.iter().map(|target| context.summary(&context.settings.stream_name(target)?));
        named.collect::<Result<Vec<_>, _>>()?
    } else {
        context.summaries()?
    };
    let mut streams = Vec::with_capacity(summaries.len());
    for summary in summaries {
        match entry(&summary) {
            Some(entry) => streams.push(entry),
            None if named => {
                return Err(Failure::usage(format!("export `{}`", summary.stream)).cause("it has no cursor yet"));
            }
            None => context.note(&format!("`{}` has no cursor yet and is left out", summary.stream)),
        }
    }
    context.print(&json::text(&File { version: VERSION, streams }))
}

fn entry(summary: &Summary) -> Option<Entry> {
    Some(Entry {
        stream: summary.stream.to_string(),
        latest: summary.latest.as_ref()?.to_string(),
        lagging: summary.lagging.as_ref().map(EventId::to_string),
        window: Some(duration_text(summary.window_in_force())),
        url: summary.url.clone(),
    })
}

/// Stores the cursors of a file. Without `force` nothing is stored if one of the streams is.
pub fn import(context: &mut Context<'_>, path: &Path, force: bool) -> Result<Exit, Failure> {
    let streams = read(path)?;
    let mut store = context.opened()?;
    if !force {
        refuse_stored(context, store.as_mut(), &streams)?;
    }
    for (name, cursors) in streams {
        let done = store.edit(&name, &Edit::Set(cursors), force, context.now);
        done.map_err(|error| refused(context, &name, &format!("import `{name}`"), &error))?;
        context.note(&format!("imported `{name}`"));
    }
    Ok(Exit::Success)
}

fn refuse_stored(
    context: &Context<'_>,
    store: &mut dyn Store,
    streams: &[(StreamName, NewCursors)],
) -> Result<(), Failure> {
    let mut stored = Vec::new();
    for (name, _) in streams {
        if store.show(name, context.now).map_err(|error| context.unusable(&error))?.is_some() {
            stored.push(format!("`{name}`"));
        }
    }
    if stored.is_empty() {
        return Ok(());
    }
    Err(Failure::new(Exit::Store, format!("import {}", stored.join(", ")))
        .cause("already stored here; nothing was imported")
        .hint("`--force` begins new records of them"))
}

fn read(path: &Path) -> Result<Vec<(StreamName, NewCursors)>, Failure> {
    let shown = if path == Path::new("-") { "stdin".to_owned() } else { format!("`{}`", path.display()) };
    let unusable = |why: String| Failure::usage(format!("read cursors from {shown}")).cause(why);
    let text = if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(path)
    };
    let text = text.map_err(|error| unusable(error.to_string()))?;
    parse(&text).map_err(|why| unusable(why).hint("`ssectl checkpoint export` writes such a file"))
}

/// Reads an export whole, before anything is changed.
pub fn parse(text: &str) -> Result<Vec<(StreamName, NewCursors)>, String> {
    /// Told first, since another version may have any form.
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let not_one = |error: serde_json::Error| format!("not an export of cursors: {error}");
    let found: Version = serde_json::from_str(text).map_err(not_one)?;
    if found.version != VERSION {
        return Err(format!("it is of version {}, this build reads version {VERSION}", found.version));
    }
    let file: File = serde_json::from_str(text).map_err(not_one)?;
    let mut streams: Vec<(StreamName, NewCursors)> = Vec::with_capacity(file.streams.len());
    for entry in file.streams {
        let shown = entry.stream.escape_debug().to_string();
        let (name, cursors) = new_cursors(entry).map_err(|why| format!("stream `{shown}`: {why}"))?;
        if streams.iter().any(|(before, _)| *before == name) {
            return Err(format!("stream `{name}` is there twice"));
        }
        streams.push((name, cursors));
    }
    Ok(streams)
}

fn new_cursors(entry: Entry) -> Result<(StreamName, NewCursors), String> {
    let name = StreamName::new(entry.stream).map_err(|why| why.to_string())?;
    let cursors = NewCursors {
        latest: event_id(&entry.latest).map_err(|why| format!("`latest`: {why}"))?,
        lagging: entry.lagging.map(|id| event_id(&id)).transpose().map_err(|why| format!("`lagging`: {why}"))?,
        window: entry.window.map(|text| duration(&text)).transpose().map_err(|why| format!("`window`: {why}"))?,
        url: entry.url,
    };
    Ok((name, cursors))
}
