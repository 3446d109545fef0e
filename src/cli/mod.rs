//! The command line: what can be typed, and the help for it. The doc comments of the fields are the help texts.
//!
//! Responsible for the grammar only. What the words mean together with the config file and the environment is
//! decided in [`crate::settings`].

pub mod checkpoint;
mod choices;
pub mod run;
pub mod serve;
pub mod stream;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

use self::checkpoint::CheckpointArgs;
use self::run::{BoundArgs, ConfigArgs, DbArgs, NoStoreArgs, OutputArgs};
use self::serve::ServeArgs;
use self::stream::{ConnectionArgs, CursorArgs, DropArgs};
use crate::output::export::RotationLimit;
use crate::settings::parse;
use crate::settings::values::{ColorChoice, Initial, ListFormat, OnDrop};

/// Tail, resume and replay Server-Sent Events streams, and never lose your place
///
/// STREAM is a URL, or the name of a stream in the config file. Two cursors are kept of each stream: `latest`, up to
/// which nothing is known to be missing, and `lagging`, a replay window older. After a lost connection a stream goes on
/// from `latest`; after the server said that it discarded events, it is read again from `lagging`.
///
/// Durations are written `500ms`, `0.1s`, `15m`, `2h`, `7d`; sizes `64KiB`, `8MiB`, `2k`.
#[derive(Parser, Clone, Debug)]
#[command(name = "ssectl", version, after_long_help = EXIT_CODES)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// What `--help` says of exit codes.
const EXIT_CODES: &str = "\
Exit codes:
  0    ended as asked, or the reader of the pipe is gone
  1    any other failure
  2    usage: the command line or the config file
  3    the server refused: status, content type, event too large
  4    no connection, or the retries are used up
  5    events are known to be lost
  6    the store or the export cannot be used: busy, fenced off, corrupt
  7    the output failed: disk full
  130  after SIGINT, 143 after SIGTERM, with everything delivered so far stored";

/// The commands.
#[derive(Subcommand, Clone, Debug)]
pub enum Command {
    /// Follow streams from now
    ///
    /// After a lost connection it goes on where it was. Where a script reads the same stream with `resume`, the stored
    /// cursor stays the script's, and `tail` keeps its own in memory.
    Tail(Box<TailArgs>),
    /// Continue streams from their stored cursors, for scripts and exports
    ///
    /// Run it again, after any end whatever, and it goes on after the last event that was delivered. With `--to FILE`
    /// every event is in FILE once.
    Resume(Box<ResumeArgs>),
    /// Read the replay window of a stream again; moves no cursor
    ///
    /// Reads from `lagging` to where `latest` was at the start, or until 10s pass without an event.
    Replay(Box<ReplayArgs>),
    /// List, show, change and move stored cursors
    Checkpoint(CheckpointArgs),
    /// Diagnose a stream, and how its server treats a slow reader
    ///
    /// Reads without storing anything, and reports findings, each with a stable code, its evidence and a hint (see
    /// docs/probe.md). Opens several connections: one that keeps up, one that reads slowly beside it, and short ones that
    /// try cursors. A method other than GET is sent once, and only its one response is looked at.
    Probe(Box<ProbeArgs>),
    /// Serve events to clients of any speed, with a policy for each type
    ///
    /// Prints the URL of the stream as the first line. A client that keeps up gets everything. One that does not costs a
    /// bounded amount, and what gives way is what --policy says. Besides the stream there are `/snapshot` (the current
    /// state as JSON), `/metrics` (for Prometheus) and `/` (a page that shows it all).
    Serve(Box<ServeArgs>),
    /// Show the whole story in ten seconds, on loopback
    Demo(DemoArgs),
    /// Print a completion script
    ///
    /// For example: ssectl completions bash > ~/.local/share/bash-completion/completions/ssectl
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// `ssectl tail`.
#[derive(Args, Clone, Debug)]
pub struct TailArgs {
    /// What `resume` has too.
    #[command(flatten)]
    pub follow: FollowArgs,
    /// What gives way while the output is behind: TYPE=coalesce:/POINTER or TYPE=drop (repeatable)
    ///
    /// For an output that only wants the newest. It is behind once something has waited 100ms for it, until it has caught
    /// up; meanwhile only the newest event of each key is written (the key being the value in the data to which the
    /// pointer leads; an event without one is never replaced), or none of the type. Cursors move on all the same. TYPE `*`
    /// is every other type; what has no policy waits, as everything does without one.
    #[arg(long, value_name = "TYPE=KIND", help_heading = "Output")]
    pub policy: Vec<String>,
}

/// How streams are followed.
#[derive(Args, Clone, Debug)]
pub struct FollowArgs {
    /// URLs, or names from the config file
    #[arg(value_name = "STREAM", required = true)]
    pub streams: Vec<String>,
    /// Name the stream of a URL [default: host, port, path and query]
    #[arg(long, value_name = "NAME")]
    pub stream: Option<String>,
    /// Which config file.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// How to connect.
    #[command(flatten)]
    pub connection: ConnectionArgs,
    /// Which database.
    #[command(flatten)]
    pub db: DbArgs,
    /// Or none.
    #[command(flatten)]
    pub no_store: NoStoreArgs,
    /// What a drop notice is.
    #[command(flatten)]
    pub drops: DropArgs,
    /// How cursors are kept.
    #[command(flatten)]
    pub cursors: CursorArgs,
    /// What is written.
    #[command(flatten)]
    pub output: OutputArgs,
    /// When it ends.
    #[command(flatten)]
    pub bounds: BoundArgs,
}

/// `ssectl resume`.
#[derive(Args, Clone, Debug)]
pub struct ResumeArgs {
    /// What `tail` has too.
    #[command(flatten)]
    pub follow: FollowArgs,
    /// Where to start when nothing is stored: live, or after an id [default: live]
    #[arg(long, value_name = "live|id:ID", value_parser = parse::initial, help_heading = "Cursors")]
    pub initial: Option<Initial>,
    /// Append records to this file, each event once whatever happens, instead of to stdout
    ///
    /// json, unless --output says otherwise; a format without ids is refused. Several STREAMs need `{stream}` in the name.
    /// A name that ends in `.zst` or `.gz` is compressed. SIGHUP opens the file anew (logrotate).
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub to: Option<PathBuf>,
    /// How often what was written to FILE is made durable [default: 1s, or after 8MiB]
    #[arg(long, value_name = "DUR", value_parser = parse::duration, requires = "to", help_heading = "Output")]
    pub commit_interval: Option<Duration>,
    /// Finish the file at this size or age and begin another; its name needs `{time}`
    ///
    /// As in --to '{stream}-{time}.ndjson'. A file ends in `.part` until it is finished, durable and never written to
    /// again. SIGHUP finishes it at once.
    #[arg(long, value_name = "SIZE|DUR", value_parser = parse::rotation, requires = "to", help_heading = "Output")]
    pub rotate: Option<RotationLimit>,
}

/// `ssectl replay`.
#[derive(Args, Clone, Debug)]
pub struct ReplayArgs {
    /// A URL, or a name from the config file
    #[arg(value_name = "STREAM")]
    pub target: String,
    /// Name the stream of a URL [default: host, port, path and query]
    #[arg(long, value_name = "NAME")]
    pub stream: Option<String>,
    /// Which config file.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// How to connect.
    #[command(flatten)]
    pub connection: ConnectionArgs,
    /// Which database.
    #[command(flatten)]
    pub db: DbArgs,
    /// What a drop notice is.
    #[command(flatten)]
    pub drops: DropArgs,
    /// What is written.
    #[command(flatten)]
    pub output: OutputArgs,
    /// When it ends.
    #[command(flatten)]
    pub bounds: BoundArgs,
}

/// `ssectl probe`.
#[derive(Args, Clone, Debug)]
pub struct ProbeArgs {
    /// A URL, or a name from the config file
    #[arg(value_name = "STREAM")]
    pub target: String,
    /// Which config file.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// How to connect.
    #[command(flatten)]
    pub connection: ConnectionArgs,
    /// How long the stream is watched [default: 30s]
    ///
    /// The slow reader is slow for most of it. Cursors are tried afterwards, which takes a few seconds more.
    #[arg(long = "for", value_name = "DUR", value_parser = parse::duration, help_heading = "Probing")]
    pub for_: Option<Duration>,
    /// How many bytes a second the slow reader takes [default: 2k, or a quarter of what comes if that is less]
    #[arg(long, value_name = "SIZE", value_parser = parse::size, help_heading = "Probing")]
    pub limit_rate: Option<u64>,
    /// Let the slow reader take nothing at all for this long, and then everything
    #[arg(long, value_name = "DUR", value_parser = parse::duration, conflicts_with = "limit_rate", help_heading = "Probing")]
    pub slow_for: Option<Duration>,
    /// pretty or json [default: pretty on a terminal, else json]
    #[arg(short, long, value_enum, value_name = "FORMAT", hide_possible_values = true, help_heading = "Output")]
    pub output: Option<ListFormat>,
    /// Write the report to this file too, as one HTML page
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Say nothing on stderr but warnings and errors
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]
    #[arg(long, value_name = "WHEN", value_enum, hide_possible_values = true, help_heading = "Output")]
    pub color: Option<ColorChoice>,
}

