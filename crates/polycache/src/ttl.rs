//! How long an entry lives.

use crate::Error;
use std::time::Duration;

/// The longest time to live, in milliseconds: what the entry's 48 bits hold.
const MAX_MS: u128 = polycache_entry::MAX_TIME_MS as u128;

/// The time to live that a write gives its entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ttl {
    /// The cache's own `ttl` option; without one the entry does not expire.
    #[default]
    Default,
    /// The entry does not expire, whatever the cache's `ttl` says.
    Forever,
    /// This long; rounded up to a millisecond, at most 2^48 - 1 of them.
    For(Duration),
}

impl From<Duration> for Ttl {
    fn from(ttl: Duration) -> Ttl {
        Ttl::For(ttl)
    }
}

/// The time that an entry has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TtlLeft {
    /// It does not expire.
    Forever,
    /// This long, in whole milliseconds.
    For(Duration),
}

impl Ttl {
    /// Refuses what no write accepts, before anything is loaded for it.
    ///
    /// # Errors
    /// `InvalidArgument` for 0 and for more than 2^48 - 1 ms.
    pub fn check(self) -> Result<(), Error> {
        match self {
            Ttl::For(ttl) => milliseconds(ttl).map(drop),
            Ttl::Default | Ttl::Forever => Ok(()),
        }
    }

    /// When an entry written at `now` expires, in milliseconds since 1970; 0 is never.
    pub(crate) fn expires(self, default: u64, now: u64) -> Result<u64, Error> {
        let ttl = match self {
            Ttl::Default => default,
            Ttl::Forever => 0,
            Ttl::For(ttl) => milliseconds(ttl)?,
        };
        Ok(match ttl {
            0 => 0,
            ttl => now.saturating_add(ttl).min(polycache_entry::MAX_TIME_MS),
        })
    }
}

/// The time left at `now` for an entry that expires then.
pub(crate) fn left(expires: u64, now: u64) -> TtlLeft {
    match expires {
        0 => TtlLeft::Forever,
        expires => TtlLeft::For(Duration::from_millis(expires.saturating_sub(now))),
    }
}

/// A time to live in milliseconds, rounded up so that it is never 0.
pub(crate) fn milliseconds(ttl: Duration) -> Result<u64, Error> {
    let ms = ttl.as_nanos().div_ceil(1_000_000);
    if ms == 0 || ms > MAX_MS {
        return Err(Error::InvalidArgument(format!(
            "a ttl of {ttl:?} is not a time to live: it is longer than 0 and at most 2^48 - 1 ms"
        )));
    }
    Ok(ms as u64)
}
