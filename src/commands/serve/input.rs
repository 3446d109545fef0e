//! A file or stdin, served as it was recorded: with its pace (a file), its comments and its cuts.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::outlet::Outlet;
use super::recorded::{Reader, Recorded, Step};
use crate::consumer::time::Timestamp;
use crate::error::{Exit, Failure};
use crate::server::Publication;
use crate::settings::serve::Speed;

/// How much is read at once, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;
/// What stdin is called.
const STDIN: &str = "stdin";
/// How many chunks may be read ahead.
const CHUNKS_AHEAD: usize = 4;

/// Serves stdin, as it comes.
///
/// # Errors
/// It cannot be read, or the log's file does not take it.
pub(super) async fn play_stdin(outlet: &Outlet, warn: &dyn Fn(&str)) -> Result<(), Failure> {
    play(io::stdin(), STDIN, Speed::Max, Player::new(outlet, warn)).await
}

/// Serves a file, by the times that are in it.
///
/// # Errors
/// As [`play_stdin`].
pub(super) async fn play_file(path: &Path, speed: Speed, outlet: &Outlet, warn: &dyn Fn(&str)) -> Result<(), Failure> {
    let name = path.display().to_string();
    let file = File::open(path)
        .map_err(|error| Failure::new(Exit::Failure, format!("read `{name}`")).cause(error.to_string()))?;
    play(file, &name, speed, Player::new(outlet, warn)).await
}

/// That a file can be played, before anybody waits for it. A pipe has no end to look at.
///
/// # Errors
/// It is not there, cannot be read, or is empty.
pub(super) fn check(path: &Path) -> Result<(), Failure> {
    let name = path.display().to_string();
    let unreadable = |error: io::Error| Failure::new(Exit::Failure, format!("read `{name}`")).cause(error.to_string());
    let found = std::fs::metadata(path).map_err(unreadable)?;
    if found.is_dir() {
        return Err(Failure::new(Exit::Failure, format!("serve `{name}`")).cause("it is a directory"));
    }
    if !found.is_file() {
        return Ok(());
    }
    File::open(path).map_err(unreadable)?;
    if found.len() == 0 { Err(nothing_in(&name, "it is empty")) } else { Ok(()) }
}

fn nothing_in(name: &str, why: &str) -> Failure {
    Failure::new(Exit::Failure, format!("serve `{name}`"))
        .cause(why)
        .hint("records as `ssectl tail -o json` writes them, or a stream as `curl -N` saves it")
}

async fn play(
    input: impl Read + Send + 'static,
    name: &str,
    speed: Speed,
    mut player: Player<'_>,
) -> Result<(), Failure> {
    let (sender, mut chunks) = mpsc::channel(CHUNKS_AHEAD);
    // A read from a terminal or a pipe may take for ever; the thread ends with the process.
    std::thread::spawn(move || read(input, &sender));
    let mut reader = Reader::Unknown;
    let mut steps = Vec::new();
    let mut pace = Pace { speed, begun: None };
    while let Some(chunk) = chunks.recv().await {
        let chunk =
            chunk.map_err(|error| Failure::new(Exit::Failure, format!("read `{name}`")).cause(error.to_string()))?;
        reader.feed(&chunk, &mut steps);
        player.play(&mut steps, &mut pace).await?;
    }
    reader.finish(&mut steps);
    player.play(&mut steps, &mut pace).await?;
    // Nothing on stdin is what some programs have to say.
    if player.found || name == STDIN { Ok(()) } else { Err(nothing_in(name, "there is no event in it")) }
}

fn read(mut input: impl Read, chunks: &mpsc::Sender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK_BYTES];
        let read = match input.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => {
                chunk.truncate(count);
                Ok(chunk)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = read.is_err();
        if chunks.blocking_send(read).is_err() || failed {
            return;
        }
    }
}

/// When a recorded time comes again.
struct Pace {
    speed: Speed,
    /// When it began, and the time that was recorded then.
    begun: Option<(Instant, Timestamp)>,
}

impl Pace {
    fn due(&mut self, time: Option<Timestamp>) -> Option<Instant> {
        let (Speed::Times(times), Some(time)) = (self.speed, time) else { return None };
        let (begun, first) = *self.begun.get_or_insert_with(|| (Instant::now(), time));
        let after: Duration = time.since(first).div_f64(times);
        begun.checked_add(after)
    }
}

/// Gives steps to the outlet: events that are due together in one step.
struct Player<'a> {
    outlet: &'a Outlet,
    warn: &'a dyn Fn(&str),
    events: Vec<Publication>,
    /// Something was played.
    found: bool,
}

impl<'a> Player<'a> {
    fn new(outlet: &'a Outlet, warn: &'a dyn Fn(&str)) -> Self {
        Self { outlet, warn, events: Vec::new(), found: false }
    }

    async fn play(&mut self, steps: &mut Vec<Recorded>, pace: &mut Pace) -> Result<(), Failure> {
        for Recorded { step, time } in steps.drain(..) {
            if let Some(due) = pace.due(time).filter(|due| *due > Instant::now()) {
                self.flush().await?;
                sleep_until(due).await;
            }
            self.found |= !matches!(step, Step::Bad(..) | Step::Cut);
            match step {
                Step::Event(event) => {
                    self.events.push(event);
                    continue;
                }
                Step::Bad(line, why) => {
                    (self.warn)(&format!("line {line} is left out: {why}"));
                    continue;
                }
                Step::Comment(_) | Step::Retry(_) | Step::Cut => self.flush().await?,
            }
            match step {
                Step::Comment(text) => self.outlet.comment(&text),
                Step::Retry(millis) => self.outlet.retry(millis),
                Step::Cut => self.outlet.cut(),
                Step::Event(_) | Step::Bad(..) => {}
            }
        }
        self.flush().await?;
        // Clients are written to by tasks of this thread.
        tokio::task::yield_now().await;
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), Failure> {
        self.outlet.publish(std::mem::take(&mut self.events)).await
    }
}
