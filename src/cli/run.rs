//! The options of a run as a whole: where streams are stored, what is written, when it ends.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};
use regex::Regex;

use crate::consumer::id::EventId;
use crate::settings::parse;
use crate::settings::values::{ColorChoice, OutputFormat};

/// Which config file is read.
#[derive(Args, Clone, Debug, Default)]
pub struct ConfigArgs {
    /// Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]
    #[arg(long, value_name = "PATH")]
    pub config: Option<PathBuf>,
}

/// Which database is used.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cursors")]
pub struct DbArgs {
    /// Keep cursors in this file [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]
    ///
    /// It is created with mode 0600.
    #[arg(long, value_name = "PATH")]
    pub db: Option<PathBuf>,
}

/// Whether a database is used.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cursors")]
pub struct NoStoreArgs {
    /// Keep everything in memory, and forget it at the end
    #[arg(long, conflicts_with = "db", action = ArgAction::SetTrue)]
    pub no_store: bool,
}

/// What is written, and how.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// pretty, json, data, raw or a template [default: pretty on a terminal, else json]
    ///
    /// `json` writes one object a line, `data` the data alone, `raw` SSE again. A template holds at least one of `{id}`,
    /// `{event}`, `{data}`, `{stream}` and `{time}`, and may hold `\n` and `\t`, as in '{id}\t{data}'. Each event ends with
    /// a line end anyway; `{{` and `}}` stand for braces, `\\` for a backslash.
    #[arg(short, long, value_name = "FORMAT", value_parser = parse::output_format)]
    pub output: Option<OutputFormat>,

    /// How far the network may run ahead of a slow output, in memory [default: 8MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub read_ahead: Option<u64>,

    /// Write comments too
    #[arg(long)]
    pub comments: bool,

    /// Write notices of ssectl's own too: connections, drop notices, recoveries
    #[arg(long)]
    pub notices: bool,

    /// Embed data as a JSON value where it is one
    #[arg(long)]
    pub json_data: bool,

    /// Write only events of this type (repeatable); cursors move all the same
    #[arg(short, long, value_name = "TYPE")]
    pub event: Vec<String>,

    /// Write only events whose data matches (repeatable); cursors move all the same
    #[arg(long, value_name = "REGEX", value_parser = parse::regex)]
    pub grep: Vec<Regex>,

    /// Print a summary on stderr at the end
    #[arg(long)]
    pub stats: bool,

    /// Say nothing on stderr but warnings and errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Say more on stderr, such as which position was chosen and why; `-vv` says still more
    #[arg(short, long, action = ArgAction::Count)]
    pub verbose: u8,

    /// When to use colour: auto, always or never [default: auto, and NO_COLOR is heeded]
    #[arg(long, value_name = "WHEN", value_enum, hide_possible_values = true)]
    pub color: Option<ColorChoice>,
}

/// What ends a run that would go on for ever.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Ending")]
pub struct BoundArgs {
    /// End after this many events were written
    #[arg(short = 'n', long, value_name = "N", value_parser = parse::count)]
    pub count: Option<u64>,

    /// End after this time
    #[arg(long = "for", value_name = "DUR", value_parser = parse::duration)]
    pub for_: Option<Duration>,

    /// End with the event of this id, which is still written (one STREAM only)
    #[arg(long, value_name = "ID", value_parser = parse::event_id)]
    pub until_id: Option<EventId>,

    /// End with the event whose data is this text, such as `[DONE]`
    #[arg(long, value_name = "TEXT")]
    pub until_data: Option<String>,

    /// End when no event came for this time while connected, and no recovery waits
    ///
    /// Comments do not count as events; duplicates that a recovery removes do.
    #[arg(long, value_name = "DUR", value_parser = parse::duration)]
    pub until_idle: Option<Duration>,
}
