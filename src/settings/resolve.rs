//! From the arguments of a command to its settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::config::Config;
use super::layer::Layer;
use super::values::{BodySource, ColorChoice, OutputFormat, SendCursor};
use super::{
    BoundSettings, Color, Environment, ExportSettings, ListFormat, OnDrop, OutputSettings, Settings, StoreSettings,
    StreamSettings, Verbosity, defaults, stream,
};
use crate::backpressure::{BadPolicy, Policies};
use crate::cli::checkpoint::CheckpointArgs;
use crate::cli::run::{BoundArgs, OutputArgs};
use crate::cli::{DemoArgs, FollowArgs, ProbeArgs, ReplayArgs, ResumeArgs, TailArgs};
use crate::consumer::id::StreamName;
use crate::consumer::options::Follow;
use crate::error::Failure;
use crate::http::default_stream_name;
use crate::redact::redact_word;

/// What stands in the name of an export file for the time at which it was begun.
const TIME_PLACEHOLDER: &str = "{time}";

/// What names the stream in the name of an export file.
const STREAM_PLACEHOLDER: &str = "{stream}";

/// What the arguments of `tail`, `resume` and `replay` have in common.
struct Request {
    follow: Follow,
    targets: Vec<String>,
    name: Option<String>,
    config: Option<PathBuf>,
    db: Option<PathBuf>,
    no_store: bool,
    flags: Layer,
    export: Option<ExportSettings>,
    bounds: BoundArgs,
}

impl From<FollowArgs> for Request {
    fn from(args: FollowArgs) -> Self {
        Self {
            follow: Follow::Tail,
            targets: args.streams,
            name: args.stream,
            config: args.config.config,
            db: args.db.db,
            no_store: args.no_store.no_store,
            flags: Layer {
                url: None,
                connection: args.connection,
                drops: args.drops,
                cursors: args.cursors,
                initial: None,
                output: args.output,
            },
            export: None,
            bounds: args.bounds,
        }
    }
}

impl From<ResumeArgs> for Request {
    fn from(args: ResumeArgs) -> Self {
        let mut request = Self::from(args.follow);
        request.follow = Follow::Resume;
        request.flags.initial = args.initial;
        request.export = args.to.map(|file| ExportSettings {
            file,
            commit_interval: args.commit_interval.unwrap_or(defaults::COMMIT_INTERVAL),
            rotate: args.rotate,
        });
        request
    }
}

impl From<ReplayArgs> for Request {
    fn from(args: ReplayArgs) -> Self {
        let (connection, drops, output) = (args.connection, args.drops, args.output);
        let flags = Layer { connection, drops, output, ..Layer::default() };
        Self {
            follow: Follow::Resume,
            targets: vec![args.target],
            name: args.stream,
            config: args.config.config,
            db: args.db.db,
            no_store: false,
            flags,
            export: None,
            bounds: args.bounds,
        }
    }
}

impl Settings {
    /// The settings of `tail`.
    ///
    /// # Errors
    /// A [`Failure`] of usage (exit 2) if the arguments or the config file cannot be used.
    pub fn of_tail(args: TailArgs, env: &Environment) -> Result<Self, Failure> {
        let policies = policies(&args.policy)?;
        let mut settings = Request::from(args.follow).resolve(env)?;
        settings.output.policies = policies;
        Ok(settings)
    }

    /// The settings of `resume`.
    ///
    /// # Errors
    /// As [`Settings::of_tail`].
    pub fn of_resume(args: ResumeArgs, env: &Environment) -> Result<Self, Failure> {
        Request::from(args).resolve(env)
    }

    /// The settings of `replay`.
    ///
    /// # Errors
    /// As [`Settings::of_tail`].
    pub fn of_replay(args: ReplayArgs, env: &Environment) -> Result<Self, Failure> {
        let settings = Request::from(args).resolve(env)?;
        // `replay` reads what is stored; a config file that keeps runs in memory cannot mean it.
        if settings.store.db.is_none() {
            return Err(Failure::usage("replay without a store")
                .cause("`no-store` stands in the config file")
                .hint("name the database with `--db PATH`"));
        }
        Ok(settings)
    }
}

