//! The tier over a byte store: what the cases of spec/conformance do not tell.

#[path = "byte_store/in_memory.rs"]
mod in_memory;

use in_memory::{content, kind};
use polycache::bindings::Ended;
use polycache::{Cache, Clock, Error};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

fn opened(path: &Path) -> Cache {
    Cache::builder()
        .path(path)
        .limit(4 << 20)
        .byte_store(kind(false))
        .build()
        .unwrap()
}

#[test]
fn the_limit_holds_and_what_is_used_stays() {
    for counts in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::builder()
            .path(folder.path())
            .limit(4 << 20)
            .byte_store(kind(counts))
            .build()
            .unwrap();
        cache.set("used", "value").unwrap();
        let value = "x".repeat(10_000);
        for number in 0..2000 {
            cache.set(format!("k{number}"), &value).unwrap();
            assert!(cache.has("used").unwrap(), "after {number}");
        }
        let stats = cache.stats().unwrap();
        assert!(stats.bytes <= 4 << 20, "{}", stats.bytes);
        assert!(stats.entries > 100, "{}", stats.entries);
        assert!(stats.evicted_by_age >= 2001 - stats.entries);
        let size: usize = content(folder.path())
            .entries
            .lock()
            .unwrap()
            .values()
            .map(Vec::len)
            .sum();
        assert!(size <= 4 << 20, "{size}");
    }
}

#[test]
fn a_store_that_takes_more_than_was_written_is_asked_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let cache = opened(folder.path());
    let content = content(folder.path());
    content.page.store(4096, Ordering::Relaxed);
    let mut most = 0;
    for number in 0..3000 {
        cache.set(format!("k{number}"), &"x".repeat(1000)).unwrap();
        let entries = content.entries.lock().unwrap();
        most = most.max(content.taken(&entries));
    }
    assert!(most <= 4 << 20, "{most}");
    assert!(cache.stats().unwrap().entries > 100);
}

#[test]
fn a_disk_without_room_evicts_and_then_is_an_error_that_leaves_no_old_value() {
    let folder = tempfile::tempdir().unwrap();
    let cache = opened(folder.path());
    for number in 0..100 {
        cache.set(format!("k{number}"), "value").unwrap();
    }
    let content = content(folder.path());
    content.full.store(1, Ordering::Relaxed);
    cache.set("k", "old").unwrap();
    assert_eq!(cache.get("k").unwrap(), Some("old".to_owned()));
    assert!(cache.stats().unwrap().evicted_by_age > 0);
    content.full.store(usize::MAX, Ordering::Relaxed);
    assert_eq!(cache.set("k", "new").unwrap_err().code(), "no_space");
    content.full.store(0, Ordering::Relaxed);
    assert_eq!(cache.get::<String>("k").unwrap(), None);
}

#[test]
fn a_failed_set_deletes_the_old_value_and_what_is_atomic_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cache = opened(folder.path());
    cache.set("k", "old").unwrap();
    let content = content(folder.path());
    content.broken.store(true, Ordering::Relaxed);
    assert_eq!(cache.replace("k", "new").unwrap_err().code(), "io");
    assert_eq!(cache.get("k").unwrap(), Some("old".to_owned()));
    assert_eq!(cache.set("k", "new").unwrap_err().code(), "io");
    assert_eq!(cache.get::<String>("k").unwrap(), None);
    let loaded = cache.get_or_set("k", || Ok::<_, Error>("loaded".to_owned()));
    assert_eq!(loaded.unwrap(), "loaded");
    assert_eq!(cache.stats().unwrap().unstored, 1);
}

#[test]
fn changed_bytes_are_an_error_until_the_key_is_set_or_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let cache = opened(folder.path());
    let content = content(folder.path());
    let flip = |key: &[u8], at: usize| {
        let mut entries = content.entries.lock().unwrap();
        entries.get_mut(key).unwrap()[at] ^= 1;
    };
    cache.set("k", "value").unwrap();
    let len = content.entries.lock().unwrap()[b"::k".as_slice()].len();
    for at in 0..len {
        flip(b"::k", at);
        let refused = cache.get::<String>("k").unwrap_err();
        let codes = [
            "checksum_mismatch",
            "malformed_entry",
            "unsupported_version",
        ];
        assert!(codes.contains(&refused.code()), "byte {at}: {refused}");
        assert_eq!(cache.check().unwrap().damaged.len(), 1, "byte {at}");
        cache.set("k", "value").unwrap();
        assert_eq!(cache.get("k").unwrap(), Some("value".to_owned()));
    }
    flip(b"::k", 0);
    assert!(cache.delete("k").unwrap());
    assert_eq!(cache.get::<String>("k").unwrap(), None);
    // The bytes of another key.
    cache.set("other", "other").unwrap();
    let mut entries = content.entries.lock().unwrap();
    let record = entries[b"::other".as_slice()].clone();
    entries.insert(b"::k".to_vec(), record);
    drop(entries);
    assert_eq!(
        cache.get::<String>("k").unwrap_err().code(),
        "checksum_mismatch"
    );
}

