//! How long an entry lives.

use crate::Error;
use polycache_memory::{Ttl, TtlLeft};
use std::time::{Duration, SystemTime};

/// When an entry written at `now` expires, in milliseconds since 1970; 0 is never. `default` is the
/// cache's own time to live, in milliseconds, 0 for none.
#[inline]
pub(crate) fn expires(ttl: Ttl, default: impl FnOnce() -> u64, now: u64) -> Result<u64, Error> {
    let ttl = match ttl {
        Ttl::Default => default(),
        Ttl::Forever => 0,
        Ttl::For(ttl) => milliseconds(ttl)?,
        Ttl::Until(time) => return Ok(Ttl::since_1970(time)),
    };
    Ok(match ttl {
        0 => 0,
        ttl => now.saturating_add(ttl).min(polycache_entry::MAX_TIME_MS),
    })
}

/// The time to live of an entry that is to expire when another one does, whose `expires` this is.
pub(crate) fn until(expires: u64) -> Ttl {
    match expires {
        0 => Ttl::Forever,
        expires => Ttl::Until(SystemTime::UNIX_EPOCH + Duration::from_millis(expires)),
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
    Ttl::milliseconds(ttl).ok_or_else(|| Ttl::refused("ttl", ttl).into())
}

/// A time to idle in milliseconds, as [`milliseconds`].
pub(crate) fn time_to_idle(time: Duration) -> Result<u64, Error> {
    Ttl::milliseconds(time).ok_or_else(|| Ttl::refused("time_to_idle", time).into())
}