impl Request {
    fn resolve(self, env: &Environment) -> Result<Settings, Failure> {
        self.check_one_stream()?;
        let config = Config::load(self.config.as_deref(), env)?;
        let store = self.store(&config, env)?;
        let each = self.targets.iter().map(|target| self.stream(target, &config, env));
        let (streams, outputs): (Vec<_>, Vec<_>) = each.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        check_streams(&streams)?;
        let written = one_output(outputs)?;
        let color = color(written.color, env);
        let verbosity = verbosity(&written);
        let output = output(written, self.export, env)?;
        check_export(&output, streams.len())?;
        let bounds = bounds(self.bounds);
        let stderr_is_terminal = env.stderr_is_terminal;
        Ok(Settings { streams, store, output, bounds, verbosity, color, stderr_is_terminal })
    }

    /// Flags that speak of one stream are refused with several.
    fn check_one_stream(&self) -> Result<(), Failure> {
        if self.targets.len() == 1 {
            return Ok(());
        }
        let several = |flag: &str, why: &str| Failure::usage(format!("use `--{flag}` with several streams")).cause(why);
        if self.name.is_some() {
            return Err(several("stream", "it names the stream of one URL")
                .hint("give streams names in the config file, or run one process for each"));
        }
        if self.flags.connection.last_event_id.is_some() {
            return Err(several("last-event-id", "an id is a position in one stream")
                .hint("`ssectl checkpoint set STREAM --latest ID` sets each stream's own"));
        }
        if self.bounds.until_id.is_some() {
            return Err(several("until-id", "an id is an event of one stream"));
        }
        Ok(())
    }

    fn store(&self, config: &Config, env: &Environment) -> Result<StoreSettings, Failure> {
        if self.no_store || (self.db.is_none() && config.no_store()?) {
            return Ok(StoreSettings { db: None });
        }
        Ok(StoreSettings { db: Some(db_path(self.db.as_deref(), config, env)?) })
    }

    fn stream(
        &self,
        target: &str,
        config: &Config,
        env: &Environment,
    ) -> Result<(StreamSettings, OutputArgs), Failure> {
        let defaults = config.defaults(env)?;
        let (name, layer) = if is_url(target) {
            (None, self.flags.clone().over(defaults))
        } else {
            let (name, table) = config.stream(target, env)?;
            if self.name.is_some() {
                return Err(Failure::usage(format!("name the stream `{name}` anew"))
                    .cause("`--stream` names the stream of a URL; this one has its name from the config file"));
            }
            (Some(name), self.flags.clone().over(table.over(defaults)))
        };
        let url = stream::url(layer.url.as_ref().map_or(target, |url| url.expose()))?;
        let mut http = stream::http(url, &layer.connection, env)?;
        http.snapshot_url = stream::snapshot_url(layer.cursors.snapshot_url.as_ref())?;
        let connection = stream::connection(&layer.connection, http.effective_method())?;
        let from_config = name.is_some();
        let name = match (name, &self.name) {
            (Some(name), _) => name,
            (None, Some(given)) => StreamName::new(given).map_err(|why| stream::bad_flag("stream", why.to_string()))?,
            (None, None) => default_name(&http.url, http.cursor_parameter())?,
        };
        let output = layer.output.clone();
        let policy = stream::policy(self.follow, layer, connection.reconnect);
        Ok((StreamSettings { name, from_config, http, connection, policy }, output))
    }
}

/// What is written is one thing for all streams of a run, so their tables may not differ in it.
fn one_output(mut outputs: Vec<OutputArgs>) -> Result<OutputArgs, Failure> {
    let words: Vec<String> = outputs.iter().map(|output| format!("{output:?}")).collect();
    if words.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(Failure::usage("write several streams in different ways")
            .cause("their tables in the config file differ in what is written, such as `output`, `event` or `grep`")
            .hint("run one process for each"));
    }
    Ok(outputs.pop().unwrap_or_default())
}

/// A STREAM with `://` in it is a URL, any other is a name.
fn is_url(target: &str) -> bool {
    target.contains("://")
}

fn default_name(url: &url::Url, parameter: Option<&str>) -> Result<StreamName, Failure> {
    StreamName::new(default_stream_name(url, parameter)).map_err(|why| {
        Failure::usage("name the stream of the URL").cause(why.to_string()).hint("name it with `--stream NAME`")
    })
}

/// `--db`, else `SSECTL_DB`, else `[defaults]`, else the default place.
fn db_path(flag: Option<&Path>, config: &Config, env: &Environment) -> Result<PathBuf, Failure> {
    if let Some(path) = flag {
        return Ok(path.to_path_buf());
    }
    if let Some(path) = env.filled("SSECTL_DB") {
        return Ok(path.into());
    }
    if let Some(path) = config.db(env)? {
        return Ok(path);
    }
    env.default_db().ok_or_else(|| {
        Failure::usage("find a place for the database")
            .cause("neither XDG_STATE_HOME nor HOME is set")
            .hint("name it with `--db PATH`")
    })
}

