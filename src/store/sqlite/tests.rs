//! What the file itself must be and do; what every store must do is in [`crate::store::contract`].

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::*;
use crate::consumer::record::ExportMark;
use crate::store::contract::{Morgue, moving, name, request};
use crate::store::{Acquired, Mover};

/// Long enough to see that it is waited, short enough not to wait.
const SHORT: Duration = Duration::from_millis(1);

struct File {
    path: PathBuf,
    _directory: tempfile::TempDir,
}

impl File {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { path: directory.path().join("s.db"), _directory: directory }
    }

    fn open(&self) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_waiting(&self.path, Morgue::default(), SHORT)
    }

    fn refused(&self) -> StoreError {
        match self.open() {
            Ok(_) => panic!("the file was opened"),
            Err(error) => error,
        }
    }

    /// A connection that knows nothing of the store's rules.
    fn raw(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    /// A file with one stream in it, which no process owns.
    fn with_a_stream() -> Self {
        let file = Self::new();
        let mut store = file.open().unwrap();
        let epoch = own(&mut store);
        let commit = Commit { keys: vec![1, 2], ..moving("41") };
        let commit = Commit { head: crate::consumer::record::Head { next_seq: 2, ..commit.head }, ..commit };
        store.commit(&name("s"), epoch, &commit).unwrap();
        store.release(&name("s"), epoch, "done").unwrap();
        file
    }

    fn verify_after(&self, sql: &str) -> String {
        let raw = self.raw();
        raw.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
        raw.execute_batch(sql).unwrap();
        drop(raw);
        self.open().unwrap().verify().unwrap().join("\n")
    }
}

fn own(store: &mut SqliteStore) -> Epoch {
    match store.acquire(&request("s", 1, Mover::Resume, 100)).unwrap() {
        Acquired::Owned(owned) => owned.epoch,
        other => panic!("not owned: {other:?}"),
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_file_is_its_owners_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new").join("newer").join("s.db");
    let mut store = SqliteStore::open(&path, Morgue::default()).unwrap();
    own(&mut store);
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(path.parent().unwrap().parent().unwrap()), 0o700);
    assert_eq!(mode(&path.with_extension("db-wal")), 0o600);
    assert_eq!(mode(&path.with_extension("db-shm")), 0o600);
}

#[test]
fn cursors_are_namespaced_where_the_contract_says() {
    let file = File::with_a_stream();
    let (stream, latest, lagging): (String, String, Option<String>) = file
        .raw()
        .query_row("SELECT stream, latest, lagging FROM cursors", [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    assert_eq!((stream.as_str(), latest.as_str(), lagging), ("s", "s#41", None));
}

#[test]
fn the_journal_is_a_wal() {
    let file = File::new();
    let store = file.open().unwrap();
    let text = |pragma| store.connection.pragma_query_value(None, pragma, |row| row.get::<_, String>(0)).unwrap();
    let number = |pragma| store.connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(text("journal_mode"), "wal");
    assert_eq!((number("synchronous"), number("foreign_keys")), (1, 1));
    assert_eq!(number("user_version"), i64::from(SCHEMA_VERSION));
}

#[test]
fn an_empty_file_is_a_new_store() {
    let file = File::new();
    fs::write(&file.path, b"").unwrap();
    assert_eq!(file.open().unwrap().verify().unwrap(), Vec::<String>::new());
    assert_eq!(file.open().unwrap().list(Timestamp(0)).unwrap(), Vec::new());
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let file = File::with_a_stream();
    file.raw().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(&file.path).unwrap();
    assert_eq!(file.refused(), StoreError::NewerSchema { found: 99, known: SCHEMA_VERSION });
    assert_eq!(fs::read(&file.path).unwrap(), before);
}

#[test]
fn a_version_that_never_was_is_refused() {
    let file = File::with_a_stream();
    file.raw().pragma_update(None, "user_version", 0).unwrap();
    assert!(matches!(file.refused(), StoreError::Corrupt(_)));
    file.raw().pragma_update(None, "user_version", -3).unwrap();
    assert!(matches!(file.refused(), StoreError::Corrupt(_)));
}

#[test]
fn the_database_of_another_program_is_refused_and_left_alone() {
    let file = File::new();
    file.raw().execute_batch("CREATE TABLE cursors (stream TEXT); PRAGMA user_version = 1").unwrap();
    let before = fs::read(&file.path).unwrap();
    match file.refused() {
        StoreError::Failed(detail) => assert!(detail.contains("another program"), "{detail}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read(&file.path).unwrap(), before);
    assert!(!file.path.with_extension("db-wal").exists());
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let file = File::new();
    let text = "{\"kind\":\"event\"}\n".repeat(100);
    fs::write(&file.path, &text).unwrap();
    assert!(matches!(file.refused(), StoreError::Corrupt(_)));
    assert_eq!(fs::read_to_string(&file.path).unwrap(), text);
}

#[test]
fn a_damaged_database_is_refused_or_found() {
    let file = File::with_a_stream();
    let mut bytes = fs::read(&file.path).unwrap();
    bytes[100..].fill(0xa5);
    fs::write(&file.path, bytes).unwrap();
    assert!(matches!(file.refused(), StoreError::Corrupt(_)));
}

#[test]
fn a_locked_database_fails_with_a_sentence() {
    let file = File::with_a_stream();
    let mut store = file.open().unwrap();
    let other = file.raw();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    match store.acquire(&request("s", 1, Mover::Resume, 100)) {
        Err(StoreError::Failed(detail)) => assert!(detail.contains("locked"), "{detail}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(store.list(Timestamp(0)).unwrap().len(), 1, "readers do not wait for a writer");
    other.execute_batch("ROLLBACK").unwrap();
    own(&mut store);
}

#[test]
fn a_path_that_cannot_be_is_a_failure() {
    let file = File::new();
    fs::write(&file.path, b"").unwrap();
    let below = file.path.join("s.db");
    assert!(matches!(SqliteStore::open(&below, Morgue::default()), Err(StoreError::Failed(_))));
    let directory = file.path.parent().unwrap();
    assert!(matches!(SqliteStore::open(directory, Morgue::default()), Err(StoreError::Failed(_))));
}

#[test]
fn a_directory_that_cannot_be_written_is_a_failure() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o500)).unwrap();
    // A super-user may write all the same; then there is nothing to see here.
    if fs::write(directory.path().join("probe"), b"").is_err() {
        let opened = SqliteStore::open(&directory.path().join("s.db"), Morgue::default());
        assert!(matches!(opened, Err(StoreError::Failed(_))));
    }
}

#[test]
fn two_stores_of_one_file_see_each_other() {
    let file = File::new();
    let (mut one, mut two) = (file.open().unwrap(), file.open().unwrap());
    let epoch = own(&mut one);
    let again = two.acquire(&request("s", 2, Mover::Resume, 101)).unwrap();
    assert!(matches!(again, Acquired::Busy(holder) if holder.process.pid == 1));
    two.edit(&name("s"), &Edit::Forget, true, Timestamp(0)).unwrap();
    let late = one.commit(&name("s"), epoch, &moving("1"));
    assert_eq!(late, Err(StoreError::Fenced { holder: None }));
}

#[test]
fn many_open_a_new_file_at_once() {
    let file = File::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| SqliteStore::open(&file.path, Morgue::default()).map(drop).unwrap());
        }
    });
    assert_eq!(file.open().unwrap().verify().unwrap(), Vec::<String>::new());
}

