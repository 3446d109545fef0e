//! One layer of stream options: what the flags say, or one table of the config file. Layers lie over each other:
//! flags over the stream's table over `[defaults]`.

use super::values::Initial;
use crate::cli::run::OutputArgs;
use crate::cli::stream::{ConnectionArgs, CursorArgs, DropArgs};
use crate::redact::Secret;

/// All options of a stream, each of them set or not.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    /// The URL; only a stream's table has one.
    pub url: Option<Secret>,
    /// How to connect.
    pub connection: ConnectionArgs,
    /// What a drop notice is.
    pub drops: DropArgs,
    /// How cursors are kept.
    pub cursors: CursorArgs,
    /// Where `resume` starts when nothing is stored.
    pub initial: Option<Initial>,
    /// What is written. It is one thing for all streams of a run.
    pub output: OutputArgs,
}

impl Layer {
    /// This layer over another: what it does not set shows through. Headers and start parameters win by name, other
    /// lists as a whole; credentials win over credentials of any kind.
    #[must_use]
    pub fn over(self, base: Self) -> Self {
        Self {
            url: self.url.or(base.url),
            connection: connection(self.connection, base.connection),
            drops: drops(self.drops, base.drops),
            cursors: cursors(self.cursors, base.cursors),
            initial: self.initial.or(base.initial),
            output: output(self.output, base.output),
        }
    }

    /// What contradicts itself within this layer.
    pub fn conflict(&self) -> Option<&'static str> {
        let c = &self.connection;
        let credentials = [c.user.is_some(), c.bearer_env.is_some(), c.bearer_cmd.is_some()];
        if credentials.into_iter().filter(|set| *set).count() > 1 {
            return Some("`user`, `bearer-env` and `bearer-cmd` exclude each other");
        }
        if c.http1_1 == Some(true) && c.http2_prior_knowledge == Some(true) {
            return Some("`http1.1` and `http2-prior-knowledge` exclude each other");
        }
        if c.reconnect == Some(true) && c.no_reconnect == Some(true) {
            return Some("`reconnect` and `no-reconnect` exclude each other");
        }
        None
    }
}

/// The header that credentials go into, in lower case.
const AUTHORIZATION: &str = "authorization";

fn connection(top: ConnectionArgs, mut base: ConnectionArgs) -> ConnectionArgs {
    let is_authorization = |header: &Secret| header_name(header.expose()).as_deref() == Some(AUTHORIZATION);
    let has_credentials = top.user.is_some() || top.bearer_env.is_some() || top.bearer_cmd.is_some();
    if has_credentials || top.header.iter().any(is_authorization) {
        (base.user, base.bearer_env, base.bearer_cmd) = (None, None, None);
    }
    if has_credentials {
        // Within one layer the header goes first, as in curl; but not one of a layer below.
        base.header.retain(|header| !is_authorization(header));
    }
    if top.http1_1.is_some() || top.http2_prior_knowledge.is_some() {
        (base.http1_1, base.http2_prior_knowledge) = (None, None);
    }
    if top.reconnect.is_some() || top.no_reconnect.is_some() {
        (base.reconnect, base.no_reconnect) = (None, None);
    }
    ConnectionArgs {
        header: by_name(top.header, base.header, header_name),
        request: top.request.or(base.request),
        data: top.data.or(base.data),
        user: top.user.or(base.user),
        bearer_env: top.bearer_env.or(base.bearer_env),
        bearer_cmd: top.bearer_cmd.or(base.bearer_cmd),
        insecure: top.insecure.or(base.insecure),
        cacert: top.cacert.or(base.cacert),
        cert: top.cert.or(base.cert),
        key: top.key.or(base.key),
        proxy: top.proxy.or(base.proxy),
        http1_1: top.http1_1.or(base.http1_1),
        http2_prior_knowledge: top.http2_prior_knowledge.or(base.http2_prior_knowledge),
        compressed: top.compressed.or(base.compressed),
        connect_timeout: top.connect_timeout.or(base.connect_timeout),
        idle_timeout: top.idle_timeout.or(base.idle_timeout),
        retry_initial: top.retry_initial.or(base.retry_initial),
        retry_max: top.retry_max.or(base.retry_max),
        max_retries: top.max_retries.or(base.max_retries),
        no_reconnect: top.no_reconnect.or(base.no_reconnect),
        reconnect: top.reconnect.or(base.reconnect),
        send_cursor: top.send_cursor.or(base.send_cursor),
        start_param: by_name(top.start_param, base.start_param, parameter_name),
        last_event_id: top.last_event_id.or(base.last_event_id),
        id_from: top.id_from.or(base.id_from),
        no_cursor_event: list(top.no_cursor_event, base.no_cursor_event),
        max_event_bytes: top.max_event_bytes.or(base.max_event_bytes),
    }
}

fn drops(top: DropArgs, base: DropArgs) -> DropArgs {
    DropArgs {
        drop_notice: list(top.drop_notice, base.drop_notice),
        no_default_drop_notices: top.no_default_drop_notices.or(base.no_default_drop_notices),
        drop_event: list(top.drop_event, base.drop_event),
    }
}

fn cursors(top: CursorArgs, base: CursorArgs) -> CursorArgs {
    CursorArgs {
        window: top.window.or(base.window),
        dedupe: top.dedupe.or(base.dedupe),
        drop_cooldown: top.drop_cooldown.or(base.drop_cooldown),
        max_replay: top.max_replay.or(base.max_replay),
        on_drop: top.on_drop.or(base.on_drop),
        on_expired: top.on_expired.or(base.on_expired),
        snapshot_url: top.snapshot_url.or(base.snapshot_url),
    }
}

/// A switch that is on in either is on: there is no flag that turns one off.
fn output(top: OutputArgs, base: OutputArgs) -> OutputArgs {
    OutputArgs {
        output: top.output.or(base.output),
        read_ahead: top.read_ahead.or(base.read_ahead),
        comments: top.comments || base.comments,
        notices: top.notices || base.notices,
        json_data: top.json_data || base.json_data,
        event: list(top.event, base.event),
        grep: list(top.grep, base.grep),
        stats: top.stats || base.stats,
        quiet: top.quiet || (base.quiet && top.verbose == 0),
        verbose: top.verbose.max(base.verbose),
        color: top.color.or(base.color),
    }
}

fn list<T>(top: Vec<T>, base: Vec<T>) -> Vec<T> {
    if top.is_empty() { base } else { top }
}

/// `base` without what `top` names too, then `top`.
fn by_name(top: Vec<Secret>, mut base: Vec<Secret>, name: fn(&str) -> Option<String>) -> Vec<Secret> {
    let named = |text: &Secret| name(text.expose());
    base.retain(|below| named(below).is_none() || !top.iter().any(|above| named(above) == named(below)));
    base.extend(top);
    base
}

/// The name in `Name: value` and `Name;`. Case is nothing in it. A file (`@…`) has no name and replaces nothing.
fn header_name(text: &str) -> Option<String> {
    let (name, _) = text.split_once([':', ';']).filter(|_| !text.starts_with('@'))?;
    Some(name.trim().to_ascii_lowercase())
}

/// The name in `NAME=VALUE`.
fn parameter_name(text: &str) -> Option<String> {
    Some(text.split_once('=')?.0.to_owned())
}
