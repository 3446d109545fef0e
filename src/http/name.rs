//! The name that a stream has by its URL, where the user gave it none.

use url::Url;

use super::query;
use crate::redact::is_secret_parameter;

/// The default name of a stream: host, port if it is not the scheme's own, path, and the query without credentials
/// and without the parameter that carries the cursor.
///
/// The scheme, the user information and the fragment are no part of it, so a stream keeps its name when its
/// password changes. The result has no `#` and no control character: a URL holds both percent-encoded only.
#[must_use]
pub fn default_stream_name(url: &Url, cursor_parameter: Option<&str>) -> String {
    let mut name = url.host_str().unwrap_or_default().to_owned();
    if let Some(port) = url.port() {
        name.push_str(&format!(":{port}"));
    }
    name.push_str(url.path());
    let mut mark = '?';
    for pair in url.query().unwrap_or_default().split('&') {
        let parameter = query::name_of(pair);
        if pair.is_empty() || is_secret_parameter(&parameter) || cursor_parameter == Some(parameter.as_ref()) {
            continue;
        }
        name.push(mark);
        name.push_str(pair);
        mark = '&';
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumer::id::StreamName;

    fn name(url: &str, cursor: Option<&str>) -> String {
        default_stream_name(&Url::parse(url).unwrap(), cursor)
    }

    #[test]
    fn host_port_path_and_query_make_the_name() {
        assert_eq!(name("https://a.example/v1/events", None), "a.example/v1/events");
        assert_eq!(name("https://a.example:443/e", None), "a.example/e");
        assert_eq!(name("http://127.0.0.1:8080/e?b=2&a=1", None), "127.0.0.1:8080/e?b=2&a=1");
        assert_eq!(name("https://a.example", None), "a.example/");
        assert_eq!(name("http://[::1]:9/e", None), "[::1]:9/e");
    }

    #[test]
    fn credentials_cursor_and_fragment_are_no_part_of_it() {
        assert_eq!(name("https://u:p@a.example/e?api_key=s&x=1&token=t#part", None), "a.example/e?x=1");
        assert_eq!(name("https://a.example/e?since_id=9&x=%20", Some("since_id")), "a.example/e?x=%20");
        assert_eq!(name("https://a.example/e?since%5Fid=9&", Some("since_id")), "a.example/e");
        assert_eq!(name("https://a.example/e?since_id=9", None), "a.example/e?since_id=9");
    }

    #[test]
    fn it_is_always_a_stream_name() {
        for url in ["http://a/%23#x", "http://a/?q=%23%0A#x", "http://a/?a b\u{7f}", "http://\u{e9}.example/\u{e9}"] {
            assert!(StreamName::new(name(url, None)).is_ok(), "{url}");
        }
    }
}
