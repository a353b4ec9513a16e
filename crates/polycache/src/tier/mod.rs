//! The tier that a cache's entries live in: a directory, this process' memory, a server, or another library's store.
//!
//! All answer the same questions, and only they know which it is. A memory tier of objects over a directory
//! is [`crate::memory`]'s.

#[cfg(feature = "bindings")]
mod byte_store;
mod host;
mod locks;
mod memory;
mod memory_key;
mod memory_namespaces;
mod place;
#[cfg(feature = "remote")]
mod remote;
mod stamps;
mod stored;

#[cfg(feature = "bindings")]
pub use byte_store::{
    ByteStore, Durability, Ended, NewFile, Opening, Popped, StoreKind, ValueFile,
};
#[cfg(feature = "bindings")]
pub(crate) use byte_store::{StoreOptions, StoreTier};
pub(crate) use host::HostTier;
pub(crate) use memory::{MemoryTier, Options};
pub(crate) use place::Place;
#[cfg(any(feature = "reads", all(feature = "remote", feature = "bindings")))]
pub(crate) use remote::Reads;
#[cfg(feature = "remote")]
pub(crate) use remote::{Link, LinkOptions, NearStore, RemoteTier};
#[cfg(any(feature = "reads", all(feature = "remote", feature = "bindings")))]
pub use remote::{ReadBegun, ReadOrigin, ReadTicket};
pub(crate) use stored::{Object, Stored};

use crate::observe::Answer;
use crate::Error;
use polycache_host::{Hit, MachineStats, MemoryHits, Report, Stats, Store, Token, Usage};
use polycache_operations::{Bounds, Event, Holder, Lease, Leases, Load, Step};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What an entry takes in memory beside its bytes, about: its places in the shard and in the index, what the
/// policy remembers, and what the allocator adds to two allocations.
pub(crate) const OVERHEAD: u64 = 160;

/// What a read saw; only that is changed.
pub(crate) enum Seen {
    Hit(Hit),
    Stored(Stored),
    /// In a byte store, by its mark.
    #[cfg(feature = "bindings")]
    Marked(u64),
    /// On a server, by its head.
    #[cfg(feature = "remote")]
    Record(remote::RecordHead),
}

/// One namespace of a tier.
pub(crate) trait Tier: Send + Sync {
    /// Another namespace of the same cache.
    fn namespace(&self, parts: &[String]) -> Result<Arc<dyn Tier>, Error>;
    /// The directory; empty where there is none.
    fn path(&self) -> &Path;
    /// What the namespace's full keys begin with.
    fn prefix(&self) -> &[u8];
    /// What observers call it.
    fn answer(&self) -> Answer;
    /// Whether entries leave the process, where they could be changed: then they have checksums.
    fn is_shared(&self) -> bool;

