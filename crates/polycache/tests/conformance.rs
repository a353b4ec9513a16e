//! The cases of spec/conformance, one test each; their form is described in the README there.

use libtest_mimic::{Arguments, Failed, Trial};
use polycache::{compressor, duration, serializer, size, Cache, Clock, Error, Ttl, TtlLeft, Value};
use polycache_entry::tagged::{from_json, to_json};
use serde::Deserialize;
use serde_json::{json, Value as Json};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    options: serde_json::Map<String, Json>,
    #[serde(default)]
    requires: Vec<String>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    op: String,
    #[serde(default = "main_handle")]
    on: String,
    #[serde(default, deserialize_with = "some")]
    key: Option<Json>,
    #[serde(default, deserialize_with = "some")]
    value: Option<Json>,
    #[serde(default, deserialize_with = "some")]
    ttl: Option<Json>,
    keys: Option<Vec<Json>>,
    entries: Option<Vec<(Json, Json)>>,
    #[serde(default, deserialize_with = "some")]
    loads: Option<Json>,
    #[serde(default)]
    during: Vec<Step>,
    #[serde(default, deserialize_with = "some")]
    prefix: Option<Json>,
    field: Option<String>,
    part: Option<String>,
    r#as: Option<String>,
    options: Option<serde_json::Map<String, Json>>,
    directory: Option<String>,
    ms: Option<i64>,
    #[serde(default, deserialize_with = "some")]
    result: Option<Json>,
    error: Option<String>,
    path: Option<String>,
}

fn main_handle() -> String {
    "cache".into()
}

/// A null that is written down is there.
fn some<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/conformance");
    let mut trials = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        if file
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let cases = std::fs::read_to_string(&file).unwrap();
            let cases: Vec<Case> = serde_json::from_str(&cases)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let file = file.file_stem().unwrap().to_string_lossy();
            trials.extend(cases.into_iter().map(|case| {
                let name = format!("{file}: {}", case.name);
                // Of the capabilities that a case can ask for, Rust has the directory alone.
                let skipped = case.requires.iter().any(|needed| needed != "host");
                Trial::test(name, move || run(&case)).with_ignored_flag(skipped)
            }));
        }
    }
    assert!(trials.len() > 100, "only {} cases", trials.len());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn run(case: &Case) -> Result<(), Failed> {
    let mut options = serde_json::Map::from_iter([("limit".to_owned(), json!("4MiB"))]);
    options.extend(case.options.clone());
    let runner = Runner {
        root: tempfile::tempdir()?,
        clock: Arc::new(AtomicU64::new(1_700_000_000_000)),
        handles: RefCell::default(),
    };
    let cache = runner.open("main", &options)?;
    runner.handles.borrow_mut().insert(main_handle(), cache);
    case.steps.iter().for_each(|step| runner.check(step));
    Ok(())
}

struct Runner {
    root: tempfile::TempDir,
    clock: Arc<AtomicU64>,
    handles: RefCell<HashMap<String, Cache>>,
}

impl Runner {
    fn check(&self, step: &Step) {
        let place = format!("{} {:?}", step.op, step.key);
        match (self.perform(step), &step.error) {
            (Ok(result), None) => {
                if let Some(expected) = &step.result {
                    assert_eq!(result, normal(step, expected), "{place}");
                }
            }
            (Ok(result), Some(code)) => panic!("{place}: {result}, not the error {code}"),
            (Err(error), None) => panic!("{place}: {}: {error}", error.code()),
            (Err(error), Some(code)) => {
                assert_eq!(error.code(), code, "{place}: {error}");
                if let Some(path) = &step.path {
                    assert_eq!(error.path(), Some(path.as_str()), "{place}: {error}");
                }
            }
        }
    }

