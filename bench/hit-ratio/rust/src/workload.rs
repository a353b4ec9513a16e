//! What is asked for: generated and recorded traces.

pub mod loops;
pub mod recorded;
pub mod scans;
pub mod zipf;

use crate::policy::Key;
use crate::Error;

/// Requests in their order.
pub struct Trace {
    /// Every key is below this.
    pub keys: usize,
    /// The keys that are asked for.
    pub requests: Vec<Key>,
}

/// A kind of trace.
pub struct Workload {
    /// What rows call it.
    pub name: String,
    /// Said in every row.
    pub note: String,
    /// How many traces there are of it: the seeds are 0, 1 and so on.
    pub seeds: u64,
    /// About how many requests a trace has, for the time left.
    pub requests: usize,
    /// Cache sizes in entries.
    pub capacities: Capacities,
    /// Makes or reads the trace.
    pub source: Box<dyn Source>,
}

/// Where traces come from.
pub trait Source: Sync {
    /// The trace of this seed, always the same.
    ///
    /// # Errors
    /// When a file cannot be read.
    fn trace(&self, seed: u64) -> Result<Trace, Error>;
}

/// Cache sizes in entries.
#[derive(Clone)]
pub enum Capacities {
    /// As they are.
    Entries(Vec<usize>),
    /// Thousandths of the trace's keys.
    PerMille(Vec<usize>),
}

impl Capacities {
    /// The sizes for a trace of so many keys.
    #[must_use]
    pub fn of(&self, keys: usize) -> Vec<usize> {
        match self {
            Capacities::Entries(entries) => entries.clone(),
            Capacities::PerMille(shares) => shares
                .iter()
                .map(|share| (keys * share / 1000).max(1))
                .collect(),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Capacities::Entries(all) | Capacities::PerMille(all) => all.len(),
        }
    }

    /// True when there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
