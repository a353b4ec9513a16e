//! Namespaces of the memory tier, and how they are cleared.
//!
//! A namespace has a generation, a number that no other ever has, and its keys begin with that. To clear one is to give
//! it, and those nested in it, new numbers: from then on what was there before is not found, whatever reads, writes and
//! loads are under way.

use crate::Error;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A namespace.
pub(crate) struct Namespace {
    /// The beginning of its full keys (`spec/keys.md`).
    pub prefix: Vec<u8>,
    generation: AtomicU64,
}

impl Namespace {
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }
}

/// Every namespace that has handles or entries.
#[derive(Default)]
pub(crate) struct Namespaces(Mutex<Known>);

#[derive(Default)]
struct Known {
    by_parts: HashMap<Vec<String>, Weak<Namespace>>,
    /// Look for unused ones when this many are known.
    tidy_at: usize,
    last_generation: u64,
}

/// How many namespaces are known before unused ones are looked for.
const FEW: usize = 64;

impl Namespaces {
    /// The namespace of these parts; all callers get the same.
    ///
    /// # Errors
    /// `InvalidArgument` for an empty part.
    pub fn get(&self, parts: &[String]) -> Result<Arc<Namespace>, Error> {
        let prefix = polycache_host::keys::prefix(parts)?;
        let mut known = self.lock();
        if let Some(there) = known.by_parts.get(parts).and_then(Weak::upgrade) {
            return Ok(there);
        }
        if known.by_parts.len() >= known.tidy_at.max(FEW) {
            known
                .by_parts
                .retain(|_, namespace| namespace.strong_count() > 0);
            known.tidy_at = 2 * known.by_parts.len();
        }
        let namespace = Arc::new(Namespace {
            prefix,
            generation: AtomicU64::new(known.next()),
        });
        known
            .by_parts
            .insert(parts.to_vec(), Arc::downgrade(&namespace));
        Ok(namespace)
    }

    /// Gives this namespace and those nested in it new generations.
    pub fn clear(&self, parts: &[String]) {
        let mut known = self.lock();
        let inside = known.by_parts.iter();
        let inside: Vec<Arc<Namespace>> = inside
            .filter(|(other, _)| other.starts_with(parts))
            .filter_map(|(_, namespace)| namespace.upgrade())
            .collect();
        for namespace in inside {
            let generation = known.next();
            namespace.generation.store(generation, Ordering::Release);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // A thread that panicked left it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn next(&mut self) -> u64 {
        self.last_generation += 1;
        self.last_generation
    }
}
