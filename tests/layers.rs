//! The floors hold: which part of the source may name what.
//!
//! `ARCHITECTURE.md` draws the floors; here they are rules that the source is read against. What is compiled for
//! tests alone is free to name anything.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/source.rs"]
mod source;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use source::{Named, Source};

/// Parts of `src/`, each by how the paths of its files begin.
type Places = &'static [&'static str];

/// Who may name what.
struct Rule {
    /// What must not be named: these paths and all below them.
    names: Places,
    whom: Whom,
    /// What to do instead.
    instead: &'static str,
}

enum Whom {
    /// These alone may.
    Only(Places),
    /// These may not.
    Never(Places),
}

use Whom::{Never, Only};

/// The parts at the edge. They meet through the traits of `consumer/ports.rs` alone.
const EDGE: [&str; 5] = ["driver", "http", "store", "output", "server"];

const RULES: &[Rule] = &[
    Rule {
        names: &["clap", "clap_complete"],
        whom: Only(&["cli/", "commands/", "main.rs"]),
        instead: "take the plain structs of `cli/`, or a value of `settings/`",
    },
    Rule { names: &["reqwest"], whom: Only(&["http/"]), instead: "give `http/` a type of its own for it" },
    Rule {
        names: &["rusqlite"],
        whom: Only(&["store/sqlite"]),
        instead: "add what is needed to the trait `Store`, and its contract",
    },
    Rule {
        names: &["println!", "print!", "dbg!", "std::println!", "std::print!", "std::io::stdout", "tokio::io::stdout"],
        whom: Only(&["output/", "commands/", "main.rs"]),
        instead: "give the text to `output/`, or take an `impl Write`: stdout holds records alone",
    },
    Rule {
        names: &["crate::error::Exit", "std::process::ExitCode", "std::process::exit", "std::process::abort"],
        whom: Only(&["error.rs", "main.rs", "commands/"]),
        instead: "return an error of the part's own; a command chooses the exit code for it",
    },
    Rule { names: &["std::env"], whom: Only(&["settings/"]), instead: "make it a field of `settings::Environment`" },
    Rule {
        names: &[
            "tokio",
            "std::io",
            "std::fs",
            "std::net",
            "std::process",
            "std::thread",
            "std::time::SystemTime",
            "std::time::Instant",
        ],
        whom: Never(&["wire/", "consumer/", "backpressure/", "probe/"]),
        instead: "take it as an argument (`now`, a seed), or leave it to the driver: these floors decide, they do not act",
    },
    Rule {
        names: &[
            "crate::http",
            "crate::store",
            "crate::output",
            "crate::driver",
            "crate::server",
            "crate::settings",
            "crate::cli",
            "crate::commands",
            "crate::error",
        ],
        whom: Never(&["wire/", "consumer/", "backpressure/", "probe/"]),
        instead: "arrows point down only: define a trait or a plain type in `consumer/` that the part above uses",
    },
    Rule {
        names: &["crate::settings", "crate::cli", "crate::commands", "crate::error"],
        whom: Never(&["driver/", "http/", "store/", "output/", "server/", "redact.rs"]),
        instead: "arrows point down only: take plain options, and let a command fill them",
    },
    Rule {
        names: &["crate::commands"],
        whom: Never(&["cli/", "settings/", "error.rs"]),
        instead: "arrows point down only: a command calls this part, not the other way round",
    },
];

/// What a file may name against a rule, and why that keeps to its spirit.
struct Exception {
    file: &'static str,
    name: &'static str,
    #[expect(dead_code, reason = "for who reads this list")]
    why: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        file: "consumer/ports.rs",
        name: "std::io::Error",
        why: "a sink's failure is passed on, not looked into",
    },
    Exception {
        file: "settings/environment.rs",
        name: "std::io::stdout",
        why: "asked whether it is a terminal, not written to",
    },
];

/// The only crates and parts that `wire/` may name; it must be of use to a program that has none of the others.
const WIRE_NEEDS: Places = &["memchr", "simdutf8", "std", "crate::wire"];

