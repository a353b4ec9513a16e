//! What the cases of spec/conformance cannot say about loading: callers at the same time, panics.

use polycache::bindings::Bindings;
use polycache::{Cache, Error, LoadStep, Ttl, Value};
use std::convert::Infallible;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Barrier;

fn open(directory: &tempfile::TempDir) -> Cache {
    Cache::builder()
        .path(directory.path())
        .limit(2 << 20)
        .build()
        .unwrap()
}

/// Whether no caller loads the key `k`.
fn is_free(cache: &Cache) -> bool {
    let mut loading = cache.loading();
    let step = cache.step(b"k", &mut loading, |_| ()).unwrap();
    cache.abandon(b"k", &mut loading);
    matches!(step, LoadStep::Load)
}

#[test]
fn of_many_callers_on_many_handles_one_loads() {
    let directory = tempfile::tempdir().unwrap();
    let (threads, rounds) = (8, 20);
    let loads = AtomicU64::new(0);
    let barrier = Barrier::new(threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let cache = open(&directory);
                for round in 0..rounds {
                    barrier.wait();
                    let key = format!("key {round}");
                    let got = cache.get_or_set(&key, || {
                        std::thread::yield_now();
                        Ok::<_, Infallible>(loads.fetch_add(1, Ordering::SeqCst))
                    });
                    assert_eq!(Some(got.unwrap()), cache.get::<u64>(&key).unwrap());
                }
            });
        }
    });
    assert_eq!(loads.into_inner(), rounds);
}

#[test]
fn a_panic_in_a_loader_frees_its_key() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(&directory);
    let load = || -> Result<u64, Infallible> { panic!("in the loader") };
    let caught = catch_unwind(AssertUnwindSafe(|| cache.get_or_set("k", load)));
    assert!(caught.is_err());
    assert!(is_free(&cache));
}

#[test]
fn a_panic_or_a_refusal_while_a_loaded_value_is_written_frees_its_key() {
    struct Bad(bool);
    impl serde::Serialize for Bad {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            assert!(!self.0, "in the value");
            Err(serde::ser::Error::custom("no"))
        }
    }
    impl<'de> serde::Deserialize<'de> for Bad {
        fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Bad, D::Error> {
            unreachable!("never stored")
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let cache = open(&directory);
    for panics in [true, false] {
        let load = || -> Result<Bad, Infallible> { Ok(Bad(panics)) };
        let outcome = catch_unwind(AssertUnwindSafe(|| cache.get_or_set("k", load).map(drop)));
        assert_eq!(outcome.is_err(), panics);
        assert!(is_free(&cache));
    }
}

#[test]
fn a_loaders_error_is_the_source() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(&directory);
    let error = cache.get_or_set("k", || "x".parse::<u64>()).unwrap_err();
    // A text that is not a number is none the next time either.
    assert!(matches!(error, Error::LoaderFailed(_)) && !error.retryable());
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.is::<std::num::ParseIntError>());
}

#[test]
fn whether_a_retry_helps_is_what_the_loaders_error_says() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(&directory);
    let retryable = |source: Box<dyn std::error::Error + Send + Sync>| {
        let load = || -> Result<u64, Box<dyn std::error::Error + Send + Sync>> { Err(source) };
        cache.get_or_set("k", load).unwrap_err().retryable()
    };
    let of_system = |kind: std::io::ErrorKind| retryable(std::io::Error::from(kind).into());
    assert!(of_system(std::io::ErrorKind::TimedOut));
    assert!(of_system(std::io::ErrorKind::ConnectionRefused));
    assert!(!of_system(std::io::ErrorKind::NotFound));
    assert!(!of_system(std::io::ErrorKind::PermissionDenied));
    assert!(!retryable("a text".into()));
    // A loader that uses another cache.
    assert!(retryable(Error::NoSpace("full".into()).into()));
    assert!(!retryable(Error::Closed.into()));
    let nested = Error::LoaderFailed(std::sync::Arc::new(Error::Io("failed".into())));
    assert!(retryable(nested.into()));
}

#[test]
fn a_caller_that_waits_gets_what_another_loads() {
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (open(&directory), open(&directory));
    for round in 0..50u64 {
        let key = format!("key {round}");
        let mut loading = first.loading();
        let step = first.step(key.as_bytes(), &mut loading, |_| ());
        assert!(matches!(step.unwrap(), LoadStep::Load));
        let started = Barrier::new(2);
        let load = || -> Result<u64, Infallible> { panic!("loaded twice") };
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                started.wait();
                second.get_or_set(&key, load)
            });
            started.wait();
            // Time for the other to find the lease taken; it passes as well when that comes later.
            (0..round).for_each(|_| std::thread::yield_now());
            let value = Value::from(round);
            first
                .fill(key.as_bytes(), &mut loading, &value, Ttl::Default)
                .unwrap();
            assert_eq!(waiting.join().unwrap().unwrap(), round);
        });
    }
}

#[test]
fn a_stored_value_of_another_type_is_an_error_and_loads_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let cache = open(&directory);
    cache.set("k", "text").unwrap();
    let load = || -> Result<u64, Infallible> { panic!("loaded") };
    let error = cache.get_or_set("k", load).unwrap_err();
    assert_eq!((error.code(), error.path()), ("wrong_type", Some("$")));
}
