//! The config file: `[defaults]` and one table for each stream, with the long names of flags as keys.
//!
//! Every key of the file is checked when it is read; values (and the `${VAR}` in them) only of the tables in use, so
//! that one stream's missing variable does not stop another.

mod keys;
mod tree;

use std::path::{Path, PathBuf};

use self::keys::{DEFAULTS_ONLY, STREAM_KEYS, STREAM_ONLY, set};
use self::tree::{Entry, Value};
use super::environment::Environment;
use super::layer::Layer;
use super::near::{all_near, nearest};
use crate::consumer::id::StreamName;
use crate::error::Failure;
use crate::redact::redact_word;

/// What is said of a value that cannot be used and must not be repeated.
const HIDDEN: &str = "it cannot be used with what the variables in it hold, which is not shown";

/// A config file whose keys are all known.
#[derive(Debug, Default)]
pub struct Config {
    path: Option<PathBuf>,
    defaults: Vec<Entry>,
    streams: Vec<(StreamName, Vec<Entry>)>,
}

impl Config {
    /// Reads the config file: the one given, else that of `SSECTL_CONFIG`, else the default one if it is there.
    ///
    /// # Errors
    /// If it cannot be read, is not TOML, or has a key that is not known.
    pub fn load(given: Option<&Path>, env: &Environment) -> Result<Self, Failure> {
        let named = given.map(Path::to_path_buf).or_else(|| env.filled("SSECTL_CONFIG").map(PathBuf::from));
        let must_exist = named.is_some();
        let Some(path) = named.or_else(|| env.default_config()) else { return Ok(Self::default()) };
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(path, &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {
                Ok(Self { path: Some(path), ..Self::default() })
            }
            Err(error) => {
                Err(Failure::usage(format!("read the config file `{}`", path.display())).cause(error.to_string()))
            }
        }
    }

    /// Reads the text of a config file.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(path: PathBuf, text: &str) -> Result<Self, Failure> {
        let mut config = Self { path: Some(path), ..Self::default() };
        let root = tree::parse(text).map_err(|why| config.unusable(why))?;
        for entry in root {
            match (entry.key.as_str(), entry.value) {
                ("defaults", Value::Table(entries)) => {
                    known(&entries, &[STREAM_KEYS, DEFAULTS_ONLY].concat()).map_err(|why| config.unusable(why))?;
                    config.defaults = entries;
                }
                ("streams", Value::Table(streams)) => {
                    config.streams = streams
                        .into_iter()
                        .map(stream)
                        .collect::<Result<_, _>>()
                        .map_err(|why| config.unusable(why))?;
                }
                ("defaults" | "streams", _) => {
                    return Err(config.unusable(format!("line {}: `{}` is a table", entry.line, entry.key)));
                }
                (key, _) => return Err(config.unusable(unknown(entry.line, key, &["defaults", "streams"]))),
            }
        }
        Ok(config)
    }

    /// The options of `[defaults]`.
    ///
    /// # Errors
    /// If one of its values cannot be used.
    pub fn defaults(&self, env: &Environment) -> Result<Layer, Failure> {
        let entries = self.defaults.iter().filter(|entry| !DEFAULTS_ONLY.contains(&entry.key.as_str()));
        layer(entries, env).map_err(|why| self.unusable(why))
    }

    /// The options of a stream's own table.
    ///
    /// # Errors
    /// If there is no such stream, with the names that are like it, or one of its values cannot be used.
    pub fn stream(&self, name: &str, env: &Environment) -> Result<(StreamName, Layer), Failure> {
        let Some((name, entries)) = self.streams.iter().find(|(known, _)| known.as_str() == name) else {
            return Err(self.unknown_stream(name));
        };
        let layer = layer(entries.iter(), env).map_err(|why| self.unusable(why))?;
        Ok((name.clone(), layer))
    }

    /// `db` of `[defaults]`.
    ///
    /// # Errors
    /// If it is not a text that can be used.
    pub fn db(&self, env: &Environment) -> Result<Option<PathBuf>, Failure> {
        self.default_only("db", |value| value.text(env).map(PathBuf::from))
    }

    /// `no-store` of `[defaults]`.
    ///
    /// # Errors
    /// If it is neither `true` nor `false`.
    pub fn no_store(&self) -> Result<bool, Failure> {
        Ok(self.default_only("no-store", Value::boolean)?.unwrap_or(false))
    }

    fn default_only<T>(&self, key: &str, read: impl Fn(&Value) -> Result<T, String>) -> Result<Option<T>, Failure> {
        let Some(entry) = self.defaults.iter().find(|entry| entry.key == key) else { return Ok(None) };
        read(&entry.value).map(Some).map_err(|why| self.unusable(format!("line {}: `{key}`: {why}", entry.line)))
    }

    fn unusable(&self, why: String) -> Failure {
        let path = self.path.as_deref().unwrap_or(Path::new("")).display();
        Failure::usage(format!("use the config file `{path}`")).cause(why)
    }

    fn unknown_stream(&self, name: &str) -> Failure {
        // A URL without its scheme lands here, and with it what it holds.
        let shown = redact_word(name);
        let failure = Failure::usage(format!("find a stream named `{}`", shown.escape_debug()));
        let failure = match &self.path {
            Some(path) if path.exists() => failure.cause(format!("`{}` has no such stream", path.display())),
            Some(path) => failure.cause(format!("there is no config file `{}`", path.display())),
            None => failure.cause("there is no config file: neither XDG_CONFIG_HOME nor HOME is set"),
        };
        let near = all_near(name, self.streams.iter().map(|(known, _)| known.as_str()));
        if !near.is_empty() {
            let near: Vec<_> = near.into_iter().map(|near| format!("`{near}`")).collect();
            return failure.hint(format!("did you mean {}?", near.join(" or ")));
        }
        if name.contains(['.', ':', '/']) {
            return failure.hint(format!("a URL starts with its scheme: `https://{}`", shown.escape_debug()));
        }
        failure.hint(format!("add a table `[streams.{}]` with a `url`, or give the URL itself", shown.escape_debug()))
    }
}

