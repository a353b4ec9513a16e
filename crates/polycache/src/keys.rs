//! Iteration over the keys of a namespace.

use crate::{Cache, Error};

/// Places of the index that are looked at in one go.
const PAGE: u64 = 4096;

impl Cache {
    /// The keys of this namespace that begin with `prefix`, in no order, looked up page by page. A
    /// key whose entry stays throughout comes exactly once. Keys of nested namespaces are left out.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// cache.set_many([("user:1", 1), ("user:2", 2), ("item:1", 3)])?;
    /// let mut users = cache.keys("user:").collect::<Result<Vec<_>, _>>()?;
    /// users.sort();
    /// assert_eq!(users, [b"user:1", b"user:2"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Closed`, after which the iterator ends.
    pub fn keys(&self, prefix: impl AsRef<[u8]>) -> Keys {
        Keys {
            cache: self.clone(),
            prefix: prefix.as_ref().to_owned(),
            cursor: Some(0),
            page: Vec::new(),
        }
    }
}

impl Cache {
    /// Deletes the keys of this namespace that begin with `prefix`, and returns how many entries it deleted. Keys of
    /// nested namespaces stay, and keys written meanwhile may. It walks the whole index, as [`Cache::keys`] does, and
    /// deletes one key after the other: use [`Cache::clear`] for a whole namespace.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// cache.set_many([("user:1", 1), ("user:2", 2), ("item:1", 3)])?;
    /// assert_eq!(cache.delete_prefix("user:")?, 2);
    /// assert!(cache.has("item:1")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Closed`.
    pub fn delete_prefix(&self, prefix: impl AsRef<[u8]>) -> Result<u64, Error> {
        self.keys(prefix).try_fold(
            0,
            |deleted, key| Ok(deleted + u64::from(self.delete(key?)?)),
        )
    }
}

/// The iterator of [`Cache::keys`].
#[derive(Debug)]
pub struct Keys {
    cache: Cache,
    prefix: Vec<u8>,
    cursor: Option<u64>,
    page: Vec<Vec<u8>>,
}

impl Iterator for Keys {
    type Item = Result<Vec<u8>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(key) = self.page.pop() {
                return Some(Ok(key));
            }
            let cursor = self.cursor.take()?;
            let page = &mut self.page;
            match self.cache.tier().keys(&self.prefix, cursor, PAGE, page) {
                Ok(next) => self.cursor = next,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl std::iter::FusedIterator for Keys {}
