//! From how a run ended to its exit code and its last words.

use crate::consumer::id::StreamName;
use crate::consumer::options::Follow;
use crate::consumer::ports::{ConnectError, JournalError};
use crate::consumer::record::GapState;
use crate::consumer::stats::Gaps;
use crate::driver::{End, Outcome};
use crate::error::{Exit, Failure};
use crate::http::{SendCursor, default_stream_name};
use crate::redact::RedactedUrl;
use crate::settings::StreamSettings;

/// What decides, besides the end itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances<'a> {
    pub(super) stream: &'a StreamName,
    pub(super) url: &'a str,
    /// The stream as it can be typed after `resume`.
    pub(super) typed: &'a str,
    pub(super) follow: Follow,
    /// The run was to end by itself, or with its connection.
    pub(super) bounded: bool,
    /// The next run finds what this one stored.
    pub(super) stored: bool,
    /// Requests showed who asks.
    pub(super) has_credentials: bool,
}

/// How one stream ended.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) result: Result<Exit, Failure>,
    /// Something that is no failure but should be known.
    pub(super) note: Option<String>,
}

/// Words and code for an outcome.
pub(super) fn conclude<J>(outcome: Outcome<J>, circumstances: &Circumstances<'_>) -> Ending {
    let Outcome { end, commit_failure, lost_events, gap_open, has_position, stats, in_memory, .. } = outcome;
    let stored = circumstances.stored && !in_memory;
    let mut unstored = None;
    let result = match (end_result(end, circumstances), commit_failure.filter(|_| stored)) {
        (Ok(_), Some(error)) if circumstances.follow == Follow::Resume => Err(store_failure(error)),
        (result, Some(error)) => {
            let why = store_failure(error).causes.join(": ");
            unstored = Some(format!("the last cursor of `{}` is not stored: {why}", circumstances.stream));
            result
        }
        (result, None) => result,
    };
    let next_run_recovers = stored && circumstances.follow == Follow::Resume;
    let note = (gap_open && next_run_recovers)
        .then(|| format!("a gap is still open; the next `ssectl resume {}` recovers it", circumstances.typed));
    let live_again = (result.is_ok() && next_run_recovers && !has_position).then(|| {
        let typed = circumstances.typed;
        format!(
            "no id came, so no position is stored: the next `ssectl resume {typed}` starts live again, after whatever \
             comes in between; `--initial id:ID` gives it a place to start"
        )
    });
    let note = unstored.or(note).or(live_again);
    let unfilled = lost_events || (gap_open && !next_run_recovers);
    let result = match result {
        Ok(Exit::Success) if circumstances.bounded && unfilled => Err(lost_failure(&stats.gaps, circumstances)),
        other => other,
    };
    Ending { result, note }
}

fn end_result(end: End, circumstances: &Circumstances<'_>) -> Result<Exit, Failure> {
    let url = circumstances.url;
    Err(match end {
        End::Count
        | End::Time
        | End::Until
        | End::Idle
        | End::NoContent
        | End::ServerEnded
        | End::ReplayEnd
        | End::ReaderGone => return Ok(Exit::Success),
        End::Signal(15) => return Ok(Exit::Terminated),
        End::Signal(_) => return Ok(Exit::Interrupted),
        End::Dropped => dropped_failure(circumstances),
        End::Expired(how) => expired_failure(&how, circumstances),
        End::NoSnapshot(error) => no_snapshot(error, circumstances),
        End::Refused(error) => refused_failure(error, circumstances.url, circumstances.has_credentials),
        End::NoConnection { causes, retries, answered } => {
            let failure = no_connection(causes, retries, url);
            // Who answers need not be looked for.
            if answered { failure } else { failure.hint(curl_hint(url)) }
        }
        End::Broken(causes) => {
            let failure = Failure::new(Exit::Unreachable, format!("read `{url}` to its end"));
            Failure { causes, ..failure }.hint("without `--no-reconnect` it connects again")
        }
        End::TooLarge(limit) => Failure::new(Exit::Refused, format!("take the next event of `{url}`"))
            .cause(format!("it is larger than the limit of {limit} bytes"))
            .hint("raise the limit with `--max-event-bytes SIZE`; the cursor stays before this event"),
        End::Store(error) => store_failure(error),
        End::Output(error) => Failure::output(&error),
    })
}

fn dropped_failure(circumstances: &Circumstances<'_>) -> Failure {
    let failure = Failure::new(Exit::Lost, format!("go on with `{}`", circumstances.stream))
        .cause("the server says that it dropped events, and `--on-drop exit` was asked for");
    if circumstances.stored {
        failure.hint(format!("`ssectl resume {}` recovers them", circumstances.typed))
    } else {
        failure.hint("without `--on-drop exit` and `--no-store` they are recovered")
    }
}

/// There is no connection, and no further attempt.
pub(super) fn no_connection(causes: Vec<String>, retries: u32, url: &str) -> Failure {
    let mut failure = Failure { causes, ..Failure::new(Exit::Unreachable, format!("connect to `{url}`")) };
    if retries > 0 {
        failure.causes.push(format!("given up after {retries} {}", if retries == 1 { "retry" } else { "retries" }));
    }
    failure
}

fn curl_hint(url: &str) -> String {
    format!("`curl -sN {}` shows whether the server answers at all", shell_word(url))
}

