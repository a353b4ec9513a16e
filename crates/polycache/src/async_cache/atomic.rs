//! Writing on a condition, updates and counting. None of these waits for others.

use super::AsyncCache;
use crate::cache::reading_typed;
use crate::update::ATTEMPTS;
use crate::{Error, Ttl, Update, Version};
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
        self.0.add(key, value)
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
        self.0.add_with_ttl(key, value, ttl)
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
        self.0.replace(key, value)
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
        self.0.replace_with_ttl(key, value, ttl)
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
        self.0.compare_and_set(key, version, value)
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
        self.0.compare_and_set_with_ttl(key, version, value, ttl)
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
            let (value, found) = self.0.find_to_update(key, reading_typed)?;
            let update = function(value).await;
            if self.0.carry_out(key, &found, ttl, &update, |_| None)? {
                return Ok(update.into_value());
            }
        }
        Err(Error::Conflict)
    }

    /// See [`Cache::increment`](crate::Cache::increment).
    ///
    /// # Errors
    /// The same errors.
    pub async fn increment(&self, key: impl AsRef<[u8]>, by: i64) -> Result<i64, Error> {
        self.0.increment(key, by)
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
        self.0.increment_with_ttl(key, by, initial, ttl)
    }

    /// See [`Cache::decrement`](crate::Cache::decrement).
    ///
    /// # Errors
    /// The same errors.
    pub async fn decrement(&self, key: impl AsRef<[u8]>, by: i64) -> Result<i64, Error> {
        self.0.decrement(key, by)
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
        self.0.decrement_with_ttl(key, by, initial, ttl)
    }
}
