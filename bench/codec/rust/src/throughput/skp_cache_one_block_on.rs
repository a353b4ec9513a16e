//! skp-cache called from within one task, as an asynchronous program calls it: what it costs without
//! a `block_on` for every call.

use super::skp_cache::{SkpStore, RUNTIME};
use super::{Cache, Store, Value};
use crate::{locked, Outcome};
use skp_cache::JsonSerializer;
use std::borrow::Cow;
use std::hint::black_box;

pub struct OneBlockOn;

pub struct OneBlockOnStore(SkpStore<JsonSerializer>);

impl Cache for OneBlockOn {
    type Text = String;
    type Store<V: Value> = OneBlockOnStore;

    fn name() -> String {
        "skp-cache, one block_on".into()
    }

    fn notes() -> Vec<String> {
        vec!["isolation: clone; TTL; JSON; awaited in a loop".into()]
    }

    fn version() -> (String, String) {
        locked("skp-cache")
    }

    fn open<V: Value>() -> Outcome<Self::Store<V>> {
        Ok(OneBlockOnStore(SkpStore::open(JsonSerializer)))
    }

    fn mixed(store: &Self::Store<u64>, number: &mut u64) {
        store.0.mixed(number);
    }
}

impl<V: Value> Store<V> for OneBlockOnStore {
    fn set(&self, key: Cow<'_, str>, value: &V) {
        RUNTIME.block_on(self.0.set(&key, value));
    }

    fn get(&self, key: &str) -> Option<V> {
        RUNTIME.block_on(self.0.get(key))
    }

    fn sets(&self, key: &str, value: &V, count: u64) {
        RUNTIME.block_on(async {
            for _ in 0..count {
                self.0.set(black_box(key), black_box(value)).await;
            }
        });
    }

    fn gets(&self, key: &str, count: u64) {
        RUNTIME.block_on(async {
            for _ in 0..count {
                black_box(self.0.get::<V>(black_box(key)).await);
            }
        });
    }

    fn gets_of(&self, keys: &[String], first: usize, count: u64) {
        let (later, sooner) = keys.split_at(first);
        RUNTIME.block_on(async {
            for (key, _) in sooner.iter().chain(later).cycle().zip(0..count) {
                black_box(self.0.get::<V>(black_box(key)).await);
            }
        });
    }
}
