//! The `ssectl` program: arguments, settings, one command, an exit code.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::error::ErrorKind;
use ssectl::cli::{self, Cli, Command};
use ssectl::commands::{self, checkpoint, completions, demo, follow, probe, replay, serve};
use ssectl::consumer::time::Timestamp;
use ssectl::error::{Exit, Failure};
use ssectl::settings::{
    Arguments, CheckpointSettings, DemoSettings, Environment, ProbeSettings, ServeSettings, Settings,
};

fn main() -> ExitCode {
    let arguments = Arguments::of_process();
    let cli = match cli::read(arguments.typed()) {
        Ok(cli) => cli,
        // Help and versions are what was asked for.
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => return refuse(&error, &arguments),
    };
    match run(cli) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            // When stderr is gone too there is nobody left to tell; the code still says it.
            let _ = writeln!(io::stderr(), "{}", arguments.redact(&failure.to_string()));
            failure.exit.into()
        }
    }
}

/// A command line that cannot be understood: clap repeats words of it, which may hold credentials.
fn refuse(error: &clap::Error, arguments: &Arguments) -> ExitCode {
    let rendered = error.render();
    let text = if io::stderr().is_terminal() { rendered.ansi().to_string() } else { rendered.to_string() };
    let _ = write!(io::stderr(), "{}", arguments.redact(&text));
    if error.kind() == ErrorKind::InvalidSubcommand && text.contains("://") {
        let hint = "hint: `ssectl tail URL` follows a stream from now on, `ssectl resume URL` from where it was left";
        let _ = writeln!(io::stderr(), "{hint}");
    }
    Exit::Usage.into()
}

fn run(cli: Cli) -> Result<Exit, Failure> {
    let env = Environment::of_process();
    match cli.command {
        Command::Checkpoint(args) => checkpoint::run(
            args.clone(),
            checkpoint::Context {
                settings: &CheckpointSettings::new(&args, &env)?,
                open: &commands::open_store,
                out: &mut io::stdout().lock(),
                notes: &mut io::stderr(),
                now: now(),
            },
        ),
        Command::Completions { shell } => match completions::run(shell, &mut io::stdout().lock()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::output(&error)),
            _ => Ok(Exit::Success),
        },
        Command::Tail(args) => follow::run(Settings::of_tail(*args, &env)?),
        Command::Resume(args) => follow::run(Settings::of_resume(*args, &env)?),
        Command::Replay(args) => replay::run(&Settings::of_replay(*args, &env)?),
        Command::Probe(args) => probe::run(&ProbeSettings::new(*args, &env)?),
        Command::Serve(args) => serve::run(ServeSettings::new(*args, &env)?),
        Command::Demo(args) => demo::run(&DemoSettings::new(&args, &env)),
    }
}

fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
}
