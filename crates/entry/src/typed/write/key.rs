//! The key of a map, which is text.

use super::{Format, Outcome};
use crate::serializer::Refusal;
use crate::value::Refused;
use serde::ser::{Impossible, Serialize, Serializer};
use std::marker::PhantomData;

/// Writes the key of a map, which is text.
pub(super) struct KeyWriter<'k, F> {
    pub(super) out: &'k mut Vec<u8>,
    pub(super) format: PhantomData<F>,
}

type Never = Impossible<(), Refused>;

#[cold]
fn no_key<T>() -> Result<T, Refused> {
    Err(Refused(Refusal::new(
        "a map key that is not text: make the keys text",
    )))
}

macro_rules! no_keys {
    ($($method:ident($($type:ty),*) -> $out:ty),*) => {
        $(fn $method(self, $(_: $type),*) -> Result<$out, Refused> {
            no_key()
        })*
    };
}

impl<F: Format> Serializer for KeyWriter<'_, F> {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    fn is_human_readable(&self) -> bool {
        F::HUMAN_READABLE
    }

    #[inline]
    fn serialize_str(self, key: &str) -> Outcome {
        Ok(F::text(key, self.out)?)
    }

    fn serialize_char(self, key: char) -> Outcome {
        self.serialize_str(key.encode_utf8(&mut [0; 4]))
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Outcome {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        key: &T,
    ) -> Outcome {
        key.serialize(self)
    }

    no_keys!(
        serialize_bool(bool) -> (),
        serialize_i8(i8) -> (),
        serialize_i16(i16) -> (),
        serialize_i32(i32) -> (),
        serialize_i64(i64) -> (),
        serialize_i128(i128) -> (),
        serialize_u8(u8) -> (),
        serialize_u16(u16) -> (),
        serialize_u32(u32) -> (),
        serialize_u64(u64) -> (),
        serialize_u128(u128) -> (),
        serialize_f32(f32) -> (),
        serialize_f64(f64) -> (),
        serialize_bytes(&[u8]) -> (),
        serialize_none() -> (),
        serialize_unit() -> (),
        serialize_unit_struct(&'static str) -> (),
        serialize_seq(Option<usize>) -> Never,
        serialize_tuple(usize) -> Never,
        serialize_tuple_struct(&'static str, usize) -> Never,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never,
        serialize_map(Option<usize>) -> Never,
        serialize_struct(&'static str, usize) -> Never,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never
    );

    fn serialize_some<T: Serialize + ?Sized>(self, _key: &T) -> Outcome {
        no_key()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _key: &T,
    ) -> Outcome {
        no_key()
    }
}
