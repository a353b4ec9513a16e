mod access;

use super::{EIGHT_BYTES, FOUR_BYTES, LIST, MAX_EMPTY, SIXTEEN_BYTES, TOO_DEEP, TWO_BYTES, VALUE};
use crate::serializer::{Refusal, MAX_DEPTH};
use crate::weight::Room;
use crate::{utf8, Error};
use access::{Elements, Fields, Variant};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::fmt;

/// The `T` in `payload`.
pub(in crate::typed) fn read<'de, T: Deserialize<'de>>(
    payload: &'de [u8],
    max_length: u64,
) -> Result<T, Error> {
    let mut reader = Reader {
        rest: payload,
        owed: 0,
        depth: MAX_DEPTH,
        empty: MAX_EMPTY,
        room: Room::new(max_length),
    };
    let value = T::deserialize(&mut reader).map_err(Fault::into_error)?;
    if !reader.rest.is_empty() {
        return Err(Error::malformed("Bincode: bytes after the value"));
    }
    Ok(value)
}

/// What is wrong. Boxed, because it is rare and the result passes through every level.
#[derive(Debug)]
struct Fault(Box<Kind>);

#[derive(Debug)]
enum Kind {
    Malformed(&'static str),
    TooLarge(Error),
    WrongType(Box<Refusal>),
}

impl Fault {
    #[cold]
    fn malformed(reason: &'static str) -> Fault {
        Fault(Box::new(Kind::Malformed(reason)))
    }

    #[cold]
    fn at(self, place: impl FnOnce(Box<Refusal>) -> Box<Refusal>) -> Fault {
        match *self.0 {
            Kind::WrongType(refusal) => Fault(Box::new(Kind::WrongType(place(refusal)))),
            Kind::Malformed(_) | Kind::TooLarge(_) => self,
        }
    }

    fn into_error(self) -> Error {
        match *self.0 {
            Kind::Malformed(reason) => Error::malformed(reason),
            Kind::TooLarge(error) => error,
            Kind::WrongType(refusal) => refusal.into_wrong_type(),
        }
    }
}

#[cold]
fn cut_off() -> Fault {
    Fault::malformed("Bincode: the payload ends before its last value")
}

impl de::Error for Fault {
    #[cold]
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Fault(Box::new(Kind::WrongType(Refusal::new(reason.to_string()))))
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

struct Reader<'de> {
    rest: &'de [u8],
    /// Elements that the lists and maps begun so far have announced and not yet delivered: together no
    /// more than there were bytes.
    owed: usize,
    /// Levels that a value here may have.
    depth: usize,
    /// Elements without content that may still come.
    empty: usize,
    room: Room,
}

impl<'de> Reader<'de> {
    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(*taken)
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, Fault> {
        let (&first, rest) = self.rest.split_first().ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(first)
    }

    /// An integer of up to `most` bytes.
    #[inline]
    fn unsigned(&mut self, most: usize) -> Result<u64, Fault> {
        match self.byte()? {
            small if small < TWO_BYTES => Ok(small.into()),
            TWO_BYTES => Ok(u16::from_le_bytes(self.array()?).into()),
            FOUR_BYTES if most >= 4 => Ok(u32::from_le_bytes(self.array()?).into()),
            EIGHT_BYTES if most >= 8 => Ok(u64::from_le_bytes(self.array()?)),
            _ => Err(Fault::malformed("Bincode: an integer is too wide")),
        }
    }

    #[inline]
    fn signed(&mut self, most: usize) -> Result<i64, Fault> {
        let zigzag = self.unsigned(most)?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    fn unsigned_128(&mut self) -> Result<u128, Fault> {
        if let Some((&SIXTEEN_BYTES, rest)) = self.rest.split_first() {
            self.rest = rest;
            return Ok(u128::from_le_bytes(self.array()?));
        }
        self.unsigned(8).map(u128::from)
    }

    #[inline]
    fn len(&mut self) -> Result<usize, Fault> {
        // A number that does not fit a usize is more than there is in any case.
        Ok(usize::try_from(self.unsigned(8)?).unwrap_or(usize::MAX))
    }

    #[inline]
    fn bytes(&mut self) -> Result<&'de [u8], Fault> {
        self.weigh(VALUE)?;
        let len = self.len()?;
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    fn text(&mut self) -> Result<&'de str, Fault> {
        utf8::text(self.bytes()?)
            .ok_or_else(|| Fault::malformed("Bincode: text is not valid UTF-8"))
    }

    #[inline]
    fn weigh(&mut self, weight: u64) -> Result<(), Fault> {
        self.room
            .take(weight)
            .map_err(|error| Fault(Box::new(Kind::TooLarge(error))))
    }

    #[inline]
    fn enter(&mut self) -> Result<(), Fault> {
        self.depth = self
            .depth
            .checked_sub(1)
            .ok_or_else(|| Fault::malformed(TOO_DEEP))?;
        Ok(())
    }

