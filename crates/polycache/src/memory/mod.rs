//! The memory tier (`spec/memory.md`): alone, and over the host tier.

mod alone;
mod bounds;
mod key;
mod loading;
mod loads;
mod namespace;
mod objects;
mod stored;
mod typed;
mod wait;

pub(crate) use alone::{Alone, Options};
pub(crate) use bounds::Bounds;
pub(crate) use loading::Loaded;
pub(crate) use stored::{Object, Stored};
#[cfg(feature = "tokio")]
pub(crate) use typed::object;
pub use typed::{TypedCache, TypedValue};

/// What an entry takes beside its bytes, about: its places in the shard and in the index, what the
/// policy remembers, and what the allocator adds to two allocations.
const OVERHEAD: u64 = 160;
