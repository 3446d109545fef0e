//! What `serve` shall do.

pub mod parse;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use std::collections::BTreeMap;

use super::values::IdleTimeout;
use super::{Environment, Settings};
use crate::backpressure::Policies;
use crate::backpressure::policy::Builder;
use crate::cli::run::{BoundArgs, DbArgs, NoStoreArgs, OutputArgs};
use crate::cli::serve::{Expired, PolicyArgs, ServeArgs, ServerArgs};
use crate::cli::stream::CursorArgs;
use crate::cli::{FollowArgs, TailArgs};
use crate::error::Failure;
use crate::server::ServerOptions;

/// Where a rule comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicySource {
    /// The rule itself, `TYPE=KIND…`.
    Rule(String),
    /// A file of rules.
    File(PathBuf),
}

/// How fast a recorded stream is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// This many times as fast as it was recorded.
    Times(f64),
    /// As fast as it can be read.
    Max,
}

/// One type of made-up events.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticType {
    /// The type.
    pub event: String,
    /// Events in a second.
    pub rate: f64,
    /// Over how many keys they go round; 0 for none.
    pub keys: u32,
    /// The least size of their data, in bytes.
    pub size: usize,
    /// How many there are in all.
    pub count: Option<u64>,
}

/// Where events come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Stdin.
    Stdin,
    /// A file, with its records' times.
    File(PathBuf),
    /// Another stream.
    Relay(Box<Settings>),
    /// They are made up.
    Synthetic(Vec<SyntheticType>),
}

/// All that `serve` was asked for.
#[derive(Clone, Debug)]
pub struct ServeSettings {
    /// The server.
    pub server: ServerOptions,
    /// Where events come from.
    pub source: Source,
    /// How fast a file is played.
    pub speed: Speed,
    /// How many clients are waited for.
    pub wait: usize,
    /// It ends with its source.
    pub once: bool,
    /// The file of the log.
    pub log: Option<PathBuf>,
    /// Nothing but warnings and errors is said.
    pub quiet: bool,
}

/// A file of rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PolicyFile {
    #[serde(default)]
    together: Vec<Vec<String>>,
    queue_bytes: Option<String>,
    #[serde(default)]
    types: BTreeMap<String, String>,
}

impl ServeSettings {
    /// The settings of `serve`.
    ///
    /// # Errors
    /// A [`Failure`] of usage (exit 2) if the arguments or a file that they name cannot be used.
    pub fn new(args: ServeArgs, env: &Environment) -> Result<Self, Failure> {
        let policies = policies(&args.policy)?;
        let quiet = args.server.quiet;
        check_listen(&args.server)?;
        let is_made_up = args.synthetic.is_some();
        let is_file = args.input.as_ref().is_some_and(|path| path.as_os_str() != "-");
        if args.speed.is_some() && !is_file {
            return Err(Failure::usage("choose a speed").cause("only a file has one; stdin is served as it comes"));
        }
        let server = ServerOptions {
            listen: args.server.listen,
            any_host: args.server.allow_remote,
            first_id: (is_made_up || args.number).then_some(1),
            policies,
            log_events: args.log.log_events,
            replay_cap: args.log.replay_cap,
            expired_is_event: args.log.expired == Expired::Event,
            heartbeat: match args.server.heartbeat {
                Some(IdleTimeout::Fixed(period)) => Some(period),
                Some(IdleTimeout::Off) => None,
                Some(IdleTimeout::Auto) | None => ServerOptions::default().heartbeat,
            },
            retry: None,
            retry_at_end: args.server.retry,
            send_buffer_bytes: u32::try_from(args.server.send_buffer).unwrap_or(u32::MAX),
            clients_max: args.server.max_clients,
            head_time: args.server.header_timeout,
            head_bytes_max: usize::try_from(args.server.max_header_bytes).unwrap_or(usize::MAX),
        };
        let speed = args.speed.unwrap_or(Speed::Times(1.0));
        let (wait, once, log) = (args.wait.unwrap_or(usize::from(is_file)), args.once, args.log.log.clone());
        Ok(Self { server, source: source(args, env)?, speed, wait, once, log, quiet })
    }
}

fn source(args: ServeArgs, env: &Environment) -> Result<Source, Failure> {
    match (args.input, args.synthetic, args.relay) {
        (Some(path), _, _) if path.as_os_str() == "-" => Ok(Source::Stdin),
        (Some(path), _, _) => Ok(Source::File(path)),
        (_, Some(made_up), _) => Ok(Source::Synthetic(made_up.0)),
        (_, _, Some(stream)) => {
            let follow = FollowArgs {
                streams: vec![stream],
                stream: None,
                config: args.config,
                connection: args.connection,
                db: DbArgs::default(),
                no_store: NoStoreArgs { no_store: true },
                drops: args.drops,
                cursors: CursorArgs::default(),
                output: OutputArgs { quiet: args.server.quiet, ..OutputArgs::default() },
                bounds: BoundArgs::default(),
            };
            let tail = TailArgs { follow, policy: Vec::new() };
            Ok(Source::Relay(Box::new(Settings::of_tail(tail, env)?)))
        }
        (None, None, None) => Err(Failure::usage("serve nothing").cause("no source is named").hint(
            "`ssectl serve --synthetic 'price:rate=50/s,keys=8'`, or `… | ssectl serve -`, a file, or `--relay STREAM`",
        )),
    }
}

/// What is served has no password: it is not for other machines unless that was said.
fn check_listen(args: &ServerArgs) -> Result<(), Failure> {
    if args.listen.ip().is_loopback() || args.allow_remote {
        return Ok(());
    }
    Err(Failure::usage(format!("listen on `{}`", args.listen))
        .cause("other machines can reach this address, and whoever does reads everything")
        .hint("`--allow-remote` allows it; `--listen 127.0.0.1:8080` is for this machine alone"))
}

fn policies(args: &PolicyArgs) -> Result<Policies, Failure> {
    let mut builder = Builder::default();
    let refused = |what: &str, why: String| Failure::usage(format!("use the policy `{what}`")).cause(why);
    for policy in &args.policy {
        match policy {
            PolicySource::Rule(text) => builder.rule(text).map_err(|why| refused(text, why.to_string()))?,
            PolicySource::File(path) => {
                read_policies(&mut builder, path).map_err(|why| refused(&path.display().to_string(), why))?
            }
        }
    }
    for types in &args.together {
        builder.together(types.split(',').map(|event| event.trim().to_owned()));
    }
    if let Some(bytes) = args.queue_bytes {
        builder.queue_bytes_max(usize::try_from(bytes).unwrap_or(usize::MAX));
    }
    Ok(builder.build())
}

fn read_policies(builder: &mut Builder, path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{error}; a rule is written `TYPE=KIND`"))?;
    let file: PolicyFile = toml::from_str(&text).map_err(|error| error.to_string().trim_end().to_owned())?;
    for (event, kind) in &file.types {
        builder.add(event, kind).map_err(|why| why.to_string())?;
    }
    for types in file.together {
        builder.together(types);
    }
    if let Some(bytes) = file.queue_bytes {
        builder.queue_bytes_max(usize::try_from(super::parse::size(&bytes)?).unwrap_or(usize::MAX));
    }
    Ok(())
}
