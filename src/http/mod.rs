//! The network: requests for event streams over HTTP/1.1 and HTTP/2, by `reqwest` with `rustls` and `ring`.
//!
//! Responsible for one attempt at a time: what is sent (header fields, credentials, the cursor), redirects, telling an
//! event stream from everything else, and the bytes of the body as they come. It must never know what the bytes mean,
//! when to try again, how long a silence may last or what is stored: [`crate::consumer`] decides that.

mod body;
mod client;
mod errors;
mod name;
mod network;
mod options;
mod query;
mod redirect;
mod request;
mod response;
pub mod tap;
mod trust;

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;

use bytes::Bytes;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Request, Response, Version};

use crate::consumer::id::EventId;
use crate::consumer::ports::{Attempt, Body, Broken, ConnectError, Connected, Transport};
use crate::redact::{RedactedUrl, Secret};

pub use name::default_stream_name;
pub use options::{
    BadHeader, Bearer, BodySource, CONNECT_TIMEOUT_DEFAULT, HEAD_TIMEOUT_DEFAULT, Header, HeaderSource, Options,
    SendCursor, SetupError,
};

use body::Collector;
use redirect::Hop;
use request::{Material, StdinBody, unusable};

/// The largest snapshot that is held in memory.
const SNAPSHOT_BYTES_MAX: usize = 64 << 20;
/// The field that carries the cursor (HTML standard, section 9.2.4).
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Makes requests for one stream, each on a connection of its own.
pub struct HttpTransport {
    options: Options,
    method: Method,
    client: Client,
    /// Which proxy is used for what, for messages.
    proxies: Option<client::Proxies>,
    stdin: StdinBody,
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport").field("options", &self.options).finish_non_exhaustive()
    }
}

impl HttpTransport {
    /// Checks the options and reads the files of certificates. Connects nowhere.
    ///
    /// # Errors
    /// [`SetupError`] if no attempt could succeed.
    pub fn new(options: Options) -> Result<Self, SetupError> {
        if !matches!(options.url.scheme(), "http" | "https") {
            return Err(SetupError::Scheme(options.url.scheme().to_owned()));
        }
        if options.cursor_parameter() == Some("") {
            return Err(SetupError::NoParameterName);
        }
        let method = options.effective_method();
        let method = Method::from_bytes(method.as_bytes()).map_err(|_| SetupError::Method(method.to_owned()))?;
        for source in &options.headers {
            if let HeaderSource::Inline(header) = source {
                header.check().map_err(|why| SetupError::Header { name: header.name.clone(), why })?;
            }
        }
        let client = client::build(&options)?;
        let proxies = client::proxies(&options);
        Ok(Self { options, method, client, proxies, stdin: StdinBody::default() })
    }

    /// One attempt: the original URL first, then wherever it leads.
    async fn request(&mut self, attempt: &Attempt) -> Result<Answer, ConnectError> {
        if client::depends_on_files(&self.options) {
            let renewed = client::build(&self.options);
            self.client = renewed.map_err(|error| unusable([error.to_string()]))?;
        }
        let material = request::gather(&self.options, &mut self.stdin).await?;
        let hop = Hop::first(&self.options.url, self.method.clone());
        let (response, hop) =
            self.follow(hop, &material, |hop| self.build(hop, &material, attempt.cursor.as_ref())).await?;
        let withheld = !hop.is_trusted && !material.bound.is_empty();
        Ok(Answer { response, redirected: !hop.is_first(), secrets: material.secrets, withheld })
    }

