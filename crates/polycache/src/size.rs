//! Sizes as text.

use crate::Error;

/// Units and their bytes; `B`, which all others end with, last.
const UNITS: [(&str, u64); 9] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

/// Bytes of a size like `64MiB`, `1GB` or `4096`: a whole number, and a unit or none.
///
/// ```
/// assert_eq!(polycache::size::parse("64MiB")?, 64 << 20);
/// assert_eq!(polycache::size::parse("64M").unwrap_err().code(), "invalid_argument");
/// # Ok::<(), polycache::Error>(())
/// ```
///
/// # Errors
/// `InvalidArgument` for anything else, and for 2^64 bytes or more.
pub fn parse(text: &str) -> Result<u64, Error> {
    let (number, factor) = UNITS
        .iter()
        .find_map(|(unit, factor)| text.strip_suffix(unit).map(|number| (number, *factor)))
        .unwrap_or((text, 1));
    Some(number)
        .filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|number| number.parse::<u64>().ok()?.checked_mul(factor))
        .ok_or_else(|| {
            Error::InvalidArgument(format!(
                "{text:?} is not a size: write whole bytes, or a number with KiB, MiB, GiB, TiB, \
                 kB, MB, GB or TB, like 64MiB"
            ))
        })
}
