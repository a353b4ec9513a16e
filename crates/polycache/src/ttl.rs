//! How long an entry lives.

use crate::Error;
use polycache_memory::{Ttl, TtlLeft};
use std::time::Duration;

/// The longest time to live, in milliseconds: what the entry's 48 bits hold.
const MAX_MS: u64 = polycache_entry::MAX_TIME_MS;

/// When an entry written at `now` expires, in milliseconds since 1970; 0 is never. `default` is the
/// cache's own time to live, in milliseconds, 0 for none.
#[inline]
pub(crate) fn expires(ttl: Ttl, default: impl FnOnce() -> u64, now: u64) -> Result<u64, Error> {
    let ttl = match ttl {
        Ttl::Default => default(),
        Ttl::Forever => 0,
        Ttl::For(ttl) => milliseconds(ttl)?,
    };
    Ok(match ttl {
        0 => 0,
        ttl => now.saturating_add(ttl).min(polycache_entry::MAX_TIME_MS),
    })
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
    // Not by as_nanos: a division of 128 bits takes longer than everything else here.
    let below_a_second = u64::from(ttl.subsec_nanos().div_ceil(1_000_000));
    let whole = ttl.as_secs().checked_mul(1000);
    match whole.and_then(|ms| ms.checked_add(below_a_second)) {
        Some(ms @ 1..=MAX_MS) => Ok(ms),
        _ => Err(Error::InvalidArgument(format!(
            "a ttl of {ttl:?} is not a time to live: it is longer than 0 and at most 2^48 - 1 ms"
        ))),
    }
}