#[test]
fn keys_that_the_store_has_no_room_for_are_found_listed_and_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let cache = opened(folder.path());
    let long = |last: char| format!("{}{last}", "k".repeat(1000));
    let outer = cache.namespace("n".repeat(100)).unwrap();
    let other = cache.namespace(format!("{}m", "n".repeat(99))).unwrap();
    for cache in [&cache, &outer, &other] {
        cache.set(long('a'), "a").unwrap();
        cache.set(long('b'), "b").unwrap();
        assert_eq!(cache.get(long('a')).unwrap(), Some("a".to_owned()));
        let mut keys: Vec<_> = cache.keys("").map(Result::unwrap).collect();
        keys.sort();
        assert_eq!(keys, [long('a').into_bytes(), long('b').into_bytes()]);
    }
    outer.clear().unwrap();
    assert_eq!(outer.keys("").count(), 0);
    assert_eq!((cache.keys("").count(), other.keys("").count()), (2, 2));
    let usage = cache.usage(10).unwrap().unwrap();
    assert_eq!(usage.iter().map(|one| one.entries).sum::<u64>(), 4);
    assert!(cache.check().unwrap().damaged.is_empty());
}

#[test]
fn it_knows_how_it_was_left_and_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let cache = opened(folder.path());
    cache.set("k", "value").unwrap();
    cache.close();
    let again = opened(folder.path());
    assert_eq!(again.get("k").unwrap(), Some("value".to_owned()));
    // A process that was killed would leave the state as it is while the cache is open.
    let state = std::fs::read(folder.path().join("state")).unwrap();
    again.close();
    std::fs::write(folder.path().join("state"), state).unwrap();
    opened(folder.path()).close();
    let found = content(folder.path()).found.lock().unwrap().clone();
    assert_eq!(found, [Ended::Closed, Ended::Closed, Ended::Killed]);
}

#[test]
fn a_count_of_bytes_is_kept_and_one_that_may_be_wrong_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let opened = || {
        Cache::builder()
            .path(folder.path())
            .byte_store(kind(true))
            .build()
            .unwrap()
    };
    let counted = || {
        let state = std::fs::read(folder.path().join("state")).unwrap();
        u64::from_le_bytes(state[16..24].try_into().unwrap())
    };
    let cache = opened();
    cache.set("k", &"x".repeat(100_000)).unwrap();
    cache.close();
    let before = counted();
    assert!(before > 100_000);
    opened().close();
    assert_eq!(counted(), before);
    // A change that did not end, of a process that was killed while another had the store open.
    let mut state = std::fs::read(folder.path().join("state")).unwrap();
    state[16] ^= 0xff;
    state[9 * 8] = 1;
    std::fs::write(folder.path().join("state"), state).unwrap();
    opened().close();
    assert_eq!(counted(), before);
}

#[test]
fn another_store_and_the_host_tier_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    opened(folder.path()).close();
    let mut other = kind(false);
    other.name = "other".into();
    let refused = Cache::builder()
        .path(folder.path())
        .byte_store(other)
        .build();
    assert_eq!(refused.unwrap_err().code(), "foreign_directory");
    let refused = Cache::builder().path(folder.path()).build();
    assert_eq!(refused.unwrap_err().code(), "foreign_directory");
    let host = tempfile::tempdir().unwrap();
    Cache::builder().path(host.path()).build().unwrap().close();
    let refused = Cache::builder()
        .path(host.path())
        .byte_store(kind(false))
        .build();
    assert_eq!(refused.unwrap_err().code(), "foreign_directory");
    let refused = Cache::builder().byte_store(kind(false)).build();
    assert_eq!(refused.unwrap_err().code(), "invalid_argument");
}

#[test]
fn a_directory_that_was_removed_and_made_anew_is_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let old = opened(&path);
    old.set("k", "old").unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    let new = opened(&path);
    new.set("k", "new").unwrap();
    let removed = |error: Error| {
        assert!(
            matches!(&error, Error::Io(text) if text.contains("was removed or replaced")),
            "{error}"
        );
    };
    removed(old.get::<String>("k").unwrap_err());
    removed(old.set("k", "older").unwrap_err());
    removed(old.delete("k").unwrap_err());
    old.close();
    assert!(matches!(old.get::<String>("k"), Err(Error::Closed)));
    assert_eq!(new.get("k").unwrap(), Some("new".to_owned()));
    // Handles on the same directory still share what is open.
    let other = opened(&path);
    new.close();
    assert_eq!(other.get("k").unwrap(), Some("new".to_owned()));
}

#[test]
fn a_clock_that_is_set_back_revives_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicU64::new(1_700_000_000_000));
    let cache = Cache::builder()
        .path(folder.path())
        .clock(Clock::Manual(clock.clone()))
        .byte_store(kind(true))
        .build()
        .unwrap();
    cache
        .set_with_ttl("k", "value", Duration::from_secs(10))
        .unwrap();
    clock.fetch_sub(60_000, Ordering::Relaxed);
    assert_eq!(cache.get::<String>("k").unwrap(), None);
    assert!(!cache.delete("k").unwrap());
}

#[test]
fn many_threads_count_one_key_and_load_another_once() {
    let folder = tempfile::tempdir().unwrap();
    // Two handles of one process share its store.
    let caches = [opened(folder.path()), opened(folder.path())];
    let (loads, begin) = (AtomicU64::new(0), Barrier::new(8));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (cache, loads, begin) = (&caches[thread % 2], &loads, &begin);
            scope.spawn(move || {
                begin.wait();
                for _ in 0..200 {
                    cache.increment("n", 1).unwrap();
                }
                let loaded = cache.get_or_set("loaded", || {
                    loads.fetch_add(1, Ordering::Relaxed);
                    Ok::<_, Error>(7)
                });
                assert_eq!(loaded.unwrap(), 7);
            });
        }
    });
    assert_eq!(caches[0].get("n").unwrap(), Some(1600));
    assert_eq!(loads.load(Ordering::Relaxed), 1);
    caches[0].close();
    assert_eq!(caches[1].get("loaded").unwrap(), Some(7));
}
