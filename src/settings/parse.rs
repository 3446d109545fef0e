//! From the text of one value to the value. Errors are the rest of a sentence, and say what would be right.
//!
//! The same functions read flags and config values. Those whose text may hold a credential never repeat it.

use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;

use super::near::nearest;
use super::values::{
    BadFormat, BadTemplate, BodySource, ColorChoice, Credentials, Dedupe, Header, HeaderSource, IdleTimeout, Initial,
    OnDrop, OnExpired, OutputFormat, Pointer, SendCursor,
};
use crate::consumer::id::EventId;
use crate::output::export::RotationLimit;
use crate::redact::Secret;

/// A value, or what is wrong with its text.
pub type Parsed<T> = Result<T, String>;

/// Units of time, with their length in milliseconds; the largest first.
const UNITS_MS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// A duration: `500ms`, `0.1s`, `15m`, `2h`, `7d`.
///
/// # Errors
/// If it is none; a bare number is not guessed at.
pub fn duration(text: &str) -> Parsed<Duration> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    if number.is_empty() {
        return Err("not a duration; write one as `500ms`, `0.1s`, `15m`, `2h` or `7d`".to_owned());
    }
    if unit.is_empty() {
        return Err(format!("a duration needs a unit: `{text}s` for seconds, or `ms`, `m`, `h`, `d`"));
    }
    let Some((_, unit_ms)) = UNITS_MS.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("`{unit}` is not a unit of time; there are `ms`, `s`, `m`, `h` and `d`"));
    };
    scaled(number, unit_ms * 1_000_000).map(Duration::from_nanos)
}

/// The text of a duration, in the largest unit that gives a whole number: what [`duration`] reads again.
#[must_use]
pub fn duration_text(duration: Duration) -> String {
    let micros = duration.as_micros();
    for (unit, unit_ms) in UNITS_MS {
        let unit_us = u128::from(unit_ms) * 1_000;
        if micros > 0 && micros.is_multiple_of(unit_us) {
            return format!("{}{unit}", micros / unit_us);
        }
    }
    if micros == 0 {
        return "0s".to_owned();
    }
    let text = format!("{}.{:03}", micros / 1_000, micros % 1_000);
    format!("{}ms", text.trim_end_matches('0'))
}

/// `auto`, `off` or a duration.
///
/// # Errors
/// If it is none of them.
pub fn idle_timeout(text: &str) -> Parsed<IdleTimeout> {
    match text {
        "auto" => Ok(IdleTimeout::Auto),
        "off" => Ok(IdleTimeout::Off),
        _ => match duration(text) {
            Ok(Duration::ZERO) => Err("a time-out of nothing would end every connection; `off` turns it off".into()),
            Ok(limit) => Ok(IdleTimeout::Fixed(limit)),
            Err(why) if text.starts_with(|c: char| c.is_ascii_digit()) => Err(why),
            Err(_) => Err("expected `auto`, `off` or a duration such as `30s`".to_owned()),
        },
    }
}

/// A size in bytes: `64KiB`, `8MiB`, `2k`, `1MB`. A bare `k`, `M`, `G` counts in 1024s as in curl and the GNU tools,
/// `kB`, `MB`, `GB` in 1000s.
///
/// # Errors
/// If it is none, or nought.
pub fn size(text: &str) -> Parsed<u64> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    if number.is_empty() {
        return Err("not a size; write one as `64KiB`, `8MiB` or `2k`".to_owned());
    }
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" | "ki" => 1 << 10,
        "m" | "mib" | "mi" => 1 << 20,
        "g" | "gib" | "gi" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => {
            return Err(format!(
                "`{unit}` is not a unit of size; there are `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB`, `GB`"
            ));
        }
    };
    match scaled(number, factor)? {
        0 => Err("a size of nothing would let no event through".to_owned()),
        bytes => Ok(bytes),
    }
}

/// How many events end a run.
///
/// # Errors
/// If it is not a whole number from 1.
pub fn count(text: &str) -> Parsed<u64> {
    match text.parse() {
        Ok(0) => Err("a run ends after 1 event at the earliest".to_owned()),
        Ok(count) => Ok(count),
        Err(_) => Err("expected a whole number from 1".to_owned()),
    }
}

