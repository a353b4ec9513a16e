//! A serde type straight from the bytes.

mod access;

use crate::serializer::messagepack::Extension;
use crate::serializer::MAX_DEPTH;
use crate::value::FromValue;
use crate::weight::{Room, COMPOUND};
use crate::{utf8, Value};
use access::{Items, Pairs, Variant};
use rmp::Marker;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use std::fmt;

/// The `T` in `payload`; `None` when it is not one, or must be read by way of a value.
pub(in crate::typed) fn read<'de, T: Deserialize<'de>>(
    payload: &'de [u8],
    max_length: u64,
) -> Option<T> {
    let mut reader = Reader {
        rest: payload,
        owed: 0,
        depth: MAX_DEPTH,
        room: Room::new(max_length),
    };
    let value = T::deserialize(&mut reader).ok()?;
    reader.rest.is_empty().then_some(value)
}

/// Something does not fit; no caller asks what.
#[derive(Debug)]
struct Failed;

impl de::Error for Failed {
    #[cold]
    fn custom<T: fmt::Display>(_: T) -> Self {
        Failed
    }

    // The default methods build messages.
    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Failed
    }

    fn invalid_value(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Failed
    }

    fn invalid_length(_: usize, _: &dyn de::Expected) -> Self {
        Failed
    }
}

impl std::error::Error for Failed {}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the payload is not of the type asked for")
    }
}

struct Reader<'de> {
    rest: &'de [u8],
    /// Values that the lists and maps begun so far must still deliver. Each takes at least one byte:
    /// this is checked against `rest` before a list or map gives its length to code that reserves memory
    /// for it, so that all together reserve no more values than there are bytes.
    owed: usize,
    /// Levels of lists and maps that a value here may have.
    depth: usize,
    room: Room,
}

impl<'de> Reader<'de> {
    #[inline]
    fn marker(&mut self) -> Result<Marker, Failed> {
        let (&first, rest) = self.rest.split_first().ok_or(Failed)?;
        self.rest = rest;
        Ok(Marker::from_u8(first))
    }

