//! Lines and a progress display on stderr, for a person.
//!
//! All of it is written by one thread, so that nothing garbles, and so that a stderr which nobody reads holds up
//! neither streams nor leases: lines that find no room are counted and left out. A broken stderr is no failure.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::ProgressDrawTarget;

use super::escape::{LineFeeds, escape_controls};
use super::paint::{BOLD_YELLOW, CYAN, Paint};
use super::progress::{Board, Boards};
use super::writer::write_all;
use crate::consumer::id::StreamName;
use crate::consumer::ports::{Console, Progress};

/// Lines that may wait to be written.
const LINES_MAX: usize = 1024;

/// How long the end of the process may wait for lines to be written.
const FINISH_WAIT: Duration = Duration::from_secs(1);

/// How often the progress display is drawn at most.
const REFRESH: Duration = Duration::from_millis(200);

/// What stderr is to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConsoleOptions {
    /// `-q`: no notes, no progress. Warnings stay.
    pub quiet: bool,
    /// How many `-v` there were.
    pub verbose: u8,
    /// Several streams run: lines name theirs.
    pub several: bool,
    /// Colour is on; used only where stderr is a terminal, since programs look for `warning:` at the start of a line.
    pub color: bool,
    /// Stderr is a terminal.
    pub terminal: bool,
    /// Records are written to a terminal: a progress display would get in their way.
    pub records_on_terminal: bool,
}

impl ConsoleOptions {
    /// Whether progress is displayed.
    #[must_use]
    pub fn shows_progress(&self) -> bool {
        self.terminal && !self.quiet && !self.records_on_terminal
    }
}

/// The process's stderr. A clone is another handle of the same; [`Terminal::finish`] or the last drop ends it.
#[derive(Clone)]
pub struct Terminal {
    options: ConsoleOptions,
    handle: Arc<Handle>,
}

impl Terminal {
    /// Takes stderr.
    #[must_use]
    pub fn new(options: ConsoleOptions) -> Self {
        let target = options.shows_progress().then(ProgressDrawTarget::stderr);
        let out: Box<dyn Write + Send> = match io::stderr().as_fd().try_clone_to_owned() {
            Ok(descriptor) => Box::new(Stderr(File::from(descriptor))),
            Err(_) => Box::new(io::stderr()),
        };
        Self::over(options, out, target)
    }

    fn over(options: ConsoleOptions, out: Box<dyn Write + Send>, target: Option<ProgressDrawTarget>) -> Self {
        let shared = Arc::new(Shared::default());
        let painter = Painter { out, boards: target.map(Boards::new) };
        let theirs = Arc::clone(&shared);
        let (to_thread, painters) = std::sync::mpsc::sync_channel::<Painter>(1);
        let started = thread::Builder::new().name("console".to_owned()).spawn(move || {
            if let Ok(painter) = painters.recv() {
                theirs.run(painter);
            }
        });
        match started {
            Ok(_) => drop(to_thread.send(painter)),
            // Without a thread, lines are written by whoever has them.
            Err(_) => shared.lock().after = Some(painter.out),
        }
        Self { options, handle: Arc::new(Handle(shared)) }
    }

    /// The console of one stream.
    #[must_use]
    pub fn stream(&self, stream: &StreamName) -> StreamConsole {
        let name = self.options.several.then(|| stream.as_str().into());
        let board = self.options.shows_progress().then(|| {
            let board = Arc::new(Mutex::new(Progress::default()));
            let shared = &self.handle.0;
            shared.lock().added.push(Board::new(name.clone(), Arc::downgrade(&board)));
            shared.wake.notify_one();
            board
        });
        StreamConsole { terminal: self.clone(), name, board }
    }

    /// A `warning:` line that is about no stream in particular.
    pub fn warning(&self, text: &str) {
        self.line(Level::Warning, None, text);
    }

    /// A `note:` line that is about no stream in particular.
    pub fn note(&self, text: &str) {
        self.line(Level::Note, None, text);
    }

    /// A line for `-v` (level 1) or `-vv` (level 2) that is about no stream in particular.
    pub fn detail(&self, level: u8, text: &str) {
        self.line(Level::Detail(level), None, text);
    }

    /// Lines that were asked for and are shown as they are, such as a summary; `-q` does not silence them.
    pub fn lines(&self, lines: &[String]) {
        for text in lines {
            let mut line = Vec::with_capacity(text.len() + 1);
            escape_controls(&mut line, text, LineFeeds::Escape);
            line.push(b'\n');
            self.handle.0.put(line);
        }
    }

    /// Takes the progress display away and waits until all lines are written, for a second at most. Lines that come
    /// later are written at once.
    pub fn finish(&self) {
        self.handle.0.finish();
    }

    fn line(&self, level: Level, stream: Option<&str>, text: &str) {
        let (word, code) = match level {
            Level::Warning => ("warning:", BOLD_YELLOW),
            Level::Note if !self.options.quiet => ("note:", CYAN),
            Level::Detail(level) if level <= self.options.verbose => ("note:", CYAN),
            Level::Note | Level::Detail(_) => return,
        };
        let paint = Paint(self.options.color && self.options.terminal);
        let mut line = Vec::with_capacity(text.len() + 40);
        paint.on(&mut line, code);
        line.extend_from_slice(word.as_bytes());
        paint.off(&mut line);
        for part in [stream, Some(text)].into_iter().flatten() {
            line.push(b' ');
            escape_controls(&mut line, part, LineFeeds::Escape);
            line.push(b':');
        }
        line.pop();
        line.push(b'\n');
        self.handle.0.put(line);
    }
}

