//! One loader for many keys, without blocking.

use super::blocking::{blocking, Elsewhere};
#[cfg(feature = "remote")]
use super::bytes::{reading_bytes, writing_encoded};
use super::bytes::{ByteValue, ByteView};
use super::load::now;
use super::wake::Woken;
use super::AsyncCache;
use crate::batch::{self, Batch, BatchKeys, BatchNext};
#[cfg(feature = "remote")]
use crate::cache::reading_typed;
use crate::caller::{NearView, View};
use crate::observe::{self, Waits, What};
use crate::{Cache, Error, Ttl, TypedCache, TypedValue};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::collections::HashMap;
use std::future::{poll_fn, Future};
use std::hash::Hash;
use std::pin::pin;
use std::sync::Arc;
use std::task::{ready, Poll};
use std::time::Duration;
use tokio::time::{sleep, Instant};

impl AsyncCache {
    /// The values of the keys, loaded where they are not there; see [`Cache::get_or_set_many`](crate::Cache::get_or_set_many).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use polycache::Cache;
    /// use std::convert::Infallible;
    ///
    /// let cache = Cache::builder().build_async().await?;
    /// let lengths = cache
    ///     .get_or_set_many(["one", "three"], async |missing: Vec<&str>| {
    ///         Ok::<_, Infallible>(missing.into_iter().map(|word| (word, word.len())))
    ///     })
    ///     .await?;
    /// assert_eq!(lengths["three"], 5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The same errors.
    pub async fn get_or_set_many<K, T, M, Q, E, F>(
        &self,
        keys: impl IntoIterator<Item = K>,
        load: impl FnMut(Vec<K>) -> F,
    ) -> Result<HashMap<K, T>, Error>
    where
        K: AsRef<[u8]> + Clone + Eq + Hash,
        T: Serialize + DeserializeOwned,
        M: IntoIterator<Item = (Q, T)>,
        Q: AsRef<[u8]>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Future<Output = Result<M, E>>,
    {
        self.get_or_set_many_with_ttl(keys, Ttl::Default, load)
            .await
    }

    /// As [`AsyncCache::get_or_set_many`], with one time to live for all that is loaded.
    ///
    /// # Errors
    /// The same errors.
    pub async fn get_or_set_many_with_ttl<K, T, M, Q, E, F>(
        &self,
        keys: impl IntoIterator<Item = K>,
        ttl: impl Into<Ttl>,
        load: impl FnMut(Vec<K>) -> F,
    ) -> Result<HashMap<K, T>, Error>
    where
        K: AsRef<[u8]> + Clone + Eq + Hash,
        T: Serialize + DeserializeOwned,
        M: IntoIterator<Item = (Q, T)>,
        Q: AsRef<[u8]>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Future<Output = Result<M, E>>,
    {
        let (keys, ttl) = (batch::distinct(keys), ttl.into());
        ttl.check()?;
        let values = load_many(self.cache(), &keys, ttl, load).await?;
        Ok(batch::found(keys, values))
    }
}

/// With the cargo feature `tokio`.
impl<T: TypedValue> TypedCache<T> {
    /// As [`TypedCache::get_or_set_many`], without blocking; see [`AsyncCache::get_or_set_many`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn get_or_set_many_async<K, M, Q, E, F>(
        &self,
        keys: impl IntoIterator<Item = K>,
        load: impl FnMut(Vec<K>) -> F,
    ) -> Result<HashMap<K, T>, Error>
    where
        K: AsRef<[u8]> + Clone + Eq + Hash,
        M: IntoIterator<Item = (Q, T)>,
        Q: AsRef<[u8]>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Future<Output = Result<M, E>>,
    {
        self.get_or_set_many_async_with_ttl(keys, Ttl::Default, load)
            .await
    }

    /// As [`TypedCache::get_or_set_many_async`], with one time to live for all that is loaded.
    ///
    /// # Errors
    /// The same errors.
    pub async fn get_or_set_many_async_with_ttl<K, M, Q, E, F>(
        &self,
        keys: impl IntoIterator<Item = K>,
        ttl: impl Into<Ttl>,
        load: impl FnMut(Vec<K>) -> F,
    ) -> Result<HashMap<K, T>, Error>
    where
        K: AsRef<[u8]> + Clone + Eq + Hash,
        M: IntoIterator<Item = (Q, T)>,
        Q: AsRef<[u8]>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Future<Output = Result<M, E>>,
    {
        let (keys, ttl) = (batch::distinct(keys), ttl.into());
        ttl.check()?;
        let values = load_many(self, &keys, ttl, load).await?;
        Ok(batch::found(keys, values))
    }
}

