//! Cached reads of Redis and Valkey (cargo feature `reads`): read commands of your own, answered from this process' memory
//! or from what its host keeps (`spec/reads.md`).
//!
//! ```no_run
//! use polycache::reads::CachedReads;
//!
//! let reads = CachedReads::builder("redis://127.0.0.1")
//!     .path(".cache")
//!     .prefixes(["OPTIONS"])
//!     .build()?;
//! let range = redis::cmd("XRANGE").arg("OPTIONS:1").arg("-").arg("+").take();
//! let options: redis::Value = reads.query(&range)?;
//! let page = reads.json(&range)?;
//! assert!(page.bytes().starts_with(b"["));
//! # Ok::<(), polycache::Error>(())
//! ```

#[cfg(feature = "tokio")]
mod async_cached_reads;
mod builder;
mod cached_reads;
mod call;
mod connection;
mod expiry;
mod flights;
mod json;
mod kept;
mod packed;
mod plan;
mod servers;
mod stats;

#[cfg(feature = "tokio")]
pub use async_cached_reads::AsyncCachedReads;
pub use builder::CachedReadsBuilder;
pub use cached_reads::CachedReads;
pub use json::JsonReply;
pub use stats::{ReadStats, Uncached};

/// Whether the same read may succeed later.
pub(crate) fn may_pass(error: &redis::RedisError) -> bool {
    use redis::RetryMethod;
    !matches!(error.retry_method(), RetryMethod::NoRetry) || error.is_timeout()
}
