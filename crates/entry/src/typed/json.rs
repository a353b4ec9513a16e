//! JSON, by serde_json.

use super::write::{Format, Written};
use crate::serializer::json;
use crate::{weight, Value};
use serde::Deserialize;

/// The format of [`super::write`].
pub(super) struct Json;

const MOST: u64 = (1 << 53) - 1;

impl Format for Json {
    const HUMAN_READABLE: bool = true;

    #[inline]
    fn null(out: &mut Vec<u8>) {
        out.extend_from_slice(b"null");
    }

    #[inline]
    fn bool(value: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    #[inline]
    fn signed(value: i64, out: &mut Vec<u8>) -> Written {
        if value.unsigned_abs() > MOST {
            return json::write(&Value::from(value), 0, &mut 0, out);
        }
        json::write_atom(&value, out);
        Ok(())
    }

    #[inline]
    fn unsigned(value: u64, out: &mut Vec<u8>) -> Written {
        if value > MOST {
            return json::write(&Value::from(value), 0, &mut 0, out);
        }
        json::write_atom(&value, out);
        Ok(())
    }

    #[inline]
    fn float(value: f64, out: &mut Vec<u8>) -> Written {
        json::write(&Value::Float(value), 0, &mut 0, out)
    }

    #[inline]
    fn text(text: &str, out: &mut Vec<u8>) -> Written {
        json::write_text(text, out);
        Ok(())
    }

    #[cold]
    fn bytes(_: &[u8], out: &mut Vec<u8>) -> Written {
        json::write(&Value::Bytes((&[]).into()), 0, &mut 0, out)
    }

    fn value(value: &Value<'_>, depth: usize, weight: &mut u64, out: &mut Vec<u8>) -> Written {
        json::write(value, depth, weight, out)
    }

    #[inline]
    fn begin_list(_len: usize, out: &mut Vec<u8>) -> Written {
        out.push(b'[');
        Ok(())
    }

    #[inline]
    fn end_list(_start: usize, _len: usize, _count: usize, out: &mut Vec<u8>) -> Written {
        out.push(b']');
        Ok(())
    }

    #[inline]
    fn begin_map(_len: usize, out: &mut Vec<u8>) -> Written {
        out.push(b'{');
        Ok(())
    }

    #[inline]
    fn end_map(_start: usize, _len: usize, _count: usize, out: &mut Vec<u8>) -> Written {
        out.push(b'}');
        Ok(())
    }

    #[inline]
    fn separate(index: usize, out: &mut Vec<u8>) {
        if index > 0 {
            out.push(b',');
        }
    }

    #[inline]
    fn after_key(out: &mut Vec<u8>) {
        out.push(b':');
    }

    fn key(written: &[u8]) -> String {
        // Only its first text is read; what follows it may be cut off.
        let mut deserializer = serde_json::Deserializer::from_slice(written);
        String::deserialize(&mut deserializer).unwrap_or_default()
    }
}

/// The `T` in `payload`; `None` when it must be read by way of a value.
pub(super) fn read<'de, T: Deserialize<'de>>(payload: &'de [u8], max_length: u64) -> Option<T> {
    weight::check_json(payload, max_length).ok()?;
    if has_unsafe_integer(payload) {
        return None;
    }
    // Checked at once, because serde_json checks text only where it reads any.
    let text = std::str::from_utf8(payload).ok()?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some(value)
}

/// Whether there may be an integer beyond ±(2^53 - 1), which is a float by the format's rules and an
/// integer to serde_json. Such an integer has 16 digits or more, so one of its digits is at an index
/// divisible by 16; only those bytes are checked. Text and the digits of a float can also make this
/// true.
fn has_unsafe_integer(json: &[u8]) -> bool {
    const DIGITS: usize = 16;
    let mut place = DIGITS - 1;
    while let Some(byte) = json.get(place) {
        if byte.is_ascii_digit() {
            let is_digit = |byte: &&u8| byte.is_ascii_digit();
            let before = json[..place].iter().rev().take_while(is_digit).count();
            let after = json[place..].iter().take_while(is_digit).count();
            let digits = &json[place - before..place + after];
            let fraction = json[..place - before].last() == Some(&b'.');
            let safe = digits.len() < DIGITS
                || fraction
                || (digits.len() == DIGITS && digits <= b"9007199254740991".as_slice());
            if !safe {
                return true;
            }
            place += after;
        }
        place += DIGITS;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_are_floats_are_found_wherever_they_stand() {
        for padding in 0..40 {
            let padding = " ".repeat(padding);
            for (number, found) in [
                ("9007199254740991", false),
                ("-9007199254740991", false),
                ("9007199254740992", true),
                ("-9007199254740993", true),
                ("18446744073709551615", true),
                ("123456789012345", false),
                ("0.1234567890123456789", false),
                ("1e300", false),
            ] {
                for json in [
                    format!("{padding}{number}"),
                    format!("{padding}{number} "),
                    format!("[{padding}123456789012345,{number},1]"),
                    format!("[0.5{padding}, {number}]"),
                ] {
                    assert_eq!(has_unsafe_integer(json.as_bytes()), found, "{json}");
                }
            }
        }
    }
}
