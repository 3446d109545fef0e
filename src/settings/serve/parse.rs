//! From the text of one value of `serve` to the value. Errors are the rest of a sentence.

use super::{PolicySource, Speed, SyntheticType};
use crate::cli::serve::Synthetic;
use crate::settings::parse::{Parsed, size};

/// The fastest rate that is made up, in events a second.
const RATE_MAX: f64 = 1_000_000.0;

/// The words that begin a policy, which is no name of a file.
const KINDS: [&str; 4] = ["coalesce", "buffer", "drop", "resnapshot"];

/// `TYPE=KIND…`, or the name of a file.
///
/// # Errors
/// If it is empty, or its type is missing.
pub fn policy(text: &str) -> Parsed<PolicySource> {
    match text {
        "" => Err("a policy is written `TYPE=KIND`, as in `price=coalesce:/sym`".to_owned()),
        _ if KINDS.contains(&text.split([':', ',']).next().unwrap_or(text)) => {
            Err(format!("a policy is written `TYPE=KIND`: `TYPE={text}`, or `*={text}` for all types"))
        }
        _ if text.contains('=') => Ok(PolicySource::Rule(text.to_owned())),
        _ => Ok(PolicySource::File(text.into())),
    }
}

/// `1x`, `10x`, `0.5x` or `max`.
///
/// # Errors
/// If it is none of them.
pub fn speed(text: &str) -> Parsed<Speed> {
    if text == "max" {
        return Ok(Speed::Max);
    }
    let times = text.strip_suffix('x').and_then(|number| number.parse::<f64>().ok());
    match times.filter(|times| times.is_finite() && *times > 0.0) {
        Some(times) => Ok(Speed::Times(times)),
        None => Err("expected `1x`, `10x` or the like, or `max`".to_owned()),
    }
}

/// A count of at least one.
///
/// # Errors
/// If it is none.
pub fn at_least_one(text: &str) -> Parsed<usize> {
    text.parse().ok().filter(|&count| count > 0).ok_or_else(|| "expected a number of at least 1".to_owned())
}

/// `TYPE:rate=200/s,keys=8,size=120,count=1000;TYPE…`.
///
/// # Errors
/// What is wrong with it.
pub fn synthetic(text: &str) -> Parsed<Synthetic> {
    let types = text.split(';').map(str::trim).filter(|part| !part.is_empty()).map(synthetic_type);
    let types: Vec<_> = types.collect::<Result<_, _>>()?;
    let twice = types.iter().enumerate().find(|(at, one)| types[..*at].iter().any(|before| before.event == one.event));
    match twice {
        Some((_, one)) => Err(format!("the type `{}` is there twice", one.event)),
        None if types.is_empty() => Err("no type is named, as in `price:rate=50/s`".to_owned()),
        None => Ok(Synthetic(types)),
    }
}

fn synthetic_type(text: &str) -> Parsed<SyntheticType> {
    let (event, options) = text.split_once(':').unwrap_or((text, ""));
    if event.is_empty() || event.contains(['\r', '\n', '=', ',']) {
        return Err(format!("`{text}` does not begin with a type, as `price:rate=50/s` does"));
    }
    let mut made_up = SyntheticType { event: event.to_owned(), rate: 1.0, keys: 0, size: 0, count: None };
    for option in options.split(',').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').ok_or_else(|| format!("`{option}` has no `=`"))?;
        let number = || value.parse().map_err(|_| format!("`{value}` is no number for `{name}`"));
        match name.trim() {
            "rate" => made_up.rate = rate(value)?,
            "keys" => made_up.keys = value.parse().map_err(|_| format!("`{value}` is no number of keys"))?,
            "size" => made_up.size = usize::try_from(size(value)?).map_err(|_| "too large".to_owned())?,
            "count" => made_up.count = Some(number()?),
            other => return Err(format!("there is no `{other}`; a type has `rate`, `keys`, `size` and `count`")),
        }
    }
    Ok(made_up)
}

/// `200/s`, `30/m`, `5/h`; in events a second.
fn rate(text: &str) -> Parsed<f64> {
    let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
    let seconds = match unit {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{text}` is no rate; write one as `200/s`, `30/m` or `5/h`")),
    };
    let rate = number.parse::<f64>().ok().map(|number| number / seconds);
    rate.filter(|rate| *rate > 0.0 && *rate <= RATE_MAX)
        .ok_or_else(|| format!("`{text}` is no rate between nothing and a million a second"))
}
