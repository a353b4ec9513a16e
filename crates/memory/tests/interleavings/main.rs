//! Shuttle runs the production code, file by file, under randomly chosen interleavings of every atomic
//! access, lock and wait: only `sync` and `threads` are replaced here.
//!
//! Replay a failure with the seed that shuttle prints. `ITERATIONS=` explores more.
#![allow(dead_code, missing_docs)]

#[path = "../../src/bounds.rs"]
mod bounds;
#[path = "../../src/budget.rs"]
mod budget;
#[path = "../../src/builder.rs"]
mod builder;
#[path = "../../src/cache.rs"]
mod cache;
#[path = "../../src/clock.rs"]
mod clock;
#[path = "../../src/entry.rs"]
mod entry;
#[path = "../../src/error.rs"]
mod error;
#[path = "../../src/exclusive.rs"]
mod exclusive;
#[path = "../../src/get_or_set.rs"]
mod get_or_set;
#[path = "../../src/get_or_set_async.rs"]
mod get_or_set_async;
#[path = "../../src/ghosts.rs"]
mod ghosts;
#[path = "../../src/iter.rs"]
mod iter;
#[path = "../../src/lease.rs"]
mod lease;
#[path = "../../src/load.rs"]
mod load;
#[path = "../../src/loading.rs"]
mod loading;
#[path = "../../src/lock.rs"]
mod lock;
#[path = "../../src/policy.rs"]
mod policy;
#[path = "../../src/purge.rs"]
mod purge;
#[path = "../../src/queue.rs"]
mod queue;
#[path = "../../src/remove.rs"]
mod remove;
#[path = "../../src/removed.rs"]
mod removed;
#[path = "../../src/retain.rs"]
mod retain;
#[path = "../../src/set.rs"]
mod set;
#[path = "../../src/shard.rs"]
mod shard;
#[path = "../../src/stats.rs"]
mod stats;
mod sync;
#[path = "../../src/table.rs"]
mod table;
mod threads;
#[path = "../../src/ttl.rs"]
mod ttl;

mod caches;
mod loads;
mod locks;

pub use builder::{Builder, DefaultHashBuilder};
pub use cache::MemoryCache;
pub use entry::Entry;
pub use error::Error;
pub use iter::{Iter, Keys};
pub use loading::Loaded;
pub use removed::RemovalCause;
pub use stats::Stats;
pub use ttl::{Ttl, TtlLeft};

use shuttle::thread;
use std::sync::Arc;

fn explore(test: impl Fn() + Send + Sync + 'static) {
    let asked = std::env::var("ITERATIONS")
        .ok()
        .and_then(|n| n.parse().ok());
    let iterations = asked.unwrap_or(1500);
    let test = Arc::new(test);
    let random = test.clone();
    shuttle::check_random(move || random(), iterations);
    shuttle::check_pct(move || test(), iterations / 2, 3);
}

/// Runs all of them at once.
fn at_once(work: Vec<Box<dyn FnOnce() + Send>>) {
    let threads: Vec<_> = work.into_iter().map(thread::spawn).collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
