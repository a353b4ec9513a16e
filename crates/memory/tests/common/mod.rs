//! Shared by the tests.
#![allow(dead_code)]

use polycache_memory::{Builder, MemoryCache, RemovalCause};
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A clock that a test moves.
#[derive(Clone, Default)]
pub struct Time(Arc<AtomicU64>);

impl Time {
    pub fn pass(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }

    pub fn now(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    pub fn clock(&self) -> impl Fn() -> u64 + Send + Sync + 'static {
        let time = self.clone();
        move || time.now()
    }
}

/// What a listener was told.
pub struct Told<K, V>(Arc<Mutex<Vec<(K, V, RemovalCause)>>>);

impl<K: Send + 'static, V: Send + 'static> Told<K, V> {
    pub fn by(builder: Builder<K, V>) -> (Builder<K, V>, Told<K, V>)
    where
        K: Eq + Hash,
        V: Clone,
    {
        let told = Arc::new(Mutex::new(Vec::new()));
        let list = told.clone();
        let listener = move |key, value, cause| list.lock().unwrap().push((key, value, cause));
        (builder.removal_listener(listener), Told(told))
    }

    /// Since the last call.
    pub fn take(&self) -> Vec<(K, V, RemovalCause)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

pub fn small<V: Clone>(max_entries: u64) -> MemoryCache<u64, V> {
    MemoryCache::new(max_entries).unwrap()
}