/// Stderr, also where whoever shares it has made it non-blocking.
struct Stderr(File);

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_all(&self.0, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What sort of line.
#[derive(Clone, Copy)]
enum Level {
    Warning,
    Note,
    Detail(u8),
}

/// What a person is told about one stream. Its progress is displayed until the last clone is dropped.
#[derive(Clone)]
pub struct StreamConsole {
    terminal: Terminal,
    /// The stream's name, where several run.
    name: Option<Arc<str>>,
    board: Option<Arc<Mutex<Progress>>>,
}

impl Console for StreamConsole {
    fn warning(&self, text: &str) {
        self.terminal.line(Level::Warning, self.name.as_deref(), text);
    }

    fn note(&self, text: &str) {
        self.terminal.line(Level::Note, self.name.as_deref(), text);
    }

    fn detail(&self, level: u8, text: &str) {
        self.terminal.line(Level::Detail(level), self.name.as_deref(), text);
    }

    fn progress(&self, progress: &Progress) {
        let Some(board) = &self.board else { return };
        let mut shown = board.lock().unwrap_or_else(PoisonError::into_inner);
        let Progress { state, events, bytes, last_id, reread } = progress;
        (shown.state, shown.events, shown.bytes, shown.reread) = (*state, *events, *bytes, *reread);
        // Keeps the buffer of the id before.
        shown.last_id.clone_from(last_id);
    }
}

/// Ends the thread with the last handle of the terminal.
struct Handle(Arc<Shared>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.finish();
    }
}

/// What handles and thread share.
#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Something was put into the queue.
    wake: Condvar,
    /// The thread has ended.
    ended: Condvar,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<Vec<u8>>,
    /// Lines that found no room since the last one that did.
    left_out: u64,
    added: Vec<Board>,
    finish: bool,
    /// Stderr itself, once the thread has ended.
    after: Option<Box<dyn Write + Send>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, line: Vec<u8>) {
        let mut queue = self.lock();
        if let Some(out) = &mut queue.after {
            write(out, &line);
        } else if queue.lines.len() < LINES_MAX {
            queue.lines.push_back(line);
            self.wake.notify_one();
        } else {
            queue.left_out += 1;
        }
    }

    fn finish(&self) {
        let mut queue = self.lock();
        queue.finish = true;
        self.wake.notify_one();
        // If nobody reads stderr, the process ends nonetheless.
        drop(self.ended.wait_timeout_while(queue, FINISH_WAIT, |queue| queue.after.is_none()));
    }

    /// The thread.
    fn run(&self, mut painter: Painter) {
        loop {
            let mut queue = self.next(painter.deadline());
            let lines = std::mem::take(&mut queue.lines);
            let left_out = std::mem::take(&mut queue.left_out);
            let added = std::mem::take(&mut queue.added);
            let last = queue.finish;
            drop(queue);

            painter.lines(&lines, left_out);
            painter.draw(added);
            if last && lines.is_empty() {
                break;
            }
        }
        drop(painter.boards.take());
        self.lock().after = Some(painter.out);
        self.ended.notify_all();
    }

    /// Waits for something to do, until the deadline if there is one.
    fn next(&self, deadline: Option<Instant>) -> MutexGuard<'_, Queue> {
        let idle = |queue: &mut Queue| queue.lines.is_empty() && queue.added.is_empty() && !queue.finish;
        match deadline {
            None => self.wake.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner),
            Some(deadline) => {
                let time = deadline.saturating_duration_since(Instant::now());
                let waited = self.wake.wait_timeout_while(self.lock(), time, idle);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }
}

/// What the thread owns.
struct Painter {
    out: Box<dyn Write + Send>,
    boards: Option<Boards>,
}

impl Painter {
    /// When the display is to be drawn again.
    fn deadline(&self) -> Option<Instant> {
        self.boards.as_ref().and_then(|boards| boards.drawn_at()).map(|drawn| drawn + REFRESH)
    }

    fn lines(&mut self, lines: &VecDeque<Vec<u8>>, left_out: u64) {
        if lines.is_empty() && left_out == 0 {
            return;
        }
        if let Some(boards) = &mut self.boards {
            boards.clear();
        }
        for line in lines {
            write(&mut self.out, line);
        }
        if left_out > 0 {
            let note = format!("note: {left_out} more lines were left out, since stderr was not read\n");
            write(&mut self.out, note.as_bytes());
        }
    }

    fn draw(&mut self, added: Vec<Board>) {
        let Some(boards) = &mut self.boards else { return };
        boards.add(added);
        boards.draw(Instant::now(), REFRESH);
    }
}

/// A broken stderr is nobody's failure: there is nobody left to be told.
fn write(out: &mut impl Write, line: &[u8]) {
    drop(out.write_all(line).and_then(|()| out.flush()));
}

#[cfg(test)]
mod tests;