    /// Appends the key's entry to `out`, and says where it was found.
    fn get(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Place>, Error>;
    /// As `get`, for a caller that goes on to a load, which counts its miss.
    fn find(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Place>, Error>;
    /// Whether a read of the key now would find the entry that it found at this place.
    fn stands(&self, place: &Place) -> bool;
    /// Tells the tier that the entry at a place that stands is in use. True when hits of a memory tier over this one
    /// should be added to what is counted.
    fn mark_visited(&self, place: &Place) -> bool;
    /// Adds the hits of a memory tier over this one, of which there have been `all`, to what the machine counts.
    fn add_memory_hits(&self, added: &MemoryHits, all: u64);
    /// Stores an entry; `object` is its value, for tiers that keep those.
    fn put(&self, key: &[u8], entry: &[u8], object: Option<Object>) -> Result<(), Error>;
    fn delete(&self, key: &[u8]) -> Result<bool, Error>;
    /// As `delete`, of a copy or a guard: nobody asks whether it was there.
    #[cfg_attr(not(feature = "remote"), allow(dead_code))]
    fn discard(&self, key: &[u8]) -> Result<(), Error> {
        self.delete(key).map(drop)
    }
    /// The directory, which knows whether a read would find an entry again.
    fn store(&self) -> Option<&Store>;
    /// What is there now.
    fn see(&self, key: &[u8]) -> Result<Option<Seen>, Error>;
    /// Appends the key's entry to `out`, and says what is there; no use of it, and not counted.
    fn peek(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Seen>, Error>;
    /// Deletes just what was seen; false if that is gone.
    fn remove(&self, key: &[u8], seen: &Seen) -> Result<bool, Error>;
    /// Invalidates the loads of a missing key; false if it has an entry by now.
    fn invalidate_loads(&self, key: &[u8]) -> Result<bool, Error>;
    /// Stores what was seen with other times, by this entry; false if it is gone. Not counted as a write.
    fn renew(&self, key: &[u8], seen: &Seen, entry: &[u8]) -> Result<bool, Error>;
    /// Stores an entry if the key has none; false if it has one. After an error nothing has changed.
    fn add(&self, key: &[u8], entry: &[u8], object: Option<Object>) -> Result<bool, Error>;
    /// Stores an entry in the place of what was seen; false if that is gone. After an error nothing has changed.
    fn exchange(
        &self,
        key: &[u8],
        seen: &Seen,
        entry: &[u8],
        object: Option<Object>,
    ) -> Result<bool, Error>;
    /// The version of what was seen; `None` if that is gone.
    fn version(&self, key: &[u8], seen: &Seen) -> Result<Option<u64>, Error>;
    /// Prepares for reads of these keys, which follow.
    fn prefetch(&self, keys: &mut dyn Iterator<Item = &[u8]>) {
        let _ = keys;
    }
    /// Stores an entry in the place of what was seen; false if that is gone. After an error what was seen is gone as
    /// well, because it was superseded.
    fn replace(
        &self,
        key: &[u8],
        seen: &Seen,
        entry: &[u8],
        object: Option<Object>,
    ) -> Result<bool, Error>;

    /// The directory, even if it does not know whether a read would find an entry again.
    fn directory(&self) -> Option<&Store> {
        self.store()
    }

    /// Where reads are counted that the tier did not see.
    #[cfg_attr(not(feature = "bindings"), allow(dead_code))]
    fn counting(&self) -> Option<&Store> {
        self.store()
    }

    /// This tier, if another library keeps its entries.
    #[cfg(feature = "bindings")]
    fn byte_store(&self) -> Option<&StoreTier> {
        None
    }

    /// This tier, if its entries are on a server.
    #[cfg(feature = "remote")]
    fn remote(&self) -> Option<&RemoteTier> {
        None
    }

    /// Whether reads and writes may wait for a server.
    #[cfg_attr(not(feature = "tokio"), allow(dead_code))]
    fn waits(&self) -> bool {
        false
    }

    /// Begins a load of a key that was missed.
    fn begin_load(&self, key: &[u8], bounds: Bounds, now: Duration) -> TierLoad {
        let _ = key;
        TierLoad::Here(Load::new(bounds, now))
    }

    /// How old a load of this process may be that others of it join, beside `lease_timeout`.
    fn joins_within(&self) -> Option<Duration> {
        None
    }

    /// This tier, if it keeps decoded values beside their entries: views of one type call it directly.
    fn objects(&self) -> Option<MemoryTier> {
        None
    }

    fn lease(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Leased, Error>;
    fn beside(&self, key: &[u8], holder: Holder) -> Result<Option<Token>, Error>;
    /// Whether a holder took its lease from one that had died.
    fn has_inherited(&self, from: Holder, holder: Holder) -> bool {
        let _ = (from, holder);
        false
    }
    fn fill(
        &self,
        key: &[u8],
        token: Token,
        entry: &[u8],
        object: Option<Object>,
    ) -> Result<bool, Error>;
    fn release(&self, key: &[u8], token: Token);
    /// Whether a lease may still fill.
    fn is_leased(&self, key: &[u8], token: Token) -> bool;

    /// Takes the lock of a key's name, if it is free.
    fn lock(&self, key: &[u8]) -> Result<Option<Token>, Error>;
    fn unlock(&self, key: &[u8], token: Token);
    fn is_locked(&self, key: &[u8]) -> Result<bool, Error>;

    /// Counts a read that another caller's load answered, or failed to, or that was not a use until now.
    fn count_joined(&self, found: bool);

    /// Counts the read of a `take`, a hit or a miss.
    fn count_taken(&self, found: bool) {
        self.count_joined(found);
    }
    /// Counts a loaded value that could not be stored.
    fn count_unstored(&self);
    /// Counts a caller that waited in vain.
    fn count_wait_timeout(&self);

    /// Some keys of the namespace that begin with `prefix`, and where to go on.
    fn keys(
        &self,
        prefix: &[u8],
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error>;
    #[cfg_attr(not(feature = "bindings"), allow(dead_code))]
    fn full_keys(
        &self,
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error>;
    /// Clears the namespace, whose parts these are, and those nested in it.
    fn clear(&self, parts: &[String]) -> Result<(), Error>;
    /// Whether clearing looks at every key.
    #[cfg_attr(not(feature = "tokio"), allow(dead_code))]
    fn clears_slowly(&self) -> bool {
        false
    }
    fn stats(&self) -> Result<Stats, Error>;
    /// What all processes did; `None` without a directory.
    fn machine_stats(&self) -> Result<Option<MachineStats>, Error> {
        let stats = self.directory().map(Store::machine_stats);
        Ok(stats.transpose()?)
    }
    /// The namespaces that take the most space; `None` without a directory.
    fn usage(&self, most: usize) -> Result<Option<Vec<Usage>>, Error> {
        let usage = self.directory().map(|store| store.usage(most));
        Ok(usage.transpose()?)
    }
    fn check(&self) -> Result<Report, Error>;
    fn flush(&self) -> Result<(), Error>;
    fn close(&self);
    /// Closes it at once. What is left to do may wait for a server, and may be done on another thread.
    #[cfg_attr(not(feature = "tokio"), allow(dead_code))]
    fn close_without_waiting(&self) -> Option<Box<dyn FnOnce() + Send>> {
        self.close();
        None
    }
    fn is_closed(&self) -> bool;
    /// Milliseconds since 1970.
    fn now(&self) -> u64;
}

/// One caller's load of one key, in any tier.
#[derive(Debug)]
pub(crate) enum TierLoad {
    Here(Load<Token>),
    #[cfg(feature = "remote")]
    Remote(Box<remote::RemoteLoad>),
}

impl TierLoad {
    /// Takes what happened, and says what to do; see [`Load::step`].
    pub fn step(
        &mut self,
        at: &mut AtKey<'_>,
        event: Event<'_>,
        now: Duration,
    ) -> Result<Step, Error> {
        match self {
            TierLoad::Here(load) => load.step(at, event, now),
            #[cfg(feature = "remote")]
            TierLoad::Remote(load) => load.step(at, event, now),
        }
    }

    /// The right to fill, while a loader runs by one.
    pub fn fence(&self) -> Option<&Token> {
        match self {
            TierLoad::Here(load) => load.fence(),
            #[cfg(feature = "remote")]
            TierLoad::Remote(load) => load.fence(),
        }
    }

    /// Whether others may join it, or its own loader, where the load knows that itself.
    #[cfg_attr(not(feature = "bindings"), allow(dead_code))]
    pub fn is_open_itself(&self, own: bool) -> Option<bool> {
        match self {
            TierLoad::Here(_) => {
                let _ = own;
                None
            }
            #[cfg(feature = "remote")]
            TierLoad::Remote(load) => Some(load.is_open(own)),
        }
    }

    /// True until a loader of this caller has been started.
    #[cfg_attr(not(feature = "bindings"), allow(dead_code))]
    pub fn is_waiting(&self) -> bool {
        match self {
            TierLoad::Here(load) => load.is_waiting(),
            #[cfg(feature = "remote")]
            TierLoad::Remote(load) => load.is_waiting(),
        }
    }
}

/// What a tier answers a caller that would load a key, and where a hit was found.
pub(crate) struct Leased {
    pub lease: Lease<Token>,
    pub place: Option<Place>,
}

/// A key of a tier, as the machine of a load sees it.
pub(crate) struct AtKey<'a> {
    pub tier: &'a dyn Tier,
    pub key: &'a [u8],
    /// A hit's entry is appended here.
    pub entry: &'a mut Vec<u8>,
    pub place: Option<Place>,
    /// The value of the entry that is filled, for tiers that keep those.
    pub object: Option<Object>,
}

impl<'a> AtKey<'a> {
    pub fn new(tier: &'a dyn Tier, key: &'a [u8], entry: &'a mut Vec<u8>) -> AtKey<'a> {
        AtKey {
            tier,
            key,
            entry,
            place: None,
            object: None,
        }
    }
}

impl Leases for AtKey<'_> {
    type Fence = Token;
    type Error = Error;

    fn lease(&mut self) -> Result<Lease<Token>, Error> {
        let Leased { lease, place } = self.tier.lease(self.key, self.entry)?;
        self.place = place;
        Ok(lease)
    }

    fn beside(&mut self, holder: Holder) -> Result<Option<Token>, Error> {
        self.tier.beside(self.key, holder)
    }

    fn has_inherited(&self, from: Holder, holder: Holder) -> bool {
        self.tier.has_inherited(from, holder)
    }

    fn fill(&mut self, token: Token, entry: &[u8]) -> Result<bool, Error> {
        let object = self.object.take();
        self.tier.fill(self.key, token, entry, object)
    }

    fn release(&mut self, token: Token) {
        self.tier.release(self.key, token);
    }
}

/// The lock of a key's name, as the machine that waits for it sees it.
pub(crate) struct AtLock<'a> {
    pub tier: &'a dyn Tier,
    pub key: &'a [u8],
}

impl Leases for AtLock<'_> {
    type Fence = Token;
    type Error = Error;

    fn lease(&mut self) -> Result<Lease<Token>, Error> {
        Ok(match self.tier.lock(self.key)? {
            Some(token) => Lease::Acquired(token),
            None => Lease::Bypass,
        })
    }

    fn beside(&mut self, _: Holder) -> Result<Option<Token>, Error> {
        Ok(None)
    }

    fn fill(&mut self, token: Token, _: &[u8]) -> Result<bool, Error> {
        self.release(token);
        Ok(false)
    }

    fn release(&mut self, token: Token) {
        self.tier.unlock(self.key, token);
    }
}
