//! What the cases do not say: what is made once, and what is refused.

use http::{header, HeaderMap, HeaderValue, Method};
use polycache_http::{CacheControl, Coding, Composite, Policy, Representation};
use serde_json::json;
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

fn unzipped(bytes: &[u8]) -> serde_json::Value {
    let mut reader = flate2::bufread::GzDecoder::new(bytes);
    let value = serde_json::from_reader(&mut reader).unwrap();
    // One member, and nothing behind it.
    assert!(reader.into_inner().is_empty());
    value
}

#[tokio::test]
async fn fields_around_a_value() {
    let value = json!(["x".repeat(3000)]);
    let page = Representation::json(value.to_string());
    let policy = Policy::default();
    for fields in [
        json!({"start": 1, "end": "ü"}),
        json!({}),
        json!({"long": "y".repeat(200_000)}),
        json!({"exact": "y".repeat(0xffff - 12)}),
    ] {
        let document = page.within("value", &fields).unwrap();
        let mut whole = fields.clone();
        whole["value"] = value.clone();
        let plain = document.respond_now(&Method::GET, &HeaderMap::new(), &policy);
        let plain = plain.unwrap();
        assert_eq!(plain.body().len(), document.size());
        assert!(!plain.headers().contains_key("etag"));
        let read: serde_json::Value = serde_json::from_slice(plain.body()).unwrap();
        assert_eq!(read, whole);
        let packed = document
            .respond(&Method::GET, &accepting("gzip, br"), &policy)
            .await;
        assert_eq!(packed.headers()["content-encoding"], "gzip");
        let length: usize = packed.headers()["content-length"]
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(length, packed.body().len());
        assert_eq!(unzipped(packed.body()), whole);
        // The value is deflated once.
        assert!(document
            .respond_now(&Method::GET, &accepting("gzip"), &policy)
            .is_some());
    }
    let name = page.within("a \"name\"", &json!({"b": 1})).unwrap();
    let read: serde_json::Value = serde_json::from_slice(&name.bytes()).unwrap();
    assert_eq!(read, json!({"a \"name\"": value, "b": 1}));
}

#[test]
fn a_document_has_the_values_tag_where_its_fields_are_incidental() {
    let page = Representation::json("[1]").with_etag("\"v1\"").unwrap();
    let policy = Policy::default();
    let with =
        |name, tag: &'static str| HeaderMap::from_iter([(name, HeaderValue::from_static(tag))]);
    let status = |document: &Composite, method, fields: &HeaderMap| {
        document
            .respond_now(&method, fields, &policy)
            .unwrap()
            .status()
            .as_u16()
    };
    let document = page.within("value", &json!({"at": 1})).unwrap();
    assert_eq!(document.etag(), None);
    let none_match = with(header::IF_NONE_MATCH, "\"v1\"");
    let any = with(header::IF_NONE_MATCH, "*");
    assert_eq!(status(&document, Method::GET, &none_match), 200);
    assert_eq!(status(&document, Method::GET, &any), 304);
    assert_eq!(
        status(&document, Method::GET, &with(header::IF_MATCH, "\"v1\"")),
        412
    );
    let document = document.incidental();
    assert_eq!(document.etag().as_deref(), Some("W/\"v1\""));
    assert_eq!(status(&document, Method::GET, &none_match), 304);
    // A weak tag is equal to none by strong comparison.
    assert_eq!(
        status(&document, Method::GET, &with(header::IF_MATCH, "W/\"v1\"")),
        412
    );
    assert_eq!(status(&document, Method::POST, &HeaderMap::new()), 405);
    let nothing = with(header::ACCEPT_ENCODING, "identity;q=0, br");
    assert_eq!(status(&document, Method::GET, &nothing), 406);
    let head = document
        .respond_now(&Method::HEAD, &HeaderMap::new(), &policy)
        .unwrap();
    assert_eq!(
        head.headers()["content-length"],
        document.size().to_string()
    );
    assert!(head.body().is_empty());
    let aged = page
        .stored_at(1000)
        .clock(|| 3500)
        .within("value", &json!({}))
        .unwrap();
    let answer = aged
        .respond_now(&Method::GET, &HeaderMap::new(), &policy)
        .unwrap();
    assert_eq!(answer.headers()["age"], "2");
}

#[test]
fn what_cannot_stand_around_a_value_is_refused() {
    let page = Representation::json("1");
    assert!(page.within("value", &json!({"value": 1})).is_err());
    assert!(page.within("value", &json!([1])).is_err());
    assert!(page.within("value", &1).is_err());
    let text = Representation::new("x".into(), HeaderValue::from_static("text/plain"));
    assert!(text.within("value", &json!({})).is_err());
    let problem = HeaderValue::from_static("application/problem+json; charset=utf-8");
    assert!(Representation::new("1".into(), problem)
        .within("value", &json!({}))
        .is_ok());
}

#[test]
fn a_document_that_the_client_has_is_not_compressed() {
    let page = Representation::json(json!("x".repeat(3000)).to_string());
    let document = page.within("value", &json!({"at": 1})).unwrap();
    let document = document.incidental();
    let policy = Policy::default();
    let mut fields = accepting("gzip");
    assert!(document
        .respond_now(&Method::GET, &fields, &policy)
        .is_none());
    let etag = HeaderValue::from_str(page.etag()).unwrap();
    fields.insert(header::IF_NONE_MATCH, etag);
    let answer = document.respond_now(&Method::GET, &fields, &policy);
    assert_eq!(answer.unwrap().status(), 304);
}
