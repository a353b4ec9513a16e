//! What a cache says of itself.

/// Counts since the cache was made, but for `entries` and `bytes`, which are now. Counting does not
/// stop anybody: taken while others work, the numbers may be of slightly different instants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Entries that are held, as [`MemoryCache::len`](crate::MemoryCache::len).
    pub entries: u64,
    /// Bytes that they weigh, as [`MemoryCache::bytes`](crate::MemoryCache::bytes).
    pub bytes: u64,
    /// Reads that found their key.
    pub hits: u64,
    /// Reads that did not.
    pub misses: u64,
    /// Values that were stored, loaded ones among them.
    pub writes: u64,
    /// Entries that were deleted or taken.
    pub deletes: u64,
    /// Entries that left because the cache was full.
    pub evicted: u64,
    /// Entries whose time was over.
    pub expired: u64,
    /// Loads that a set, delete or clear came before, so that their value was not stored.
    pub voided_fills: u64,
}
