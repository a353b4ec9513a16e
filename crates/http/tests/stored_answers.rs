//! `spec/http/stored-answers.json`: what stands in a cache of answers, which programs in other languages read, too.

mod origin;

use axum::body::Body;
use http::Request;
use origin::{answer_of, options, Origin, Scripted, START};
use polycache::{AsyncCache, Cache, Value};
use polycache_http::ResponseCache;
use serde::Deserialize;
use serde_json::Map;
use std::collections::BTreeMap;
use tower_layer::Layer;

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    options: Map<String, serde_json::Value>,
    #[serde(default)]
    before: BTreeMap<String, String>,
    /// In seconds.
    at: f64,
    request: Asked,
    origin: Origin,
    key: String,
    stored: Map<String, serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    host: Option<String>,
    target: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl Case {
    fn request(&self) -> Request<Body> {
        let Asked { host, target, .. } = &self.request;
        let mut request = Request::get(target.as_deref().unwrap_or("/"))
            .header("host", host.as_deref().unwrap_or("test.example"));
        for (name, value) in &self.request.headers {
            // Each character is a byte of a field.
            let value: Vec<u8> = value.chars().map(|one| one as u8).collect();
            request = request.header(name, value);
        }
        request.body(Body::empty()).unwrap()
    }

    fn cache(&self, cache: &AsyncCache) -> ResponseCache {
        let now = START + (self.at * 1000.0) as u64;
        options(ResponseCache::new(cache.clone()), &self.options).clock(move || now)
    }

    /// A cache with what stands in it before the request.
    async fn cache_before(&self) -> AsyncCache {
        let cache: AsyncCache = Cache::builder().build().unwrap().into();
        for (key, text) in &self.before {
            cache.set(key, text).await.unwrap();
        }
        cache
    }

    fn stored(&self) -> Value<'static> {
        let members = self.stored.iter().map(|(name, value)| {
            let value = match (&**name, value) {
                ("body", serde_json::Value::String(text)) => {
                    Value::Bytes(text.clone().into_bytes().into())
                }
                (_, value) => value_of(value),
            };
            (name.clone().into(), value)
        });
        Value::Map(members.collect())
    }
}

fn value_of(json: &serde_json::Value) -> Value<'static> {
    match json {
        serde_json::Value::String(text) => Value::Text(text.clone().into()),
        serde_json::Value::Number(number) => number.as_i64().unwrap().into(),
        serde_json::Value::Array(values) => Value::List(values.iter().map(value_of).collect()),
        other => panic!("{other}"),
    }
}

/// The order of a map's members counts for Rust's `==`, and for nobody else.
fn sorted(value: Value<'static>) -> Value<'static> {
    match value {
        Value::Map(mut members) => {
            members.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Map(members)
        }
        other => other,
    }
}

#[tokio::test]
async fn every_case() {
    let text = include_str!("../../../spec/http/stored-answers.json");
    let Cases { cases } = serde_json::from_str(text).unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let name = &case.name;
        let Origin::Answers { status, body, .. } = &case.origin else {
            panic!("{name}");
        };
        let origin = Scripted::default();

        let cache = case.cache_before().await;
        origin.answers_with(&case.origin);
        let mut writing = case.cache(&cache).layer(origin.clone());
        answer_of(&mut writing, case.request()).await.unwrap();
        let mut keys = cache.keys("").await.unwrap();
        keys.sort_unstable();
        let mut expected: Vec<&str> = case.before.keys().map(String::as_str).collect();
        expected.push(&case.key);
        expected.sort_unstable();
        assert!(
            keys.iter().eq(expected.iter().map(|key| key.as_bytes())),
            "{name}"
        );
        let found = cache.get_value(&case.key).await.unwrap().unwrap();
        assert_eq!(sorted(found), sorted(case.stored()), "{name}");

        let cache = case.cache_before().await;
        cache.set(&case.key, &case.stored()).await.unwrap();
        origin.answers_with(&case.origin);
        let mut reading = case.cache(&cache).layer(origin.clone());
        let (is_status, fields, is_body) = answer_of(&mut reading, case.request()).await.unwrap();
        assert_eq!((is_status, &*is_body), (*status, body.as_bytes()), "{name}");
        let passes = case.stored.contains_key("pass");
        assert_eq!(origin.asked(), usize::from(passes), "{name}");
        if let Some(serde_json::Value::Array(expected)) = case.stored.get("fields") {
            for field in expected.iter().filter(|field| field[0] != "vary") {
                let is = fields[field[0].as_str().unwrap()].to_str().unwrap();
                assert_eq!(is, field[1].as_str().unwrap(), "{name}");
            }
        }
    }
}
