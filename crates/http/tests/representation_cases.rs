//! `spec/http/representation.json`: what bytes in memory answer.

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use polycache_http::{CacheControl, Coding, Policy, Representation, Visibility};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::Read;

/// Milliseconds since 1970.
const NOW: u64 = 1_767_225_600_000;

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[allow(dead_code)]
    why: Option<String>,
    #[serde(default)]
    value: Content,
    #[serde(default)]
    options: Map<String, Value>,
    request: Request,
    expect: Expect,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    text: Option<String>,
    repeat: Option<usize>,
    content_type: Option<String>,
    stored_seconds_ago: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    method: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    status: u16,
    body: String,
    #[serde(default)]
    headers: BTreeMap<String, Value>,
}

#[tokio::test]
async fn every_case() {
    let text = include_str!("../../../spec/http/representation.json");
    let Cases { cases } = serde_json::from_str(text).unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        run(&case).await;
    }
}

async fn run(case: &Case) {
    let name = &case.name;
    let repeat = case.value.repeat.unwrap_or(2000);
    let text = case.value.text.clone();
    let bytes = text.unwrap_or_else(|| format!("\"{}\"", "x".repeat(repeat)));
    let content_type = case.value.content_type.as_deref();
    let content_type = HeaderValue::from_str(content_type.unwrap_or("application/json")).unwrap();
    let mut one = Representation::new(bytes.clone().into(), content_type).clock(|| NOW);
    if let Some(ago) = case.value.stored_seconds_ago {
        one = one.stored_at(NOW - (ago * 1000.0) as u64);
    }
    let gzip = Representation::json(one.encoded(Coding::Gzip).await.unwrap());
    let etag = one.etag().to_owned();
    let fill = |text: &str| {
        text.replace("${etag}", &etag)
            .replace("${gzip}", gzip.etag())
            .replace("${bare}", etag.trim_matches('"'))
    };
    let mut request = HeaderMap::new();
    for (field, value) in &case.request.headers {
        let field: HeaderName = field.parse().unwrap();
        request.insert(field, HeaderValue::from_str(&fill(value)).unwrap());
    }
    let method: Method = case
        .request
        .method
        .as_deref()
        .unwrap_or("GET")
        .parse()
        .unwrap();
    let policy = policy(&case.options);
    let answer = one.respond(&method, &request, &policy).await;
    assert_eq!(answer.status(), case.expect.status, "{name}");
    for (field, expected) in &case.expect.headers {
        let is = answer.headers().get(field).map(|is| is.to_str().unwrap());
        match expected {
            Value::Null => assert_eq!(is, None, "{name}: {field}"),
            Value::String(text) => assert_eq!(is, Some(&*fill(text)), "{name}: {field}"),
            Value::Object(not) => {
                let not = not["not"].as_str().unwrap();
                assert!(is.is_some_and(|is| is != fill(not)), "{name}: {field}");
            }
            other => panic!("{name}: {other}"),
        }
    }
    let body = answer.body();
    match &*case.expect.body {
        "empty" => assert!(body.is_empty(), "{name}"),
        "problem" => {
            assert_eq!(answer.headers()["content-type"], "application/problem+json");
            let document: Value = serde_json::from_slice(body).unwrap();
            assert_eq!(document["status"], case.expect.status, "{name}");
        }
        "value" => {
            let coding = answer.headers().get("content-encoding");
            assert_eq!(decode(coding, body), bytes.as_bytes(), "{name}");
        }
        other => panic!("{name}: {other}"),
    }
    if method == Method::GET && case.expect.status != 304 {
        let length = answer.headers()["content-length"].to_str().unwrap();
        assert_eq!(length, body.len().to_string(), "{name}");
    }
}

fn decode(coding: Option<&HeaderValue>, body: &[u8]) -> Vec<u8> {
    let mut made = Vec::new();
    match coding.map(HeaderValue::as_bytes) {
        None => made.extend_from_slice(body),
        Some(b"gzip") => drop(flate2::read::GzDecoder::new(body).read_to_end(&mut made)),
        Some(b"br") => drop(brotli::Decompressor::new(body, 4096).read_to_end(&mut made)),
        Some(b"zstd") => made = zstd::decode_all(body).unwrap(),
        other => panic!("{other:?}"),
    }
    made
}

fn policy(options: &Map<String, Value>) -> Policy {
    let mut policy = Policy::default();
    for (name, value) in options {
        policy = match &**name {
            "cache_control" => policy
                .cache_control(&control(value.as_object().unwrap()))
                .unwrap(),
            "vary" => {
                let names = value.as_array().unwrap().iter();
                policy.vary(names.map(|name| name.as_str().unwrap().parse().unwrap()))
            }
            "codings" => {
                let names = value.as_array().unwrap().iter();
                policy.codings(names.map(|name| Coding::named(name.as_str().unwrap()).unwrap()))
            }
            other => panic!("{other}"),
        };
    }
    policy
}

fn control(parts: &Map<String, Value>) -> CacheControl {
    let mut control = CacheControl::default();
    for (name, value) in parts {
        let time = || Some(polycache::duration::parse(value.as_str().unwrap()).unwrap());
        match &**name {
            "visibility" if value == "public" => control.visibility = Some(Visibility::Public),
            "max_age" => control.max_age = time(),
            "shared_max_age" => control.shared_max_age = time(),
            "stale_while_revalidate" => control.stale_while_revalidate = time(),
            "stale_if_error" => control.stale_if_error = time(),
            "must_revalidate" => control.must_revalidate = value == true,
            other => panic!("{other}"),
        }
    }
    control
}
