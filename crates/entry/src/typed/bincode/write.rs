use super::{
    EIGHT_BYTES, FOUR_BYTES, LIST, MAX_EMPTY, SIXTEEN_BYTES, TOO_DEEP, TOO_MANY_EMPTY, TWO_BYTES,
    VALUE,
};
use crate::serializer::{Refusal, MAX_DEPTH};
use crate::value::{Refused, EXTENSION};
use crate::{weight, Error};
use serde::ser::{self, Serialize, Serializer};

type Outcome = Result<(), Refused>;

/// Appends `value`, for readers whose payloads have at most `max_length` bytes; after an error `out` holds a part
/// of it.
pub(in crate::typed) fn write<T: Serialize + ?Sized>(
    value: &T,
    max_length: u64,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let mut writer = Writer {
        out,
        depth: MAX_DEPTH,
        empty: MAX_EMPTY,
        weight: VALUE,
    };
    value
        .serialize(&mut writer)
        .map_err(|refused| refused.0.into_error())?;
    weight::check(writer.weight, max_length)
}

struct Writer<'o> {
    out: &'o mut Vec<u8>,
    /// Levels that a value here may have.
    depth: usize,
    /// Elements without content that may still come.
    empty: usize,
    /// Of what was written.
    weight: u64,
}

/// Appends an integer in as few bytes as it needs.
#[inline]
fn unsigned(value: u64, out: &mut Vec<u8>) {
    let bytes = value.to_le_bytes();
    if value < TWO_BYTES.into() {
        out.push(bytes[0]);
    } else if value < 1 << 16 {
        out.extend_from_slice(&[TWO_BYTES, bytes[0], bytes[1]]);
    } else if value < 1 << 32 {
        out.extend_from_slice(&[FOUR_BYTES, bytes[0], bytes[1], bytes[2], bytes[3]]);
    } else {
        out.push(EIGHT_BYTES);
        out.extend_from_slice(&bytes);
    }
}

