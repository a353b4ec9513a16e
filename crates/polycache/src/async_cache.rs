//! The cache for asynchronous programs (cargo feature `tokio`).

mod atomic;
mod blocking;
mod bytes;
mod load;
mod many;
mod wake;

pub(crate) use blocking::{blocking, elsewhere};
pub(crate) use bytes::Bytes;

use crate::cache::{reading, reading_typed};
use crate::scratch::Scratch;
use crate::{
    Builder, Cache, Entry, Error, MachineStats, Report, Serializer, Stats, Ttl, TtlLeft,
    TypedCache, TypedValue, Usage, Value,
};
use bytes::{reading_bytes, writing_encoded, Encoded};
use load::find_or_load;
use polycache_entry::Limits;
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;

/// A [`Cache`] for asynchronous programs on tokio: its methods as futures. The runtime's timers must be enabled. Call
/// methods that never wait, like [`Cache::typed`], by [`AsyncCache::cache`].
///
/// Reads and writes take about a microsecond and do not wait for others, so they run where they are called. A call that
/// waits for another caller's load sleeps without blocking its thread. A call that walks the whole cache runs on
/// tokio's threads for blocking work.
///
/// Over a remote tier (`Builder::remote`) what asks the server runs there, too: for a round trip, for the option
/// `timeout` at most. A hit of a copy on this host is answered where it is called. Values are encoded and decoded by the
/// caller. The methods that [`AsyncCache::cache`] has beside these block.
///
/// A future may be dropped at any time: a load that is cancelled leaves its key to the next caller. A write that was
/// sent to a server goes on.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use polycache::Cache;
///
/// let cache = Cache::builder().build_async().await?;
/// let answer = cache.get_or_set("answer", async || "42".parse::<u64>()).await?;
/// assert_eq!(cache.get("answer").await?, Some(answer));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AsyncCache(Cache);

impl From<Cache> for AsyncCache {
    fn from(cache: Cache) -> AsyncCache {
        AsyncCache(cache)
    }
}

impl Builder {
    /// Opens the cache for an asynchronous program, on one of tokio's threads for blocking work.
    ///
    /// # Errors
    /// Those of [`Builder::build`].
    pub async fn build_async(self) -> Result<AsyncCache, Error> {
        blocking(move || self.build()).await.map(AsyncCache)
    }
}

/// Runs what may wait for a server on a thread for blocking work; without a server it runs here.
pub(crate) async fn run<R: Send + 'static>(
    cache: &Cache,
    key: &[u8],
    work: impl FnOnce(&Cache, &[u8]) -> Result<R, Error> + Send + 'static,
) -> Result<R, Error> {
    if !cache.tier().waits() {
        return work(cache, key);
    }
    let (cache, key) = (cache.clone(), key.to_vec());
    blocking(move || work(&cache, &key)).await
}

