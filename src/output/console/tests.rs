use indicatif::TermLike;

use super::*;

/// Width of the terminal.
const COLUMNS: usize = 80;

/// A terminal that keeps what stands on it. Lines and progress go to the same one, as in life.
#[derive(Clone, Debug, Default)]
struct Screen(Arc<Mutex<Lines>>);

#[derive(Debug, Default)]
struct Lines {
    rows: Vec<String>,
    row: usize,
    /// Where the next character goes.
    column: usize,
    /// Every row that ever stood there with something about progress.
    seen: Vec<String>,
}

impl Screen {
    fn text(&self) -> String {
        let lines = self.0.lock().unwrap();
        lines.rows.iter().map(|row| row.trim_end()).filter(|row| !row.is_empty()).collect::<Vec<_>>().join("\n")
    }

    fn put(&self, text: &str) {
        let mut lines = self.0.lock().unwrap();
        for character in text.chars() {
            match character {
                '\n' => (lines.row, lines.column) = (lines.row + 1, 0),
                '\r' => lines.column = 0,
                _ => lines.put(character),
            }
        }
    }
}

impl Lines {
    fn put(&mut self, character: char) {
        // Past the last column, the next character begins the next row.
        if self.column == COLUMNS {
            (self.row, self.column) = (self.row + 1, 0);
        }
        let (row, column) = (self.row, self.column);
        self.rows.resize(self.rows.len().max(row + 1), String::new());
        let mut row: Vec<char> = self.rows[row].chars().collect();
        row.resize(row.len().max(column + 1), ' ');
        row[column] = character;
        self.rows[self.row] = row.into_iter().collect();
        if self.rows[self.row].contains("events") {
            let now = self.rows[self.row].trim_end().to_owned();
            self.seen.push(now);
        }
        self.column += 1;
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        u16::try_from(COLUMNS).unwrap()
    }
    fn move_cursor_up(&self, rows: usize) -> io::Result<()> {
        self.0.lock().unwrap().row -= rows;
        Ok(())
    }
    fn move_cursor_down(&self, rows: usize) -> io::Result<()> {
        self.0.lock().unwrap().row += rows;
        Ok(())
    }
    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.0.lock().unwrap().column += columns;
        Ok(())
    }
    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.0.lock().unwrap().column -= columns;
        Ok(())
    }
    fn write_line(&self, text: &str) -> io::Result<()> {
        self.put(text);
        self.put("\n");
        Ok(())
    }
    fn write_str(&self, text: &str) -> io::Result<()> {
        self.put(text);
        Ok(())
    }
    fn clear_line(&self) -> io::Result<()> {
        let mut lines = self.0.lock().unwrap();
        lines.column = 0;
        let row = lines.row;
        if let Some(row) = lines.rows.get_mut(row) {
            row.clear();
        }
        Ok(())
    }
    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(std::str::from_utf8(bytes).unwrap());
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn name(name: &str) -> StreamName {
    StreamName::new(name).unwrap()
}

/// Finishes, however long it takes here.
fn finish(terminal: &Terminal) {
    while terminal.handle.0.lock().after.is_none() {
        terminal.finish();
    }
}

/// What stands on stderr after some talk.
fn said(options: ConsoleOptions, talk: impl FnOnce(&Terminal, &StreamConsole)) -> String {
    let screen = Screen::default();
    let terminal = Terminal::over(options, Box::new(screen.clone()), None);
    let console = terminal.stream(&name("accounts"));
    talk(&terminal, &console);
    finish(&terminal);
    screen.text()
}

fn small_talk(terminal: &Terminal, console: &StreamConsole) {
    console.warning("lost the connection, trying again in 1 s");
    console.note("going on from `53990`");
    console.detail(1, "position `53990` served: stored latest");
    console.detail(2, "server: nginx");
    terminal.warning("cannot open the store");
    terminal.note("goes on in memory");
    terminal.detail(1, "config read");
}

#[test]
fn lines_for_a_person() {
    insta::assert_snapshot!(said(ConsoleOptions::default(), small_talk));
}

#[test]
fn several_streams_are_named() {
    insta::assert_snapshot!(said(ConsoleOptions { several: true, verbose: 1, ..Default::default() }, small_talk));
}

#[test]
fn quiet_keeps_warnings_and_what_was_asked_for() {
    let got = said(ConsoleOptions { quiet: true, ..Default::default() }, |terminal, console| {
        small_talk(terminal, console);
        terminal.lines(&["note: summary".to_owned(), "  events 1".to_owned()]);
    });
    assert_eq!(
        got,
        "warning: lost the connection, trying again in 1 s\nwarning: cannot open the store\nnote: summary\n  events 1"
    );
}

#[test]
fn verbose_twice_says_all() {
    let got = said(ConsoleOptions { verbose: 2, ..Default::default() }, small_talk);
    assert_eq!(got.lines().count(), 7);
    assert!(got.contains("note: server: nginx"));
}

#[test]
fn a_server_cannot_forge_a_line_or_drive_the_terminal() {
    let got = said(ConsoleOptions::default(), |_, console| console.note("x\nerror: forged \u{1b}[2J\u{202e}"));
    assert_eq!(got, "note: x\\nerror: forged \\x1b[2J\\u{202e}");
}

