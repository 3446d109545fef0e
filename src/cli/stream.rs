//! The options of one stream: how it is connected to, and how its cursors are kept.
//!
//! Every one of these may also stand in the config file, so none has a default here: an absent flag is `None`, and
//! the default is applied once, in the settings. What may hold a credential is taken as it stands and checked in
//! the settings, since clap repeats a bad value in its message.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};
use regex::Regex;

use crate::consumer::id::EventId;
use crate::redact::Secret;
use crate::settings::parse;
use crate::settings::values::{Dedupe, IdleTimeout, OnDrop, OnExpired, Pointer, SendCursor};

/// Takes a text that may be a credential without looking at it.
fn secret(text: &str) -> Result<Secret, std::convert::Infallible> {
    Ok(Secret::new(text))
}

/// How a stream is connected to.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Connection")]
pub struct ConnectionArgs {
    /// Send this request header (repeatable); `@FILE` reads one a line
    ///
    /// An empty value (`Name:`) removes a header that would be sent otherwise. A FILE is read again at each attempt,
    /// so a token in it may be renewed while the stream runs.
    #[arg(short = 'H', long, value_name = "NAME: VALUE", value_parser = secret)]
    pub header: Vec<Secret>,

    /// Use this request method [default: GET, or POST with --data]
    ///
    /// Any method but GET implies --no-reconnect, since a prompt must not be sent twice.
    #[arg(short = 'X', long, value_name = "METHOD", value_parser = parse::method)]
    pub request: Option<String>,

    /// Send this request body; `@FILE` reads it from a file, `@-` from stdin. Implies POST
    #[arg(short = 'd', long, value_name = "BODY", value_parser = secret)]
    pub data: Option<Secret>,

    /// Authenticate with a user name and a password (HTTP Basic)
    #[arg(short = 'u', long, value_name = "USER:PASSWORD", value_parser = secret, group = "credentials")]
    pub user: Option<Secret>,

    /// Authenticate with the bearer token in this environment variable
    #[arg(long, value_name = "VAR", group = "credentials")]
    pub bearer_env: Option<String>,

    /// Authenticate with the bearer token that this shell command prints
    ///
    /// The command is run again at each attempt, so it may print a token that expires soon.
    #[arg(long, value_name = "CMD", value_parser = secret, group = "credentials")]
    pub bearer_cmd: Option<Secret>,

    /// Do not verify the server's certificate
    #[arg(short = 'k', long, action = ArgAction::Set, num_args = 0, default_missing_value = "true")]
    pub insecure: Option<bool>,

    /// Trust the certificates in this PEM file, and no others
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,

    /// Present the client certificate in this PEM file
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,

    /// The private key of the client certificate, if it is not in the same file
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,

    /// Connect through this proxy (http, https, socks5, socks5h) [default: as HTTPS_PROXY and the like say]
    #[arg(short = 'x', long, value_name = "URL", value_parser = secret)]
    pub proxy: Option<Secret>,

    /// Use HTTP/1.1, never HTTP/2
    #[arg(long = "http1.1", action = ArgAction::Set, num_args = 0, default_missing_value = "true")]
    pub http1_1: Option<bool>,

