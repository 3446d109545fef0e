use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Parser;

use super::*;
use crate::cli::{Cli, Command};
use crate::consumer::id::EventId;
use crate::consumer::record::{Commit, Epoch, Gap, GapState, Key, Phase, Record};
use crate::store::{Acquire, Acquired, Edit, Holder, Mover, Process};

/// As much of a store as `checkpoint` sees.
#[derive(Default)]
struct Shelf {
    streams: Vec<Summary>,
    findings: Vec<String>,
}

struct FakeStore(Arc<Mutex<Shelf>>);

impl Store for FakeStore {
    fn acquire(&mut self, _: &Acquire) -> Result<Acquired, StoreError> {
        unreachable!("checkpoint owns nothing")
    }
    fn commit(&mut self, _: &StreamName, _: Epoch, _: &Commit) -> Result<(), StoreError> {
        unreachable!("checkpoint owns nothing")
    }
    fn keys(&mut self, _: &StreamName, _: u64) -> Result<Vec<Key>, StoreError> {
        unreachable!("checkpoint reads no keys")
    }
    fn renew(&mut self, _: &StreamName, _: Epoch, _: Timestamp) -> Result<(), StoreError> {
        unreachable!("checkpoint owns nothing")
    }
    fn release(&mut self, _: &StreamName, _: Epoch, _: &str) -> Result<(), StoreError> {
        unreachable!("checkpoint owns nothing")
    }
    fn peek(&mut self, _: &StreamName) -> Result<Option<Record>, StoreError> {
        unreachable!("checkpoint reads no record")
    }
    fn list(&mut self, _: Timestamp) -> Result<Vec<Summary>, StoreError> {
        Ok(self.0.lock().unwrap().streams.clone())
    }
    fn show(&mut self, stream: &StreamName, _: Timestamp) -> Result<Option<Summary>, StoreError> {
        Ok(self.0.lock().unwrap().streams.iter().find(|summary| summary.stream == *stream).cloned())
    }
    fn edit(&mut self, stream: &StreamName, edit: &Edit, force: bool, _: Timestamp) -> Result<(), StoreError> {
        let streams = &mut self.0.lock().unwrap().streams;
        let at = streams.iter().position(|summary| summary.stream == *stream);
        if let Some(owner) = at.and_then(|at| streams[at].owner.clone())
            && !force
        {
            return Err(StoreError::Busy(owner));
        }
        match (edit, at) {
            (Edit::Set(new), _) => {
                let mut summary = summary(stream.as_str(), Some(new.latest.as_str()));
                summary.lagging = new.lagging.clone().or(Some(new.latest.clone()));
                summary.window = new.window.unwrap_or(summary.window);
                at.map(|at| streams.remove(at));
                streams.push(summary);
            }
            (_, None) => return Err(StoreError::UnknownStream),
            (Edit::Forget, Some(at)) => drop(streams.remove(at)),
            (Edit::ToLagging, Some(at)) => {
                streams[at].latest = Some(streams[at].lagging.clone().ok_or(StoreError::NoCursor)?);
            }
        }
        Ok(())
    }
    fn verify(&mut self) -> Result<Vec<String>, StoreError> {
        Ok(self.0.lock().unwrap().findings.clone())
    }
}

fn id(text: &str) -> EventId {
    EventId::new(text).unwrap()
}

/// 2026-11-30T20:41:06.123456Z, and a number of seconds.
fn at(seconds: i64) -> Timestamp {
    Timestamp(1_796_071_266_123_456 + seconds * 1_000_000)
}

fn summary(stream: &str, latest: Option<&str>) -> Summary {
    Summary {
        stream: StreamName::new(stream).unwrap(),
        latest: latest.map(id),
        lagging: latest.map(|_| id("1")),
        latest_at: latest.map(|_| at(0)),
        lagging_at: None,
        window: Duration::from_secs(900),
        gaps: Vec::new(),
        owner: None,
        url: Some("https://h.example/e?token=***".into()),
        last_end: None,
        moved_by: Some(Mover::Resume),
        exports: Vec::new(),
    }
}

fn gap(number: u64, state: GapState) -> Gap {
    Gap {
        number,
        state,
        phase: Phase::Waiting,
        text: "too slow,\x1b[2J dropped 10000 messages".into(),
        dropped: Some(10_000),
        recovered: 7,
        removed: 3,
        place: Some(id("53000")),
        opened_at: at(-60),
        ended_at: (state != GapState::Open).then(|| at(-30)),
        seq: 0,
        progress: None,
        evidence: false,
        attempt: 1,
        notices_in_row: 0,
        filled: 0,
        passed: false,
    }
}

fn owner() -> Holder {
    Holder {
        process: Process { pid: 4711, host: "here".into(), boot: String::new(), started: 0 },
        mover: Mover::Resume,
        since: at(-100),
        expires_at: at(15),
    }
}

