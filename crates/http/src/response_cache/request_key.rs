//! What an answer is stored under, and what its handler may see (`spec/http.md`, "The keys").

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::Engine;
use http::header::{self, HeaderMap, HeaderName};
use http::request::Parts;
use http::uri::{Authority, Scheme};
use http::{Method, Request};
use ring::digest::{digest, SHA256};

/// A longer part of a key, in the units of UTF-16, is told by its hash.
const LONGEST: usize = 400;

/// What the keys of all values of the fields begin with: the key that was given, or the URL.
pub(super) fn base_of(given: &str) -> String {
    part(Some(given))
}

/// The key of an answer: with the values of the fields that belong to it. Quotes end each part, so that no part can pretend
/// to be two.
pub(super) fn key_of(base: &str, fields: &HeaderMap, vary: &[HeaderName]) -> String {
    let mut key = base.to_owned();
    for name in vary {
        key.push_str(&part(text(fields, name).as_deref()));
    }
    key
}

fn part(text: Option<&str>) -> String {
    let Some(text) = text else {
        return "-".to_owned();
    };
    if text.encode_utf16().count() <= LONGEST {
        return serde_json::Value::from(text).to_string();
    }
    let hash = digest(&SHA256, text.as_bytes());
    format!("#{}\"", URL_SAFE_NO_PAD.encode(hash))
}

/// A field's value as JavaScript has it: its lines as one, each byte a character.
pub(super) fn text(fields: &HeaderMap, name: &HeaderName) -> Option<String> {
    let separator = if name == header::COOKIE { "; " } else { ", " };
    let mut whole: Option<String> = None;
    for value in fields.get_all(name) {
        match &mut whole {
            Some(whole) => whole.push_str(separator),
            None => whole = Some(String::new()),
        }
        if let Some(whole) = &mut whole {
            whole.extend(value.as_bytes().iter().copied().map(char::from));
        }
    }
    whole
}

/// The URL of a request with its query; `None` where the request does not say of which host it is, or says so twice.
pub(super) fn url_of(request: &Parts) -> Option<String> {
    let uri = &request.uri;
    let mut hosts = request.headers.get_all(header::HOST).iter();
    let named = match (hosts.next(), hosts.next()) {
        (None, _) => None,
        (Some(host), None) => Some(Authority::try_from(host.as_bytes()).ok()?),
        (Some(_), Some(_)) => return None,
    };
    let host = match (uri.authority(), &named) {
        (None, None) => return None,
        (Some(host), None) | (None, Some(host)) => host,
        // The handler sees both.
        (Some(host), Some(named)) if host == named => host,
        (Some(_), Some(_)) => return None,
    };
    if host.as_str().contains('@') {
        return None;
    }
    let is_https = uri.scheme() == Some(&Scheme::HTTPS);
    let (scheme, port) = if is_https {
        ("https", ":443")
    } else {
        ("http", ":80")
    };
    let host = host.as_str().to_ascii_lowercase();
    let host = host.strip_suffix(port).unwrap_or(&host);
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let slash = if target.starts_with('/') { "" } else { "/" };
    Some(format!("{scheme}://{host}{slash}{target}"))
}

/// Conditions, ranges and codings are not the business of a handler whose answer may be stored.
const NEVER: [HeaderName; 7] = [
    header::ACCEPT_ENCODING,
    header::IF_MATCH,
    header::IF_NONE_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_UNMODIFIED_SINCE,
    header::IF_RANGE,
    header::RANGE,
];

/// The request as a handler sees it whose answer may be stored: a GET with only those fields that belong to the key or are
/// covered.
pub(super) fn seen_by<B: Default>(
    request: &Parts,
    keyed: &[HeaderName],
    with_extensions: bool,
) -> Request<B> {
    let mut seen = Request::new(B::default());
    *seen.method_mut() = Method::GET;
    *seen.uri_mut() = request.uri.clone();
    *seen.version_mut() = request.version;
    if with_extensions {
        *seen.extensions_mut() = request.extensions.clone();
    }
    for name in keyed.iter().filter(|name| !NEVER.contains(name)) {
        for value in request.headers.get_all(name) {
            seen.headers_mut().append(name, value.clone());
        }
    }
    if let Some(host) = request.headers.get(header::HOST) {
        seen.headers_mut().insert(header::HOST, host.clone());
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::{base_of, key_of, url_of};
    use http::header::{self, HeaderMap, HeaderValue};
    use http::Request;

    fn url(uri: &str, hosts: &[&str]) -> Option<String> {
        let mut request = Request::get(uri);
        for host in hosts {
            request = request.header("host", *host);
        }
        url_of(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn a_url_has_one_host() {
        let is = |uri: &str, hosts: &[&str], expected: Option<&str>| {
            assert_eq!(url(uri, hosts).as_deref(), expected, "{uri} {hosts:?}");
        };
        is(
            "/a?b=1",
            &["Shop.Example"],
            Some("http://shop.example/a?b=1"),
        );
        is("/", &["shop.example:80"], Some("http://shop.example/"));
        is(
            "/",
            &["shop.example:8080"],
            Some("http://shop.example:8080/"),
        );
        is(
            "https://shop.example:443/a",
            &[],
            Some("https://shop.example/a"),
        );
        is("http://shop.example?q", &[], Some("http://shop.example/?q"));
        is(
            "http://a.example/",
            &["A.example"],
            Some("http://a.example/"),
        );
        is("http://a.example/", &["b.example"], None);
        is("/", &["a.example", "b.example"], None);
        is("/", &[], None);
        for hostile in ["a/../b", "a b", "a@b", "a?b", "[::1", ""] {
            is("/", &[hostile], None);
        }
    }

    #[test]
    fn a_long_part_is_told_by_its_hash() {
        let short = base_of(&"ü".repeat(400));
        assert_eq!(short, format!("\"{}\"", "ü".repeat(400)));
        let long = base_of(&"x".repeat(401));
        assert_eq!(long, "#JX0um9hbp5Aui4rM2DMxmk14MyMh0yDvOqoFJw7p9BY\"");
    }

    #[test]
    fn each_byte_of_a_value_is_a_character() {
        let mut fields = HeaderMap::new();
        fields.insert("x-a", HeaderValue::from_bytes(b"\xe9\"").unwrap());
        fields.append("x-a", HeaderValue::from_static("2"));
        fields.append(header::COOKIE, HeaderValue::from_static("a=1"));
        fields.append(header::COOKIE, HeaderValue::from_static("b=2"));
        let vary = ["cookie", "x-a", "x-b"].map(|name| name.parse().unwrap());
        let key = key_of("\"u\"", &fields, &vary);
        assert_eq!(key, r#""u""a=1; b=2""é\", 2"-"#);
    }
}
