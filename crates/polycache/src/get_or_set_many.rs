//! One loader for many keys, asked for those that are missing.

use crate::{batch, driver, Cache, Error, Ttl};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::collections::HashMap;
use std::hash::Hash;

impl Cache {
    /// The values of the keys, as [`Cache::get_many`] gives them; missing ones are loaded. The loader is called with
    /// the list of the keys that this caller is to load, no key twice, and returns them with their values. A key that
    /// it leaves out is not stored, and missing in the result.
    ///
    /// The rules of [`Cache::get_or_set`] hold for each key: of all callers on this machine one loads it. This caller
    /// first loads its own keys, in one call, and then waits for what others load. The loader is called again only if
    /// such a load brings nothing.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// use std::convert::Infallible;
    /// cache.set("1", "Ada")?;
    /// let names = cache.get_or_set_many(["1", "2", "3"], |missing| {
    ///     assert_eq!(missing, ["2", "3"]);
    ///     // SELECT id, name FROM users WHERE id IN (2, 3)
    ///     Ok::<_, Infallible>([("2", "Grace".to_owned())])
    /// })?;
    /// assert_eq!((names.len(), names["2"].as_str()), (2, "Grace"));
    /// assert_eq!(cache.get("2")?, Some("Grace".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::get_or_set`], for the first key; `InvalidArgument` for a key that the loader was not asked for:
    /// then nothing of what it returned is stored.
    pub fn get_or_set_many<K, T, M, Q, E>(
        &self,
        keys: impl IntoIterator<Item = K>,
        load: impl FnMut(Vec<K>) -> Result<M, E>,
    ) -> Result<HashMap<K, T>, Error>
    where
        K: AsRef<[u8]> + Clone + Eq + Hash,
        T: Serialize + DeserializeOwned,
        M: IntoIterator<Item = (Q, T)>,
        Q: AsRef<[u8]>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.get_or_set_many_with_ttl(keys, Ttl::Default, load)
    }

    /// As [`Cache::get_or_set_many`], with one time to live for all, which counts from the end of the load.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// use std::{convert::Infallible, time::Duration};
    /// let squares = cache.get_or_set_many_with_ttl(["2", "3"], Duration::from_secs(60), |missing| {
    ///     let square = |number: &str| number.parse().map_or(0, |number: u64| number * number);
    ///     Ok::<_, Infallible>(missing.into_iter().map(move |number| (number, square(number))))
    /// })?;
    /// assert_eq!(squares["3"], 9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cache::get_or_set_many`].
    pub fn get_or_set_many_with_ttl<K, T, M, Q, E>(
        &self,
        keys: impl IntoIterator<Item = K>,
        ttl: impl Into<Ttl>,
        mut load: impl FnMut(Vec<K>) -> Result<M, E>,
    ) -> Result<HashMap<K, T>, Error>
    where
        K: AsRef<[u8]> + Clone + Eq + Hash,
        T: Serialize + DeserializeOwned,
        M: IntoIterator<Item = (Q, T)>,
        Q: AsRef<[u8]>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (keys, ttl) = (batch::distinct(keys), ttl.into());
        ttl.check()?;
        let values = driver::load_many(self, &keys, ttl, |asked| {
            load(asked).map_err(Error::of_loader)
        })?;
        Ok(batch::found(keys, values))
    }
}