fn check_streams(streams: &[StreamSettings]) -> Result<(), Failure> {
    for (index, stream) in streams.iter().enumerate() {
        if streams[..index].iter().any(|before| before.name == stream.name) {
            return Err(
                Failure::usage("read one stream twice").cause(format!("two STREAMs are named `{}`", stream.name))
            );
        }
    }
    if streams.len() > 1 && streams.iter().any(|stream| stream.http.body == Some(BodySource::Stdin)) {
        return Err(Failure::usage("use `--data @-` with several streams").cause("stdin can be read only once"));
    }
    Ok(())
}

fn output(args: OutputArgs, export: Option<ExportSettings>, env: &Environment) -> Result<OutputSettings, Failure> {
    let to_terminal = export.is_none() && env.stdout_is_terminal;
    let format = args.output.unwrap_or(if to_terminal { OutputFormat::Pretty } else { OutputFormat::Json });
    Ok(OutputSettings {
        format,
        export,
        read_ahead_bytes: args.read_ahead.map_or(defaults::READ_AHEAD_BYTES, stream::saturate),
        comments: args.comments,
        notices: args.notices,
        json_data: args.json_data,
        events: args.event,
        grep: args.grep,
        stats: args.stats,
        to_terminal,
        policies: None,
    })
}

fn policies(texts: &[String]) -> Result<Option<Policies>, Failure> {
    if texts.is_empty() {
        return Ok(None);
    }
    let refused = |why: BadPolicy| Failure::usage("use what `--policy` says").cause(why.to_string());
    Policies::of_own_reader(texts.iter().map(String::as_str)).map(Some).map_err(refused)
}

fn check_export(output: &OutputSettings, streams: usize) -> Result<(), Failure> {
    let Some(export) = &output.export else { return Ok(()) };
    if !output.format.has_ids() {
        return Err(Failure::usage("write an export in a format without ids")
            .cause("the ids in FILE give the position back when the database is lost")
            .hint("leave `--output` out, or show `{id}` in the template"));
    }
    check_rotation(export)?;
    if streams > 1 && !export.file.to_string_lossy().contains(STREAM_PLACEHOLDER) {
        return Err(Failure::usage("write several streams to one FILE")
            .cause("each stream has an export of its own")
            .hint("put `{stream}` into the name, as in `--to '{stream}.jsonl'`"));
    }
    Ok(())
}

/// `{time}` stands once in the name of a rotated file, and of no other.
fn check_rotation(export: &ExportSettings) -> Result<(), Failure> {
    let text = export.file.to_string_lossy();
    let (folder, name) = text.rsplit_once('/').unwrap_or(("", &text));
    let (in_folder, in_name) = (folder.contains(TIME_PLACEHOLDER), name.matches(TIME_PLACEHOLDER).count());
    match export.rotate {
        Some(_) if in_folder || in_name != 1 => Err(Failure::usage("rotate an export whose files have one name")
            .cause("each file is named by the time at which it was begun")
            .hint("put `{time}` into the name once, as in `--to '{stream}-{time}.ndjson'`")),
        None if in_folder || in_name > 0 => Err(Failure::usage("name a file by the time at which it was begun")
            .cause("there is one file, which is gone on with each time")
            .hint("say when another is begun, as in `--rotate 1h`, or leave `{time}` out")),
        _ => Ok(()),
    }
}

fn bounds(args: BoundArgs) -> BoundSettings {
    BoundSettings {
        count: args.count,
        time: args.for_,
        until_id: args.until_id,
        until_data: args.until_data,
        until_idle: args.until_idle,
    }
}

fn verbosity(args: &OutputArgs) -> Verbosity {
    match (args.quiet, args.verbose) {
        (true, _) => Verbosity::Quiet,
        (false, 0) => Verbosity::Normal,
        (false, 1) => Verbosity::Detail,
        (false, _) => Verbosity::Trace,
    }
}

/// `NO_COLOR` (no-color.org) turns off what is automatic, not what was asked for.
fn color(choice: Option<ColorChoice>, env: &Environment) -> Color {
    let automatic = env.filled("NO_COLOR").is_none();
    match choice.unwrap_or_default() {
        ColorChoice::Always => Color { stdout: true, stderr: true },
        ColorChoice::Never => Color { stdout: false, stderr: false },
        ColorChoice::Auto => {
            Color { stdout: automatic && env.stdout_is_terminal, stderr: automatic && env.stderr_is_terminal }
        }
    }
}

