//! Objects in this process' memory: `polycache.MemoryCache`, and the memory tier of `polycache.Cache`.
//!
//! **No lock is held over Python code.** The engine (`crates/memory`) locks a shard for each
//! operation, and under that lock calls `Eq` of keys and `Clone` of values. Had these run code of
//! users, it could use the cache that waits for it, or let another thread run that waits for the lock
//! and never gives the interpreter back. Hence:
//!
//! - A key is hashed before the operation begins, and its hash is kept (`key.rs`).
//! - Keys are compared under the lock only where no code of users can run: by identity, and by value
//!   where both are of built-in types whose comparison is C code that neither allocates what the
//!   garbage collector looks at, nor lets another thread run. For any other two keys with the same
//!   hash the engine is told that they differ, and the pair is noted. An operation that noted one
//!   changes nothing (it found nothing to delete or touch; a write is refused by `set_if`). It then
//!   lets go of the lock, has Python compare the pair, and begins anew with the verdicts; it holds
//!   both objects meanwhile, so that no other can have their address (`equality.rs`).
//! - Cloning a value is adding a reference to it. The entry has one of its own, so that this can't be
//!   the last that goes.
//! - What leaves the cache is dropped by the engine after the lock, and so is everything that is told
//!   to a listener. Weights, copies, times to live and the clock are asked for before an operation.
//!
//! The engine is called only by threads that are attached to the interpreter. Nothing that happens
//! under a lock detaches one or can make it wait for others to stop, so that a thread that has a lock is always
//! on its way out: in a build with the GIL no thread ever meets a taken lock, not even in a child that
//! another thread forks; in one without, a thread that waits is one that a stop of all others
//! (for the garbage collector) waits for, for the time of a few links. Hits and replacing writes of
//! the first build take no lock at all (`unlocked.rs`).

mod arguments;
mod cache;
mod cache_load;
mod equality;
pub mod fast;
mod isolation;
mod key;
mod listener;
mod methods;
mod numbers;
mod object;
mod options;
mod over_host;
mod plain_copy;
mod size;
mod slots;
mod tier;
mod tier_atomic;
mod tier_load;
mod tier_operations;
mod unlocked;

pub use arguments::{class as quick_arguments, Arguments};
pub use cache::{copy, MemoryCache};
pub use isolation::{copy_in, copy_out, decoded};
pub use key::hash;
pub use options::choice;
pub use over_host::{MemoryOptions, MemoryOverHost};
pub use tier::{MemoryTier, Stored};
