//! Building blocks for the packages of other languages and the command `polycache`; programs do not need them: loads
//! and locks step by step, where a value was read, keys page by page. They change with those packages.

mod files;
#[cfg(feature = "remote")]
mod listeners;
mod load;
mod payload;
#[cfg(feature = "remote")]
mod reads;

use crate::cache::reading;
use crate::conditional::writing_value;
use crate::{Cache, Error, StoreErrors, Ttl, Value, Version};
use polycache_host::Counts;
use std::cell::RefCell;
use std::time::Duration;

pub use crate::lock::{LockStep, Locking};
pub use crate::origin::Origin;
pub use crate::prefetch::PREFETCHED;
pub use crate::tier::{
    ByteStore, Durability, Ended, NewFile, Opening, Popped, StoreKind, ValueFile,
};
pub use crate::update::{Found, ATTEMPTS as UPDATE_ATTEMPTS};
pub use files::{BegunFile, Files};
pub use load::{Filled, LoadStep, Loading};
pub use payload::{Payload, Payloads};
pub use polycache_host::{MemoryHits, Token};

/// What the remote tier asks of a language's own client, and what a directory tells of servers.
#[cfg(feature = "remote")]
pub mod remote {
    pub use super::listeners::Listener;
    pub use super::reads::{CachedReads, ReadBegun, ReadOrigin, ReadTicket, Uncached, MOST_KEYS};
    #[cfg(feature = "fibers")]
    pub use crate::remote::fibers;
    /// The JSON of replies.
    #[cfg(feature = "bindings-remote")]
    pub mod json {
        pub use crate::json::{
            write_bytes, write_double, write_integer, write_list, write_text,
            write_text_with_surrogates, Members,
        };
    }
    #[cfg(feature = "bindings-remote")]
    pub use crate::remote::settings::{Address, Settings, Tls, Topology};
    pub use crate::remote::{by_digest_or_text, is_background, Ear, Failure, Transport};
    pub use polycache_remote::{Command, Fault, Map, Node, Reply};
}

