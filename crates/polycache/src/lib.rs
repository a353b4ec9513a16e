//! One cache that Rust, TypeScript, Python and Ruby processes of a machine share: memory-mapped
//! files in one directory, no server.
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path();
//! use polycache::{Cache, Ttl, Value};
//!
//! let cache = Cache::builder().path(path).namespace("shop").build()?;
//! cache.set_value(b"greeting", &Value::from("hello"), Ttl::Default)?;
//! let length = cache.get_with(b"greeting", |value| match value {
//!     Value::Text(text) => text.len(),
//!     _ => 0,
//! })?;
//! assert_eq!(length, Some(5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What every language's package does alike is `spec/semantics.md`.

mod builder;
mod cache;
pub mod compressor;
pub mod duration;
mod error;
mod lease;
mod scratch;
pub mod serializer;
pub mod size;
mod ttl;

pub use builder::Builder;
pub use cache::Cache;
pub use error::Error;
pub use lease::Leased;
pub use polycache_entry::{Compressor, Serializer, Value};
pub use polycache_host::{Clock, Report, Stats, Token};
pub use ttl::{Ttl, TtlLeft};
