//! `ssectl completions`: prints a completion script.

use std::io::{self, Write};

use clap_complete::Shell;

use crate::cli;

/// Writes the completion script of a shell.
///
/// # Errors
/// If `out` does not take it.
pub fn run(shell: Shell, out: &mut dyn Write) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "ssectl", &mut script);
    out.write_all(&script)?;
    out.flush()
}