    /// Asks, and asks on wherever a redirect leads.
    async fn follow(
        &self,
        mut hop: Hop,
        material: &Material,
        build: impl Fn(&Hop) -> Result<Request, ConnectError>,
    ) -> Result<(Response, Hop), ConnectError> {
        loop {
            let request = build(&hop)?;
            let asked = request.url().clone();
            let peer = errors::Peer::of(&asked, self.proxies.as_ref(), !hop.is_first());
            let client = self.client.clone();
            let sent = network::spawn(async move { client.execute(request).await });
            let sent = self.within_head_timeout(sent).await;
            let sent = sent.ok_or_else(|| errors::no_head(&peer, self.options.head_timeout))?;
            let sent = sent.map_err(|error| unusable([error.to_string()]))?;
            let response = sent.map_err(|error| errors::unreachable(error, &peer, &material.secrets))?;
            match hop.next(&asked, &response)? {
                Some(next) => hop = next,
                None => return Ok((response, hop)),
            }
        }
    }

    /// Fetches the current state, if it is small enough to be held.
    async fn fetch_snapshot(&mut self) -> Result<String, ConnectError> {
        let Some(url) = self.options.snapshot_url.clone() else {
            return Err(unusable(["no snapshot URL is known".to_owned()]));
        };
        let material = request::gather(&self.options, &mut self.stdin).await?;
        let hop = Hop::of_snapshot(&url, url.origin() == self.options.url.origin());
        let build = |hop: &Hop| {
            let mut request = Self::plain(hop, &material, hop.url.clone());
            request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json, */*;q=0.5"));
            Ok(request)
        };
        let (mut response, _) = self.follow(hop, &material, build).await?;
        let status = response.status();
        if !status.is_success() {
            let detail = format!("{} for the snapshot", status.canonical_reason().unwrap_or_default());
            return Err(ConnectError::Status { code: status.as_u16(), detail, retry_after: None, retryable: false });
        }
        let mut bytes = Vec::new();
        let broken = |error| ConnectError::Unreachable { causes: errors::broken(error).causes };
        while let Some(chunk) = response.chunk().await.map_err(broken)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > SNAPSHOT_BYTES_MAX {
                return Err(unusable([format!("the snapshot is larger than {} MiB", SNAPSHOT_BYTES_MAX >> 20)]));
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Waits for the head of a response, but not for ever. The time to connect has a bound of its own and comes on top.
    async fn within_head_timeout<T>(&self, head: impl Future<Output = T>) -> Option<T> {
        match self.options.head_timeout {
            Some(limit) => tokio::time::timeout(limit.saturating_add(self.options.connect_timeout), head).await.ok(),
            None => Some(head.await),
        }
    }

    fn build(&self, hop: &Hop, material: &Material, cursor: Option<&EventId>) -> Result<Request, ConnectError> {
        let mut url = hop.url.clone();
        let parameter = self.options.cursor_parameter();
        match (cursor, parameter) {
            (Some(cursor), Some(name)) => query::set(&mut url, name, &[cursor.as_str()]),
            (Some(_), None) => {}
            (None, _) => self.add_start_params(&mut url),
        }
        let mut request = Self::plain(hop, material, url);
        if let (Some(cursor), None) = (cursor, parameter) {
            let value = HeaderValue::from_bytes(cursor.as_str().as_bytes())
                .map_err(|_| unusable(["the cursor has a character that no header field can carry".to_owned()]))?;
            request.headers_mut().insert(LAST_EVENT_ID, value);
        }
        Ok(request)
    }

    /// A request with the user's header fields, as far as they may go there.
    fn plain(hop: &Hop, material: &Material, url: url::Url) -> Request {
        let mut request = Request::new(hop.method.clone(), url);
        let headers = request.headers_mut();
        append_all(headers, &material.open);
        if hop.is_trusted {
            append_all(headers, &material.bound);
        }
        if hop.keeps_body {
            *request.body_mut() = material.body.clone().map(Into::into);
        } else {
            redirect::drop_body_fields(request.headers_mut());
        }
        request
    }

    /// Parameters given several times are sent several times.
    fn add_start_params(&self, url: &mut url::Url) {
        let params = &self.options.start_params;
        for (index, (name, _)) in params.iter().enumerate() {
            if params[..index].iter().all(|(earlier, _)| earlier != name) {
                let values: Vec<&str> =
                    params.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str()).collect();
                query::set(url, name, &values);
            }
        }
    }
}

/// The response at the end of a chain of redirects.
struct Answer {
    response: Response,
    /// What no message may show.
    secrets: Vec<Secret>,
    /// It is not the URL that was asked first that answered.
    redirected: bool,
    /// A redirect led to another origin, so there were credentials that were not sent.
    withheld: bool,
}

impl Answer {
    async fn event_stream(self) -> Result<Response, ConnectError> {
        let place = RedactedUrl(self.response.url()).to_string();
        let mut checked = response::check(self.response, &self.secrets).await;
        if !self.redirected {
            return checked;
        }
        match &mut checked {
            Err(ConnectError::Status { code: 401 | 403, detail, .. }) if self.withheld => {
                detail.push_str(&format!(" (a redirect led to `{place}`, where credentials are not sent)"));
            }
            Err(ConnectError::Status { detail, .. }) => detail.push_str(&format!(" (a redirect led to `{place}`)")),
            Err(ConnectError::WrongType { content_type, .. }) => {
                content_type.push_str(&format!(" from {place}, where a redirect led"));
            }
            _ => {}
        }
        checked
    }
}

fn append_all(headers: &mut HeaderMap, more: &HeaderMap) {
    for (name, value) in more {
        headers.append(name.clone(), value.clone());
    }
}

impl Transport for HttpTransport {
    type Body = HttpBody;

    async fn snapshot(&mut self) -> Result<String, ConnectError> {
        Box::pin(self.fetch_snapshot()).await
    }

    async fn connect(&mut self, attempt: &Attempt) -> Result<Connected<HttpBody>, ConnectError> {
        // On the heap: the future holds a whole request and its response.
        let answer = Box::pin(self.request(attempt)).await?;
        let response = Box::pin(answer.event_stream()).await?;
        let head = Head::of(&response);
        let status_line = head.status_line.clone();
        // By the user's method, not by that of the last redirect: to try again is to send the original once more.
        let is_get = self.method == Method::GET;
        Ok(Connected { body: HttpBody { collector: Collector::new(response), head }, is_get, status_line })
    }
}

/// The head of a response, for diagnosis.
#[derive(Clone, Debug)]
pub struct Head {
    /// `HTTP/1.1 200 OK`.
    pub status_line: String,
    /// The URL that answered, redirects followed, redacted.
    pub url: String,
    /// The address of the peer (of the proxy, if there is one).
    pub peer: Option<SocketAddr>,
    /// Names and values in order; control characters are escaped. Not for `Set-Cookie` and the like: they are masked.
    pub fields: Vec<(String, String)>,
}

impl Head {
    fn of(response: &Response) -> Self {
        let version = match response.version() {
            Version::HTTP_2 => "HTTP/2".to_owned(),
            version => format!("{version:?}"),
        };
        let fields = response.headers().iter().map(|(name, value)| {
            let shown = if crate::redact::is_secret_header(name.as_str()) {
                crate::redact::MASK.to_owned()
            } else {
                response::escape(&String::from_utf8_lossy(value.as_bytes()))
            };
            (name.as_str().to_owned(), shown)
        });
        Self {
            status_line: format!("{version} {}", response.status()),
            url: RedactedUrl(response.url()).to_string(),
            peer: response.remote_addr(),
            fields: fields.collect(),
        }
    }

    /// The first value of a field, whatever the case of its name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// The rest of a response. Dropping it closes the connection.
pub struct HttpBody {
    collector: Collector,
    head: Head,
}

impl fmt::Debug for HttpBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpBody").field("head", &self.head).finish_non_exhaustive()
    }
}

impl HttpBody {
    /// The head that came before it.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }
}

impl Body for HttpBody {
    type Chunk = Bytes;

    async fn chunk(&mut self) -> Result<Option<Bytes>, Broken> {
        self.collector.chunk().await
    }
}
