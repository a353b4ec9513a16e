//! The extension types, for values that have no type in MessagePack itself.

use super::read::{read_named, read_set};
use super::write::{infallible, length, write, write_text};
use crate::serializer::path::Refusal;
use crate::value::{check_big_integer, check_decimal, check_name, check_timestamp, Value};
use crate::weight::{Room, COMPOUND, VALUE};
use crate::Error;
use rmp::encode::write_array_len;
use std::borrow::Cow;

const TIMESTAMP: i8 = -1;
pub(super) const SET: i8 = 1;
const BIG_INTEGER: i8 = 2;
const DECIMAL: i8 = 3;
const UUID: i8 = 4;
pub(crate) const NAMED: i8 = 5;

/// Appends the payload of the extension type that `value` has, and returns that type. The value may
/// have `depth` levels, and what it weighs beyond its own [`VALUE`] is added to `weight`.
pub(crate) fn write_extension(
    value: &Value<'_>,
    depth: usize,
    weight: &mut u64,
    out: &mut Vec<u8>,
) -> Result<i8, Box<Refusal>> {
    *weight += COMPOUND;
    Ok(match value {
        Value::Timestamp { seconds, nanos } => {
            check_timestamp(*seconds, *nanos).map_err(Refusal::new)?;
            write_timestamp(*seconds, *nanos, out);
            TIMESTAMP
        }
        Value::Set(values) => {
            *weight += VALUE * values.len() as u64;
            infallible(write_array_len(out, length(values.len())?));
            for (index, value) in values.iter().enumerate() {
                if value.is_container() {
                    return Err(Refusal::new(IN_SET).at_index(index));
                }
                write(value, 0, weight, out).map_err(|refusal| refusal.at_index(index))?;
            }
            SET
        }
        Value::BigInt(text) => {
            check_big_integer(text).map_err(Refusal::new)?;
            out.extend_from_slice(text.as_bytes());
            BIG_INTEGER
        }
        Value::Decimal(text) => {
            check_decimal(text).map_err(Refusal::new)?;
            out.extend_from_slice(text.as_bytes());
            DECIMAL
        }
        Value::Uuid(bytes) => {
            out.extend_from_slice(bytes);
            UUID
        }
        Value::Named(named) => {
            check_name(&named.name).map_err(Refusal::new)?;
            *weight += 2 * VALUE;
            write_text(&named.name, out)?;
            write(&named.value, depth - 1, weight, out)?;
            NAMED
        }
        other => unreachable!("{} is not an extension type", other.row()),
    })
}

pub(super) const IN_SET: &str =
    "a set cannot hold a list, map, set or registered type, which not every language can hash";

/// The shortest of the three forms.
fn write_timestamp(seconds: i64, nanos: u32, out: &mut Vec<u8>) {
    match u64::try_from(seconds) {
        Ok(seconds) if seconds < 1 << 34 => {
            let both = u64::from(nanos) << 34 | seconds;
            match u32::try_from(both) {
                Ok(seconds) => out.extend_from_slice(&seconds.to_be_bytes()),
                Err(_) => out.extend_from_slice(&both.to_be_bytes()),
            }
        }
        _ => {
            out.extend_from_slice(&nanos.to_be_bytes());
            out.extend_from_slice(&seconds.to_be_bytes());
        }
    }
}

/// An extension type as stored in a payload.
pub(crate) struct Extension<'a> {
    pub id: i8,
    pub payload: &'a [u8],
}

impl<'a> Extension<'a> {
    /// The value, which lies inside `depth` lists and maps.
    pub(crate) fn decode(&self, depth: usize, room: &mut Room) -> Result<Value<'a>, Error> {
        if let TIMESTAMP | BIG_INTEGER | DECIMAL | UUID = self.id {
            room.take(COMPOUND)?;
        }
        match self.id {
            TIMESTAMP => self.timestamp(),
            SET => read_set(self.payload, depth, room).map(Value::Set),
            BIG_INTEGER => self.text(check_big_integer).map(Value::BigInt),
            DECIMAL => self.text(check_decimal).map(Value::Decimal),
            UUID => self
                .payload
                .try_into()
                .map(Value::Uuid)
                .map_err(|_| Error::malformed("a UUID has 16 bytes")),
            NAMED => read_named(self.payload, depth, room),
            _ => Err(Error::malformed("MessagePack: an unknown extension type")),
        }
    }

    fn timestamp(&self) -> Result<Value<'a>, Error> {
        let (seconds, nanos) = if let Ok(seconds) = self.payload.try_into() {
            (u32::from_be_bytes(seconds).into(), 0)
        } else if let Ok(both) = self.payload.try_into() {
            let both = u64::from_be_bytes(both);
            ((both & ((1 << 34) - 1)) as i64, (both >> 34) as u32)
        } else if let (Some((nanos, seconds)), 12) =
            (self.payload.split_first_chunk(), self.payload.len())
        {
            let mut wide = [0; 8];
            wide.copy_from_slice(seconds);
            (i64::from_be_bytes(wide), u32::from_be_bytes(*nanos))
        } else {
            return Err(Error::malformed("a timestamp has 4, 8 or 12 bytes"));
        };
        check_timestamp(seconds, nanos).map_err(Error::malformed)?;
        Ok(Value::Timestamp { seconds, nanos })
    }

    fn text(&self, check: fn(&str) -> Result<(), &'static str>) -> Result<Cow<'a, str>, Error> {
        let text = std::str::from_utf8(self.payload)
            .map_err(|_| Error::malformed("a number's text is not valid UTF-8"))?;
        check(text).map_err(Error::malformed)?;
        Ok(Cow::Borrowed(text))
    }
}
