//! What is made from the command line's grammar and committed: completions, the reference, the man page.
//!
//! Each must be what the grammar gives now. To make them anew: `SSECTL_BLESS=1 cargo test --test cli_reference`

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write;
use std::path::Path;

use clap::Command;
use clap_complete::Shell;

/// The width of help in the reference: fixed, so that no terminal decides it.
const HELP_COLUMNS: usize = 100;

/// Fails unless the committed file has these contents; makes it so if asked to.
fn fresh(path: &str, contents: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("SSECTL_BLESS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, contents).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == contents,
        "`{path}` is not what the command line gives now; make it anew with\n    \
         SSECTL_BLESS=1 cargo test --test cli_reference"
    );
}

#[test]
fn completions_are_fresh() {
    let shells = [
        (Shell::Bash, "ssectl.bash"),
        (Shell::Zsh, "_ssectl"),
        (Shell::Fish, "ssectl.fish"),
        (Shell::PowerShell, "_ssectl.ps1"),
        (Shell::Elvish, "ssectl.elv"),
    ];
    for (shell, file) in shells {
        let mut script = Vec::new();
        ssectl::commands::completions::run(shell, &mut script).unwrap();
        fresh(&format!("completions/{file}"), &String::from_utf8(script).unwrap());
    }
}

#[test]
fn the_reference_is_fresh() {
    let mut text = String::from(
        "# Command line reference\n\n\
         The help of each command, as `ssectl COMMAND --help` prints it. Made from the source: see\n\
         `tests/cli_reference.rs`.\n",
    );
    let mut command = ssectl::cli::command().term_width(HELP_COLUMNS);
    command.build();
    append_help(&mut text, &command, "");
    fresh("docs/cli.md", &text);
}

/// The help of a command, then that of its subcommands.
fn append_help(text: &mut String, command: &Command, above: &str) {
    let name = format!("{above}{}", command.get_name());
    let help = command.clone().render_long_help().to_string();
    let help: Vec<_> = help.lines().map(str::trim_end).collect();
    let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", help.join("\n").trim_end());
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        append_help(text, subcommand, &format!("{name} "));
    }
}

#[test]
fn the_man_page_is_fresh() {
    let mut command = ssectl::cli::command();
    command.build();
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone()).date("-").source("ssectl").manual("User Commands");
    man.render_title(&mut page).unwrap();
    man.render_name_section(&mut page).unwrap();
    man.render_synopsis_section(&mut page).unwrap();
    man.render_description_section(&mut page).unwrap();
    append_man(&mut page, &command, "ssectl");
    man.render_extra_section(&mut page).unwrap();
    fresh("docs/ssectl.1", &String::from_utf8(page).unwrap());
}

/// A section for each command: all are in one page.
fn append_man(page: &mut Vec<u8>, command: &Command, above: &str) {
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        let name = format!("{above} {}", subcommand.get_name());
        page.extend_from_slice(format!(".SH \"{}\"\n", name.to_uppercase()).as_bytes());
        let man = clap_mangen::Man::new(subcommand.clone());
        let mut sections = Vec::new();
        man.render_synopsis_section(&mut sections).unwrap();
        man.render_description_section(&mut sections).unwrap();
        man.render_options_section(&mut sections).unwrap();
        let sections = String::from_utf8(sections).unwrap();
        page.extend_from_slice(sections.replace(".SH ", ".SS ").as_bytes());
        append_man(page, subcommand, &name);
    }
}

#[test]
fn the_grammar_holds_together() {
    ssectl::cli::command().debug_assert();
}
