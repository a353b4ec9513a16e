//! The key of a map, which is text.

use super::Refused;
use serde::ser::{self, Impossible, Serialize, Serializer};
use std::borrow::Cow;

/// Makes the key of a map, which is text.
pub(super) struct ToKey;

type Never = Impossible<Cow<'static, str>, Refused>;

fn no_key<T>() -> Result<T, Refused> {
    Err(ser::Error::custom(
        "a map key that is not text: make the keys text",
    ))
}

macro_rules! no_keys {
    ($($method:ident($type:ty)),*) => {
        $(fn $method(self, _value: $type) -> Result<Cow<'static, str>, Refused> {
            no_key()
        })*
    };
}

impl Serializer for ToKey {
    type Ok = Cow<'static, str>;
    type Error = Refused;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_str(self, key: &str) -> Result<Cow<'static, str>, Refused> {
        Ok(Cow::Owned(key.to_owned()))
    }

    fn serialize_char(self, key: char) -> Result<Cow<'static, str>, Refused> {
        Ok(Cow::Owned(key.to_string()))
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Cow<'static, str>, Refused> {
        Ok(Cow::Borrowed(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        key: &T,
    ) -> Result<Cow<'static, str>, Refused> {
        key.serialize(self)
    }

    no_keys!(
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_i128(i128),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_u128(u128),
        serialize_f32(f32),
        serialize_f64(f64),
        serialize_bytes(&[u8]),
        serialize_unit_struct(&'static str)
    );

    fn serialize_none(self) -> Result<Cow<'static, str>, Refused> {
        no_key()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _key: &T) -> Result<Cow<'static, str>, Refused> {
        no_key()
    }

    fn serialize_unit(self) -> Result<Cow<'static, str>, Refused> {
        no_key()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _key: &T,
    ) -> Result<Cow<'static, str>, Refused> {
        no_key()
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Never, Refused> {
        no_key()
    }

    fn serialize_tuple(self, _len: usize) -> Result<Never, Refused> {
        no_key()
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Never, Refused> {
        no_key()
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Never, Refused> {
        no_key()
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Never, Refused> {
        no_key()
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Never, Refused> {
        no_key()
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Never, Refused> {
        no_key()
    }
}