#[test]
fn colour_only_on_a_terminal() {
    let options = ConsoleOptions { color: true, ..Default::default() };
    let talk = |_: &Terminal, console: &StreamConsole| console.warning("x");
    assert_eq!(said(options, talk), "warning: x");
    let options = ConsoleOptions { terminal: true, records_on_terminal: true, ..options };
    assert_eq!(said(options, talk), "\u{1b}[1;33mwarning:\u{1b}[0m x");
}

#[test]
fn progress_only_where_it_disturbs_nobody() {
    let terminal = ConsoleOptions { terminal: true, ..Default::default() };
    assert!(terminal.shows_progress());
    assert!(!ConsoleOptions { quiet: true, ..terminal }.shows_progress());
    assert!(!ConsoleOptions { records_on_terminal: true, ..terminal }.shows_progress());
    assert!(!ConsoleOptions::default().shows_progress());
}

#[test]
fn lines_after_the_end_are_written_at_once() {
    let screen = Screen::default();
    let terminal = Terminal::over(ConsoleOptions::default(), Box::new(screen.clone()), None);
    terminal.note("one");
    finish(&terminal);
    terminal.note("two");
    assert_eq!(screen.text(), "note: one\nnote: two");
    terminal.finish();
}

#[test]
fn the_last_handle_ends_it() {
    let screen = Screen::default();
    let terminal = Terminal::over(ConsoleOptions::default(), Box::new(screen.clone()), None);
    let console = terminal.stream(&name("accounts"));
    drop(terminal);
    console.note("one");
    drop(console);
    assert_eq!(screen.text(), "note: one");
}

#[test]
fn a_broken_stderr_is_no_failure() {
    struct Broken;
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }
    let terminal = Terminal::over(ConsoleOptions::default(), Box::new(Broken), None);
    terminal.note("one");
    finish(&terminal);
    terminal.note("two");
}

/// Blocks at the first write until the test lets it go on.
struct Stuck(std::sync::mpsc::Sender<()>, std::sync::mpsc::Receiver<()>, Screen);

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.send(());
        let _ = self.1.recv();
        self.2.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_stderr_that_nobody_reads_holds_up_nobody_and_what_is_left_out_is_said() {
    let (started, has_started) = std::sync::mpsc::channel();
    let (go_on, may_go_on) = std::sync::mpsc::channel();
    let screen = Screen::default();
    let stuck = Stuck(started, may_go_on, screen.clone());
    let terminal = Terminal::over(ConsoleOptions::default(), Box::new(stuck), None);
    terminal.note("first");
    has_started.recv().unwrap();
    for number in 0..LINES_MAX + 5 {
        terminal.note(&number.to_string());
    }
    drop(go_on);
    finish(&terminal);
    let text = screen.text();
    assert_eq!(text.lines().count(), 1 + LINES_MAX + 1);
    assert_eq!(text.lines().last(), Some("note: 5 more lines were left out, since stderr was not read"));
}

#[test]
fn progress_stands_below_the_lines_and_is_taken_away() {
    let screen = Screen::default();
    let mut painter = Painter {
        out: Box::new(screen.clone()),
        boards: Some(Boards::new(ProgressDrawTarget::term_like(Box::new(screen.clone())))),
    };
    let progress = |events| {
        let progress = Progress { state: "live", events, ..Progress::default() };
        Arc::new(Mutex::new(progress))
    };
    let (one, two) = (progress(1), progress(2));
    let board = |name: &str, progress: &Arc<Mutex<Progress>>| Board::new(Some(name.into()), Arc::downgrade(progress));
    painter.draw(vec![board("one", &one), board("two", &two)]);
    assert_eq!(screen.text(), "one  live  1 events  -/s  0 B\ntwo  live  2 events  -/s  0 B");

    painter.lines(&VecDeque::from([b"note: a\n".to_vec(), b"note: b\n".to_vec()]), 0);
    assert_eq!(screen.text(), "note: a\nnote: b");
    painter.draw(Vec::new());
    let text = screen.text();
    assert!(text.starts_with("note: a\nnote: b\none  live  1 events"), "{text}");
    assert_eq!(text.lines().count(), 4, "{text}");

    // One stream ends: its line goes, at the next time that is drawn.
    drop(two);
    painter.lines(&VecDeque::from([b"note: c\n".to_vec()]), 0);
    painter.draw(Vec::new());
    let text = screen.text();
    assert!(text.starts_with("note: a\nnote: b\nnote: c\none  live"), "{text}");
    assert_eq!(text.lines().count(), 4, "{text}");

    drop(painter.boards.take());
    assert_eq!(screen.text(), "note: a\nnote: b\nnote: c");
}

#[test]
fn progress_of_a_stream_is_shown_and_taken_away_at_the_end() {
    let screen = Screen::default();
    let options = ConsoleOptions { terminal: true, ..Default::default() };
    let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
    let terminal = Terminal::over(options, Box::new(screen.clone()), Some(target));
    let console = terminal.stream(&name("accounts"));
    console.progress(&Progress { state: "live", events: 7, last_id: Some("53990".into()), ..Progress::default() });
    console.note("a line");
    finish(&terminal);
    assert_eq!(screen.text(), "note: a line");
    assert!(
        screen.0.lock().unwrap().seen.iter().any(|row| row.contains("live  7 events") && row.ends_with("last 53990"))
    );
}
