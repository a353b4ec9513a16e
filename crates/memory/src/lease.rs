//! Loads that a caller drives itself, by the numbers of their leases. `polycache` does: its callers join
//! and wait by rules of their own.

use crate::cache::Place;
use crate::load::Load;
use crate::loading::{Loading, Step};
use crate::sync::Arc;
use crate::{Error, Loaded, MemoryCache, Ttl};
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::time::Instant;

/// The answer to a caller that would load a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leased<V> {
    /// The value is there.
    Hit(V),
    /// The caller loads, and fills by this lease.
    Acquired(u64),
    /// Another caller loads.
    Busy {
        /// The other caller's lease.
        lease: u64,
        /// When that load began.
        since: Instant,
    },
}

impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    /// Reads the key, or takes the lease to load it. A set, delete or clear invalidates a lease. Nothing
    /// is counted.
    #[doc(hidden)]
    pub fn lease<Q>(&self, key: &Q) -> Leased<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        match self.step(self.place(key), key, Load::anywhere) {
            Step::Have(value) => Leased::Hit(value),
            Step::Wait(other) => Leased::Busy {
                lease: other.number,
                since: other.since,
            },
            Step::Load(loading) => Leased::Acquired(loading.leave()),
        }
    }

    /// Stores the value loaded by a lease; false when the lease was invalidated, or the value expires at
    /// once.
    ///
    /// # Errors
    /// `EntryTooLarge`; the lease has then ended.
    #[doc(hidden)]
    pub fn fill<Q>(&self, key: &Q, lease: u64, value: V, ttl: impl Into<Ttl>) -> Result<bool, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let place = self.place(key);
        let Some(load) = self.listed(place, key, lease) else {
            return Ok(false);
        };
        let filled = Loading::of(self, place, load).end(key.to_owned(), value, ttl.into())?;
        Ok(matches!(filled, Loaded::Stored(_)))
    }

    /// Ends a lease without a value.
    #[doc(hidden)]
    pub fn release<Q>(&self, key: &Q, lease: u64)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let place = self.place(key);
        if let Some(load) = self.listed(place, key, lease) {
            drop(Loading::of(self, place, load));
        }
    }

    /// True while a lease is valid.
    #[doc(hidden)]
    #[must_use]
    pub fn is_leased<Q>(&self, key: &Q, lease: u64) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.listed(self.place(key), key, lease).is_some()
    }

    fn listed<Q>(&self, place: Place, key: &Q, lease: u64) -> Option<Arc<Load<V>>>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let shard = self.0.shards[place.shard].read(&self.0.readers);
        let load = shard.load(place.hash, key)?;
        (load.number == lease).then(|| load.clone())
    }
}
