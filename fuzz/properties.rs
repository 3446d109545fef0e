//! What must hold for any bytes. Fuzz targets call these, and `tests/fuzz_seeds.rs` does with the files in `seeds/`.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::types::Value;
use ssectl::consumer::id::{Cursor, EventId, StreamName};
use ssectl::consumer::time::Timestamp;
use ssectl::settings::Environment;
use ssectl::settings::config::Config;
use ssectl::store::process::LocalProcesses;
use ssectl::store::sqlite::SqliteStore;
use ssectl::store::{Acquire, Edit, Mover, NewCursors, Process, Store, StoreError};
use ssectl::wire::{Decoder, Frame, Limits};

/// Small, so that a fuzzer reaches them.
const LIMITS: Limits = Limits { event_bytes_max: 64, comment_bytes_max: 16 };

/// A stream says the same however it is cut, and nothing in it is larger than the limits.
pub fn decoder(bytes: &[u8]) {
    let (seed, stream) = bytes.split_first().unwrap_or((&1, &[]));
    let whole = decoded(stream, usize::MAX);
    assert_eq!(decoded(stream, 1), whole, "byte by byte");
    assert_eq!(decoded(stream, usize::from(*seed).max(1)), whole, "in pieces of {seed}");
}

fn decoded(stream: &[u8], piece: usize) -> (Vec<String>, String) {
    let mut decoder = Decoder::new(LIMITS);
    let mut said = Vec::new();
    for chunk in stream.chunks(piece.min(stream.len().max(1))) {
        let mut frames = decoder.feed(chunk);
        while let Some(frame) = frames.next() {
            check_limits(&frame);
            said.push(format!("{frame:?}"));
        }
    }
    (said, format!("{:?}", decoder.finish()))
}

fn check_limits(frame: &Frame<'_>) {
    match frame {
        Frame::Event(event) => {
            assert!(!event.event.contains(['\n', '\r']) && !event.data.contains('\r'));
            assert!(!event.id.unwrap_or_default().contains(['\n', '\r', '\0']));
            assert!(event.data.len() <= 3 * LIMITS.event_bytes_max, "replacement characters are three bytes");
        }
        Frame::Comment { text, .. } => assert!(text.len() <= 3 * LIMITS.comment_bytes_max),
        Frame::IdOnly(id) => assert!(!id.contains(['\n', '\r', '\0'])),
        Frame::Retry(_) | Frame::TooLarge { .. } => {}
    }
}

/// A stored position that can be read is written as it was, and its parts make it again.
pub fn cursor_key(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Some(cursor) = Cursor::parse(&text) {
        assert_eq!(cursor.to_string(), text);
        assert!(!cursor.stream.as_str().contains('#'));
        assert!(!cursor.id.as_str().is_empty());
    }
    let (name, id) = text.split_at(text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at));
    if let (Ok(stream), Some(id)) = (StreamName::new(name), EventId::new(id)) {
        let cursor = Cursor { stream, id };
        assert_eq!(Cursor::parse(&cursor.to_string()), Some(cursor.clone()));
        if cursor.id.fits_header() {
            assert!(!cursor.id.as_str().contains(['\r', '\n', '\0']), "an id must not end its header");
        }
    }
}

/// The variable that a config file may name, and its value, which no message may.
const SECRET: (&str, &str) = ("SECRET", "hunter2-hunter2");

