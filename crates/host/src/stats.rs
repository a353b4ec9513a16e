//! Statistics of a store.

/// What a store holds and what happened to the rest. The first seven count this handle's own operations;
/// the others are counts of the whole directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Reads that found an entry.
    pub hits: u64,
    /// Reads that found none.
    pub misses: u64,
    /// Entries stored.
    pub writes: u64,
    /// Entries deleted.
    pub deletes: u64,
    /// Loads whose entry was refused because a set, a delete or an eviction came in between.
    pub invalidated_loads: u64,
    /// Loaded values that could not be stored.
    pub unstored: u64,
    /// Callers that waited for another caller's load until their limit ran out.
    pub wait_timeouts: u64,
    /// Entries in the index now, including expired and cleared ones until they are recycled.
    pub entries: u64,
    /// Disk space that the directory takes, in bytes.
    pub bytes: u64,
    /// Byte limit of the directory.
    pub limit: u64,
    /// Largest total size of key and entry, in bytes.
    pub max_record: u64,
    /// Entries evicted because their block was the oldest.
    pub evicted_by_age: u64,
    /// Entries evicted because the index had no place for a new key.
    pub evicted_by_conflict: u64,
    /// Old values removed because their replacement could not be stored.
    pub evicted_by_failed_put: u64,
    /// Expired entries that recycling removed.
    pub expired: u64,
    /// Entries that recycling kept because they had been visited.
    pub reinserted: u64,
    /// Blocks claimed since the directory was made.
    pub blocks_claimed: u64,
    /// Clears that found no place for their namespace's floor and cleared a group of namespaces.
    pub floor_overflows: u64,
    /// Flushes that failed because the disk refused something.
    pub failed_flushes: u64,
}

/// What was done, for [`Store::add_counts`](crate::Store::add_counts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Reads that a memory tier answered.
    pub memory_hits: u64,
    /// Other reads that found an entry.
    pub hits: u64,
    /// Reads that found none.
    pub misses: u64,
    /// Entries stored.
    pub writes: u64,
    /// Entries deleted.
    pub deletes: u64,
    /// Loads whose entry was refused.
    pub invalidated_loads: u64,
    /// Loaded values that could not be stored.
    pub unstored: u64,
    /// Callers that waited too long for another caller's load.
    pub wait_timeouts: u64,
}

/// What a cache with a server did, for [`Store::add_remote_counts`](crate::Store::add_remote_counts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteCounts {
    /// Reads that copies in the directory answered.
    pub near_hits: u64,
    /// Reads that the server answered.
    pub remote_hits: u64,
    /// Reads that another caller's load answered.
    pub joined_hits: u64,
    /// Round trips.
    pub round_trips: u64,
    /// What had no answer.
    pub faults: u64,
    /// Loaders that began.
    pub loads: u64,
    /// Loaders that ended without a value to store.
    pub failed_loads: u64,
}

/// What all processes of the machine did with a directory, and what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineStats {
    /// When the directory was made, in milliseconds since 1970: every count began at 0 then.
    pub since: u64,
    /// Reads that found an entry.
    pub hits: u64,
    /// Those of them that a memory tier answered.
    pub memory_hits: u64,
    /// Reads that found none.
    pub misses: u64,
    /// Entries stored.
    pub writes: u64,
    /// Entries deleted.
    pub deletes: u64,
    /// Loaders that began.
    pub loads: u64,
    /// Loaders that ended without a value to store: they failed, or their callers were cancelled.
    pub failed_loads: u64,
    /// Loads whose entry was refused because a set, a delete or an eviction came in between.
    pub invalidated_loads: u64,
    /// Loaded values that could not be stored.
    pub unstored: u64,
    /// Callers that waited for another caller's load until their limit ran out.
    pub wait_timeouts: u64,
    /// Entries in the index now, including expired and cleared ones until they are recycled.
    pub entries: u64,
    /// Disk space that the directory takes, in bytes.
    pub bytes: u64,
    /// Byte limit of the directory.
    pub limit: u64,
    /// Entries evicted because their block was the oldest.
    pub evicted_by_age: u64,
    /// Entries evicted because the index had no place for a new key.
    pub evicted_by_conflict: u64,
    /// Old values removed because their replacement could not be stored.
    pub evicted_by_failed_put: u64,
    /// Expired entries that were removed.
    pub expired: u64,
    /// Those of the hits that copies of a server's entries answered.
    pub near_hits: u64,
    /// Those of the hits that a server answered.
    pub remote_hits: u64,
    /// Those of the hits that another caller's load of the same process answered, in caches with a server.
    pub joined_hits: u64,
    /// Round trips to servers, of one or several commands.
    pub round_trips: u64,
    /// Reads, writes and loads that had no answer from a server.
    pub faults: u64,
    /// When the last of them was, in milliseconds since 1970; 0: there was none.
    pub last_fault_at: u64,
    /// When a process last found its circuit breaker open, in milliseconds since 1970; 0: none did. One that still has it
    /// open says so twice a second.
    pub last_open_at: u64,
    /// The processes that have the directory open, the one with the most reads first.
    pub processes: Vec<ProcessStats>,
}

/// What one process has done with a directory since it opened it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessStats {
    /// Its process id, as it sees that itself: another container may have the same.
    pub pid: u32,
    /// Its open handles that count for themselves.
    pub handles: u64,
    /// When it opened the first of them, in milliseconds since 1970.
    pub since: u64,
    /// Reads that found an entry.
    pub hits: u64,
    /// Those of them that its memory tier answered.
    pub memory_hits: u64,
    /// Reads that found none.
    pub misses: u64,
    /// Entries stored.
    pub writes: u64,
    /// Entries deleted.
    pub deletes: u64,
    /// Loaders that began.
    pub loads: u64,
    /// Loaders that ended without a value to store.
    pub failed_loads: u64,
}

/// What the entries of one namespace take; those of namespaces nested in it are not its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The namespace's parts; none for the root.
    pub namespace: Vec<String>,
    /// Entries that a read would find.
    pub entries: u64,
    /// Bytes that their records take: key, value and header; whole blocks for a value larger than a block.
    pub bytes: u64,
}
