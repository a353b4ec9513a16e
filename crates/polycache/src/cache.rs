//! The cache, at the level of [`Value`]s: the packages of other languages are built on it.

use crate::caller::AllFlights;
use crate::encryption::{self, Encryption};
use crate::jitter::Lifetime;
use crate::memory::Bounds;
use crate::observe::{self, Answer};
use crate::scratch::Scratch;
use crate::tier::{Object, Place, Seen, Tier};
use crate::ttl;
use crate::{Builder, Compressor, Error, Serializer, StoreErrors, Ttl, TtlLeft, Value};
use polycache_entry::{
    decode_value, deserialize, encode, encode_typed, plain_payload, EntryEncryption, EntryOptions,
    Limits, Structs,
};
use polycache_host::{Report, Stats, Store};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// An open cache: one namespace of a directory that every process of the machine may share. Cheap to clone. Every
/// method may be called from any thread. A forked child may use a directory, but what is in memory (without a path, or
/// by [`Cache::typed`]) only if no other thread used it at the fork.
#[derive(Clone)]
pub struct Cache(Arc<Inner>);

struct Inner {
    tier: Arc<dyn Tier>,
    /// The tier's directory, if it has one: a hit in memory asks it without a virtual call.
    store: Option<Store>,
    /// Shared by all caches over the handle.
    flights: AllFlights,
    parts: Vec<String>,
    settings: Settings,
}

/// How a cache writes and reads its entries.
#[derive(Clone)]
pub(crate) struct Settings {
    /// What observers call it.
    pub name: Arc<str>,
    pub serializer: Serializer,
    pub structs: Structs,
    pub compressor: Compressor,
    /// For writes that do not say how long they live.
    pub lifetime: Lifetime,
    /// For entries that are written, in milliseconds; 0 is none.
    pub time_to_idle: u64,
    pub limits: Limits,
    pub encryption: Option<Encryption>,
    /// What a memory tier may hold; `None` is none.
    pub memory: Option<Bounds>,
    /// How old a load may be that others join.
    pub lease_timeout: Duration,
    /// How long a caller waits for others.
    pub wait_timeout: Duration,
    pub store_errors: StoreErrors,
}

/// What reads the payload of an entry.
pub(crate) trait Read<R>:
    FnOnce(Serializer, &[u8], &Limits) -> Result<R, polycache_entry::Error>
{
}

impl<R, F> Read<R> for F where
    F: FnOnce(Serializer, &[u8], &Limits) -> Result<R, polycache_entry::Error>
{
}

