//! The settings of one stream, from its layers.

use std::path::Path;

use url::Url;

use super::environment::Environment;
use super::layer::Layer;
use super::values::{BodySource, Credentials, HeaderSource, IdleTimeout, Initial, SendCursor};
use super::{ConnectionSettings, Policy, defaults, parse};
use crate::cli::stream::ConnectionArgs;
use crate::consumer::backoff::BackoffOptions;
use crate::consumer::drop_notice::DropNotices;
use crate::consumer::options::Follow;
use crate::error::Failure;
use crate::http::{self, Bearer};
use crate::redact::Secret;

/// A flag's value that cannot be used.
pub fn bad_flag(flag: &str, why: String) -> Failure {
    Failure::usage(format!("use the value of `--{flag}`")).cause(why)
}

/// Reads the URL of a stream.
///
/// # Errors
/// If it is none, or not one of HTTP. The message does not repeat it, it may hold a credential.
pub fn url(text: &str) -> Result<Url, Failure> {
    let unusable = || Failure::usage("use the URL of the stream");
    let hint = "a URL is written `https://HOST/PATH`";
    let url = Url::parse(text).map_err(|error| unusable().cause(error.to_string()).hint(hint))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(unusable().cause(format!("its scheme is `{}`, not `http` or `https`", url.scheme())).hint(hint));
    }
    Ok(url)
}

/// Reads `--snapshot-url`.
///
/// # Errors
/// As [`url`].
pub fn snapshot_url(text: Option<&Secret>) -> Result<Option<Url>, Failure> {
    let url = text.map(|text| url(text.expose())).transpose();
    url.map_err(|failure| Failure { what: "use the value of `--snapshot-url`".to_owned(), ..failure })
}

/// What is requested, and how.
///
/// # Errors
/// If a value cannot be used, or two contradict each other.
pub fn http(url: Url, args: &ConnectionArgs, env: &Environment) -> Result<http::Options, Failure> {
    let headers = args.header.iter().map(|text| parse::header(text.expose()));
    let headers: Vec<_> = headers.collect::<Result<_, _>>().map_err(|why| bad_flag("header", why))?;
    for header in &headers {
        if let HeaderSource::File(path) = header {
            must_exist("header", path)?;
        }
    }
    let body = args.data.as_ref().map(|text| parse::body(text.expose())).transpose();
    let body = body.map_err(|why| bad_flag("data", why))?;
    if let Some(BodySource::File(path)) = &body {
        must_exist("data", path)?;
    }
    let start_params = args.start_param.iter().map(|text| parse::name_value(text.expose()));
    let (user, bearer) = match credentials(args, env)? {
        Some(Credentials::Basic { user, password }) => {
            (Some(Secret::new(format!("{user}:{}", password.expose()))), None)
        }
        Some(Credentials::Bearer(token)) => (None, Some(Bearer::Token(token))),
        Some(Credentials::BearerCommand(command)) => (None, Some(Bearer::Command(command.expose().to_owned()))),
        None => (None, None),
    };
    if args.key.is_some() && args.cert.is_none() {
        return Err(Failure::usage("use `--key` alone").cause("it is the key of the certificate that `--cert` names"));
    }
    Ok(http::Options {
        method: args.request.clone(),
        headers,
        body,
        user,
        bearer,
        insecure: args.insecure.unwrap_or(false),
        cacert: args.cacert.clone(),
        cert: args.cert.clone(),
        key: args.key.clone(),
        proxy: args.proxy.as_ref().map(proxy).transpose()?,
        http1_only: args.http1_1.unwrap_or(false),
        http2_only: args.http2_prior_knowledge.unwrap_or(false),
        compressed: args.compressed.unwrap_or(false),
        no_proxy: env.filled("NO_PROXY").or_else(|| env.filled("no_proxy")).map(str::to_owned),
        head_timeout: match args.idle_timeout {
            None | Some(IdleTimeout::Auto) => Some(http::HEAD_TIMEOUT_DEFAULT),
            Some(IdleTimeout::Fixed(limit)) => Some(limit),
            Some(IdleTimeout::Off) => None,
        },
        connect_timeout: args.connect_timeout.unwrap_or(defaults::CONNECT_TIMEOUT),
        send_cursor: args.send_cursor.clone().unwrap_or_default(),
        start_params: start_params.collect::<Result<_, _>>().map_err(|why| bad_flag("start-param", why))?,
        ..http::Options::new(url)
    })
}

/// A file that is not there is a mistyped name. What else keeps it from being read may pass.
fn must_exist(flag: &str, path: &Path) -> Result<(), Failure> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(bad_flag(flag, format!("there is no file `{}`", path.display())))
        }
        _ => Ok(()),
    }
}