#[test]
fn keys_are_not_a_row_each() {
    let file = File::new();
    let mut store = file.open().unwrap();
    let epoch = own(&mut store);
    for next_seq in 1..=1_100 {
        let head = crate::consumer::record::Head { next_seq, ..moving("1").head };
        store.commit(&name("s"), epoch, &Commit { head, keys: vec![next_seq.into()], ..Commit::default() }).unwrap();
    }
    let rows: i64 = store.connection.query_row("SELECT count(*) FROM keys", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 3);
}

#[test]
fn verify_names_what_is_wrong_with_a_row() {
    for (sql, part) in [
        ("UPDATE cursors SET latest = 't#41'", "column `latest`: `t#41`"),
        ("UPDATE cursors SET lagging = 'plain'", "column `lagging`: `plain`"),
        ("UPDATE cursors SET moved_by = 'nobody'", "column `moved_by`"),
        ("UPDATE cursors SET next_seq = -1", "column `next_seq`"),
        ("UPDATE cursors SET newest_key = x'00'", "column `newest_key`"),
        ("UPDATE keys SET first = 7", "keys end at 9, the record says 2"),
        ("INSERT INTO keys SELECT cursor, 9, keys FROM keys", "break off at 2 and go on at 9"),
        ("INSERT INTO marks VALUES (77, 1, 's#1', 0, 0)", "belongs to no stream"),
        ("INSERT INTO marks SELECT id, 1, 't#1', 0, 0 FROM cursors", "column `id`"),
        ("UPDATE keys SET keys = x'0011'", "CHECK constraint failed"),
    ] {
        let found = File::with_a_stream().verify_after(sql);
        assert!(found.contains(part), "after {sql}: {found:?}");
    }
    assert_eq!(File::with_a_stream().verify_after("SELECT 1"), "");
}

#[test]
fn a_commit_with_an_export_is_durable_when_it_returns() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(&directory.path().join("x.db"), Morgue::default()).unwrap();
    let Acquired::Owned(owned) = store.acquire(&request("s", 1, Mover::Resume, 100)).unwrap() else {
        panic!("not owned")
    };
    let mark = ExportMark { file: "/x".into(), length: 0, tail: 0 };
    for (export, level) in [(None, 1), (Some(mark), 2), (None, 1)] {
        store.commit(&name("s"), owned.epoch, &Commit { export, ..moving("1") }).unwrap();
        let synchronous: i64 = store.connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
        assert_eq!(synchronous, level, "FULL is 2, NORMAL is 1 (SQLite, `PRAGMA synchronous`)");
    }
}