/// A directory with a database file, and what was said.
struct Desk {
    directory: tempfile::TempDir,
    shelf: Arc<Mutex<Shelf>>,
    opened: Rc<RefCell<u32>>,
}

struct Said {
    result: Result<Exit, Failure>,
    out: String,
    notes: String,
}

impl Said {
    fn failure(&self) -> &Failure {
        self.result.as_ref().expect_err("it must fail")
    }
}

impl Desk {
    fn new(streams: Vec<Summary>) -> Self {
        let desk = Self::empty();
        std::fs::write(desk.db(), "").unwrap();
        desk.shelf.lock().unwrap().streams = streams;
        desk
    }

    /// Without a database file.
    fn empty() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), shelf: Arc::default(), opened: Rc::default() }
    }

    fn db(&self) -> PathBuf {
        self.directory.path().join("ssectl.db")
    }

    fn run(&self, args: &[&str]) -> Said {
        let cli = Cli::try_parse_from([&["ssectl", "checkpoint"], args].concat()).unwrap();
        let Command::Checkpoint(args) = cli.command else { panic!("another command") };
        let open = |_: &Path| {
            *self.opened.borrow_mut() += 1;
            Ok(Box::new(FakeStore(Arc::clone(&self.shelf))) as Box<dyn Store>)
        };
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let settings = CheckpointSettings::of_db(self.db());
        let context = Context { settings: &settings, open: &open, out: &mut out, notes: &mut notes, now: at(0) };
        let result = run(args, context);
        Said { result, out: String::from_utf8(out).unwrap(), notes: String::from_utf8(notes).unwrap() }
    }

    fn latest(&self, stream: &str) -> Option<String> {
        let shelf = self.shelf.lock().unwrap();
        let found = shelf.streams.iter().find(|summary| summary.stream.as_str() == stream)?;
        found.latest.as_ref().map(EventId::to_string)
    }
}

#[test]
fn json_has_exactly_the_fields_of_the_contract() {
    let mut full = summary("accounts", Some("53990"));
    full.gaps = vec![gap(1, GapState::Partial), gap(2, GapState::Open)];
    full.owner = Some(owner());
    full.last_end = Some("SIGTERM".into());
    let desk = Desk::new(vec![full]);
    let shown: serde_json::Value = serde_json::from_str(&desk.run(&["show", "accounts", "-o", "json"]).out).unwrap();
    let expected = serde_json::json!({
        "stream": "accounts",
        "latest": "53990",
        "lagging": "1",
        "latest_at": "2026-11-30T20:41:06.123456Z",
        "lagging_at": null,
        "window": "15m",
        "gaps": [
            {"number": 1, "state": "partial", "text": "too slow,\x1b[2J dropped 10000 messages", "dropped": 10000,
             "recovered": 7, "removed": 3, "opened_at": "2026-11-30T20:40:06.123456Z",
             "ended_at": "2026-11-30T20:40:36.123456Z", "place": "53000"},
            {"number": 2, "state": "open", "text": "too slow,\x1b[2J dropped 10000 messages", "dropped": 10000,
             "recovered": 7, "removed": 3, "opened_at": "2026-11-30T20:40:06.123456Z",
             "ended_at": null, "place": "53000"},
        ],
        "owner": {"pid": 4711, "host": "here", "since": "2026-11-30T20:39:26.123456Z"},
        "url": "https://h.example/e?token=***",
        "last_end": "SIGTERM",
            "exports": []
    });
    assert_eq!(shown, expected);
    let listed: serde_json::Value = serde_json::from_str(&desk.run(&["list", "-o", "json"]).out).unwrap();
    assert_eq!(listed, serde_json::json!([expected]));
}

