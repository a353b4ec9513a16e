//! The value level, as the packages of other languages use it.

use polycache::bindings::Bindings;
use polycache::{
    Cache, Clock, Compressor, Filled, LoadStep, Loading, Serializer, Ttl, TtlLeft, Value,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

fn open(directory: &tempfile::TempDir) -> Cache {
    Cache::builder()
        .path(directory.path())
        .limit(2 << 20)
        .build()
        .unwrap()
}

fn get(cache: &Cache, key: &[u8]) -> Option<Value<'static>> {
    cache.get_with(key, |value| value.into_owned()).unwrap()
}

#[test]
fn a_value_is_seen_by_every_handle_until_it_is_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let (a, b) = (open(&directory), open(&directory));
    assert_eq!(get(&a, b"k"), None);
    a.set_value(b"k", &Value::Null, Ttl::Default).unwrap();
    assert_eq!(get(&b, b"k"), Some(Value::Null));
    assert!(b.delete("k").unwrap());
    assert_eq!(get(&a, b"k"), None);
    assert!(!a.has("k").unwrap());
}

#[test]
fn the_closure_may_use_the_cache() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(&directory);
    cache
        .set_value(b"a", &Value::from("b"), Ttl::Default)
        .unwrap();
    cache
        .set_value(b"b", &Value::from("found"), Ttl::Default)
        .unwrap();
    let found = cache.get_with(b"a", |value| {
        let Value::Text(next) = &value else {
            panic!("{value:?}")
        };
        let inner = get(&cache, next.as_bytes());
        assert_eq!(value, Value::from("b"));
        inner
    });
    assert_eq!(found.unwrap(), Some(Some(Value::from("found"))));
}

#[test]
fn a_time_to_live_runs_on_the_caches_clock() {
    let directory = tempfile::tempdir().unwrap();
    let time = Arc::new(AtomicU64::new(1_700_000_000_000));
    let cache = Cache::builder()
        .path(directory.path())
        .ttl(Duration::from_secs(1))
        .clock(Clock::Manual(time.clone()))
        .build()
        .unwrap();
    cache
        .set_value(b"default", &Value::Null, Ttl::Default)
        .unwrap();
    cache
        .set_value(b"forever", &Value::Null, Ttl::Forever)
        .unwrap();
    time.fetch_add(400, Ordering::Relaxed);
    let left = Some(TtlLeft::For(Duration::from_millis(600)));
    assert_eq!(cache.ttl("default").unwrap(), left);
    assert_eq!(cache.ttl("forever").unwrap(), Some(TtlLeft::Forever));
    time.fetch_add(600, Ordering::Relaxed);
    assert_eq!(cache.ttl("default").unwrap(), None);
    assert_eq!(get(&cache, b"forever"), Some(Value::Null));
}

#[test]
fn a_refused_value_changes_nothing_and_frees_the_lease() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::builder()
        .path(directory.path())
        .serializer(polycache::Serializer::Text)
        .build()
        .unwrap();
    cache
        .set_value(b"k", &Value::from("old"), Ttl::Default)
        .unwrap();
    let error = cache
        .set_value(b"k", &Value::Null, Ttl::Default)
        .unwrap_err();
    assert_eq!(
        (error.code(), error.path()),
        ("unsupported_value", Some("$"))
    );
    assert_eq!(get(&cache, b"k"), Some(Value::from("old")));

    let step = |loading: &mut Loading| cache.step(b"n", loading, |value| value.into_owned());
    let (mut first, mut second) = (cache.loading(), cache.loading());
    assert!(matches!(step(&mut first).unwrap(), LoadStep::Load));
    assert!(matches!(step(&mut second).unwrap(), LoadStep::Wait(_)));
    assert!(cache.is_open(&first) && cache.is_open(&second));
    let unstored = cache.fill(b"n", &mut first, &Value::Null, Ttl::Default);
    assert!(matches!(unstored.unwrap(), Filled::Unstored(_)));
    assert!(matches!(step(&mut second).unwrap(), LoadStep::Load));
    let filled = cache.fill(b"n", &mut second, &Value::from("v"), Ttl::Default);
    assert!(matches!(filled.unwrap(), Filled::Stored));
    let LoadStep::Hit(value, _) = step(&mut cache.loading()).unwrap() else {
        panic!("it was stored")
    };
    assert_eq!(value, Value::from("v"));
}

#[test]
fn closing_a_namespace_closes_the_handle() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(&directory);
    let users = cache.namespace("users").unwrap();
    users.close();
    users.close();
    assert_eq!(cache.has("k").unwrap_err().code(), "closed");
    let set = cache.set_value(b"k", &Value::Null, Ttl::Default);
    assert_eq!(set.unwrap_err().code(), "closed");
}

/// Only typed Rust reads Bincode. A reader of a `Value` is told so, and told that it is there.
#[test]
fn bincode_is_for_typed_rust() {
    let directory = tempfile::tempdir().unwrap();
    let builder = || {
        Cache::builder()
            .path(directory.path())
            .compressor(Compressor::Zstd { level: 1 })
    };
    let bincode = builder().serializer(Serializer::Bincode).build().unwrap();
    let value = (7u64, "x".repeat(1000), Some(1.5f32));
    bincode.set("k", &value).unwrap();
    assert_eq!(bincode.get("k").unwrap(), Some(value.clone()));
    // The entry says what wrote it, so that another configuration reads it too.
    let other = builder().build().unwrap();
    assert_eq!(other.get("k").unwrap(), Some(value.clone()));
    let loaded = other.get_or_set("k", || Err::<(u64, String, Option<f32>), _>("not loaded"));
    assert_eq!(loaded.unwrap(), value);
    let facts = other.facts("k").unwrap().unwrap();
    assert_eq!(facts.serializer, Serializer::Bincode);
    assert!(other.has("k").unwrap());
    for error in [
        other.get_value("k").unwrap_err(),
        other.entry("k").unwrap_err(),
        other.get_with(b"k", |_| ()).unwrap_err(),
        other.step(b"k", &mut other.loading(), |_| ()).unwrap_err(),
    ] {
        assert_eq!(error.code(), "unsupported_serializer");
    }
    let refused = bincode.set_value(b"k", &Value::Null, Ttl::Default);
    assert_eq!(refused.unwrap_err().code(), "unsupported_value");
    assert_eq!(bincode.get("k").unwrap(), Some(value));
}