/// A config file is read or refused, and a refusal tells no value of the environment.
pub fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let vars = [SECRET, ("EMPTY", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let env = Environment { vars: vars.into(), ..Environment::default() };
    let refused = |failure: ssectl::error::Failure| {
        assert!(!failure.to_string().contains(SECRET.1) || text.contains(SECRET.1), "{failure}");
    };
    match Config::parse(PathBuf::from("config.toml"), &text) {
        Err(failure) => refused(failure),
        Ok(config) => {
            for failure in [config.db(&env).err(), config.no_store().err(), config.defaults(&env).err()] {
                let _ = failure.map(refused);
            }
            for name in ["a", "b", "accounts", ""] {
                let _ = config.stream(name, &env).err().map(refused);
            }
        }
    }
}

/// A database whose pages or rows were changed: every reader answers or refuses.
pub fn store(bytes: &[u8]) {
    let Some((&how, changes)) = bytes.split_first() else { return };
    let folder = tempfile::Builder::new().prefix("ssectl-fuzz").tempdir_in(fast_folder()).expect("a folder");
    let path = folder.path().join("db");
    let mut file = sound().clone();
    if how % 2 == 0 {
        for change in changes.chunks_exact(4) {
            let at = usize::from(u16::from_le_bytes([change[0], change[1]])) << (change[2] & 3);
            let length = file.len();
            file[at % length] = change[3];
        }
    }
    std::fs::write(&path, &file).expect("the folder takes a file");
    if how % 2 == 1 {
        change_rows(&path, changes);
    }
    // What it is refused with is for a person: it has words.
    if let Err(error) = read(&path) {
        assert!(!error.to_string().is_empty());
    }
}

fn read(path: &Path) -> Result<(), StoreError> {
    let now = Timestamp(1_800_000_000_000_000);
    let mut store = SqliteStore::open(path, LocalProcesses::new())?;
    let mut names: Vec<StreamName> = ["a", "b"].map(|name| StreamName::new(name).expect("a name")).into();
    names.extend(store.list(now)?.into_iter().map(|summary| summary.stream));
    let findings = store.verify()?;
    for name in names {
        // One that is refused says nothing of the next.
        let _ = store.show(&name, now);
        let _ = store.peek(&name);
        let _ = store.keys(&name, 0);
        let _ = store.acquire(&request(name, now));
    }
    drop(findings);
    Ok(())
}

fn request(stream: StreamName, now: Timestamp) -> Acquire {
    let (process, window) = (Process::current(), Duration::from_secs(900));
    Acquire { stream, process, mover: Mover::Resume, url: "http://h/".into(), window, now }
}

/// A folder in memory, where the system has one.
fn fast_folder() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

/// A sound database with two streams.
fn sound() -> &'static Vec<u8> {
    static SOUND: OnceLock<Vec<u8>> = OnceLock::new();
    SOUND.get_or_init(|| {
        let folder = tempfile::tempdir_in(fast_folder()).expect("a folder");
        let path = folder.path().join("db");
        let mut store = SqliteStore::open(&path, LocalProcesses::new()).expect("a new database");
        for name in ["a", "b"] {
            let name = StreamName::new(name).expect("a name");
            let cursors =
                NewCursors { latest: EventId::new("53990").expect("an id"), lagging: None, window: None, url: None };
            store.edit(&name, &Edit::Set(cursors), false, Timestamp(1)).expect("nobody owns it");
        }
        drop(store);
        let connection = Connection::open(&path).expect("it is there");
        connection.pragma_update(None, "wal_checkpoint", "TRUNCATE").expect("it can be brought into one file");
        drop(connection);
        std::fs::read(&path).expect("it can be read")
    })
}

/// Changes rows and adds some: table, column, then a value; a column past the last means a new row of such values.
fn change_rows(path: &Path, mut changes: &[u8]) {
    let connection = Connection::open(path).expect("it is sound");
    let tables = texts(&connection, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    while let [table, column, rest @ ..] = changes {
        changes = rest;
        let table = &tables[usize::from(*table) % tables.len()];
        let columns = texts(&connection, &format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid"));
        // What the schema itself refuses need not be read.
        let _ = match columns.get(usize::from(*column) % (columns.len() + 1)) {
            Some(column) => {
                let value = value(&mut changes);
                connection.execute(&format!("UPDATE \"{table}\" SET \"{column}\" = ?1"), [value])
            }
            None => {
                let values: Vec<Value> = columns.iter().map(|_| value(&mut changes)).collect();
                let marks = vec!["?"; columns.len()].join(", ");
                let insert = format!("INSERT OR REPLACE INTO \"{table}\" VALUES ({marks})");
                connection.execute(&insert, rusqlite::params_from_iter(values))
            }
        };
    }
}

fn texts(connection: &Connection, query: &str) -> Vec<String> {
    let mut statement = connection.prepare(query).expect("the query is right");
    let rows = statement.query_map([], |row| row.get(0)).expect("it has one column");
    rows.collect::<Result<_, _>>().expect("names are texts")
}

/// The next value: nothing, a small or a large number, a text, or bytes.
fn value(from: &mut &[u8]) -> Value {
    let [kind, length, rest @ ..] = *from else {
        *from = &[];
        return Value::Null;
    };
    let (taken, left) = rest.split_at(usize::from(*length).min(rest.len()));
    *from = left;
    match kind % 6 {
        0 => Value::Null,
        1 => Value::Integer(i64::from(*length)),
        2 => Value::Integer(taken.iter().fold(0_i64, |number, &byte| number.wrapping_shl(8) | i64::from(byte))),
        3 => Value::Text(String::from_utf8_lossy(taken).into_owned()),
        4 => Value::Text("a".into()),
        _ => Value::Blob(taken.to_vec()),
    }
}
