//! Any serde type to a payload and back, without a `Value` in between.

mod bincode;
mod json;
mod messagepack;
mod write;

use crate::value::{from_human_readable, from_value, to_value};
use crate::{Error, Limits, Serializer};
use serde::{Deserialize, Serialize};

/// What a struct with named fields becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Structs {
    /// A map of its fields' names to their values, which every language reads; the default.
    #[default]
    Maps,
    /// A list of its fields' values in order, as rmp-serde writes it: shorter and faster, for readers in
    /// Rust that have the same struct. A struct that leaves fields out (`skip_serializing_if`) is
    /// rejected, because the other fields would take their places.
    Lists,
}

/// Appends the payload that `serializer` makes of `value`. After an error `out` is as it was.
///
/// Structs are what `structs` says; maps become maps, sequences, tuples and sets lists, enums what
/// serde's data formats make of them: a unit variant is its name, any other a map of its name to
/// its content. A [`Value`](crate::Value) inside becomes itself. JSON is human-readable in serde's
/// sense, MessagePack is not: an `IpAddr` is text in the one and numbers in the other. Bincode has
/// rules of its own; see [`Serializer::Bincode`].
///
/// # Errors
/// [`Error::UnsupportedValue`] with the path to what has no row of the type map: a map key that is
/// not text, more than [`MAX_DEPTH`](crate::MAX_DEPTH) levels, what the serializer does not take, or
/// what `value`'s own implementation refuses.
pub fn serialize<T: Serialize + ?Sized>(
    value: &T,
    serializer: Serializer,
    structs: Structs,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let start = out.len();
    let written = append(value, serializer, structs, u64::MAX, out);
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// As [`serialize`], for readers whose payloads have at most `max_length` bytes; but after an error `out` holds a
/// part of the payload.
pub(crate) fn append<T: Serialize + ?Sized>(
    value: &T,
    serializer: Serializer,
    structs: Structs,
    max_length: u64,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    match serializer {
        Serializer::Json => write::write::<json::Json, T>(value, structs, max_length, out),
        Serializer::MessagePack => {
            write::write::<messagepack::MessagePack, T>(value, structs, max_length, out)
        }
        Serializer::Bincode => bincode::write(value, max_length, out),
        Serializer::Bytes | Serializer::Text => {
            serializer.write(&to_value(value)?, max_length, out)
        }
    }
}

/// The `T` in a `payload` that [`decode_payload`](crate::decode_payload) returned: what [`serialize`]
/// wrote for a `T`, in either form of structs, and what other languages write for it. A set also reads
/// as a sequence, a UUID as bytes, a decimal as text, a big integer as `i128` or `u128`, bytes as a
/// sequence of `u8`.
///
/// In JSON, parts that `T` has no place for are skipped without checking the numbers, the nesting and
/// the half surrogate pairs in them; MessagePack is read as strictly as by
/// [`decode_value`](crate::decode_value).
///
/// # Errors
/// [`Error::ValueTooLarge`] when the payload is longer or heavier than the limit; [`Error::MalformedEntry`]
/// when it is not exactly one value of `serializer`; [`Error::WrongType`] with the path to what does
/// not fit `T`.
pub fn deserialize<'de, T: Deserialize<'de>>(
    serializer: Serializer,
    payload: &'de [u8],
    limits: &Limits,
) -> Result<T, Error> {
    let most = limits.max_length;
    limits.check(payload.len() as u64)?;
    // The fast paths do not say what is wrong, and leave out the rarest cases: the path by way of a
    // `Value` finds the fault and its place, or that there is none.
    match serializer {
        Serializer::Json => match json::read(payload, most) {
            Some(value) => Ok(value),
            None => from_human_readable(serializer.read(payload, most)?),
        },
        Serializer::MessagePack => match messagepack::read(payload, most) {
            Some(value) => Ok(value),
            None => from_value(serializer.read(payload, most)?),
        },
        Serializer::Bincode => bincode::read(payload, most),
        Serializer::Bytes | Serializer::Text => from_value::<T>(serializer.read(payload, most)?),
    }
}
