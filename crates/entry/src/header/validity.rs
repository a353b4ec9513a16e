//! The facts at fixed offsets, for readers that decide on an entry before they verify it.

use super::{time_at, HEADER_LEN};

/// Milliseconds by which an entry's `created` may lie in the future when it has a time to live. It
/// bounds what a clock that was set back can revive.
pub const CLOCK_TOLERANCE_MS: u64 = 1000;

/// When `entry` was written, in milliseconds since 1970. Total: checks nothing, and is 0 for fewer
/// than 24 bytes.
pub fn created(entry: &[u8]) -> u64 {
    entry
        .first_chunk::<HEADER_LEN>()
        .map_or(0, |fixed| time_at(fixed, 8))
}

/// When `entry` ceases to be valid, in milliseconds since 1970; 0 is never. Total: checks nothing,
/// and is 0 for fewer than 24 bytes.
pub fn expires(entry: &[u8]) -> u64 {
    entry
        .first_chunk::<HEADER_LEN>()
        .map_or(0, |fixed| time_at(fixed, 16))
}

/// Whether `entry` is served at `now_ms`, in milliseconds since 1970: it never expires, or `now_ms`
/// lies before its expiry and not more than [`CLOCK_TOLERANCE_MS`] before its creation. Total:
/// checks nothing else, and is false for fewer than 24 bytes.
pub fn is_valid_at(entry: &[u8], now_ms: u64) -> bool {
    let Some(fixed) = entry.first_chunk::<HEADER_LEN>() else {
        return false;
    };
    let expires = time_at(fixed, 16);
    expires == 0
        || (time_at(fixed, 8) <= now_ms.saturating_add(CLOCK_TOLERANCE_MS) && now_ms < expires)
}
