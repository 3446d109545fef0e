//! The command line as it was typed, and as others may see it.
//!
//! Responsible for keeping credentials that were typed out of the list of processes and out of error texts: both show
//! the command line, the one to everybody on the machine, the other to whoever reads a log. Knows which options take
//! something secret; what any of them means it must never know.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::FdFlags;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::redact::{MASK, is_secret_header, is_secret_parameter, redact_word};

/// Says in a cleaned command line which file descriptor holds the one that was typed.
const HANDED_OVER: &str = "--arguments-from-fd=";

/// A shorter text is not searched for in messages: masking every `a` would tell the secret, not hide it.
const SEARCHED_BYTES_MIN: usize = 4;

/// Options whose value is the next word, or the rest of this one, by their letter. The others are switches.
const LETTERS_WITH_VALUE: &str = "HXduxoen";

/// A command line: what was typed, and each secret in it with what is shown instead.
#[derive(Clone)]
pub struct Arguments {
    typed: Vec<OsString>,
    shown: Vec<OsString>,
    /// The longest first: one secret may be a part of another.
    secrets: Vec<(String, String)>,
}

/// What the value of an option is, as far as secrets go.
#[derive(Clone, Copy)]
enum Value {
    User,
    Header,
    Data,
    Parameter,
    Word,
}

impl Arguments {
    /// The command line of this process.
    ///
    /// If it holds a credential, the program starts itself again, in the same process, with a command line that does
    /// not, and with the one that was typed in a pipe: so `ps` shows it for a moment only. Where the system does not
    /// let it, it goes on as it is.
    #[must_use]
    pub fn of_process() -> Self {
        let given: Vec<OsString> = std::env::args_os().collect();
        if let Some(typed) = handed_over(&given) {
            return Self::new(typed);
        }
        let arguments = Self::new(given);
        if arguments.shown != arguments.typed {
            // It comes back only where it could not start again.
            let _ = arguments.start_again();
        }
        arguments
    }

    /// A command line, the name of the program first.
    #[must_use]
    pub fn new(typed: Vec<OsString>) -> Self {
        let mut arguments = Self { shown: typed.clone(), typed, secrets: Vec::new() };
        let mut pending = None;
        let mut only_words = false;
        for index in 1..arguments.typed.len() {
            let Some(text) = arguments.typed[index].to_str().map(str::to_owned) else {
                pending = None;
                continue;
            };
            let shown = match pending.take() {
                Some(value) => arguments.cleaned(value, &text),
                None if text == "--" && !only_words => {
                    only_words = true;
                    text
                }
                None if only_words || !text.starts_with('-') || text == "-" => arguments.cleaned(Value::Word, &text),
                None => arguments.option(&text, &mut pending),
            };
            arguments.shown[index] = shown.into();
        }
        arguments.secrets.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        arguments
    }

    /// What was typed.
    #[must_use]
    pub fn typed(&self) -> &[OsString] {
        &self.typed
    }

    /// A text in which nothing stands of the secrets that were typed.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (secret, shown) in &self.secrets {
            text = text.replace(secret, shown);
            let escaped = secret.escape_debug().to_string();
            if escaped != *secret {
                text = text.replace(&escaped, shown);
            }
        }
        text
    }

    /// A word that starts with `-`, as it may be shown; `pending` becomes what the next word is.
    fn option(&mut self, text: &str, pending: &mut Option<Value>) -> String {
        if let Some(long) = text.strip_prefix("--") {
            let Some((name, value)) = long.split_once('=') else {
                *pending = value_of_long(long);
                return text.to_owned();
            };
            let kind = value_of_long(name).unwrap_or(Value::Word);
            return format!("--{name}={}", self.cleaned(kind, value));
        }
        for (at, letter) in text.char_indices().skip(1) {
            if !LETTERS_WITH_VALUE.contains(letter) {
                continue;
            }
            let (head, value) = text.split_at(at + letter.len_utf8());
            let kind = value_of_letter(letter);
            if value.is_empty() {
                *pending = Some(kind);
                return text.to_owned();
            }
            let value = value.strip_prefix('=').unwrap_or(value);
            return format!("{head}{}", self.cleaned(kind, value));
        }
        text.to_owned()
    }

    /// A value without its secret, which is remembered.
    fn cleaned(&mut self, value: Value, text: &str) -> String {
        let shown = match value {
            Value::User | Value::Data if text.is_empty() => text.to_owned(),
            Value::User => MASK.to_owned(),
            Value::Header | Value::Data if text.starts_with('@') => text.to_owned(),
            Value::Data => MASK.to_owned(),
            Value::Header => match text.split_once([':', ';']) {
                Some((name, rest)) if is_secret_header(name) && !rest.trim().is_empty() => format!("{name}: {MASK}"),
                _ => text.to_owned(),
            },
            Value::Parameter => match text.split_once('=') {
                Some((name, rest)) if is_secret_parameter(name) && !rest.is_empty() => format!("{name}={MASK}"),
                _ => text.to_owned(),
            },
            Value::Word => redact_word(text),
        };
        if shown != text && text.len() >= SEARCHED_BYTES_MIN {
            self.secrets.push((text.to_owned(), shown.clone()));
        }
        shown
    }

    /// Starts the program again with the cleaned command line; comes back only if that fails.
    fn start_again(&self) -> std::io::Result<()> {
        let program = std::env::current_exe()?;
        let (from, to) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let handed: Vec<u8> = self.typed.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
        let mut to = std::fs::File::from(to);
        // More than the pipe holds is refused, not waited for: nobody reads yet.
        to.write_all(&handed)?;
        drop(to);
        let place = format!("/dev/fd/{}", from.as_raw_fd());
        std::fs::metadata(&place)?;
        rustix::io::fcntl_setfd(&from, FdFlags::empty())?;
        let name = self.typed.first().map_or(OsStr::new("ssectl"), OsString::as_os_str);
        Err(Command::new(program)
            .arg0(name)
            .arg(format!("{HANDED_OVER}{}", from.as_raw_fd()))
            .args(self.shown.iter().skip(1))
            .exec())
    }
}

