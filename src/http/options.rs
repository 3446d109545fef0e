//! What the user asked of the connection, as plain data.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use crate::redact::{RedactedUrl, Secret};

/// How long a connection may take to stand, unless the user says otherwise.
pub const CONNECT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);

/// How long the head of a response may take once the connection stands, unless the user says otherwise. Long, since
/// there are servers that send the head together with the first event.
pub const HEAD_TIMEOUT_DEFAULT: Duration = Duration::from_secs(5 * 60);

/// A header field that the user gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The field's name.
    pub name: String,
    /// The field's value; `None` takes away a field that would be sent by default (`-H 'Accept:'`, as in curl).
    pub value: Option<Secret>,
}

/// A text that is no header field. It is not quoted in the message: it may hold a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadHeader {
    /// There is no colon.
    NoColon,
    /// The name is empty or has a character that none may have.
    Name,
    /// The value has a control character.
    Value,
}

impl fmt::Display for BadHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoColon => "a header is written `Name: value`, and this one has no colon",
            Self::Name => "the name of a header has letters, digits and `-` only",
            Self::Value => "the value of a header cannot hold a line break or another control character",
        })
    }
}

impl std::error::Error for BadHeader {}

impl Header {
    /// A field with a value.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: Some(Secret::new(value)) }
    }

    /// Reads `Name: value`; `Name:` takes a default field away and `Name;` sends an empty one, as in curl.
    ///
    /// # Errors
    /// [`BadHeader`] if it is none of these, or no header field can hold it (RFC 9110, section 5).
    pub fn parse(text: &str) -> Result<Self, BadHeader> {
        let header = match text.split_once(':') {
            Some((name, value)) if value.trim().is_empty() => Self { name: name.trim().to_owned(), value: None },
            Some((name, value)) => Self::new(name.trim(), value.trim_matches([' ', '\t', '\r', '\n'])),
            None => match text.trim_end().strip_suffix(';') {
                Some(name) => Self::new(name.trim(), ""),
                None => return Err(BadHeader::NoColon),
            },
        };
        header.check()?;
        Ok(header)
    }

    /// Whether an HTTP header field can hold this.
    ///
    /// # Errors
    /// [`BadHeader`] if not.
    pub fn check(&self) -> Result<(), BadHeader> {
        reqwest::header::HeaderName::from_bytes(self.name.as_bytes()).map_err(|_| BadHeader::Name)?;
        if let Some(value) = &self.value {
            reqwest::header::HeaderValue::from_bytes(value.expose().as_bytes()).map_err(|_| BadHeader::Value)?;
        }
        Ok(())
    }
}

/// Where header fields come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderSource {
    /// `-H 'Name: value'`.
    Inline(Header),
    /// `-H @FILE`: one a line, empty lines apart; read again at each attempt. All of them count as secret.
    File(PathBuf),
}

/// Where the body of the request comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum BodySource {
    /// `-d BODY`.
    Inline(Vec<u8>),
    /// `-d @FILE`, sent byte for byte; read again at each attempt.
    File(PathBuf),
    /// `-d @-`: standard input, read to its end at the first attempt and kept for later ones.
    Stdin,
}

impl fmt::Debug for BodySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inline(bytes) => write!(f, "Inline({} bytes)", bytes.len()),
            Self::File(path) => write!(f, "File({})", path.display()),
            Self::Stdin => f.write_str("Stdin"),
        }
    }
}

/// Where a bearer token comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bearer {
    /// `--bearer-env VAR`: the value that the variable had.
    Token(Secret),
    /// `--bearer-cmd CMD`: what `sh -c CMD` prints, run again at each attempt.
    Command(String),
}

/// Where the cursor goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SendCursor {
    /// The header field `Last-Event-ID` (HTML standard, section 9.2.4).
    #[default]
    Header,
    /// A query parameter of this name.
    Query(String),
}

