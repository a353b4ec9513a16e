//! Any serde type as a [`Value`].

mod key;

use super::serde_impl::EXTENSION;
use super::Value;
use crate::serializer::messagepack::Extension;
use crate::serializer::{Refusal, MAX_DEPTH};
use crate::weight::Room;
use crate::Error;
use key::ToKey;
use serde::ser::{self, Error as _, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// `value` as a row of the type map. Structs and maps become maps, sequences, tuples and sets
/// become lists, enums what serde's data formats make of them: a unit variant is its name, any
/// other a map of its name to its content. A [`Value`] inside becomes itself.
///
/// # Errors
/// [`Error::UnsupportedValue`] with the path to what has no row: a map key that is not text, more
/// than [`MAX_DEPTH`] levels, or what `value`'s own implementation refuses.
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value<'static>, Error> {
    value
        .serialize(ToValue { depth: MAX_DEPTH })
        .map_err(|refused| refused.0.into_error())
}

/// A rejection on its way through serde.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) Box<Refusal>);

impl From<Box<Refusal>> for Refused {
    fn from(refusal: Box<Refusal>) -> Self {
        Refused(refusal)
    }
}

impl ser::Error for Refused {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Refused(Refusal::new(reason.to_string()))
    }
}

impl std::error::Error for Refused {}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl Refused {
    #[cold]
    pub(crate) fn at_index(self, index: usize) -> Self {
        Refused(self.0.at_index(index))
    }

    #[cold]
    pub(crate) fn at_key(self, key: &str) -> Self {
        Refused(self.0.at_key(key))
    }
}

/// Makes a value that may have `depth` levels of lists and maps.
#[derive(Clone, Copy)]
struct ToValue {
    depth: usize,
}

impl ToValue {
    fn inside(self) -> Result<Self, Refused> {
        match self.depth.checked_sub(1) {
            Some(depth) => Ok(ToValue { depth }),
            None => Err(ser::Error::custom(
                "nested deeper than 128 lists, sets and maps",
            )),
        }
    }

    fn list(self, variant: Option<&'static str>) -> Result<List, Refused> {
        // A variant with content is a map around it.
        let outer = if variant.is_some() {
            self.inside()?
        } else {
            self
        };
        Ok(List {
            inside: outer.inside()?,
            values: Vec::new(),
            variant,
        })
    }

    fn map(self, variant: Option<&'static str>) -> Result<Map, Refused> {
        let List {
            inside, variant, ..
        } = self.list(variant)?;
        Ok(Map {
            inside,
            pairs: Vec::new(),
            key: Cow::Borrowed(""),
            variant,
        })
    }
}

/// A [`Value`] that names its extension type, (type, bytes), inside `depth` lists and maps.
pub(crate) fn extension_value<T: Serialize + ?Sized>(
    parts: &T,
    depth: usize,
) -> Result<Value<'static>, Refused> {
    let parts = parts.serialize(ToValue { depth: 1 })?;
    if let Value::List(parts) = &parts {
        if let [Value::Int(id), Value::Bytes(payload)] = parts.as_slice() {
            let id = i8::try_from(*id).map_err(Refused::custom)?;
            return Extension { id, payload }
                .decode(depth, &mut Room::unlimited())
                .map(Value::into_owned)
                .map_err(ser::Error::custom);
        }
    }
    Err(ser::Error::custom("an extension is a type and bytes"))
}

/// The value of a variant's content.
fn tagged(variant: Option<&'static str>, content: Value<'static>) -> Value<'static> {
    match variant {
        Some(variant) => Value::Map(vec![(Cow::Borrowed(variant), content)]),
        None => content,
    }
}

