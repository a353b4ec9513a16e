//! Writing on a condition, updates and counting. None of these waits for others.

use super::bytes::{reading_bytes, writing_encoded};
use super::AsyncCache;
use crate::cache::reading_typed;
use crate::update::{Found, ATTEMPTS};
use crate::{Cache, Error, Ttl, Update, Version};
use serde::de::DeserializeOwned;
use serde::Serialize;

impl AsyncCache {
    /// See [`Cache::add`](crate::Cache::add).
    ///
    /// # Errors
    /// The same errors.
    pub async fn add<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
    ) -> Result<bool, Error> {
        self.add_with_ttl(key, value, Ttl::Default).await
    }

    /// See [`Cache::add_with_ttl`](crate::Cache::add_with_ttl).
    ///
    /// # Errors
    /// The same errors.
    pub async fn add_with_ttl<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<bool, Error> {
        if !self.waits() {
            return self.0.add_with_ttl(key, value, ttl);
        }
        let encoded = self.encoded(key.as_ref(), value, ttl.into())?;
        self.run(key, |cache, key| {
            cache.add_by(key, Ttl::Forever, writing_encoded(encoded), None)
        })
        .await
    }

    /// See [`Cache::replace`](crate::Cache::replace).
    ///
    /// # Errors
    /// The same errors.
    pub async fn replace<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
    ) -> Result<bool, Error> {
        self.replace_with_ttl(key, value, Ttl::Default).await
    }

    /// See [`Cache::replace_with_ttl`](crate::Cache::replace_with_ttl).
    ///
    /// # Errors
    /// The same errors.
    pub async fn replace_with_ttl<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<bool, Error> {
        if !self.waits() {
            return self.0.replace_with_ttl(key, value, ttl);
        }
        self.replace_elsewhere(key, value, ttl.into(), None).await
    }

    /// See [`Cache::compare_and_set`](crate::Cache::compare_and_set).
    ///
    /// # Errors
    /// The same errors.
    pub async fn compare_and_set<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        version: Version,
        value: &T,
    ) -> Result<bool, Error> {
        self.compare_and_set_with_ttl(key, version, value, Ttl::Default)
            .await
    }

    /// See [`Cache::compare_and_set_with_ttl`](crate::Cache::compare_and_set_with_ttl).
    ///
    /// # Errors
    /// The same errors.
    pub async fn compare_and_set_with_ttl<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        version: Version,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<bool, Error> {
        if !self.waits() {
            return self.0.compare_and_set_with_ttl(key, version, value, ttl);
        }
        self.replace_elsewhere(key, value, ttl.into(), Some(version))
            .await
    }

    async fn replace_elsewhere<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
        ttl: Ttl,
        version: Option<Version>,
    ) -> Result<bool, Error> {
        let encoded = self.encoded(key.as_ref(), value, ttl)?;
        self.run(key, move |cache, key| {
            let write = writing_encoded(encoded);
            cache.replace_by(key, Ttl::Forever, write, None, version)
        })
        .await
    }

    /// See [`Cache::update`](crate::Cache::update). The function may wait; it is called again if the key was changed
    /// meanwhile.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use polycache::{Cache, Update};
    ///
    /// let cache = Cache::builder().build_async().await?;
    /// cache.set("words", "one").await?;
    /// let longer = async |words: Option<String>| Update::Set(words.unwrap_or_default() + " two");
    /// assert_eq!(cache.update("words", longer).await?.as_deref(), Some("one two"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The same errors.
    pub async fn update<T, F>(
        &self,
        key: impl AsRef<[u8]>,
        function: impl FnMut(Option<T>) -> F,
    ) -> Result<Option<T>, Error>
    where
        T: Serialize + DeserializeOwned,
        F: std::future::Future<Output = Update<T>>,
    {
        self.update_by(key.as_ref(), None, function).await
    }

    /// See [`Cache::update_with_ttl`](crate::Cache::update_with_ttl), and [`AsyncCache::update`].
    ///
    /// # Errors
    /// The same errors.
    pub async fn update_with_ttl<T, F>(
        &self,
        key: impl AsRef<[u8]>,
        ttl: impl Into<Ttl>,
        function: impl FnMut(Option<T>) -> F,
    ) -> Result<Option<T>, Error>
    where
        T: Serialize + DeserializeOwned,
        F: std::future::Future<Output = Update<T>>,
    {
        self.update_by(key.as_ref(), Some(ttl.into()), function)
            .await
    }

    async fn update_by<T, F>(
        &self,
        key: &[u8],
        ttl: Option<Ttl>,
        mut function: impl FnMut(Option<T>) -> F,
    ) -> Result<Option<T>, Error>
    where
        T: Serialize + DeserializeOwned,
        F: std::future::Future<Output = Update<T>>,
    {
        ttl.unwrap_or_default().check()?;
        for _ in 0..ATTEMPTS {
            let (value, found) = self.find_to_update(key).await?;
            let update = function(value).await;
            if self.carry_out(key, found, ttl, &update).await? {
                return Ok(update.into_value());
            }
        }
        Err(Error::Conflict)
    }

    async fn find_to_update<T: DeserializeOwned>(
        &self,
        key: &[u8],
    ) -> Result<(Option<T>, Found), Error> {
        if !self.waits() {
            return self.0.find_to_update(key, reading_typed);
        }
        let find = |cache: &Cache, key: &[u8]| cache.find_to_update(key, reading_bytes);
        let (bytes, found) = self.run(key, find).await?;
        let value = bytes.map(|bytes| self.0.read_bytes(key, &bytes, reading_typed));
        Ok((value.transpose()?, found))
    }

    async fn carry_out<T: Serialize>(
        &self,
        key: &[u8],
        found: Found,
        ttl: Option<Ttl>,
        update: &Update<T>,
    ) -> Result<bool, Error> {
        if !self.waits() {
            return self.0.carry_out(key, &found, ttl, update, |_| None);
        }
        match update {
            Update::Set(new) => {
                let ttl = ttl.unwrap_or_else(|| found.kept_ttl(Ttl::Default));
                let encoded = self.0.encoded(key, new, ttl, found.time_to_idle())?;
                self.run(key, move |cache, key| {
                    let write = writing_encoded(encoded);
                    cache.set_updated(key, &found, Some(Ttl::Forever), write, None)
                })
                .await
            }
            Update::Delete => {
                self.run(key, move |cache, key| cache.delete_updated(key, &found))
                    .await
            }
            Update::Leave => Ok(true),
        }
    }

    /// See [`Cache::increment`](crate::Cache::increment).
    ///
    /// # Errors
    /// The same errors.
    pub async fn increment(&self, key: impl AsRef<[u8]>, by: i64) -> Result<i64, Error> {
        self.run(key, move |cache, key| cache.increment(key, by))
            .await
    }

    /// See [`Cache::increment_with_ttl`](crate::Cache::increment_with_ttl).
    ///
    /// # Errors
    /// The same errors.
    pub async fn increment_with_ttl(
        &self,
        key: impl AsRef<[u8]>,
        by: i64,
        initial: i64,
        ttl: impl Into<Ttl>,
    ) -> Result<i64, Error> {
        let ttl = ttl.into();
        self.run(key, move |cache, key| {
            cache.increment_with_ttl(key, by, initial, ttl)
        })
        .await
    }

    /// See [`Cache::decrement`](crate::Cache::decrement).
    ///
    /// # Errors
    /// The same errors.
    pub async fn decrement(&self, key: impl AsRef<[u8]>, by: i64) -> Result<i64, Error> {
        self.run(key, move |cache, key| cache.decrement(key, by))
            .await
    }

    /// See [`Cache::decrement_with_ttl`](crate::Cache::decrement_with_ttl).
    ///
    /// # Errors
    /// The same errors.
    pub async fn decrement_with_ttl(
        &self,
        key: impl AsRef<[u8]>,
        by: i64,
        initial: i64,
        ttl: impl Into<Ttl>,
    ) -> Result<i64, Error> {
        let ttl = ttl.into();
        self.run(key, move |cache, key| {
            cache.decrement_with_ttl(key, by, initial, ttl)
        })
        .await
    }
}