    /// What a reader may reserve memory for: one element or pair for each byte that is not promised
    /// elsewhere.
    #[inline]
    fn promise(&mut self, count: usize) -> usize {
        let promised = count.min(self.rest.len().saturating_sub(self.owed));
        self.owed += promised;
        promised
    }

    #[inline]
    fn fields<V: Visitor<'de>>(
        &mut self,
        len: usize,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.enter()?;
        let mut fields = Fields {
            reader: self,
            len,
            index: 0,
            names,
        };
        let made = visitor.visit_seq(&mut fields)?;
        self.depth += 1;
        Ok(made)
    }
}

macro_rules! numbers {
    ($($method:ident, $visit:ident($type:ty) = $read:expr);*) => {
        $(#[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            let read: fn(&mut Reader<'de>) -> Result<$type, Fault> = $read;
            visitor.$visit(read(self)?)
        })*
    };
}

/// What only a self-describing format can do.
macro_rules! not_described {
    ($($method:ident),*) => {
        $(#[cold]
        fn $method<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Fault> {
            Err(de::Error::custom(
                "Bincode does not say what it holds, which flattened fields, untagged enums and values need: \
                 use messagepack",
            ))
        })*
    };
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Fault;

    fn is_human_readable(&self) -> bool {
        false
    }

    not_described!(
        deserialize_any,
        deserialize_identifier,
        deserialize_ignored_any
    );

    numbers!(
        deserialize_bool, visit_bool(bool) = |reader| match reader.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Fault::malformed("Bincode: a bool is neither 0 nor 1")),
        };
        deserialize_i8, visit_i8(i8) = |reader| Ok(reader.byte()? as i8);
        deserialize_u8, visit_u8(u8) = |reader| reader.byte();
        deserialize_i16, visit_i16(i16) = |reader| Ok(reader.signed(2)? as i16);
        deserialize_i32, visit_i32(i32) = |reader| Ok(reader.signed(4)? as i32);
        deserialize_i64, visit_i64(i64) = |reader| reader.signed(8);
        deserialize_u16, visit_u16(u16) = |reader| Ok(reader.unsigned(2)? as u16);
        deserialize_u32, visit_u32(u32) = |reader| Ok(reader.unsigned(4)? as u32);
        deserialize_u64, visit_u64(u64) = |reader| reader.unsigned(8);
        deserialize_i128, visit_i128(i128) = |reader| {
            let zigzag = reader.unsigned_128()?;
            Ok((zigzag >> 1) as i128 ^ -((zigzag & 1) as i128))
        };
        deserialize_u128, visit_u128(u128) = |reader| reader.unsigned_128();
        deserialize_f32, visit_f32(f32) = |reader| Ok(f32::from_le_bytes(reader.array()?));
        deserialize_f64, visit_f64(f64) = |reader| Ok(f64::from_le_bytes(reader.array()?));
        deserialize_char, visit_char(char) = |reader| {
            let first = *reader.rest.first().ok_or_else(cut_off)?;
            let len = match first {
                0..=0x7F => 1,
                0x80..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xFF => 4,
            };
            let (taken, rest) = reader.rest.split_at_checked(len).ok_or_else(cut_off)?;
            reader.rest = rest;
            let text = std::str::from_utf8(taken).ok();
            text.and_then(|text| text.chars().next())
                .ok_or_else(|| Fault::malformed("Bincode: a char is not valid UTF-8"))
        };
        deserialize_str, visit_borrowed_str(&'de str) = |reader| reader.text();
        deserialize_string, visit_borrowed_str(&'de str) = |reader| reader.text();
        deserialize_bytes, visit_borrowed_bytes(&'de [u8]) = |reader| reader.bytes();
        deserialize_byte_buf, visit_borrowed_bytes(&'de [u8]) = |reader| reader.bytes()
    );

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.byte()? {
            0 => visitor.visit_none(),
            1 => visitor.visit_some(self),
            _ => Err(Fault::malformed("Bincode: an option is neither 0 nor 1")),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.enter()?;
        self.weigh(LIST)?;
        let len = self.len()?;
        let mut elements = Elements::new(self, len);
        let made = visitor.visit_seq(&mut elements)?;
        elements.end()?;
        self.depth += 1;
        Ok(made)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.enter()?;
        self.weigh(LIST)?;
        let len = self.len()?;
        let mut pairs = Elements::new(self, len);
        let made = visitor.visit_map(&mut pairs)?;
        pairs.end()?;
        self.depth += 1;
        Ok(made)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Fault> {
        self.fields(len, &[], visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.fields(len, &[], visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.fields(fields.len(), fields, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_enum(Variant {
            reader: self,
            variants,
            variant: None,
        })
    }
}
