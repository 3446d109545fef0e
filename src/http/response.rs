//! The head of a response: is it an event stream, and if not, what is it.

use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, RETRY_AFTER};
use reqwest::{Response, StatusCode};

use crate::consumer::ports::ConnectError;
use crate::redact::{Secret, redact_text};

/// The media type of an event stream (HTML standard, section 9.2.5).
const EVENT_STREAM: &str = "text/event-stream";
/// How much of a body is looked at for its first line.
const FIRST_LINE_BYTES_MAX: usize = 512;
/// How long the first line of a body is waited for.
const FIRST_LINE_WAIT: Duration = Duration::from_secs(1);

/// Lets an event stream pass and makes an error of everything else.
pub(super) async fn check(mut response: Response, secrets: &[Secret]) -> Result<Response, ConnectError> {
    let status = response.status();
    if status == StatusCode::NO_CONTENT {
        return Err(ConnectError::NoContent);
    }
    if status != StatusCode::OK {
        let retry_after = text_of(response.headers(), RETRY_AFTER);
        let line = first_line(&mut response, secrets).await;
        return Err(ConnectError::Status {
            code: status.as_u16(),
            detail: detail(status, &line),
            retry_after: retry_after.and_then(|value| retry_delay(&value, SystemTime::now())),
            retryable: is_retryable(status),
        });
    }
    let content_type = text_of(response.headers(), CONTENT_TYPE).unwrap_or_default();
    if !is_event_stream(&content_type) {
        let first_line = first_line(&mut response, secrets).await;
        return Err(ConnectError::WrongType { content_type: escape(&content_type), first_line });
    }
    // What could be decoded lost this field on the way here; what is left cannot be read.
    match text_of(response.headers(), CONTENT_ENCODING) {
        Some(coding) if !matches!(coding.to_ascii_lowercase().as_str(), "" | "identity") => {
            let content_type = format!("{} in the unknown encoding {}", escape(&content_type), escape(&coding));
            Err(ConnectError::WrongType { content_type, first_line: String::new() })
        }
        _ => Ok(response),
    }
}

/// The value of a field; bytes that are not UTF-8 are replaced.
pub(super) fn text_of(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
}

/// Whether another attempt may succeed: 408, 425, 429 and 5xx.
fn is_retryable(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 425 | 429) || status.is_server_error()
}

/// Parameters (`charset=utf-8`) and case do not matter (RFC 9110, section 8.3.1).
fn is_event_stream(content_type: &str) -> bool {
    content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(EVENT_STREAM)
}

/// `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3), as a delay from `now`; a date that has passed
/// is no delay.
fn retry_delay(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are a very long time, not a mistake.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::from(u32::MAX))));
    }
    let at = httpdate::parse_http_date(value).ok()?;
    Some(at.duration_since(now).unwrap_or(Duration::ZERO))
}

fn detail(status: StatusCode, line: &str) -> String {
    match (status.canonical_reason().unwrap_or_default(), line) {
        (reason, "") => reason.to_owned(),
        ("", line) => line.to_owned(),
        (reason, line) => format!("{reason}: {line}"),
    }
}

/// The first line of a body that is not blank: bounded in bytes and time, escaped, without credentials.
async fn first_line(response: &mut Response, secrets: &[Secret]) -> String {
    let mut seen: Vec<u8> = Vec::new();
    let reading = async {
        while seen.len() < FIRST_LINE_BYTES_MAX && !has_line(&seen) {
            // An error here is as good as the end: what came is shown.
            let Ok(Some(chunk)) = response.chunk().await else { break };
            seen.extend_from_slice(&chunk);
        }
    };
    // If the time is up, what came until then is shown.
    let _ = tokio::time::timeout(FIRST_LINE_WAIT, reading).await;
    seen.truncate(FIRST_LINE_BYTES_MAX);
    let text = String::from_utf8_lossy(&seen);
    let line = text.split(['\n', '\r']).map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    escape(&redact_text(line, secrets))
}

/// Whether a line that is not blank is there whole.
fn has_line(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().iter().any(|byte| matches!(byte, b'\n' | b'\r'))
}

/// Control characters as escapes: a server cannot drive the user's terminal, nor make text look like other text.
pub(super) fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_bidi_control(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// The Unicode property `Bidi_Control`.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_media_type_counts_without_case_and_parameters() {
        for good in
            ["text/event-stream", "Text/Event-Stream; charset=UTF-8", " text/event-stream ;x", "TEXT/EVENT-STREAM"]
        {
            assert!(is_event_stream(good), "{good}");
        }
        for bad in ["", "text/html", "text/event-streams", "application/json; text/event-stream", "text/event"] {
            assert!(!is_event_stream(bad), "{bad}");
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let delay = |value| retry_delay(value, now);
        assert_eq!(delay("120"), Some(Duration::from_secs(120)));
        assert_eq!(delay(" 0 "), Some(Duration::ZERO));
        assert_eq!(delay("99999999999999999999999"), Some(Duration::from_secs(u64::from(u32::MAX))));
        assert_eq!(delay("Sun, 06 Nov 1994 08:50:07 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(delay("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        for bad in ["", "soon", "-5", "+5", "1.5"] {
            assert_eq!(delay(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_statuses_that_may_pass_are_retried() {
        let retried: Vec<u16> = (200..600).filter(|&code| is_retryable(StatusCode::from_u16(code).unwrap())).collect();
        assert_eq!(retried[..3], [408, 425, 429]);
        assert_eq!(retried[3..], (500..600).collect::<Vec<u16>>());
    }

    #[test]
    fn control_characters_are_shown_escaped() {
        assert_eq!(escape("a\u{1b}[31m\tb\u{9b}\u{e9}"), "a\\u{1b}[31m\\tb\\u{9b}\u{e9}");
        assert_eq!(escape("a\u{202e}b\u{2066}\u{200f}\u{61c}"), "a\\u{202e}b\\u{2066}\\u{200f}\\u{61c}");
    }
}