fn stream(entry: Entry) -> Result<(StreamName, Vec<Entry>), String> {
    let line = entry.line;
    let name = StreamName::new(&entry.key).map_err(|why| format!("line {line}: {why}"))?;
    let Value::Table(entries) = entry.value else {
        return Err(format!("line {line}: `streams.{name}` is a table"));
    };
    known(&entries, &[STREAM_KEYS, STREAM_ONLY].concat())?;
    if !entries.iter().any(|entry| entry.key == "url") {
        return Err(format!("line {line}: the stream `{name}` has no `url`"));
    }
    Ok((name, entries))
}

fn known(entries: &[Entry], keys: &[&str]) -> Result<(), String> {
    match entries.iter().find(|entry| !keys.contains(&entry.key.as_str())) {
        Some(entry) => Err(unknown(entry.line, &entry.key, keys)),
        None => Ok(()),
    }
}

fn unknown(line: usize, key: &str, keys: &[&str]) -> String {
    let key = key.escape_debug();
    if DEFAULTS_ONLY.contains(&key.to_string().as_str()) {
        return format!("line {line}: `{key}` belongs into `[defaults]`, it is the same for all streams");
    }
    if STREAM_ONLY.contains(&key.to_string().as_str()) {
        return format!("line {line}: `{key}` belongs into a stream's own table");
    }
    let quoted = |near: &str| if near.contains('.') { format!("\"{near}\"") } else { near.to_owned() };
    match nearest(&key.to_string(), keys.iter().copied()) {
        Some(near) => format!("line {line}: unknown key `{key}`; did you mean `{}`?", quoted(near)),
        None => format!("line {line}: unknown key `{key}`; keys are the long names of the options that a stream has"),
    }
}

fn layer<'a>(entries: impl Iterator<Item = &'a Entry>, env: &Environment) -> Result<Layer, String> {
    let mut layer = Layer::default();
    for entry in entries {
        set(&mut layer, &entry.key, &entry.value, env)
            // What is wrong with a value may repeat it, and a variable may hold a credential.
            .map_err(|why| if entry.value.shows_variables(env) { HIDDEN.to_owned() } else { why })
            .map_err(|why| format!("line {}: `{}`: {why}", entry.line, entry.key))?;
        if let Some(why) = layer.conflict() {
            return Err(format!("line {}: {why}", entry.line));
        }
    }
    Ok(layer)
}
