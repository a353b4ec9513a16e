//! What a shared cache may store, and for how long (RFC 9111 3 and 4.2, RFC 5861).

use super::directives::{whole_seconds, Directives};
use crate::variant::list;
use http::header::{self, HeaderMap, HeaderName};
use http::StatusCode;
use std::time::{Duration, UNIX_EPOCH};

/// How long an answer may be served, in milliseconds from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lifetime {
    /// Not above 0 for what is stale at once.
    pub fresh: i64,
    /// After that, while a newer one is fetched.
    pub while_revalidate: i64,
    /// After `fresh`, where no newer one can be had.
    pub if_error: i64,
}

/// Lifetimes for answers that name none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Defaults {
    pub fresh: Option<Duration>,
    pub while_revalidate: Duration,
    pub if_error: Duration,
}

/// Those that may be stored without being told so (RFC 9110 15.1), apart from those of parts of a body.
const BY_DEFAULT: [u16; 8] = [200, 203, 204, 300, 301, 308, 404, 410];
/// Their meaning needs a request of its own, or the whole is missing.
const NEVER: [u16; 7] = [206, 304, 401, 407, 412, 416, 426];

/// How long an answer may be served to all who have the same key, or why to nobody else. `keyed` are request fields that
/// belong to the key or that the key stands for; `now` is in milliseconds since 1970.
pub(super) fn lifetime_of(
    status: StatusCode,
    fields: &HeaderMap,
    keyed: &[HeaderName],
    defaults: &Defaults,
    now: i64,
) -> Result<Lifetime, &'static str> {
    let status = status.as_u16();
    if status >= 500 {
        return Err("server-error");
    }
    if status < 200 || NEVER.contains(&status) {
        return Err("status");
    }
    if fields.contains_key(header::SET_COOKIE) {
        return Err("set-cookie");
    }
    let directives = Directives::of(fields);
    // `no-cache` also with names of fields: the rest could be stored, but is not worth the trouble.
    for name in ["no-store", "private", "no-cache"] {
        if directives.has(name) {
            return Err(name);
        }
    }
    if !is_keyed(fields, keyed) {
        return Err("vary");
    }
    // A body without a coding serves every client: we make the codings.
    if fields.contains_key(header::CONTENT_ENCODING) {
        return Err("content-encoding");
    }
    // It never ends, and would be waited for.
    if is_event_stream(fields) {
        return Err("event-stream");
    }
    freshness(status, fields, &directives, defaults, now)
}

fn is_event_stream(fields: &HeaderMap) -> bool {
    const TYPE: &[u8] = b"text/event-stream";
    let said = list(fields, header::CONTENT_TYPE).unwrap_or_default();
    said.get(..TYPE.len())
        .is_some_and(|said| said.eq_ignore_ascii_case(TYPE))
}

/// Whether all that an answer was chosen by is in the key.
fn is_keyed(fields: &HeaderMap, keyed: &[HeaderName]) -> bool {
    let Some(vary) = list(fields, header::VARY) else {
        return true;
    };
    vary.split(|byte| *byte == b',').all(|name| {
        let name = name.trim_ascii();
        let is = |one: &HeaderName| name.eq_ignore_ascii_case(one.as_str().as_bytes());
        name.is_empty() || is(&header::ACCEPT_ENCODING) || keyed.iter().any(is)
    })
}

fn freshness(
    status: u16,
    fields: &HeaderMap,
    directives: &Directives,
    defaults: &Defaults,
    now: i64,
) -> Result<Lifetime, &'static str> {
    let seconds = |name| directives.seconds(name).map(|seconds| seconds * 1000);
    let shared = seconds("s-maxage");
    let told = shared
        .or_else(|| seconds("max-age"))
        .or_else(|| expires(fields, now));
    let default = defaults.fresh.filter(|_| BY_DEFAULT.contains(&status));
    let Some(base) = told.or(default.map(milliseconds)) else {
        let has_default = defaults.fresh.is_some();
        return Err(if has_default { "status" } else { "no-lifetime" });
    };
    let fresh = base - age_of(fields);
    let is_bound = directives.has("must-revalidate") || directives.has("proxy-revalidate");
    // With s-maxage an answer is served stale only if it says so itself (RFC 9111 4.2.4).
    let stale = |name, default: Duration| match seconds(name) {
        _ if is_bound => 0,
        Some(told) => told,
        None if shared.is_some() => 0,
        None => milliseconds(default),
    };
    let while_revalidate = stale("stale-while-revalidate", defaults.while_revalidate);
    let if_error = stale("stale-if-error", defaults.if_error);
    if fresh + while_revalidate.max(if_error) <= 0 {
        return Err("no-lifetime");
    }
    Ok(Lifetime {
        fresh,
        while_revalidate,
        if_error,
    })
}

/// At most what seconds in a field can say, so that sums stay small.
fn milliseconds(time: Duration) -> i64 {
    let most = Duration::from_secs(1 << 31);
    time.min(most).as_millis() as i64
}

/// What Expires gives, in milliseconds; a date that cannot be read is past.
fn expires(fields: &HeaderMap, now: i64) -> Option<i64> {
    let until = list(fields, header::EXPIRES)?;
    let Some(until) = time(&until) else {
        return Some(0);
    };
    let date = list(fields, header::DATE).and_then(|date| time(&date));
    let left = until - date.unwrap_or(now);
    Some(left.div_euclid(1000) * 1000)
}

/// A date of HTTP in milliseconds since 1970.
fn time(field: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(field).ok()?;
    let time = httpdate::parse_http_date(text).ok()?;
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

/// How old an answer says that it is already, in milliseconds.
pub(super) fn age_of(fields: &HeaderMap) -> i64 {
    let age = list(fields, header::AGE);
    age.and_then(|age| whole_seconds(&age)).unwrap_or(0) * 1000
}