    /// Use HTTP/2 without asking, also where there is no TLS to ask in
    #[arg(
        long, conflicts_with = "http1_1", action = ArgAction::Set, num_args = 0, default_missing_value = "true"
    )]
    pub http2_prior_knowledge: Option<bool>,

    /// Ask for a compressed response
    #[arg(long, action = ArgAction::Set, num_args = 0, default_missing_value = "true")]
    pub compressed: Option<bool>,

    /// Give up connecting after this time [default: 10s]
    #[arg(long, value_name = "DUR", value_parser = parse::duration)]
    pub connect_timeout: Option<Duration>,

    /// Reconnect when nothing came for this time: auto, off or a duration [default: auto]
    ///
    /// `auto` is off until a GET stream has shown three steady heartbeat comments; from then on it is three times their
    /// period, and never under 10s. Any byte that comes counts.
    #[arg(long, value_name = "auto|off|DUR", value_parser = parse::idle_timeout)]
    pub idle_timeout: Option<IdleTimeout>,

    /// Wait this long before the first reconnection [default: 1s]
    ///
    /// At least 100ms. The server's own `retry:` replaces it (at least 100ms, at most 1h). Each further attempt waits twice as long as
    /// the one before, up to --retry-max, and a little longer at random; never less than `Retry-After` asks for.
    #[arg(long, value_name = "DUR", value_parser = parse::duration)]
    pub retry_initial: Option<Duration>,

    /// Wait at most this long between attempts, and at least 100ms [default: 30s]
    #[arg(long, value_name = "DUR", value_parser = parse::duration)]
    pub retry_max: Option<Duration>,

    /// Give up after this many attempts in a row that failed [default: never]
    #[arg(long, value_name = "N")]
    pub max_retries: Option<u32>,

    /// End when the connection ends [default for any method but GET]
    #[arg(long, conflicts_with = "reconnect", action = ArgAction::Set, num_args = 0, default_missing_value = "true")]
    pub no_reconnect: Option<bool>,

    /// Reconnect whatever the method is [default for GET]
    #[arg(long, action = ArgAction::Set, num_args = 0, default_missing_value = "true")]
    pub reconnect: Option<bool>,

    /// Where the cursor goes: the Last-Event-ID header, or a query parameter [default: header]
    #[arg(long, value_name = "header|query:NAME", value_parser = parse::send_cursor)]
    pub send_cursor: Option<SendCursor>,

    /// Send this query parameter while there is no cursor to send (repeatable), such as `since=2026-01-01`
    #[arg(long, value_name = "NAME=VALUE", value_parser = secret)]
    pub start_param: Vec<Secret>,

    /// Start after this id at the first connection, whatever is stored (one STREAM only)
    ///
    /// Begins a new record of the stream: marks and keys go, and open gaps are abandoned. A usage error together with
    /// a --to FILE that holds records.
    #[arg(long, value_name = "ID", value_parser = parse::event_id)]
    pub last_event_id: Option<EventId>,

    /// Take the id from the data, where this JSON pointer leads, such as `/sequence_number`
    #[arg(long, value_name = "/JSON/POINTER", value_parser = parse::pointer)]
    pub id_from: Option<Pointer>,

    /// Ids of events of this type move no cursor (repeatable), such as `keepalive`
    #[arg(long, value_name = "TYPE")]
    pub no_cursor_event: Vec<String>,

    /// The largest event that is accepted [default: 64MiB]
    ///
    /// A larger one is a fatal error (exit code 3); the cursor stays before it.
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub max_event_bytes: Option<u64>,
}

/// What counts as a drop notice.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cursors")]
pub struct DropArgs {
    /// A comment that matches is a drop notice (repeatable)
    ///
    /// By such a comment the server says that it discarded events. A group named `dropped`, as in
    /// `lost (?<dropped>[0-9]+)`, gives the count. Counts besides the notices that are known anyway.
    #[arg(long, value_name = "REGEX", value_parser = parse::regex)]
    pub drop_notice: Vec<Regex>,

    /// Only --drop-notice and --drop-event say what a drop notice is
    #[arg(long, action = ArgAction::Set, num_args = 0, default_missing_value = "true")]
    pub no_default_drop_notices: Option<bool>,

    /// Events of this type count as drop notices (repeatable) [always: lagged, overflow, slow_consumer]
    #[arg(long, value_name = "TYPE")]
    pub drop_event: Vec<String>,
}

/// How a stream's cursors are kept.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cursors")]
pub struct CursorArgs {
    /// The replay window: how far back a recovery reads [default: 15m]
    #[arg(long, value_name = "DUR", value_parser = parse::duration)]
    pub window: Option<Duration>,

    /// What makes two deliveries the same: event, id, a JSON pointer, or none [default: event]
    ///
    /// `event` compares id, type and data, and counts equal ones; `id` the id alone; a pointer a value in the data (where
    /// it is absent, as `event`). With `none` nothing is ever removed.
    #[arg(long, value_name = "event|id|/POINTER|none", value_parser = parse::dedupe)]
    pub dedupe: Option<Dedupe>,

    /// At most one recovery in this time; a drop notice within it waits [default: 60s]
    #[arg(long, value_name = "DUR", value_parser = parse::duration)]
    pub drop_cooldown: Option<Duration>,

    /// Give a recovery up as partial once it would deliver more events than this [default: no limit]
    #[arg(long, value_name = "EVENTS")]
    pub max_replay: Option<u64>,

    /// What to do at a drop notice [default: recover]
    #[arg(long, value_enum, value_name = "ACTION")]
    pub on_drop: Option<OnDrop>,

    /// What to do when the server no longer has the cursor [default: stop]
    #[arg(long, value_enum, value_name = "ACTION")]
    pub on_expired: Option<OnExpired>,

    /// When the server no longer has the cursor, deliver the current state from this URL, and go on live
    ///
    /// Its answer is one record of kind `snapshot` (an event of type `snapshot` in other formats). Headers and
    /// credentials go along if it is of the stream's origin. Goes before --on-expired.
    #[arg(long, value_name = "URL", value_parser = secret)]
    pub snapshot_url: Option<Secret>,
}
