//! `checkpoint verify` on a store that something else has changed, and cursors from one machine to another.

#![expect(clippy::unwrap_used, reason = "a test fails where something is not there")]

mod support;

use std::fs;

use support::log::LogServer;
use support::program::Place;

/// A store with one stream in it: five events, marks, keys, an export.
fn sound() -> Place {
    let (place, server) = (Place::new(), LogServer::builder().events(1..=5).start());
    let url = server.url("/e");
    let done = place.run(&["resume", &url, "--stream", "s", "--to", "out.ndjson", "--until-id", "5"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    place
}

/// What `verify` finds after `sql`, done by somebody who knows nothing of the rules.
fn found_after(place: &Place, sql: &str) -> String {
    let raw = rusqlite::Connection::open(place.db()).unwrap();
    raw.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
    raw.execute_batch(sql).unwrap();
    drop(raw);
    verify(place, sql)
}

fn verify(place: &Place, what: &str) -> String {
    let found = place.run(&["checkpoint", "verify"]);
    assert_eq!(found.code, 6, "after {what}: {}{}", found.stdout, found.stderr);
    assert!(found.stderr.starts_with("error: cannot call "), "{}", found.stderr);
    assert!(found.stderr.contains("not as it must be") && found.stderr.contains("hint: "), "{}", found.stderr);
    found.stdout
}

/// A row of `gaps` of the stream, for an `INSERT`.
fn gap(number: u64, state: &str, ended_at: &str, seq: u64) -> String {
    format!(
        "INSERT INTO gaps SELECT id, {number}, '{state}', 'waiting', 'dropped', NULL, 0, 0, NULL, 0, {ended_at}, {seq}, \
         NULL, NULL, 0, 0, 0, 0, 0 FROM cursors;"
    )
}

#[test]
fn every_broken_invariant_is_named() {
    let mark =
        |ordinal: u64, seq: u64| format!("INSERT INTO marks SELECT id, {ordinal}, 's#1', 0, {seq} FROM cursors;");
    let many: String = (0..300).map(|ordinal| mark(ordinal, 0)).collect();
    let cases: Vec<(String, &str)> = vec![
        ("UPDATE cursors SET lagging_seq = 99".into(), "the keys under `lagging` begin at 99, after the last one (5)"),
        (
            "UPDATE cursors SET latest = NULL, latest_before = NULL".into(),
            "yet `latest` is nowhere, and no gap is open",
        ),
        ("UPDATE cursors SET latest = 't#5'".into(), "column `latest`"),
        ("UPDATE cursors SET newest_key = x'00'".into(), "column `newest_key`"),
        (format!("DELETE FROM marks;{many}"), "it has 300 marks, 256 at most are written"),
        (format!("DELETE FROM marks;{}{}", mark(1, 4), mark(2, 3)), "its marks are not in ascending order"),
        (mark(1_000_000, 77), "a mark begins after the last key"),
        (format!("{}{}", gap(1, "open", "NULL", 1), gap(2, "open", "NULL", 2)), "2 gaps are open at once"),
        (gap(1, "open", "7", 1), "gap 1 is open and has an end"),
        (gap(1, "recovered", "NULL", 1), "gap 1 has ended without a time of its end"),
        (gap(1, "open", "NULL", 99), "gap 1 begins after the last key"),
        (gap(1, "lost", "NULL", 1), "column `state`"),
        ("UPDATE keys SET first = 7".into(), "its keys end at 12, the record says 5"),
        ("UPDATE cursors SET next_seq = 9".into(), "its keys end at 5, the record says 9"),
        ("INSERT INTO keys SELECT cursor, 9, keys FROM keys".into(), "its keys break off at 5 and go on at 9"),
        ("UPDATE keys SET keys = x'0011'".into(), "CHECK constraint failed"),
        ("DELETE FROM cursors".into(), "a row of `keys` belongs to no stream"),
        ("UPDATE exports SET length = 1000000".into(), "it is shorter than what was committed"),
        ("UPDATE exports SET tail = zeroblob(16)".into(), "out.ndjson`: "),
    ];
    let place = sound();
    assert_eq!(place.run(&["checkpoint", "verify"]).code, 0);
    let whole = fs::read(place.db()).unwrap();
    for (sql, part) in cases {
        for file in ["ssectl.db-wal", "ssectl.db-shm"] {
            let _ = fs::remove_file(place.path(file));
        }
        fs::write(place.db(), &whole).unwrap();
        let found = found_after(&place, &sql);
        assert!(found.contains(part), "after {sql}:\n{found}");
    }
}

#[test]
fn a_page_of_garbage_is_found() {
    let place = sound();
    let root =
        support::program::sql(&place.db(), "SELECT CAST(rootpage AS TEXT) FROM sqlite_schema WHERE name = 'marks'");
    let page: usize = root[0][0].parse().unwrap();
    let mut bytes = fs::read(place.db()).unwrap();
    bytes[(page - 1) * 4_096..page * 4_096].fill(0xa5);
    fs::write(place.db(), bytes).unwrap();
    let found = place.run(&["checkpoint", "verify"]);
    assert_eq!(found.code, 6, "{}{}", found.stdout, found.stderr);
    assert!(found.stderr.contains("error: cannot ") && found.stderr.contains("hint: "), "{}", found.stderr);
}

#[test]
fn an_export_is_compared_with_what_was_committed() {
    let place = sound();
    let file = place.path("out.ndjson");
    let whole = fs::read(&file).unwrap();
    let mut changed = whole.clone();
    let at = changed.len() - 40;
    changed[at] ^= 1;
    fs::write(&file, &changed).unwrap();
    assert!(verify(&place, "a byte").contains("out.ndjson"));
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    let found = verify(&place, "one byte less");
    assert!(found.contains(&format!("{} bytes of {}", whole.len() - 1, whole.len())), "{found}");
    // What comes after the committed length is cut off by the next run: no fault.
    fs::write(&file, [&whole[..], b"{\"kind\":"].concat()).unwrap();
    assert_eq!(place.run(&["checkpoint", "verify"]).code, 0);
}

#[test]
fn cursors_go_to_another_database_and_back() {
    let (here, there) = (sound(), Place::new());
    assert_eq!(here.run(&["checkpoint", "set", "ü \"2", "--latest", "a#b", "--lagging", "a"]).code, 0);
    let exported = here.run(&["checkpoint", "export"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    fs::write(there.path("cursors.json"), &exported.stdout).unwrap();
    let imported = there.run(&["checkpoint", "import", "cursors.json"]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    for stream in ["s", "ü \"2"] {
        let (one, two) = (here.show(stream), there.show(stream));
        for field in ["stream", "latest", "lagging", "window", "url"] {
            assert_eq!(one[field], two[field], "{stream}: {field}");
        }
    }
    assert_eq!(there.run(&["checkpoint", "verify"]).code, 0);
    let back = there.run(&["checkpoint", "export"]);
    assert_eq!(back.stdout, exported.stdout, "what comes back is what was sent");

    // The other machine goes on from there, ...
    let server = LogServer::builder().events(1..=7).start();
    let done = there.run(&["resume", &server.url("/e"), "--stream", "s", "-o", "json", "--until-id", "7"]);
    assert_eq!((done.code, done.ids()), (0, vec!["6".to_owned(), "7".to_owned()]), "{}", done.stderr);
    // ... and an import that would take it back is refused whole.
    assert_eq!(there.run(&["checkpoint", "reset", "ü \"2"]).code, 0);
    let refused = there.run(&["checkpoint", "import", "cursors.json"]);
    assert_eq!(refused.code, 6, "{}", refused.stderr);
    assert!(refused.stderr.contains("`s`") && refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(there.show("s")["latest"], "7");
    assert_eq!(there.run(&["checkpoint", "show", "ü \"2"]).code, 2, "nothing is imported if anything is refused");
    let forced = there.run(&["checkpoint", "import", "cursors.json", "--force"]);
    assert_eq!(forced.code, 0, "{}", forced.stderr);
    assert_eq!(there.show("s")["latest"], "5");
    assert_eq!(there.run(&["checkpoint", "verify"]).code, 0);
}
