//! cached, its sharded LRU cache.

use super::{Cache, Store, Value, CAPACITY, TTL};
use crate::{locked, Outcome};
use std::borrow::Cow;
use std::sync::Arc;

pub struct Cached;

pub struct CachedStore<V: Value>(cached::ShardedLruTtlCache<String, V>);

impl Cache for Cached {
    type Text = Arc<str>;
    type Store<V: Value> = CachedStore<V>;

    fn name() -> String {
        "cached".into()
    }

    fn notes() -> Vec<String> {
        vec!["isolation: none; TTL".into()]
    }

    fn version() -> (String, String) {
        locked("cached")
    }

    fn open<V: Value>() -> Outcome<CachedStore<V>> {
        Ok(CachedStore(
            cached::ShardedLruTtlCache::builder()
                .max_size(CAPACITY)
                .ttl(TTL)
                .build()?,
        ))
    }
}

impl<V: Value> Store<V> for CachedStore<V> {
    fn set(&self, key: Cow<'_, str>, value: &V) {
        self.0.set(key.into_owned(), value.clone());
    }

    fn get(&self, key: &str) -> Option<V> {
        self.0.get(key)
    }
}
