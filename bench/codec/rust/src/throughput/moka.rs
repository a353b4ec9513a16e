//! moka, its synchronous cache.

use super::{Cache, Store, Value, CAPACITY, TTL};
use crate::{locked, Outcome};
use std::borrow::Cow;
use std::sync::Arc;

pub struct Moka;

pub struct MokaStore<V: Value>(moka::sync::Cache<String, V>);

impl Cache for Moka {
    type Text = Arc<str>;
    type Store<V: Value> = MokaStore<V>;

    fn name() -> String {
        "moka".into()
    }

    fn notes() -> Vec<String> {
        vec!["isolation: none; TTL".into()]
    }

    fn version() -> (String, String) {
        locked("moka")
    }

    fn open<V: Value>() -> Outcome<MokaStore<V>> {
        Ok(MokaStore(
            moka::sync::Cache::builder()
                .max_capacity(CAPACITY as u64)
                .time_to_live(TTL)
                .build(),
        ))
    }
}

impl<V: Value> Store<V> for MokaStore<V> {
    fn set(&self, key: Cow<'_, str>, value: &V) {
        self.0.insert(key.into_owned(), value.clone());
    }

    fn get(&self, key: &str) -> Option<V> {
        self.0.get(key)
    }
}
