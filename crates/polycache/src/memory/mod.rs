//! The memory tier over the host tier, and views of one type (`spec/memory.md`).

mod bounds;
mod objects;
mod typed;

pub(crate) use bounds::Bounds;
pub use typed::{TypedCache, TypedValue};
