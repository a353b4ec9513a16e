//! Rust caches, serializers and compressors side by side (bench/codec/README.md).
//!
//! A table is a folder, a subject a file in it. `cargo bench --all-features` measures all of them,
//! `cargo bench --all-features -- throughput/moka` some.

pub mod bench;
pub mod buffers;
pub mod compression;
pub mod configurations;
pub mod encryption;
pub mod page;
pub mod records;
pub mod serializers;
pub mod stream;
pub mod throughput;
mod versions;

pub use versions::{locked, ours};

/// Whatever went wrong, in words.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
