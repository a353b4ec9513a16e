//! The host tier of Polycache: one cache in memory-mapped files that every process of a machine shares,
//! in any language, without a server.
//!
//! [`Store`] is the handle. Below it is the algorithm, [`engine::Engine`], generic over its
//! [`shared_memory::SharedMemory`] and [`engine::Environment`]; `spec/host.md` describes the layout and
//! argues why no reader is ever served wrong bytes.

mod block;
#[cfg(all(not(miri), target_arch = "x86_64"))]
mod bucket_scan;
mod check;
mod clock;
mod counters;
mod directory;
pub mod engine;
mod error;
mod floors;
mod flusher;
mod ghosts;
pub mod hash;
pub mod io;
pub mod keys;
mod large;
pub mod layout;
mod lease;
mod levels;
mod loads;
pub mod mapped;
mod marks;
mod namespace;
mod options;
mod own_leases;
mod per_process;
mod platform;
mod read;
pub mod record;
mod recover;
mod scan;
mod seen;
mod shared_bytes;
pub mod shared_memory;
mod shared_words;
mod stats;
mod store;
#[cfg(test)]
mod tests;
pub mod word;
mod write;

pub use block::{Appender, Notes};
pub use check::Report;
pub use clock::Clock;
pub use directory::resolve;
pub use error::Error;
pub use lease::{Lease, Token};
pub use loads::{has_inherited, AtKey};
pub use namespace::Namespace;
pub use options::{Mode, Options};
pub use own_leases::OwnLeases;
pub use per_process::PerProcess;
#[doc(hidden)]
pub use platform::without_signals;
pub use read::Hit;
pub use shared_words::{FileLocks, SharedWords};
pub use stats::{Counts, MachineStats, ProcessStats, RemoteCounts, Stats, Usage};
pub use store::{monotonic, MemoryHits, Shared, Store};
