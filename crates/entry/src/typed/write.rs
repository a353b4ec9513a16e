//! A serde type directly to bytes. The formats differ in [`Format`].

mod compound;
mod key;

use super::Structs;
use crate::serializer::{Refusal, MAX_DEPTH};
use crate::value::{extension_value, Refused, EXTENSION};
use crate::weight::{self, COMPOUND, VALUE};
use crate::{Error, Value};
use compound::{Fields, List, Map, Variant};
use serde::ser::{Serialize, Serializer};
use std::marker::PhantomData;

pub(super) type Written = Result<(), Box<Refusal>>;

/// How the parts of a value become bytes.
pub(super) trait Format {
    /// In serde's sense.
    const HUMAN_READABLE: bool;

    fn null(out: &mut Vec<u8>);
    fn bool(value: bool, out: &mut Vec<u8>);
    fn signed(value: i64, out: &mut Vec<u8>) -> Written;
    fn unsigned(value: u64, out: &mut Vec<u8>) -> Written;
    fn float(value: f64, out: &mut Vec<u8>) -> Written;
    fn text(text: &str, out: &mut Vec<u8>) -> Written;
    fn bytes(bytes: &[u8], out: &mut Vec<u8>) -> Written;
    /// Any value, which may have `depth` levels: the rows that serde has no type for.
    /// What it weighs beyond its own [`VALUE`] is added to `weight`.
    fn value(value: &Value<'_>, depth: usize, weight: &mut u64, out: &mut Vec<u8>) -> Written;

    /// Begins a list of `len` values, or of [`UNKNOWN`] many.
    fn begin_list(len: usize, out: &mut Vec<u8>) -> Written;
    /// Ends the list at `start`, which was begun with `len` and has `count` values.
    fn end_list(start: usize, len: usize, count: usize, out: &mut Vec<u8>) -> Written;
    /// Begins a map of `len` pairs, or of [`UNKNOWN`] many.
    fn begin_map(len: usize, out: &mut Vec<u8>) -> Written;
    fn end_map(start: usize, len: usize, count: usize, out: &mut Vec<u8>) -> Written;
    /// Goes before the value or pair at `index`.
    fn separate(index: usize, out: &mut Vec<u8>);
    /// Goes between a key and its value.
    fn after_key(out: &mut Vec<u8>);
    /// The key that `written` begins with.
    fn key(written: &[u8]) -> String;
}

/// A length that serde's caller did not give.
pub(super) const UNKNOWN: usize = usize::MAX;

/// Appends `value`, for readers whose payloads have at most `max_length` bytes; after an error `out` holds a part
/// of it.
pub(super) fn write<F: Format, T: Serialize + ?Sized>(
    value: &T,
    structs: Structs,
    max_length: u64,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let mut writer = Writer::<F> {
        out,
        depth: MAX_DEPTH,
        weight: VALUE,
        structs,
        format: PhantomData,
    };
    value
        .serialize(&mut writer)
        .map_err(|refused| refused.0.into_error())?;
    weight::check(writer.weight, max_length)
}

struct Writer<'o, F> {
    out: &'o mut Vec<u8>,
    /// Levels of lists and maps that a value here may have.
    depth: usize,
    /// Of what was written.
    weight: u64,
    structs: Structs,
    format: PhantomData<F>,
}

type Outcome = Result<(), Refused>;

impl<'o, F: Format> Writer<'o, F> {
    fn enter(&mut self) -> Outcome {
        match self.depth.checked_sub(1) {
            Some(depth) => {
                self.depth = depth;
                Ok(())
            }
            None => Err(too_deep()),
        }
    }

    /// Leaves a list or map in which `count` values and keys were written.
    #[inline]
    fn leave(&mut self, count: usize) {
        self.depth += 1;
        self.weight += COMPOUND + VALUE * count as u64;
    }

    #[inline]
    fn list<'w>(&'w mut self, len: usize) -> Result<List<'w, 'o, F>, Refused> {
        self.enter()?;
        let start = self.out.len();
        F::begin_list(len, self.out)?;
        Ok(List {
            writer: self,
            start,
            len,
            count: 0,
        })
    }

    #[inline]
    fn fields<'w>(&'w mut self, len: usize) -> Result<Fields<'w, 'o, F>, Refused> {
        self.enter()?;
        let start = self.out.len();
        match self.structs {
            Structs::Maps => F::begin_map(len, self.out)?,
            Structs::Lists => F::begin_list(len, self.out)?,
        }
        Ok(Fields {
            writer: self,
            start,
            len,
            count: 0,
        })
    }

    /// Begins the map of one pair that a variant with content is.
    fn begin_variant(&mut self, variant: &'static str) -> Result<usize, Refused> {
        self.enter()?;
        let start = self.out.len();
        F::begin_map(1, self.out)?;
        F::separate(0, self.out);
        F::text(variant, self.out)?;
        F::after_key(self.out);
        Ok(start)
    }

    fn end_variant(&mut self, start: usize) -> Outcome {
        self.leave(2);
        Ok(F::end_map(start, 1, 1, self.out)?)
    }
}

