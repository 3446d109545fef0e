//! The settings of one stream, from its layers.

use url::Url;

use super::environment::Environment;
use super::layer::Layer;
use super::secret::Secret;
use super::values::{BodySource, Credentials, Dedupe, IdleTimeout, Initial, OnDrop, OnExpired, SendCursor};
use super::{ConnectionSettings, CursorSettings, defaults, parse};
use crate::cli::stream::ConnectionArgs;
use crate::error::Failure;

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

/// How the stream is connected to.
///
/// # Errors
/// If a value cannot be used, or two contradict each other.
pub fn connection(args: ConnectionArgs, env: &Environment) -> Result<ConnectionSettings, Failure> {
    let headers = args.header.iter().map(|text| parse::header(text.expose()));
    let headers = headers.collect::<Result<_, _>>().map_err(|why| bad_flag("header", why))?;
    let body = args.data.as_ref().map(|text| parse::body(text.expose())).transpose();
    let body = body.map_err(|why| bad_flag("data", why))?;
    let start_params = args.start_param.iter().map(|text| parse::name_value(text.expose()));
    let start_params = start_params.collect::<Result<_, _>>().map_err(|why| bad_flag("start-param", why))?;
    let credentials = credentials(&args, env)?;
    let proxy = args.proxy.as_ref().map(proxy).transpose()?;
    if args.key.is_some() && args.cert.is_none() {
        return Err(Failure::usage("use `--key` alone").cause("it is the key of the certificate that `--cert` names"));
    }
    let method = args.request.unwrap_or_else(|| if body.is_some() { "POST" } else { "GET" }.to_owned());
    let (retry_initial, retry_max) = retry(args.retry_initial, args.retry_max)?;
    Ok(ConnectionSettings {
        reconnect: reconnect(args.reconnect, args.no_reconnect, &method),
        method,
        headers,
        body,
        credentials,
        insecure: args.insecure.unwrap_or(false),
        cacert: args.cacert,
        cert: args.cert,
        key: args.key,
        proxy,
        http1_only: args.http1_1.unwrap_or(false),
        compressed: args.compressed.unwrap_or(false),
        connect_timeout: args.connect_timeout.unwrap_or(defaults::CONNECT_TIMEOUT),
        idle_timeout: args.idle_timeout.unwrap_or(IdleTimeout::Auto),
        retry_initial,
        retry_max,
        max_retries: args.max_retries,
        send_cursor: args.send_cursor.unwrap_or(SendCursor::Header),
        start_params,
        last_event_id: args.last_event_id,
        id_from: args.id_from,
        no_cursor_events: args.no_cursor_event,
        event_bytes_max: args.max_event_bytes.unwrap_or(defaults::MAX_EVENT_BYTES),
    })
}

/// How the stream's cursors are kept.
pub fn cursors(layer: Layer) -> CursorSettings {
    let (drops, cursors) = (layer.drops, layer.cursors);
    CursorSettings {
        window: cursors.window.unwrap_or(defaults::WINDOW),
        drop_notices: drops.drop_notice,
        default_drop_notices: !drops.no_default_drop_notices.unwrap_or(false),
        drop_events: drops.drop_event,
        dedupe: cursors.dedupe.unwrap_or(Dedupe::Event),
        drop_cooldown: cursors.drop_cooldown.unwrap_or(defaults::DROP_COOLDOWN),
        replay_events_max: cursors.max_replay,
        on_drop: cursors.on_drop.unwrap_or(OnDrop::Recover),
        on_expired: cursors.on_expired.unwrap_or(OnExpired::Stop),
        initial: layer.initial.unwrap_or(Initial::Live),
    }
}

/// Whether a stream reads the request body from stdin.
pub fn reads_stdin(connection: &ConnectionSettings) -> bool {
    connection.body == Some(BodySource::Stdin)
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
        None => Err(bad_flag("bearer-env", format!("the environment variable `{}` is not set", name.escape_debug()))
            .hint("name the variable, not the token; and `export` it")),
    }
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