#[test]
fn a_table_is_aligned_and_harmless() {
    let mut odd = summary("h.example/v1/events", Some(&format!("{}\u{1b}[2J", "9".repeat(50))));
    odd.gaps = vec![gap(1, GapState::Recovered), gap(2, GapState::Unrecoverable), gap(3, GapState::Recovered)];
    odd.owner = Some(owner());
    let desk = Desk::new(vec![summary("accounts", Some("53990")), odd, summary("new", None)]);
    let table = desk.run(&["list"]).out;
    assert!(!table.contains('\u{1b}'));
    insta::assert_snapshot!(table, @r"
    STREAM               LATEST                                    LAGGING  MOVED                 WINDOW  GAPS                          OWNER
    accounts             53990                                     1        2026-11-30T20:41:06Z  15m     -                             -
    h.example/v1/events  999999999999999999999999999999999999999…  1        2026-11-30T20:41:06Z  15m     1 unrecoverable, 2 recovered  pid 4711 on here
    new                  -                                         -        -                     15m     -                             -
    ");
}

#[test]
fn an_attempt_that_never_connected_is_not_listed() {
    let never = Summary { last_end: Some("no connection".into()), ..summary("never", None) };
    let once = Summary { last_end: Some("no connection".into()), ..summary("once", Some("5")) };
    let table = Desk::new(vec![Summary { lagging: None, ..never }, once]).run(&["list"]).out;
    assert!(table.contains("once") && !table.contains("never"), "{table}");
}

#[test]
fn lost_events_come_first_and_are_named_so() {
    let mut full = summary("accounts", Some("53990"));
    full.gaps = vec![gap(1, GapState::Recovered), gap(2, GapState::Unrecoverable), gap(3, GapState::Open)];
    let shown = Desk::new(vec![full]).run(&["show", "accounts"]).out;
    assert!(!shown.contains('\u{1b}'));
    insta::assert_snapshot!(shown, @r"
    accounts
      latest    53990  (moved 2026-11-30T20:41:06Z)
      lagging   1
      window    15m
      url       https://h.example/e?token=***
      owner     nobody reads it now
      last end  -
      gaps      1 unrecoverable, 1 open, 1 recovered

      LOST: gap 2, unrecoverable: 10000 events announced as dropped, 7 recovered, 3 removed as known
        after 53000, 2026-11-30T20:40:06Z until 2026-11-30T20:40:36Z
        the server said: too slow,\x1b[2J dropped 10000 messages

      gap 3, open: 10000 events announced as dropped, 7 recovered, 3 removed as known
        after 53000, 2026-11-30T20:40:06Z
        the server said: too slow,\x1b[2J dropped 10000 messages

      gap 1, recovered: 10000 events announced as dropped, 7 recovered, 3 removed as known
        after 53000, 2026-11-30T20:40:06Z until 2026-11-30T20:40:36Z
        the server said: too slow,\x1b[2J dropped 10000 messages
    ");
}

#[test]
fn a_missing_database_is_an_empty_one_and_stays_missing() {
    let desk = Desk::empty();
    let listed = desk.run(&["list", "-o", "json"]);
    assert_eq!((listed.result, listed.out.as_str()), (Ok(Exit::Success), "[]\n"));
    let listed = desk.run(&["list"]);
    assert_eq!((listed.result, listed.out.as_str()), (Ok(Exit::Success), ""));
    assert!(listed.notes.starts_with("note: nothing is stored yet"), "{}", listed.notes);
    for args in [&["show", "a"][..], &["reset", "a"], &["export", "a"]] {
        let said = desk.run(args);
        assert_eq!(said.failure().exit, Exit::Usage);
        assert!(said.failure().to_string().contains("nothing is stored yet"), "{}", said.failure());
    }
    assert_eq!(desk.run(&["verify"]).result, Ok(Exit::Success));
    assert!(desk.run(&["export"]).out.contains("\"streams\": []"));
    assert_eq!((*desk.opened.borrow(), desk.db().exists()), (0, false));
}

#[test]
fn an_unknown_stream_names_near_ones() {
    let said = Desk::new(vec![summary("accounts", Some("7"))]).run(&["show", "acounts"]);
    assert_eq!(said.failure().exit, Exit::Usage);
    assert!(said.failure().to_string().contains("did you mean `accounts`?"), "{}", said.failure());
}

#[test]
fn a_url_means_its_default_name() {
    let desk = Desk::new(vec![summary("h.example/e", Some("7"))]);
    assert_eq!(desk.run(&["show", "https://u:p@h.example/e"]).result, Ok(Exit::Success));
}

#[test]
fn set_makes_and_changes() {
    let desk = Desk::new(Vec::new());
    assert_eq!(desk.run(&["set", "a", "--latest", "7"]).result, Ok(Exit::Success));
    assert_eq!(desk.latest("a").as_deref(), Some("7"));
    assert_eq!(desk.run(&["set", "a", "--latest", "9", "--lagging", "8"]).result, Ok(Exit::Success));
    assert_eq!(desk.shelf.lock().unwrap().streams[0].lagging, Some(id("8")));
}

#[test]
fn reset_forgets_or_goes_back() {
    let desk = Desk::new(vec![summary("a", Some("7"))]);
    assert_eq!(desk.run(&["reset", "a", "--to-lagging"]).result, Ok(Exit::Success));
    assert_eq!(desk.latest("a").as_deref(), Some("1"));
    assert_eq!(desk.run(&["reset", "a"]).result, Ok(Exit::Success));
    assert!(desk.shelf.lock().unwrap().streams.is_empty());
    assert_eq!(desk.run(&["reset", "a"]).failure().exit, Exit::Usage);
}

#[test]
fn a_stream_in_use_is_changed_by_force_only() {
    let mut used = summary("a", Some("7"));
    used.owner = Some(owner());
    let desk = Desk::new(vec![used]);
    for args in [&["set", "a", "--latest", "9"][..], &["reset", "a"], &["reset", "a", "--to-lagging"]] {
        let said = desk.run(args);
        assert_eq!(said.failure().exit, Exit::Store);
        let text = said.failure().to_string();
        assert!(text.contains("4711") && text.contains("--force"), "{text}");
        assert_eq!(desk.latest("a").as_deref(), Some("7"));
    }
    assert_eq!(desk.run(&["set", "a", "--latest", "9", "--force"]).result, Ok(Exit::Success));
    assert_eq!(desk.latest("a").as_deref(), Some("9"));
}

#[test]
fn cursors_move_between_machines() {
    let here = Desk::new(vec![summary("a", Some("7")), summary("b", Some("ü#\"")), summary("new", None)]);
    let exported = here.run(&["export"]);
    assert!(exported.notes.contains("`new`"), "{}", exported.notes);
    let value: serde_json::Value = serde_json::from_str(&exported.out).unwrap();
    let first = serde_json::json!({
        "stream": "a", "latest": "7", "lagging": "1", "window": "15m", "url": "https://h.example/e?token=***",
    });
    assert_eq!((&value["version"], &value["streams"][0]), (&serde_json::json!(1), &first));

    let there = Desk::new(vec![summary("b", Some("old"))]);
    let file = there.directory.path().join("cursors.json");
    std::fs::write(&file, &exported.out).unwrap();
    let file = file.to_str().unwrap();
    let refused = there.run(&["import", file]);
    assert_eq!(refused.failure().exit, Exit::Store);
    assert!(refused.failure().to_string().contains("`b`"), "{}", refused.failure());
    assert_eq!(there.latest("a"), None, "nothing is imported if anything is refused");
    assert_eq!(there.run(&["import", file, "--force"]).result, Ok(Exit::Success));
    assert_eq!((there.latest("a").as_deref(), there.latest("b").as_deref()), (Some("7"), Some("ü#\"")));
}

#[test]
fn a_named_export_is_of_what_is_stored() {
    let desk = Desk::new(vec![summary("a", Some("7")), summary("b", Some("8")), summary("new", None)]);
    let out = desk.run(&["export", "b"]).out;
    assert!(out.contains("\"b\"") && !out.contains("\"a\""), "{out}");
    assert_eq!(desk.run(&["export", "c"]).failure().exit, Exit::Usage);
    assert_eq!(desk.run(&["export", "new"]).failure().exit, Exit::Usage);
}

#[test]
fn what_is_no_export_is_refused_whole() {
    let bad = [
        "",
        "[]",
        r#"{"streams":[]}"#,
        r#"{"version":1}"#,
        r#"{"version":1,"streams":[{"stream":"a#b","latest":"1"}]}"#,
        r#"{"version":1,"streams":[{"stream":"a","latest":""}]}"#,
        r#"{"version":1,"streams":[{"stream":"a","latest":"1","window":"15"}]}"#,
        r#"{"version":1,"streams":[{"stream":"a","latest":"1"},{"stream":"a","latest":"2"}]}"#,
    ];
    for text in bad {
        assert!(transfer::parse(text).is_err(), "{text}");
    }
    assert!(transfer::parse(r#"{"version":2,"new":1}"#).unwrap_err().contains("version 2"));
    let minimal = transfer::parse(r#"{"version":1,"streams":[{"stream":"a","latest":"1"}]}"#).unwrap();
    assert_eq!(minimal[0].1.lagging, None);
}

#[test]
fn findings_are_printed_and_fail() {
    let desk = Desk::new(Vec::new());
    assert_eq!(desk.run(&["verify"]).result, Ok(Exit::Success));
    desk.shelf.lock().unwrap().findings = vec!["page 7 is used twice".into(), "row 3 has no stream".into()];
    let said = desk.run(&["verify"]);
    assert_eq!(said.out, "page 7 is used twice\nrow 3 has no stream\n");
    assert_eq!(said.failure().exit, Exit::Store);
}

#[test]
fn the_path_is_printed_alone() {
    let desk = Desk::empty();
    assert_eq!(desk.run(&["path"]).out, format!("{}\n", desk.db().display()));
}

/// A reader that is gone, or a disk that is full.
struct Broken(io::ErrorKind);

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_gone_reader_is_success_and_a_full_disk_is_not() {
    let settings = CheckpointSettings::of_db("x".into());
    let print = |kind| {
        let (open, mut out, mut notes) = (|_: &Path| Err(StoreError::UnknownStream), Broken(kind), Vec::new());
        Context { settings: &settings, open: &open, out: &mut out, notes: &mut notes, now: at(0) }.print("x")
    };
    assert_eq!(print(io::ErrorKind::BrokenPipe), Ok(Exit::Success));
    assert_eq!(print(io::ErrorKind::StorageFull).unwrap_err().exit, Exit::Output);
}