fn expired_failure(how: &str, circumstances: &Circumstances<'_>) -> Failure {
    let name = shell_word(circumstances.stream.as_str());
    Failure::new(Exit::Lost, format!("go on with `{}` where it was left", circumstances.stream))
        .cause(format!("the server no longer has the cursor: {how}"))
        .hint(format!(
            "go on from live with `--on-expired live`, or set a cursor that it has with `ssectl checkpoint set {name} --latest ID`"
        ))
}

fn no_snapshot(error: ConnectError, circumstances: &Circumstances<'_>) -> Failure {
    let causes = refused_failure(error, circumstances.url, circumstances.has_credentials).causes;
    let failure = Failure::new(Exit::Lost, format!("go on with `{}` from a snapshot", circumstances.stream))
        .cause("the server no longer has the cursor, and `--snapshot-url` gives no state to go on from");
    causes
        .into_iter()
        .fold(failure, Failure::cause)
        .hint("without `--snapshot-url`, `--on-expired live` goes on from live")
}

/// Why a server's answer is not one that can be read, or why there is none.
pub(super) fn refused_failure(error: ConnectError, url: &str, has_credentials: bool) -> Failure {
    let failure = Failure::new(Exit::Refused, format!("read `{url}`"));
    match error {
        ConnectError::Status { code, detail, .. } => {
            let failure = failure.cause(format!("the server answered {code} {detail}"));
            match status_hint(code, has_credentials) {
                Some(hint) => failure.hint(hint),
                None => failure,
            }
        }
        ConnectError::WrongType { content_type, first_line } => {
            let kind = if content_type.is_empty() { "no media type".to_owned() } else { format!("`{content_type}`") };
            let failure =
                failure.cause(format!("the answer is not an event stream: it has {kind}, not `text/event-stream`"));
            let failure =
                if first_line.is_empty() { failure } else { failure.cause(format!("it begins with: {first_line}")) };
            failure.hint("check the URL; an event stream often has a path of its own")
        }
        ConnectError::BadRedirect(why) => failure.cause(why).hint("name the final URL"),
        ConnectError::Unusable { causes } => Failure { exit: Exit::Failure, causes, ..failure },
        ConnectError::Unreachable { causes } => no_connection(causes, 0, url).hint(curl_hint(url)),
        ConnectError::Untrusted { causes } => no_connection(causes, 0, url)
            .hint("`--cacert FILE` trusts the certificates in a file, `-k` trusts whoever answers"),
        ConnectError::Disagreed { causes } => no_connection(causes, 0, url)
            .hint("`--cert FILE` and `--key FILE` show who you are; `curl -v` tells what a server wants"),
        ConnectError::NoContent => failure.cause("it has no content"),
    }
}

fn status_hint(code: u16, has_credentials: bool) -> Option<&'static str> {
    match code {
        401 | 403 if has_credentials => Some("these credentials are not the right ones for it, or have expired"),
        401 | 403 => Some("give credentials with `-u USER:PASSWORD`, `--bearer-env VAR` or `-H 'Authorization: ...'`"),
        404 => Some("check the path of the URL"),
        405 => Some("the server wants another method: `-X METHOD`"),
        407 => Some("give the proxy its credentials: `-x http://USER:PASSWORD@HOST:PORT`"),
        431 => {
            Some("what is sent is too long for the server: look at `-H`, and at the cursor (`ssectl checkpoint list`)")
        }
        _ => None,
    }
}

fn store_failure(error: JournalError) -> Failure {
    Failure::from(error)
}

fn lost_failure(gaps: &Gaps, circumstances: &Circumstances<'_>) -> Failure {
    let states = [GapState::Partial, GapState::Unrecoverable, GapState::Ignored, GapState::Open];
    let words: Vec<String> = states
        .iter()
        .filter(|&&state| gaps.count(state) > 0)
        .map(|&state| format!("{} {}", gaps.count(state), state.as_str()))
        .collect();
    let failure = Failure::new(Exit::Lost, format!("deliver every event of `{}`", circumstances.stream))
        .cause(format!("the server dropped events; gaps: {}", words.join(", ")));
    if circumstances.stored {
        failure.hint(format!("`ssectl checkpoint show {}` lists them", shell_word(circumstances.stream.as_str())))
    } else {
        failure
    }
}

/// A stream as it can be typed after `resume`: its name in the config file, or its URL and the name it was given.
pub(super) fn typed(stream: &StreamSettings) -> String {
    let name = shell_word(stream.name.as_str());
    if stream.from_config {
        return name;
    }
    let parameter = match &stream.http.send_cursor {
        SendCursor::Query(name) => Some(name.as_str()),
        SendCursor::Header => None,
    };
    let url = shell_word(&RedactedUrl(&stream.http.url).to_string());
    if default_stream_name(&stream.http.url, parameter) == stream.name.as_str() {
        url
    } else {
        format!("{url} --stream {name}")
    }
}

/// A word as it can be typed in a shell.
pub(super) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_a_shell_would_change_is_quoted() {
        assert_eq!(shell_word("accounts"), "accounts");
        assert_eq!(shell_word("https://example.com/v1?a=b&c=d"), "'https://example.com/v1?a=b&c=d'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
    }
}
