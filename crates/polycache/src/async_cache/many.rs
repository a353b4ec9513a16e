//! One loader for many keys, without blocking.

use super::AsyncCache;
use crate::batch::{self, Batch, BatchNext};
use crate::caller::{since_start, View};
use crate::observe::{self, Waits, What};
use crate::{Error, Ttl, TypedCache, TypedValue};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::collections::HashMap;
use std::future::{poll_fn, Future};
use std::hash::Hash;
use std::pin::pin;
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
    mut load: impl FnMut(Vec<K>) -> F,
) -> Result<Vec<Option<T>>, Error>
where
    T: Serialize,
    V: View<T>,
    K: AsRef<[u8]> + Clone,
    M: IntoIterator<Item = (Q, T)>,
    Q: AsRef<[u8]>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
    F: Future<Output = Result<M, E>>,
{
    let now = || since_start(Instant::now().into_std());
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
        let (asked, began) = (batch.asked(), now());
        let what = What::Keys(asked.len());
        let load = async { load(asked).await.map_err(Error::of_loader) };
        match observe::load_async(view.cache(), what, load).await {
            Ok(loaded) => batch.loaded(loaded, now().saturating_sub(began))?,
            Err(error) => return Err(batch.failed(error)),
        }
    }
}