/// All that a transport needs to know. [`Options::new`] gives the defaults.
#[derive(Clone)]
pub struct Options {
    /// Where to; `http` or `https`. User information in it is sent as basic authentication.
    pub url: Url,
    /// `-X`; without it `GET`, or `POST` if there is a body.
    pub method: Option<String>,
    /// `-H`, in order.
    pub headers: Vec<HeaderSource>,
    /// `-d`.
    pub body: Option<BodySource>,
    /// `-u USER:PASSWORD`.
    pub user: Option<Secret>,
    /// `--bearer-env`, `--bearer-cmd`. An `Authorization` header of the user's goes before it, and it before `-u`.
    pub bearer: Option<Bearer>,
    /// `-k`: accept any certificate.
    pub insecure: bool,
    /// `--cacert`: trust the certificates of this PEM file and no others.
    pub cacert: Option<PathBuf>,
    /// `--cert`: the client's certificate, PEM; the key may be in the same file.
    pub cert: Option<PathBuf>,
    /// `--key`: the client's key, PEM, not encrypted.
    pub key: Option<PathBuf>,
    /// `-x`; without it the proxy variables of the system. May hold a password.
    pub proxy: Option<Secret>,
    /// Hosts that `-x` is not for (`NO_PROXY`), as curl writes them.
    pub no_proxy: Option<String>,
    /// Through no proxy at all, whatever the variables of the system say.
    pub direct: bool,
    /// Through this [`super::tap::Tap`], which has the user's proxy behind it where there is one.
    pub via: Option<super::tap::Via>,
    /// `--http1.1`.
    pub http1_only: bool,
    /// `--http2-prior-knowledge`.
    pub http2_only: bool,
    /// `--compressed`: ask for gzip, br, deflate and zstd; else for no compression.
    pub compressed: bool,
    /// Until the connection stands, TLS included.
    pub connect_timeout: Duration,
    /// From the connection to the head of the response (`--idle-timeout`); `None` for any time.
    pub head_timeout: Option<Duration>,
    /// `--send-cursor`.
    pub send_cursor: SendCursor,
    /// `--start-param`, name and value, in order: sent only while there is no cursor.
    pub start_params: Vec<(String, String)>,
    /// `--snapshot-url`: where the current state is.
    pub snapshot_url: Option<Url>,
}

impl Options {
    /// The defaults for a URL.
    #[must_use]
    pub fn new(url: Url) -> Self {
        Self {
            url,
            method: None,
            headers: Vec::new(),
            body: None,
            user: None,
            bearer: None,
            insecure: false,
            cacert: None,
            cert: None,
            key: None,
            proxy: None,
            no_proxy: None,
            direct: false,
            via: None,
            http1_only: false,
            http2_only: false,
            compressed: false,
            connect_timeout: CONNECT_TIMEOUT_DEFAULT,
            head_timeout: Some(HEAD_TIMEOUT_DEFAULT),
            send_cursor: SendCursor::Header,
            start_params: Vec::new(),
            snapshot_url: None,
        }
    }

    /// The method that will be used.
    #[must_use]
    pub fn effective_method(&self) -> &str {
        match (&self.method, &self.body) {
            (Some(method), _) => method,
            (None, Some(_)) => "POST",
            (None, None) => "GET",
        }
    }

    /// Something of what the user gave tells the server who asks.
    #[must_use]
    pub fn has_credentials(&self) -> bool {
        let tells = |source: &HeaderSource| match source {
            HeaderSource::Inline(header) => crate::redact::is_secret_header(&header.name),
            HeaderSource::File(_) => true,
        };
        let in_url = !self.url.username().is_empty() || self.url.password().is_some();
        in_url || self.user.is_some() || self.bearer.is_some() || self.headers.iter().any(tells)
    }

