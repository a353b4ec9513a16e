//! One loader for many keys, asked for those that are missing.

use crate::load::{Joined, Load, Outcome};
use crate::loading::{Loading, Step};
use crate::sync::Arc;
use crate::{Error, MemoryCache, Ttl};
use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::hash::{BuildHasher, Hash};
use std::time::{Duration, Instant};

/// What a look at all keys found.
struct Looked<'a, 'q, K: Eq + Hash, V: Clone, S: BuildHasher, Q: ?Sized> {
    /// To be loaded by this caller.
    granted: Vec<(&'q Q, Loading<'a, K, V, S>)>,
    /// Loaded by others.
    others: Vec<(&'q Q, Arc<Load<V>>)>,
}

impl<K: Eq + Hash, V: Clone, S: BuildHasher> MemoryCache<K, V, S> {
    /// The values of the keys, as [`MemoryCache::get_many`] gives them, loaded where they are not there: the loader is
    /// called with the list of the keys that this caller is to load, no key twice, and returns them with their values. A
    /// key that it leaves out has no value: it is not stored, and missing in the result.
    ///
    /// What is true of [`MemoryCache::get_or_set`] is true of each key. This caller first loads what falls to it, in one
    /// call, and then waits for what others load. The loader is called again only where such a load brings nothing.
    ///
    /// ```
    /// # let cache = polycache_memory::MemoryCache::<String, usize>::new(100)?;
    /// use std::convert::Infallible;
    /// cache.set("one".into(), 3)?;
    /// let lengths = cache.get_or_set_many(["one", "three"], |missing| {
    ///     assert_eq!(missing, ["three"]);
    ///     Ok::<_, Infallible>(missing.into_iter().map(|word| (word.to_owned(), word.len())))
    /// })?;
    /// assert_eq!((lengths["one"], lengths["three"]), (3, 5));
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`MemoryCache::get_or_set`]; `InvalidArgument` for a key that the loader was not asked for, and then nothing
    /// of what it returned is stored.
    pub fn get_or_set_many<'q, Q, M, E>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        load: impl FnMut(Vec<&'q Q>) -> Result<M, E>,
    ) -> Result<HashMap<&'q Q, V>, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized + 'q,
        M: IntoIterator<Item = (K, V)>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.get_or_set_many_with_ttl(keys, Ttl::Default, load)
    }

    /// As [`MemoryCache::get_or_set_many`], with one time to live for all that is loaded. It counts from the end of the
    /// load.
    ///
    /// # Errors
    /// As for [`MemoryCache::get_or_set_many`]; `InvalidArgument` for a time to live of 0 or more than 2^48 - 1 ms, before
    /// anything is loaded.
    pub fn get_or_set_many_with_ttl<'q, Q, M, E>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        ttl: impl Into<Ttl>,
        mut load: impl FnMut(Vec<&'q Q>) -> Result<M, E>,
    ) -> Result<HashMap<&'q Q, V>, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized + 'q,
        M: IntoIterator<Item = (K, V)>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let ttl = ttl.into();
        ttl.check()?;
        let (mut found, mut waited) = (HashMap::new(), Duration::ZERO);
        let (mut keys, mut is_first) = (distinct(keys), true);
        while !keys.is_empty() {
            let looked = self.look_for(&keys, is_first, Load::on_this_thread, &mut found);
            is_first = false;
            if looked.others.iter().any(|(_, other)| other.is_mine()) {
                return Err(Error::InvalidArgument(
                    "the loader of a key asks for the same key".into(),
                ));
            }
            if !looked.granted.is_empty() {
                match load(asked(&looked.granted)) {
                    Ok(loaded) => end(looked.granted, loaded, ttl, &mut found)?,
                    Err(error) => return Err(fail(looked.granted, Error::of_loader(error))),
                }
            }
            keys.clear();
            for (key, other) in looked.others {
                let begun = Instant::now();
                let left = self.0.settings.wait_timeout.saturating_sub(waited);
                match other.wait(left) {
                    Some(outcome) => came(key, outcome.clone(), &mut found, &mut keys)?,
                    None => return Err(self.waited_in_vain()),
                }
                waited += begun.elapsed();
            }
        }
        Ok(found)
    }

    /// As [`MemoryCache::get_or_set_many`], without blocking; on any executor.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// # let cache = polycache_memory::MemoryCache::<String, usize>::new(100)?;
    /// use std::convert::Infallible;
    /// let load = async |missing: Vec<&'static str>| {
    ///     Ok::<_, Infallible>(missing.into_iter().map(|word| (word.to_owned(), word.len())))
    /// };
    /// let lengths = cache.get_or_set_many_async(["one", "three"], load).await?;
    /// assert_eq!(lengths["three"], 5);
    /// # Ok::<(), polycache_memory::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// As for [`MemoryCache::get_or_set_async`]; `InvalidArgument` for a key that the loader was not asked for.
    pub async fn get_or_set_many_async<'q, Q, M, E, F>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        load: impl FnMut(Vec<&'q Q>) -> F,
    ) -> Result<HashMap<&'q Q, V>, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized + 'q,
        M: IntoIterator<Item = (K, V)>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Future<Output = Result<M, E>>,
    {
        self.get_or_set_many_async_with_ttl(keys, Ttl::Default, load)
            .await
    }

    /// As [`MemoryCache::get_or_set_many_async`], with one time to live for all that is loaded.
    ///
    /// # Errors
    /// As for [`MemoryCache::get_or_set_many_async`]; `InvalidArgument` for a time to live of 0 or more than 2^48 - 1 ms,
    /// before anything is loaded.
    pub async fn get_or_set_many_async_with_ttl<'q, Q, M, E, F>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        ttl: impl Into<Ttl>,
        mut load: impl FnMut(Vec<&'q Q>) -> F,
    ) -> Result<HashMap<&'q Q, V>, Error>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized + 'q,
        M: IntoIterator<Item = (K, V)>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Future<Output = Result<M, E>>,
    {
        let ttl = ttl.into();
        ttl.check()?;
        let mut found = HashMap::new();
        let (mut keys, mut is_first) = (distinct(keys), true);
        while !keys.is_empty() {
            let looked = self.look_for(&keys, is_first, Load::anywhere, &mut found);
            is_first = false;
            if !looked.granted.is_empty() {
                match load(asked(&looked.granted)).await {
                    Ok(loaded) => end(looked.granted, loaded, ttl, &mut found)?,
                    Err(error) => return Err(fail(looked.granted, Error::of_loader(error))),
                }
            }
            keys.clear();
            for (key, other) in looked.others {
                let outcome = Joined::new(other).await;
                came(key, outcome, &mut found, &mut keys)?;
            }
        }
        Ok(found)
    }

    /// Looks for the keys, and lists loads of those that are neither there nor being loaded.
    fn look_for<'q, Q>(
        &self,
        keys: &[&'q Q],
        counts: bool,
        load: fn() -> Arc<Load<V>>,
        found: &mut HashMap<&'q Q, V>,
    ) -> Looked<'_, 'q, K, V, S, Q>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let mut looked = Looked {
            granted: Vec::new(),
            others: Vec::new(),
        };
        for key in keys {
            let step = self.step(self.place(*key), *key, load);
            if counts {
                self.count(&step);
            }
            match step {
                Step::Have(value) => {
                    found.insert(*key, value);
                }
                Step::Wait(other) => looked.others.push((*key, other)),
                Step::Load(loading) => looked.granted.push((*key, loading)),
            }
        }
        looked
    }
}

