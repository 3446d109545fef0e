use super::parse::{policy, speed, synthetic};
use super::*;
use clap::Parser;

use crate::cli::{Cli, Command};

fn settings(arguments: &[&str]) -> Result<ServeSettings, Failure> {
    let arguments = ["ssectl", "serve"].iter().chain(arguments);
    let Command::Serve(args) = Cli::try_parse_from(arguments).unwrap().command else { panic!("not serve") };
    ServeSettings::new(*args, &Environment::default())
}

#[test]
fn a_synthetic_spec_is_read() {
    let made_up = synthetic("price:rate=200/s,keys=8,size=120; notice:rate=30/m,count=5;plain").unwrap().0;
    let of = |event: &str, rate, keys, size, count| SyntheticType { event: event.to_owned(), rate, keys, size, count };
    assert_eq!(
        made_up,
        [of("price", 200.0, 8, 120, None), of("notice", 0.5, 0, 0, Some(5)), of("plain", 1.0, 0, 0, None)]
    );
    for wrong in ["", ":rate=1/s", "a:rate=0/s", "a:rate=x", "a:rate=1/d", "a:colour=red", "a:keys", "a:keys=-1"] {
        assert!(synthetic(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn speeds_and_policies_are_read() {
    assert_eq!(speed("max"), Ok(Speed::Max));
    assert_eq!(speed("10x"), Ok(Speed::Times(10.0)));
    assert!(["", "x", "0x", "-1x", "infx", "10"].iter().all(|text| speed(text).is_err()));
    assert_eq!(policy("a=drop"), Ok(PolicySource::Rule("a=drop".into())));
    assert_eq!(policy("rules.toml"), Ok(PolicySource::File("rules.toml".into())));
}

#[test]
fn a_source_is_needed_and_a_remote_address_must_be_wanted() {
    assert!(settings(&[]).unwrap_err().hint.is_some());
    let refused = settings(&["-", "--listen", "0.0.0.0:0"]).unwrap_err();
    assert!(refused.to_string().contains("--allow-remote"), "{refused}");
    assert!(settings(&["-", "--listen", "0.0.0.0:0", "--allow-remote"]).is_ok());
    assert!(settings(&["-", "--listen", "[::1]:0"]).is_ok());
}

#[test]
fn rules_come_from_flags_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.toml");
    std::fs::write(
        &file,
        "queue-bytes = \"64KiB\"\ntogether = [[\"price\", \"closed\"]]\n[types]\nprice = \"coalesce:/sym\"\n\"*\" = \"drop\"\n",
    )
    .unwrap();
    let read = settings(&["-", "--policy", file.to_str().unwrap(), "--policy", "trade=buffer:7"]).unwrap();
    let policies = read.server.policies;
    assert_eq!(policies.queue_bytes_max(), 65_536);
    let rules: Vec<_> =
        policies.rules().map(|(rule, event, kind)| (event, kind.word(), policies.is_together(rule))).collect();
    assert_eq!(rules, [("price", "coalesce", true), ("trade", "buffer", false), ("*", "drop", true)]);
    std::fs::write(&file, "[types]\nprice = \"coalesced\"\n").unwrap();
    let refused = settings(&["-", "--policy", file.to_str().unwrap()]).unwrap_err();
    assert!(refused.to_string().contains("no policy"), "{refused}");
    std::fs::write(&file, "tipes = 1\n").unwrap();
    assert!(settings(&["-", "--policy", file.to_str().unwrap()]).is_err());
    assert!(settings(&["-", "--policy", "nowhere.toml"]).is_err());
}

#[test]
fn only_a_file_has_a_speed_and_waits_for_a_client() {
    assert!(settings(&["-", "--speed", "10x"]).is_err());
    assert_eq!(settings(&["recorded.sse"]).unwrap().wait, 1);
    assert_eq!(settings(&["-"]).unwrap().wait, 0);
    assert_eq!(settings(&["--synthetic", "a"]).unwrap().server.first_id, Some(1));
    assert_eq!(settings(&["-", "--number"]).unwrap().server.first_id, Some(1));
    assert_eq!(settings(&["-"]).unwrap().server.first_id, None);
}
