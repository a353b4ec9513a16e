//! Caches of one type, whose values stay decoded in memory.

mod many;
mod seen;

use super::objects::Objects;
#[cfg(feature = "tokio")]
use crate::async_cache::Bytes;
#[cfg(feature = "tokio")]
use crate::caller::NearView;
use crate::caller::{Cached, View};
use crate::driver;
use crate::observe::{self, Answer, What};
use crate::origin::Origin;
use crate::scratch::Scratch;
use crate::tier::{MemoryTier, Object, Stored};
use crate::{Cache, Error, Keys, MemoryStats, Stats, Ttl, TtlLeft};
use polycache_entry::{encode_typed, EntryOptions};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// What a [`TypedCache`] takes: any serde type that can be copied and shared. An [`Arc`] is cheapest to copy (serde's
/// feature `rc` makes it a serde type). `Clone` must not use the cache: others may be waiting for it.
pub trait TypedValue: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + Send + Sync + 'static> TypedValue for T {}

/// A cache whose values are all of one type and stay decoded in this process's memory: a hit is a clone of the object.
/// From [`Cache::typed`].
///
/// Over a directory it has a memory tier of its own, of the size that
/// [`Builder::max_entries`](crate::Builder::max_entries) and [`Builder::max_bytes`](crate::Builder::max_bytes) say. An
/// object is served only while a read of the directory would find the same entry that it came from; two atomic loads
/// tell. So a read that begins after a write was acknowledged, by any process in any language, never gives an older
/// value. Without a directory, the object is kept beside the encoded entry, which untyped handles and other types read.
///
/// Make one and keep it, or clone it: clones share their objects.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path();
/// use polycache::Cache;
///
/// #[derive(Clone, serde::Serialize, serde::Deserialize)]
/// struct User { name: String, age: u8 }
///
/// let cache = Cache::builder().path(path).namespace("users").build()?;
/// let users = cache.typed::<User>()?;
/// users.set("1", &User { name: "Ada".into(), age: 36 })?;
/// let ada = users.get("1")?.expect("it was set"); // from the directory, decoded
/// let ada = users.get("1")?.expect("it was set"); // from memory
/// assert_eq!((ada.name.as_str(), users.memory_stats().hits), ("Ada", 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TypedCache<T: TypedValue>(Arc<Inner<T>>);

struct Inner<T> {
    cache: Cache,
    objects: Kept<T>,
}

impl<T> Drop for Inner<T> {
    fn drop(&mut self) {
        if let Kept::Here(objects) = &self.objects {
            objects.add_hits(&self.cache);
        }
    }
}

impl<T: TypedValue> Clone for TypedCache<T> {
    fn clone(&self) -> Self {
        TypedCache(self.0.clone())
    }
}

impl<T: TypedValue> fmt::Debug for TypedCache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedCache")
            .field("cache", &self.0.cache)
            .field("type", &std::any::type_name::<T>())
            .finish_non_exhaustive()
    }
}

/// Where decoded values are kept.
enum Kept<T> {
    Nowhere,
    /// In a memory tier over a directory.
    Here(Objects<T>),
    /// Beside their entries.
    BesideEntries(MemoryTier),
}

/// What was found where objects are kept beside their entries.
enum ObjectOrEntry<T> {
    Object(T),
    /// No typed handle decoded it, or only one of another type.
    Entry(Arc<[u8]>),
}

impl<T: TypedValue> ObjectOrEntry<T> {
    #[inline]
    fn of(stored: &Stored) -> ObjectOrEntry<T> {
        let object = stored.object.as_ref();
        match object.and_then(|object| object.downcast_ref::<T>()) {
            Some(object) => ObjectOrEntry::Object(object.clone()),
            None => ObjectOrEntry::Entry(stored.entry.clone()),
        }
    }
}

impl Cache {
    /// This cache's namespace with values of one type, which stay decoded in memory.
    ///
    /// # Errors
    /// `Closed`.
    pub fn typed<T: TypedValue>(&self) -> Result<TypedCache<T>, Error> {
        self.still_open()?;
        let objects = match (self.tier().objects(), self.settings().memory) {
            (Some(tier), _) => Kept::BesideEntries(tier),
            (None, Some(bounds)) => Kept::Here(Objects::new(bounds)?),
            (None, None) => Kept::Nowhere,
        };
        Ok(TypedCache(Arc::new(Inner {
            cache: self.clone(),
            objects,
        })))
    }
}

/// The form in which a value is kept beside its entry.
fn object<T: TypedValue>(value: &T) -> Object {
    Arc::new(value.clone())
}

