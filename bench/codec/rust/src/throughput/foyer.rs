//! foyer, its memory tier alone.

use super::{Cache, Store, Value, CAPACITY};
use crate::{locked, Outcome};
use std::borrow::Cow;
use std::sync::Arc;

pub struct Foyer;

pub struct FoyerStore<V: Value>(foyer_memory::Cache<String, V>);

impl Cache for Foyer {
    type Text = Arc<str>;
    type Store<V: Value> = FoyerStore<V>;

    fn name() -> String {
        "foyer".into()
    }

    fn notes() -> Vec<String> {
        vec!["isolation: none; no TTL".into()]
    }

    fn version() -> (String, String) {
        locked("foyer-memory")
    }

    fn open<V: Value>() -> Outcome<FoyerStore<V>> {
        Ok(FoyerStore(foyer_memory::Cache::builder(CAPACITY).build()))
    }
}

impl<V: Value> Store<V> for FoyerStore<V> {
    fn set(&self, key: Cow<'_, str>, value: &V) {
        self.0.insert(key.into_owned(), value.clone());
    }

    fn get(&self, key: &str) -> Option<V> {
        self.0.get(key).map(|entry| entry.value().clone())
    }
}