    /// The query parameter that carries the cursor, if one does.
    #[must_use]
    pub fn cursor_parameter(&self) -> Option<&str> {
        match &self.send_cursor {
            SendCursor::Header => None,
            SendCursor::Query(name) => Some(name),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("url", &RedactedUrl(&self.url))
            .field("method", &self.effective_method())
            .field("send_cursor", &self.send_cursor)
            .finish_non_exhaustive()
    }
}

/// Why no transport can be made of the options: every attempt would fail in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetupError {
    /// The URL is not `http` or `https`.
    Scheme(String),
    /// The method is no method.
    Method(String),
    /// A header of the user's cannot be sent.
    Header {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: BadHeader,
    },
    /// The parameter of `--send-cursor query:NAME` has no name.
    NoParameterName,
    /// `-x` is not the URL of a proxy.
    Proxy(String),
    /// A key without a certificate.
    KeyWithoutCert,
    /// A file of `--cacert`, `--cert` or `--key` cannot be used.
    TlsFile {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// TLS or the connection cannot be set up on this system.
    Client(String),
}

impl SetupError {
    /// Whether what the user typed is wrong (exit 2), rather than a file or the system.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::TlsFile { .. } | Self::Client(_))
    }

    /// What to type next, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Scheme(_) => "give a URL that starts with `https://` or `http://`",
            Self::Method(_) => "methods are words such as `GET` and `POST`",
            Self::Header { .. } => "write it as `-H 'Name: value'`",
            Self::NoParameterName => "write it as `--send-cursor query:since_id`",
            Self::Proxy(_) => "write it as `-x http://host:port` or `-x socks5://host:port`",
            Self::KeyWithoutCert => "add `--cert FILE`",
            Self::TlsFile { .. } => "the file must be PEM, and a key in it not encrypted",
            Self::Client(_) => "install the system's CA certificates, or name a file of them with `--cacert FILE`",
        })
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme(scheme) => write!(f, "cannot stream over `{scheme}:`, only over `http:` and `https:`"),
            Self::Method(method) => write!(f, "`{}` is not an HTTP method", method.escape_debug()),
            Self::Header { name, why } => write!(f, "cannot send the header `{}`: {why}", name.escape_debug()),
            Self::NoParameterName => f.write_str("`--send-cursor query:` lacks the name of the parameter"),
            Self::Proxy(why) => write!(f, "cannot use the proxy: {why}"),
            Self::KeyWithoutCert => f.write_str("`--key` needs the certificate that it belongs to"),
            Self::TlsFile { path, why } => write!(f, "cannot use `{}`: {why}", path.display()),
            Self::Client(why) => write!(f, "cannot set up connections: {why}"),
        }
    }
}

impl std::error::Error for SetupError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_curl_reads_them() {
        assert_eq!(Header::parse("X-A:  b: c \r"), Ok(Header::new("X-A", "b: c")));
        assert_eq!(Header::parse("Accept:"), Ok(Header { name: "Accept".into(), value: None }));
        assert_eq!(Header::parse("X-Empty;"), Ok(Header::new("X-Empty", "")));
        assert_eq!(Header::parse("nonsense"), Err(BadHeader::NoColon));
        assert_eq!(Header::parse("a b: c"), Err(BadHeader::Name));
        assert_eq!(Header::parse(": c"), Err(BadHeader::Name));
        assert_eq!(Header::parse("a: b\nc: d"), Err(BadHeader::Value));
    }

    #[test]
    fn nothing_secret_is_shown_by_debug() {
        let mut options = Options::new(Url::parse("https://me:hunter2@h/?token=hunter2").unwrap());
        options.user = Some(Secret::new("hunter2"));
        options.headers.push(HeaderSource::Inline(Header::new("Authorization", "hunter2")));
        let shown = format!("{options:?} {:?}", options.headers);
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn a_body_makes_a_post() {
        let mut options = Options::new(Url::parse("http://h/").unwrap());
        assert_eq!(options.effective_method(), "GET");
        options.body = Some(BodySource::Stdin);
        assert_eq!(options.effective_method(), "POST");
        options.method = Some("PUT".into());
        assert_eq!(options.effective_method(), "PUT");
    }
}
