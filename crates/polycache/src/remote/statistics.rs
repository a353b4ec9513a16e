//! What a handle tells of its remote tier.

use std::time::Duration;

/// What a handle did with its remote tier, and how that is. From [`Cache::remote_stats`](crate::Cache::remote_stats).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteStats {
    /// Reads that a copy on this host answered.
    pub near_hits: u64,
    /// Reads that the server answered.
    pub remote_hits: u64,
    /// Round trips of operations, of one or several commands each; not those of the thread that listens.
    pub round_trips: u64,
    /// Reads, writes and loads that had no answer from the server.
    pub faults: u64,
    /// What the last of them was about; empty when there was none.
    pub last_fault: String,
    /// Whether the circuit breaker is open: commands fail at once.
    pub is_open: bool,
    /// Whether copies are served: this host hears of all writes.
    pub listens: bool,
    /// How far behind the copies may be now; `None` while none are served.
    pub lag: Option<Duration>,
    /// Whether the server refuses to tell of writes, so that every read goes through to it.
    pub refuses_tracking: bool,
}
