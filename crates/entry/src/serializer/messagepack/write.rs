use super::extension::write_extension;
use crate::serializer::path::Refusal;
use crate::value::{check_int, Value};
use crate::weight::{COMPOUND, VALUE};
use rmp::{encode, Marker};
use std::fmt::Debug;

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
        Value::Null => infallible(encode::write_nil(out)),
        Value::Bool(value) => infallible(encode::write_bool(out, *value)),
        Value::Int(value) => {
            check_int(*value).map_err(Refusal::new)?;
            if *value < 0 {
                infallible(encode::write_sint(out, *value as i64));
            } else {
                write_unsigned(*value as u64, out);
            }
        }
        Value::Float(value) => infallible(encode::write_f64(out, *value)),
        Value::Text(text) => write_text(text, out)?,
        Value::Bytes(bytes) => {
            *weight += COMPOUND;
            write_bytes(bytes, out)?;
        }
        Value::List(values) => {
            *weight += COMPOUND + VALUE * values.len() as u64;
            write_list_len(values.len(), out)?;
            for (index, value) in values.iter().enumerate() {
                write(value, depth - 1, weight, out).map_err(|refusal| refusal.at_index(index))?;
            }
        }
        Value::Map(pairs) => {
            *weight += COMPOUND + 2 * VALUE * pairs.len() as u64;
            write_map_len(pairs.len(), out)?;
            for (key, value) in pairs {
                write_text(key, out).map_err(|refusal| refusal.at_key(key))?;
                write(value, depth - 1, weight, out).map_err(|refusal| refusal.at_key(key))?;
            }
        }
        Value::BigInt(_)
        | Value::Set(_)
        | Value::Timestamp { .. }
        | Value::Decimal(_)
        | Value::Uuid(_)
        | Value::Named(_) => write_as_extension(value, depth, weight, out)?,
    }
    Ok(())
}

/// A separate function, so that its variables cost other values nothing.
#[inline(never)]
fn write_as_extension(
    value: &Value<'_>,
    depth: usize,
    weight: &mut u64,
    out: &mut Vec<u8>,
) -> Result<(), Box<Refusal>> {
    let start = out.len();
    let id = write_extension(value, depth, weight, out)?;
    let mut meta = Vec::with_capacity(6);
    infallible(encode::write_ext_meta(
        &mut meta,
        length(out.len() - start)?,
        id,
    ));
    out.splice(start..start, meta);
    Ok(())
}

/// As `rmp` writes it, but marker and number at once.
#[inline]
pub(crate) fn write_unsigned(value: u64, out: &mut Vec<u8>) {
    let bytes = value.to_be_bytes();
    if value < 1 << 7 {
        out.push(bytes[7]);
    } else if value < 1 << 8 {
        out.extend_from_slice(&[Marker::U8.to_u8(), bytes[7]]);
    } else if value < 1 << 16 {
        out.extend_from_slice(&[Marker::U16.to_u8(), bytes[6], bytes[7]]);
    } else {
        infallible(encode::write_uint(out, value));
    }
}

#[inline]
pub(crate) fn write_text(text: &str, out: &mut Vec<u8>) -> Result<(), Box<Refusal>> {
    let len = text.len();
    // Short texts, which most are, skip the steps in which `rmp` finds the marker.
    if len < 32 {
        out.push(Marker::FixStr(len as u8).to_u8());
    } else if len < 256 {
        out.extend_from_slice(&[Marker::Str8.to_u8(), len as u8]);
    } else {
        infallible(encode::write_str_len(out, length(len)?));
    }
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

#[inline]
pub(crate) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Box<Refusal>> {
    infallible(encode::write_bin_len(out, length(bytes.len())?));
    out.extend_from_slice(bytes);
    Ok(())
}

#[inline]
pub(crate) fn write_list_len(len: usize, out: &mut Vec<u8>) -> Result<(), Box<Refusal>> {
    infallible(encode::write_array_len(out, length(len)?));
    Ok(())
}

#[inline]
pub(crate) fn write_map_len(len: usize, out: &mut Vec<u8>) -> Result<(), Box<Refusal>> {
    infallible(encode::write_map_len(out, length(len)?));
    Ok(())
}

#[inline]
pub(super) fn length(len: usize) -> Result<u32, Box<Refusal>> {
    u32::try_from(len).map_err(|_| Refusal::new("longer than 2^32 - 1, the most MessagePack has"))
}

/// rmp reports only its writer's errors, and a `Vec` has none.
#[inline]
pub(crate) fn infallible<T, E: Debug>(written: Result<T, E>) {
    written.expect("writing to a Vec does not fail");
}