/// The files of `src/` that are not for tests alone, and what each names.
fn sources() -> Vec<(String, Vec<Named>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let read: Vec<(PathBuf, Source)> = files
        .into_iter()
        .map(|path| {
            let file = path.strip_prefix(&root).unwrap().to_path_buf();
            let text = std::fs::read_to_string(&path).unwrap();
            let source = source::read(&text, &source::module_of(&file));
            (file, source)
        })
        .collect();
    let tests: Vec<_> = read.iter().flat_map(|(_, source)| source.test_modules.clone()).collect();
    let for_tests = |file: &Path| tests.iter().any(|test| source::module_of(file).starts_with(test));
    let real = read.into_iter().filter(|(file, _)| !for_tests(file));
    real.map(|(file, source)| (file.to_string_lossy().replace('\\', "/"), source.named)).collect()
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
}

/// Whether a path is this one or below it. What `*` brings may be anything there.
fn is_under(path: &[String], name: &str) -> bool {
    let name: Vec<_> = name.split("::").collect();
    let (path, glob) = match path.split_last() {
        Some((last, before)) if last == "*" => (before, true),
        _ => (path, false),
    };
    let both = path.len().min(name.len());
    path[..both] == name[..both] && (path.len() >= name.len() || glob)
}

fn is_in(file: &str, places: &[&str]) -> bool {
    places.iter().any(|place| file.starts_with(place))
}

fn is_excepted(file: &str, named: &Named) -> bool {
    EXCEPTIONS.iter().any(|exception| exception.file == file && is_under(&named.path, exception.name))
}

/// Fails with all that breaks a rule.
fn refuse(breaches: &BTreeSet<String>) {
    let mut message = String::new();
    for breach in breaches {
        let _ = writeln!(message, "  {breach}");
    }
    assert!(message.is_empty(), "the floors are broken (see `tests/layers.rs`):\n{message}");
}

fn breach(file: &str, named: &Named, instead: &str) -> String {
    format!("src/{file}:{}: `{}` is not for this part; {instead}", named.line, named.path.join("::"))
}

#[test]
fn each_part_names_only_what_it_may() {
    let mut breaches = BTreeSet::new();
    for (file, named) in sources() {
        for rule in RULES {
            let forbidden = match rule.whom {
                Only(places) => !is_in(&file, places),
                Never(places) => is_in(&file, places),
            };
            let hits = named.iter().filter(|named| rule.names.iter().any(|name| is_under(&named.path, name)));
            let hits = hits.filter(|named| forbidden && !is_excepted(&file, named));
            breaches.extend(hits.map(|named| breach(&file, named, rule.instead)));
        }
    }
    refuse(&breaches);
}

#[test]
fn the_parts_at_the_edge_do_not_know_each_other() {
    let mut breaches = BTreeSet::new();
    for (file, named) in sources() {
        let Some(own) = EDGE.iter().find(|part| file.starts_with(&format!("{part}/"))) else { continue };
        for other in EDGE.iter().filter(|other| *other != own) {
            let hits = named.iter().filter(|named| is_under(&named.path, &format!("crate::{other}")));
            let instead = "define a trait in `consumer/ports.rs`, and let a command plug the two together";
            breaches.extend(hits.map(|named| breach(&file, named, instead)));
        }
    }
    refuse(&breaches);
}

#[test]
fn the_decoder_needs_memchr_and_simdutf8_and_nothing_else() {
    let mut breaches = BTreeSet::new();
    for (file, named) in sources().iter().filter(|(file, _)| file.starts_with("wire/")) {
        // A path that starts at a type or a primitive type is of no other crate.
        let of_crate = |named: &&Named| {
            let first = named.path[0].as_str();
            let primitive = ["u8", "u16", "u32", "u64", "u128", "usize", "char", "str"].contains(&first);
            first.starts_with(char::is_lowercase) && !primitive && named.path.len() > 1
        };
        let hits =
            named.iter().filter(of_crate).filter(|named| !WIRE_NEEDS.iter().any(|name| is_under(&named.path, name)));
        breaches.extend(hits.map(|named| breach(file, named, "write it here, or do it in `consumer/`")));
    }
    refuse(&breaches);
}

