//! What every Rust subject of the benchmark shares: it answers the controller's lines of JSON
//! (bench/README.md, "A subject"). A subject is one file in `src/bin`: what it is called, whether it
//! writes the prefix, and how its connection is made of one of redis-rs.

mod canned;
mod dataset;
mod measure;
mod operations;
mod subject;

pub use canned::Canned;
pub use subject::{serve, Kind};