/// The values of several keys, by their places. It waits without blocking. If it is dropped, its keys go to callers
/// that joined, or to the next caller.
async fn load_many<T, V, K, M, Q, E, F>(
    view: &V,
    keys: &[K],
    ttl: Ttl,
    load: impl FnMut(Vec<K>) -> F,
) -> Result<Vec<Option<T>>, Error>
where
    T: Serialize,
    V: NearView<T>,
    K: AsRef<[u8]> + Clone,
    M: IntoIterator<Item = (Q, T)>,
    Q: AsRef<[u8]>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
    F: Future<Output = Result<M, E>>,
{
    if view.cache().tier().waits() {
        return load_many_elsewhere(view, keys, ttl, load).await;
    }
    load_many_here(view, keys, ttl, load).await
}

/// Where no step waits.
async fn load_many_here<T, V, K, M, Q, E, F>(
    view: &V,
    keys: &[K],
    ttl: Ttl,
    mut load: impl FnMut(Vec<K>) -> F,
) -> Result<Vec<Option<T>>, Error>
where
    V: View<T>,
    K: AsRef<[u8]> + Clone,
    M: IntoIterator<Item = (Q, T)>,
    Q: AsRef<[u8]>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
    F: Future<Output = Result<M, E>>,
{
    let mut waits = Waits::new(view.cache(), What::Keys(keys.len()));
    let mut batch = Batch::new(view, keys, ttl, 0, now())?;
    let mut timer = pin!(sleep(Duration::ZERO));
    loop {
        let next = poll_fn(|context| loop {
            match batch.next(|| context.waker().clone(), now())? {
                BatchNext::Wait(time) => {
                    waits.begin();
                    timer.as_mut().reset(Instant::now() + time);
                    ready!(timer.as_mut().poll(context));
                }
                next => return Poll::Ready(Ok::<_, Error>(next)),
            }
        });
        if let BatchNext::Done = next.await? {
            return Ok(batch.into_values());
        }
        waits.pause();
        let asked: Vec<K> = batch.asked().map(|place| keys[place].clone()).collect();
        let began = now();
        let what = What::Keys(asked.len());
        let load = async { load(asked).await.map_err(Error::of_loader) };
        match observe::load_async(view.cache(), what, load).await {
            Ok(loaded) => batch.loaded(loaded, now().saturating_sub(began))?,
            Err(error) => return Err(batch.failed(error)),
        }
    }
}

/// Keys that other threads have, too.
type OwnKeys = Vec<Arc<[u8]>>;

impl BatchKeys for OwnKeys {
    type Key = Arc<[u8]>;

    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn key(&self, place: usize) -> Arc<[u8]> {
        self[place].clone()
    }
}

/// Where each step may wait for a server.
async fn load_many_elsewhere<T, V, K, M, Q, E, F>(
    view: &V,
    keys: &[K],
    ttl: Ttl,
    mut load: impl FnMut(Vec<K>) -> F,
) -> Result<Vec<Option<T>>, Error>
where
    T: Serialize,
    V: NearView<T>,
    K: AsRef<[u8]> + Clone,
    M: IntoIterator<Item = (Q, T)>,
    Q: AsRef<[u8]>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
    F: Future<Output = Result<M, E>>,
{
    let cache = view.cache();
    cache.still_open()?;
    let near = keys.iter().map(|key| view.find_near(key.as_ref()));
    let mut values = near.collect::<Result<Vec<Option<T>>, Error>>()?;
    // The places of the others.
    let absent = |place: &usize| values[*place].is_none();
    let places: Vec<usize> = (0..keys.len()).filter(absent).collect();
    if places.is_empty() {
        return Ok(values);
    }
    let mut waits = Waits::new(cache, What::Keys(keys.len()));
    let woken = Woken::default();
    let own = places.iter().map(|place| keys[*place].as_ref().into());
    let (bytes, own): (_, OwnKeys) = (ByteView(cache.clone()), own.collect());
    let find = move || Batch::new(bytes, own, ttl, 0, now()).map(Elsewhere::new);
    let mut batch: Elsewhere<Batch<ByteView, OwnKeys, ByteValue>> = blocking(find).await?;
    loop {
        let waker = woken.waker();
        let step = batch.step(move |batch| {
            let next = batch.next(|| waker.clone(), now())?;
            // What it gives up for a loader goes to others.
            let asked: Vec<usize> = match next {
                BatchNext::Load => batch.asked().collect(),
                BatchNext::Done | BatchNext::Wait(_) => Vec::new(),
            };
            Ok((next, asked))
        });
        let (stepped, (next, asked)) = step.await?;
        batch = stepped;
        match next {
            BatchNext::Done => break,
            BatchNext::Wait(time) => {
                waits.begin();
                woken.wait(time).await;
                continue;
            }
            BatchNext::Load => waits.pause(),
        }
        let asked: Vec<usize> = asked.into_iter().map(|place| places[place]).collect();
        let asked_keys = asked.iter().map(|place| keys[*place].clone()).collect();
        let began = now();
        let load = async { load(asked_keys).await.map_err(Error::of_loader) };
        match observe::load_async(cache, What::Keys(asked.len()), load).await {
            Ok(loaded) => {
                let took = now().saturating_sub(began);
                let loaded = encode_many(cache, keys, &asked, ttl, loaded, &mut values)?;
                let store = move |batch: &mut Batch<_, _, _>| batch.loaded(loaded, took);
                (batch, ()) = batch.step(store).await?;
            }
            Err(error) => {
                let fail = move |batch: &mut Batch<_, _, _>| Ok(batch.failed(error));
                return Err(batch.step(fail).await?.1);
            }
        }
    }
    for (place, found) in places.iter().zip(batch.into_inner().into_values()) {
        // What was loaded is there already.
        if let Some(ByteValue::Found(bytes, origin)) = found {
            let value = view.read_bytes(keys[*place].as_ref(), &bytes, origin)?;
            values[*place] = Some(value);
        }
    }
    Ok(values)
}

