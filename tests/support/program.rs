//! Runs the real binary with a database of its own, and waits for it without sleeping.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::PATIENCE;

/// A folder with a database, in which the binary is run.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn db(&self) -> PathBuf {
        self.path("ssectl.db")
    }

    /// The binary with these arguments; nothing of the environment but the path.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssectl"));
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("SSECTL_DB", self.db())
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str]) -> Finished {
        self.start(arguments).finish()
    }

    /// Starts it with its output captured.
    pub fn start(&self, arguments: &[&str]) -> Running {
        self.start_command(self.command(arguments))
    }

    /// Starts a command that was made from [`Self::command`].
    pub fn start_command(&self, mut command: Command) -> Running {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let (lines, reader) = read_lines(child.stdout.take().expect("stdout is piped"));
        let errors = Some(read_all(child.stderr.take().expect("stderr is piped")));
        Running { child, lines, reader: Some(reader), errors, seen: Vec::new() }
    }

    /// Starts it with an output that nobody reads until the test does.
    pub fn start_unread(&self, arguments: &[&str]) -> (Running, ChildStdout) {
        let mut command = self.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let stdout = child.stdout.take().expect("stdout is piped");
        let errors = Some(read_all(child.stderr.take().expect("stderr is piped")));
        (Running { child, lines: channel().1, reader: None, errors, seen: Vec::new() }, stdout)
    }

    /// `checkpoint show -o json` of a stream.
    pub fn show(&self, stream: &str) -> Value {
        let shown = self.run(&["checkpoint", "show", stream, "-o", "json"]);
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        serde_json::from_str(&shown.stdout).expect("one JSON object")
    }
}

/// Reads to the end, in the background.
pub fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        let _ = from.read_to_string(&mut text);
        text
    })
}

fn read_lines(stdout: impl Read + Send + 'static) -> (Receiver<String>, JoinHandle<()>) {
    let (sender, lines) = channel();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    (lines, reader)
}

/// A run that has not ended.
pub struct Running {
    pub child: Child,
    lines: Receiver<String>,
    reader: Option<JoinHandle<()>>,
    errors: Option<JoinHandle<String>>,
    seen: Vec<String>,
}

impl Running {
    /// Waits for the next line on stdout.
    pub fn line(&mut self) -> String {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                self.seen.push(line.clone());
                line
            }
            Err(RecvTimeoutError::Timeout) => panic!("no line came in time; so far: {:#?}", self.seen),
            Err(RecvTimeoutError::Disconnected) => {
                let code = self.child.wait().ok().and_then(|status| status.code());
                let errors = self.errors.take().map(|errors| errors.join().unwrap_or_default());
                panic!("the output ended (code {code:?}); so far: {:#?}\nstderr: {errors:?}", self.seen)
            }
        }
    }

    /// Waits for the event with this id, reading on until it comes.
    pub fn until_id(&mut self, id: &str) {
        loop {
            let line = self.line();
            let record: Value = serde_json::from_str(&line).expect("a record");
            if record["kind"] == "event" && record["id"] == id {
                return;
            }
        }
    }

    /// Waits for the event with this id; `false` if the output ends first.
    pub fn reaches_id(&mut self, id: &str) -> bool {
        let wanted = format!("\"id\":\"{id}\"");
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            let found = line.contains(&wanted);
            self.seen.push(line);
            if found {
                return true;
            }
        }
        false
    }

    /// Waits for the notice of this kind.
    pub fn until_notice(&mut self, notice: &str) -> Value {
        loop {
            let line = self.line();
            let record: Value = serde_json::from_str(&line).expect("a record");
            if record["notice"] == notice {
                return record;
            }
        }
    }

    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").arg(format!("-{signal}")).arg(self.child.id().to_string()).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it can be waited for").is_some()
    }

    pub fn kill(mut self) -> Finished {
        self.child.kill().expect("it runs");
        self.finish()
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Finished {
        let deadline = std::time::Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                break status;
            }
            if std::time::Instant::now() >= deadline {
                let _ = self.child.kill();
                let errors = self.errors.take().map(|errors| errors.join().unwrap_or_default());
                panic!("it did not end; stderr: {errors:?}");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let _ = self.reader.take().map(JoinHandle::join);
        self.seen.extend(self.lines.try_iter());
        let mut stdout = self.seen.join("\n");
        if !stdout.is_empty() {
            stdout.push('\n');
        }
        let stderr = self.errors.take().map(|errors| errors.join().unwrap_or_default()).unwrap_or_default();
        Finished { code: status.code().unwrap_or(-1), stdout, stderr }
    }
}

/// A run that has ended.
pub struct Finished {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// The records of stdout.
    pub fn records(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect("a record a line")).collect()
    }

    /// The ids of the events, in order.
    pub fn ids(&self) -> Vec<String> {
        ids(&self.records(), |_| true)
    }

    /// The ids of the events marked as replayed.
    pub fn replayed(&self) -> Vec<String> {
        ids(&self.records(), |record| record["replayed"] == true)
    }
}

fn ids(records: &[Value], keep: impl Fn(&Value) -> bool) -> Vec<String> {
    let events = records.iter().filter(|record| record["kind"] == "event" && keep(record));
    events.map(|record| record["id"].as_str().unwrap_or("null").to_owned()).collect()
}

/// `from..=to` as texts.
pub fn numbers(range: std::ops::RangeInclusive<u64>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

/// Asks `sqlite3`-like for one column, by the library the tool itself uses.
pub fn sql(db: &Path, query: &str) -> Vec<Vec<String>> {
    let connection = rusqlite::Connection::open(db).expect("the database opens");
    let mut statement = connection.prepare(query).expect("the query is right");
    let columns = statement.column_count();
    let rows =
        statement.query_map([], |row| (0..columns).map(|column| row.get::<_, String>(column)).collect()).expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

/// Used where a test wants the raw output.
pub fn output(command: &mut Command) -> Output {
    command.output().expect("the binary runs")
}
