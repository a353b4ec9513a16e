//! A cache's statistics.

/// Counts since the cache was created, except `entries` and `bytes`, which are current. Counting blocks
/// no thread: while others work, the numbers may be of slightly different instants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Entries in the cache, as [`MemoryCache::len`](crate::MemoryCache::len).
    pub entries: u64,
    /// Their weight in bytes, as [`MemoryCache::bytes`](crate::MemoryCache::bytes).
    pub bytes: u64,
    /// Reads that found their key.
    pub hits: u64,
    /// Reads that did not.
    pub misses: u64,
    /// Values that were stored, including loaded ones.
    pub writes: u64,
    /// Entries that were deleted or taken.
    pub deletes: u64,
    /// Entries that left because the cache was full.
    pub evicted: u64,
    /// Entries that expired.
    pub expired: u64,
    /// Loads whose value was not stored, because a set, delete or clear came before it.
    pub invalidated_loads: u64,
    /// Callers that got `WaitTimeout`.
    pub wait_timeouts: u64,
}
