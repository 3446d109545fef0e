//! `docs/behaviour.md` names a test for every behaviour. They must be there.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::Path;

/// The names of all tests, and of what stands like one (`rule_1_…: "…"` in the histories).
fn tests_under(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests_under(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let mut is_test = false;
            for line in text.lines().map(str::trim) {
                is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
                let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
                match (function, line.split_once(": \"")) {
                    (Some(rest), _) if is_test => {
                        names.insert(rest.split('(').next().unwrap().to_owned());
                        is_test = false;
                    }
                    (None, Some((name, _))) if name.starts_with("rule_") => {
                        names.insert(name.to_owned());
                    }
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn every_test_that_is_named_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut known = BTreeSet::new();
    tests_under(&root.join("src"), &mut known);
    tests_under(&root.join("tests"), &mut known);
    let text = std::fs::read_to_string(root.join("docs/behaviour.md")).unwrap();
    let mut named = 0;
    let text = text.split("\n## Figures").next().unwrap();
    for line in text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---")) {
        let last = line.trim_end_matches([' ', '|']).rsplit(" | ").next().unwrap();
        if last == "test" {
            continue;
        }
        let tests: Vec<&str> = last.split(", ").map(|name| name.trim_matches('`')).collect();
        for test in &tests {
            assert!(known.contains(*test), "`{test}` is no test: {line}");
        }
        named += tests.len();
    }
    assert!(named > 100, "the table was read: {named}");
}
