//! `spec/http/response-cache.json`: what a response cache stores, and whom it answers with what.

mod origin;

use axum::body::Body;
use http::Request;
use origin::{answer_of, options, quiet, Origin, Scripted, START};
use polycache::{AsyncCache, Cache, Clock};
use polycache_http::ResponseCache;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use tower_layer::Layer;

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
    options: Map<String, Value>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// In seconds.
    at: f64,
    #[serde(default)]
    request: Asked,
    origin: Origin,
    expect: Expect,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    method: Option<String>,
    host: Option<String>,
    target: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    status: u16,
    asked: usize,
    body: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, Value>,
}

#[tokio::test]
async fn every_case_in_memory() {
    every_case(|clock| Cache::builder().clock(clock).build().unwrap()).await;
}

#[tokio::test]
async fn every_case_in_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let number = AtomicU64::new(0);
    every_case(|clock| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let builder = Cache::builder().path(directory.path().join(number.to_string()));
        builder.limit(2 << 20).clock(clock).build().unwrap()
    })
    .await;
}

async fn every_case(open: impl Fn(Clock) -> Cache) {
    let text = include_str!("../../../spec/http/response-cache.json");
    let Cases { cases } = serde_json::from_str(text).unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let time = Arc::new(AtomicU64::new(START));
        let cache = open(Clock::Manual(time.clone()));
        run(&case, cache.clone().into(), &time).await;
        cache.close();
    }
}

async fn run(case: &Case, cache: AsyncCache, time: &Arc<AtomicU64>) {
    let clock = time.clone();
    let cached = options(ResponseCache::new(cache), &case.options)
        .clock(move || clock.load(Ordering::Relaxed));
    let scripted = Scripted::default();
    let mut service = cached.layer(scripted.clone());
    for (at, step) in case.steps.iter().enumerate() {
        let what = format!("{}, step {at}", case.name);
        time.store(START + (step.at * 1000.0) as u64, Ordering::Relaxed);
        scripted.answers_with(&step.origin);
        let Asked {
            method,
            host,
            target,
            headers,
        } = &step.request;
        let mut request = Request::builder()
            .method(method.as_deref().unwrap_or("GET"))
            .uri(target.as_deref().unwrap_or("/"))
            .header("host", host.as_deref().unwrap_or("test.example"));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(Body::empty()).unwrap();
        let (status, fields, body) = answer_of(&mut service, request).await.unwrap();
        quiet().await;
        assert_eq!(status, step.expect.status, "{what}");
        assert_eq!(scripted.asked(), step.expect.asked, "{what}");
        if let Some(expected) = &step.expect.body {
            assert_eq!(body, expected.as_bytes(), "{what}");
        }
        for (name, expected) in &step.expect.headers {
            let is = fields.get(name).map(|is| is.to_str().unwrap());
            match expected {
                Value::Null => assert_eq!(is, None, "{what}: {name}"),
                Value::String(text) => assert_eq!(is, Some(&**text), "{what}: {name}"),
                other => panic!("{what}: {other}"),
            }
        }
    }
}