impl AsyncCache {
    /// The cache behind it, whose methods block while another caller loads.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.0
    }

    /// Whether reads and writes may wait for a server.
    fn waits(&self) -> bool {
        self.0.tier().waits()
    }

    async fn run<R: Send + 'static>(
        &self,
        key: impl AsRef<[u8]>,
        work: impl FnOnce(&Cache, &[u8]) -> Result<R, Error> + Send + 'static,
    ) -> Result<R, Error> {
        run(&self.0, key.as_ref(), work).await
    }

    /// The value of what was read on another thread.
    fn decoded<T: DeserializeOwned>(
        &self,
        key: &[u8],
        found: Option<Bytes>,
    ) -> Result<Option<T>, Error> {
        found
            .map(|bytes| self.0.read_bytes(key, &bytes, reading_typed))
            .transpose()
    }

    /// The entry of a value that another thread is to store.
    fn encoded<T: Serialize + ?Sized>(
        &self,
        key: &[u8],
        value: &T,
        ttl: Ttl,
    ) -> Result<Encoded, Error> {
        let time_to_idle = self.0.settings().time_to_idle;
        self.0.encoded(key, value, ttl, time_to_idle)
    }

    /// See [`Cache::namespace`].
    ///
    /// # Errors
    /// The same errors.
    pub fn namespace(&self, part: impl Into<String>) -> Result<AsyncCache, Error> {
        self.0.namespace(part).map(AsyncCache)
    }

    /// See [`Cache::get`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn get<T: DeserializeOwned>(
        &self,
        key: impl AsRef<[u8]>,
    ) -> Result<Option<T>, Error> {
        if !self.waits() {
            return self.0.get(key);
        }
        let key = key.as_ref();
        if let Some((value, _)) = self.0.get_near_by(key, reading_typed)? {
            return Ok(Some(value));
        }
        let read = |cache: &Cache, key: &[u8]| cache.get_by(key, reading_bytes);
        self.decoded(key, self.run(key, read).await?)
    }

    /// See [`Cache::get_value`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn get_value(&self, key: impl AsRef<[u8]>) -> Result<Option<Value<'static>>, Error> {
        if !self.waits() {
            return self.0.get_value(key);
        }
        let key = key.as_ref();
        let owned = || reading(|value| value.into_owned());
        match self.0.get_near_by(key, owned())? {
            Some((value, _)) => Ok(Some(value)),
            None => self.run(key, move |cache, key| cache.get_value(key)).await,
        }
    }

    /// See [`Cache::peek`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn peek<T: DeserializeOwned>(
        &self,
        key: impl AsRef<[u8]>,
    ) -> Result<Option<T>, Error> {
        if !self.waits() {
            return self.0.peek(key);
        }
        let key = key.as_ref();
        let read = |cache: &Cache, key: &[u8]| cache.peek_by(key, reading_bytes);
        self.decoded(key, self.run(key, read).await?)
    }

    /// See [`Cache::entry`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn entry(&self, key: impl AsRef<[u8]>) -> Result<Option<Entry>, Error> {
        self.run(key, |cache, key| cache.entry(key)).await
    }

    /// See [`Cache::take`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn take<T: DeserializeOwned>(
        &self,
        key: impl AsRef<[u8]>,
    ) -> Result<Option<T>, Error> {
        if !self.waits() {
            return self.0.take(key);
        }
        let key = key.as_ref();
        loop {
            let find = |cache: &Cache, key: &[u8]| {
                let mut scratch = Scratch::take();
                let found = cache.find_to_take(key, &mut scratch)?;
                Ok(found.map(|seen| (seen, scratch)))
            };
            let Some((seen, mut scratch)) = self.run(key, find).await? else {
                return Ok(None);
            };
            // Here, because an entry that is no `T` stays.
            let read = |serializer: Serializer, payload: &[u8], limits: &Limits| {
                reading_typed(serializer, payload, limits).map(Ok::<T, Error>)
            };
            let value = self.0.read_to_take(key, &mut scratch, read)??;
            let take = move |cache: &Cache, key: &[u8]| cache.take_found(key, &seen);
            if self.run(key, take).await? {
                return Ok(Some(value));
            }
        }
    }

    /// See [`Cache::touch`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn touch(&self, key: impl AsRef<[u8]>, ttl: impl Into<Ttl>) -> Result<bool, Error> {
        let ttl = ttl.into();
        self.run(key, move |cache, key| cache.touch(key, ttl)).await
    }

    /// See [`Cache::set`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn set<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
    ) -> Result<(), Error> {
        self.set_with_ttl(key, value, Ttl::Default).await
    }

    /// See [`Cache::set_with_ttl`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn set_with_ttl<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<(), Error> {
        if !self.waits() {
            return self.0.set_with_ttl(key, value, ttl);
        }
        let encoded = self.encoded(key.as_ref(), value, ttl.into())?;
        self.run(key, |cache, key| {
            cache.set_by(key, Ttl::Forever, writing_encoded(encoded), || None)
        })
        .await
    }

    /// The key's value, loaded when it is not there; see [`Cache::get_or_set`]. The loader is called, and its future
    /// polled, only if this caller is the one that loads.
    ///
    /// # Errors
    /// The same errors.
    pub async fn get_or_set<T, E, F>(
        &self,
        key: impl AsRef<[u8]>,
        load: impl FnOnce() -> F,
    ) -> Result<T, Error>
    where
        T: Serialize + DeserializeOwned,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Future<Output = Result<T, E>>,
    {
        self.get_or_set_with_ttl(key, Ttl::Default, load).await
    }

    /// As [`AsyncCache::get_or_set`], with a time to live that counts from the end of the load.
    ///
    /// # Errors
    /// Those of [`Cache::get_or_set`].
    pub async fn get_or_set_with_ttl<T, E, F>(
        &self,
        key: impl AsRef<[u8]>,
        ttl: impl Into<Ttl>,
        load: impl FnOnce() -> F,
    ) -> Result<T, Error>
    where
        T: Serialize + DeserializeOwned,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Future<Output = Result<T, E>>,
    {
        let load = async { load().await.map_err(Error::of_loader) };
        find_or_load(&self.0, key.as_ref(), ttl.into(), load).await
    }

    /// See [`Cache::get_many`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn get_many<T: DeserializeOwned, K: AsRef<[u8]> + Eq + Hash>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<HashMap<K, T>, Error> {
        #[cfg(feature = "remote")]
        if self.waits() {
            return self.get_many_elsewhere(keys).await;
        }
        self.0.get_many(keys)
    }

    /// See [`Cache::set_many`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn set_many<K: AsRef<[u8]>, T: Serialize>(
        &self,
        entries: impl IntoIterator<Item = (K, T)>,
    ) -> Result<(), Error> {
        self.set_many_with_ttl(entries, Ttl::Default).await
    }

    /// See [`Cache::set_many_with_ttl`].
    ///
    /// # Errors
    /// Those of [`Cache::set_many`].
    pub async fn set_many_with_ttl<K: AsRef<[u8]>, T: Serialize>(
        &self,
        entries: impl IntoIterator<Item = (K, T)>,
        ttl: impl Into<Ttl>,
    ) -> Result<(), Error> {
        #[cfg(feature = "remote")]
        if self.waits() {
            return self.set_many_elsewhere(entries, ttl.into()).await;
        }
        self.0.set_many_with_ttl(entries, ttl)
    }

    /// See [`Cache::delete`].
    ///
    /// # Errors
    /// `Closed`.
    pub async fn delete(&self, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        self.run(key, |cache, key| cache.delete(key)).await
    }

    /// See [`Cache::delete_many`].
    ///
    /// # Errors
    /// `Closed`.
    pub async fn delete_many<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<u64, Error> {
        if !self.waits() {
            return self.0.delete_many(keys);
        }
        let keys = keys.into_iter().map(|key| key.as_ref().to_vec());
        let (cache, keys): (_, Vec<Vec<u8>>) = (self.0.clone(), keys.collect());
        blocking(move || cache.delete_many(keys)).await
    }

    /// See [`Cache::delete_prefix`].
    ///
    /// # Errors
    /// `Closed`.
    pub async fn delete_prefix(&self, prefix: impl AsRef<[u8]>) -> Result<u64, Error> {
        let (cache, prefix) = (self.0.clone(), prefix.as_ref().to_owned());
        blocking(move || cache.delete_prefix(prefix)).await
    }

    /// See [`Cache::has`].
    ///
    /// # Errors
    /// `Closed`.
    pub async fn has(&self, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        if self.waits() && self.0.near(key.as_ref(), |_, _| ())?.is_some() {
            return Ok(true);
        }
        self.run(key, |cache, key| cache.has(key)).await
    }

    /// See [`Cache::ttl`].
    ///
    /// # Errors
    /// `Closed`.
    pub async fn ttl(&self, key: impl AsRef<[u8]>) -> Result<Option<TtlLeft>, Error> {
        if self.waits() {
            let left = |_, scratch: &mut Scratch| self.0.ttl_of(&scratch.entry);
            if let Some(left) = self.0.near(key.as_ref(), left)? {
                return Ok(Some(left));
            }
        }
        self.run(key, |cache, key| cache.ttl(key)).await
    }

    /// All keys of this namespace that begin with `prefix`, in no order; see [`Cache::keys`].
    ///
    /// # Errors
    /// `Closed`.
    pub async fn keys(&self, prefix: impl AsRef<[u8]>) -> Result<Vec<Vec<u8>>, Error> {
        let keys = self.0.keys(prefix);
        blocking(move || keys.collect()).await
    }

    /// See [`Cache::clear`].
    ///
    /// # Errors
    /// `Closed`.
    pub async fn clear(&self) -> Result<(), Error> {
        if !self.0.tier().clears_slowly() && !self.waits() {
            return self.0.clear();
        }
        let cache = self.0.clone();
        blocking(move || cache.clear()).await
    }

    /// See [`Cache::stats`].
    ///
    /// # Errors
    /// `Closed`.
    pub async fn stats(&self) -> Result<Stats, Error> {
        let cache = self.0.clone();
        blocking(move || cache.stats()).await
    }

    /// See [`Cache::machine_stats`].
    ///
    /// # Errors
    /// Those of [`Cache::machine_stats`].
    pub async fn machine_stats(&self) -> Result<Option<MachineStats>, Error> {
        let cache = self.0.clone();
        blocking(move || cache.machine_stats()).await
    }

    /// See [`Cache::remote_stats`].
    #[cfg(feature = "remote")]
    pub async fn remote_stats(&self) -> Option<crate::RemoteStats> {
        self.0.remote_stats()
    }

    /// See [`Cache::usage`].
    ///
    /// # Errors
    /// `Closed`.
    pub async fn usage(&self, most: usize) -> Result<Option<Vec<Usage>>, Error> {
        let cache = self.0.clone();
        blocking(move || cache.usage(most)).await
    }

    /// See [`Cache::check`].
    ///
    /// # Errors
    /// `Closed`.
    pub async fn check(&self) -> Result<Report, Error> {
        let cache = self.0.clone();
        blocking(move || cache.check()).await
    }

    /// See [`Cache::flush`].
    ///
    /// # Errors
    /// `Io`, `Closed`.
    pub async fn flush(&self) -> Result<(), Error> {
        let cache = self.0.clone();
        blocking(move || cache.flush()).await
    }

    /// See [`Cache::close`]. A server is told on another thread of the loads that are given up.
    pub fn close(&self) {
        if let Some(farewell) = self.0.tier().close_without_waiting() {
            elsewhere(farewell);
        }
    }

    /// See [`Cache::is_closed`].
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

