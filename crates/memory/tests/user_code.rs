//! User code: when it runs, what it may do, and what its panics leave behind.

mod common;

use common::{small, Told};
use polycache_memory::{MemoryCache, RemovalCause, Ttl, TtlLeft};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

#[test]
fn the_listener_is_told_why() {
    let (builder, told) = Told::by(MemoryCache::builder().max_entries(2));
    let cache = builder.build().unwrap();
    cache.set("a", 1).unwrap();
    cache.set("a", 2).unwrap();
    cache.set("b", 3).unwrap();
    cache.delete("b");
    assert_eq!(cache.take("a"), Some(2));
    cache.set("c", 4).unwrap();
    cache.clear();
    use RemovalCause::{Cleared, Deleted, Replaced};
    let left = [
        ("a", 1, Replaced),
        ("b", 3, Deleted),
        ("a", 2, Deleted),
        ("c", 4, Cleared),
    ];
    assert_eq!(told.take(), left);
    cache.set("d", 5).unwrap();
    cache.set("e", 6).unwrap();
    cache.set("f", 7).unwrap();
    let evicted = told.take();
    assert_eq!(evicted.len(), 1);
    assert_eq!(evicted[0].2, RemovalCause::Evicted);
    drop(cache);
    assert_eq!(told.take(), [], "a cache that ends tells nothing");
}

/// Counts itself.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Counted {
        count.fetch_add(1, Ordering::SeqCst);
        Counted(count.clone())
    }
}