    fn perform(&self, step: &Step) -> Result<Json, Error> {
        let named = self.handles.borrow().get(&step.on).cloned();
        let cache = named.unwrap_or_else(|| panic!("no handle {}", step.on));
        let key = || bytes(step.key.as_ref().expect("a key"));
        let keys = || step.keys.as_ref().expect("keys").iter().map(bytes);
        let ttl = || step.ttl.as_ref().map_or(Ok(Ttl::Default), ttl);
        let mut opened = None;
        let result = match step.op.as_str() {
            "get" => cache.get_value(key())?.map_or_else(miss, |v| to_json(&v)),
            "set" => {
                let value = value(step.value.as_ref().expect("a value"));
                cache.set_with(key(), &value, ttl()?)?;
                Json::Null
            }
            "delete" => json!(cache.delete(key())?),
            "has" => json!(cache.has(key())?),
            "ttl" => match cache.ttl(key())? {
                None => miss(),
                Some(TtlLeft::Forever) => json!("forever"),
                Some(TtlLeft::For(left)) => json!(left.as_millis() as u64),
            },
            "get_many" => {
                let found = cache.get_many::<Value<'static>, _>(keys())?;
                sorted(found.iter().map(|(k, v)| json!([key_json(k), to_json(v)])))
            }
            "set_many" => {
                let entries = step.entries.as_ref().expect("entries").iter();
                let entries = entries.map(|(k, v)| (bytes(k), value(v)));
                cache.set_many_with(entries, ttl()?)?;
                Json::Null
            }
            "delete_many" => json!(cache.delete_many(keys())?),
            "get_or_set" => {
                let loads = Cell::new(0);
                let got = cache.get_or_set_with(key(), ttl()?, || {
                    loads.set(loads.get() + 1);
                    let loaded = step.loads.as_ref().expect("no load");
                    step.during.iter().for_each(|step| self.check(step));
                    if *loaded == json!({"error": true}) {
                        return Err("the loader's own error");
                    }
                    Ok(value(loaded))
                });
                assert_eq!(loads.get(), usize::from(step.loads.is_some()), "loads");
                to_json(&got?)
            }
            "keys" => {
                let prefix = step.prefix.as_ref().map(bytes).unwrap_or_default();
                let keys = cache.keys(prefix).collect::<Result<Vec<_>, _>>()?;
                sorted(keys.iter().map(|key| key_json(key)))
            }
            "clear" => json!(cache.clear()?),
            "flush" => json!(cache.flush()?),
            "close" => json!(cache.close()),
            "stats" => {
                let stats = cache.stats()?;
                match step.field.as_deref() {
                    Some("hits") => json!(stats.hits),
                    Some("misses") => json!(stats.misses),
                    Some("writes") => json!(stats.writes),
                    Some("deletes") => json!(stats.deletes),
                    Some("voided_fills") => json!(stats.voided_fills),
                    Some("entries") => json!(stats.entries),
                    Some("limit") => json!(stats.limit),
                    other => panic!("no such field: {other:?}"),
                }
            }
            "check" => json!(cache.check()?.damaged.len()),
            "namespace" => {
                opened = Some(cache.namespace(step.part.as_deref().expect("a part"))?);
                Json::Null
            }
            "open" => {
                let directory = step.directory.as_deref().unwrap_or("main");
                opened = Some(self.open(directory, step.options.as_ref().expect("options"))?);
                Json::Null
            }
            "advance" => {
                let ms = step.ms.expect("ms");
                self.clock.fetch_add(ms as u64, Ordering::Relaxed);
                Json::Null
            }
            other => panic!("no such operation: {other}"),
        };
        if let Some(cache) = opened {
            let name = step.r#as.clone().expect("a name");
            self.handles.borrow_mut().insert(name, cache);
        }
        Ok(result)
    }

    fn open(
        &self,
        directory: &str,
        options: &serde_json::Map<String, Json>,
    ) -> Result<Cache, Error> {
        let mut builder = Cache::builder()
            .path(self.root.path().join(directory))
            .clock(Clock::Manual(self.clock.clone()));
        for (name, value) in options {
            let text = || value.as_str().expect("text");
            builder = match name.as_str() {
                "namespace" if value.is_string() => builder.namespace(text()),
                "namespace" => builder.namespaces(strings(value)),
                "limit" if value.is_string() => builder.limit(size::parse(text())?),
                "limit" => builder.limit(value.as_u64().expect("a size")),
                "ttl" => match ttl(value)? {
                    Ttl::For(ttl) => builder.ttl(ttl),
                    _ => builder.ttl(None),
                },
                "serializer" => builder.serializer(serializer::parse(text())?),
                "compressor" => builder.compressor(compressor::parse(text())?),
                "lease_timeout" => builder.lease_timeout(time(value)?),
                "keep_after_reboot" => builder.keep_after_reboot(value.as_bool().expect("a bool")),
                "encryption" => builder.encryption(keys(value)),
                other => panic!("no such option: {other}"),
            };
        }
        builder.build()
    }
}

fn miss() -> Json {
    json!({"miss": true})
}

fn value(tagged: &Json) -> Value<'static> {
    from_json(tagged).expect("a tagged value")
}

fn bytes(tagged: &Json) -> Vec<u8> {
    match value(tagged) {
        Value::Text(text) => text.into_owned().into_bytes(),
        Value::Bytes(bytes) => bytes.into_owned(),
        other => panic!("not a key: {other:?}"),
    }
}

fn key_json(key: &[u8]) -> Json {
    std::str::from_utf8(key).map_or_else(|_| to_json(&Value::from(key)), |text| json!(text))
}

fn keys(list: &Json) -> Vec<(u32, Vec<u8>)> {
    let list = list.as_array().expect("a list").iter();
    list.map(|one| {
        let id = one["id"].as_u64().expect("an id");
        (u32::try_from(id).expect("an id"), bytes(&one["key"]))
    })
    .collect()
}

fn strings(list: &Json) -> Vec<String> {
    let list = list.as_array().expect("a list").iter();
    list.map(|text| text.as_str().expect("text").to_owned())
        .collect()
}

fn time(tagged: &Json) -> Result<Duration, Error> {
    match tagged {
        Json::String(text) => duration::parse(text),
        own => Ok(Duration::from_millis(own["ms"].as_u64().expect("ms"))),
    }
}

fn ttl(tagged: &Json) -> Result<Ttl, Error> {
    match tagged {
        Json::Null => Ok(Ttl::Forever),
        other => time(other).map(Ttl::For),
    }
}

fn sorted(items: impl Iterator<Item = Json>) -> Json {
    let mut items: Vec<_> = items.collect();
    items.sort_by_key(Json::to_string);
    Json::Array(items)
}

/// What a step expects, in the form that its operation gives.
fn normal(step: &Step, expected: &Json) -> Json {
    let value = |tagged| to_json(&value(tagged));
    let list = || expected.as_array().expect("a list").iter();
    match step.op.as_str() {
        "get" | "get_or_set" if *expected != miss() => value(expected),
        "get_many" => {
            sorted(list().map(|pair| json!([key_json(&bytes(&pair[0])), value(&pair[1])])))
        }
        "keys" => sorted(list().map(|key| key_json(&bytes(key)))),
        _ => expected.clone(),
    }
}