/// A duration, else a size: what an export is rotated by.
///
/// # Errors
/// If it is neither, or nothing.
pub fn rotation(text: &str) -> Parsed<RotationLimit> {
    match (duration(text), size(text)) {
        (Ok(age), _) if age.is_zero() => Err("a file of no age would never hold a record".to_owned()),
        (Ok(age), _) => Ok(RotationLimit::Age(age)),
        (Err(_), Ok(bytes)) => Ok(RotationLimit::Bytes(bytes)),
        (Err(_), Err(_)) => Err("neither a size, as `64MiB`, nor a duration, as `1h`".to_owned()),
    }
}

/// `number` (digits, at most one point) times `factor`, exactly; what is below one is cut off.
fn scaled(number: &str, factor: u64) -> Parsed<u64> {
    let bad = || format!("`{number}` is not a number");
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return Err(bad());
    }
    let too_large = || format!("`{number}` is too large");
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    let fraction = &fraction[..fraction.len().min(18)];
    let digits = u32::try_from(fraction.len()).expect("at most 18");
    let fraction: u128 = fraction.parse().map_err(|_| bad())?;
    let part = u64::try_from(fraction * u128::from(factor) / 10_u128.pow(digits)).map_err(|_| too_large())?;
    whole.checked_mul(factor).and_then(|product| product.checked_add(part)).ok_or_else(too_large)
}

/// A regular expression.
///
/// # Errors
/// What the regex engine says of it.
pub fn regex(text: &str) -> Parsed<Regex> {
    Regex::new(text).map_err(|error| format!("not a regular expression: {error}"))
}

/// `Name: value`, `Name:` (none of this name is sent), `Name;` (an empty value) or `@FILE`, as in curl.
///
/// # Errors
/// If it is none of them; the text is not repeated, it may be a credential.
pub fn header(text: &str) -> Parsed<HeaderSource> {
    if text == "@-" {
        return Err("headers are read again at each attempt, which stdin cannot be; name a file: `@FILE`".to_owned());
    }
    if let Some(file) = text.strip_prefix('@') {
        return file_name(file).map(HeaderSource::File);
    }
    if let Some((name, value)) = text.split_once(':') {
        return header_of(name, value);
    }
    match text.trim_end().strip_suffix(';').map(str::trim) {
        Some(name) if is_token(name) => Ok(HeaderSource::Inline(Header::new(name, ""))),
        _ => Err("a header is written `Name: value`, or `@FILE` for a file with one a line".to_owned()),
    }
}

/// A header from its two halves; without a value, none of this name is sent.
///
/// # Errors
/// If the name is not a token, or the value has a byte that no header field can hold (RFC 9110, section 5).
pub fn header_of(name: &str, value: &str) -> Parsed<HeaderSource> {
    let (name, value) = (name.trim(), value.trim_matches([' ', '\t']));
    if !is_token(name) {
        return Err("the name of a header is letters, digits and any of !#$%&'*+-.^_`|~".to_owned());
    }
    if value.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f) {
        return Err(format!("the value of the header `{name}` has a control character"));
    }
    let value = if value.is_empty() { None } else { Some(Secret::new(value)) };
    Ok(HeaderSource::Inline(Header { name: name.to_owned(), value }))
}

/// A request method.
///
/// # Errors
/// If it is not a token (RFC 9110, section 9.1).
pub fn method(text: &str) -> Parsed<String> {
    if is_token(text) { Ok(text.to_owned()) } else { Err("not a request method such as `POST`".to_owned()) }
}

/// A token of RFC 9110, section 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// `BODY`, `@FILE` or `@-`.
///
/// # Errors
/// If the name of the file is missing.
pub fn body(text: &str) -> Parsed<BodySource> {
    match text.strip_prefix('@') {
        Some("-") => Ok(BodySource::Stdin),
        Some(file) => file_name(file).map(BodySource::File),
        None => Ok(BodySource::Inline(text.as_bytes().to_vec())),
    }
}

fn file_name(text: &str) -> Parsed<PathBuf> {
    if text.is_empty() { Err("the name of the file is missing after `@`".to_owned()) } else { Ok(text.into()) }
}

/// `USER:PASSWORD`; the password may be empty and may hold colons.
///
/// # Errors
/// If there is no colon; the text is not repeated.
pub fn user(text: &str) -> Parsed<Credentials> {
    let (user, password) = text.split_once(':').ok_or("credentials are written `USER:PASSWORD`")?;
    Ok(Credentials::Basic { user: user.to_owned(), password: Secret::new(password) })
}

/// `header` or `query:NAME`.
///
/// # Errors
/// If it is neither.
pub fn send_cursor(text: &str) -> Parsed<SendCursor> {
    match text.split_once(':') {
        None if text == "header" => Ok(SendCursor::Header),
        Some(("query", "")) => Err("the name of the query parameter is missing, as in `query:since_id`".to_owned()),
        Some(("query", name)) => Ok(SendCursor::Query(name.to_owned())),
        _ => Err("expected `header` or `query:NAME`".to_owned()),
    }
}