impl Serializer for ToValue {
    type Ok = Value<'static>;
    type Error = Refused;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = List;
    type SerializeTupleVariant = List;
    type SerializeMap = Map;
    type SerializeStruct = Map;
    type SerializeStructVariant = Map;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<Value<'static>, Refused> {
        Ok(Value::Bool(value))
    }

    fn serialize_i8(self, value: i8) -> Result<Value<'static>, Refused> {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i16(self, value: i16) -> Result<Value<'static>, Refused> {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i32(self, value: i32) -> Result<Value<'static>, Refused> {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i64(self, value: i64) -> Result<Value<'static>, Refused> {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i128(self, value: i128) -> Result<Value<'static>, Refused> {
        Ok(Value::integer(value))
    }

    fn serialize_u8(self, value: u8) -> Result<Value<'static>, Refused> {
        Ok(Value::Int(value.into()))
    }

    fn serialize_u16(self, value: u16) -> Result<Value<'static>, Refused> {
        Ok(Value::Int(value.into()))
    }

    fn serialize_u32(self, value: u32) -> Result<Value<'static>, Refused> {
        Ok(Value::Int(value.into()))
    }

    fn serialize_u64(self, value: u64) -> Result<Value<'static>, Refused> {
        Ok(Value::Int(value.into()))
    }

    fn serialize_u128(self, value: u128) -> Result<Value<'static>, Refused> {
        Ok(match i128::try_from(value) {
            Ok(value) => Value::integer(value),
            Err(_) => Value::BigInt(value.to_string().into()),
        })
    }

    fn serialize_f32(self, value: f32) -> Result<Value<'static>, Refused> {
        Ok(Value::Float(value.into()))
    }

    fn serialize_f64(self, value: f64) -> Result<Value<'static>, Refused> {
        Ok(Value::Float(value))
    }

    fn serialize_char(self, value: char) -> Result<Value<'static>, Refused> {
        Ok(Value::from(value.to_string()))
    }

    fn serialize_str(self, value: &str) -> Result<Value<'static>, Refused> {
        Ok(Value::from(value.to_owned()))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Value<'static>, Refused> {
        Ok(Value::from(value.to_owned()))
    }

    fn serialize_none(self) -> Result<Value<'static>, Refused> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value<'static>, Refused> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value<'static>, Refused> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Value<'static>, Refused> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Value<'static>, Refused> {
        Ok(Value::from(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Value<'static>, Refused> {
        if name != EXTENSION {
            return value.serialize(self);
        }
        extension_value(value, MAX_DEPTH - self.depth)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value<'static>, Refused> {
        let content = value
            .serialize(self.inside()?)
            .map_err(|refused| refused.at_key(variant))?;
        Ok(tagged(Some(variant), content))
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<List, Refused> {
        self.list(None)
    }

    fn serialize_tuple(self, _len: usize) -> Result<List, Refused> {
        self.list(None)
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<List, Refused> {
        self.list(None)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<List, Refused> {
        self.list(Some(variant))
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Map, Refused> {
        self.map(None)
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Map, Refused> {
        self.map(None)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Map, Refused> {
        self.map(Some(variant))
    }
}

/// A list that grows.
struct List {
    inside: ToValue,
    values: Vec<Value<'static>>,
    variant: Option<&'static str>,
}

impl List {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        let value = value.serialize(self.inside).map_err(|refused| {
            let refused = refused.at_index(self.values.len());
            match self.variant {
                Some(variant) => refused.at_key(variant),
                None => refused,
            }
        })?;
        self.values.push(value);
        Ok(())
    }

    fn finish(self) -> Result<Value<'static>, Refused> {
        Ok(tagged(self.variant, Value::List(self.values)))
    }
}

/// Serde has a trait for each kind of list and map; they differ in names only.
macro_rules! grows {
    ($kind:ident, $trait:ident, $method:ident ( $($key:ident)? )) => {
        impl ser::$trait for $kind {
            type Ok = Value<'static>;
            type Error = Refused;

            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($key: &'static str,)?
                value: &T,
            ) -> Result<(), Refused> {
                $(self.key = Cow::Borrowed($key);)?
                self.push(value)
            }

            fn end(self) -> Result<Value<'static>, Refused> {
                self.finish()
            }
        }
    };
}

grows!(List, SerializeSeq, serialize_element());
grows!(List, SerializeTuple, serialize_element());
grows!(List, SerializeTupleStruct, serialize_field());
grows!(List, SerializeTupleVariant, serialize_field());
grows!(Map, SerializeStruct, serialize_field(key));
grows!(Map, SerializeStructVariant, serialize_field(key));

/// A map that grows.
struct Map {
    inside: ToValue,
    pairs: Vec<(Cow<'static, str>, Value<'static>)>,
    /// Of the next value.
    key: Cow<'static, str>,
    variant: Option<&'static str>,
}

impl Map {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        let value = value.serialize(self.inside).map_err(|refused| {
            let refused = refused.at_key(&self.key);
            match self.variant {
                Some(variant) => refused.at_key(variant),
                None => refused,
            }
        })?;
        self.pairs.push((std::mem::take(&mut self.key), value));
        Ok(())
    }

    fn finish(self) -> Result<Value<'static>, Refused> {
        Ok(tagged(self.variant, Value::Map(self.pairs)))
    }
}

impl ser::SerializeMap for Map {
    type Ok = Value<'static>;
    type Error = Refused;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Refused> {
        self.key = key.serialize(ToKey)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        self.push(value)
    }

    fn end(self) -> Result<Value<'static>, Refused> {
        self.finish()
    }
}
