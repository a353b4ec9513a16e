//! Where a cache's entries are: in a directory, or in this process' memory alone.

use crate::memory::{Alone, Object};
use crate::Error;
use polycache_host::{Namespace, Report, Stats, Store};
use std::path::Path;

/// A namespace of one or the other.
pub(crate) enum Tier {
    Host(Host),
    Alone(Alone),
}

/// A namespace of a directory.
pub(crate) struct Host {
    pub store: Store,
    pub namespace: Namespace,
}

impl Tier {
    /// Another namespace of the same cache.
    pub fn namespace(&self, parts: &[String]) -> Result<Tier, Error> {
        Ok(match self {
            Tier::Host(host) => Tier::Host(Host {
                namespace: host.store.namespace(parts)?,
                store: host.store.clone(),
            }),
            Tier::Alone(alone) => Tier::Alone(alone.namespace(parts)?),
        })
    }

    /// What only a directory has.
    pub fn host(&self) -> Result<&Host, Error> {
        match self {
            Tier::Host(host) => Ok(host),
            Tier::Alone(_) => Err(Error::invalid(
                "a cache without a path has neither leases nor origins: use get_or_set",
            )),
        }
    }

    pub fn path(&self) -> &Path {
        match self {
            // The store's files lie in a folder of their layout's version.
            Tier::Host(Host { store, .. }) => store.path().parent().unwrap_or(store.path()),
            Tier::Alone(_) => Path::new(""),
        }
    }

    /// What the namespace's full keys begin with.
    #[inline]
    pub fn prefix(&self) -> &[u8] {
        match self {
            Tier::Host(host) => host.namespace.prefix(),
            Tier::Alone(alone) => alone.prefix(),
        }
    }

    /// Appends the key's entry to `out`; false is a miss.
    #[inline]
    pub fn get(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool, Error> {
        match self {
            Tier::Host(host) => Ok(host.store.get(&host.namespace, key, out)?.is_some()),
            Tier::Alone(alone) => {
                let found = alone.read(key, |stored| out.extend_from_slice(&stored.entry))?;
                Ok(found.is_some())
            }
        }
    }

    /// Stores an entry; `object` is its value, for tiers that keep those.
    #[inline]
    pub fn put(
        &self,
        key: &[u8],
        entry: &[u8],
        object: impl FnOnce() -> Option<Object>,
    ) -> Result<(), Error> {
        match self {
            Tier::Host(host) => Ok(host.store.put(&host.namespace, key, entry)?),
            Tier::Alone(alone) => alone.put(key, entry, object()),
        }
    }

    #[inline]
    pub fn delete(&self, key: &[u8]) -> Result<bool, Error> {
        match self {
            Tier::Host(host) => Ok(host.store.delete(&host.namespace, key)?),
            Tier::Alone(alone) => alone.delete(key),
        }
    }

    /// Memory gives all its keys at once.
    pub fn keys(
        &self,
        prefix: &[u8],
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        match self {
            Tier::Host(Host { store, namespace }) => {
                Ok(store.keys(namespace, prefix, cursor, budget, out)?)
            }
            Tier::Alone(alone) => alone.keys(prefix, out).map(|()| None),
        }
    }

    pub fn full_keys(
        &self,
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        match self {
            Tier::Host(host) => Ok(host.store.full_keys(cursor, budget, out)?),
            Tier::Alone(alone) => alone.full_keys(out).map(|()| None),
        }
    }

    /// Clears the namespace, whose parts these are.
    pub fn clear(&self, parts: &[String]) -> Result<(), Error> {
        match self {
            Tier::Host(host) => Ok(host.store.clear(&host.namespace)?),
            Tier::Alone(alone) => alone.clear(parts),
        }
    }

    pub fn stats(&self) -> Result<Stats, Error> {
        match self {
            Tier::Host(host) => Ok(host.store.stats()?),
            Tier::Alone(alone) => alone.stats(),
        }
    }

    pub fn check(&self) -> Result<Report, Error> {
        match self {
            Tier::Host(host) => Ok(host.store.check()?),
            Tier::Alone(alone) => alone.check(),
        }
    }

    pub fn flush(&self) -> Result<(), Error> {
        match self {
            Tier::Host(host) => Ok(host.store.flush()?),
            Tier::Alone(alone) => alone.still_open(),
        }
    }

    pub fn close(&self) {
        match self {
            Tier::Host(host) => host.store.close(),
            Tier::Alone(alone) => alone.close(),
        }
    }

    #[inline]
    pub fn is_closed(&self) -> bool {
        match self {
            Tier::Host(host) => host.store.is_closed(),
            Tier::Alone(alone) => alone.is_closed(),
        }
    }

    #[inline]
    pub fn now(&self) -> u64 {
        match self {
            Tier::Host(host) => host.store.now(),
            Tier::Alone(alone) => alone.now(),
        }
    }
}
