//! What must never be printed: credentials in headers, tokens, URLs and in texts that quote them.
//!
//! Responsible for knowing a credential by its name, and for showing things without it. One list of names serves
//! the URL that is shown, the name of a stream that is made from a URL, and the headers that a redirect to
//! another origin must not see. Knows nothing of requests, records or storage.

use std::fmt;

use url::Url;

/// What stands in place of a credential.
pub const MASK: &str = "***";

/// A shorter secret is not searched for in texts: masking every `a` would tell the secret, not hide it.
const SEARCHED_SECRET_BYTES_MIN: usize = 4;

/// Query parameters that carry credentials, in lower case with `_` for `-` and `.`.
///
/// Whole names only. A rule such as "ends with `_key`" would take `partition_key` for a credential, and two
/// streams that differ in it alone would then share one name, and one cursor.
const SECRET_PARAMETERS: &[&str] = &[
    "access_key",
    "access_key_id",
    "access_token",
    "accesskey",
    "accesstoken",
    "api_key",
    "api_secret",
    "api_token",
    "apikey",
    "apitoken",
    "app_key",
    "app_secret",
    "appkey",
    "auth",
    "auth_key",
    "auth_token",
    "authkey",
    "authorization",
    "authtoken",
    "awsaccesskeyid",
    "bearer",
    "bearer_token",
    "client_secret",
    "credential",
    "credentials",
    "hmac",
    "id_token",
    "jsessionid",
    "jwt",
    "key",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "phpsessid",
    "private_key",
    "private_token",
    "pwd",
    "refresh_token",
    "secret",
    "secret_key",
    "security_token",
    "session",
    "session_token",
    "sessionid",
    "sid",
    "sig",
    "sign",
    "signature",
    "subscription_key",
    "ticket",
    "token",
    "x_amz_credential",
    "x_amz_security_token",
    "x_amz_signature",
    "x_api_key",
    "x_goog_credential",
    "x_goog_signature",
];

/// Pieces of the names of header fields that carry credentials. Here a guess too many costs little: the field is
/// masked, and not shown to another origin.
const SECRET_HEADER_PIECES: &[&str] =
    &["apikey", "auth", "cookie", "credential", "jwt", "key", "passw", "secret", "session", "signature", "token"];

/// Whether a query parameter of this (decoded) name carries a credential.
#[must_use]
pub fn is_secret_parameter(name: &str) -> bool {
    let name: String =
        name.chars().map(|c| if matches!(c, '-' | '.') { '_' } else { c.to_ascii_lowercase() }).collect();
    SECRET_PARAMETERS.binary_search(&name.as_str()).is_ok()
}

/// Whether a header field of this name carries a credential (`Authorization`, `Cookie`, `X-Api-Key`, ...).
#[must_use]
pub fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_HEADER_PIECES.iter().any(|piece| name.contains(piece))
}

/// A text that is never printed: `Debug` and `Display` show [`MASK`].
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps a credential.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The credential itself, to be sent and for nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// Shows a URL without what is secret in it: user information and the values of secret query parameters become
/// [`MASK`], the fragment (which is never sent) is left out, all else stands as it is.
#[derive(Clone, Copy)]
pub struct RedactedUrl<'a>(pub &'a Url);

