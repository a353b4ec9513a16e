//! Where a value was read: what a memory tier over the host tier keeps beside its object.

use crate::cache::Read;
use crate::observe::{self, Answer};
use crate::scratch::Scratch;
use crate::tier::Place;
use crate::{Cache, Error};
use polycache_entry::CLOCK_TOLERANCE_MS;
#[cfg(feature = "bindings")]
use polycache_host::Hit;

/// Where and when an entry was read. While it stands, a read of the key would find the same entry,
/// in any process (`spec/memory.md`, "Over the host tier").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    place: Place,
    /// Milliseconds since 1970.
    created: u64,
    /// Until when it may be served without a read there, in milliseconds since 1970; 0 for ever. An entry with a time to
    /// idle is to be prolonged before it expires.
    kept_until: u64,
}

impl Origin {
    #[inline]
    pub(crate) fn of(place: Place, entry: &[u8]) -> Origin {
        Origin {
            place,
            created: polycache_entry::created(entry),
            kept_until: polycache_entry::kept_until(entry),
        }
    }

    /// The number of the entry's slot in the directory. No two keys that have entries share one.
    #[must_use]
    pub fn place(&self) -> u64 {
        self.place.hit.slot
    }

    /// Whether it is known where the entry was read. If not, it never stands, and an object is not to be kept: what the
    /// server answered, and not a copy of it on this machine.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.place.is_known()
    }

    /// When the entry was written, in milliseconds since 1970.
    #[cfg(feature = "bindings")]
    #[must_use]
    pub fn created(&self) -> u64 {
        self.created
    }

    /// Until when the value may be served without a read of the directory, in milliseconds since 1970: then the entry
    /// expires, or a read is to prolong it. `None` is for ever.
    #[cfg(feature = "bindings")]
    #[must_use]
    pub fn kept_until(&self) -> Option<u64> {
        Some(self.kept_until).filter(|until| *until != 0)
    }

    /// All that it is, for a language that keeps it: slot, word, epoch, database, when the entry was created, until when it
    /// is kept.
    #[cfg(feature = "bindings")]
    #[must_use]
    pub fn words(&self) -> [u64; 6] {
        let Place { hit, database } = self.place;
        let times = [self.created, self.kept_until];
        [hit.slot, hit.word, hit.epoch, database, times[0], times[1]]
    }

    /// What [`Origin::words`] were of.
    #[cfg(feature = "bindings")]
    #[must_use]
    pub fn of_words(words: [u64; 6]) -> Origin {
        let [slot, word, epoch, database, created, kept_until] = words;
        let hit = Hit { slot, word, epoch };
        Origin {
            place: Place { hit, database },
            created,
            kept_until,
        }
    }

    /// Whether it may be served at `now` as it was read.
    fn is_valid_at(&self, now: u64) -> bool {
        self.created <= now.saturating_add(CLOCK_TOLERANCE_MS) && now < self.kept_until
    }
}

#[cfg(any(feature = "bindings", feature = "tokio"))]
impl Cache {
    /// As [`Cache::get_by_origin`], if a copy on this host answers, and nothing is to be sent.
    #[cfg_attr(not(feature = "remote"), allow(dead_code))]
    pub(crate) fn get_near_by<R>(
        &self,
        key: &[u8],
        read: impl Read<R>,
    ) -> Result<Option<(R, Origin)>, Error> {
        self.near(key, |place, scratch| {
            let origin = Origin::of(place, &scratch.entry);
            Ok((self.read_used(key, scratch, read)?, origin))
        })?
        .transpose()
    }

    /// What `f` makes of the key's entry, if a copy on this host of what a server holds answers, and nothing is to be
    /// sent.
    #[cfg_attr(not(feature = "remote"), allow(dead_code))]
    pub(crate) fn near<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Place, &mut Scratch) -> R,
    ) -> Result<Option<R>, Error> {
        self.still_open()?;
        #[cfg(feature = "remote")]
        if let Some(remote) = self.tier().remote() {
            let mut scratch = Scratch::take();
            let found = remote.copy(key, &mut scratch.entry)?;
            // With a time to idle a read may write to the server.
            let found = found.filter(|_| !polycache_entry::has_time_to_idle(&scratch.entry));
            let result = found.map(|place| {
                remote.count_near_hit();
                observe::read(self, key, self.tier().answer());
                f(place, &mut scratch)
            });
            scratch.keep();
            return Ok(result);
        }
        let _ = (key, f);
        Ok(None)
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
        let place = self.tier().get(key, &mut scratch.entry)?;
        let answer = place.map_or(Answer::Miss, |_| self.tier().answer());
        observe::read(self, key, answer);
        let result = match place {
            Some(place) => {
                let origin = Origin::of(place, &scratch.entry);
                let value = self.read_used(key, &mut scratch, read);
                value.map(|value| Some((value, origin)))
            }
            None => Ok(None),
        };
        scratch.keep();
        result
    }

    /// True while the key was not written, deleted, cleared or evicted since its value was read, and is not expired:
    /// two atomic loads, and a look at the clock where the entry has a time to live. Of a copy of what a server holds: while
    /// the copy stands, and may be served. False after [`Cache::close`].
    #[inline]
    #[must_use]
    pub(crate) fn stands(&self, origin: &Origin) -> bool {
        let stands = match self.store() {
            // No virtual call, for the hits of a memory tier over a directory.
            Some(store) => store.stands(origin.place.hit),
            None => self.tier().stands(&origin.place),
        };
        stands && (origin.kept_until == 0 || origin.is_valid_at(self.now()))
    }

    /// Tells the host tier that the entry is in use, as a read there does; for an origin that
    /// stands. Entries that are only read from memory look unused to it, and would be recycled. True when the
    /// memory tier's hits should be added to what the machine counts.
    #[inline]
    pub(crate) fn mark_visited(&self, origin: &Origin) -> bool {
        match self.store() {
            Some(store) => store.mark_visited(origin.place.hit),
            None => self.tier().mark_visited(&origin.place),
        }
    }
}
