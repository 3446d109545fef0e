//! The keys of the config file: the long names of the flags of a stream, and what each of them sets.

use super::tree::Value;
use crate::redact::Secret;
use crate::settings::environment::Environment;
use crate::settings::layer::Layer;
use crate::settings::parse;

/// Keys of `[defaults]` and of a stream's table.
pub const STREAM_KEYS: &[&str] = &[
    "header",
    "headers",
    "request",
    "data",
    "user",
    "bearer-env",
    "bearer-cmd",
    "insecure",
    "cacert",
    "cert",
    "key",
    "proxy",
    "http1.1",
    "http2-prior-knowledge",
    "compressed",
    "connect-timeout",
    "idle-timeout",
    "retry-initial",
    "retry-max",
    "max-retries",
    "no-reconnect",
    "reconnect",
    "send-cursor",
    "start-param",
    "id-from",
    "no-cursor-event",
    "max-event-bytes",
    "window",
    "drop-notice",
    "no-default-drop-notices",
    "drop-event",
    "dedupe",
    "drop-cooldown",
    "max-replay",
    "on-drop",
    "on-expired",
    "snapshot-url",
    "initial",
    "output",
    "read-ahead",
    "comments",
    "notices",
    "json-data",
    "event",
    "grep",
    "stats",
    "quiet",
    "color",
];

/// Keys of a stream's table alone.
pub const STREAM_ONLY: &[&str] = &["url"];

/// Keys of `[defaults]` alone.
pub const DEFAULTS_ONLY: &[&str] = &["db", "no-store"];

/// Sets the option of a known key.
pub fn set(layer: &mut Layer, key: &str, value: &Value, env: &Environment) -> Result<(), String> {
    if key == "url" {
        layer.url = Some(Secret::new(value.text(env)?));
        return Ok(());
    }
    let handled = set_request(layer, key, value, env)? || set_retry(layer, key, value, env)?;
    if handled || set_cursor(layer, key, value, env)? || set_output(layer, key, value, env)? {
        return Ok(());
    }
    Err("is not known".to_owned())
}

fn set_request(layer: &mut Layer, key: &str, value: &Value, env: &Environment) -> Result<bool, String> {
    let c = &mut layer.connection;
    match key {
        "header" => {
            let headers = secrets(value, env)?;
            headers.iter().try_for_each(|header| parse::header(header.expose()).map(drop))?;
            c.header.extend(headers);
        }
        "headers" => c.header.extend(header_table(value, env)?),
        "request" => c.request = Some(parse::method(&value.text(env)?)?),
        "data" => c.data = Some(Secret::new(value.text(env)?)),
        "user" => c.user = Some(Secret::new(value.text(env)?)),
        "bearer-env" => c.bearer_env = Some(value.text(env)?),
        "bearer-cmd" => c.bearer_cmd = Some(Secret::new(value.text(env)?)),
        "insecure" => c.insecure = Some(value.boolean()?),
        "cacert" => c.cacert = Some(value.text(env)?.into()),
        "cert" => c.cert = Some(value.text(env)?.into()),
        "key" => c.key = Some(value.text(env)?.into()),
        "proxy" => c.proxy = Some(Secret::new(value.text(env)?)),
        "http1.1" => c.http1_1 = Some(value.boolean()?),
        "http2-prior-knowledge" => c.http2_prior_knowledge = Some(value.boolean()?),
        "compressed" => c.compressed = Some(value.boolean()?),
        "send-cursor" => c.send_cursor = Some(parse::send_cursor(&value.text(env)?)?),
        "start-param" => c.start_param = secrets(value, env)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn set_retry(layer: &mut Layer, key: &str, value: &Value, env: &Environment) -> Result<bool, String> {
    let c = &mut layer.connection;
    match key {
        "connect-timeout" => c.connect_timeout = Some(parse::duration(&value.text(env)?)?),
        "idle-timeout" => c.idle_timeout = Some(parse::idle_timeout(&value.text(env)?)?),
        "retry-initial" => c.retry_initial = Some(parse::duration(&value.text(env)?)?),
        "retry-max" => c.retry_max = Some(parse::duration(&value.text(env)?)?),
        "max-retries" => c.max_retries = Some(value.number(env)?),
        "no-reconnect" => c.no_reconnect = Some(value.boolean()?),
        "reconnect" => c.reconnect = Some(value.boolean()?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn set_cursor(layer: &mut Layer, key: &str, value: &Value, env: &Environment) -> Result<bool, String> {
    let (connection, drops, cursors) = (&mut layer.connection, &mut layer.drops, &mut layer.cursors);
    match key {
        "id-from" => connection.id_from = Some(parse::pointer(&value.text(env)?)?),
        "no-cursor-event" => connection.no_cursor_event = value.texts(env)?,
        "max-event-bytes" => connection.max_event_bytes = Some(parse::size(&value.text(env)?)?),
        "drop-notice" => {
            drops.drop_notice = value.texts(env)?.iter().map(|text| parse::regex(text)).collect::<Result<_, _>>()?;
        }
        "no-default-drop-notices" => drops.no_default_drop_notices = Some(value.boolean()?),
        "drop-event" => drops.drop_event = value.texts(env)?,
        "window" => cursors.window = Some(parse::duration(&value.text(env)?)?),
        "dedupe" => cursors.dedupe = Some(parse::dedupe(&value.text(env)?)?),
        "drop-cooldown" => cursors.drop_cooldown = Some(parse::duration(&value.text(env)?)?),
        "max-replay" => cursors.max_replay = Some(value.number(env)?),
        "on-drop" => cursors.on_drop = Some(parse::on_drop(&value.text(env)?)?),
        "snapshot-url" => cursors.snapshot_url = Some(Secret::new(value.text(env)?)),
        "on-expired" => cursors.on_expired = Some(parse::on_expired(&value.text(env)?)?),
        "initial" => layer.initial = Some(parse::initial(&value.text(env)?)?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn set_output(layer: &mut Layer, key: &str, value: &Value, env: &Environment) -> Result<bool, String> {
    let o = &mut layer.output;
    match key {
        "output" => o.output = Some(parse::output_format(&value.text(env)?)?),
        "read-ahead" => o.read_ahead = Some(parse::size(&value.text(env)?)?),
        "comments" => o.comments = value.boolean()?,
        "notices" => o.notices = value.boolean()?,
        "json-data" => o.json_data = value.boolean()?,
        "event" => o.event = value.texts(env)?,
        "grep" => o.grep = value.texts(env)?.iter().map(|text| parse::regex(text)).collect::<Result<_, _>>()?,
        "stats" => o.stats = value.boolean()?,
        "quiet" => o.quiet = value.boolean()?,
        "color" => o.color = Some(parse::color(&value.text(env)?)?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn secrets(value: &Value, env: &Environment) -> Result<Vec<Secret>, String> {
    Ok(value.texts(env)?.into_iter().map(Secret::new).collect())
}

/// `headers = { Name = "value" }`.
fn header_table(value: &Value, env: &Environment) -> Result<Vec<Secret>, String> {
    let Value::Table(entries) = value else {
        return Err(format!("expected a table such as {{ Name = \"value\" }}, not {}", value.kind()));
    };
    let mut headers = Vec::with_capacity(entries.len());
    for entry in entries {
        let text = entry.value.text(env).map_err(|why| format!("`{}`: {why}", entry.key))?;
        parse::header_of(&entry.key, &text)?;
        headers.push(Secret::new(format!("{}: {text}", entry.key)));
    }
    Ok(headers)
}
