//! One loader per key, for blocking callers.

use crate::load::{Load, Outcome};
use crate::loading::Step;
use crate::{Error, MemoryCache, Ttl};
use std::borrow::Borrow;
use std::convert::Infallible;
use std::hash::{BuildHasher, Hash};
use std::time::Instant;

impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    /// The key's value, loaded when it is missing. Of all callers of this method and its siblings, one
    /// runs its loader; the others wait for its value.
    ///
    /// No lock is held while the loader runs. A set, delete or clear during the load wins: the loaded
    /// value is returned to its loader's caller but not stored, and waiting callers look again at once.
    /// If the loader fails, waiting callers get its error. If it panics, the key is left to the next
    /// caller, to a waiting one first. The loader may use the cache, except for its own key.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<String, u64>::new(100)?;
    /// let answer = cache.get_or_set("answer", || "42".parse())?;
    /// assert_eq!(answer, 42);
    /// let again = cache.get_or_set("answer", || -> Result<u64, std::io::Error> {
    ///     unreachable!("it is there")
    /// })?;
    /// assert_eq!(again, 42);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// `LoaderFailed` with the loader's error as its source; `WaitTimeout`
    /// ([`Builder::wait_timeout`](crate::Builder::wait_timeout)); `EntryTooLarge` when the loaded value
    /// weighs too much; `InvalidArgument` when the loader asks for its own key, to that inner call.
    pub fn get_or_set<Q, E>(&self, key: &Q, load: impl FnOnce() -> Result<V, E>) -> Result<V, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.get_or_set_with_ttl(key, Ttl::Default, load)
    }

    /// As [`MemoryCache::get_or_set`], with a time to live that counts from the end of the load.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<String, u64>::new(100)?;
    /// use std::time::Duration;
    /// let answer = cache.get_or_set_with_ttl("answer", Duration::from_secs(300), || "42".parse())?;
    /// assert_eq!(answer, 42);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`MemoryCache::get_or_set`]; `InvalidArgument` for a time to live of 0 or more than
    /// 2^48 - 1 ms, before anything is loaded.
    pub fn get_or_set_with_ttl<Q, E>(
        &self,
        key: &Q,
        ttl: impl Into<Ttl>,
        load: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.get_or_load(key, ttl.into(), load, true)
    }

    /// `shares_failures`: the caller gets the error of a load that it waited for. A caller whose loader
    /// cannot fail runs its own loader instead.
    fn get_or_load<Q, E>(
        &self,
        key: &Q,
        ttl: Ttl,
        load: impl FnOnce() -> Result<V, E>,
        shares_failures: bool,
    ) -> Result<V, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        ttl.check()?;
        let place = self.place(key);
        let begun = Instant::now();
        let mut step = self.step(place, key, Load::on_this_thread);
        self.count(&step);
        loop {
            match step {
                Step::Have(value) => return Ok(value),
                Step::Wait(other) => {
                    if other.is_mine() {
                        return Err(Error::InvalidArgument(
                            "the loader of a key asks for the same key".into(),
                        ));
                    }
                    let left = self.0.settings.wait_timeout.saturating_sub(begun.elapsed());
                    match other.wait(left) {
                        Some(Outcome::Value(value)) => return Ok(value.clone()),
                        Some(Outcome::Failed(error)) if shares_failures => {
                            return Err(error.clone())
                        }
                        Some(Outcome::Failed(_) | Outcome::Absent | Outcome::Nothing) => {}
                        None => return Err(self.waited_in_vain()),
                    }
                }
                Step::Load(loading) => {
                    let value = match load() {
                        Ok(value) => value,
                        Err(error) => return Err(loading.fail(Error::of_loader(error))),
                    };
                    let loaded = loading.end(key.to_owned(), value, ttl)?;
                    return Ok(loaded.into_value());
                }
            }
            step = self.step(place, key, Load::on_this_thread);
        }
    }

    /// As [`MemoryCache::get_or_set`], with a loader that does not fail.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<String, u64>::new(100)?;
    /// assert_eq!(cache.get_or_insert_with("answer", || 42)?, 42);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`MemoryCache::get_or_set`], except `LoaderFailed`.
    pub fn get_or_insert_with<Q>(&self, key: &Q, load: impl FnOnce() -> V) -> Result<V, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let load = || Ok::<V, Infallible>(load());
        self.get_or_load(key, Ttl::Default, load, false)
    }
}
