//! Counting: integers of 64 bits that many callers change at once.

use crate::cache::reading;
use crate::conditional::writing_value;
use crate::{Cache, Error, Ttl, Value};

impl Cache {
    /// Adds to the key's integer and returns the sum. A key without an entry counts as 0. The entry keeps its time to
    /// live; a new one has the cache's default. No addition is lost, whoever adds at once, in whatever language.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// assert_eq!(cache.increment("visits", 1)?, 1);
    /// assert_eq!(cache.increment("visits", 10)?, 11);
    /// assert_eq!(cache.decrement("visits", 1)?, 10);
    /// cache.set("name", "Ada")?;
    /// assert_eq!(cache.increment("name", 1).unwrap_err().code(), "wrong_type");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `WrongType` when the value is not an integer, `IntegerOverflow` when it or the sum does not fit 64 bits with a
    /// sign; those of [`Cache::get`] and [`Cache::set_value`]. Nothing has changed after any of them.
    pub fn increment(&self, key: impl AsRef<[u8]>, by: i64) -> Result<i64, Error> {
        self.increment_with_ttl(key, by, 0, Ttl::Default)
    }

    /// As [`Cache::increment`]. A key without an entry counts as `initial`, and has this time to live from then on.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let cache = polycache::Cache::builder().path(directory.path()).build()?;
    /// use std::time::Duration;
    /// let minute = Duration::from_secs(60);
    /// assert_eq!(cache.decrement_with_ttl("calls left", 1, 100, minute)?, 99);
    /// assert_eq!(cache.decrement_with_ttl("calls left", 1, 100, minute)?, 98);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The same errors.
    pub fn increment_with_ttl(
        &self,
        key: impl AsRef<[u8]>,
        by: i64,
        initial: i64,
        ttl: impl Into<Ttl>,
    ) -> Result<i64, Error> {
        self.sum(key.as_ref(), i128::from(by), initial, ttl.into())
    }

    /// Subtracts from the key's integer and returns what is left; see [`Cache::increment`].
    ///
    /// # Errors
    /// The same errors.
    pub fn decrement(&self, key: impl AsRef<[u8]>, by: i64) -> Result<i64, Error> {
        self.decrement_with_ttl(key, by, 0, Ttl::Default)
    }

    /// As [`Cache::decrement`], with what an absent key counts as, and its time to live; see
    /// [`Cache::increment_with_ttl`].
    ///
    /// # Errors
    /// The same errors.
    pub fn decrement_with_ttl(
        &self,
        key: impl AsRef<[u8]>,
        by: i64,
        initial: i64,
        ttl: impl Into<Ttl>,
    ) -> Result<i64, Error> {
        self.sum(key.as_ref(), -i128::from(by), initial, ttl.into())
    }

    fn sum(&self, key: &[u8], by: i128, initial: i64, ttl: Ttl) -> Result<i64, Error> {
        ttl.check()?;
        loop {
            let (there, found) = self.find_to_update(key, reading(|value| integer(&value)))?;
            let there = there.unwrap_or(Ok(i128::from(initial)))?;
            let sum = fitting(there + by)?;
            let (value, ttl) = (Value::from(sum), found.kept_ttl(ttl));
            // Where others come first, one of them has counted: all together always go on.
            if self.set_updated(key, &found, Some(ttl), writing_value(&value), None)? {
                return Ok(sum);
            }
        }
    }
}

/// The integer, for one of 64 bits.
fn integer(value: &Value<'_>) -> Result<i128, Error> {
    match value {
        Value::Int(integer) => fitting(*integer).map(i128::from),
        Value::BigInt(_) => Err(overflow()),
        _ => Err(Error::WrongType {
            path: "$".into(),
            reason: "only an integer can be counted up and down".into(),
        }),
    }
}

fn fitting(integer: i128) -> Result<i64, Error> {
    i64::try_from(integer).map_err(|_| overflow())
}

#[cold]
fn overflow() -> Error {
    Error::IntegerOverflow(
        "the integer would not fit 64 bits with a sign (-2^63 to 2^63 - 1); nothing was stored"
            .into(),
    )
}