/// What `checkpoint` needs to know.
#[derive(Clone, Debug)]
pub struct CheckpointSettings {
    /// The database.
    pub db: PathBuf,
    /// Where the cursor goes by `[defaults]`: part of the rule for the name of a URL.
    send_cursor: SendCursor,
}

impl CheckpointSettings {
    /// The settings of `checkpoint`.
    ///
    /// # Errors
    /// As [`Settings::of_tail`].
    pub fn new(args: &CheckpointArgs, env: &Environment) -> Result<Self, Failure> {
        let config = Config::load(args.config.as_deref(), env)?;
        let db = db_path(args.db.as_deref(), &config, env)?;
        let send_cursor = config.defaults(env)?.connection.send_cursor.unwrap_or(SendCursor::Header);
        Ok(Self { db, send_cursor })
    }

    /// The settings for one database.
    #[must_use]
    pub fn of_db(db: PathBuf) -> Self {
        Self { db, send_cursor: SendCursor::Header }
    }

    /// The name that a STREAM argument means. It need not stand in the config file: what is stored counts.
    ///
    /// # Errors
    /// If it is neither a URL nor a name.
    pub fn stream_name(&self, target: &str) -> Result<StreamName, Failure> {
        if is_url(target) {
            let parameter = match &self.send_cursor {
                SendCursor::Header => None,
                SendCursor::Query(name) => Some(name.as_str()),
            };
            return default_name(&stream::url(target)?, parameter);
        }
        StreamName::new(target).map_err(|why| {
            Failure::usage(format!("use `{}` as the name of a stream", redact_word(target).escape_debug()))
                .cause(why.to_string())
                .hint("name it as `ssectl checkpoint list` does")
        })
    }
}

/// What `demo` was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoSettings {
    /// The form of records.
    pub format: ListFormat,
    /// What the drop notice leads to.
    pub on_drop: OnDrop,
    /// Where colour is used.
    pub color: Color,
    /// In which folder its database may be for as long as it runs.
    pub temporary: PathBuf,
}

impl DemoSettings {
    /// The settings of `demo`.
    #[must_use]
    pub fn new(args: &DemoArgs, env: &Environment) -> Self {
        Self {
            format: args.output.unwrap_or(ListFormat::Pretty),
            on_drop: args.on_drop.into(),
            color: color(None, env),
            temporary: env.temporary(),
        }
    }
}

/// What `probe` was asked for.
#[derive(Clone, Debug)]
pub struct ProbeSettings {
    /// The stream.
    pub stream: StreamSettings,
    /// How long it is watched.
    pub watch: Duration,
    /// Bytes a second for the slow reader; `None` leaves the choice to the probe.
    pub limit_rate: Option<u64>,
    /// How long the slow reader takes nothing at all.
    pub slow_for: Option<Duration>,
    /// The form of the report.
    pub format: ListFormat,
    /// Where a page of it goes.
    pub report: Option<PathBuf>,
    /// Nothing is said on stderr but warnings and errors.
    pub quiet: bool,
    /// Where colour is used.
    pub color: Color,
}

impl ProbeSettings {
    /// The settings of `probe`.
    ///
    /// # Errors
    /// As [`Settings::of_tail`].
    pub fn new(args: ProbeArgs, env: &Environment) -> Result<Self, Failure> {
        let config = Config::load(args.config.config.as_deref(), env)?;
        let request = Request {
            follow: Follow::Tail,
            targets: Vec::new(),
            name: None,
            config: None,
            db: None,
            no_store: true,
            flags: Layer { connection: args.connection, ..Layer::default() },
            export: None,
            bounds: BoundArgs::default(),
        };
        let (stream, _) = request.stream(&args.target, &config, env)?;
        let limit_rate = args.limit_rate;
        if limit_rate == Some(0) {
            return Err(stream::bad_flag("limit-rate", "a reader that takes nothing".into())
                .hint("`--slow-for DUR` pauses the slow reader altogether"));
        }
        let automatic = if env.stdout_is_terminal { ListFormat::Pretty } else { ListFormat::Json };
        Ok(Self {
            stream,
            watch: args.for_.unwrap_or(defaults::PROBE_FOR),
            limit_rate,
            slow_for: args.slow_for,
            format: args.output.unwrap_or(automatic),
            report: args.report,
            quiet: args.quiet,
            color: color(args.color, env),
        })
    }
}
