//! quick_cache, its synchronous cache.

use super::{Cache, Store, Value, CAPACITY};
use crate::{locked, Outcome};
use std::borrow::Cow;
use std::sync::Arc;

pub struct QuickCache;

pub struct QuickCacheStore<V: Value>(quick_cache::sync::Cache<String, V>);

impl Cache for QuickCache {
    type Text = Arc<str>;
    type Store<V: Value> = QuickCacheStore<V>;

    fn name() -> String {
        "quick_cache".into()
    }

    fn notes() -> Vec<String> {
        vec!["isolation: none; no TTL".into()]
    }

    fn version() -> (String, String) {
        locked("quick_cache")
    }

    fn open<V: Value>() -> Outcome<QuickCacheStore<V>> {
        Ok(QuickCacheStore(quick_cache::sync::Cache::new(CAPACITY)))
    }
}

impl<V: Value> Store<V> for QuickCacheStore<V> {
    fn set(&self, key: Cow<'_, str>, value: &V) {
        self.0.insert(key.into_owned(), value.clone());
    }

    fn get(&self, key: &str) -> Option<V> {
        self.0.get(key)
    }
}
