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
    each(first, seeds, stops, |seed| {
        let run = run(seed);
        (!run.violations.is_empty()).then(|| run.story(false))
    })
}

/// The same for several hosts and a remote tier.
pub fn many_remote(first: u64, seeds: u64, stops: bool) -> Summary {
    each(first, seeds, stops, |seed| {
        let run = crate::remote::run(seed, false);
        (!run.violations.is_empty()).then(|| run.story())
    })
}

/// `fails` runs a seed, and tells its story if it broke a promise.
fn each(
    first: u64,
    seeds: u64,
    stops: bool,
    fails: impl Fn(u64) -> Option<String> + Sync,
) -> Summary {
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
            let story = fails(seed);
            ran.fetch_add(1, Ordering::Relaxed);
            if let Some(story) = story {
                let mut stories = stories.lock().unwrap_or_else(PoisonError::into_inner);
                stories.push(story);
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
