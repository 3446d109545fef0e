//! Redirects, followed by hand: the cursor goes along to wherever they lead, credentials stay with the origin that
//! the user named.

use reqwest::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, LOCATION, TRANSFER_ENCODING};
use reqwest::{Method, Response, StatusCode};
use url::Url;

use super::response::text_of;
use crate::consumer::ports::ConnectError;
use crate::redact::RedactedUrl;

/// More redirects than this are a mistake of the server's.
const REDIRECTS_MAX: usize = 10;

/// One request of a chain.
pub(super) struct Hop {
    /// Where to; the cursor's parameter is not in it yet, unless the server put it there.
    pub(super) url: Url,
    /// How.
    pub(super) method: Method,
    /// Whether the body goes along.
    pub(super) keeps_body: bool,
    /// Whether all requests so far went to the user's origin. Once another one was asked, it decides where the rest
    /// of the chain leads, so credentials stay at home even if it leads back.
    pub(super) is_trusted: bool,
    /// What was asked before, this hop left out.
    seen: Vec<(Method, Url)>,
}

impl Hop {
    /// The first request of an attempt.
    pub(super) fn first(url: &Url, method: Method) -> Self {
        let mut url = url.clone();
        // Sent as a header field, or not at all.
        without_user(&mut url);
        Self { url, method, keeps_body: true, is_trusted: true, seen: Vec::new() }
    }

    /// The request of a snapshot: credentials go along if it is `at_home`, at the origin of the stream.
    pub(super) fn of_snapshot(url: &Url, at_home: bool) -> Self {
        Self { keeps_body: false, is_trusted: at_home, ..Self::first(url, Method::GET) }
    }

    /// Whether nothing was asked before.
    pub(super) fn is_first(&self) -> bool {
        self.seen.is_empty()
    }

    /// Where the response leads; `None` if it is no redirect. `asked` is the URL as it was requested.
    pub(super) fn next(&self, asked: &Url, response: &Response) -> Result<Option<Self>, ConnectError> {
        let status = response.status();
        if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let bad = |why: String| {
            let from = RedactedUrl(asked);
            ConnectError::BadRedirect(format!("the answer of `{from}` was {}, {why}", status.as_u16()))
        };
        let location = text_of(response.headers(), LOCATION).ok_or_else(|| bad("without a `Location`".into()))?;
        let mut url = asked.join(&location).map_err(|error| bad(format!("with a bad `Location`: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad(format!("and led to `{}:`, not to `http:` or `https:`", url.scheme())));
        }
        without_user(&mut url);
        url.set_fragment(None);
        let becomes_get = match status {
            StatusCode::SEE_OTHER => self.method != Method::HEAD,
            // By the letter they keep the method; for POST all clients do otherwise (RFC 9110, section 15.4).
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method == Method::POST,
            _ => false,
        };
        let method = if becomes_get { Method::GET } else { self.method.clone() };
        let mut seen = self.seen.clone();
        seen.push((self.method.clone(), asked.clone()));
        if seen.contains(&(method.clone(), url.clone())) {
            return Err(bad(format!("and led back to `{}`", RedactedUrl(&url))));
        }
        if seen.len() > REDIRECTS_MAX {
            return Err(bad(format!("the redirect after the {REDIRECTS_MAX} that are followed")));
        }
        let is_trusted = self.is_trusted && url.origin() == asked.origin();
        Ok(Some(Self { url, method, keeps_body: self.keeps_body && !becomes_get, is_trusted, seen }))
    }
}

/// Takes away the fields that describe a body (RFC 9110, section 15.4).
pub(super) fn drop_body_fields(headers: &mut HeaderMap) {
    for name in [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING, TRANSFER_ENCODING] {
        headers.remove(name);
    }
}

fn without_user(url: &mut Url) {
    // Only URLs without a host refuse, and those are refused earlier.
    let _ = url.set_username("");
    let _ = url.set_password(None);
}