impl Clone for Counted {
    fn clone(&self) -> Counted {
        Counted::new(&self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn every_value_is_dropped_once_and_at_once() {
    let count = Arc::new(AtomicUsize::new(0));
    let live = || count.load(Ordering::SeqCst);
    let builder = MemoryCache::builder().max_entries(100).shards(4);
    let cache: MemoryCache<u64, Counted> = builder.build().unwrap();
    for key in 0..1000 {
        cache.set(key, Counted::new(&count)).unwrap();
        assert_eq!(live(), cache.len());
    }
    for key in 0..1000 {
        drop(cache.get(&key));
        cache.set(key, Counted::new(&count)).unwrap();
    }
    assert_eq!(live(), 100);
    cache
        .get_or_insert_with(&5000, || Counted::new(&count))
        .unwrap();
    cache
        .entry(5000)
        .and_modify(|_| {})
        .or_insert(Counted::new(&count))
        .unwrap();
    let taken = cache.take(&5000);
    assert_eq!(live(), cache.len() + 1);
    drop(taken);
    cache.delete(&cache.keys().next().unwrap());
    assert_eq!(live(), cache.len());
    cache.clear();
    assert_eq!(live(), 0);
    cache.set(1, Counted::new(&count)).unwrap();
    drop(cache);
    assert_eq!(live(), 0);
}

type Shared = Arc<OnceLock<MemoryCache<u64, Calls>>>;

/// A value whose Drop uses the cache that it leaves.
#[derive(Clone)]
struct Calls(Shared, u64);

impl Drop for Calls {
    fn drop(&mut self) {
        if let Some(cache) = self.0.get() {
            if self.1 > 0 {
                cache.has(&self.1);
                cache.set(self.1 - 1, Calls(self.0.clone(), 0)).unwrap();
                cache.delete(&(self.1 - 1));
            }
        }
    }
}

#[test]
fn drop_may_use_the_cache() {
    let shared = Shared::default();
    let cache = shared.get_or_init(|| MemoryCache::new(3).unwrap());
    for key in 0..20 {
        cache.set(key, Calls(shared.clone(), key)).unwrap();
        cache.set(key, Calls(shared.clone(), key)).unwrap();
    }
    drop(cache.take(&19));
    cache.delete(&18);
    drop(cache.get(&17));
    cache.clear();
    assert!(cache.len() <= 3);
}

#[test]
fn listener_weigher_and_loader_may_use_the_cache() {
    let shared: Arc<OnceLock<MemoryCache<u64, u64>>> = Arc::default();
    let (for_listener, for_weigher) = (shared.clone(), shared.clone());
    let builder = MemoryCache::builder()
        .max_bytes(3)
        .weigher(move |key, _| {
            for_weigher.get().unwrap().get(key);
            1
        })
        .removal_listener(move |key, value, cause| {
            if cause == RemovalCause::Evicted {
                let cache: &MemoryCache<u64, u64> = for_listener.get().unwrap();
                cache.delete(&(key + 1));
                cache.set(key % 2, value).unwrap();
            }
        });
    let cache = shared.get_or_init(|| builder.build().unwrap());
    for key in 2..50 {
        cache.set(key, key).unwrap();
        let load = || {
            cache
                .get_or_insert_with(&(key + 100), || 1)
                .map(|value| value + 1)
        };
        cache.get_or_set(&(key + 200), load).unwrap();
    }
    assert!(cache.len() <= 3);
}

#[test]
fn a_clone_may_read_the_cache_that_calls_it() {
    #[derive(Default)]
    struct Reads(Arc<OnceLock<MemoryCache<u64, Reads>>>, u64);
    impl Clone for Reads {
        fn clone(&self) -> Reads {
            if let Some(cache) = self.0.get() {
                // All shards, its own among them.
                assert!((10..60).all(|key| cache.has(&key)));
                // One level is enough.
                assert!(self.1 == 0 || cache.get(&60).is_some());
            }
            Reads(self.0.clone(), self.1)
        }
    }
    let shared: Arc<OnceLock<MemoryCache<u64, Reads>>> = Arc::default();
    let builder = MemoryCache::builder().max_entries(1000).shards(8);
    let cache = shared.get_or_init(|| builder.build().unwrap());
    for key in 10..61 {
        cache
            .set(key, Reads(shared.clone(), u64::from(key < 60)))
            .unwrap();
    }
    assert!((10..60).all(|key| cache.get(&key).is_some()));
}

#[test]
fn a_clone_that_changes_the_cache_is_told_so() {
    struct Writes(Arc<OnceLock<MemoryCache<u64, Writes>>>);
    impl Clone for Writes {
        fn clone(&self) -> Writes {
            self.0.get().unwrap().delete(&1);
            Writes(self.0.clone())
        }
    }
    let shared: Arc<OnceLock<MemoryCache<u64, Writes>>> = Arc::default();
    let cache = shared.get_or_init(|| MemoryCache::new(10).unwrap());
    cache.set(1, Writes(shared.clone())).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| cache.get(&1).is_some())).unwrap_err();
    let text = *panic.downcast::<&str>().unwrap();
    assert_eq!(
        text,
        "a key's Eq and a value's Clone must not change the cache that calls them"
    );
    assert!(cache.delete(&1), "and nothing is left locked");
}

/// A key whose Eq panics on demand.
#[derive(Clone, Debug)]
struct Fragile(u64, Arc<AtomicUsize>);

impl PartialEq for Fragile {
    fn eq(&self, other: &Fragile) -> bool {
        if self.1.load(Ordering::SeqCst) > 0 {
            panic!("as planned");
        }
        self.0 == other.0
    }
}

impl Eq for Fragile {}

impl Hash for Fragile {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

#[test]
fn a_key_whose_eq_panics_breaks_nothing() {
    let angry = Arc::new(AtomicUsize::new(0));
    let key = |number| Fragile(number, angry.clone());
    let cache = MemoryCache::<Fragile, u64>::new(10).unwrap();
    for number in 0..30 {
        cache.set(key(number), number).unwrap();
    }
    let there = cache.keys().next().unwrap();
    angry.store(1, Ordering::SeqCst);
    let panics = |call: &dyn Fn()| assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
    panics(&|| assert!(cache.has(&there)));
    panics(&|| drop(cache.set(there.clone(), 1)));
    panics(&|| assert!(cache.delete(&there)));
    panics(&|| drop(cache.get_or_insert_with(&there, || 1)));
    angry.store(0, Ordering::SeqCst);
    assert_eq!(cache.get(&there), Some(there.0));
    assert_eq!(cache.len(), 10);
    for number in 100..130 {
        cache.set(key(number), number).unwrap();
    }
    assert_eq!(cache.iter().count(), 10);
}

#[test]
fn a_listener_that_panics_fails_no_call() {
    let told = Arc::new(AtomicUsize::new(0));
    let counter = told.clone();
    let builder = MemoryCache::builder().max_entries(2).shards(1);
    let cache = builder
        .removal_listener(move |_, _: u64, _| {
            counter.fetch_add(1, Ordering::SeqCst);
            panic!("as planned");
        })
        .build()
        .unwrap();
    cache.set(1, 1).unwrap();
    cache.set(1, 2).unwrap();
    assert_eq!((cache.get(&1), told.load(Ordering::SeqCst)), (Some(2), 1));
    assert!(cache.delete(&1));
    cache.set(1, 1).unwrap();
    cache.set(2, 2).unwrap();
    cache.clear();
    assert_eq!(told.load(Ordering::SeqCst), 4, "of every entry that leaves");
    cache.set(1, 1).unwrap();
    cache.set(2, 2).unwrap();
    assert_eq!(cache.get_or_insert_with(&3, || 3).unwrap(), 3);
    assert_eq!((cache.get(&3), told.load(Ordering::SeqCst)), (Some(3), 5));
}

#[test]
fn entries_one_by_one() {
    let cache = small::<Vec<u64>>(100);
    assert_eq!(cache.entry(1).or_insert(vec![1]).unwrap(), [1]);
    assert_eq!(
        cache
            .entry(1)
            .or_insert_with(|| panic!("there is one"))
            .unwrap(),
        [1]
    );
    let more = cache
        .entry(1)
        .and_modify(|list| list.push(2))
        .or_insert(vec![]);
    assert_eq!(more.unwrap(), [1, 2]);
    assert_eq!(cache.entry(2).key(), &2);
    let failed = cache
        .entry(2)
        .or_try_insert_with(|| Err("as planned"))
        .unwrap_err();
    assert_eq!(failed.code(), "loader_failed");
    // Another caller's change comes in between.
    let mut calls = 0;
    let entry = cache.entry(1).and_modify(|list| {
        calls += 1;
        if calls == 1 {
            cache.set(1, vec![9]).unwrap();
        }
        list.push(3);
    });
    assert_eq!(entry.or_insert(vec![]).unwrap(), [9, 3]);
    assert_eq!((calls, cache.get(&1)), (2, Some(vec![9, 3])));
}

#[test]
fn keys_are_found_by_what_they_borrow() {
    let cache: MemoryCache<String, u64> = MemoryCache::new(10).unwrap();
    cache.set("a".into(), 1).unwrap();
    assert_eq!(cache.get("a"), Some(1));
    assert_eq!(cache.get_or_insert_with("b", || 2).unwrap(), 2);
    let held: HashMap<String, u64> = cache.iter().collect();
    assert_eq!(held, HashMap::from([("a".into(), 1), ("b".into(), 2)]));
}

#[test]
fn keys_of_one_hash_are_different_keys() {
    #[derive(Default)]
    struct Constant;
    impl Hasher for Constant {
        fn finish(&self) -> u64 {
            7
        }
        fn write(&mut self, _: &[u8]) {}
    }
    type Build = std::hash::BuildHasherDefault<Constant>;
    let builder = MemoryCache::<u64, u64>::builder().max_entries(50).shards(4);
    let cache = builder.build_with_hasher(Build::default()).unwrap();
    for key in 0..200 {
        cache.set(key, key + 1).unwrap();
    }
    assert_eq!(cache.len(), 50);
    assert!(cache
        .iter()
        .all(|(key, value)| value == key + 1 && cache.get(&key) == Some(value)));
    let told = Mutex::new(0);
    for key in cache.keys().collect::<Vec<u64>>() {
        assert!(cache.delete(&key));
        *told.lock().unwrap() += 1;
    }
    assert_eq!((*told.lock().unwrap(), cache.len()), (50, 0));
}

#[test]
fn a_key_by_reference_is_cloned_when_it_is_new() {
    /// Counts its clones.
    #[derive(PartialEq, Eq, Hash)]
    struct Counted(u64);
    static CLONES: AtomicU64 = AtomicU64::new(0);
    impl Clone for Counted {
        fn clone(&self) -> Counted {
            CLONES.fetch_add(1, Ordering::SeqCst);
            Counted(self.0)
        }
    }
    let cache = MemoryCache::new(2).unwrap();
    for value in 0..3 {
        cache.set_by_ref(&Counted(1), value).unwrap();
        assert_eq!(cache.get(&Counted(1)), Some(value));
    }
    assert_eq!(CLONES.load(Ordering::SeqCst), 1);
    for key in 2..4 {
        cache.set_by_ref(&Counted(key), key).unwrap();
        assert_eq!(cache.get(&Counted(key)), Some(key));
    }
    assert_eq!(cache.len(), 2);
    assert_eq!((cache.stats().writes, cache.stats().evicted), (5, 1));
}

#[test]
fn a_key_by_reference_is_told_and_weighed() {
    let builder = MemoryCache::<u64, u64>::builder()
        .max_bytes(10)
        .weigher(|key, value| key + value)
        .expire_after(|_, value| Ttl::For(Duration::from_secs(*value)));
    let (builder, told) = Told::by(builder);
    let cache = builder.build().unwrap();
    cache.set_by_ref(&1, 2).unwrap();
    cache.set_by_ref(&1, 3).unwrap();
    assert_eq!(told.take(), [(1, 2, RemovalCause::Replaced)]);
    assert_eq!(cache.bytes(), 4);
    assert!(matches!(cache.ttl(&1), Some(TtlLeft::For(_))));
    let error = cache.set_by_ref(&1, 10).unwrap_err();
    assert_eq!(error.code(), "entry_too_large");
    assert_eq!(cache.get(&1), None);
}

#[test]
fn retain_deletes_what_it_was_shown_and_nothing_newer() {
    let (builder, told) = Told::by(MemoryCache::builder().max_entries(1000));
    let cache = builder.build().unwrap();
    for key in 0..100_u64 {
        cache.set(key, key).unwrap();
    }
    let deleted = cache.retain(|key, _| {
        if *key == 7 {
            // It may use the cache; what is written now was not passed to it.
            cache.set(7, 70).unwrap();
            assert_eq!(cache.get(&7), Some(70));
        }
        key % 2 == 0
    });
    assert_eq!((deleted, cache.len()), (49, 51));
    assert_eq!(
        (cache.get(&7), cache.get(&8), cache.get(&9)),
        (Some(70), Some(8), None)
    );
    assert_eq!(cache.stats().deletes, 49);
    let removed = told
        .take()
        .iter()
        .filter(|left| left.2 == RemovalCause::Deleted)
        .count();
    assert_eq!(removed, 49);
    let mut left: Vec<u64> = (&cache).into_iter().map(|(key, _)| key).collect();
    left.sort_unstable();
    assert_eq!(left.len(), 51);
}
