//! What went wrong on the network, in sentences for a person and without the URL.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use url::Url;

use super::client::Proxies;
use super::trust;
use crate::consumer::ports::{Broken, ConnectError};
use crate::redact::{Secret, redact_text};

/// The messages of an error and of what caused it, outermost first, without the layers that say nothing.
pub(super) fn chain(error: reqwest::Error) -> Vec<String> {
    let error = error.without_url();
    let mut messages: Vec<String> = Vec::new();
    let mut next: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(error) = next {
        let message = in_words(error.to_string());
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

/// A message of a library as a person should read it.
fn in_words(message: String) -> String {
    // It explains itself to programmers, with a link.
    if message.contains("close_notify") {
        "it closed without the end that TLS has (close_notify)".into()
    } else {
        message
    }
}

/// Who is asked: the server, and the proxy on the way if there is one; each as host and port.
pub(super) struct Peer {
    server: String,
    proxy: Option<String>,
    /// It is not the server of the URL that was asked first.
    redirected: bool,
}

impl Peer {
    pub(super) fn of(url: &Url, proxies: Option<&Proxies>, redirected: bool) -> Self {
        Self { server: host_and_port(url), proxy: proxies.and_then(|proxies| proxies.of(url)), redirected }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.server)?;
        if self.redirected {
            f.write_str(" (where a redirect led)")?;
        }
        match &self.proxy {
            Some(proxy) => write!(f, " through the proxy `{proxy}`"),
            None => Ok(()),
        }
    }
}

/// The head of a response did not come in time.
pub(super) fn no_head(peer: &Peer, limit: Option<Duration>) -> ConnectError {
    let seconds = limit.unwrap_or_default().as_secs_f64();
    let first = format!("{peer} took the request and did not begin to answer within {seconds} s (`--idle-timeout`)");
    ConnectError::Unreachable { causes: vec![first] }
}

/// An error of sending a request, or of waiting for the head of its response.
pub(super) fn unreachable(error: reqwest::Error, peer: &Peer, secrets: &[Secret]) -> ConnectError {
    if let Some(why) = tls_error(&error).and_then(distrust) {
        return ConnectError::Untrusted { causes: vec![format!("cannot trust {peer}"), why.to_owned()] };
    }
    if let Some(why) = tls_error(&error).and_then(disagreement) {
        return ConnectError::Disagreed { causes: vec![format!("cannot agree on TLS with {peer}"), why.to_owned()] };
    }
    let not_tls = matches!(tls_error(&error), Some(rustls::Error::InvalidMessage(_)));
    let first = match (error.is_connect(), error.is_timeout()) {
        _ if not_tls => format!("{peer} does not speak TLS; is it `http://`?"),
        (true, true) => format!("{peer} did not take the connection in time"),
        (true, false) => format!("cannot connect to {peer}"),
        (false, true) => format!("{peer} did not answer in time"),
        _ if is_parse_error(&error) => format!("what {peer} answers is no HTTP"),
        (false, false) => format!("{peer} gave no response"),
    };
    let causes = std::iter::once(first).chain(chain(error)).map(|cause| redact_text(&cause, secrets)).collect();
    ConnectError::Unreachable { causes }
}

/// An answer came, but not one of HTTP.
fn is_parse_error(error: &reqwest::Error) -> bool {
    at_the_bottom::<hyper::Error>(error).is_some_and(hyper::Error::is_parse)
}

/// The error of TLS at the bottom of another, if it is one.
fn tls_error(error: &reqwest::Error) -> Option<&rustls::Error> {
    at_the_bottom(error)
}

/// The error of a kind among those that another has come of.
fn at_the_bottom<E: Error + 'static>(error: &reqwest::Error) -> Option<&E> {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        // An I/O error hides what it wraps from its own chain.
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    None
}

/// Why a certificate is not trusted, in words; `None` if that is not what went wrong.
fn distrust(error: &rustls::Error) -> Option<&'static str> {
    use rustls::CertificateError as Bad;
    let rustls::Error::InvalidCertificate(bad) = error else { return None };
    Some(match bad {
        Bad::Expired | Bad::ExpiredContext { .. } => "its certificate has expired",
        Bad::NotValidYet | Bad::NotValidYetContext { .. } => "its certificate is not valid yet; is the clock right?",
        Bad::NotValidForName | Bad::NotValidForNameContext { .. } => "its certificate is for another host name",
        Bad::UnknownIssuer => "its certificate was not issued by anybody who is trusted",
        Bad::Revoked => "its certificate was revoked",
        Bad::BadSignature => "the signature of its certificate is wrong",
        _ if trust::is_authority(error) => "its certificate is one that signs others, not one of a server",
        _ => "its certificate cannot be used",
    })
}

/// Why there is no TLS between the two, in words; `None` if that is not what went wrong, or if it may pass.
fn disagreement(error: &rustls::Error) -> Option<&'static str> {
    use rustls::AlertDescription as Alert;
    let alert = match error {
        rustls::Error::AlertReceived(alert) => alert,
        rustls::Error::PeerIncompatible(_) => return Some("it has no version or cipher of TLS that is safe"),
        rustls::Error::NoApplicationProtocol => return Some("it has no version of HTTP that was offered"),
        _ => return None,
    };
    Some(match alert {
        Alert::CertificateRequired | Alert::NoCertificate => "it wants a certificate of the client",
        Alert::CertificateExpired | Alert::CertificateRevoked => "the client's certificate is no longer valid",
        Alert::UnknownCA | Alert::BadCertificate | Alert::UnsupportedCertificate | Alert::CertificateUnknown => {
            "it does not accept the client's certificate"
        }
        Alert::AccessDenied => "it lets nobody in with the client's certificate",
        Alert::ProtocolVersion => "it has no version of TLS that is safe",
        Alert::InsufficientSecurity => "it wants a cipher that is not offered",
        Alert::HandshakeFailure => {
            "it refuses: it may want a certificate of the client, or a cipher that is not offered"
        }
        Alert::UnrecognisedName => "it knows no host of this name",
        Alert::NoApplicationProtocol => "it has no version of HTTP that was offered",
        _ => return None,
    })
}

/// An error in mid-body.
pub(super) fn broken(error: reqwest::Error) -> Broken {
    let causes = std::iter::once("the connection broke".to_owned()).chain(chain(error)).collect();
    Broken { causes }
}

/// Host and port.
fn host_and_port(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
