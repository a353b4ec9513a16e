//! Many seeds, on all cores.

use crate::run;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The result of many seeds.
pub struct Summary {
    /// Number of seeds that were run.
    pub ran: u64,
    /// Number of seeds that broke a promise.
    pub failed: u64,
    /// The stories of failed seeds.
    pub stories: Vec<String>,
}

/// Runs this many seeds from the first on; if `stops`, only until one fails.
pub fn many(first: u64, seeds: u64, stops: bool) -> Summary {
    let next = AtomicU64::new(first);
    let ran = AtomicU64::new(0);
    let stopped = AtomicBool::new(false);
    let stories = Mutex::new(Vec::new());
    let work = || {
        while !stopped.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + seeds {
                return;
            }
            let run = run(seed);
            ran.fetch_add(1, Ordering::Relaxed);
            if !run.violations.is_empty() {
                let mut stories = stories.lock().unwrap_or_else(PoisonError::into_inner);
                stories.push(run.story(false));
                stopped.store(stops, Ordering::Relaxed);
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(work);
        }
    });
    let stories = stories.into_inner().unwrap_or_else(PoisonError::into_inner);
    Summary {
        ran: ran.into_inner(),
        failed: stories.len() as u64,
        stories,
    }
}
