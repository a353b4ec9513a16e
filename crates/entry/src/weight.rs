//! What a value weighs: an estimate of the memory that it takes, made from its payload (`spec/entry.md`
//! "Weight"). The length of a payload alone is none: 50 million empty lists take 5 GB as objects, 50 MB as
//! MessagePack, and 1.6 KB in zstd.

use crate::Error;

/// The weight of any value and of any key of a map.
pub(crate) const VALUE: u64 = 4;
/// What every value weighs on top that is not null, a bool, an integer, a float or text.
pub(crate) const COMPOUND: u64 = 12;

/// Whatever the limit on a payload's length, a value may weigh this much: a short payload is not refused for
/// the small numbers in it.
const LEAST_LIMIT: u64 = 4 * 1024 * 1024;
/// The most that a byte of JSON weighs: an empty list takes two.
const DENSEST_JSON: u64 = (VALUE + COMPOUND) / 2;

/// The most that a value may weigh where a payload has at most `max_length` bytes.
pub(crate) const fn limit(max_length: u64) -> u64 {
    if max_length > LEAST_LIMIT {
        max_length
    } else {
        LEAST_LIMIT
    }
}

/// What a value that is being read may still weigh.
pub(crate) struct Room {
    left: u64,
    limit: u64,
}

impl Room {
    /// For one value, whose own [`VALUE`] is taken.
    pub(crate) const fn new(max_length: u64) -> Room {
        let limit = limit(max_length);
        Room {
            left: limit - VALUE,
            limit,
        }
    }

    /// For what was weighed before.
    pub(crate) const fn unlimited() -> Room {
        Room::new(u64::MAX)
    }

    /// # Errors
    /// [`Error::ValueTooLarge`] when there is less.
    #[inline]
    pub(crate) fn take(&mut self, weight: u64) -> Result<(), Error> {
        match self.left.checked_sub(weight) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.too_large(weight)),
        }
    }

    /// For a compound value that holds `count` values and keys.
    ///
    /// # Errors
    /// As for [`Room::take`].
    #[inline]
    pub(crate) fn enter(&mut self, count: usize) -> Result<(), Error> {
        self.take(
            (count as u64)
                .saturating_mul(VALUE)
                .saturating_add(COMPOUND),
        )
    }

    #[cold]
    fn too_large(&self, weight: u64) -> Error {
        Error::ValueTooLarge {
            size: (self.limit - self.left).saturating_add(weight),
            limit: self.limit,
        }
    }
}

/// Refuses the weight of what was written when a reader with this `max_length` would.
///
/// # Errors
/// [`Error::ValueTooLarge`]
#[inline]
pub(crate) fn check(weight: u64, max_length: u64) -> Result<(), Error> {
    let limit = limit(max_length);
    if weight > limit {
        return Err(Error::ValueTooLarge {
            size: weight,
            limit,
        });
    }
    Ok(())
}

/// Weighs JSON before it is read: its lists do not begin with their lengths.
///
/// # Errors
/// [`Error::ValueTooLarge`]
#[inline]
pub(crate) fn check_json(payload: &[u8], max_length: u64) -> Result<(), Error> {
    let limit = limit(max_length);
    if payload.len() as u64 <= limit / DENSEST_JSON {
        return Ok(());
    }
    if json_at_most(payload) <= limit {
        return Ok(());
    }
    check(json(payload, limit), max_length)
}

/// At least the weight of JSON, quickly: each value but the first stands behind one of these.
fn json_at_most(payload: &[u8]) -> u64 {
    let (mut separators, mut opened) = (0, 0);
    // So few that a byte counts them, which the compiler does for many at once.
    for chunk in payload.chunks(255) {
        let (some, other) = chunk.iter().fold((0u8, 0u8), |(some, other), byte| {
            (
                some + u8::from((*byte == b',') | (*byte == b':')),
                // `[` and `{` differ in this bit.
                other + u8::from((*byte | 0x20) == b'{'),
            )
        });
        separators += u64::from(some);
        opened += u64::from(other);
    }
    VALUE * (1 + separators + opened) + COMPOUND * opened
}

/// The weight of JSON, counted until it exceeds `limit`.
fn json(payload: &[u8], limit: u64) -> u64 {
    let (mut weight, mut at) = (0, 0);
    // Whether the byte before is part of a number, true, false or null.
    let mut in_word = false;
    while weight <= limit {
        let Some(&byte) = payload.get(at) else {
            break;
        };
        at += 1;
        match byte {
            b'"' => {
                weight += VALUE;
                in_word = false;
                while let Some(&byte) = payload.get(at) {
                    at += 1 + usize::from(byte == b'\\');
                    if byte == b'"' {
                        break;
                    }
                }
            }
            b'[' | b'{' => {
                weight += VALUE + COMPOUND;
                in_word = false;
            }
            b']' | b'}' | b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => in_word = false,
            _ => {
                weight += VALUE * u64::from(!in_word);
                in_word = true;
            }
        }
    }
    weight
}
