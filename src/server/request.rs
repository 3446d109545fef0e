//! Which response a request gets. Knows paths, methods and where a cursor may stand; the log only by its hub.

use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use std::sync::Arc;

use super::ServerOptions;
use super::body::ResponseBody;
use super::hub::Hub;

const STREAM_PATH: &str = "/events";
const CURSOR_HEADER: HeaderName = HeaderName::from_static("last-event-id");
const CURSOR_PARAM: &str = "last-event-id";

/// The response to a request. One for the stream subscribes at once: what is published from here on is in it.
pub(super) fn respond<B>(request: &Request<B>, hub: &Arc<Hub>, options: &ServerOptions) -> Response<ResponseBody> {
    if request.uri().path() != STREAM_PATH {
        return plain(StatusCode::NOT_FOUND, "there is only /events here\n");
    }
    if request.method() != Method::GET {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "the stream is read with GET\n");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
        return response;
    }
    let mut response = Response::new(ResponseBody::stream(hub, cursor(request), options));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::text(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// The id to start after. The header wins: a browser's reconnection sends it with the URL it was first given.
/// What is no id of ours counts as none, as with most servers.
fn cursor<B>(request: &Request<B>) -> Option<u64> {
    if let Some(value) = request.headers().get(CURSOR_HEADER) {
        return value.to_str().ok()?.trim().parse().ok();
    }
    let query = request.uri().query()?;
    let (_, value) = url::form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == CURSOR_PARAM)?;
    value.parse().ok()
}
