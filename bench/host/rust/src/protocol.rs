//! The lines between the controller and a worker: one JSON object each (bench/host/README.md).

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Where a subject keeps its store.
#[derive(Deserialize)]
pub struct Place {
    /// A directory of its own.
    pub directory: PathBuf,
    /// Byte limit, for a store that has one.
    pub limit: u64,
    /// How many keys there are.
    pub keys: u64,
    /// Port of the local Redis.
    pub redis_port: u16,
    /// Where the keys and values are.
    pub data: PathBuf,
}

/// What the controller asks.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Request {
    Open(Place),
    Fill {
        passes: u32,
    },
    Run {
        operation: String,
        count: usize,
    },
    /// Times each operation by itself.
    Tail {
        operation: String,
        count: usize,
    },
    Race {
        operation: String,
        /// When to begin, by the system's monotonic clock.
        start_ns: u64,
        seconds: f64,
    },
    Close,
}

/// What a worker answers.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Reply {
    Opened {
        subject: &'static str,
        bounded: bool,
        versions: Vec<(&'static str, String)>,
        operations: Vec<OperationInfo>,
    },
    Filled {
        turns: f64,
    },
    Ran {
        seconds: f64,
        misses: u64,
    },
    /// Nanoseconds that all but one of 100, and all but one of 1,000 operations took at most.
    Tailed {
        p99: u64,
        p999: u64,
        misses: u64,
    },
    Raced {
        /// The start was over before the keys were put together; nothing was done.
        late: bool,
        seconds: f64,
        count: usize,
        misses: u64,
    },
    Closed {},
    Failed {
        error: String,
    },
}

/// An operation as the controller sees it.
#[derive(Serialize)]
pub struct OperationInfo {
    pub name: &'static str,
    pub durability: &'static str,
}
