//! Where a value was read: what a memory tier over the host tier keeps beside its object.

use crate::cache::Read;
use crate::observe::{self, Answer};
use crate::scratch::Scratch;
use crate::{Cache, Error};
use polycache_entry::CLOCK_TOLERANCE_MS;
use polycache_host::Hit;

/// Where and when an entry was read. While it stands, a read of the key would find the same entry,
/// in any process (`spec/memory.md`, "Over the host tier").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    hit: Hit,
    /// Milliseconds since 1970.
    created: u64,
    /// Milliseconds since 1970, 0 for never.
    expires: u64,
}

impl Origin {
    #[inline]
    pub(crate) fn of(hit: Hit, entry: &[u8]) -> Origin {
        Origin {
            hit,
            created: polycache_entry::created(entry),
            expires: polycache_entry::expires(entry),
        }
    }

    /// The number of the entry's slot in the directory. No two keys that have entries share one.
    #[must_use]
    pub fn place(&self) -> u64 {
        self.hit.slot
    }

    /// When the entry was written, in milliseconds since 1970.
    #[cfg(feature = "bindings")]
    #[must_use]
    pub fn created(&self) -> u64 {
        self.created
    }

    /// When the entry expires, in milliseconds since 1970; `None` is never.
    #[cfg(feature = "bindings")]
    #[must_use]
    pub fn expires(&self) -> Option<u64> {
        Some(self.expires).filter(|expires| *expires != 0)
    }

    /// Whether a reader would serve it at `now`.
    fn is_valid_at(&self, now: u64) -> bool {
        self.created <= now.saturating_add(CLOCK_TOLERANCE_MS) && now < self.expires
    }
}

impl Cache {
    /// Reads the key, and says where its value was found.
    #[inline]
    pub(crate) fn get_by_origin<R>(
        &self,
        key: &[u8],
        read: impl Read<R>,
    ) -> Result<Option<(R, Origin)>, Error> {
        let mut scratch = Scratch::take();
        let hit = self.tier().get(key, &mut scratch.entry)?;
        let answer = hit.map_or(Answer::Miss, |_| self.tier().answer());
        observe::read(self, key, answer);
        let result = match hit {
            Some(hit) => {
                let origin = Origin::of(hit, &scratch.entry);
                let value = self.read(key, &mut scratch, read);
                value.map(|value| Some((value, origin)))
            }
            None => Ok(None),
        };
        scratch.keep();
        result
    }

    /// True while the key was not written, deleted, cleared or evicted since its value was read, and is not expired:
    /// two atomic loads, and a look at the clock where the entry has a time to live. False after [`Cache::close`].
    #[inline]
    #[must_use]
    pub(crate) fn stands(&self, origin: &Origin) -> bool {
        self.store().is_some_and(|store| store.stands(origin.hit))
            && (origin.expires == 0 || origin.is_valid_at(self.now()))
    }

    /// Tells the host tier that the entry is in use, as a read there does; for an origin that
    /// stands. Entries that are only read from memory look unused to it, and would be recycled. True when the
    /// memory tier's hits should be added to what the machine counts.
    #[inline]
    pub(crate) fn mark_visited(&self, origin: &Origin) -> bool {
        self.store()
            .is_some_and(|store| store.mark_visited(origin.hit))
    }
}
