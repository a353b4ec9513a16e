//! The host tier: a namespace of a directory.

use super::{Leased, Object, Place, Seen, Tier};
use crate::observe::Answer;
use crate::Error;
use polycache_host::{
    AtKey, Lease as HostLease, MemoryHits, Namespace, Report, Stats, Store, Token,
};
use polycache_operations::{Holder, Leases};
use std::path::Path;
use std::sync::Arc;

pub(crate) struct HostTier {
    store: Store,
    namespace: Namespace,
    /// Of the locks that belong to it.
    locks: Namespace,
}

impl HostTier {
    /// # Errors
    /// `InvalidArgument` for an empty part.
    pub fn new(store: Store, parts: &[String]) -> Result<HostTier, Error> {
        let namespace = store.namespace(parts)?;
        Ok(HostTier {
            locks: store.locks_of(&namespace),
            namespace,
            store,
        })
    }

    /// The handle on the directory.
    #[cfg(feature = "remote")]
    pub fn handle(&self) -> Store {
        self.store.clone()
    }

    /// The namespace with a prefix that no user's has; see [`Store::reserved`].
    #[cfg(feature = "remote")]
    pub fn reserved(store: Store, prefix: Vec<u8>) -> HostTier {
        let namespace = store.reserved(prefix);
        HostTier {
            locks: store.locks_of(&namespace),
            namespace,
            store,
        }
    }

    fn at<'a>(&'a self, key: &'a [u8], entry: &'a mut Vec<u8>) -> AtKey<'a> {
        AtKey::new(&self.store, &self.namespace, key, entry)
    }
}

impl Tier for HostTier {
    fn namespace(&self, parts: &[String]) -> Result<Arc<dyn Tier>, Error> {
        Ok(Arc::new(HostTier::new(self.store.clone(), parts)?))
    }

    fn path(&self) -> &Path {
        // The store's files lie in a folder of their layout's version.
        self.store.path().parent().unwrap_or(self.store.path())
    }

    #[inline]
    fn prefix(&self) -> &[u8] {
        self.namespace.prefix()
    }

    fn answer(&self) -> Answer {
        Answer::Host
    }

    fn is_shared(&self) -> bool {
        true
    }