/// How connections follow each other.
///
/// # Errors
/// If two delays contradict each other.
pub fn connection(args: &ConnectionArgs, method: &str) -> Result<ConnectionSettings, Failure> {
    let (initial, max) = retry(args.retry_initial, args.retry_max)?;
    Ok(ConnectionSettings {
        idle: args.idle_timeout.unwrap_or(IdleTimeout::Auto),
        backoff: BackoffOptions { initial, max, max_retries: args.max_retries },
        reconnect: reconnect(args.reconnect, args.no_reconnect, method),
        event_bytes_max: args.max_event_bytes.map_or(defaults::MAX_EVENT_BYTES, saturate),
    })
}

/// What the policy is to do.
pub fn policy(follow: Follow, layer: Layer, reconnect: bool) -> Policy {
    let (drops, cursors, connection) = (layer.drops, layer.cursors, layer.connection);
    let default_notices = !drops.no_default_drop_notices.unwrap_or(false);
    Policy {
        window: cursors.window.unwrap_or(defaults::WINDOW),
        notices: DropNotices::new(default_notices, &drops.drop_notice).with_events(drops.drop_event),
        dedupe: cursors.dedupe.unwrap_or_default(),
        cooldown: cursors.drop_cooldown.unwrap_or(defaults::DROP_COOLDOWN),
        max_replay: cursors.max_replay,
        on_drop: cursors.on_drop.unwrap_or_default(),
        on_expired: cursors.on_expired.unwrap_or_default(),
        snapshot: cursors.snapshot_url.is_some(),
        no_cursor_events: connection.no_cursor_event,
        id_from: connection.id_from,
        reconnect,
        header_cursor: matches!(connection.send_cursor, None | Some(SendCursor::Header)),
        start: connection.last_event_id,
        initial: match layer.initial {
            Some(Initial::Id(id)) => Some(id),
            Some(Initial::Live) | None => None,
        },
        ..Policy::new(follow)
    }
}

/// A size in memory; no machine has more.
pub fn saturate(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// A method other than GET may not be safe to repeat, so it is repeated only when asked for.
fn reconnect(on: Option<bool>, off: Option<bool>, method: &str) -> bool {
    match (on, off) {
        (Some(on), _) => on,
        (None, Some(off)) => !off,
        (None, None) => method == "GET",
    }
}

type Delay = std::time::Duration;

fn retry(initial: Option<Delay>, max: Option<Delay>) -> Result<(Delay, Delay), Failure> {
    if let (Some(initial), Some(max)) = (initial, max)
        && initial > max
    {
        let (initial, max) = (parse::duration_text(initial), parse::duration_text(max));
        return Err(Failure::usage("wait longer at first than at most")
            .cause(format!("`--retry-initial` is {initial}, `--retry-max` is {max}")));
    }
    let initial_or_default =
        initial.unwrap_or(max.map_or(defaults::RETRY_INITIAL, |max| defaults::RETRY_INITIAL.min(max)));
    Ok((initial_or_default, max.unwrap_or(defaults::RETRY_MAX.max(initial_or_default))))
}

fn credentials(args: &ConnectionArgs, env: &Environment) -> Result<Option<Credentials>, Failure> {
    if let Some(user) = &args.user {
        return parse::user(user.expose()).map(Some).map_err(|why| bad_flag("user", why));
    }
    if let Some(command) = &args.bearer_cmd {
        return Ok(Some(Credentials::BearerCommand(command.clone())));
    }
    let Some(name) = &args.bearer_env else { return Ok(None) };
    match env.filled(name) {
        Some(token) => Ok(Some(Credentials::Bearer(Secret::new(token)))),
        None => Err(bad_flag("bearer-env", format!("the environment variable {}is not set", variable(name)))
            .hint("name the variable, not the token; and `export` it")),
    }
}

/// The name of a variable, in quotes; what does not look like one may be the token itself.
fn variable(name: &str) -> String {
    let plain = name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    if plain { format!("`{name}` ") } else { String::new() }
}

/// A proxy without a scheme is one of HTTP, as in curl.
fn proxy(text: &Secret) -> Result<Secret, Failure> {
    let text = text.expose();
    let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = Url::parse(&text).map_err(|error| bad_flag("proxy", error.to_string()))?;
    match url.scheme() {
        "http" | "https" | "socks4" | "socks4a" | "socks5" | "socks5h" => Ok(Secret::new(text)),
        other => Err(bad_flag("proxy", format!("`{other}` is not a scheme of proxies; there are http, https, socks5"))),
    }
}