impl fmt::Display for RedactedUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.0;
        write!(f, "{}:", url.scheme())?;
        if let Some(host) = url.host_str() {
            f.write_str("//")?;
            if !url.username().is_empty() || url.password().is_some() {
                write!(f, "{MASK}@")?;
            }
            f.write_str(host)?;
            if let Some(port) = url.port() {
                write!(f, ":{port}")?;
            }
        }
        f.write_str(url.path())?;
        let Some(query) = url.query() else { return Ok(()) };
        for (index, pair) in query.split('&').enumerate() {
            f.write_str(if index == 0 { "?" } else { "&" })?;
            match pair.split_once('=') {
                Some((name, value)) if !value.is_empty() && is_secret_parameter(&decoded_name(name)) => {
                    write!(f, "{name}={MASK}")?;
                }
                _ => f.write_str(pair)?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for RedactedUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The credentials that a URL holds, as they stand in it and decoded: what [`redact_text`] must look for.
#[must_use]
pub fn secrets_of_url(url: &Url) -> Vec<Secret> {
    let mut found = Vec::new();
    match url.password() {
        Some(password) if !password.is_empty() => found.push(Secret::new(password)),
        // A user name alone is a token (`https://TOKEN@host/`).
        _ => found.push(Secret::new(url.username())),
    }
    for pair in url.query().unwrap_or("").split('&') {
        if let Some((name, value)) = pair.split_once('=')
            && is_secret_parameter(&decoded_name(name))
        {
            found.push(Secret::new(value));
            let decoded = url::form_urlencoded::parse(pair.as_bytes()).next();
            found.extend(decoded.map(|(_, value)| Secret::new(value)));
        }
    }
    found
}

/// A text in which every one of `secrets` has become [`MASK`].
#[must_use]
pub fn redact_text(text: &str, secrets: &[Secret]) -> String {
    let mut searched: Vec<&str> =
        secrets.iter().map(Secret::expose).filter(|secret| secret.len() >= SEARCHED_SECRET_BYTES_MIN).collect();
    // The longest first: one secret may be a part of another.
    searched.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
    searched.into_iter().fold(text.to_owned(), |text, secret| text.replace(secret, MASK))
}

/// A word that somebody typed where a URL may stand, without what is secret in it; what is no URL is treated as the
/// mistyped one that it may be.
#[must_use]
pub fn redact_word(word: &str) -> String {
    if let Some((name, value)) = word.split_once(": ")
        && is_secret_header(name)
        && !value.is_empty()
    {
        return format!("{name}: {MASK}");
    }
    let (place, query) = word.split_once('?').map_or((word, None), |(place, query)| (place, Some(query)));
    let (scheme, rest) =
        place.split_once("://").map_or(("", place), |(_, rest)| (&place[..place.len() - rest.len()], rest));
    // A password may hold a `/` that should have been encoded; a path with an `@` and no user is left alone.
    let authority = rest.split(['/', '#']).next().unwrap_or_default();
    let user = match authority.rfind('@') {
        Some(at) => Some(at),
        None if authority.contains(':') => rest.rfind('@'),
        None => None,
    };
    let mut shown = match user {
        Some(at) if at > 0 => format!("{scheme}{MASK}{}", &rest[at..]),
        _ => place.to_owned(),
    };
    let Some(query) = query else { return shown };
    for (index, pair) in query.split('&').enumerate() {
        shown.push(if index == 0 { '?' } else { '&' });
        match pair.split_once('=') {
            Some((name, value)) if !value.is_empty() && is_secret_parameter(&decoded_name(name)) => {
                shown.push_str(&format!("{name}={MASK}"));
            }
            _ => shown.push_str(pair),
        }
    }
    shown
}

/// The name of a query parameter as a server reads it.
fn decoded_name(raw: &str) -> String {
    url::form_urlencoded::parse(raw.as_bytes()).next().map(|(name, _)| name.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(url: &str) -> String {
        RedactedUrl(&Url::parse(url).unwrap()).to_string()
    }

    #[test]
    fn the_list_of_parameters_is_sorted_as_the_search_needs_it() {
        assert!(SECRET_PARAMETERS.is_sorted());
    }

    #[test]
    fn a_parameter_is_known_by_its_whole_name_whatever_its_case_and_joint() {
        for name in ["token", "Api-Key", "APIKEY", "X-Amz-Signature", "access.token", "key", "sig"] {
            assert!(is_secret_parameter(name), "{name}");
        }
        for name in ["partition_key", "next_token_page", "since_id", "keyboard", "author", ""] {
            assert!(!is_secret_parameter(name), "{name}");
        }
    }

    #[test]
    fn a_header_is_known_by_a_piece_of_its_name() {
        for name in ["Authorization", "COOKIE", "X-Api-Key", "X-Auth-Token", "Proxy-Authorization"] {
            assert!(is_secret_header(name), "{name}");
        }
        for name in ["Accept", "User-Agent", "Last-Event-ID", "X-Tenant"] {
            assert!(!is_secret_header(name), "{name}");
        }
    }

    #[test]
    fn a_url_is_shown_without_credentials_and_otherwise_unchanged() {
        assert_eq!(
            redacted("https://me:pw@h.example:8443/a%20b?x=%2B&token=abc&y&api%5Fkey=d&key=#frag"),
            "https://***@h.example:8443/a%20b?x=%2B&token=***&y&api%5Fkey=***&key="
        );
        assert_eq!(redacted("http://[::1]:80/"), "http://[::1]/");
        assert_eq!(redacted("http://me@h/"), "http://***@h/");
    }

    #[test]
    fn a_mistyped_url_is_shown_without_credentials() {
        for (word, shown) in [
            ("u:SECRET@host/x", "***@host/x"),
            ("https://u:SEC/RET@h/x", "https://***@h/x"),
            ("https://u:SE@CRET@h/x?token=t&y=1#f", "https://***@h/x?token=***&y=1#f"),
            ("host/@user", "host/@user"),
            ("Authorization: Bearer SECRET", "Authorization: ***"),
            ("accounts", "accounts"),
            ("host?api-key=SECRET", "host?api-key=***"),
        ] {
            assert_eq!(redact_word(word), shown);
        }
    }

    #[test]
    fn a_secret_shows_nothing() {
        let secret = Secret::new("hunter22");
        assert_eq!(format!("{secret} {secret:?} {secret:#?}"), "*** *** ***");
        assert_eq!(secret.expose(), "hunter22");
    }

    #[test]
    fn a_text_loses_every_secret_the_longer_first() {
        let secrets = [Secret::new("abcd"), Secret::new("abcdef"), Secret::new("x"), Secret::new("")];
        assert_eq!(redact_text("x: abcdef, abcd.", &secrets), "x: ***, ***.");
    }

    #[test]
    fn the_secrets_of_a_url_are_found_raw_and_decoded() {
        let url = Url::parse("http://u:p%40ss@h/?token=a%2Bb%20c&x=1").unwrap();
        let found: Vec<_> = secrets_of_url(&url).iter().map(|s| s.expose().to_owned()).collect();
        assert_eq!(found, ["p%40ss", "a%2Bb%20c", "a+b c"]);
    }
}
