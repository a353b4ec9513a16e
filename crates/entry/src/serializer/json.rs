//! JSON (RFC 8259), by serde_json.

use super::path::Refusal;
use crate::value::{Value, ValueSeed};
use crate::weight::{self, COMPOUND, VALUE};
use crate::Error;
use serde::de::DeserializeSeed;

const SAFE: i128 = (1 << 53) - 1;

/// Appends `value`, which may have `depth` levels, and adds to `weight` what it weighs beyond its own
/// [`VALUE`].
pub(crate) fn write(
    value: &Value<'_>,
    depth: usize,
    weight: &mut u64,
    out: &mut Vec<u8>,
) -> Result<(), Box<Refusal>> {
    if value.is_container() && depth == 0 {
        return Err(Refusal::new("nested deeper than 128 lists, sets and maps"));
    }
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Int(value) if (-SAFE..=SAFE).contains(value) => write_atom(&(*value as i64), out),
        Value::Int(_) => {
            return Err(Refusal::new(
                "JSON takes integers within ±(2^53 - 1) only: use messagepack",
            ))
        }
        Value::Float(value) if value.is_finite() => write_atom(value, out),
        Value::Float(_) => {
            return Err(Refusal::new(
                "JSON has no NaN and no infinity: use messagepack",
            ))
        }
        Value::Text(text) => write_text(text, out),
        Value::List(values) => {
            *weight += COMPOUND + VALUE * values.len() as u64;
            out.push(b'[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(value, depth - 1, weight, out).map_err(|refusal| refusal.at_index(index))?;
            }
            out.push(b']');
        }
        Value::Map(pairs) => {
            *weight += COMPOUND + 2 * VALUE * pairs.len() as u64;
            out.push(b'{');
            for (index, (key, value)) in pairs.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_text(key, out);
                out.push(b':');
                write(value, depth - 1, weight, out).map_err(|refusal| refusal.at_key(key))?;
            }
            out.push(b'}');
        }
        other => {
            return Err(Refusal::new(format!(
                "JSON does not have {}: use messagepack",
                other.row()
            )))
        }
    }
    Ok(())
}

#[inline]
pub(crate) fn write_atom<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("text and finite numbers are JSON, a Vec takes them");
}

/// Appends text in quotes. Most text needs no escapes, which is detected for many bytes at once;
/// serde_json, which checks each byte, escapes the rest.
#[inline]
pub(crate) fn write_text(text: &str, out: &mut Vec<u8>) {
    // The inner loop has no early exit, so that it becomes a few instructions per 32 bytes.
    let escapes = |byte: u8| (byte < b' ') | (byte == b'"') | (byte == b'\\');
    let plain = |bytes: &[u8]| !bytes.iter().fold(false, |any, byte| any | escapes(*byte));
    let mut chunks = text.as_bytes().chunks_exact(32);
    if !(chunks.all(plain) && plain(chunks.remainder())) {
        return write_atom(text, out);
    }
    out.reserve(text.len() + 2);
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// The value in `payload`, for a reader whose payloads have at most `max_length` bytes.
pub(super) fn read(payload: &[u8], max_length: u64) -> Result<Value<'_>, Error> {
    weight::check_json(payload, max_length)?;
    let not_json = |error: serde_json::Error| Error::malformed(format!("the JSON is bad: {error}"));
    // Checked at once, because serde_json checks only the text that it reads.
    let text = std::str::from_utf8(payload)
        .map_err(|_| Error::malformed("the JSON is not valid UTF-8"))?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // Its own limit is one level lower than the format's; ours is in the seed.
    deserializer.disable_recursion_limit();
    let seed = ValueSeed {
        depth: 0,
        json: true,
    };
    let value = seed.deserialize(&mut deserializer).map_err(not_json)?;
    deserializer.end().map_err(not_json)?;
    Ok(value)
}
