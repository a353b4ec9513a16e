//! The facts at fixed offsets, for readers that decide about an entry before they verify it.

use super::{time_at, HEADER_LEN};

/// Milliseconds by which an entry's `created` may lie in the future if the entry has a time to live. It
/// limits what a clock that was set back can revive.
pub const CLOCK_TOLERANCE_MS: u64 = 1000;

/// When `entry` was written, in milliseconds since 1970. Never fails: checks nothing, and returns 0 for
/// fewer than 24 bytes.
pub fn created(entry: &[u8]) -> u64 {
    entry
        .first_chunk::<HEADER_LEN>()
        .map_or(0, |fixed| time_at(fixed, 8))
}

/// When `entry` expires, in milliseconds since 1970; 0 means never. Never fails: checks nothing, and
/// returns 0 for fewer than 24 bytes.
pub fn expires(entry: &[u8]) -> u64 {
    entry
        .first_chunk::<HEADER_LEN>()
        .map_or(0, |fixed| time_at(fixed, 16))
}

/// Whether `entry` may be served at `now_ms`, in milliseconds since 1970: it never expires, or `now_ms`
/// is before its expiry and at most [`CLOCK_TOLERANCE_MS`] before its creation. Never fails: checks
/// nothing else, and returns false for fewer than 24 bytes.
pub fn is_valid_at(entry: &[u8], now_ms: u64) -> bool {
    let Some(fixed) = entry.first_chunk::<HEADER_LEN>() else {
        return false;
    };
    let expires = time_at(fixed, 16);
    expires == 0
        || (time_at(fixed, 8) <= now_ms.saturating_add(CLOCK_TOLERANCE_MS) && now_ms < expires)
}