/// A rule that nothing could break, or an exception for nothing, says that this test no longer looks where it should.
#[test]
fn every_rule_and_exception_still_speaks_of_something() {
    let sources = sources();
    let names = |file: &str, name: &str| {
        let of_place = sources.iter().filter(|(path, _)| path.starts_with(file));
        of_place.flat_map(|(_, named)| named).any(|named| is_under(&named.path, name))
    };
    for rule in RULES {
        if let Only(places) = rule.whom {
            assert!(
                places.iter().any(|place| rule.names.iter().any(|name| names(place, name))),
                "nobody names {:?} at all: the rule is old, or the reader does not see it",
                rule.names
            );
        }
        let (Only(places) | Never(places)) = rule.whom;
        for place in places {
            assert!(sources.iter().any(|(file, _)| file.starts_with(place)), "there is no `src/{place}` any more");
        }
    }
    for exception in EXCEPTIONS {
        assert!(names(exception.file, exception.name), "`{}` does not need its exception any more", exception.file);
    }
}

mod reader {
    use super::*;

    fn named(text: &str) -> Vec<String> {
        let module = source::module_of(Path::new("http/client.rs"));
        source::read(text, &module).named.iter().map(|named| named.path.join("::")).collect()
    }

    #[test]
    fn imports_are_spelled_out() {
        assert_eq!(
            named("pub use std::{io::{self, Write as _}, fmt};\nuse super::super::store::*;"),
            ["std::io", "std::io::Write", "std::fmt", "crate::store::*"]
        );
        assert_eq!(named("use memchr::memchr;\nfn f() { memchr::memchr2(); }"), ["memchr::memchr", "memchr::memchr2"]);
    }

    #[test]
    fn short_names_are_made_long() {
        assert_eq!(named("use std::io;\nfn f() { io::stdout().lock() }"), ["std::io", "std::io::stdout"]);
        assert_eq!(named("use std as s;\nuse s::env;"), ["std", "std::env"]);
        assert_eq!(
            named("mod inner;\nfn f() -> inner::T { self::g::<u8>(); ssectl::cli::x() }"),
            ["crate::http::client::inner::T", "crate::http::client::g", "crate::cli::x"]
        );
    }

    #[test]
    fn macros_and_attributes_count() {
        assert_eq!(
            named("#[derive(serde::Serialize)]\nfn f() { println!(); if a != (b) {} std::print!(\"\") }"),
            ["serde::Serialize", "println!", "std::print!"]
        );
    }

    #[test]
    fn comments_and_literals_do_not_count() {
        let text = r###"
            //! std::env
            /* a /* std::env */ std::env */
            const A: &str = "std::env \" std::env"; const B: &[u8] = br#"std::env " std::env"#;
            fn f<'a>(c: &'a str) -> char { '"'; '\''; b'"'; 'x' } // "
            type T = std::fmt::Error;
        "###;
        assert_eq!(named(text), ["std::fmt::Error"]);
    }

    #[test]
    fn what_is_for_tests_alone_does_not_count() {
        let text = "
            struct S { #[cfg(test)] scans: std::env::A, kept: std::fs::A, #[cfg(test)] last: std::env::B }
            #[cfg(test)] mod reference;
            #[cfg(test)] #[expect(x, reason = \"y\")] mod inline { use std::env; fn f() { g(); } }
            fn f() { #[cfg(test)] { std::env::c(); } std::fs::c(); }
            #[cfg(test)] use std::env::{a, b};
            use std::fs;
        ";
        assert_eq!(named(text), ["std::fs::A", "std::fs::c", "std::fs"]);
        let source = source::read(text, &source::module_of(Path::new("wire/mod.rs")));
        assert_eq!(source.test_modules, [["crate", "wire", "reference"]]);
    }

    #[test]
    fn names_are_compared_by_segments() {
        let is_under = |path: &str, name| is_under(&path.split("::").map(str::to_owned).collect::<Vec<_>>(), name);
        assert!(is_under("std::io::stdout", "std::io::stdout") && is_under("std::io::stdout", "std::io"));
        assert!(
            is_under("std::time::*", "std::time::Instant") && is_under("std::time::Instant::*", "std::time::Instant")
        );
        assert!(!is_under("std::time", "std::time::Instant") && !is_under("std::ioerr", "std::io"));
        assert!(!is_under("std::fmt::*", "std::time::Instant"));
    }
}