/// `NAME=VALUE`.
///
/// # Errors
/// If there is no name or no `=`; the text is not repeated.
pub fn name_value(text: &str) -> Parsed<(String, String)> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a query parameter is written `NAME=VALUE`".to_owned()),
    }
}

/// A JSON pointer (RFC 6901), but not the empty one: the whole data is no id.
///
/// # Errors
/// If it does not start with `/`, or has a `~` that escapes nothing.
pub fn pointer(text: &str) -> Parsed<Pointer> {
    if !text.starts_with('/') {
        return Err(format!("a JSON pointer starts with `/`, as in `/{}`", text.replace('.', "/")));
    }
    if text.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1'])) {
        return Err("in a JSON pointer `~` is written `~0`, and `/` inside of a name `~1`".to_owned());
    }
    Pointer::parse(text).map_err(|why| why.to_string())
}

/// `event`, `id`, `/POINTER` or `none`.
///
/// # Errors
/// If it is none of them.
pub fn dedupe(text: &str) -> Parsed<Dedupe> {
    match text {
        "event" => Ok(Dedupe::Event),
        "id" => Ok(Dedupe::Id),
        "none" => Ok(Dedupe::None),
        _ if text.starts_with('/') => pointer(text).map(Dedupe::Value),
        _ => Err("expected `event`, `id`, `none` or a JSON pointer such as `/order/id`".to_owned()),
    }
}

/// `live` or `id:ID`.
///
/// # Errors
/// If it is neither.
pub fn initial(text: &str) -> Parsed<Initial> {
    match text.split_once(':') {
        None if text == "live" => Ok(Initial::Live),
        Some(("id", id)) => event_id(id).map(Initial::Id),
        _ => Err("expected `live` or `id:ID`".to_owned()),
    }
}

/// An event id, byte for byte.
///
/// # Errors
/// If no `id:` line can have given it.
pub fn event_id(text: &str) -> Parsed<EventId> {
    if text.contains(['\0', '\r', '\n']) {
        return Err("an event id has no line end and no NUL".to_owned());
    }
    EventId::new(text).ok_or_else(|| "an event id cannot be empty".to_owned())
}

/// The names of the output formats, for messages.
const FORMATS: [&str; 4] = ["pretty", "json", "data", "raw"];

/// The names of what a template may hold, for messages.
const PLACEHOLDERS: [&str; 5] = ["id", "event", "data", "stream", "time"];

/// `pretty`, `json`, `data`, `raw` or a template.
///
/// # Errors
/// If it is neither a format's name nor a template that can be used.
pub fn output_format(text: &str) -> Parsed<OutputFormat> {
    OutputFormat::parse(text).map_err(|why| {
        let near = match &why {
            BadFormat::Unknown(name) => nearest(name, FORMATS).map(str::to_owned),
            BadFormat::Template(BadTemplate::UnknownPlaceholder(name)) => {
                nearest(name, PLACEHOLDERS).map(|near| format!("{{{near}}}"))
            }
            BadFormat::Template(_) => None,
        };
        near.map_or(why.to_string(), |near| format!("{why}; did you mean `{near}`?"))
    })
}

/// `recover`, `warn` or `exit`.
///
/// # Errors
/// If it is none of them.
pub fn on_drop(text: &str) -> Parsed<OnDrop> {
    match text {
        "recover" => Ok(OnDrop::Recover),
        "warn" => Ok(OnDrop::Warn),
        "exit" => Ok(OnDrop::Exit),
        _ => Err("expected `recover`, `warn` or `exit`".to_owned()),
    }
}

/// `stop` or `live`.
///
/// # Errors
/// If it is neither.
pub fn on_expired(text: &str) -> Parsed<OnExpired> {
    match text {
        "stop" => Ok(OnExpired::Stop),
        "live" => Ok(OnExpired::Live),
        _ => Err("expected `stop` or `live`".to_owned()),
    }
}

/// `auto`, `always` or `never`.
///
/// # Errors
/// If it is none of them.
pub fn color(text: &str) -> Parsed<ColorChoice> {
    match text {
        "auto" => Ok(ColorChoice::Auto),
        "always" => Ok(ColorChoice::Always),
        "never" => Ok(ColorChoice::Never),
        _ => Err("expected `auto`, `always` or `never`".to_owned()),
    }
}
