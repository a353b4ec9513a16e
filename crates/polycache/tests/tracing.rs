//! What the cargo feature `tracing` tells.

use polycache::Cache;
use std::convert::Infallible;
use std::io::Write;
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::Level;
use tracing_subscriber::fmt::format::FmtSpan;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// One test at a time: what tracing finds out of an event when it is first met, and keeps, may be wrong
/// where another thread's subscriber comes or goes meanwhile.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `program` under a subscriber of its own, and gives the lines that were written.
fn told(level: Level, program: impl FnOnce()) -> Vec<String> {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .without_time()
        .finish();
    tracing::subscriber::with_default(subscriber, program);
    let bytes = lines.0.lock().unwrap().clone();
    let text = String::from_utf8(bytes).unwrap();
    text.lines().map(|line| line.trim().to_owned()).collect()
}

/// Whether one line has all of these parts.
#[track_caller]
fn assert_told(lines: &[String], parts: &[&str]) {
    let there = |line: &String| parts.iter().all(|part| line.contains(part));
    assert!(lines.iter().any(there), "{parts:?} not in {lines:#?}");
}

#[test]
fn every_operation_at_the_level_trace() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().unwrap();
    for (path, tier) in [(Some(directory.path()), "host"), (None, "memory")] {
        let lines = told(Level::TRACE, || {
            let mut builder = Cache::builder().name("prices");
            if let Some(path) = path {
                builder = builder.path(path);
            }
            let cache = builder.build().unwrap();
            cache.set("apple", &1).unwrap();
            cache.get::<u8>("apple").unwrap();
            cache.get::<u8>("pear").unwrap();
            cache.touch("apple", Duration::from_secs(60)).unwrap();
            cache.delete("apple").unwrap();
            cache.clear().unwrap();
        });
        let cache = r#"cache="prices""#;
        assert_told(&lines, &["DEBUG polycache: open", cache]);
        assert_told(&lines, &["TRACE polycache: set", cache, "key=apple"]);
        let tier = format!("tier=\"{tier}\"");
        assert_told(&lines, &["TRACE polycache: hit", cache, "key=apple", &tier]);
        assert_told(&lines, &["TRACE polycache: miss", "key=pear"]);
        assert_told(
            &lines,
            &["TRACE polycache: delete", "key=apple", "there=true"],
        );
        assert_told(
            &lines,
            &["TRACE polycache: touch", "key=apple", "there=true"],
        );
        assert_told(&lines, &["DEBUG polycache: clear", cache]);
    }
}

/// A take is a read and a delete; a peek is nothing.
#[test]
fn a_take_and_a_peek() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().unwrap();
    for cache in [
        Cache::builder().build().unwrap(),
        Cache::builder().path(directory.path()).build().unwrap(),
    ] {
        cache.set("a", &1).unwrap();
        let lines = told(Level::TRACE, || {
            cache.peek::<u8>("a").unwrap();
            cache.peek::<u8>("b").unwrap();
            cache.take::<u8>("a").unwrap();
            cache.take::<u8>("a").unwrap();
        });
        let expected = ["hit", "delete", "miss", "delete"];
        assert_eq!(lines.len(), expected.len(), "{lines:#?}");
        for (line, what) in lines.iter().zip(expected) {
            assert!(line.contains(&format!("polycache: {what}")), "{lines:#?}");
        }
        assert!(lines[1].contains("there=true") && lines[3].contains("there=false"));
    }
}

