//! The generated vector files, as text.

mod bytes;
pub mod dictionaries;
pub mod encrypted;
mod entries;
mod foreign;
mod malformed;
mod payloads;
pub mod weights;

use std::path::PathBuf;

/// `spec/vectors`.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors")
}

/// Name and text of each generated file.
pub fn files() -> [(&'static str, String); 2] {
    [
        ("entries.rust.json", entries::text()),
        ("malformed.json", malformed::text()),
    ]
}

/// One row per line, so that a change shows as the lines it changes.
fn lines(rows: impl Iterator<Item = String>) -> String {
    format!("[\n{}\n]\n", rows.collect::<Vec<_>>().join(",\n"))
}
