//! Ours in this process' memory.

use super::{Cache, Store, Value, CAPACITY, TTL};
use crate::{locked, Outcome};
use polycache_memory::MemoryCache;
use std::borrow::Cow;
use std::sync::Arc;

/// Entries expire, as in all caches here that can.
pub struct PolycacheMemory;

/// For those beside it that cannot.
pub struct WithoutExpiry;

pub struct MemoryStore<V: Value>(MemoryCache<String, V>);

impl Cache for PolycacheMemory {
    type Text = Arc<str>;
    type Store<V: Value> = MemoryStore<V>;

    fn name() -> String {
        "polycache-memory".into()
    }

    fn notes() -> Vec<String> {
        vec!["shares objects; entries expire".into()]
    }

    fn version() -> (String, String) {
        locked("polycache-memory")
    }

    fn open<V: Value>() -> Outcome<MemoryStore<V>> {
        let builder = MemoryCache::builder().max_entries(CAPACITY as u64);
        Ok(MemoryStore(builder.ttl(TTL).build()?))
    }
}

impl Cache for WithoutExpiry {
    type Text = Arc<str>;
    type Store<V: Value> = MemoryStore<V>;

    fn name() -> String {
        "polycache-memory, no expiry".into()
    }

    fn notes() -> Vec<String> {
        vec!["shares objects; no entry has a time to live".into()]
    }

    fn version() -> (String, String) {
        PolycacheMemory::version()
    }

    fn open<V: Value>() -> Outcome<MemoryStore<V>> {
        Ok(MemoryStore(MemoryCache::new(CAPACITY as u64)?))
    }
}

impl<V: Value> Store<V> for MemoryStore<V> {
    fn set(&self, key: Cow<'_, str>, value: &V) {
        let set = match key {
            Cow::Borrowed(key) => self.0.set_by_ref(key, value.clone()),
            Cow::Owned(key) => self.0.set(key, value.clone()),
        };
        set.expect("an entry that is not weighed fits");
    }

    fn get(&self, key: &str) -> Option<V> {
        self.0.get(key)
    }
}
