//! The cache as Rust programs use it: any serde type in, any serde type out.

use crate::{Cache, Error, Ttl, Value};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::collections::HashMap;
use std::hash::Hash;

/// Reading and writing typed values. `T` is any serde type; [`Value`] takes every row of the type map.
///
/// Other languages read structs as maps, enums as serde writes them, and `Vec<u8>` as a list of
/// integers (write [`Value::Bytes`] for bytes). A map whose keys are not text is refused.
impl Cache {
    /// The key's value; `None` is a miss.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// cache.set("visits", &41)?;
    /// assert_eq!(cache.get("visits")?, Some(41));
    /// assert_eq!(cache.get::<String>("absent")?, None);
    /// assert_eq!(cache.get::<String>("visits").unwrap_err().code(), "wrong_type");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `WrongType` when the value is not a `T`, and those of [`Cache::get_with`].
    pub fn get<T: DeserializeOwned>(&self, key: impl AsRef<[u8]>) -> Result<Option<T>, Error> {
        self.get_typed(key.as_ref())
    }

    /// Stores a value under the key, with the cache's default time to live. Every read on this
    /// machine that begins after it returned sees it or a later one.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
    /// struct User { name: String, age: u8 }
    ///
    /// let ada = User { name: "Ada".into(), age: 36 };
    /// cache.set("user:1", &ada)?; // {"name": "Ada", "age": 36} for every other language
    /// assert_eq!(cache.get("user:1")?, Some(ada));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::set_value`].
    pub fn set<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
    ) -> Result<(), Error> {
        self.set_with_ttl(key, value, Ttl::Default)
    }

    /// Stores a value with a time to live: a [`Duration`](std::time::Duration) or a [`Ttl`].
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// use polycache::{duration, Ttl, TtlLeft};
    /// cache.set_with_ttl("session", "s3cr3t", duration::parse("5m")?)?;
    /// cache.set_with_ttl("constant", &299_792_458, Ttl::Forever)?;
    /// assert_eq!(cache.ttl("constant")?, Some(TtlLeft::Forever));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::set_value`].
    pub fn set_with_ttl<T: Serialize + ?Sized>(
        &self,
        key: impl AsRef<[u8]>,
        value: &T,
        ttl: impl Into<Ttl>,
    ) -> Result<(), Error> {
        let ttl = ttl.into();
        ttl.check()?;
        self.set_typed(key.as_ref(), value, ttl)
    }

    /// The key's value as it is stored, owned.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// use polycache::Value;
    /// cache.set("k", &["a", "b"])?;
    /// assert_eq!(cache.get_value("k")?, Some(Value::List(vec!["a".into(), "b".into()])));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::get_with`].
    pub fn get_value(&self, key: impl AsRef<[u8]>) -> Result<Option<Value<'static>>, Error> {
        self.get_with(key.as_ref(), |value| value.into_owned())
    }

    /// The values of the keys that are there.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// cache.set_many([("a", 1), ("b", 2)])?;
    /// let found = cache.get_many::<u32, _>(["a", "b", "c"])?;
    /// assert_eq!(found.len(), 2);
    /// assert_eq!(found["b"], 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::get`], for the first key that cannot be read.
    pub fn get_many<T: DeserializeOwned, K: AsRef<[u8]> + Eq + Hash>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<HashMap<K, T>, Error> {
        self.still_open()?;
        let keys = keys.into_iter();
        #[cfg(feature = "remote")]
        if let Some(remote) = self.tier().remote() {
            let keys: Vec<K> = keys.collect();
            let bytes: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
            let values = self.get_several(remote, &bytes, || crate::cache::reading_typed)?;
            let found = keys.into_iter().zip(values);
            return Ok(found
                .filter_map(|(key, value)| Some((key, value?)))
                .collect());
        }
        let mut found = HashMap::with_capacity(keys.size_hint().0);
        self.each_prefetched(keys, |key| {
            if let Some(value) = self.get(&key)? {
                found.insert(key, value);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Stores several values with the cache's default time to live, in order.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// let stock = std::collections::HashMap::from([("apples", 3), ("pears", 5)]);
    /// cache.set_many(&stock)?;
    /// assert_eq!(cache.get("pears")?, Some(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::set`], for the first value that cannot be stored; those before it are stored.
    pub fn set_many<K: AsRef<[u8]>, T: Serialize>(
        &self,
        entries: impl IntoIterator<Item = (K, T)>,
    ) -> Result<(), Error> {
        self.set_many_with_ttl(entries, Ttl::Default)
    }

    /// Stores several values with one time to live, in order.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// use std::time::Duration;
    /// cache.set_many_with_ttl([("a", 1), ("b", 2)], Duration::from_secs(60))?;
    /// assert!(cache.has("b")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::set_many`].
    pub fn set_many_with_ttl<K: AsRef<[u8]>, T: Serialize>(
        &self,
        entries: impl IntoIterator<Item = (K, T)>,
        ttl: impl Into<Ttl>,
    ) -> Result<(), Error> {
        let ttl = ttl.into();
        ttl.check()?;
        self.still_open()?;
        #[cfg(feature = "remote")]
        if let Some(remote) = self.tier().remote() {
            let entries: Vec<(K, T)> = entries.into_iter().collect();
            let entries = entries.iter().map(|(key, value)| {
                let write = crate::conditional::writing(value);
                (key.as_ref().to_vec(), write)
            });
            return self.set_several(remote, entries, ttl);
        }
        for (key, value) in entries {
            self.set_with_ttl(key, &value, ttl)?;
        }
        Ok(())
    }

    /// Deletes several keys; returns how many of them had an entry.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// cache.set_many([("a", 1), ("b", 2)])?;
    /// assert_eq!(cache.delete_many(["a", "b", "c"])?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Closed`.
    pub fn delete_many<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<u64, Error> {
        self.still_open()?;
        #[cfg(feature = "remote")]
        if let Some(remote) = self.tier().remote() {
            let keys: Vec<K> = keys.into_iter().collect();
            let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
            return self.delete_several(remote, &keys);
        }
        keys.into_iter()
            .try_fold(0, |deleted, key| Ok(deleted + u64::from(self.delete(key)?)))
    }
}
