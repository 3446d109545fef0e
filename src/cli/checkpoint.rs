//! The arguments of `checkpoint`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::consumer::id::EventId;
use crate::settings::parse;
use crate::settings::values::ListFormat;

/// `ssectl checkpoint`.
#[derive(Args, Clone, Debug)]
pub struct CheckpointArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: CheckpointAction,

    /// The database with the cursors [default: $SSECTL_DB, or $XDG_STATE_HOME/ssectl/ssectl.db]
    #[arg(long, value_name = "PATH", global = true)]
    pub db: Option<PathBuf>,

    /// Read this config file [default: $SSECTL_CONFIG, or $XDG_CONFIG_HOME/ssectl/config.toml]
    #[arg(long, value_name = "PATH", global = true)]
    pub config: Option<PathBuf>,
}

/// What `checkpoint` does.
#[derive(Subcommand, Clone, Debug)]
pub enum CheckpointAction {
    /// List all stored streams
    List {
        /// How to print it
        #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "pretty")]
        output: ListFormat,
    },
    /// Show all that is known of one stream, with its gaps
    Show {
        /// The stream's name, or its URL
        stream: String,
        /// How to print it
        #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "pretty")]
        output: ListFormat,
    },
    /// Set a stream's cursors by hand
    ///
    /// Begins a new record of the stream: marks and keys go, and open gaps are abandoned. Refused (exit code 6) while
    /// a process reads the stream.
    Set {
        /// The stream's name, or its URL
        stream: String,
        /// The id after which the next `resume` goes on
        #[arg(long, value_name = "ID", value_parser = parse::event_id)]
        latest: EventId,
        /// The id from which a recovery would read [default: the same]
        #[arg(long, value_name = "ID", value_parser = parse::event_id)]
        lagging: Option<EventId>,
        /// Do it although a process reads the stream, and fence that process off
        #[arg(long)]
        force: bool,
    },
    /// Forget a stream, or go back to the start of its replay window
    ///
    /// Refused (exit code 6) while a process reads the stream. An export FILE that holds records of the stream must be
    /// moved away before the next run with `--to`.
    Reset {
        /// The stream's name, or its URL
        stream: String,
        /// Keep the stream and set `latest` back to `lagging`
        #[arg(long)]
        to_lagging: bool,
        /// Do it although a process reads the stream, and fence that process off
        #[arg(long)]
        force: bool,
    },
    /// Print cursors as JSON, to be imported on another machine
    Export {
        /// Names or URLs of streams [default: all]
        stream: Vec<String>,
    },
    /// Store cursors that `export` printed
    ///
    /// Nothing is imported if one of the streams is stored already (exit code 6).
    Import {
        /// The file; `-` reads stdin
        file: PathBuf,
        /// Begin new records of streams that are stored already, and fence off processes that read them
        #[arg(long)]
        force: bool,
    },
    /// Check the database; exit code 6 if anything is not as it must be
    Verify,
    /// Print the path of the database
    Path,
}
