#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod bounds;
mod budget;
mod builder;
mod cache;
mod clock;
mod doorkeeper;
mod entry;
mod error;
mod exclusive;
mod get_or_set;
mod get_or_set_async;
mod get_or_set_many;
mod get_with;
mod ghosts;
mod iter;
mod lease;
mod load;
mod loading;
mod lock;
mod many;
mod policy;
mod purge;
mod queue;
mod remove;
mod removed;
mod retain;
mod set;
mod shard;
mod stats;
mod sync;
mod table;
mod threads;
mod ttl;

pub use builder::{Builder, DefaultHashBuilder};
pub use cache::MemoryCache;
pub use doorkeeper::Doorkeeper;
pub use entry::Entry;
pub use error::Error;
pub use iter::{Iter, Keys};
#[doc(hidden)]
pub use lease::Leased;
pub use loading::Loaded;
pub use removed::RemovalCause;
pub use stats::Stats;
pub use ttl::{Ttl, TtlLeft};
