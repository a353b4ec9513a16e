//! mini-moka, its synchronous cache.

use super::{Cache, Store, Value, CAPACITY, TTL};
use crate::{locked, Outcome};
use std::borrow::Cow;
use std::sync::Arc;

pub struct MiniMoka;

pub struct MiniMokaStore<V: Value>(mini_moka::sync::Cache<String, V>);

impl Cache for MiniMoka {
    type Text = Arc<str>;
    type Store<V: Value> = MiniMokaStore<V>;

    fn name() -> String {
        "mini-moka".into()
    }

    fn notes() -> Vec<String> {
        vec!["isolation: none; TTL".into()]
    }

    fn version() -> (String, String) {
        locked("mini-moka")
    }

    fn open<V: Value>() -> Outcome<MiniMokaStore<V>> {
        Ok(MiniMokaStore(
            mini_moka::sync::Cache::builder()
                .max_capacity(CAPACITY as u64)
                .time_to_live(TTL)
                .build(),
        ))
    }
}

impl<V: Value> Store<V> for MiniMokaStore<V> {
    fn set(&self, key: Cow<'_, str>, value: &V) {
        self.0.insert(key.into_owned(), value.clone());
    }

    fn get(&self, key: &str) -> Option<V> {
        self.0.get(&key.to_owned())
    }
}
