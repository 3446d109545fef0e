//! The progress display: one line a stream, at the bottom of the terminal.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::escape::one_line;
use super::human;
use crate::consumer::ports::Progress;

/// Over how many drawings the rate is taken.
const RATE_SAMPLES: usize = 10;
/// Width of a bar, in columns.
const BAR_COLUMNS: u64 = 20;
/// More of an id is not shown, in characters.
const ID_CHARS_MAX: usize = 40;

/// One stream's line.
pub(super) struct Board {
    name: Option<Arc<str>>,
    /// Gone when the stream has ended.
    progress: Weak<Mutex<Progress>>,
    /// When how many events were there.
    samples: VecDeque<(Instant, u64)>,
    bar: ProgressBar,
}

impl Board {
    pub(super) fn new(name: Option<Arc<str>>, progress: Weak<Mutex<Progress>>) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Self { name, progress, samples: VecDeque::with_capacity(RATE_SAMPLES + 1), bar }
    }

    /// Events a second over the last drawings.
    fn rate(&mut self, now: Instant, events: u64) -> Option<String> {
        self.samples.push_back((now, events));
        if self.samples.len() > RATE_SAMPLES {
            self.samples.pop_front();
        }
        let (then, before) = *self.samples.front()?;
        human::rate(events.saturating_sub(before), now.saturating_duration_since(then))
    }

    /// Draws the line; `false` if the stream has ended.
    fn draw(&mut self, now: Instant) -> bool {
        let Some(progress) = self.progress.upgrade() else { return false };
        let progress = progress.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let rate = self.rate(now, progress.events);
        if !progress.state.is_empty() {
            self.bar.set_message(text(self.name.as_deref(), &progress, rate.as_deref()));
            self.bar.force_draw();
        }
        true
    }
}

/// All lines. Taken off the terminal when dropped.
pub(super) struct Boards {
    multi: MultiProgress,
    boards: Vec<Board>,
    drawn_at: Option<Instant>,
    cleared: bool,
}

impl Boards {
    pub(super) fn new(target: ProgressDrawTarget) -> Self {
        let multi = MultiProgress::with_draw_target(target);
        Self { multi, boards: Vec::new(), drawn_at: None, cleared: true }
    }

    pub(super) fn add(&mut self, added: Vec<Board>) {
        for mut board in added {
            let style = ProgressStyle::with_template("{wide_msg}").expect("a template without mistakes");
            board.bar = self.multi.add(board.bar.with_style(style));
            self.boards.push(board);
        }
    }

    /// When the lines were last drawn; `None` if there are none to draw.
    pub(super) fn drawn_at(&self) -> Option<Instant> {
        self.drawn_at.filter(|_| !self.boards.is_empty())
    }

    /// Draws the lines, unless that was done less than `every` ago and they still stand there.
    pub(super) fn draw(&mut self, now: Instant, every: Duration) {
        let early = self.drawn_at.is_some_and(|drawn| now.saturating_duration_since(drawn) < every);
        if early && !self.cleared {
            return;
        }
        self.boards.retain_mut(|board| {
            let runs = board.draw(now);
            if !runs {
                board.bar.finish_and_clear();
                self.multi.remove(&board.bar);
            }
            runs
        });
        self.drawn_at = Some(now);
        self.cleared = false;
    }

    /// Takes the lines off the terminal, until they are drawn again. Not by `suspend`, which panics where the
    /// terminal is gone.
    pub(super) fn clear(&mut self) {
        drop(self.multi.clear());
        self.cleared = true;
    }
}

impl Drop for Boards {
    fn drop(&mut self) {
        for board in &self.boards {
            board.bar.finish_and_clear();
        }
        self.clear();
    }
}

/// `accounts  live  1,234 events  12.3/s  3.4 MiB  last 53990`; while reading again with a bar.
fn text(name: Option<&str>, progress: &Progress, rate: Option<&str>) -> String {
    let mut text = String::new();
    if let Some(name) = name {
        text.push_str(&one_line(name));
        text.push_str("  ");
    }
    text.push_str(progress.state);
    if let Some((done, all)) = progress.reread {
        text.push_str("  ");
        text.push_str(&bar(done, all));
    }
    for part in
        [&*format!("{} events", human::number(progress.events)), rate.unwrap_or("-/s"), &human::size(progress.bytes)]
    {
        text.push_str("  ");
        text.push_str(part);
    }
    if let Some(id) = &progress.last_id {
        let short: String = id.chars().take(ID_CHARS_MAX).collect();
        let more = if short.len() < id.len() { "…" } else { "" };
        write!(text, "  last {}{more}", one_line(&short)).expect("a String takes every write");
    }
    text
}

/// `[#####...............] 512/2,048`.
fn bar(done: u64, all: u64) -> String {
    let full = done.min(all).saturating_mul(BAR_COLUMNS) / all.max(1);
    let columns: String = (0..BAR_COLUMNS).map(|column| if column < full { '#' } else { '.' }).collect();
    format!("[{columns}] {}/{}", human::number(done), human::number(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live() -> Progress {
        Progress { state: "live", events: 1234, bytes: 3_565_158, last_id: Some("53990".to_owned()), reread: None }
    }

    #[test]
    fn lines_of_the_display() {
        let rereading = Progress { state: "recovering", reread: Some((512, 2048)), ..live() };
        let connecting = Progress { state: "connecting", ..Progress::default() };
        let odd = Progress { last_id: Some(format!("\u{1b}[2J{}", "x".repeat(60))), ..live() };
        let lines = [
            text(None, &live(), Some("12.3/s")),
            text(Some("accounts"), &live(), None),
            text(Some("accounts"), &rereading, Some("88.0/s")),
            text(None, &connecting, None),
            text(None, &odd, None),
        ];
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn bars() {
        assert_eq!(bar(0, 0), "[....................] 0/0");
        assert_eq!(bar(0, 7), "[....................] 0/7");
        assert_eq!(bar(7, 7), "[####################] 7/7");
        assert_eq!(bar(9, 7), "[####################] 9/7");
    }

    #[test]
    fn the_rate_is_that_of_the_last_drawings() {
        let progress = Arc::new(Mutex::new(live()));
        let mut board = Board::new(None, Arc::downgrade(&progress));
        let start = Instant::now();
        assert_eq!(board.rate(start, 100), None);
        assert_eq!(board.rate(start + Duration::from_secs(1), 150).as_deref(), Some("50.0/s"));
        for second in 2..20 {
            board.rate(start + Duration::from_secs(second), 150);
        }
        assert_eq!(board.rate(start + Duration::from_secs(20), 150).as_deref(), Some("0.0/s"), "idle by now");
    }
}