    #[inline]
    fn peek(&self) -> Result<Marker, Failed> {
        self.rest
            .first()
            .map(|first| Marker::from_u8(*first))
            .ok_or(Failed)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Failed> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Failed)?;
        self.rest = rest;
        Ok(*taken)
    }

    #[inline]
    fn take(&mut self, len: usize) -> Result<&'de [u8], Failed> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Failed)?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    fn len_8(&mut self) -> Result<usize, Failed> {
        Ok(u8::from_be_bytes(self.array()?).into())
    }

    #[inline]
    fn len_16(&mut self) -> Result<usize, Failed> {
        Ok(u16::from_be_bytes(self.array()?).into())
    }

    #[inline]
    fn len_32(&mut self) -> Result<usize, Failed> {
        Ok(u32::from_be_bytes(self.array()?) as usize)
    }

    #[inline]
    fn bin_len(&mut self, marker: Marker) -> Result<usize, Failed> {
        match marker {
            Marker::Bin8 => self.len_8(),
            Marker::Bin16 => self.len_16(),
            _ => self.len_32(),
        }
    }

    /// The length of the text that `marker` begins; `None` if it begins no text.
    #[inline]
    fn text_len(&mut self, marker: Marker) -> Result<Option<usize>, Failed> {
        Ok(Some(match marker {
            Marker::FixStr(len) => len.into(),
            Marker::Str8 => self.len_8()?,
            Marker::Str16 => self.len_16()?,
            Marker::Str32 => self.len_32()?,
            _ => return Ok(None),
        }))
    }

    #[inline]
    fn text(&mut self, len: usize) -> Result<&'de str, Failed> {
        utf8::text(self.take(len)?).ok_or(Failed)
    }

    #[inline]
    fn list_len(&mut self, marker: Marker) -> Result<Option<usize>, Failed> {
        Ok(Some(match marker {
            Marker::FixArray(len) => len.into(),
            Marker::Array16 => self.len_16()?,
            Marker::Array32 => self.len_32()?,
            _ => return Ok(None),
        }))
    }

    #[inline]
    fn map_len(&mut self, marker: Marker) -> Result<Option<usize>, Failed> {
        Ok(Some(match marker {
            Marker::FixMap(len) => len.into(),
            Marker::Map16 => self.len_16()?,
            Marker::Map32 => self.len_32()?,
            _ => return Ok(None),
        }))
    }

    fn extension(&mut self, marker: Marker) -> Result<FromValue<'de>, Failed> {
        let len = match marker {
            Marker::FixExt1 => 1,
            Marker::FixExt2 => 2,
            Marker::FixExt4 => 4,
            Marker::FixExt8 => 8,
            Marker::FixExt16 => 16,
            Marker::Ext8 => self.len_8()?,
            Marker::Ext16 => self.len_16()?,
            Marker::Ext32 => self.len_32()?,
            _ => return Err(Failed),
        };
        let id = i8::from_be_bytes(self.array()?);
        let payload = self.take(len)?;
        Extension { id, payload }
            .decode(MAX_DEPTH - self.depth, &mut self.room)
            .map(FromValue::new)
            .map_err(|_| Failed)
    }

    /// Enters a list or map that must deliver `count` values.
    #[inline]
    fn enter(&mut self, count: usize) -> Result<(), Failed> {
        self.depth = self.depth.checked_sub(1).ok_or(Failed)?;
        self.owed = self.owed.saturating_add(count);
        if self.owed > self.rest.len() {
            return Err(Failed);
        }
        self.room.enter(count).map_err(|_| Failed)
    }

    #[inline]
    fn list<V: Visitor<'de>>(&mut self, len: usize, visitor: V) -> Result<V::Value, Failed> {
        self.enter(len)?;
        let mut items = Items {
            reader: self,
            left: len,
        };
        let made = visitor.visit_seq(&mut items)?;
        if items.left != 0 {
            return Err(Failed);
        }
        self.depth += 1;
        Ok(made)
    }

    #[inline]
    fn map<V: Visitor<'de>>(&mut self, len: usize, visitor: V) -> Result<V::Value, Failed> {
        self.enter(len.saturating_mul(2))?;
        let mut pairs = Pairs {
            reader: self,
            left: len,
        };
        let made = visitor.visit_map(&mut pairs)?;
        if pairs.left != 0 {
            return Err(Failed);
        }
        self.depth += 1;
        Ok(made)
    }

    #[inline]
    fn bytes(&mut self, len: usize) -> Result<&'de [u8], Failed> {
        self.room.take(COMPOUND).map_err(|_| Failed)?;
        self.take(len)
    }

    /// Skips a value, which is checked as if it were read.
    fn skip(&mut self) -> Result<(), Failed> {
        let marker = self.marker()?;
        let len = match marker {
            Marker::Null | Marker::False | Marker::True => 0,
            Marker::FixPos(_) | Marker::FixNeg(_) => 0,
            Marker::U8 | Marker::I8 => 1,
            Marker::U16 | Marker::I16 => 2,
            Marker::U32 | Marker::I32 | Marker::F32 => 4,
            Marker::U64 | Marker::I64 | Marker::F64 => 8,
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
                let len = self.bin_len(marker)?;
                return self.bytes(len).map(drop);
            }
            _ => {
                if let Some(len) = self.text_len(marker)? {
                    return self.text(len).map(drop);
                }
                if let Some(len) = self.list_len(marker)? {
                    self.enter(len)?;
                    for _ in 0..len {
                        self.owed -= 1;
                        self.skip()?;
                    }
                    self.depth += 1;
                    return Ok(());
                }
                if let Some(len) = self.map_len(marker)? {
                    self.enter(len.saturating_mul(2))?;
                    for _ in 0..len {
                        self.owed -= 2;
                        let key = self.marker()?;
                        let len = self.text_len(key)?.ok_or(Failed)?;
                        self.text(len)?;
                        self.skip()?;
                    }
                    self.depth += 1;
                    return Ok(());
                }
                return self.extension(marker).map(drop);
            }
        };
        self.take(len).map(drop)
    }
}

