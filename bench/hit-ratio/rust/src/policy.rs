//! What every eviction policy offers, and the list of them.

mod clock;
mod fifo;
mod lru;
mod opt;
mod polycache;
mod polycache_host;
mod s3_fifo;
mod sieve;
pub mod two_queue_clock;
mod w_tinylfu;

use crate::Error;

/// A key. The keys of a trace are 0, 1, 2 and so on, so that arrays serve as maps.
pub type Key = u32;

/// A cache of keys: entries all cost the same, and values do not matter.
pub trait Policy {
    /// Asks for a key. True for a hit; after a miss the key has been offered to the cache.
    fn access(&mut self, key: Key) -> bool;

    /// How many keys are in the cache.
    fn len(&self) -> usize;

    /// True before the first key.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a policy is made for.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// Entries that fit, at least 1.
    pub capacity: usize,
    /// Every key is below this.
    pub keys: usize,
    /// All future requests, in order. Only OPT may look at it.
    pub requests: &'a [Key],
}

/// A policy as the simulation starts it.
pub struct Subject {
    /// What rows call it.
    pub name: &'static str,
    /// Said in every row.
    pub note: &'static str,
    /// An empty cache, or why there is none of this kind.
    pub build: fn(&Setting<'_>) -> Result<Box<dyn Policy>, Error>,
}

/// All policies, in the order of the report: ours, the bound, then by age.
pub const SUBJECTS: &[Subject] = &[
    polycache::SUBJECT,
    polycache_host::SUBJECT,
    opt::SUBJECT,
    fifo::SUBJECT,
    lru::SUBJECT,
    clock::SUBJECT,
    w_tinylfu::SUBJECT,
    s3_fifo::SUBJECT,
    sieve::SUBJECT,
    two_queue_clock::SUBJECT,
];

/// The policy of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Subject> {
    SUBJECTS.iter().find(|subject| subject.name == name)
}
