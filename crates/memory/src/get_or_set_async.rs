//! One loader per key, for async callers.

use crate::load::{Joined, Load, Outcome};
use crate::loading::Step;
use crate::{Error, Loaded, MemoryCache, Ttl};
use std::borrow::Borrow;
use std::future::Future;
use std::hash::{BuildHasher, Hash};

/// On any executor, beside blocking callers.
impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    /// As [`MemoryCache::get_or_set`], without blocking: the loader is a future, polled only if its
    /// caller is the one that loads.
    ///
    /// If a caller is cancelled (its future dropped), the key is left to the next caller and no other
    /// caller is cancelled. A loader that awaits its own key waits for itself. Waiting is unbounded
    /// here, because no timer is known: use your executor's.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// # let cache = polycache_memory::MemoryCache::<String, u64>::new(100)?;
    /// let answer = cache.get_or_set_async("answer", async { "42".parse() }).await?;
    /// assert_eq!(answer, 42);
    /// # Ok::<(), polycache_memory::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `LoaderFailed` with the loader's error as its source; `EntryTooLarge` when the loaded value
    /// weighs too much.
    pub async fn get_or_set_async<Q, E>(
        &self,
        key: &Q,
        load: impl Future<Output = Result<V, E>>,
    ) -> Result<V, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.get_or_set_async_with_ttl(key, Ttl::Default, load)
            .await
    }

    /// As [`MemoryCache::get_or_set_async`], with a time to live that counts from the end of the
    /// load.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// # let cache = polycache_memory::MemoryCache::<String, u64>::new(100)?;
    /// use std::time::Duration;
    /// let load = async { "42".parse() };
    /// let answer = cache.get_or_set_async_with_ttl("answer", Duration::from_secs(300), load).await?;
    /// assert_eq!(answer, 42);
    /// # Ok::<(), polycache_memory::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// As for [`MemoryCache::get_or_set_async`]; `InvalidArgument` for a time to live of 0 or more
    /// than 2^48 - 1 ms, before anything is loaded.
    pub async fn get_or_set_async_with_ttl<Q, E>(
        &self,
        key: &Q,
        ttl: impl Into<Ttl>,
        load: impl Future<Output = Result<V, E>>,
    ) -> Result<V, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let loaded = self.load_async(key, ttl, load).await?;
        Ok(loaded.into_value())
    }

    /// As [`MemoryCache::get_or_set_async_with_ttl`], and says where the value came from.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// # let cache = polycache_memory::MemoryCache::<String, u64>::new(100)?;
    /// use polycache_memory::{Loaded, Ttl};
    /// let answer = cache.load_async("answer", Ttl::Default, async { "42".parse() }).await?;
    /// assert_eq!(answer, Loaded::Stored(42));
    /// let answer = cache.load_async("answer", Ttl::Default, async { "43".parse() }).await?;
    /// assert_eq!(answer, Loaded::Found(42));
    /// # Ok::<(), polycache_memory::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// As for [`MemoryCache::get_or_set_async_with_ttl`].
    pub async fn load_async<Q, E>(
        &self,
        key: &Q,
        ttl: impl Into<Ttl>,
        load: impl Future<Output = Result<V, E>>,
    ) -> Result<Loaded<V>, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.await_load(key, ttl.into(), load, true).await
    }

    /// `shares_failures`: as for blocking callers.
    async fn await_load<Q, E>(
        &self,
        key: &Q,
        ttl: Ttl,
        load: impl Future<Output = Result<V, E>>,
        shares_failures: bool,
    ) -> Result<Loaded<V>, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        ttl.check()?;
        let place = self.place(key);
        let mut step = self.step(place, key, Load::anywhere);
        self.count(&step);
        loop {
            match step {
                Step::Have(value) => return Ok(Loaded::Found(value)),
                Step::Wait(other) => match Joined::new(other).await {
                    Outcome::Value(value) => return Ok(Loaded::Found(value)),
                    Outcome::Failed(error) if shares_failures => return Err(error),
                    Outcome::Failed(_) | Outcome::Absent | Outcome::Nothing => {}
                },
                Step::Load(loading) => {
                    let value = match load.await {
                        Ok(value) => value,
                        Err(error) => return Err(loading.fail(Error::of_loader(error))),
                    };
                    return loading.end(key.to_owned(), value, ttl);
                }
            }
            step = self.step(place, key, Load::anywhere);
        }
    }

    /// As [`MemoryCache::get_or_set_async`], with a loader that does not fail.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// # let cache = polycache_memory::MemoryCache::<String, u64>::new(100)?;
    /// assert_eq!(cache.get_or_insert_async("answer", async { 42 }).await?, 42);
    /// # Ok::<(), polycache_memory::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `EntryTooLarge` when the loaded value weighs too much.
    pub async fn get_or_insert_async<Q>(
        &self,
        key: &Q,
        load: impl Future<Output = V>,
    ) -> Result<V, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let load = async { Ok::<V, std::convert::Infallible>(load.await) };
        let loaded = self.await_load(key, Ttl::Default, load, false).await?;
        Ok(loaded.into_value())
    }
}
