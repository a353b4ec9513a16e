//! One cache that Rust, TypeScript, Python and Ruby processes of a machine share: memory-mapped
//! files in one directory, no server.
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path();
//! use polycache::{duration, Cache};
//!
//! let cache = Cache::builder().path(path).namespace("shop").build()?;
//! let price = cache.get_or_set_with_ttl("price:apple", duration::parse("5m")?, || {
//!     std::fs::read_to_string("/proc/version").map(|text| text.len()) // your database
//! })?;
//! assert_eq!(cache.get("price:apple")?, Some(price));
//! cache.delete("price:apple")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Without a path a cache is this process's own. [`Cache::typed`] keeps values that are read again and again decoded in
//! memory; `AsyncCache` (cargo feature `tokio`) is for asynchronous programs. [`coming_from_skp_cache`] has that
//! crate's names beside ours.
//!
//! With the cargo feature `metrics` a cache counts for exporters. With `tracing` it reports loads as spans
//! `polycache.load`, what cannot be read or stored as warnings, and every read (also `has` and `ttl`) and write at the
//! level `TRACE`. Events contain keys. A subscriber must not use the cache.
//!
//! Values are any serde type ([`Cache::get`], [`Cache::set`]) or, without one, [`Value`]s:
//! [`Cache::get_with`] reads 100 bytes of text in well under a microsecond and allocates nothing.
//! `spec/semantics.md` says what the packages of all languages have in common.

#[cfg(feature = "tokio")]
mod async_cache;
mod batch;
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub mod bindings;
mod builder;
mod cache;
mod cache_key;
mod caller;
#[doc = include_str!("coming_from_skp_cache.md")]
pub mod coming_from_skp_cache {}
pub mod compressor;
mod conditional;
mod driver;
pub mod duration;
mod encryption;
mod entry;
mod error;
mod get_or_set;
mod get_or_set_many;
mod increment;
mod jitter;
#[cfg(any(feature = "bindings-remote", feature = "reads"))]
mod json;
mod keys;
mod lease;
mod lock;
mod machine;
#[cfg(feature = "remote")]
mod many;
mod memory;
#[cfg(feature = "metrics")]
pub mod metrics;
mod observe;
mod origin;
mod peek;
mod prefetch;
pub mod presets;
mod random;
mod read_through;
#[cfg(feature = "reads")]
pub mod reads;
#[cfg(feature = "remote")]
mod remote;
mod scratch;
pub mod serializer;
pub mod size;
mod store_errors;
mod take;
mod tier;
mod touch;
mod ttl;
mod typed;
mod update;

#[cfg(feature = "tokio")]
pub use async_cache::AsyncCache;
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use bindings::{Filled, LoadStep, Loading, LockStep, Locking, Origin, Token};
pub use builder::Builder;
pub use cache::Cache;
pub use cache_key::{CacheKey, KeyParts};
pub use compressor::{Noop, Smart, Zstd};
pub use entry::{Entry, Facts, Version};
pub use error::Error;
pub use jitter::Jitter;
pub use keys::Keys;
pub use lease::Lease;
pub use memory::{TypedCache, TypedValue};
#[cfg(feature = "derive")]
pub use polycache_derive::CacheKey;
pub use polycache_entry::{Compressor, CompressorId, Named, Serializer, Structs, Value};
pub use polycache_host::keys::split as split_full_key;
pub use polycache_host::{Clock, MachineStats, ProcessStats, Report, Stats, Usage};
pub use polycache_memory::{Doorkeeper, MemoryCache, Stats as MemoryStats, Ttl, TtlLeft};
pub use read_through::ReadThrough;
#[cfg(feature = "remote")]
pub use remote::{Remote, RemoteStats};
pub use serializer::{Bincode, Json, MessagePack};
pub use store_errors::StoreErrors;
pub use update::Update;