    #[inline]
    fn get(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Place>, Error> {
        Ok(self.store.get(&self.namespace, key, out)?.map(Place::from))
    }

    fn find(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Place>, Error> {
        Ok(self.store.find(&self.namespace, key, out)?.map(Place::from))
    }

    #[inline]
    fn stands(&self, place: &Place) -> bool {
        self.store.stands(place.hit)
    }

    #[inline]
    fn mark_visited(&self, place: &Place) -> bool {
        self.store.mark_visited(place.hit)
    }

    fn add_memory_hits(&self, added: &MemoryHits, all: u64) {
        added.add(&self.store, all);
    }

    #[inline]
    fn put(&self, key: &[u8], entry: &[u8], _: Option<Object>) -> Result<(), Error> {
        Ok(self.store.put(&self.namespace, key, entry)?)
    }

    #[inline]
    fn delete(&self, key: &[u8]) -> Result<bool, Error> {
        Ok(self.store.delete(&self.namespace, key)?)
    }

    fn discard(&self, key: &[u8]) -> Result<(), Error> {
        Ok(self.store.discard(&self.namespace, key)?)
    }

    fn store(&self) -> Option<&Store> {
        Some(&self.store)
    }

    fn see(&self, key: &[u8]) -> Result<Option<Seen>, Error> {
        Ok(self
            .get(key, &mut Vec::new())?
            .map(|place| Seen::Hit(place.hit)))
    }

    fn peek(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<Seen>, Error> {
        let hit = self.store.peek(&self.namespace, key, out)?;
        Ok(hit.map(Seen::Hit))
    }

    fn remove(&self, key: &[u8], seen: &Seen) -> Result<bool, Error> {
        let Seen::Hit(hit) = seen else {
            return Ok(false);
        };
        Ok(self.store.remove(&self.namespace, key, *hit)?)
    }

    fn invalidate_loads(&self, key: &[u8]) -> Result<bool, Error> {
        Ok(self.store.invalidate_loads(&self.namespace, key)?)
    }

    fn renew(&self, key: &[u8], seen: &Seen, entry: &[u8]) -> Result<bool, Error> {
        let Seen::Hit(hit) = seen else {
            return Ok(false);
        };
        Ok(self.store.replace(&self.namespace, key, *hit, entry)?)
    }

    fn add(&self, key: &[u8], entry: &[u8], _: Option<Object>) -> Result<bool, Error> {
        Ok(self.store.add(&self.namespace, key, entry)?)
    }

    fn exchange(
        &self,
        key: &[u8],
        seen: &Seen,
        entry: &[u8],
        _: Option<Object>,
    ) -> Result<bool, Error> {
        let exchanged = self.renew(key, seen, entry)?;
        if exchanged {
            self.store.count_write();
        }
        Ok(exchanged)
    }

    fn version(&self, key: &[u8], seen: &Seen) -> Result<Option<u64>, Error> {
        let Seen::Hit(hit) = seen else {
            return Ok(None);
        };
        Ok(self.store.version(&self.namespace, key, *hit)?)
    }

    fn prefetch(&self, keys: &mut dyn Iterator<Item = &[u8]>) {
        self.store.prefetch(&self.namespace, keys);
    }

    fn replace(
        &self,
        key: &[u8],
        seen: &Seen,
        entry: &[u8],
        _: Option<Object>,
    ) -> Result<bool, Error> {
        let Seen::Hit(hit) = seen else {
            return Ok(false);
        };
        let replaced = self.store.replace(&self.namespace, key, *hit, entry);
        match &replaced {
            Ok(true) => self.store.count_write(),
            Ok(false) => {}
            Err(_) => {
                // If it was closed meanwhile, it is not read through this handle.
                let _ = self.store.remove(&self.namespace, key, *hit);
            }
        }
        Ok(replaced?)
    }

    fn lease(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Leased, Error> {
        let mut at = self.at(key, out);
        let lease = at.lease()?;
        Ok(Leased {
            lease,
            place: at.hit.map(Place::from),
        })
    }

    fn beside(&self, key: &[u8], holder: Holder) -> Result<Option<Token>, Error> {
        Ok(self.at(key, &mut Vec::new()).beside(holder)?)
    }

    fn has_inherited(&self, from: Holder, holder: Holder) -> bool {
        polycache_host::has_inherited(from, holder)
    }

    fn fill(
        &self,
        key: &[u8],
        token: Token,
        entry: &[u8],
        _: Option<Object>,
    ) -> Result<bool, Error> {
        Ok(self.store.fill(&self.namespace, key, token, entry)?)
    }

    fn release(&self, key: &[u8], token: Token) {
        self.at(key, &mut Vec::new()).release(token);
    }

    fn is_leased(&self, _: &[u8], token: Token) -> bool {
        self.store.may_fill(&self.namespace, token)
    }

    fn lock(&self, key: &[u8]) -> Result<Option<Token>, Error> {
        if self.store.is_read_only() {
            self.store.check_may_change()?;
        }
        match self.store.lease(&self.locks, key, &mut Vec::new())? {
            HostLease::Acquired(token) => Ok(Some(token)),
            HostLease::Hit(_) | HostLease::Busy { .. } | HostLease::Bypass => Ok(None),
        }
    }

    fn unlock(&self, _: &[u8], token: Token) {
        self.store.release(token);
    }

    fn is_locked(&self, key: &[u8]) -> Result<bool, Error> {
        Ok(self.store.is_leased(&self.locks, key)?)
    }

    fn count_joined(&self, found: bool) {
        self.store.count_joined(found);
    }

    fn count_unstored(&self) {
        self.store.count_unstored();
    }

    fn count_wait_timeout(&self) {
        self.store.count_wait_timeout();
    }

    fn keys(
        &self,
        prefix: &[u8],
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        Ok(self
            .store
            .keys(&self.namespace, prefix, cursor, budget, out)?)
    }

    fn full_keys(
        &self,
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        Ok(self.store.full_keys(cursor, budget, out)?)
    }

    fn clear(&self, _: &[String]) -> Result<(), Error> {
        Ok(self.store.clear(&self.namespace)?)
    }

    fn stats(&self) -> Result<Stats, Error> {
        Ok(self.store.stats()?)
    }

    fn check(&self) -> Result<Report, Error> {
        Ok(self.store.check()?)
    }

    fn flush(&self) -> Result<(), Error> {
        Ok(self.store.flush()?)
    }

    fn close(&self) {
        self.store.close();
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.store.is_closed()
    }

    #[inline]
    fn now(&self) -> u64 {
        self.store.now()
    }
}
