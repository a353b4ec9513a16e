//! The commands, one a file.

pub mod check;
pub mod clear;
pub mod delete;
pub mod get;
pub mod keys;
pub mod set;
pub mod stats;
pub mod train_dictionary;
