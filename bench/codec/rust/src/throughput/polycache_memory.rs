//! Ours in this process' memory.

use super::{Cache, Store, Value, CAPACITY, TTL};
use crate::{locked, Outcome};
use polycache_entry::{deserialize, serialize, Limits, Serializer, Structs};
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

    const JSON: &'static str = "polycache-entry";

    fn name() -> String {
        "polycache-memory".into()
    }

    fn write_json<V: Value>(value: &V, out: &mut Vec<u8>) {
        serialize(value, Serializer::Json, Structs::default(), out).expect("a value that JSON has");
    }

    fn read_json<V: Value>(json: &[u8]) -> V {
        deserialize(Serializer::Json, json, &Limits::default()).expect("what was encoded")
    }

    fn notes() -> Vec<String> {
        vec!["isolation: none; TTL".into()]
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
        vec!["isolation: none; no TTL".into()]
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