/// What appends an entry.
pub(crate) trait Write:
    FnOnce(&EntryOptions<'_>, &mut Vec<u8>) -> Result<(), polycache_entry::Error>
{
}

impl<F> Write for F where
    F: FnOnce(&EntryOptions<'_>, &mut Vec<u8>) -> Result<(), polycache_entry::Error>
{
}

#[inline]
pub(crate) fn reading<R>(f: impl FnOnce(Value<'_>) -> R) -> impl Read<R> {
    |serializer: Serializer, payload: &[u8], limits: &Limits| {
        decode_value(serializer, payload, limits).map(f)
    }
}

#[inline]
pub(crate) fn reading_typed<T: DeserializeOwned>(
    serializer: Serializer,
    payload: &[u8],
    limits: &Limits,
) -> Result<T, polycache_entry::Error> {
    deserialize(serializer, payload, limits)
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("name", &self.name())
            .field("path", &self.path())
            .field("namespace", &self.0.parts)
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

impl Cache {
    /// The options of a cache, to be opened by [`Builder::build`].
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(
        tier: Arc<dyn Tier>,
        flights: AllFlights,
        parts: Vec<String>,
        settings: Settings,
    ) -> Cache {
        Cache(Arc::new(Inner {
            store: tier.store().cloned(),
            tier,
            flights,
            parts,
            settings,
        }))
    }

    /// The cache of a namespace nested in this one, over the same handle: closing either closes both.
    ///
    /// # Errors
    /// `InvalidArgument` for an empty part, `Closed`.
    pub fn namespace(&self, part: impl Into<String>) -> Result<Cache, Error> {
        self.still_open()?;
        let mut parts = self.0.parts.clone();
        parts.push(part.into());
        let tier = self.0.tier.namespace(&parts)?;
        let flights = self.0.flights.clone();
        Ok(Cache::new(tier, flights, parts, self.0.settings.clone()))
    }

    /// The cache's directory, absolute; empty for a cache that has the memory tier alone.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.tier.path()
    }

    /// Reads the key and hands its value to `f`; `None` is a miss. The value borrows from a private
    /// copy of the entry, and `f` may use the cache.
    ///
    /// # Errors
    /// `Closed`; for an entry that cannot be read: `ValueTooLarge`, `MalformedEntry`,
    /// `UnsupportedVersion`, `UnsupportedFlags`, `UnsupportedSerializer`, `UnsupportedCompressor`,
    /// `UnknownDictionary`, `NotEncrypted`, `UnknownEncryptionKey`, `DecryptionFailed`.
    #[inline]
    pub fn get_with<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Value<'_>) -> R,
    ) -> Result<Option<R>, Error> {
        self.get_by(key, reading(f))
    }

    /// Reads the key straight as a `T`; see [`Cache::get`].
    #[inline]
    pub(crate) fn get_typed<T: DeserializeOwned>(&self, key: &[u8]) -> Result<Option<T>, Error> {
        self.get_by(key, reading_typed)
    }

    /// Reads the key for a caller that goes on to a load, which counts and reports the miss. `about` is given the
    /// entry's place and its bytes.
    #[inline]
    pub(crate) fn find_by<R, A>(
        &self,
        key: &[u8],
        about: impl FnOnce(Place, &[u8]) -> A,
        read: impl Read<R>,
    ) -> Result<Option<(R, A)>, Error> {
        let mut scratch = Scratch::take();
        let result = match self.0.tier.find(key, &mut scratch.entry)? {
            Some(place) => {
                observe::read(self, key, self.0.tier.answer());
                let about = about(place, &scratch.entry);
                let value = self.read_used(key, &mut scratch, read);
                value.map(|value| Some((value, about)))
            }
            None => Ok(None),
        };
        scratch.keep();
        result
    }

    #[inline]
    pub(crate) fn get_by<R>(&self, key: &[u8], read: impl Read<R>) -> Result<Option<R>, Error> {
        let mut scratch = Scratch::take();
        let found = self.0.tier.get(key, &mut scratch.entry)?.is_some();
        observe::read(self, key, self.answer(found));
        let result = if found {
            self.read_used(key, &mut scratch, read).map(Some)
        } else {
            Ok(None)
        };
        scratch.keep();
        result
    }

    /// Stores a value. Every read on this machine that begins after it returned sees it or a later one.
    ///
    /// # Errors
    /// `UnsupportedValue` and `InvalidArgument`, which change nothing; `EntryTooLarge`, `ValueTooLarge`,
    /// `NoSpace` and `Io`, after which the old value is gone as well; `Closed`.
    #[inline]
    pub fn set_value(&self, key: &[u8], value: &Value<'_>, ttl: Ttl) -> Result<(), Error> {
        let write = |options: &EntryOptions<'_>, out: &mut Vec<u8>| encode(value, options, out);
        self.set_by(key, ttl, write, || None)
    }

    /// Stores a value of any serde type; see [`Cache::set_with_ttl`].
    #[inline]
    pub(crate) fn set_typed<T: Serialize + ?Sized>(
        &self,
        key: &[u8],
        value: &T,
        ttl: Ttl,
    ) -> Result<(), Error> {
        self.set_object(key, value, ttl, || None)
    }

    /// As [`Cache::set_typed`]; `object` is the value for the memory tier, where there is no other.
    #[inline]
    pub(crate) fn set_object<T: Serialize + ?Sized>(
        &self,
        key: &[u8],
        value: &T,
        ttl: Ttl,
        object: impl FnOnce() -> Option<Object>,
    ) -> Result<(), Error> {
        let write =
            |options: &EntryOptions<'_>, out: &mut Vec<u8>| encode_typed(value, options, out);
        self.set_by(key, ttl, write, object)
    }

    /// Stores a value in the place of the one that was seen; false if that one is gone.
    pub(crate) fn replace_typed<T: Serialize>(
        &self,
        key: &[u8],
        seen: &Seen,
        value: &T,
        object: Option<Object>,
    ) -> Result<bool, Error> {
        let mut scratch = Scratch::take();
        let write =
            |options: &EntryOptions<'_>, out: &mut Vec<u8>| encode_typed(value, options, out);
        let replaced = match self.write(key, write, Ttl::Default, &mut scratch.entry) {
            Ok(()) => self.0.tier.replace(key, seen, &scratch.entry, object),
            Err(error) => Err(self.refused(key, error)),
        };
        if let Err(error) = &replaced {
            observe::stored(self, key, scratch.entry.len(), Err(error));
        }
        scratch.keep();
        replaced
    }

    #[inline(always)]
    pub(crate) fn set_by(
        &self,
        key: &[u8],
        ttl: Ttl,
        write: impl Write,
        object: impl FnOnce() -> Option<Object>,
    ) -> Result<(), Error> {
        self.still_open()?;
        let mut scratch = Scratch::take();
        let result = match self.write(key, write, ttl, &mut scratch.entry) {
            Ok(()) => self.0.tier.put(key, &scratch.entry, object()),
            Err(error) => Err(self.refused(key, error)),
        };
        observe::stored(self, key, scratch.entry.len(), result.as_ref().copied());
        scratch.keep();
        result
    }

    /// Deletes the key and invalidates its loads; true if it had an entry.
    ///
    /// # Errors
    /// `Closed`.
    pub fn delete(&self, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        let deleted = self.0.tier.delete(key.as_ref())?;
        observe::deleted(self, key.as_ref(), deleted);
        Ok(deleted)
    }

    /// True when the key has an entry; its value is not decoded.
    ///
    /// # Errors
    /// `Closed`.
    pub fn has(&self, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        Ok(self.raw(key.as_ref(), |_| ())?.is_some())
    }

    /// The time that the key's entry has left; `None` when there is no entry.
    ///
    /// # Errors
    /// `Closed`.
    pub fn ttl(&self, key: impl AsRef<[u8]>) -> Result<Option<TtlLeft>, Error> {
        self.raw(key.as_ref(), |entry| self.ttl_of(entry))
    }

    pub(crate) fn ttl_of(&self, entry: &[u8]) -> TtlLeft {
        ttl::left(polycache_entry::expires(entry), self.now())
    }

    /// Clears this namespace and those nested in it; loads under way do not fill.
    ///
    /// Over a directory it takes constant time. Without one, its entries leave memory as well, and every
    /// key of the whole cache is looked at: about a millisecond for each hundred thousand.
    ///
    /// # Errors
    /// `Closed`.
    pub fn clear(&self) -> Result<(), Error> {
        self.0.tier.clear(&self.0.parts)?;
        observe::cleared(self);
        Ok(())
    }

    /// What the directory holds and what this handle did; walks the index.
    ///
    /// # Errors
    /// `Closed`.
    pub fn stats(&self) -> Result<Stats, Error> {
        self.0.tier.stats()
    }

    /// Verifies every entry of the whole directory against its checksums.
    ///
    /// # Errors
    /// `Closed`.
    pub fn check(&self) -> Result<Report, Error> {
        self.0.tier.check()
    }

    /// Writes everything to the disk, and waits for it: a power loss undoes nothing that was done before.
    ///
    /// # Errors
    /// `Io`, `Closed`.
    pub fn flush(&self) -> Result<(), Error> {
        self.0.tier.flush()
    }

    /// Closes the handle with all its clones and namespaces; later calls give `Closed`. Closing again does nothing.
    pub fn close(&self) {
        self.0.tier.close();
    }

    /// True after [`Cache::close`].
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.tier.is_closed()
    }

    pub(crate) fn still_open(&self) -> Result<(), Error> {
        if self.is_closed() {
            return Err(Error::Closed);
        }
        Ok(())
    }

    pub(crate) fn now(&self) -> u64 {
        self.0.tier.now()
    }

    /// This cache under a name of its own in metrics and traces, over the same handle; see
    /// [`Builder::name`].
    ///
    /// # Errors
    /// `Closed`.
    pub fn named(&self, name: impl Into<String>) -> Result<Cache, Error> {
        self.still_open()?;
        let tier = self.0.tier.namespace(&self.0.parts)?;
        let mut settings = self.0.settings.clone();
        settings.name = name.into().into();
        let flights = self.0.flights.clone();
        Ok(Cache::new(tier, flights, self.0.parts.clone(), settings))
    }

    /// What metrics and traces call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.settings.name
    }

    #[cfg(feature = "metrics")]
    pub(crate) fn name_shared(&self) -> Arc<str> {
        self.0.settings.name.clone()
    }

    #[cfg(feature = "tracing")]
    pub(crate) fn parts(&self) -> &[String] {
        &self.0.parts
    }

    /// Where a read was answered, for observers.
    #[inline]
    fn answer(&self, found: bool) -> Answer {
        if found {
            self.0.tier.answer()
        } else {
            Answer::Miss
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.settings.limits
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    #[inline]
    pub(crate) fn tier(&self) -> &dyn Tier {
        &*self.0.tier
    }

    /// The directory, for a cache that has one.
    #[inline]
    pub(crate) fn store(&self) -> Option<&Store> {
        self.0.store.as_ref()
    }

    pub(crate) fn flights(&self) -> &AllFlights {
        &self.0.flights
    }

    /// What `f` makes of the key's entry bytes.
    pub(crate) fn raw<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, Error> {
        let mut scratch = Scratch::take();
        let found = self.0.tier.get(key, &mut scratch.entry)?.is_some();
        observe::read(self, key, self.answer(found));
        let result = found.then(|| f(&scratch.entry));
        scratch.keep();
        Ok(result)
    }

    /// The encryption keys for this key's entry, if the cache has some.
    #[inline]
    pub(crate) fn encryption<'a>(&'a self, key: &'a [u8]) -> Option<EntryEncryption<'a>> {
        let encryption = self.0.settings.encryption.as_ref()?;
        Some(encryption.of(self.0.tier.prefix(), key))
    }

    /// Decodes the key's entry in `scratch`.
    #[inline]
    pub(crate) fn read<R>(
        &self,
        key: &[u8],
        scratch: &mut Scratch,
        read: impl Read<R>,
    ) -> Result<R, Error> {
        let Scratch { entry, payload } = scratch;
        let limits = &self.0.settings.limits;
        let keys = self.encryption(key);
        encryption::payload(keys, entry, limits, payload)
            .and_then(|(serializer, payload)| read(serializer, payload, limits))
            .map_err(Error::from)
            .inspect_err(|error| observe::unreadable(self, key, error))
    }

    /// As [`Cache::read`], for a read that is a use of the entry: it prolongs one with a time to idle.
    #[inline]
    pub(crate) fn read_used<R>(
        &self,
        key: &[u8],
        scratch: &mut Scratch,
        read: impl Read<R>,
    ) -> Result<R, Error> {
        let limits = &self.0.settings.limits;
        if self.0.settings.encryption.is_none() {
            // It has no time to idle either, so that reads of most entries pay nothing for it.
            if let Some((serializer, payload)) = plain_payload(&scratch.entry, limits) {
                return read(serializer, payload, limits)
                    .map_err(Error::from)
                    .inspect_err(|error| observe::unreadable(self, key, error));
            }
        }
        self.read_and_prolong(key, scratch, read)
    }

    #[inline(never)]
    fn read_and_prolong<R>(
        &self,
        key: &[u8],
        scratch: &mut Scratch,
        read: impl Read<R>,
    ) -> Result<R, Error> {
        let value = self.read(key, scratch, read)?;
        if polycache_entry::has_time_to_idle(&scratch.entry) {
            self.prolong(key, &scratch.entry);
        }
        Ok(value)
    }

    /// The value of the given entry.
    pub(crate) fn decode<T: DeserializeOwned>(&self, key: &[u8], entry: &[u8]) -> Result<T, Error> {
        let mut scratch = Scratch::take();
        scratch.entry.extend_from_slice(entry);
        let value = self.read(key, &mut scratch, reading_typed);
        scratch.keep();
        value
    }

    /// Encodes the key's entry, with the cache's time to idle.
    #[inline(always)]
    pub(crate) fn write(
        &self,
        key: &[u8],
        write: impl Write,
        ttl: Ttl,
        entry: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.write_idle(key, write, ttl, self.0.settings.time_to_idle, entry)
    }

    /// Encodes the key's entry, with a time to idle in milliseconds, 0 for none.
    #[inline(always)]
    pub(crate) fn write_idle(
        &self,
        key: &[u8],
        write: impl Write,
        ttl: Ttl,
        time_to_idle: u64,
        entry: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let settings = &self.0.settings;
        let now = self.now();
        let options = EntryOptions {
            serializer: settings.serializer,
            structs: settings.structs,
            compressor: settings.compressor,
            dictionaries: settings.limits.dictionaries.as_ref(),
            created: now,
            expires: ttl::expires(ttl, || settings.lifetime.next(), now)?,
            time_to_idle,
            encryption: self.encryption(key),
            max_length: settings.limits.max_length,
            // Code that could change the value could change its checksum, too.
            unsealed: !self.0.tier.is_shared(),
            ..EntryOptions::default()
        };
        Ok(write(&options, entry)?)
    }

    /// A set that was refused for its argument changes nothing. One that failed on its way deletes
    /// the old value, which is superseded.
    #[cold]
    pub(crate) fn refused(&self, key: &[u8], error: Error) -> Error {
        if !matches!(
            error,
            Error::UnsupportedValue { .. } | Error::InvalidArgument(_)
        ) {
            // If it was closed meanwhile, the old value is not read through this handle.
            let _ = self.0.tier.delete(key);
        }
        error
    }
}
