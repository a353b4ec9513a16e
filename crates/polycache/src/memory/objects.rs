//! The memory tier over the host tier: objects, each served while its origin stands (`spec/memory.md`).

use super::bounds::Bounds;
#[cfg(feature = "tokio")]
use crate::async_cache::Bytes;
use crate::cache::reading_typed;
use crate::origin::Origin;
use crate::random::one_in_16;
use crate::scratch::Scratch;
use crate::tier::OVERHEAD;
use crate::{Cache, Error, Serializer};
use polycache_entry::Limits;
use polycache_host::MemoryHits;
use polycache_memory::{Doorkeeper, MemoryCache, Stats};
use serde::de::DeserializeOwned;

/// A value, and how many bytes it had.
fn decoded<T: DeserializeOwned>(
    serializer: Serializer,
    payload: &[u8],
    limits: &Limits,
) -> Result<(T, usize), polycache_entry::Error> {
    Ok((reading_typed(serializer, payload, limits)?, payload.len()))
}

/// The objects of one namespace.
pub(crate) struct Objects<T> {
    kept: MemoryCache<Box<[u8]>, Kept<T>>,
    doorkeeper: Doorkeeper,
    added: MemoryHits,
}

/// An object, where it was read, and how large it was there.
#[derive(Clone)]
struct Kept<T> {
    object: T,
    origin: Origin,
    payload: usize,
}

impl<T: DeserializeOwned + Clone + Send + Sync + 'static> Objects<T> {
    /// # Errors
    /// `InvalidArgument` for bounds of 0.
    pub fn new(bounds: Bounds) -> Result<Objects<T>, Error> {
        let kept = MemoryCache::<Box<[u8]>, Kept<T>>::builder()
            .max_entries(bounds.max_entries)
            .max_bytes(bounds.max_bytes)
            .weigher(|key, kept| {
                (key.len() + kept.payload + size_of::<Kept<T>>()) as u64 + OVERHEAD
            });
        Ok(Objects {
            kept: kept.build()?,
            doorkeeper: Doorkeeper::new(),
            added: MemoryHits::default(),
        })
    }

    /// The key's object, if a read of the host tier would give exactly that one.
    #[inline]
    pub fn get(&self, cache: &Cache, key: &[u8]) -> Option<T> {
        self.kept.get_with(key, |kept| {
            if !cache.stands(&kept.origin) {
                return None;
            }
            // Otherwise the most-read entries look unused to the host tier.
            if one_in_16() && cache.mark_visited(&kept.origin) {
                self.add_hits(cache);
            }
            Some(kept.object.clone())
        })
    }

    /// As [`Objects::get`], without being a use of it.
    pub fn peek(&self, cache: &Cache, key: &[u8]) -> Option<T> {
        let kept = self.kept.peek(key)?;
        cache.stands(&kept.origin).then_some(kept.object)
    }

    /// Reads the key from the host tier, and keeps what it finds. Objects come from nowhere else.
    pub fn read(&self, cache: &Cache, key: &[u8]) -> Result<Option<T>, Error> {
        let found = cache.get_by_origin(key, decoded);
        let Ok(Some(((object, payload), origin))) = found else {
            self.drop(key);
            return found.map(|_| None);
        };
        self.keep(key, &object, origin, payload);
        Ok(Some(object))
    }

    /// As [`Objects::read`], for a caller that goes on to a load.
    pub fn find(&self, cache: &Cache, key: &[u8]) -> Result<Option<T>, Error> {
        let found = cache.find_by(key, Origin::of, decoded);
        let Ok(Some(((object, payload), origin))) = found else {
            self.drop(key);
            return found.map(|_| None);
        };
        self.keep(key, &object, origin, payload);
        Ok(Some(object))
    }

    /// The value of the given entry, kept if its place is known.
    pub fn read_entry(
        &self,
        cache: &Cache,
        key: &[u8],
        entry: &mut Scratch,
        origin: Option<Origin>,
    ) -> Result<T, Error> {
        let (object, payload) = cache.read(key, entry, decoded)?;
        if let Some(origin) = origin {
            self.keep(key, &object, origin, payload);
        }
        Ok(object)
    }

    /// As [`Objects::find`], if a copy on this host of what a server holds answers.
    #[cfg(feature = "tokio")]
    pub fn find_near(&self, cache: &Cache, key: &[u8]) -> Result<Option<T>, Error> {
        let found = cache.get_near_by(key, decoded)?;
        Ok(found.map(|((object, payload), origin)| {
            self.keep(key, &object, origin, payload);
            object
        }))
    }

    /// As [`Objects::read_entry`], of what another thread read.
    #[cfg(feature = "tokio")]
    pub fn read_bytes(
        &self,
        cache: &Cache,
        key: &[u8],
        bytes: &Bytes,
        origin: Option<Origin>,
    ) -> Result<T, Error> {
        let (object, payload) = cache.read_bytes(key, bytes, decoded)?;
        if let Some(origin) = origin {
            self.keep(key, &object, origin, payload);
        }
        Ok(object)
    }

    /// Keeps what was read from the host tier, if there is room or it was read there lately. One that is too heavy is
    /// read there every time.
    fn keep(&self, key: &[u8], object: &T, origin: Origin, payload: usize) {
        let Objects {
            kept, doorkeeper, ..
        } = self;
        if !origin.is_known() {
            return;
        }
        if kept.is_full() && !doorkeeper.admits(origin.place(), kept.len()) {
            return;
        }
        let kept = Kept {
            object: object.clone(),
            origin,
            payload,
        };
        let _ = self.kept.set(key.into(), kept);
    }

    /// Forgets a key that this process wrote or deleted. The origin tells of changes by others.
    #[inline]
    pub fn drop(&self, key: &[u8]) {
        self.kept.delete(key);
    }

    pub fn clear(&self) {
        self.kept.clear();
    }

    pub fn stats(&self) -> Stats {
        self.kept.stats()
    }
}

impl<T> Objects<T> {
    /// Adds the hits since the last time to what the machine counts.
    #[cold]
    pub fn add_hits(&self, cache: &Cache) {
        cache.tier().add_memory_hits(&self.added, self.kept.hits());
    }
}
