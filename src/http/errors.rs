//! What went wrong on the network, in sentences for a person and without the URL.

use std::error::Error;

use url::Url;

use crate::consumer::ports::{Broken, ConnectError};
use crate::redact::{Secret, redact_text};

/// The messages of an error and of what caused it, outermost first, without the layers that say nothing.
pub(super) fn chain(error: reqwest::Error) -> Vec<String> {
    let error = error.without_url();
    let mut messages: Vec<String> = Vec::new();
    let mut next: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(error) = next {
        let message = error.to_string();
        // A layer that repeats the one above it, or names only the library's own stages, helps nobody.
        let says_nothing = message.is_empty()
            || message.starts_with("client error (")
            || matches!(
                message.as_str(),
                "error sending request"
                    | "request or response body error"
                    | "error decoding response body"
                    | "builder error"
                    | "connection error"
            );
        if !says_nothing && !messages.iter().any(|above| above.contains(&message)) {
            messages.push(message);
        }
        next = error.source();
    }
    if messages.is_empty() {
        messages.push(error.to_string());
    }
    messages
}

/// An error of sending a request, or of waiting for the head of its response.
pub(super) fn unreachable(error: reqwest::Error, url: &Url, secrets: &[Secret]) -> ConnectError {
    let peer = peer(url);
    let first = match (error.is_connect(), error.is_timeout()) {
        (true, true) => format!("`{peer}` did not take the connection in time"),
        (true, false) => format!("cannot connect to `{peer}`"),
        (false, true) => format!("`{peer}` did not answer in time"),
        (false, false) => format!("`{peer}` gave no response"),
    };
    let causes = std::iter::once(first).chain(chain(error)).map(|cause| redact_text(&cause, secrets)).collect();
    ConnectError::Unreachable { causes }
}

/// An error in mid-body.
pub(super) fn broken(error: reqwest::Error) -> Broken {
    let causes = std::iter::once("the connection broke".to_owned()).chain(chain(error)).collect();
    Broken { causes }
}

/// Host and port.
fn peer(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
