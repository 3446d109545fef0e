//! What is sent at an attempt: header fields, credentials and body, gathered anew from where they come from.

use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use percent_encoding::percent_decode_str;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    USER_AGENT,
};
use tokio::io::AsyncReadExt as _;
use tokio::sync::oneshot;
use url::Url;

use super::options::{Bearer, BodySource, Header, HeaderSource, Options};
use super::response::escape;
use crate::consumer::ports::ConnectError;
use crate::redact::{Secret, is_secret_header, is_secret_parameter, secrets_of_url};

/// How this tool names itself.
const AGENT: &str = concat!("ssectl/", env!("CARGO_PKG_VERSION"));
/// How long the command of `--bearer-cmd` may run.
const COMMAND_WAIT: Duration = Duration::from_secs(60);
/// How much a credential command may print; no token is longer.
const COMMAND_OUTPUT_BYTES_MAX: u64 = 64 * 1024;

/// The material of one attempt.
pub(super) struct Material {
    /// Fields that go to every hop.
    pub(super) open: HeaderMap,
    /// Fields that go to the origin of the user's URL only: credentials, and `Host`.
    pub(super) bound: HeaderMap,
    /// The body.
    pub(super) body: Option<Bytes>,
    /// What no message may show.
    pub(super) secrets: Vec<Secret>,
}

/// Standard input as a body: read once, by a thread that a given-up attempt does not stop.
#[derive(Default)]
pub(super) enum StdinBody {
    #[default]
    NotRead,
    Reading(oneshot::Receiver<std::io::Result<Vec<u8>>>),
    Read(Bytes),
}

/// Gathers what is to be sent.
pub(super) async fn gather(options: &Options, stdin: &mut StdinBody) -> Result<Material, ConnectError> {
    let body = body(options, stdin).await?;
    let mut material =
        Material { open: HeaderMap::new(), bound: HeaderMap::new(), body, secrets: secrets_of_url(&options.url) };
    let mut removed: Vec<HeaderName> = Vec::new();
    for source in &options.headers {
        match source {
            HeaderSource::Inline(header) => material.add(header, false, &mut removed)?,
            HeaderSource::File(path) => {
                for header in header_file(path).await? {
                    material.add(&header, true, &mut removed)?;
                }
            }
        }
    }
    material.authorize(options, &removed).await?;
    material.defaults(options, &removed);
    material.secrets.extend(material.bound.values().flat_map(secrets_in));
    material
        .secrets
        .extend(options.user.iter().flat_map(|user| user.expose().split_once(':')).map(|(_, p)| Secret::new(p)));
    let parameters = options.start_params.iter().filter(|(name, _)| is_secret_parameter(name));
    material.secrets.extend(parameters.map(|(_, value)| Secret::new(value.as_str())));
    Ok(material)
}