#[cold]
fn too_deep() -> Refused {
    Refused(Refusal::new("nested deeper than 128 lists, sets and maps"))
}

macro_rules! numbers {
    ($($method:ident($type:ty) => $write:ident as $wide:ty),*) => {
        $(#[inline]
        fn $method(self, value: $type) -> Outcome {
            Ok(F::$write(<$wide>::from(value), self.out)?)
        })*
    };
}

impl<'w, 'o, F: Format> Serializer for &'w mut Writer<'o, F> {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = List<'w, 'o, F>;
    type SerializeTuple = List<'w, 'o, F>;
    type SerializeTupleStruct = List<'w, 'o, F>;
    type SerializeTupleVariant = Variant<List<'w, 'o, F>>;
    type SerializeMap = Map<'w, 'o, F>;
    type SerializeStruct = Fields<'w, 'o, F>;
    type SerializeStructVariant = Variant<Fields<'w, 'o, F>>;

    fn is_human_readable(&self) -> bool {
        F::HUMAN_READABLE
    }

    numbers!(
        serialize_i8(i8) => signed as i64,
        serialize_i16(i16) => signed as i64,
        serialize_i32(i32) => signed as i64,
        serialize_i64(i64) => signed as i64,
        serialize_u8(u8) => unsigned as u64,
        serialize_u16(u16) => unsigned as u64,
        serialize_u32(u32) => unsigned as u64,
        serialize_u64(u64) => unsigned as u64,
        serialize_f32(f32) => float as f64,
        serialize_f64(f64) => float as f64
    );

    #[inline]
    fn serialize_bool(self, value: bool) -> Outcome {
        F::bool(value, self.out);
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Outcome {
        Ok(F::value(
            &Value::integer(value),
            0,
            &mut self.weight,
            self.out,
        )?)
    }

    fn serialize_u128(self, value: u128) -> Outcome {
        let value = match i128::try_from(value) {
            Ok(value) => Value::integer(value),
            Err(_) => Value::BigInt(value.to_string().into()),
        };
        Ok(F::value(&value, 0, &mut self.weight, self.out)?)
    }

    fn serialize_char(self, value: char) -> Outcome {
        Ok(F::text(value.encode_utf8(&mut [0; 4]), self.out)?)
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Outcome {
        Ok(F::text(value, self.out)?)
    }

    #[inline]
    fn serialize_bytes(self, value: &[u8]) -> Outcome {
        self.weight += COMPOUND;
        Ok(F::bytes(value, self.out)?)
    }

    #[inline]
    fn serialize_none(self) -> Outcome {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Outcome {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Outcome {
        F::null(self.out);
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Outcome {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Outcome {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Outcome {
        if name == EXTENSION {
            let extension = extension_value(value, MAX_DEPTH - self.depth)?;
            return Ok(F::value(
                &extension,
                self.depth,
                &mut self.weight,
                self.out,
            )?);
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Outcome {
        let start = self.begin_variant(variant)?;
        value
            .serialize(&mut *self)
            .map_err(|refused| refused.at_key(variant))?;
        self.end_variant(start)
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<List<'w, 'o, F>, Refused> {
        self.list(len.unwrap_or(UNKNOWN))
    }

    #[inline]
    fn serialize_tuple(self, len: usize) -> Result<List<'w, 'o, F>, Refused> {
        self.list(len)
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        len: usize,
    ) -> Result<List<'w, 'o, F>, Refused> {
        self.list(len)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Variant<List<'w, 'o, F>>, Refused> {
        let start = self.begin_variant(variant)?;
        let content = self.list(len).map_err(|refused| refused.at_key(variant))?;
        Ok(Variant {
            content,
            variant,
            start,
        })
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Map<'w, 'o, F>, Refused> {
        self.enter()?;
        let (start, len) = (self.out.len(), len.unwrap_or(UNKNOWN));
        F::begin_map(len, self.out)?;
        Ok(Map {
            writer: self,
            start,
            len,
            count: 0,
            key: 0,
        })
    }

    #[inline]
    fn serialize_struct(
        self,
        _name: &'static str,
        len: usize,
    ) -> Result<Fields<'w, 'o, F>, Refused> {
        self.fields(len)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Variant<Fields<'w, 'o, F>>, Refused> {
        let start = self.begin_variant(variant)?;
        let content = self
            .fields(len)
            .map_err(|refused| refused.at_key(variant))?;
        Ok(Variant {
            content,
            variant,
            start,
        })
    }
}