/// `ssectl demo`.
#[derive(Args, Clone, Debug)]
pub struct DemoArgs {
    /// How to tell it: the story, or its figures as one JSON object [default: pretty]
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    pub output: Option<ListFormat>,
    /// What to do at the drop notice
    #[arg(long, value_name = "ACTION", value_enum, default_value = "recover")]
    pub on_drop: DemoOnDrop,
}

/// What the demo does at its drop notice.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemoOnDrop {
    /// Read the window again and deliver what is missing
    Recover,
    /// Go on as other clients do, and lose the events
    Warn,
}

impl From<DemoOnDrop> for OnDrop {
    fn from(choice: DemoOnDrop) -> Self {
        match choice {
            DemoOnDrop::Recover => Self::Recover,
            DemoOnDrop::Warn => Self::Warn,
        }
    }
}

/// The whole grammar, for completions and the reference.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// Says of an option that the command has not which commands have it, rather than what is spelt alike.
fn with_tip(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return error };
    let Some(option) = word.strip_prefix("--").filter(|_| error.kind() == ErrorKind::UnknownArgument) else {
        return error;
    };
    let has_it = |command: &&clap::Command| command.get_arguments().any(|known| known.get_long() == Some(option));
    let grammar = command();
    let known: Vec<_> =
        grammar.get_subcommands().filter(has_it).map(|command| format!("`{}`", command.get_name())).collect();
    if !known.is_empty() {
        let tip = format!("`{word}` is an option of {}", known.join(", "));
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Reads a command line, the name of the program first.
///
/// # Errors
/// What is wrong with it, or the help that was asked for.
pub fn read(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let matches = command().try_get_matches_from(arguments).map_err(with_tip)?;
    if let Some(serve) = matches.subcommand_matches("serve")
        && !serve.contains_id("relay")
        && ["ConnectionArgs", "DropArgs"].iter().any(|group| serve.contains_id(group))
    {
        let why = "`serve` connects nowhere without `--relay STREAM`, so options of a connection say nothing";
        return Err(command().error(ErrorKind::ArgumentConflict, why));
    }
    Cli::from_arg_matches(&matches)
}
