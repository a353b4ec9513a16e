//! Iterating over all entries.

use crate::shard::Version;
use crate::MemoryCache;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::vec::IntoIter;

/// Number of entries copied at once under a shard's lock.
const PAGE: u32 = 16;

/// Copies of every entry, in no order, from [`MemoryCache::iter`].
///
/// Weakly consistent: it runs beside reads and writes and holds no lock between two steps. An entry that
/// is there from beginning to end comes once, with a value that it had meanwhile; an entry that is added
/// or removed meanwhile may come or not. Iterating is not a use of the entries.
pub struct Iter<'a, K, V, S> {
    pages: Pages<'a, K, V, S>,
    page: IntoIter<(K, V)>,
}

/// Copies of every key, as [`Iter`], from [`MemoryCache::keys`].
pub struct Keys<'a, K, V, S> {
    pages: Pages<'a, K, V, S>,
    page: IntoIter<K>,
}

/// The position of an iteration.
struct Pages<'a, K, V, S> {
    cache: &'a MemoryCache<K, V, S>,
    shard: usize,
    index: u32,
}

impl<K, V, S> Pages<'_, K, V, S> {
    fn new(cache: &MemoryCache<K, V, S>) -> Pages<'_, K, V, S> {
        Pages {
            cache,
            shard: 0,
            index: 0,
        }
    }

    /// What `copy` returns for the next entries; empty only at the end.
    fn next<T>(&mut self, copy: impl Fn(&K, &V, Version) -> T) -> IntoIter<T> {
        let mut page = Vec::new();
        while page.is_empty() {
            let Some(lock) = self.cache.0.shards.get(self.shard) else {
                break;
            };
            let shard = lock.read(&self.cache.0.readers);
            let end = shard.indices().min(self.index.saturating_add(PAGE));
            for index in self.index..end {
                let entry = shard.at(index).zip(shard.version(index));
                if let Some(((key, value), version)) = entry {
                    if !shard.has_expired(index, || self.cache.now()) {
                        page.push(copy(key, value, version));
                    }
                }
            }
            if end == shard.indices() {
                self.shard += 1;
                self.index = 0;
            } else {
                self.index = end;
            }
        }
        page.into_iter()
    }
}

impl<'a, K, V, S> Iter<'a, K, V, S> {
    pub(crate) fn new(cache: &'a MemoryCache<K, V, S>) -> Self {
        Iter {
            pages: Pages::new(cache),
            page: Vec::new().into_iter(),
        }
    }
}

impl<K: Clone, V: Clone, S> Iterator for Iter<'_, K, V, S> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        if self.page.len() == 0 {
            self.page = self
                .pages
                .next(|key, value, _| (key.clone(), value.clone()));
        }
        self.page.next()
    }
}

impl<'a, K, V, S> Keys<'a, K, V, S> {
    pub(crate) fn new(cache: &'a MemoryCache<K, V, S>) -> Self {
        Keys {
            pages: Pages::new(cache),
            page: Vec::new().into_iter(),
        }
    }
}

impl<K: Clone, V, S> Iterator for Keys<'_, K, V, S> {
    type Item = K;

    fn next(&mut self) -> Option<K> {
        if self.page.len() == 0 {
            self.page = self.pages.next(|key, _, _| key.clone());
        }
        self.page.next()
    }
}

/// Copies of every entry with its version, as [`Iter`].
pub(crate) struct Versions<'a, K, V, S> {
    pages: Pages<'a, K, V, S>,
    page: IntoIter<(K, V, Version)>,
}

impl<'a, K, V, S> Versions<'a, K, V, S> {
    pub(crate) fn new(cache: &'a MemoryCache<K, V, S>) -> Self {
        Versions {
            pages: Pages::new(cache),
            page: Vec::new().into_iter(),
        }
    }
}

impl<K: Clone, V: Clone, S> Iterator for Versions<'_, K, V, S> {
    type Item = (K, V, Version);

    fn next(&mut self) -> Option<(K, V, Version)> {
        if self.page.len() == 0 {
            self.page = self
                .pages
                .next(|key, value, version| (key.clone(), value.clone(), version));
        }
        self.page.next()
    }
}

impl<'a, K: Clone + Eq + Hash, V: Clone, S: BuildHasher> IntoIterator for &'a MemoryCache<K, V, S> {
    type Item = (K, V);
    type IntoIter = Iter<'a, K, V, S>;

    fn into_iter(self) -> Iter<'a, K, V, S> {
        self.iter()
    }
}

impl<K, V, S> fmt::Debug for Iter<'_, K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").finish_non_exhaustive()
    }
}

impl<K, V, S> fmt::Debug for Keys<'_, K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}
