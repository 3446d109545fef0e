//! The program as it is started: exit codes, what goes to stdout, what to stderr.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use assert_cmd::Command;
use tempfile::TempDir;

/// `ssectl` with nothing of this machine's environment.
fn ssectl(home: &TempDir) -> Command {
    let mut command = Command::cargo_bin("ssectl").unwrap();
    command.env_clear().env("HOME", home.path());
    command
}

fn home() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn help_has_the_headings_and_the_exit_codes() {
    let output = ssectl(&home()).args(["resume", "--help"]).output().unwrap();
    assert!(output.status.success());
    let help = String::from_utf8(output.stdout).unwrap();
    let at =
        |heading: &str| help.find(&format!("\n{heading}:\n")).unwrap_or_else(|| panic!("no `{heading}` in\n{help}"));
    assert!(at("Connection") < at("Cursors") && at("Cursors") < at("Output") && at("Output") < at("Ending"));
    let output = ssectl(&home()).arg("--help").output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("130  after SIGINT"));
}

#[test]
fn what_belongs_to_one_command_is_unknown_to_others() {
    let refused = [
        &["tail", "http://h/", "--to", "f"][..],
        &["tail", "http://h/", "--initial", "live"],
        &["tail", "http://h/", "--commit-interval", "1s"],
        &["replay", "http://h/", "--on-drop", "exit"],
        &["replay", "http://h/", "--no-store"],
        &["replay", "http://h/", "http://i/"],
        &["demo", "--on-drop", "exit"],
        &["demo", "-o", "raw"],
        &["checkpoint", "set", "a"],
        &["resume", "http://h/", "--commit-interval", "1s"],
        &["resume", "http://h/", "--rotate", "1h"],
        &["resume", "http://h/", "--rotate", "1h", "--to", "f"],
        &["resume", "http://h/", "--rotate", "1h", "--to", "{time}/f"],
        &["resume", "http://h/", "--rotate", "0s", "--to", "{time}"],
        &["resume", "http://h/", "--rotate", "daily", "--to", "{time}"],
        &["resume", "http://h/", "--to", "{time}"],
        &["tail"],
    ];
    for args in refused {
        let output = ssectl(&home()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && stderr(&output).starts_with("error:"), "{args:?}");
    }
}

#[test]
fn contradictions_and_bad_values_are_usage_errors() {
    let refused = [
        (&["--reconnect", "--no-reconnect"][..], "--no-reconnect"),
        (&["-u", "a:b", "--bearer-env", "T"], "--bearer-env"),
        (&["--db", "x", "--no-store"], "--no-store"),
        (&["-q", "-v"], "--quiet"),
        (&["--window", "15"], "`15s`"),
        (&["--id-from", "a.b"], "`/a/b`"),
        (&["-o", "{dta}"], "`{data}`?"),
        (&["-n", "0"], "0"),
        (&["--max-retries", "many"], "many"),
        (&["--drop-notice", "("], "regular expression"),
        (&["--last-event-id", ""], "empty"),
    ];
    for (args, named) in refused {
        let output = ssectl(&home()).args(["tail", "http://h/"]).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(named), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_database_that_is_not_there_lists_nothing_and_is_not_made() {
    let home = home();
    let output = ssectl(&home).args(["checkpoint", "list", "-o", "json"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"[]\n"[..]));
    let output = ssectl(&home).args(["checkpoint", "show", "accounts"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: cannot find `accounts`"), "{}", stderr(&output));
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn the_path_of_the_database_follows_flag_variable_and_default() {
    let home = home();
    let path = |command: &mut Command| String::from_utf8(command.output().unwrap().stdout).unwrap();
    let default = home.path().join(".local/state/ssectl/ssectl.db");
    assert_eq!(path(ssectl(&home).args(["checkpoint", "path"])), format!("{}\n", default.display()));
    assert_eq!(path(ssectl(&home).env("SSECTL_DB", "/v").args(["checkpoint", "path"])), "/v\n");
    assert_eq!(path(ssectl(&home).env("SSECTL_DB", "/v").args(["checkpoint", "path", "--db", "/f"])), "/f\n");
}

#[test]
fn a_config_file_with_an_unknown_key_stops_every_command() {
    let home = home();
    let config = home.path().join("c.toml");
    std::fs::write(&config, "[defaults]\nwindw = \"1s\"\n").unwrap();
    let output = ssectl(&home).env("SSECTL_CONFIG", &config).args(["checkpoint", "list"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("line 2: unknown key `windw`; did you mean `window`?"), "{}", stderr(&output));
}

#[test]
fn completions_name_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = ssectl(&home()).args(["completions", shell]).output().unwrap();
        assert!(output.status.success());
        assert!(String::from_utf8(output.stdout).unwrap().contains("checkpoint"), "{shell}");
    }
}
