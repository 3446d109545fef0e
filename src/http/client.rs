//! The client that makes connections: TLS, proxies, time-outs, protocol versions.

use std::path::Path;
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{Client, ClientBuilder, Identity, NoProxy, Proxy, redirect};
use url::Url;

use super::errors;
use super::options::{Options, SetupError};
use super::trust;
use crate::redact::Secret;

/// An idle connection is probed this often by TCP, so that a peer that is gone without a word is noticed.
const TCP_KEEPALIVE: Duration = Duration::from_secs(15);

/// Whether the client depends on files that may change while the tool runs (short-lived certificates do).
pub(super) fn depends_on_files(options: &Options) -> bool {
    options.cacert.is_some() || options.cert.is_some()
}

/// Makes the client.
pub(super) fn build(options: &Options) -> Result<Client, SetupError> {
    // An error says only that a provider is installed already, and then that one serves.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let with_system_roots = builder(options)?.build();
    match with_system_roots {
        Ok(client) => Ok(client),
        // A machine without CA certificates can still speak plain HTTP. A redirect to HTTPS then fails, and says why.
        Err(_) if options.url.scheme() == "http" && options.cacert.is_none() => builder(options)?
            .tls_certs_only([])
            .build()
            .map_err(|error| SetupError::Client(errors::chain(error).join(": "))),
        Err(error) => Err(SetupError::Client(errors::chain(error).join(": "))),
    }
}

fn builder(options: &Options) -> Result<ClientBuilder, SetupError> {
    let mut builder = Client::builder()
        // Redirects are followed by hand: the cursor goes along, credentials do not.
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(options.connect_timeout)
        .tcp_keepalive(TCP_KEEPALIVE)
        .tcp_keepalive_interval(TCP_KEEPALIVE)
        .tcp_nodelay(true)
        // Every attempt is a connection of its own, and dropping its body closes it.
        .pool_max_idle_per_host(0)
        .http2_adaptive_window(true)
        .tls_danger_accept_invalid_certs(options.insecure);
    if options.http1_only {
        builder = builder.http1_only();
    }
    if options.http2_only {
        builder = builder.http2_prior_knowledge();
    }
    if let Some(via) = &options.via {
        let proxy = Proxy::all(via.url()).map_err(|_| SetupError::Proxy("the tap has no URL".into()))?;
        builder = builder.proxy(proxy);
    } else if options.direct {
        builder = builder.no_proxy();
    } else if let Some(proxy) = &options.proxy {
        builder = builder.proxy(proxy_of(proxy, options.no_proxy.as_deref())?);
    }
    if options.key.is_some() && options.cert.is_none() {
        return Err(SetupError::KeyWithoutCert);
    }
    if let Some(path) = options.cacert.as_ref().filter(|_| !options.insecure) {
        return Ok(builder.tls_backend_preconfigured(trust::config(options, path)?));
    }
    if let Some(cert) = &options.cert {
        builder = builder.identity(identity(cert, options.key.as_deref())?);
    }
    Ok(builder)
}

fn identity(cert: &Path, key: Option<&Path>) -> Result<Identity, SetupError> {
    let mut pem = read(cert)?;
    if let Some(key) = key {
        pem.push(b'\n');
        pem.extend(read(key)?);
    }
    Identity::from_pem(&pem).map_err(|error| tls_file(key.unwrap_or(cert), error))
}

fn read(path: &Path) -> Result<Vec<u8>, SetupError> {
    std::fs::read(path).map_err(|error| SetupError::TlsFile { path: path.to_owned(), why: error.to_string() })
}

fn tls_file(path: &Path, error: reqwest::Error) -> SetupError {
    SetupError::TlsFile { path: path.to_owned(), why: errors::chain(error).join(": ") }
}

/// Which proxy is used for which URL, as far as messages need to know. What is used is decided by the client itself.
pub(super) struct Proxies(Matcher);

impl Proxies {
    /// Host and port of the proxy for a URL.
    pub(super) fn of(&self, url: &Url) -> Option<String> {
        let used = self.0.intercept(&url.as_str().parse().ok()?)?;
        let (uri, host) = (used.uri(), used.uri().host().unwrap_or_default());
        Some(uri.port_u16().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
    }
}

/// The proxies of the options; `None` if there are none.
pub(super) fn proxies(options: &Options) -> Option<Proxies> {
    if options.direct {
        return None;
    }
    let Some(proxy) = &options.proxy else { return Some(Proxies(Matcher::from_system())) };
    let excluded = options.no_proxy.clone().unwrap_or_default();
    Some(Proxies(Matcher::builder().all(proxy.expose().to_owned()).no(excluded).build()))
}

/// A proxy for every scheme; `NO_PROXY` holds for it too, as in curl. Without a scheme it is an HTTP proxy.
fn proxy_of(proxy: &Secret, excluded: Option<&str>) -> Result<Proxy, SetupError> {
    let text = proxy.expose();
    let url = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let known = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];
    let scheme = url.split("://").next().unwrap_or_default().to_ascii_lowercase();
    if !known.contains(&scheme.as_str()) {
        return Err(SetupError::Proxy(format!(
            "its scheme is not one of {}",
            known.map(|s| format!("`{s}`")).join(", ")
        )));
    }
    // The error may quote the URL, and with it the password.
    let proxy = Proxy::all(url).map_err(|_| SetupError::Proxy("it is not a URL".into()))?;
    Ok(proxy.no_proxy(excluded.and_then(NoProxy::from_string)))
}
