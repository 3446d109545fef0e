use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::consumer::ports::{Sink, SinkError};
use crate::consumer::time::Timestamp;

fn place() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("events.ndjson");
    (directory, path)
}

/// The thread of a sink that was dropped lets its lock go a little later.
fn open(path: &Path) -> ExportFile {
    loop {
        match ExportFile::open(path) {
            Err(ExportError::Locked) => std::thread::yield_now(),
            opened => return opened.unwrap(),
        }
    }
}

fn sink(path: &Path) -> ExportSink {
    open(path).into_sink(&Reopen::default(), None).unwrap()
}

#[tokio::test]
async fn a_new_file_is_private_and_grows_and_is_known_again() {
    let (_directory, path) = place();
    let mut last = None;
    for text in ["one\n", "two\n"] {
        let sink = sink(&path);
        assert!(sink.write(text.into()).await.unwrap().is_empty());
        last = sink.sync().await.unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let file = open(&path);
    assert_eq!(Some(file.mark().unwrap()), last);
    file.check(&last.unwrap()).unwrap();
}

#[tokio::test]
async fn the_tail_is_that_of_the_file_whatever_the_batches() {
    let (_directory, path) = place();
    let sink = sink(&path);
    for size in [1, TAIL_BYTES - 1, 3 * TAIL_BYTES, 7] {
        let batch: Vec<u8> = (0..size).map(|n| u8::try_from(n % 251).unwrap()).collect();
        sink.write(batch).await.unwrap();
        let mark = sink.sync().await.unwrap().unwrap();
        let written = fs::read(&path).unwrap();
        assert_eq!(mark.length, written.len() as u64);
        assert_eq!(mark.tail, hash(&written[written.len().saturating_sub(TAIL_BYTES)..]));
    }
}

#[test]
fn a_shorter_or_changed_file_is_seen_and_left_alone() {
    let (_directory, path) = place();
    fs::write(&path, "one\ntwo\n").unwrap();
    let mark = ExportFile::open(&path).unwrap().mark().unwrap();
    fs::write(&path, "one\n").unwrap();
    let shorter = ExportFile::open(&path).unwrap().check(&mark);
    assert!(matches!(shorter, Err(ExportError::Shorter { length: 4, committed: 8 })));
    fs::write(&path, "one\nTWO\nthree\n").unwrap();
    assert!(matches!(ExportFile::open(&path).unwrap().check(&mark), Err(ExportError::Differs)));
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\nTWO\nthree\n");
}

#[test]
fn a_second_writer_and_what_is_no_file_are_refused() {
    let (directory, path) = place();
    let _first = ExportFile::open(&path).unwrap();
    assert!(matches!(ExportFile::open(&path), Err(ExportError::Locked)));
    assert!(matches!(ExportFile::open(directory.path()), Err(ExportError::NotRegular)));
    assert!(matches!(ExportFile::open(Path::new("/dev/null")), Err(ExportError::NotRegular)));
    let missing = ExportFile::open(&directory.path().join("missing/events.ndjson"));
    assert!(matches!(missing, Err(ExportError::Io(error)) if error.kind() == io::ErrorKind::NotFound));
}

#[test]
fn whole_lines_end_before_one_that_was_cut() {
    let (_directory, path) = place();
    fs::write(&path, "one\ntwo\nthr").unwrap();
    let mut lines = Vec::new();
    let length = ExportFile::open(&path).unwrap().whole_lines(|line| lines.push(line.to_vec())).unwrap();
    assert_eq!((length, lines), (8, vec![b"one\n".to_vec(), b"two\n".to_vec()]));
}

#[tokio::test]
async fn after_a_rotation_the_name_is_opened_anew_before_more_is_written() {
    let (directory, path) = place();
    let reopen = Reopen::default();
    let sink = open(&path).into_sink(&reopen, None).unwrap();
    sink.write(b"old\n".to_vec()).await.unwrap();
    assert!(!sink.turn_is_due());
    let away = directory.path().join("events.1");
    fs::rename(&path, &away).unwrap();
    reopen.ask();
    sink.turn_due().await;
    assert_eq!(sink.sync().await.unwrap().unwrap().length, 4);
    let turned = sink.turn().await.unwrap().unwrap();
    assert_eq!((turned.begun.length, turned.done), (0, None));
    assert!(!sink.turn_is_due());
    sink.write(b"new\n".to_vec()).await.unwrap();
    assert_eq!(sink.sync().await.unwrap().unwrap().length, 4);
    assert_eq!(fs::read_to_string(&away).unwrap(), "old\n");
    assert_eq!(fs::read_to_string(&path).unwrap(), "new\n");
    reopen.ask();
    assert_eq!(sink.turn().await.unwrap(), None, "nobody took it away");
    sink.write(b"more\n".to_vec()).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new\nmore\n");
}

#[tokio::test]
async fn another_file_in_its_place_that_holds_something_is_not_written_to() {
    let (directory, path) = place();
    let reopen = Reopen::default();
    let sink = open(&path).into_sink(&reopen, None).unwrap();
    fs::rename(&path, directory.path().join("away")).unwrap();
    fs::write(&path, "somebody's\n").unwrap();
    reopen.ask();
    assert!(matches!(sink.turn().await, Err(SinkError::Failed(_))));
    assert!(matches!(sink.write(b"x\n".to_vec()).await, Err(SinkError::Failed(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's\n");
}

#[tokio::test]
async fn a_packed_file_can_be_cut_where_it_was_synced_and_gives_its_lines_back() {
    for ending in ["zst", "gz"] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(format!("events.ndjson.{ending}"));
        let sink = open(&path).into_sink(&Reopen::default(), None).unwrap();
        let mut marks = Vec::new();
        for part in ["one\ntwo\n", "three\n"] {
            sink.write(part.into()).await.unwrap();
            marks.push(sink.sync().await.unwrap().unwrap());
        }
        assert_eq!(sink.sync().await.unwrap().unwrap(), marks[1], "no frame without records");
        drop(sink);
        let file = open(&path);
        assert_eq!(file.mark().unwrap(), marks[1]);
        let lines = |file: &ExportFile| {
            let mut lines = String::new();
            let whole = file.whole_lines(|line| lines.push_str(std::str::from_utf8(line).unwrap())).unwrap();
            (whole, lines)
        };
        assert_eq!(lines(&file), (marks[1].length, "one\ntwo\nthree\n".to_owned()), "{ending}");
        for cut in (marks[0].length..marks[1].length).rev() {
            file.cut(cut).unwrap();
            assert_eq!(lines(&file), (marks[0].length, "one\ntwo\n".to_owned()), "{ending} cut at {cut}");
        }
        file.check(&marks[0]).unwrap();
    }
}

#[tokio::test]
async fn a_full_file_is_finished_under_its_final_name_and_another_is_begun() {
    let directory = tempfile::tempdir().unwrap();
    let template = directory.path().join("s-{time}.ndjson");
    let rotation = Rotation::new(&template, RotationLimit::Bytes(8)).unwrap().unwrap();
    let part = rotation.begin(Timestamp(0));
    assert_eq!(part.file_name().unwrap(), "s-19700101T000000.000000Z.ndjson.part");
    let sink = open(&part).into_sink(&Reopen::default(), Some(rotation.clone())).unwrap();
    sink.write(b"one\n".to_vec()).await.unwrap();
    assert!(!sink.turn_is_due());
    sink.write(b"two\n".to_vec()).await.unwrap();
    sink.turn_due().await;
    sink.sync().await.unwrap();
    let turned = sink.turn().await.unwrap().unwrap();
    assert_eq!(turned.done.unwrap(), part.to_string_lossy());
    assert_eq!(turned.begun.length, 0);
    sink.write(b"three\n".to_vec()).await.unwrap();
    let (done, parts) = rotation.files().unwrap();
    assert_eq!(done, [finished(&part)]);
    assert_eq!(fs::read_to_string(&done[0]).unwrap(), "one\ntwo\n");
    assert_eq!(parts.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>(), [turned.begun.file]);
    assert_ne!(rotation.begin(Timestamp(0)), part, "a name that was given is not given again");
}

#[tokio::test]
async fn an_old_file_is_finished_once_it_holds_something() {
    let directory = tempfile::tempdir().unwrap();
    let limit = RotationLimit::Age(std::time::Duration::from_secs(3_600));
    let rotation = Rotation::new(&directory.path().join("{time}"), limit).unwrap().unwrap();
    let sink = open(&rotation.begin(Timestamp(0))).into_sink(&Reopen::default(), Some(rotation)).unwrap();
    assert!(!sink.turn_is_due(), "it is empty");
    sink.write(b"one\n".to_vec()).await.unwrap();
    sink.turn_due().await;
    assert!(sink.turn().await.unwrap().is_some());
    assert!(!sink.turn_is_due(), "the next is young");
}

#[test]
fn a_template_holds_the_time_once_in_the_name_of_the_file() {
    let is_one = |text: &str| Rotation::new(Path::new(text), RotationLimit::Bytes(1)).unwrap().is_some();
    assert!(is_one("a/{time}.ndjson"));
    assert!(!is_one("a.ndjson"));
    assert!(!is_one("{time}/a.ndjson"));
    assert!(!is_one("{time}-{time}.ndjson"));
}