/// Does it as a [`Value`] would when an extension type stands here.
macro_rules! extensions_by_value {
    ($self:ident.$method:ident($($argument:expr),*)) => {
        if let Marker::FixExt1
        | Marker::FixExt2
        | Marker::FixExt4
        | Marker::FixExt8
        | Marker::FixExt16
        | Marker::Ext8
        | Marker::Ext16
        | Marker::Ext32 = $self.peek()?
        {
            let marker = $self.marker()?;
            let value = $self.extension(marker)?;
            return value.$method($($argument),*).map_err(|_| Failed);
        }
    };
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Failed;

    fn is_human_readable(&self) -> bool {
        false
    }

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        let marker = self.marker()?;
        match marker {
            Marker::FixPos(value) => visitor.visit_u64(value.into()),
            Marker::FixNeg(value) => visitor.visit_i64(value.into()),
            Marker::U8 => visitor.visit_u64(u8::from_be_bytes(self.array()?).into()),
            Marker::U16 => visitor.visit_u64(u16::from_be_bytes(self.array()?).into()),
            Marker::U32 => visitor.visit_u64(u32::from_be_bytes(self.array()?).into()),
            Marker::U64 => visitor.visit_u64(u64::from_be_bytes(self.array()?)),
            Marker::I8 => visitor.visit_i64(i8::from_be_bytes(self.array()?).into()),
            Marker::I16 => visitor.visit_i64(i16::from_be_bytes(self.array()?).into()),
            Marker::I32 => visitor.visit_i64(i32::from_be_bytes(self.array()?).into()),
            Marker::I64 => visitor.visit_i64(i64::from_be_bytes(self.array()?)),
            Marker::Null => visitor.visit_unit(),
            Marker::False => visitor.visit_bool(false),
            Marker::True => visitor.visit_bool(true),
            Marker::F32 => visitor.visit_f64(f32::from_be_bytes(self.array()?).into()),
            Marker::F64 => visitor.visit_f64(f64::from_be_bytes(self.array()?)),
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
                let len = self.bin_len(marker)?;
                visitor.visit_borrowed_bytes(self.bytes(len)?)
            }
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                let len = self.text_len(marker)?.ok_or(Failed)?;
                visitor.visit_borrowed_str(self.text(len)?)
            }
            Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
                let len = self.list_len(marker)?.ok_or(Failed)?;
                self.list(len, visitor)
            }
            Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => {
                let len = self.map_len(marker)?.ok_or(Failed)?;
                self.map(len, visitor)
            }
            _ => {
                let value = self.extension(marker)?;
                value.deserialize_any(visitor).map_err(|_| Failed)
            }
        }
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        let before = self.rest;
        let marker = self.marker()?;
        if let Some(len) = self.text_len(marker)? {
            return visitor.visit_borrowed_str(self.text(len)?);
        }
        self.rest = before;
        extensions_by_value!(self.deserialize_str(visitor));
        self.deserialize_any(visitor)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        match self.peek()? {
            Marker::Null => {
                self.rest = &self.rest[1..];
                visitor.visit_none()
            }
            _ => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        let before = self.rest;
        let marker = self.marker()?;
        if let Some(len) = self.list_len(marker)? {
            return self.list(len, visitor);
        }
        self.rest = before;
        extensions_by_value!(self.deserialize_seq(visitor));
        if let Marker::Bin8 | Marker::Bin16 | Marker::Bin32 = marker {
            let bytes = <&[u8]>::deserialize(self)?;
            let value = FromValue::new(Value::from(bytes));
            return value.deserialize_seq(visitor).map_err(|_| Failed);
        }
        self.deserialize_any(visitor)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        extensions_by_value!(self.deserialize_bytes(visitor));
        self.deserialize_any(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        extensions_by_value!(self.deserialize_i128(visitor));
        self.deserialize_any(visitor)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        extensions_by_value!(self.deserialize_u128(visitor));
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failed> {
        let marker = self.marker()?;
        if let Some(len) = self.text_len(marker)? {
            let variant = self.text(len)?;
            let reader = None;
            return visitor.visit_enum(Variant { variant, reader });
        }
        if self.map_len(marker)? != Some(1) {
            return Err(Failed);
        }
        self.enter(2)?;
        self.owed -= 2;
        let marker = self.marker()?;
        let len = self.text_len(marker)?.ok_or(Failed)?;
        let variant = self.text(len)?;
        let reader = Some(&mut *self);
        let made = visitor.visit_enum(Variant { variant, reader })?;
        self.depth += 1;
        Ok(made)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        self.skip()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char unit unit_struct map struct
    }
}
