//! What every Rust subject of the benchmark shares. A subject is one file in `src/bin` that
//! implements [`Subject`] and ends with `fn main() { polycache_bench_host::main::<Itself>() }`.

mod data;
mod lmdb;
mod locked;
mod protocol;
mod session;
mod subject;

pub use lmdb::Lmdb;
pub use locked::locked;
pub use protocol::Place;
pub use session::main;
pub use subject::{operation, Batch, Kind, Operation, Outcome, Subject};

/// What a write survives once it has returned.
pub mod durability {
    /// Nothing: a killed server has lost it.
    pub const NONE: &str = "none";
    /// The death of every process, but not of the machine.
    pub const SURVIVES_KILL: &str = "survives kill -9";
}

/// Names of the operations, the same in every language.
pub mod name {
    /// One write; in a store with transactions, a transaction each.
    pub const PUT: &str = "put";
    /// A hundred writes at once.
    pub const PUT_100: &str = "put, batches of 100";
    /// All writes of a round in one transaction.
    pub const PUT_ALL: &str = "put, one transaction";
    /// One read; in a store with transactions, a transaction each.
    pub const GET: &str = "get";
    /// A hundred reads at once.
    pub const GET_100: &str = "get, batches of 100";
    /// All reads of a round in one transaction.
    pub const GET_ALL: &str = "get, one transaction";
    /// One read as an object of the language, without a memory tier over the host tier.
    pub const GET_WITHOUT_MEMORY: &str = "get without memory tier";
    /// The same with a memory tier that holds all keys.
    pub const GET_ALL_IN_MEMORY: &str = "get with all in memory";
    /// The same with one that holds a tenth of them.
    pub const GET_TENTH_IN_MEMORY: &str = "get with a tenth in memory";
    /// A listing of all keys; only of a store with few.
    pub const KEYS: &str = "keys";
    /// A put and a get in turn.
    pub const MIXED: &str = "mixed";
}
