//! `ssectl serve`: where events come from, what a slow client costs, and the server's limits.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::run::ConfigArgs;
use super::stream::{ConnectionArgs, DropArgs};
use crate::settings::parse;
use crate::settings::serve::{PolicySource, Speed, SyntheticType, parse as serve_parse};
use crate::settings::values::IdleTimeout;

/// `ssectl serve`.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// Where events come from: `-` for stdin, or a file; records of `-o json` or SSE, which is recognised
    #[arg(value_name = "SOURCE", group = "source")]
    pub input: Option<PathBuf>,
    /// Serve what another stream gives: one connection there, many readers here
    ///
    /// STREAM is a URL, or a name from the config file. It is read as `tail --no-store` reads it: cuts and drop notices
    /// of the other server are recovered before its events are served here.
    #[arg(long, value_name = "STREAM", group = "source")]
    pub relay: Option<String>,
    /// Make events up: types with their rates, keys and sizes
    ///
    /// As in 'price:rate=200/s,keys=8,size=120;notice:rate=1/s'. Each type may have `rate` (default 1/s; also `/m`, `/h`),
    /// `keys` (the data then has `sym`, one of so many), `size` (of the data, in bytes) and `count` (how many in all).
    #[arg(long, value_name = "SPEC", group = "source", value_parser = serve_parse::synthetic)]
    pub synthetic: Option<Synthetic>,
    /// How fast a file is played, by the `time` of its records [default: 1x; max where it has none]
    #[arg(long, value_name = "1x|10x|max", value_parser = serve_parse::speed)]
    pub speed: Option<Speed>,
    /// Begin when this many clients are connected [default: 1 for a file, else 0]
    #[arg(long, value_name = "N")]
    pub wait: Option<usize>,
    /// End when the source has ended and every client has been given everything
    #[arg(long)]
    pub once: bool,
    /// Number the events, instead of leaving them the ids that their source gave them
    #[arg(long)]
    pub number: bool,

    /// What a slow client costs.
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// What can be read again.
    #[command(flatten)]
    pub log: LogArgs,
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Which config file.
    #[command(flatten)]
    pub config: ConfigArgs,
    /// How to connect to the other stream: with `--relay` only.
    #[command(flatten)]
    pub connection: ConnectionArgs,
    /// What its drop notices are.
    #[command(flatten)]
    pub drops: DropArgs,
}

/// What `--synthetic` asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Synthetic(pub Vec<SyntheticType>);

/// What a slow client costs.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Backpressure")]
pub struct PolicyArgs {
    /// What happens to a type's events while a client is slow (repeatable); or a TOML file of such rules
    ///
    /// coalesce:/POINTER[,keys=N]: the newest event of each key waits, the key being the value in the data to which the
    /// pointer leads. buffer:N[,overflow=disconnect|notice]: N events (1024 without `:N`) wait, in order; at the next the
    /// stream ends and the client comes back for the rest, or it is dropped and a comment says how many were. drop: none
    /// waits. resnapshot[:/POINTER]: none waits, and one snapshot of the newest follows. TYPE `*` is every other type [default: *=buffer:1024].
    ///
    /// A file has `together`, `queue-bytes` and a table `types`, as in: price = "coalesce:/sym"
    #[arg(long, value_name = "TYPE=KIND|FILE", value_parser = serve_parse::policy)]
    pub policy: Vec<PolicySource>,
    /// Types that keep their order among each other (repeatable), such as `price,position_closed`
    #[arg(long, value_name = "TYPES")]
    pub together: Vec<String>,
    /// At most so much waits for one client, whatever its types [default: 1MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub queue_bytes: Option<u64>,
}

/// What can be read again.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Log")]
pub struct LogArgs {
    /// Keep the log in this SQLite file too, so that cursors outlive the server
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// How many events can be read again
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = serve_parse::at_least_one)]
    pub log_events: usize,
    /// A client that has missed more events than this is sent none of them, but a `resync` event
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub replay_cap: usize,
    /// What a cursor gets that the log does not have
    #[arg(long, value_name = "ANSWER", value_enum, default_value = "410")]
    pub expired: Expired,
}

/// What a cursor gets that the log does not have.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expired {
    /// The status 410
    #[value(name = "410")]
    Gone,
    /// A `resync` event, and then what comes live
    #[value(name = "event")]
    Event,
}

/// The server.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Server")]
pub struct ServerArgs {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Allow an address that other machines can reach, and any name in `Host`: whoever gets there reads everything
    #[arg(long)]
    pub allow_remote: bool,
    /// Send a comment after this long without anything else [default: 15s]
    #[arg(long, value_name = "off|DUR", value_parser = parse::idle_timeout)]
    pub heartbeat: Option<IdleTimeout>,
    /// When clients whose stream the server ends are to come back
    #[arg(long, value_name = "DUR", default_value = "1s", value_parser = parse::duration)]
    pub retry: Duration,
    /// The kernel's send buffer of each connection: the smaller, the sooner a slow client is felt
    #[arg(long, value_name = "SIZE", default_value = "16KiB", value_parser = parse::size)]
    pub send_buffer: u64,
    /// At most so many streams at once; a further one gets 503
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub max_clients: usize,
    /// How long the head of a request may take
    #[arg(long, value_name = "DUR", default_value = "10s", value_parser = parse::duration)]
    pub header_timeout: Duration,
    /// How large the head of a request may be
    #[arg(long, value_name = "SIZE", default_value = "16KiB", value_parser = parse::size)]
    pub max_header_bytes: u64,
    /// Say nothing on stderr but warnings and errors
    #[arg(short, long)]
    pub quiet: bool,
}
