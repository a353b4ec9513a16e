//! Durations as text.

use crate::Error;
use std::time::Duration;

/// Units and their milliseconds; `ms` before `s`, which it ends with.
const UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

/// A duration like `250ms`, `30s`, `5m`, `2h` or `1d`: a whole number and a unit.
///
/// ```
/// use std::time::Duration;
/// assert_eq!(polycache::duration::parse("5m")?, Duration::from_secs(300));
/// assert_eq!(polycache::duration::parse("5").unwrap_err().code(), "invalid_argument");
/// # Ok::<(), polycache::Error>(())
/// ```
///
/// # Errors
/// `InvalidArgument` for anything else, and for more than 2^48 - 1 ms.
pub fn parse(text: &str) -> Result<Duration, Error> {
    UNITS
        .iter()
        .find_map(|(unit, factor)| text.strip_suffix(unit).map(|number| (number, factor)))
        .filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|(number, factor)| number.parse::<u64>().ok()?.checked_mul(*factor))
        .filter(|ms| *ms <= polycache_entry::MAX_TIME_MS)
        .map(Duration::from_millis)
        .ok_or_else(|| {
            Error::InvalidArgument(format!(
                "{text:?} is not a duration: write a whole number and one of ms, s, m, h, d, like 5m"
            ))
        })
}