/// A [`Cache`] as the packages of other languages use it.
pub trait Bindings {
    /// As [`Cache::get_with`], and where the value was found. A memory tier keeps what `f` makes of it and
    /// serves it again while the origin [stands](Bindings::stands). Without a directory it never does.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// use polycache::bindings::Bindings;
    /// cache.set("k", "old")?;
    /// let (value, origin) = cache.get_with_origin(b"k", |value| value.into_owned())?.expect("it was set");
    /// assert_eq!(value, "old".into());
    /// assert!(cache.stands(&origin));
    /// cache.set("k", "new")?;
    /// assert!(!cache.stands(&origin));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::get_with`].
    fn get_with_origin<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Value<'_>) -> R,
    ) -> Result<Option<(R, Origin)>, Error>;

    /// As [`Bindings::get_with_origin`], if a copy of the remote tier on this host answers. Else `None`, and nothing was
    /// done: nobody is waited for, as by callers that hold a lock of their language.
    ///
    /// # Errors
    /// Those of [`Cache::get_with`].
    #[cfg(feature = "remote")]
    fn get_near<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Value<'_>) -> R,
    ) -> Result<Option<(R, Origin)>, Error>;

    /// True while the key was not written, deleted, cleared or evicted since its value was read, and is not expired:
    /// two atomic loads, and a look at the clock where the entry has a time to live. False after [`Cache::close`].
    fn stands(&self, origin: &Origin) -> bool;

    /// Tells the host tier that the entry is in use, as a read there does; for an origin that
    /// stands. Entries that are only read from memory look unused to it, and would be recycled.
    fn mark_visited(&self, origin: &Origin);

    /// Adds the hits of a memory tier, of which it has had `all` so far, to what the machine counts
    /// ([`Cache::machine_stats`]).
    fn add_memory_hits(&self, added: &MemoryHits, all: u64);

    /// Adds a read that the cache did not see, a hit or a miss, to what the machine counts.
    fn add_read(&self, found: bool);

    /// Counts the read of a `take` that a language makes of an update, a hit or a miss.
    fn count_taken(&self, found: bool);

    /// Counts a loaded value that could not be stored, as a language found.
    fn count_unstored(&self);

    /// Who hears of the writes to the servers whose entries have copies in the directory; none without a directory.
    ///
    /// # Errors
    /// `Io` when the directory's file of locks cannot be looked at.
    #[cfg(feature = "remote")]
    fn listeners(&self) -> Result<Vec<remote::Listener>, Error>;

    /// Which data the server has, as [`remote::Listener::identity`]; `None` while it is not known.
    #[cfg(feature = "remote")]
    fn remote_identity(&self) -> Option<u64>;

    /// Takes back the miss of a read whose caller went on to a load, which counts it, or found the entry then.
    fn count_found_later(&self);

    /// As [`Cache::take_with`], with an `f` that may fail. Then the entry stays, and the caller gets the error.
    ///
    /// ```
    /// # let cache = polycache::Cache::builder().build()?;
    /// use polycache::bindings::Bindings;
    /// cache.set("k", "value")?;
    /// assert_eq!(cache.try_take_with(b"k", |_| Err::<(), _>("not now"))?, Some(Err("not now")));
    /// assert!(cache.has("k")?);
    /// # Ok::<(), polycache::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::take_with`].
    fn try_take_with<R, E>(
        &self,
        key: &[u8],
        f: impl FnMut(Value<'_>) -> Result<R, E>,
    ) -> Result<Option<Result<R, E>>, Error>;

    /// As [`Cache::add_with_ttl`], for a value without a type.
    ///
    /// # Errors
    /// The same errors.
    fn add_value(&self, key: &[u8], value: &Value<'_>, ttl: Ttl) -> Result<bool, Error>;

    /// As [`Cache::replace_with_ttl`], for a value without a type.
    ///
    /// # Errors
    /// The same errors.
    fn replace_value(&self, key: &[u8], value: &Value<'_>, ttl: Ttl) -> Result<bool, Error>;

    /// As [`Cache::compare_and_set_with_ttl`], for a value without a type.
    ///
    /// # Errors
    /// The same errors.
    fn compare_and_set_value(
        &self,
        key: &[u8],
        version: Version,
        value: &Value<'_>,
        ttl: Ttl,
    ) -> Result<bool, Error>;

    /// The first half of an update: what `f` makes of the key's value, and what was found, for the second half:
    /// [`Bindings::set_updated`] or [`Bindings::delete_updated`]; none leaves the key. If the second half returns false,
    /// the caller begins anew; [`UPDATE_ATTEMPTS`] times, then it is [`Error::Conflict`].
    ///
    /// ```
    /// # let cache = polycache::Cache::builder().build()?;
    /// use polycache::bindings::Bindings;
    /// cache.set("k", "old")?;
    /// let (value, found) = cache.find_to_update(b"k", |value| value.into_owned())?;
    /// assert_eq!(value, Some("old".into()));
    /// cache.set("k", "changed")?;
    /// assert!(!cache.set_updated(b"k", &found, &"new".into(), None)?);
    /// let (_, found) = cache.find_to_update(b"k", |_| ())?;
    /// assert!(cache.set_updated(b"k", &found, &"new".into(), None)?);
    /// # Ok::<(), polycache::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::get_with`].
    fn find_to_update<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Value<'_>) -> R,
    ) -> Result<(Option<R>, Found), Error>;

    /// Stores a value if the key is still as it was found; false if it was changed since. Without `ttl` an entry keeps
    /// its time to live, and a new one has the cache's default.
    ///
    /// # Errors
    /// Those of [`Cache::update`].
    fn set_updated(
        &self,
        key: &[u8],
        found: &Found,
        value: &Value<'_>,
        ttl: Option<Ttl>,
    ) -> Result<bool, Error>;

    /// Deletes the key if it is still as it was found; false if it was changed since.
    ///
    /// # Errors
    /// `Closed`.
    fn delete_updated(&self, key: &[u8], found: &Found) -> Result<bool, Error>;

    /// The values of several keys, in order, over a remote tier: in one round trip to each server. Else `None`.
    ///
    /// # Errors
    /// Those of [`Cache::get_with`], for the first key that cannot be read.
    #[cfg(feature = "remote")]
    fn get_from_servers(
        &self,
        keys: &[impl AsRef<[u8]>],
    ) -> Result<Option<Vec<Option<Value<'static>>>>, Error>;

    /// A value's entry, for [`Bindings::store_entries`].
    ///
    /// # Errors
    /// Those of [`Cache::set_value`] for what cannot be written.
    #[cfg(feature = "remote")]
    fn entry_of(&self, key: &[u8], value: &Value<'_>, ttl: Ttl) -> Result<Vec<u8>, Error>;

    /// Stores keys with their entries, in order, over a remote tier: in one round trip to each server.
    ///
    /// # Errors
    /// `InvalidArgument` where there is no remote tier; those of [`Cache::set_value`], for the first that could not be stored.
    #[cfg(feature = "remote")]
    fn store_entries(&self, entries: &[(Vec<u8>, Vec<u8>)]) -> Result<(), Error>;

    /// Whether entries are on servers.
    #[must_use]
    fn is_remote(&self) -> bool;

    /// Whether operations on keys may run on [fibers](remote::fibers).
    #[cfg(feature = "fibers")]
    #[must_use]
    fn serves_fibers(&self) -> bool;

    /// After [`Cache::close`]: the connections of this thread's fibers end.
    #[cfg(feature = "fibers")]
    fn leave_fibers(&self);

    /// Fetches what reads of these keys will touch from memory, for a caller that goes on to read them: some
    /// [`PREFETCHED`] keys at a time.
    fn prefetch(&self, keys: &[impl AsRef<[u8]>]);

    /// Looks at `budget` places of the index from `cursor` on (0 at first) and appends the
    /// namespace's keys that begin with `prefix`. Returns the cursor to go on from, `None` at the end.
    ///
    /// # Errors
    /// `Closed`.
    fn keys_page(
        &self,
        prefix: &[u8],
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error>;

    /// As [`Bindings::keys_page`], for the whole directory: the full keys of every namespace, which
    /// [`split_full_key`](crate::split_full_key) takes apart.
    ///
    /// # Errors
    /// `Closed`.
    fn full_keys_page(
        &self,
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error>;

    /// The beginning of the full keys of this cache's namespace.
    fn prefix(&self) -> &[u8];

    /// How long a caller waits for the loads of others at most; see [`Builder::wait_timeout`](crate::Builder::wait_timeout).
    #[must_use]
    fn wait_timeout(&self) -> Duration;

    /// What becomes of a loaded value that cannot be stored; see [`Builder::store_errors`](crate::Builder::store_errors).
    #[must_use]
    fn store_errors(&self) -> StoreErrors;

    /// How old a load may be that others join; see [`Builder::lease_timeout`](crate::Builder::lease_timeout).
    #[must_use]
    fn lease_timeout(&self) -> Duration;

    /// Begins a load.
    #[must_use]
    fn loading(&self) -> Loading {
        self.loading_after(Duration::ZERO)
    }

    /// Begins a load of a caller that has waited for others before; that time counts.
    #[must_use]
    fn loading_after(&self, waited: Duration) -> Loading;

    /// Asks for the value or the right to load it, and says what to do next. `f` is given the value if it is there.
    ///
    /// # Errors
    /// Those of [`Cache::get_with`].
    fn step<R>(
        &self,
        key: &[u8],
        loading: &mut Loading,
        f: impl FnOnce(Value<'_>) -> R,
    ) -> Result<LoadStep<R>, Error>;

    /// Stores what was loaded, unless a set, delete or clear came in between. The load is over.
    ///
    /// # Errors
    /// `InvalidArgument` for the time to live, `Closed`; with [`StoreErrors::Raise`](crate::StoreErrors::Raise) what
    /// [`Cache::set_value`] gives.
    fn fill(
        &self,
        key: &[u8],
        loading: &mut Loading,
        value: &Value<'_>,
        ttl: Ttl,
    ) -> Result<Filled, Error>;

    /// Ends a load whose value cannot have an entry, as the language found.
    fn unstorable(&self, key: &[u8], loading: &mut Loading);

    /// Ends a load whose loader failed or whose caller is gone; does nothing after its end.
    fn abandon(&self, key: &[u8], loading: &mut Loading);

    /// True while others may join this load: the key was not set, deleted, cleared or filled since it began. A load
    /// that waits for another process' may be joined, one without a lease may not.
    fn is_open(&self, loading: &Loading) -> bool;

    /// True for a load over a remote tier that only its age keeps others from joining: a caller that is its loader
    /// itself joins, and is told so.
    fn is_open_to_itself(&self, loading: &Loading) -> bool;

    /// True while a loader of the key may fill with this token.
    fn stands_by(&self, key: &[u8], fence: Token) -> bool;

    /// How old a load of this process may be that others of it join, beside the lease timeout.
    #[must_use]
    fn joins_within(&self) -> Option<Duration>;

    /// Counts a caller that joined another of its process, and got [`Error::WaitTimeout`].
    fn count_wait_timeout(&self);

    /// Begins to wait for the lock of a key's name, at most this long.
    #[must_use]
    fn locking(&self, wait: Duration) -> Locking;

    /// Asks for the lock, and says what to do next.
    ///
    /// # Errors
    /// `Closed`.
    fn lock_step(&self, key: &[u8], locking: &Locking) -> Result<LockStep, Error>;

    /// Gives a lock back; does nothing if another has it by now.
    fn unlock(&self, key: &[u8], token: Token);

    /// True while a caller holds the lock of a key's name.
    ///
    /// # Errors
    /// `Closed`.
    fn is_locked(&self, key: &[u8]) -> Result<bool, Error>;
}

impl Bindings for Cache {
    #[inline]
    fn get_with_origin<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Value<'_>) -> R,
    ) -> Result<Option<(R, Origin)>, Error> {
        self.get_by_origin(key, reading(f))
    }

    #[cfg(feature = "remote")]
    #[inline]
    fn get_near<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Value<'_>) -> R,
    ) -> Result<Option<(R, Origin)>, Error> {
        self.get_near_by(key, reading(f))
    }

    #[inline]
    fn stands(&self, origin: &Origin) -> bool {
        Cache::stands(self, origin)
    }

    #[inline]
    fn mark_visited(&self, origin: &Origin) {
        Cache::mark_visited(self, origin);
    }

    fn add_memory_hits(&self, added: &MemoryHits, all: u64) {
        self.tier().add_memory_hits(added, all);
    }

    fn add_read(&self, found: bool) {
        #[cfg(feature = "remote")]
        if let Some(remote) = self.tier().remote() {
            remote.count_outside(found);
        }
        if let Some(store) = self.tier().counting() {
            store.add_counts(&Counts {
                hits: u64::from(found),
                misses: u64::from(!found),
                ..Counts::default()
            });
        }
    }

    fn count_taken(&self, found: bool) {
        self.tier().count_taken(found);
    }

    fn count_unstored(&self) {
        self.tier().count_unstored();
    }

    #[cfg(feature = "remote")]
    fn listeners(&self) -> Result<Vec<remote::Listener>, Error> {
        listeners::of(self.tier().directory())
    }

    #[cfg(feature = "remote")]
    fn remote_identity(&self) -> Option<u64> {
        self.tier()
            .remote()?
            .link()
            .site()
            .1
            .map(|site| site.identity())
    }

    fn count_found_later(&self) {
        #[cfg(feature = "remote")]
        if let Some(remote) = self.tier().remote() {
            remote.count_found_later();
        }
        if let Some(store) = self.tier().counting() {
            store.count_found_later();
        }
    }

    fn try_take_with<R, E>(
        &self,
        key: &[u8],
        f: impl FnMut(Value<'_>) -> Result<R, E>,
    ) -> Result<Option<Result<R, E>>, Error> {
        // Each attempt has its own reader.
        let f = &RefCell::new(f);
        self.try_take_by(key, || reading(move |value| (*f.borrow_mut())(value)))
    }

    fn add_value(&self, key: &[u8], value: &Value<'_>, ttl: Ttl) -> Result<bool, Error> {
        self.add_by(key, ttl, writing_value(value), None)
    }

    fn replace_value(&self, key: &[u8], value: &Value<'_>, ttl: Ttl) -> Result<bool, Error> {
        self.replace_by(key, ttl, writing_value(value), None, None)
    }

    fn compare_and_set_value(
        &self,
        key: &[u8],
        version: Version,
        value: &Value<'_>,
        ttl: Ttl,
    ) -> Result<bool, Error> {
        self.replace_by(key, ttl, writing_value(value), None, Some(version))
    }

    fn find_to_update<R>(
        &self,
        key: &[u8],
        f: impl FnOnce(Value<'_>) -> R,
    ) -> Result<(Option<R>, Found), Error> {
        Cache::find_to_update(self, key, reading(f))
    }

    fn set_updated(
        &self,
        key: &[u8],
        found: &Found,
        value: &Value<'_>,
        ttl: Option<Ttl>,
    ) -> Result<bool, Error> {
        Cache::set_updated(self, key, found, ttl, writing_value(value), None)
    }

    fn delete_updated(&self, key: &[u8], found: &Found) -> Result<bool, Error> {
        Cache::delete_updated(self, key, found)
    }

    #[cfg(feature = "remote")]
    fn get_from_servers(
        &self,
        keys: &[impl AsRef<[u8]>],
    ) -> Result<Option<Vec<Option<Value<'static>>>>, Error> {
        let Some(remote) = self.tier().remote() else {
            return Ok(None);
        };
        let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
        let read = || reading(|value: Value<'_>| value.into_owned());
        self.get_several(remote, &keys, read).map(Some)
    }

    #[cfg(feature = "remote")]
    fn entry_of(&self, key: &[u8], value: &Value<'_>, ttl: Ttl) -> Result<Vec<u8>, Error> {
        ttl.check()?;
        self.written(key, writing_value(value), ttl)
    }

    #[cfg(feature = "remote")]
    fn store_entries(&self, entries: &[(Vec<u8>, Vec<u8>)]) -> Result<(), Error> {
        match self.tier().remote() {
            Some(remote) => self.store_written(remote, entries),
            None => Err(Error::InvalidArgument("there is no remote tier".into())),
        }
    }

    #[cfg(feature = "fibers")]
    fn serves_fibers(&self) -> bool {
        let remote = self.tier().remote();
        remote.is_some_and(crate::tier::RemoteTier::serves_fibers)
    }

    #[cfg(feature = "fibers")]
    fn leave_fibers(&self) {
        if let Some(remote) = self.tier().remote() {
            remote.leave_fibers();
        }
    }

    fn is_remote(&self) -> bool {
        #[cfg(feature = "remote")]
        return self.tier().remote().is_some();
        #[cfg(not(feature = "remote"))]
        return false;
    }

    fn prefetch(&self, keys: &[impl AsRef<[u8]>]) {
        self.tier()
            .prefetch(&mut keys.iter().map(|key| key.as_ref()));
    }

    fn keys_page(
        &self,
        prefix: &[u8],
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        self.tier().keys(prefix, cursor, budget, out)
    }

    fn full_keys_page(
        &self,
        cursor: u64,
        budget: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, Error> {
        self.tier().full_keys(cursor, budget, out)
    }

    fn prefix(&self) -> &[u8] {
        self.tier().prefix()
    }

    fn wait_timeout(&self) -> Duration {
        self.settings().wait_timeout
    }

    fn store_errors(&self) -> StoreErrors {
        self.settings().store_errors
    }

    fn lease_timeout(&self) -> Duration {
        self.settings().lease_timeout
    }

    fn loading_after(&self, waited: Duration) -> Loading {
        load::begin(self, waited)
    }

    fn step<R>(
        &self,
        key: &[u8],
        loading: &mut Loading,
        f: impl FnOnce(Value<'_>) -> R,
    ) -> Result<LoadStep<R>, Error> {
        load::step(self, key, loading, f)
    }

    fn fill(
        &self,
        key: &[u8],
        loading: &mut Loading,
        value: &Value<'_>,
        ttl: Ttl,
    ) -> Result<Filled, Error> {
        load::fill(self, key, loading, value, ttl)
    }

    fn unstorable(&self, key: &[u8], loading: &mut Loading) {
        load::abandon(self, key, loading);
        self.tier().count_unstored();
    }

    fn abandon(&self, key: &[u8], loading: &mut Loading) {
        load::abandon(self, key, loading);
    }

    fn is_open(&self, loading: &Loading) -> bool {
        load::is_open(self, loading)
    }

    fn is_open_to_itself(&self, loading: &Loading) -> bool {
        load::is_open_to_itself(loading)
    }

    fn stands_by(&self, key: &[u8], fence: Token) -> bool {
        load::stands_by(self, key, fence)
    }

    fn joins_within(&self) -> Option<Duration> {
        self.tier().joins_within()
    }

    fn count_wait_timeout(&self) {
        self.tier().count_wait_timeout();
    }

    fn locking(&self, wait: Duration) -> Locking {
        Cache::locking(self, wait)
    }

    fn lock_step(&self, key: &[u8], locking: &Locking) -> Result<LockStep, Error> {
        Cache::lock_step(self, key, locking)
    }

    fn unlock(&self, key: &[u8], token: Token) {
        Cache::unlock(self, key, token);
    }

    fn is_locked(&self, key: &[u8]) -> Result<bool, Error> {
        Cache::is_locked(self, key)
    }
}