impl<T: TypedValue> TypedCache<T> {
    /// The cache that it is a view of.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.0.cache
    }

    /// A cache of a nested namespace, with objects of its own; see [`Cache::namespace`].
    ///
    /// # Errors
    /// `InvalidArgument` for an empty part, `Closed`.
    pub fn namespace(&self, part: impl Into<String>) -> Result<TypedCache<T>, Error> {
        self.0.cache.namespace(part)?.typed()
    }

    /// The key's value; `None` is a miss.
    ///
    /// # Errors
    /// Those of [`Cache::get`].
    #[inline]
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<T>, Error> {
        let key = key.as_ref();
        let cache = &self.0.cache;
        match &self.0.objects {
            Kept::Here(objects) => match objects.get(cache, key) {
                Some(object) => {
                    observe::read(cache, key, Answer::Memory);
                    Ok(Some(object))
                }
                None => objects.read(cache, key),
            },
            Kept::BesideEntries(tier) => {
                let found = self.object_or_entry(tier, key)?;
                let answer = found.as_ref().map_or(Answer::Miss, |_| Answer::Memory);
                observe::read(cache, key, answer);
                self.value_of(tier, key, found)
            }
            Kept::Nowhere => cache.get_typed(key),
        }
    }

    /// What a tier has that keeps objects.
    #[inline]
    fn object_or_entry(
        &self,
        tier: &MemoryTier,
        key: &[u8],
    ) -> Result<Option<ObjectOrEntry<T>>, Error> {
        let found = tier.read(key, |stored| {
            let idles = polycache_entry::has_time_to_idle(&stored.entry);
            (
                ObjectOrEntry::of(stored),
                idles.then(|| stored.entry.clone()),
            )
        })?;
        Ok(found.map(|(found, idles)| {
            if let Some(entry) = idles {
                self.0.cache.prolong(key, &entry);
            }
            found
        }))
    }

    #[inline]
    fn value_of(
        &self,
        tier: &MemoryTier,
        key: &[u8],
        found: Option<ObjectOrEntry<T>>,
    ) -> Result<Option<T>, Error> {
        match found {
            None => Ok(None),
            Some(ObjectOrEntry::Object(value)) => Ok(Some(value)),
            Some(ObjectOrEntry::Entry(entry)) => {
                let value: T = self.0.cache.decode(key, &entry)?;
                tier.keep(key, &entry, object(&value));
                Ok(Some(value))
            }
        }
    }

    /// Stores a value with the cache's default time to live; see [`Cache::set`].
    ///
    /// # Errors
    /// Those of [`Cache::set_value`].
    pub fn set(&self, key: impl AsRef<[u8]>, value: &T) -> Result<(), Error> {
        self.set_with_ttl(key, value, Ttl::Default)
    }

    /// Stores a value with a time to live; see [`Cache::set_with_ttl`].
    ///
    /// # Errors
    /// Those of [`Cache::set_value`].
    pub fn set_with_ttl(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<(), Error> {
        let (key, ttl) = (key.as_ref(), ttl.into());
        ttl.check()?;
        let set = self
            .0
            .cache
            .set_object(key, value, ttl, || self.object(value));
        self.drop(key);
        set
    }

    /// The key's value, loaded when it is not there; see [`Cache::get_or_set`].
    ///
    /// # Errors
    /// The same errors.
    pub fn get_or_set<E>(
        &self,
        key: impl AsRef<[u8]>,
        load: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, Error>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.get_or_set_with_ttl(key, Ttl::Default, load)
    }

    /// As [`TypedCache::get_or_set`], with a time to live that counts from the end of the load.
    ///
    /// # Errors
    /// Those of [`Cache::get_or_set`].
    pub fn get_or_set_with_ttl<E>(
        &self,
        key: impl AsRef<[u8]>,
        ttl: impl Into<Ttl>,
        load: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, Error>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let ttl = ttl.into();
        ttl.check()?;
        self.load(key.as_ref(), ttl, || load().map_err(Error::of_loader))
    }

    /// As [`TypedCache::get_or_set`], with a loader whose errors are ours.
    pub(crate) fn get_or_load(
        &self,
        key: &[u8],
        load: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.load(key, Ttl::Default, load)
    }

    #[inline]
    fn load(
        &self,
        key: &[u8],
        ttl: Ttl,
        load: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.find(key)? {
            Some(there) => Ok(there),
            None => driver::load(self, key, ttl, load),
        }
    }

    /// Loads the key, whether it is there or not, and stores what comes in the place of what was there,
    /// unless the key was written meanwhile.
    pub(crate) fn reload(
        &self,
        key: &[u8],
        load: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let cache = &self.0.cache;
        let Ok(Some(seen)) = cache.tier().see(key) else {
            return self.load_anew(key, load);
        };
        let loaded = observe::load(cache, What::Key(key), load)?;
        if !cache.replace_typed(key, &seen, &loaded, self.object(&loaded))? {
            // The value there now may be as old as what was loaded, or older.
            self.delete(key)?;
        }
        self.drop(key);
        Ok(loaded)
    }

    /// Loads a key that is not there, or cannot be read. Deleting it invalidates a load under way, which may
    /// have begun too early.
    fn load_anew(&self, key: &[u8], load: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        self.delete(key)?;
        self.load(key, Ttl::Default, load)
    }

    /// Deletes the key; see [`Cache::delete`].
    ///
    /// # Errors
    /// `Closed`.
    pub fn delete(&self, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        let deleted = self.0.cache.delete(key.as_ref());
        self.drop(key.as_ref());
        deleted
    }

    /// True when the key has an entry; see [`Cache::has`].
    ///
    /// # Errors
    /// `Closed`.
    pub fn has(&self, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        self.0.cache.has(key)
    }

    /// The time that the key's entry has left; see [`Cache::ttl`].
    ///
    /// # Errors
    /// `Closed`.
    pub fn ttl(&self, key: impl AsRef<[u8]>) -> Result<Option<TtlLeft>, Error> {
        self.0.cache.ttl(key)
    }

    /// The keys of this namespace that begin with `prefix`; see [`Cache::keys`].
    pub fn keys(&self, prefix: impl AsRef<[u8]>) -> Keys {
        self.0.cache.keys(prefix)
    }

    /// Clears this namespace and those nested in it; see [`Cache::clear`].
    ///
    /// # Errors
    /// `Closed`.
    pub fn clear(&self) -> Result<(), Error> {
        let cleared = self.0.cache.clear();
        if let Kept::Here(objects) = &self.0.objects {
            objects.clear();
        }
        cleared
    }

    /// As [`Cache::stats`]; hits of this memory tier count, too.
    ///
    /// # Errors
    /// `Closed`.
    pub fn stats(&self) -> Result<Stats, Error> {
        let mut stats = self.0.cache.stats()?;
        if let Kept::Here(objects) = &self.0.objects {
            objects.add_hits(&self.0.cache);
            stats.hits += objects.stats().hits;
        }
        Ok(stats)
    }

    /// What the memory tier holds and did. Without a directory it is that of the whole cache; over a directory without
    /// a memory tier everything is 0.
    #[must_use]
    pub fn memory_stats(&self) -> MemoryStats {
        match &self.0.objects {
            Kept::Here(objects) => {
                objects.add_hits(&self.0.cache);
                objects.stats()
            }
            Kept::BesideEntries(tier) => tier.memory_stats(),
            Kept::Nowhere => MemoryStats::default(),
        }
    }

    #[inline]
    fn drop(&self, key: &[u8]) {
        if let Kept::Here(objects) = &self.0.objects {
            objects.drop(key);
        }
    }
}