/// With the cargo feature `tokio`. The other methods do not wait, so an asynchronous program calls them as they are; over
/// a remote tier it calls them by `tokio::task::spawn_blocking`, because they wait for the server there.
impl<T: TypedValue> TypedCache<T> {
    /// As [`TypedCache::get_or_set`], without blocking; see [`AsyncCache::get_or_set`].
    ///
    /// # Errors
    /// Those of [`Cache::get_or_set`].
    pub async fn get_or_set_async<E, F>(
        &self,
        key: impl AsRef<[u8]>,
        load: impl FnOnce() -> F,
    ) -> Result<T, Error>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Future<Output = Result<T, E>>,
    {
        self.get_or_set_async_with_ttl(key, Ttl::Default, load)
            .await
    }

    /// As [`TypedCache::get_or_set_async`], with a time to live that counts from the end of the load.
    ///
    /// # Errors
    /// Those of [`Cache::get_or_set`].
    pub async fn get_or_set_async_with_ttl<E, F>(
        &self,
        key: impl AsRef<[u8]>,
        ttl: impl Into<Ttl>,
        load: impl FnOnce() -> F,
    ) -> Result<T, Error>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Future<Output = Result<T, E>>,
    {
        let load = async { load().await.map_err(Error::of_loader) };
        find_or_load(self, key.as_ref(), ttl.into(), load).await
    }
}
