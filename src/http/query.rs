//! Query parameters, changed without touching the bytes of their neighbours.
//!
//! A query is often signed, or read by servers that know one of several encodings only. So nothing here parses a
//! query and writes it again: the pieces between the `&` stay as they are.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::{Url, form_urlencoded};

/// All but the unreserved characters (RFC 3986, section 2.3): safe in a query whatever the server takes `+` for.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The name of the parameter in a piece of a query, as a server reads it.
pub(super) fn name_of(pair: &str) -> Cow<'_, str> {
    form_urlencoded::parse(pair.as_bytes()).next().map_or(Cow::Borrowed(""), |(name, _)| name)
}

/// Gives the parameter `name` these values: where it stood already, they take its place, else they go to the end.
/// All other pieces keep their bytes and their order.
pub(super) fn set(url: &mut Url, name: &str, values: &[&str]) {
    let encoded_name = utf8_percent_encode(name, ENCODED).to_string();
    let mut ours = Some(
        values
            .iter()
            .map(|value| format!("{encoded_name}={}", utf8_percent_encode(value, ENCODED)))
            .collect::<Vec<_>>(),
    );
    let query = url.query().unwrap_or_default().to_owned();
    let mut pieces: Vec<String> = Vec::new();
    if !query.is_empty() {
        for pair in query.split('&') {
            if !pair.is_empty() && name_of(pair) == name {
                pieces.extend(ours.take().unwrap_or_default());
            } else {
                pieces.push(pair.to_owned());
            }
        }
    }
    pieces.extend(ours.unwrap_or_default());
    url.set_query(Some(&pieces.join("&")));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(url: &str, name: &str, values: &[&str]) -> String {
        let mut url = Url::parse(url).unwrap();
        set(&mut url, name, values);
        url.to_string()
    }

    #[test]
    fn a_parameter_is_appended_where_there_is_none() {
        assert_eq!(with("http://h/", "since", &["5"]), "http://h/?since=5");
        assert_eq!(with("http://h/?", "since", &["5"]), "http://h/?since=5");
        assert_eq!(with("http://h/?a=1", "since", &["5"]), "http://h/?a=1&since=5");
    }

    #[test]
    fn an_existing_one_is_replaced_not_repeated() {
        assert_eq!(with("http://h/?since=1&a=1", "since", &["5"]), "http://h/?since=5&a=1");
        assert_eq!(with("http://h/?since=1&a=1&since=2&since", "since", &["5"]), "http://h/?since=5&a=1");
        assert_eq!(with("http://h/?%73ince=1", "since", &["5"]), "http://h/?since=5");
        assert_eq!(with("http://h/?since=1", "since", &["a", "b"]), "http://h/?since=a&since=b");
    }

    #[test]
    fn the_neighbours_keep_their_bytes() {
        let odd = "a=%2b%2B+x&&b=~%7E!$'()*,;:@/?[]&c==&%zz&d=%E4";
        let kept = Url::parse(&format!("http://h/?{odd}")).unwrap();
        let kept = kept.query().unwrap();
        assert_eq!(with(&format!("http://h/?{odd}"), "since", &["5"]), format!("http://h/?{kept}&since=5"));
    }

    #[test]
    fn a_value_is_encoded_so_that_every_server_reads_it_back() {
        let value = "+&%#= \u{20ac}/?;\"'";
        let url = with("http://h/?a=1", "since", &[value]);
        assert_eq!(url, "http://h/?a=1&since=%2B%26%25%23%3D%20%E2%82%AC%2F%3F%3B%22%27");
        let read = Url::parse(&url).unwrap().query_pairs().last().unwrap().1.into_owned();
        assert_eq!(read, value);
        assert_eq!(with("http://h/", "s", &["aZ09-._~"]), "http://h/?s=aZ09-._~");
    }
}
