//! Entries on their way out, and whom to tell.

use crate::sync::Arc;
use smallvec::SmallVec;

/// Why an entry left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RemovalCause {
    /// Its key was given another value.
    Replaced,
    /// It was deleted or taken.
    Removed,
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
pub(crate) type Removed<K, V> = SmallVec<[(K, V, RemovalCause); 1]>;