/// Small integers of either sign become small integers without a sign.
#[inline]
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn unsigned_128(value: u128, out: &mut Vec<u8>) {
    match u64::try_from(value) {
        Ok(value) => unsigned(value, out),
        Err(_) => {
            out.push(SIXTEEN_BYTES);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

impl<'o> Writer<'o> {
    #[inline]
    fn enter(&mut self) -> Outcome {
        match self.depth.checked_sub(1) {
            Some(depth) => {
                self.depth = depth;
                Ok(())
            }
            None => Err(Refused(Refusal::new(TOO_DEEP))),
        }
    }

    /// A list or map that begins with its length.
    #[inline]
    fn counted<'w>(&'w mut self, len: Option<usize>) -> Result<Counted<'w, 'o>, Refused> {
        self.enter()?;
        self.weight += LIST;
        let start = self.out.len();
        let len = len.unwrap_or(0);
        unsigned(len as u64, self.out);
        Ok(Counted {
            writer: self,
            start,
            len,
            count: 0,
        })
    }

    #[inline]
    fn fields<'w>(&'w mut self, variant: Option<&'static str>) -> Result<Fields<'w, 'o>, Refused> {
        self.enter()?;
        Ok(Fields {
            writer: self,
            count: 0,
            variant,
        })
    }
}

macro_rules! numbers {
    ($($method:ident($type:ty) = $write:expr),*) => {
        $(#[inline]
        fn $method(self, value: $type) -> Outcome {
            let write: fn($type, &mut Vec<u8>) = $write;
            write(value, self.out);
            Ok(())
        })*
    };
}

impl<'w, 'o> Serializer for &'w mut Writer<'o> {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Counted<'w, 'o>;
    type SerializeTuple = Fields<'w, 'o>;
    type SerializeTupleStruct = Fields<'w, 'o>;
    type SerializeTupleVariant = Fields<'w, 'o>;
    type SerializeMap = Counted<'w, 'o>;
    type SerializeStruct = Fields<'w, 'o>;
    type SerializeStructVariant = Fields<'w, 'o>;

    fn is_human_readable(&self) -> bool {
        false
    }

    numbers!(
        serialize_bool(bool) = |value, out| out.push(value.into()),
        serialize_i8(i8) = |value, out| out.push(value as u8),
        serialize_u8(u8) = |value, out| out.push(value),
        serialize_i16(i16) = |value, out| unsigned(zigzag(value.into()), out),
        serialize_i32(i32) = |value, out| unsigned(zigzag(value.into()), out),
        serialize_i64(i64) = |value, out| unsigned(zigzag(value), out),
        serialize_i128(i128) = |value, out| unsigned_128((value << 1 ^ value >> 127) as u128, out),
        serialize_u16(u16) = |value, out| unsigned(value.into(), out),
        serialize_u32(u32) = |value, out| unsigned(value.into(), out),
        serialize_u64(u64) = unsigned,
        serialize_u128(u128) = unsigned_128,
        serialize_f32(f32) = |value, out| out.extend_from_slice(&value.to_le_bytes()),
        serialize_f64(f64) = |value, out| out.extend_from_slice(&value.to_le_bytes()),
        serialize_char(char) = |value, out| {
            out.extend_from_slice(value.encode_utf8(&mut [0; 4]).as_bytes());
        }
    );

    #[inline]
    fn serialize_str(self, value: &str) -> Outcome {
        self.serialize_bytes(value.as_bytes())
    }

    #[inline]
    fn serialize_bytes(self, value: &[u8]) -> Outcome {
        self.weight += VALUE;
        unsigned(value.len() as u64, self.out);
        self.out.extend_from_slice(value);
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Outcome {
        self.out.push(0);
        Ok(())
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Outcome {
        self.out.push(1);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Outcome {
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Outcome {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
    ) -> Outcome {
        unsigned(index.into(), self.out);
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Outcome {
        // A row of the type map, which a reader could not tell from other bytes.
        if name == EXTENSION {
            return Err(ser::Error::custom(
                "bincode has no row for it: use MessagePack",
            ));
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Outcome {
        self.enter()?;
        unsigned(index.into(), self.out);
        value
            .serialize(&mut *self)
            .map_err(|refused| refused.at_key(variant))?;
        self.depth += 1;
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Counted<'w, 'o>, Refused> {
        self.counted(len)
    }

    #[inline]
    fn serialize_tuple(self, _len: usize) -> Result<Fields<'w, 'o>, Refused> {
        self.fields(None)
    }

    #[inline]
    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Fields<'w, 'o>, Refused> {
        self.fields(None)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Fields<'w, 'o>, Refused> {
        unsigned(index.into(), self.out);
        self.fields(Some(variant))
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Counted<'w, 'o>, Refused> {
        self.counted(len)
    }

    #[inline]
    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Fields<'w, 'o>, Refused> {
        self.fields(None)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Fields<'w, 'o>, Refused> {
        unsigned(index.into(), self.out);
        self.fields(Some(variant))
    }
}

/// A list or map that is being written.
struct Counted<'w, 'o> {
    writer: &'w mut Writer<'o>,
    /// Where it begins.
    start: usize,
    /// The announced number of elements; the real number is counted, because user code announces it.
    len: usize,
    count: usize,
}

impl Counted<'_, '_> {
    #[inline]
    fn part<T: Serialize + ?Sized>(&mut self, value: &T) -> Outcome {
        value
            .serialize(&mut *self.writer)
            .map_err(|refused| refused.at_index(self.count))
    }

    /// The element or key from `start` on is written.
    #[inline]
    fn done(&mut self, start: usize) -> Outcome {
        if self.writer.out.len() == start {
            let left = self.writer.empty.checked_sub(1);
            self.writer.empty = left.ok_or_else(|| Refused(Refusal::new(TOO_MANY_EMPTY)))?;
        }
        Ok(())
    }

    #[inline]
    fn finish(self) -> Outcome {
        if self.count != self.len {
            let (mut old, mut new) = (Vec::with_capacity(9), Vec::with_capacity(9));
            unsigned(self.len as u64, &mut old);
            unsigned(self.count as u64, &mut new);
            let place = self.start..self.start + old.len();
            self.writer.out.splice(place, new);
        }
        self.writer.depth += 1;
        Ok(())
    }
}

impl ser::SerializeSeq for Counted<'_, '_> {
    type Ok = ();
    type Error = Refused;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Outcome {
        let start = self.writer.out.len();
        self.part(value)?;
        self.count += 1;
        self.done(start)
    }

    #[inline]
    fn end(self) -> Outcome {
        self.finish()
    }
}

impl ser::SerializeMap for Counted<'_, '_> {
    type Ok = ();
    type Error = Refused;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Outcome {
        let start = self.writer.out.len();
        self.part(key)?;
        self.done(start)
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Outcome {
        self.part(value)?;
        self.count += 1;
        Ok(())
    }

    #[inline]
    fn end(self) -> Outcome {
        self.finish()
    }
}

/// A tuple or struct that is being written, perhaps a variant's content: neither names nor lengths.
struct Fields<'w, 'o> {
    writer: &'w mut Writer<'o>,
    count: usize,
    variant: Option<&'static str>,
}

impl Fields<'_, '_> {
    #[cold]
    fn in_variant(&self, refused: Refused) -> Refused {
        match self.variant {
            Some(variant) => refused.at_key(variant),
            None => refused,
        }
    }

    #[inline]
    fn finish(self) -> Outcome {
        self.writer.depth += 1;
        Ok(())
    }
}

macro_rules! tuples {
    ($($trait:ident, $method:ident);*) => {
        $(impl ser::$trait for Fields<'_, '_> {
            type Ok = ();
            type Error = Refused;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Outcome {
                if let Err(refused) = value.serialize(&mut *self.writer) {
                    return Err(self.in_variant(refused.at_index(self.count)));
                }
                self.count += 1;
                Ok(())
            }

            #[inline]
            fn end(self) -> Outcome {
                self.finish()
            }
        })*
    };
}

tuples!(
    SerializeTuple, serialize_element;
    SerializeTupleStruct, serialize_field;
    SerializeTupleVariant, serialize_field
);

macro_rules! structs {
    ($($trait:ident),*) => {
        $(impl ser::$trait for Fields<'_, '_> {
            type Ok = ();
            type Error = Refused;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Outcome {
                value
                    .serialize(&mut *self.writer)
                    .map_err(|refused| self.in_variant(refused.at_key(key)))
            }

            fn skip_field(&mut self, key: &'static str) -> Outcome {
                let reason = "Bincode cannot leave a field out: use messagepack";
                Err(self.in_variant(Refused(Refusal::new(reason)).at_key(key)))
            }

            #[inline]
            fn end(self) -> Outcome {
                self.finish()
            }
        })*
    };
}

structs!(SerializeStruct, SerializeStructVariant);