/// The entries of what a loader returned; the values are kept at the places of their keys.
fn encode_many<T: Serialize, K: AsRef<[u8]>, Q: AsRef<[u8]>>(
    cache: &Cache,
    keys: &[K],
    asked: &[usize],
    ttl: Ttl,
    loaded: impl IntoIterator<Item = (Q, T)>,
    values: &mut [Option<T>],
) -> Result<Vec<(Vec<u8>, ByteValue)>, Error> {
    let asked = asked.iter().map(|place| (keys[*place].as_ref(), *place));
    let places: HashMap<&[u8], usize> = asked.collect();
    let mut encoded = Vec::with_capacity(places.len());
    for (key, value) in loaded {
        let key = key.as_ref();
        let entry = cache.encoded(key, &value, ttl, cache.settings().time_to_idle)?;
        encoded.push((key.to_vec(), ByteValue::Loaded(entry)));
        // One that it was not asked for is refused with all others.
        if let Some(place) = places.get(key) {
            values[*place] = Some(value);
        }
    }
    Ok(encoded)
}

#[cfg(feature = "remote")]
impl AsyncCache {
    pub(super) async fn get_many_elsewhere<T: DeserializeOwned, K: AsRef<[u8]> + Eq + Hash>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<HashMap<K, T>, Error> {
        self.0.still_open()?;
        let (mut found, mut missing) = (HashMap::new(), Vec::new());
        for key in keys {
            match self.0.get_near_by(key.as_ref(), reading_typed)? {
                Some((value, _)) => drop(found.insert(key, value)),
                None => missing.push(key),
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let own: Vec<Vec<u8>> = missing.iter().map(|key| key.as_ref().to_vec()).collect();
        let cache = self.0.clone();
        let read = blocking(move || {
            let own: Vec<&[u8]> = own.iter().map(Vec::as_slice).collect();
            let remote = cache.tier().remote().expect("a tier that waits is remote");
            cache.get_several(remote, &own, || reading_bytes)
        });
        for (key, bytes) in missing.into_iter().zip(read.await?) {
            if let Some(value) = self.decoded(key.as_ref(), bytes)? {
                found.insert(key, value);
            }
        }
        Ok(found)
    }

    pub(super) async fn set_many_elsewhere<K: AsRef<[u8]>, T: Serialize>(
        &self,
        entries: impl IntoIterator<Item = (K, T)>,
        ttl: Ttl,
    ) -> Result<(), Error> {
        self.0.still_open()?;
        ttl.check()?;
        let entries = entries.into_iter().map(|(key, value)| {
            let key = key.as_ref();
            Ok((key.to_vec(), self.encoded(key, &value, ttl)?))
        });
        let entries = entries.collect::<Result<Vec<_>, Error>>()?;
        let cache = self.0.clone();
        blocking(move || {
            let remote = cache.tier().remote().expect("a tier that waits is remote");
            let entries = entries.into_iter();
            let entries = entries.map(|(key, encoded)| (key, writing_encoded(encoded)));
            cache.set_several(remote, entries, Ttl::Forever)
        })
        .await
    }
}
