//! Caches that load what they lack.

use crate::{Error, TypedCache, TypedValue};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

type Loader<K, T> = dyn Fn(&K) -> Result<T, Error> + Send + Sync;

/// A [`TypedCache`] with a loader: a read of a missing key loads it. Of all callers on this machine one loads, as with
/// [`Cache::get_or_set`](crate::Cache::get_or_set). From [`TypedCache::with_loader`]. Cheap to clone.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path();
/// use polycache::Cache;
///
/// let lengths = Cache::builder()
///     .path(path)
///     .namespace("file lengths")
///     .build()?
///     .typed::<u64>()?
///     .with_loader(|path: &str| std::fs::metadata(path).map(|data| data.len()));
/// let length = lengths.get("/proc/version")?;
/// assert_eq!(lengths.peek("/proc/version")?, Some(length));
/// assert_eq!(lengths.peek("/proc/cpuinfo")?, None);
/// assert_eq!(lengths.get("/nowhere").unwrap_err().code(), "loader_failed");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ReadThrough<K: ?Sized, T: TypedValue> {
    cache: TypedCache<T>,
    load: Arc<Loader<K, T>>,
    key: PhantomData<fn(&K)>,
}

impl<K: ?Sized, T: TypedValue> Clone for ReadThrough<K, T> {
    fn clone(&self) -> Self {
        ReadThrough {
            cache: self.cache.clone(),
            load: self.load.clone(),
            key: PhantomData,
        }
    }
}

impl<K: ?Sized, T: TypedValue> fmt::Debug for ReadThrough<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadThrough").field(&self.cache).finish()
    }
}

impl<T: TypedValue> TypedCache<T> {
    /// This cache, with a loader for missing keys. It takes keys of one type: that of the closure's argument.
    #[must_use]
    pub fn with_loader<K, E>(
        self,
        load: impl Fn(&K) -> Result<T, E> + Send + Sync + 'static,
    ) -> ReadThrough<K, T>
    where
        K: AsRef<[u8]> + ?Sized,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        ReadThrough {
            cache: self,
            load: Arc::new(move |key| load(key).map_err(Error::of_loader)),
            key: PhantomData,
        }
    }
}

impl<K: AsRef<[u8]> + ?Sized, T: TypedValue> ReadThrough<K, T> {
    /// The key's value, loaded when it is not there.
    ///
    /// # Errors
    /// Those of [`Cache::get_or_set`](crate::Cache::get_or_set).
    pub fn get(&self, key: &K) -> Result<T, Error> {
        self.cache.get_or_load(key.as_ref(), || (self.load)(key))
    }

    /// The key's value if it is there; nothing is loaded, and the entry is not used, as [`TypedCache::peek`].
    ///
    /// # Errors
    /// Those of [`Cache::get`](crate::Cache::get).
    pub fn peek(&self, key: &K) -> Result<Option<T>, Error> {
        self.cache.peek(key)
    }

    /// Loads the key again, whether it is there or not, and stores what comes. Others get the old value meanwhile. A
    /// load that is under way already is not joined, because it may have begun too early.
    ///
    /// A set, delete or clear during the load wins: then only the caller gets the loaded value, and the key is deleted,
    /// so that the next reader loads it.
    ///
    /// # Errors
    /// The loader's, as `LoaderFailed`, after which the old value stays; those of [`Cache::set`](crate::Cache::set).
    pub fn refresh(&self, key: &K) -> Result<T, Error> {
        self.cache.reload(key.as_ref(), || (self.load)(key))
    }

    /// The cache without its loader, for everything else.
    #[must_use]
    pub fn cache(&self) -> &TypedCache<T> {
        &self.cache
    }
}
