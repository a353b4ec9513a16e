//! Integers of 64 bits as Ruby writes them.

use crate::error::invalid;
use magnus::{prelude::*, Error, Integer, Ruby, Value};

/// What `increment` and `decrement` take.
///
/// # Errors
/// `InvalidArgument`.
#[inline]
pub(crate) fn by_and_initial(ruby: &Ruby, by: Value, initial: Value) -> Result<(i64, i64), Error> {
    Ok((signed(ruby, "by", by)?, signed(ruby, "initial", initial)?))
}

#[inline]
fn signed(ruby: &Ruby, option: &str, value: Value) -> Result<i64, Error> {
    Integer::from_value(value)
        .and_then(|integer| integer.to_i64().ok())
        .ok_or_else(|| {
            let range = "an Integer of 64 bits with a sign (-2^63 to 2^63 - 1)";
            invalid(
                ruby,
                format!("{option} is {range}, not {}", value.inspect()),
            )
        })
}

/// The version of an entry.
///
/// # Errors
/// `InvalidArgument`.
#[inline]
pub(crate) fn version(ruby: &Ruby, value: Value) -> Result<u64, Error> {
    Integer::from_value(value)
        .and_then(|integer| integer.to_u64().ok())
        .ok_or_else(|| {
            let range = "an Integer from 0 to 2^64 - 1, as entry(key) tells it";
            invalid(
                ruby,
                format!("a version is {range}, not {}", value.inspect()),
            )
        })
}
