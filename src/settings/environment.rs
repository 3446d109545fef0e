//! The only place that reads the process's environment.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// What of the world outside of the command line decides settings. Tests make their own.
#[derive(Clone, Default)]
pub struct Environment {
    /// The variables, where they are UTF-8.
    pub vars: HashMap<String, String>,
    /// stdout is a terminal.
    pub stdout_is_terminal: bool,
    /// stderr is a terminal.
    pub stderr_is_terminal: bool,
}

impl Environment {
    /// The environment of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let vars = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self {
            vars,
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
        }
    }

    /// A variable's value.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }

    /// A variable's value, if it is not empty.
    #[must_use]
    pub fn filled(&self, name: &str) -> Option<&str> {
        self.var(name).filter(|value| !value.is_empty())
    }

    /// The default database: `$XDG_STATE_HOME/ssectl/ssectl.db`, by the XDG Base Directory specification.
    #[must_use]
    pub fn default_db(&self) -> Option<PathBuf> {
        Some(self.base("XDG_STATE_HOME", ".local/state")?.join("ssectl/ssectl.db"))
    }

    /// The default config file: `$XDG_CONFIG_HOME/ssectl/config.toml`.
    #[must_use]
    pub fn default_config(&self) -> Option<PathBuf> {
        Some(self.base("XDG_CONFIG_HOME", ".config")?.join("ssectl/config.toml"))
    }

    /// The folder for temporary files: `$TMPDIR`, else `/tmp` (POSIX, Environment Variables).
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        PathBuf::from(self.filled("TMPDIR").unwrap_or("/tmp"))
    }

    /// A base directory. A relative one counts as unset, as the specification says.
    fn base(&self, name: &str, under_home: &str) -> Option<PathBuf> {
        let given = self.filled(name).map(Path::new).filter(|path| path.is_absolute());
        given.map(Path::to_path_buf).or_else(|| Some(Path::new(self.filled("HOME")?).join(under_home)))
    }

    /// `text` with each `${NAME}` replaced; `$${` stands for `${`.
    ///
    /// # Errors
    /// Which variable is unset, or what is wrong with the form. The values are never repeated.
    pub fn expand(&self, text: &str) -> Result<String, String> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            if rest[..at].ends_with('$') {
                expanded.push_str(&rest[..at]);
                expanded.push('{');
                rest = &rest[at + 2..];
                continue;
            }
            expanded.push_str(&rest[..at]);
            let (name, after) = rest[at + 2..].split_once('}').ok_or("a `${` without its `}`")?;
            let value = self.var(name).ok_or_else(|| format!("the environment variable `{name}` is not set"))?;
            expanded.push_str(value);
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }
}