/// The keys without those that come again.
fn distinct<'q, Q: Eq + Hash + ?Sized>(keys: impl IntoIterator<Item = &'q Q>) -> Vec<&'q Q> {
    let mut seen = HashSet::new();
    let keys = keys.into_iter();
    keys.filter(|key| seen.insert(*key)).collect()
}

fn asked<'q, K: Eq + Hash, V: Clone, S: BuildHasher, Q: ?Sized>(
    granted: &[(&'q Q, Loading<'_, K, V, S>)],
) -> Vec<&'q Q> {
    granted.iter().map(|(key, _)| *key).collect()
}

/// Stores what was loaded. Callers that wait for a key that was left out are told so.
fn end<'q, K, V, S, Q>(
    granted: Vec<(&'q Q, Loading<'_, K, V, S>)>,
    loaded: impl IntoIterator<Item = (K, V)>,
    ttl: Ttl,
    found: &mut HashMap<&'q Q, V>,
) -> Result<(), Error>
where
    K: Eq + Hash + Borrow<Q>,
    V: Clone,
    S: BuildHasher,
    Q: Eq + Hash + ?Sized,
{
    let places: HashMap<&Q, usize> = asked(&granted).into_iter().zip(0..).collect();
    let mut entries: Vec<Option<(K, V)>> = granted.iter().map(|_| None).collect();
    for (key, value) in loaded {
        match places.get(key.borrow()) {
            Some(place) => entries[*place] = Some((key, value)),
            None => {
                let what = "the loader returned a key that it was not asked for";
                return Err(fail(granted, Error::InvalidArgument(what.into())));
            }
        }
    }
    let mut failed = None;
    for ((asked, loading), entry) in granted.into_iter().zip(entries) {
        let Some((key, value)) = entry else {
            loading.leave_out();
            continue;
        };
        match loading.end(key, value, ttl) {
            Ok(loaded) => {
                found.insert(asked, loaded.into_value());
            }
            Err(error) => {
                failed.get_or_insert(error);
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Tells those that wait of the loader's error, which is its caller's too.
fn fail<K: Eq + Hash, V: Clone, S: BuildHasher, Q: ?Sized>(
    granted: Vec<(&Q, Loading<'_, K, V, S>)>,
    error: Error,
) -> Error {
    for (_, loading) in granted {
        loading.fail(error.clone());
    }
    error
}

/// What another's load brought: its value, its error, that there is none; or nothing, and then the key is to be looked for
/// again.
fn came<'q, V, Q: Eq + Hash + ?Sized>(
    key: &'q Q,
    outcome: Outcome<V>,
    found: &mut HashMap<&'q Q, V>,
    again: &mut Vec<&'q Q>,
) -> Result<(), Error> {
    match outcome {
        Outcome::Value(value) => {
            found.insert(key, value);
        }
        Outcome::Failed(error) => return Err(error),
        Outcome::Absent => {}
        Outcome::Nothing => again.push(key),
    }
    Ok(())
}
