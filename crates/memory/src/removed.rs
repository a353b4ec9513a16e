//! Entries on their way out, and the listener to tell.

use crate::sync::Arc;

/// Why an entry left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RemovalCause {
    /// Its key was given another value.
    Replaced,
    /// It was deleted or taken.
    Deleted,
    /// Its time was over: to live, or to idle.
    Expired,
    /// The cache was full.
    Evicted,
    /// The cache was cleared.
    Cleared,
}

/// What is told of entries that left.
pub(crate) type Listener<K, V> = Arc<dyn Fn(K, V, RemovalCause) + Send + Sync>;

/// Entries that left under a shard's lock. They are dropped, or given to the listener, after it.
pub(crate) struct Removed<K, V> {
    /// Most often there is one at most, which needs no memory.
    first: Option<(K, V, RemovalCause)>,
    more: Vec<(K, V, RemovalCause)>,
}

impl<K, V> Removed<K, V> {
    #[inline]
    pub fn new() -> Removed<K, V> {
        Removed {
            first: None,
            more: Vec::new(),
        }
    }

    #[inline]
    pub fn push(&mut self, key: K, value: V, cause: RemovalCause) {
        let entry = (key, value, cause);
        if self.first.is_none() {
            self.first = Some(entry);
        } else {
            self.more.push(entry);
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &(K, V, RemovalCause)> {
        self.first.iter().chain(&self.more)
    }

    /// The first one.
    pub fn first(&self) -> Option<&(K, V, RemovalCause)> {
        self.first.as_ref()
    }
}

impl<K, V> IntoIterator for Removed<K, V> {
    type Item = (K, V, RemovalCause);
    type IntoIter =
        std::iter::Chain<std::option::IntoIter<Self::Item>, std::vec::IntoIter<Self::Item>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.more)
    }
}
