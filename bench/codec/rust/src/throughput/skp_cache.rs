//! skp-cache as its own benchmark uses it: JSON, and a `block_on` for every call.
//! (Its page's `CacheManager::builder()` does not exist.)

use super::{Cache, Store, Value, KEYS};
use crate::{locked, Outcome};
use skp_cache::{
    CacheManager, CacheManagerConfig, CacheOpts, MemoryBackend, MemoryConfig, NoopMetrics,
    Serializer,
};
use std::borrow::Cow;
use std::hint::black_box;
use std::sync::LazyLock;
use tokio::runtime::Runtime;

/// As many threads as cores, as published.
pub(super) static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new().expect("a tokio runtime"));

pub struct SkpCache;

/// A cache manager over its memory backend, both with their defaults.
pub struct SkpStore<S: Serializer>(pub(super) CacheManager<MemoryBackend, S>);

impl<S: Serializer> SkpStore<S> {
    pub(super) fn open(serializer: S) -> SkpStore<S> {
        SkpStore(CacheManager::with_serializer_and_metrics(
            MemoryBackend::new(MemoryConfig::default()),
            serializer,
            NoopMetrics,
            CacheManagerConfig::default(),
        ))
    }

    pub(super) async fn set<V: Value>(&self, key: &str, value: &V) {
        let done = self.0.set(key, value, CacheOpts::new()).await;
        done.expect("skp-cache sets");
    }

    pub(super) async fn get<V: Value>(&self, key: &str) -> Option<V> {
        let found = self.0.get(key).await;
        found.expect("skp-cache gets").value()
    }

    /// 100 operations within one `block_on`, as published.
    pub(super) fn mixed(&self, number: &mut u64) {
        RUNTIME.block_on(async {
            for _ in 0..KEYS {
                *number += 1;
                let key = format!("key:{}", *number % KEYS);
                if *number % 5 == 0 {
                    self.set(&key, &*number).await;
                } else {
                    black_box(self.get::<u64>(&key).await);
                }
            }
        });
    }
}

impl Cache for SkpCache {
    type Text = String;
    type Store<V: Value> = SkpStore<skp_cache::JsonSerializer>;

    fn name() -> String {
        "skp-cache".into()
    }

    fn notes() -> Vec<String> {
        vec!["isolation: clone; TTL; JSON; a block_on for every call, as published".into()]
    }

    fn version() -> (String, String) {
        locked("skp-cache")
    }

    fn open<V: Value>() -> Outcome<Self::Store<V>> {
        Ok(SkpStore::open(skp_cache::JsonSerializer))
    }

    fn mixed(store: &Self::Store<u64>, number: &mut u64) {
        store.mixed(number);
    }
}

impl<V: Value, S: Serializer> Store<V> for SkpStore<S> {
    fn set(&self, key: Cow<'_, str>, value: &V) {
        RUNTIME.block_on(self.set(&key, value));
    }

    fn get(&self, key: &str) -> Option<V> {
        RUNTIME.block_on(self.get(key))
    }
}
