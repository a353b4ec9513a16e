//! The cache for asynchronous programs (cargo feature `tokio`).

mod atomic;
mod many;

use crate::caller::{since_start, Caller, Next, View};
use crate::observe::{self, Waits, What};
use crate::{
    Builder, Cache, Entry, Error, MachineStats, Report, Stats, Ttl, TtlLeft, TypedCache,
    TypedValue, Usage, Value,
};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::collections::HashMap;
use std::future::{poll_fn, Future};
use std::hash::Hash;
use std::pin::pin;
use std::task::{ready, Poll};
use std::time::Duration;
use tokio::time::{sleep, Instant};

/// A [`Cache`] for asynchronous programs on tokio: its methods as futures. The runtime's timers must be enabled. Call
/// methods that never wait, like [`Cache::typed`], by [`AsyncCache::cache`].
///
/// Reads and writes take about a microsecond and do not wait for others, so they run where they are called. A call that
/// waits for another caller's load sleeps without blocking its thread. A call that walks the whole cache runs on
/// tokio's threads for blocking work.
///
/// Over a remote tier (`Builder::remote`) it does not pay yet: a call that asks the server blocks its thread for a
/// round trip, for the option `timeout` at most. Call a [`Cache`] by `tokio::task::spawn_blocking` there.
///
/// A future may be dropped at any time: a load that is cancelled leaves its key to the next caller.
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

/// Runs slow work on a thread for blocking work.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Error::Io("the runtime is shutting down".into())),
        },
    }
}

impl AsyncCache {
    /// The cache behind it, whose methods block while another caller loads.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.0
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
        self.0.get(key)
    }

    /// See [`Cache::get_value`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn get_value(&self, key: impl AsRef<[u8]>) -> Result<Option<Value<'static>>, Error> {
        self.0.get_value(key)
    }

    /// See [`Cache::peek`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn peek<T: DeserializeOwned>(
        &self,
        key: impl AsRef<[u8]>,
    ) -> Result<Option<T>, Error> {
        self.0.peek(key)
    }

    /// See [`Cache::entry`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn entry(&self, key: impl AsRef<[u8]>) -> Result<Option<Entry>, Error> {
        self.0.entry(key)
    }

    /// See [`Cache::take`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn take<T: DeserializeOwned>(
        &self,
        key: impl AsRef<[u8]>,
    ) -> Result<Option<T>, Error> {
        self.0.take(key)
    }

    /// See [`Cache::touch`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn touch(&self, key: impl AsRef<[u8]>, ttl: impl Into<Ttl>) -> Result<bool, Error> {
        self.0.touch(key, ttl)
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
        self.0.set(key, value)
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
        self.0.set_with_ttl(key, value, ttl)
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
        let (cache, key, ttl) = (&self.0, key.as_ref(), ttl.into());
        ttl.check()?;
        let load = async { load().await.map_err(Error::of_loader) };
        match cache.find(key)? {
            Some(there) => Ok(there),
            None => load_async(cache, key, ttl, load).await,
        }
    }

    /// See [`Cache::get_many`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn get_many<T: DeserializeOwned, K: AsRef<[u8]> + Eq + Hash>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<HashMap<K, T>, Error> {
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
        self.0.set_many(entries)
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
        self.0.set_many_with_ttl(entries, ttl)
    }

    /// See [`Cache::delete`].
    ///
    /// # Errors
    /// `Closed`.
    pub async fn delete(&self, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        self.0.delete(key)
    }

    /// See [`Cache::delete_many`].
    ///
    /// # Errors
    /// `Closed`.
    pub async fn delete_many<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<u64, Error> {
        self.0.delete_many(keys)
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
        self.0.has(key)
    }

    /// See [`Cache::ttl`].
    ///
    /// # Errors
    /// `Closed`.
    pub async fn ttl(&self, key: impl AsRef<[u8]>) -> Result<Option<TtlLeft>, Error> {
        self.0.ttl(key)
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
        if !self.0.tier().clears_slowly() {
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

    /// See [`Cache::close`].
    pub fn close(&self) {
        self.0.close();
    }

    /// See [`Cache::is_closed`].
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

/// The value of a key that was missed. It waits without blocking. If it is dropped, the key goes to callers that
/// joined, or to the next caller.
async fn load_async<T: Serialize, V: View<T>>(
    view: &V,
    key: &[u8],
    ttl: Ttl,
    load: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let now = || since_start(Instant::now().into_std());
    let mut waits = Waits::new(view.cache(), What::Key(key));
    let mut caller = Caller::new(view, key, ttl, 0, now());
    let mut timer = pin!(sleep(Duration::ZERO));
    let next = poll_fn(|context| loop {
        match caller.next(|| context.waker().clone(), now())? {
            Next::Wait(time) => {
                waits.begin();
                timer.as_mut().reset(Instant::now() + time);
                ready!(timer.as_mut().poll(context));
            }
            Next::Absent => {}
            next => return Poll::Ready(Ok::<_, Error>(next)),
        }
    });
    if let Next::Value(value) = next.await? {
        return Ok(value);
    }
    waits.pause();
    match observe::load_async(view.cache(), What::Key(key), load).await {
        Ok(value) => caller.loaded(value),
        Err(error) => Err(caller.failed(error)),
    }
}

/// With the cargo feature `tokio`. The other methods do not wait, so an asynchronous program calls them as they are.
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
        let (key, ttl) = (key.as_ref(), ttl.into());
        ttl.check()?;
        let load = async { load().await.map_err(Error::of_loader) };
        match self.find(key)? {
            Some(there) => Ok(there),
            None => load_async(self, key, ttl, load).await,
        }
    }
}