impl Material {
    fn add(&mut self, header: &Header, secret: bool, removed: &mut Vec<HeaderName>) -> Result<(), ConnectError> {
        let wrong = || unusable([format!("the header `{}` cannot be sent", escape(&header.name))]);
        let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| wrong())?;
        let Some(text) = &header.value else {
            removed.push(name);
            return Ok(());
        };
        let mut value = HeaderValue::from_bytes(text.expose().as_bytes()).map_err(|_| wrong())?;
        if secret || name == HOST || is_secret_header(name.as_str()) {
            value.set_sensitive(name != HOST);
            self.bound.append(name, value);
        } else {
            self.open.append(name, value);
        }
        Ok(())
    }

    /// The user's own `Authorization` goes first, then a bearer token, then `-u`, then what the URL holds.
    async fn authorize(&mut self, options: &Options, removed: &[HeaderName]) -> Result<(), ConnectError> {
        if self.bound.contains_key(AUTHORIZATION) || removed.contains(&AUTHORIZATION) {
            return Ok(());
        }
        let text = if let Some(bearer) = &options.bearer {
            let token = match bearer {
                Bearer::Token(token) => token.clone(),
                Bearer::Command(command) => run(command).await?,
            };
            Some(format!("Bearer {}", token.expose()))
        } else {
            let user = options.user.as_ref().map(|user| user.expose().as_bytes().to_vec());
            user.or_else(|| user_of_url(&options.url)).map(|user| basic(&user))
        };
        let Some(text) = text else { return Ok(()) };
        let mut value = HeaderValue::from_bytes(text.as_bytes())
            .map_err(|_| unusable(["the bearer token holds a line break or another control character".into()]))?;
        value.set_sensitive(true);
        self.bound.insert(AUTHORIZATION, value);
        Ok(())
    }

    fn defaults(&mut self, options: &Options, removed: &[HeaderName]) {
        let mut default = |name: HeaderName, value: &'static str| {
            if !removed.contains(&name) && !self.bound.contains_key(&name) && !self.open.contains_key(&name) {
                self.open.insert(name, HeaderValue::from_static(value));
            }
        };
        default(ACCEPT, "text/event-stream");
        default(CACHE_CONTROL, "no-store");
        default(USER_AGENT, AGENT);
        if !options.compressed {
            default(ACCEPT_ENCODING, "identity");
        }
        if self.body.is_some() {
            default(CONTENT_TYPE, "application/x-www-form-urlencoded");
        }
    }
}

/// A field's value, what follows the scheme in it (`Bearer TOKEN`), and each cookie's value: a server quotes the one or
/// the other.
fn secrets_in(value: &HeaderValue) -> Vec<Secret> {
    if !value.is_sensitive() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
    let credential = text.split_once(' ').map(|(_, credential)| Secret::new(credential));
    let cookies = text.split(';').filter_map(|pair| pair.split_once('=')).map(|(_, value)| Secret::new(value.trim()));
    std::iter::once(Secret::new(text.as_str())).chain(credential).chain(cookies).collect()
}

/// The user information of a URL, decoded, as `user:password`.
fn user_of_url(url: &Url) -> Option<Vec<u8>> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut user: Vec<u8> = percent_decode_str(url.username()).collect();
    user.push(b':');
    user.extend(percent_decode_str(url.password().unwrap_or_default()));
    Some(user)
}

/// Basic authentication (RFC 7617): `user:password` in base 64. Without a colon the password is empty.
fn basic(user: &[u8]) -> String {
    let mut bytes = user.to_vec();
    if !bytes.contains(&b':') {
        bytes.push(b':');
    }
    format!("Basic {}", base64(&bytes))
}

/// Base 64 (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for index in 0..4 {
            let digit = (bits >> (18 - 6 * index) & 63) as usize;
            text.push(if index <= group.len() { char::from(ALPHABET[digit]) } else { '=' });
        }
    }
    text
}

async fn body(options: &Options, stdin: &mut StdinBody) -> Result<Option<Bytes>, ConnectError> {
    match &options.body {
        None => Ok(None),
        Some(BodySource::Inline(bytes)) => Ok(Some(Bytes::from(bytes.clone()))),
        Some(BodySource::File(path)) => Ok(Some(read_file(path).await?.into())),
        Some(BodySource::Stdin) => stdin.bytes().await.map(Some),
    }
}

impl StdinBody {
    async fn bytes(&mut self) -> Result<Bytes, ConnectError> {
        if matches!(self, Self::NotRead) {
            *self = Self::Reading(on_a_thread(|| {
                let mut bytes = Vec::new();
                std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
            }));
        }
        match self {
            Self::NotRead => unreachable!("reading has just begun"),
            Self::Read(bytes) => Ok(bytes.clone()),
            Self::Reading(receiver) => {
                let bytes = Bytes::from(received(receiver, "cannot read the body from standard input").await?);
                *self = Self::Read(bytes.clone());
                Ok(bytes)
            }
        }
    }
}

