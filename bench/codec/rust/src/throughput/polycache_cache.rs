//! Ours as skp-cache's users would have it: `polycache::Cache` in this process' memory, JSON.

use super::{Cache, Store, Value, CAPACITY, TTL};
use crate::{ours, Outcome};
use polycache::Json;
use std::borrow::Cow;

pub struct PolycacheCache;

pub struct CacheStore(polycache::Cache);

impl Cache for PolycacheCache {
    type Text = String;
    type Store<V: Value> = CacheStore;

    fn name() -> String {
        "polycache-cache".into()
    }

    fn notes() -> Vec<String> {
        vec!["isolation: clone; TTL; the memory tier alone; JSON".into()]
    }

    fn version() -> (String, String) {
        ours()
    }

    fn open<V: Value>() -> Outcome<CacheStore> {
        let builder = polycache::Cache::builder().max_entries(CAPACITY as u64);
        Ok(CacheStore(builder.serializer(Json).ttl(TTL).build()?))
    }
}

impl<V: Value> Store<V> for CacheStore {
    fn set(&self, key: Cow<'_, str>, value: &V) {
        self.0.set(key.as_bytes(), value).expect("set");
    }

    fn get(&self, key: &str) -> Option<V> {
        self.0.get(key).expect("get")
    }
}
