//! What is looked at before a request is answered, and said with every answer.

use crate::app::{unavailable, App};
use crate::tracked::count;
use crate::Limits;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode, Uri, Version};
use polycache_http::{Answer, Problem};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// Paths that need no token: the page holds no data, and those who watch a server ask whether it is there.
const OPEN: [&str; 2] = ["/", "/healthz"];

/// Fields of every answer. Bytes from a cache are anybody's: no browser runs them.
const ALWAYS: [(HeaderName, HeaderValue); 3] = [
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

/// Refuses what may not be asked, and bounds how long an answer takes.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let has_body = has_body(request.headers());
    let mut response = match refusal(&app, &request) {
        Some(problem) => body(problem.answer(&method)),
        None => {
            match tokio::time::timeout(app.options.limits.request_time, next.run(request)).await {
                Ok(response) => response,
                Err(_) => {
                    let late = unavailable("The answer took too long; try again.");
                    body(late.answer(&method))
                }
            }
        }
    };
    let fields = response.headers_mut();
    for (name, value) in &ALWAYS {
        if !fields.contains_key(name) {
            fields.insert(name, value.clone());
        }
    }
    if has_body {
        // It is not read.
        fields.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let class = usize::from(response.status().as_u16() / 100);
    if let Some(counter) = app.counts.answers.get(class) {
        count(counter);
    }
    response
}

/// An answer as axum has it.
pub(crate) fn body(answer: Answer) -> Response {
    answer.map(Body::from)
}

fn refusal(app: &App, request: &Request) -> Option<Problem> {
    let (method, uri, fields) = (request.method(), request.uri(), request.headers());
    if method != Method::GET && method != Method::HEAD {
        return Some(Problem::method_not_allowed());
    }
    let length = uri.path().len() + uri.query().map_or(0, str::len);
    if length > Limits::TARGET {
        let most = Limits::TARGET;
        let detail = format!("Path and query have {length} bytes; {most} are taken.");
        return Some(Problem::new(StatusCode::URI_TOO_LONG, detail));
    }
    if has_body(fields) {
        let detail = "No request here has a body.";
        return Some(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
    }
    host(app, request.version(), uri, fields)
        .err()
        .or_else(|| token(app, uri, fields))
}

fn has_body(fields: &HeaderMap) -> bool {
    let length = fields.get(header::CONTENT_LENGTH);
    length.is_some_and(|length| length != "0") || fields.contains_key(header::TRANSFER_ENCODING)
}

/// A page of another site reaches a server on the loopback interface by a name of its own that leads there (DNS rebinding).
/// Its requests have that name.
fn host(app: &App, version: Version, uri: &Uri, fields: &HeaderMap) -> Result<(), Problem> {
    let mut hosts = fields.get_all(header::HOST).iter();
    let (first, second) = (hosts.next(), hosts.next());
    let bad = |detail: &str| Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    if second.is_some() {
        return bad("The request has several fields Host.");
    }
    let named = match (uri.authority(), first) {
        (Some(authority), _) => authority.as_str(),
        (None, Some(field)) => match field.to_str() {
            Ok(text) => text,
            Err(_) => return bad("The field Host is no text."),
        },
        // Browsers always send it.
        (None, None) if version < Version::HTTP_11 => return Ok(()),
        (None, None) => return bad("The field Host is absent."),
    };
    if app.options.token.is_some() && app.options.hosts.is_empty() {
        // Another site's page does not know the token.
        return Ok(());
    }
    let name = name_of(named);
    let mut known = app.options.hosts.iter().map(String::as_str);
    if is_loopback(name) || known.any(|one| one.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    let detail = "This server is not called what the field Host says: ask for localhost or 127.0.0.1, or start it with \
        --host and that name.";
    Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, detail))
}

/// A host without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// `localhost`, or an address that no name of another site can stand for. Every one that may be listened at is among them.
fn is_loopback(name: &str) -> bool {
    let v6 = name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match v6 {
        Some(v6) => v6.parse().is_ok_and(|v6: Ipv6Addr| v6.is_loopback()),
        None => {
            name.eq_ignore_ascii_case("localhost")
                || name.parse().is_ok_and(|v4: Ipv4Addr| v4.is_loopback())
        }
    }
}

/// Whether a field Host can say it: one with a port or nothing at all would be compared with names in vain.
pub(crate) fn is_host(name: &str) -> bool {
    let authority = name.parse::<http::uri::Authority>();
    authority.is_ok_and(|authority| authority.host() == name)
}

fn token(app: &App, uri: &Uri, fields: &HeaderMap) -> Option<Problem> {
    if OPEN.contains(&uri.path()) || is_shown(app, fields) {
        return None;
    }
    let detail = "Show the server's token: Authorization: Bearer <token>.";
    let challenge = "Bearer realm=\"polycache\"";
    let problem = Problem::new(StatusCode::UNAUTHORIZED, detail);
    Some(problem.field(header::WWW_AUTHENTICATE, challenge))
}

/// Whether the client may see what the cache holds.
pub(crate) fn is_shown(app: &App, fields: &HeaderMap) -> bool {
    let shown = || fields.get(header::AUTHORIZATION);
    app.options
        .token
        .as_ref()
        .is_none_or(|token| token.is_shown(shown()))
}

#[cfg(test)]
mod tests {
    use super::{is_host, is_loopback, name_of};

    #[test]
    fn addresses_of_loopback_are_this_machine() {
        for name in [
            "localhost",
            "LocalHost",
            "127.0.0.1",
            "127.8.9.1",
            "[::1]",
            "[0:0::1]",
        ] {
            assert!(is_loopback(name), "{name}");
        }
        for name in [
            "",
            "localhost.",
            "128.0.0.1",
            "127.1",
            "::1",
            "[::2]",
            "[127.0.0.1]",
            "127.0.0.1.example",
        ] {
            assert!(!is_loopback(name), "{name}");
        }
    }

    #[test]
    fn hosts_have_no_port() {
        for name in ["cache", "cache.example", "10.0.0.7", "[fd00::7]"] {
            assert!(is_host(name), "{name}");
        }
        for name in [
            "",
            "cache:80",
            "http://cache",
            "cache/x",
            "a@cache",
            "fd00::7",
            "a b",
        ] {
            assert!(!is_host(name), "{name}");
        }
    }

    #[test]
    fn names_lose_their_port() {
        for (host, name) in [
            ("localhost", "localhost"),
            ("localhost:8080", "localhost"),
            ("[::1]:8080", "[::1]"),
            ("[::1]", "[::1]"),
            ("127.0.0.1.evil.example:80", "127.0.0.1.evil.example"),
            ("a:b", "a:b"),
        ] {
            assert_eq!(name_of(host), name);
        }
    }
}