async fn header_file(path: &Path) -> Result<Vec<Header>, ConnectError> {
    let text = read_file(path).await?;
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            Header::parse(line).map_err(|error| {
                unusable([
                    format!("cannot use line {} of `{}` as a header", index + 1, path.display()),
                    error.to_string(),
                ])
            })
        })
        .collect()
}

/// Reads a file beside the runtime: it may be a pipe that somebody fills slowly.
async fn read_file(path: &Path) -> Result<Vec<u8>, ConnectError> {
    let owned = path.to_owned();
    let mut receiver = on_a_thread(move || std::fs::read(owned));
    received(&mut receiver, &format!("cannot read `{}`", path.display())).await
}

fn on_a_thread<F>(work: F) -> oneshot::Receiver<std::io::Result<Vec<u8>>>
where
    F: FnOnce() -> std::io::Result<Vec<u8>> + Send + 'static,
{
    let (sender, receiver) = oneshot::channel();
    // A thread of its own, not one of the runtime's: that would keep the process from ending while it reads.
    std::thread::spawn(move || {
        // The receiver may have given up: then nobody wants the result.
        let _ = sender.send(work());
    });
    receiver
}

async fn received(
    receiver: &mut oneshot::Receiver<std::io::Result<Vec<u8>>>,
    what: &str,
) -> Result<Vec<u8>, ConnectError> {
    match receiver.await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(unusable([what.to_owned(), error.to_string()])),
        Err(_) => Err(unusable([what.to_owned()])),
    }
}

/// Runs a credential command and gives what it printed, trimmed. What it printed is never part of an error.
async fn run(command: &str) -> Result<Secret, ConnectError> {
    let failed = |why: String| unusable(["the command of `--bearer-cmd` gave no token".to_owned(), why]);
    let mut child = tokio::process::Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| failed(format!("cannot run `sh`: {error}")))?;
    let stdout = child.stdout.take().expect("stdout is piped");
    let stderr = child.stderr.take().expect("stderr is piped");
    let done = tokio::time::timeout(COMMAND_WAIT, async {
        let (printed, complaint) = tokio::join!(all_of(stdout), all_of(stderr));
        Ok::<_, std::io::Error>((printed?, complaint?, child.wait().await?))
    });
    let (printed, complaint, status) = done
        .await
        .map_err(|_| failed(format!("it did not end within {} s", COMMAND_WAIT.as_secs())))?
        .map_err(|error| failed(error.to_string()))?;
    if !status.success() {
        let complaint = String::from_utf8_lossy(&complaint);
        let line = complaint.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        let line = if line.is_empty() { String::new() } else { format!(": {}", escape(line)) };
        return Err(failed(format!("it ended with {status}{line}")));
    }
    let token = String::from_utf8(printed).map_err(|_| failed("what it printed is not text".into()))?;
    match token.trim() {
        "" => Err(failed("it printed nothing".into())),
        token => Ok(Secret::new(token)),
    }
}

/// Reads a pipe, and closes it at the limit: a command that prints for ever then fails instead of blocking.
async fn all_of(pipe: impl tokio::io::AsyncRead + Unpin) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.take(COMMAND_OUTPUT_BYTES_MAX).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

/// The request cannot be made, and why.
pub(super) fn unusable<const N: usize>(causes: [String; N]) -> ConnectError {
    ConnectError::Unusable { causes: causes.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_that_of_the_standard() {
        // RFC 4648, section 10, and one with the last two digits.
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")];
        for (plain, coded) in cases {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn a_user_without_a_colon_has_an_empty_password() {
        assert_eq!(basic(b"me"), basic(b"me:"));
        assert_eq!(basic(b"Aladdin:open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }

    #[test]
    fn the_user_of_a_url_is_decoded() {
        let user = |url: &str| user_of_url(&Url::parse(url).unwrap()).map(|user| String::from_utf8(user).unwrap());
        assert_eq!(user("http://m%40e:p%3Aw@h/").as_deref(), Some("m@e:p:w"));
        assert_eq!(user("http://token@h/").as_deref(), Some("token:"));
        assert_eq!(user("http://h/"), None);
    }
}
