//! The commands, one per file.

pub mod check;
pub mod clear;
pub mod completions;
pub mod delete;
pub mod get;
pub mod keys;
pub mod man;
pub mod serve;
pub mod server;
pub mod set;
pub mod stats;
pub mod top;
pub mod train_dictionary;
pub mod usage;