#[test]
fn an_object_of_the_memory_tier() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::builder().path(directory.path()).build().unwrap();
    let typed = cache.typed::<u8>().unwrap();
    typed.set("a", &1).unwrap();
    let lines = told(Level::TRACE, || {
        typed.get("a").unwrap();
        typed.get("a").unwrap();
    });
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines[0].contains(r#"tier="host""#));
    assert!(lines[1].contains(r#"tier="memory""#));
}

#[test]
fn loads_are_spans() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().unwrap();
    for cache in [
        Cache::builder().build().unwrap(),
        Cache::builder().path(directory.path()).build().unwrap(),
    ] {
        let lines = told(Level::DEBUG, || {
            let load = || {
                tracing::info!("asking the database");
                "1".parse::<u8>()
            };
            cache.get_or_set("a", load).unwrap();
            let fails = || "one".parse::<u8>();
            cache.get_or_set("b", fails).unwrap_err();
            let many = |asked: Vec<&'static str>| {
                tracing::info!("asking for many");
                Ok::<_, Infallible>(asked.into_iter().map(|key| (key, 1)))
            };
            cache.get_or_set_many(["a", "c", "d"], many).unwrap();
        });
        let span = "polycache.load{";
        assert_told(&lines, &[span, "key=a", "asking the database"]);
        assert_told(&lines, &[span, "key=a", r#"outcome="loaded""#, "close"]);
        assert_told(&lines, &[span, "key=b", "load failed", "loader_failed"]);
        assert_told(&lines, &[span, "keys=2", "asking for many"]);
        assert_told(&lines, &[span, "keys=2", r#"outcome="loaded""#, "close"]);
        assert_told(&lines, &[span, "key=b", r#"outcome="failed""#, "close"]);
    }
}

#[test]
fn what_cannot_be_read_or_stored_is_a_warning() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().unwrap();
    for cache in [
        Cache::builder().max_bytes(2000),
        Cache::builder().path(directory.path()).limit(2 << 20),
    ] {
        let cache = cache.build().unwrap();
        let large = "x".repeat(1 << 20);
        let lines = told(Level::WARN, || {
            cache.set("text", "no number").unwrap();
            cache.get::<u8>("text").unwrap_err();
            cache.set("large", &large).unwrap_err();
            let load = || Ok::<_, Infallible>(large.clone());
            cache.get_or_set("loaded", load).unwrap();
            cache.get_or_set("fails", || "x".parse::<u8>()).unwrap_err();
        });
        assert_eq!(lines.len(), 3, "{lines:#?}");
        assert_told(
            &lines,
            &["WARN polycache: unreadable", "key=text", "wrong_type"],
        );
        for key in ["key=large", "key=loaded"] {
            assert_told(
                &lines,
                &["WARN polycache: not stored", key, "entry_too_large"],
            );
        }
    }
}

/// Everything that is told of a key, without numbers.
fn told_of(cache: &Cache, program: impl FnOnce(&Cache)) -> Vec<String> {
    let events = ["hit", "miss", "set", "invalidated", "not stored", "delete"];
    let lines = told(Level::TRACE, || program(cache));
    let told = lines.iter().filter_map(|line| {
        let event = line.split_once("polycache: ")?.1;
        let mut events = events.iter();
        events.find(|name| event.starts_with(*name)).copied()
    });
    told.map(String::from).collect()
}

/// Of plain and of typed handles, in both tiers.
#[test]
fn a_load_tells_how_it_began_and_ended() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().unwrap();
    for cache in [
        Cache::builder().build().unwrap(),
        Cache::builder().path(directory.path()).build().unwrap(),
    ] {
        let typed = cache.typed::<u8>().unwrap();
        let load = || "1".parse::<u8>();
        let told = told_of(&cache, |cache| {
            cache.get_or_set("a", load).unwrap();
            typed.get_or_set("b", load).unwrap();
        });
        assert_eq!(told, ["miss", "set", "miss", "set"]);
        let told = told_of(&cache, |cache| {
            cache.get_or_set("a", load).unwrap();
            typed.get_or_set("b", load).unwrap();
        });
        assert_eq!(told, ["hit", "hit"]);
        let told = told_of(&cache, |cache| {
            let overtaken = || {
                cache.delete("c").unwrap();
                load()
            };
            cache.get_or_set("c", overtaken).unwrap();
            typed.get_or_set("c", overtaken).unwrap();
        });
        assert_eq!(
            told,
            [
                "miss",
                "delete",
                "invalidated",
                "miss",
                "delete",
                "invalidated"
            ]
        );
        let told = told_of(&cache, |cache| {
            let cleared = || {
                cache.clear().unwrap();
                load()
            };
            cache.get_or_set("c", cleared).unwrap();
        });
        assert_eq!(told, ["miss", "invalidated"]);
        let fails = || "x".parse::<u8>();
        let told = told_of(&cache, |cache| drop(cache.get_or_set("c", fails)));
        assert_eq!(told, ["miss"]);
    }
}

/// A caller that waits tells of a hit, as it would have without the load.
#[test]
fn who_waits_for_a_load_tells_of_a_hit() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().unwrap();
    for cache in [
        Cache::builder().build().unwrap(),
        Cache::builder().path(directory.path()).build().unwrap(),
    ] {
        let (loading, over) = (Barrier::new(2), Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let load = || {
                    loading.wait();
                    over.wait();
                    Ok::<_, Infallible>(1u8)
                };
                cache.get_or_set("a", load).unwrap();
            });
            loading.wait();
            let told = told_of(&cache, |cache| {
                over.wait();
                let load = || -> Result<u8, Infallible> { unreachable!("it is being loaded") };
                assert_eq!(cache.get_or_set("a", load).unwrap(), 1);
            });
            assert_eq!(told, ["hit"]);
        });
    }
}