/// The command line that was typed, if this process was started again to hide it.
fn handed_over(given: &[OsString]) -> Option<Vec<OsString>> {
    let number: u32 = given.get(1)?.to_str()?.strip_prefix(HANDED_OVER)?.parse().ok()?;
    let mut bytes = Vec::new();
    std::fs::File::open(format!("/dev/fd/{number}")).ok()?.read_to_end(&mut bytes).ok()?;
    let whole = bytes.strip_suffix(b"\0")?;
    Some(whole.split(|&byte| byte == 0).map(|word| OsString::from_vec(word.to_vec())).collect())
}

fn value_of_long(name: &str) -> Option<Value> {
    Some(match name {
        "user" => Value::User,
        "header" => Value::Header,
        "data" => Value::Data,
        "start-param" => Value::Parameter,
        "proxy" => Value::Word,
        _ => return None,
    })
}

fn value_of_letter(letter: char) -> Value {
    match letter {
        'u' => Value::User,
        'H' => Value::Header,
        'd' => Value::Data,
        _ => Value::Word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &[&str]) -> Arguments {
        Arguments::new(std::iter::once("ssectl").chain(words.iter().copied()).map(OsString::from).collect())
    }

    fn shown(words: &[&str]) -> Vec<String> {
        arguments(words).shown[1..].iter().map(|word| word.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn nothing_secret_is_shown_however_it_is_written() {
        let cases: &[(&[&str], &[&str])] = &[
            (&["tail", "-u", "me:pw", "x"], &["tail", "-u", "***", "x"]),
            (&["tail", "-ume:pw"], &["tail", "-u***"]),
            (&["tail", "-kvu", "me:pw", "x"], &["tail", "-kvu", "***", "x"]),
            (&["tail", "--user=me:pw"], &["tail", "--user=***"]),
            (&["tail", "-H", "Authorization: Bearer t"], &["tail", "-H", "Authorization: ***"]),
            (&["tail", "--header=X-Api-Key: t"], &["tail", "--header=X-Api-Key: ***"]),
            (&["tail", "-x", "http://me:pw@proxy:1"], &["tail", "-x", "http://***@proxy:1"]),
            (&["tail", "-d", "{\"key\":1}"], &["tail", "-d", "***"]),
            (&["tail", "--start-param", "token=t"], &["tail", "--start-param", "token=***"]),
            (&["tail", "https://me:pw@h/p?token=t&x=1"], &["tail", "https://***@h/p?token=***&x=1"]),
            (&["me:pw@h/x"], &["***@h/x"]),
            (&["tail", "--", "-u", "me:pw@h"], &["tail", "--", "-u", "***@h"]),
        ];
        for (typed, expected) in cases {
            assert_eq!(shown(typed), *expected);
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        let plain =
            ["resume", "-H", "X-Tenant: a", "-H", "@tokens", "-d", "@-", "-n", "5", "-o", "{id}", "http://h/?x=1"];
        assert_eq!(shown(&plain), plain);
    }

    #[test]
    fn a_message_loses_what_was_typed() {
        let arguments = arguments(&["tail", "-u", "me:hunter2", "u:hunter2@h/x"]);
        assert_eq!(arguments.redact("no stream `u:hunter2@h/x`, no me:hunter2"), "no stream `***@h/x`, no ***");
    }
}
