//! What the cases do not say: what is made once, and what is refused.

use http::{header, HeaderMap, HeaderValue, Method};
use polycache_http::{CacheControl, Coding, Policy, Representation};
use std::time::Duration;

fn accepting(coding: &'static str) -> HeaderMap {
    let mut fields = HeaderMap::new();
    fields.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(coding));
    fields
}

#[tokio::test]
async fn a_variant_is_made_once_and_then_answered_at_once() {
    let one = Representation::json("x".repeat(5000));
    let policy = Policy::default();
    let fields = accepting("br");
    assert!(one.respond_now(&Method::GET, &fields, &policy).is_none());
    let (first, second) = tokio::join!(
        one.respond(&Method::GET, &fields, &policy),
        one.respond(&Method::GET, &fields, &policy)
    );
    // The same memory, not only the same bytes.
    assert_eq!(first.body().as_ptr(), second.body().as_ptr());
    let third = one.respond_now(&Method::GET, &fields, &policy).unwrap();
    assert_eq!(third.body().as_ptr(), first.body().as_ptr());
    assert_eq!(one.size(), 5000 + third.body().len());
    let again = one.clone();
    assert!(again.respond_now(&Method::GET, &fields, &policy).is_some());
}

#[tokio::test]
async fn several_lines_of_a_list_are_one_list() {
    let one = Representation::json("x".repeat(5000));
    let mut fields = accepting("br;q=0");
    fields.append(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    fields.append(header::IF_NONE_MATCH, HeaderValue::from_static("\"a\""));
    let answer = one.respond(&Method::GET, &fields, &Policy::default()).await;
    assert_eq!(answer.headers()["content-encoding"], "gzip");
    fields.append(header::IF_NONE_MATCH, answer.headers()["etag"].clone());
    let answer = one.respond(&Method::GET, &fields, &Policy::default()).await;
    assert_eq!(answer.status(), 304);
}

#[test]
fn one_value_is_answered_by_each_policy() {
    let one = Representation::json("1").with_etag("\"v1\"").unwrap();
    let hour = CacheControl {
        max_age: Some(Duration::from_secs(3600)),
        ..CacheControl::default()
    };
    let first = Policy::default();
    let second = first.clone().cache_control(&hour).unwrap();
    let second = second
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .unwrap();
    for _ in 0..2 {
        for (policy, said) in [(&first, "no-cache"), (&second, "max-age=3600")] {
            let answer = one.respond_now(&Method::GET, &HeaderMap::new(), policy);
            let answer = answer.unwrap();
            assert_eq!(answer.headers()["cache-control"], said);
            assert_eq!(answer.headers()["etag"], "\"v1\"");
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(Representation::json("1").with_etag("v1").is_err());
    assert!(CacheControl::default().text().is_err());
    let never = CacheControl {
        no_store: true,
        max_age: Some(Duration::ZERO),
        ..CacheControl::default()
    };
    assert!(never.text().is_err());
    assert!(Policy::default().header(header::ETAG, "\"a\"").is_err());
    assert!(Policy::default().header(header::LINK, "a\nb: c").is_err());
    assert!(Policy::default().cache_control_text("a\r\nb: c").is_err());
    assert_eq!(Coding::named("deflate"), None);
}
