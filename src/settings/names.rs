//! The default name of a stream. To be swapped for `crate::http::name`, which has the same signature and rule.

use url::Url;

/// Query parameters that carry credentials.
const SECRET_PARAMETERS: [&str; 12] = [
    "access_token",
    "api_key",
    "apikey",
    "auth",
    "client_secret",
    "jwt",
    "key",
    "password",
    "secret",
    "sig",
    "signature",
    "token",
];

/// Host, port if it is not the scheme's own, path, and the query without credentials and the cursor's parameter.
#[must_use]
pub fn default_stream_name(url: &Url, cursor_parameter: Option<&str>) -> String {
    let mut name = url.host_str().unwrap_or_default().to_owned();
    if let Some(port) = url.port() {
        name.push_str(&format!(":{port}"));
    }
    name.push_str(url.path());
    let mut mark = '?';
    for pair in url.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let parameter = pair.split_once('=').map_or(pair, |(parameter, _)| parameter);
        if SECRET_PARAMETERS.contains(&parameter.to_ascii_lowercase().as_str()) || cursor_parameter == Some(parameter) {
            continue;
        }
        name.push(mark);
        name.push_str(pair);
        mark = '&';
    }
    name
}