impl<T: TypedValue> Cached for TypedCache<T> {
    fn cache(&self) -> &Cache {
        &self.0.cache
    }
}

impl<T: TypedValue> View<T> for TypedCache<T> {
    #[inline]
    fn find(&self, key: &[u8]) -> Result<Option<T>, Error> {
        let cache = &self.0.cache;
        match &self.0.objects {
            Kept::Here(objects) => match objects.get(cache, key) {
                Some(object) => {
                    observe::read(cache, key, Answer::Memory);
                    Ok(Some(object))
                }
                None => objects.find(cache, key),
            },
            Kept::BesideEntries(tier) => {
                let found = self.object_or_entry(tier, key)?;
                match &found {
                    Some(_) => observe::read(cache, key, Answer::Memory),
                    // The caller that loads counts the miss, and tells of it.
                    None => tier.count_found_later(),
                }
                self.value_of(tier, key, found)
            }
            Kept::Nowhere => cache.find(key),
        }
    }

    fn read_entry(
        &self,
        key: &[u8],
        entry: &mut Scratch,
        origin: Option<Origin>,
    ) -> Result<T, Error> {
        match &self.0.objects {
            Kept::Here(objects) => objects.read_entry(&self.0.cache, key, entry, origin),
            Kept::BesideEntries(_) | Kept::Nowhere => self.0.cache.read_entry(key, entry, origin),
        }
    }

    fn write(
        &self,
        value: &T,
        options: &EntryOptions<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), polycache_entry::Error> {
        encode_typed(value, options, out)
    }

    fn object(&self, value: &T) -> Option<Object> {
        matches!(self.0.objects, Kept::BesideEntries(_)).then(|| object(value))
    }
}

#[cfg(feature = "tokio")]
impl<T: TypedValue> NearView<T> for TypedCache<T> {
    fn find_near(&self, key: &[u8]) -> Result<Option<T>, Error> {
        let cache = &self.0.cache;
        match &self.0.objects {
            Kept::Here(objects) => match objects.get(cache, key) {
                Some(object) => {
                    observe::read(cache, key, Answer::Memory);
                    Ok(Some(object))
                }
                None => objects.find_near(cache, key),
            },
            Kept::BesideEntries(_) | Kept::Nowhere => cache.find_near(key),
        }
    }

    fn read_bytes(&self, key: &[u8], bytes: &Bytes, origin: Option<Origin>) -> Result<T, Error> {
        let cache = &self.0.cache;
        match &self.0.objects {
            Kept::Here(objects) => objects.read_bytes(cache, key, bytes, origin),
            Kept::BesideEntries(_) | Kept::Nowhere => {
                NearView::read_bytes(cache, key, bytes, origin)
            }
        }
    }
}
