//! `Value` inside a user's own types. The MessagePack extension types follow the `_ExtStruct`
//! convention of rmp-serde: a newtype struct of that name around (type, bytes).

use super::{json_number, last_wins, Value};
use crate::serializer::messagepack::{self, Extension};
use crate::serializer::MAX_DEPTH;
use crate::weight::Room;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap, SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The name that rmp-serde gives to an extension type.
pub(crate) const EXTENSION: &str = "_ExtStruct";

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(value) => {
                if let Ok(value) = i64::try_from(*value) {
                    serializer.serialize_i64(value)
                } else if let Ok(value) = u64::try_from(*value) {
                    serializer.serialize_u64(value)
                } else {
                    Err(S::Error::custom("an Int lies in -2^63 .. 2^64-1"))
                }
            }
            Value::Float(value) if serializer.is_human_readable() && !value.is_finite() => {
                Err(S::Error::custom("JSON has no NaN and no infinity"))
            }
            Value::Float(value) => serializer.serialize_f64(*value),
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(values) => {
                let mut list = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    list.serialize_element(value)?;
                }
                list.end()
            }
            Value::Map(pairs) => {
                let mut map = serializer.serialize_map(Some(pairs.len()))?;
                for (key, value) in pairs {
                    map.serialize_entry(key.as_ref(), value)?;
                }
                map.end()
            }
            _ if serializer.is_human_readable() => Err(S::Error::custom(format_args!(
                "JSON has no row for {}: use MessagePack",
                self.row()
            ))),
            Value::Bytes(bytes) => serializer.serialize_bytes(bytes),
            Value::BigInt(_)
            | Value::Set(_)
            | Value::Timestamp { .. }
            | Value::Decimal(_)
            | Value::Uuid(_)
            | Value::Named(_) => {
                let mut payload = Vec::new();
                let id = messagepack::write_extension(self, MAX_DEPTH, &mut 0, &mut payload)
                    .map_err(|refusal| S::Error::custom(refusal.into_error()))?;
                serializer.serialize_newtype_struct(EXTENSION, &(id, RawBytes(&payload)))
            }
        }
    }
}

/// Bytes that serialize as bytes, which a `&[u8]` does not.
pub(super) struct RawBytes<'a>(pub(super) &'a [u8]);

impl Serialize for RawBytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// Owns what it reads, whatever `'a` is, as `Cow` does: a user's type that contains a `Value<'static>`
/// is `DeserializeOwned`.
impl<'de, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seed = ValueSeed {
            depth: 0,
            json: false,
        };
        seed.deserialize(deserializer).map(Value::into_owned)
    }
}

/// Reads a value that borrows where the deserializer lets it.
#[derive(Clone, Copy)]
pub(crate) struct ValueSeed {
    /// Lists and maps around this value.
    pub depth: usize,
    /// Whether integers beyond ±(2^53 - 1) are floats, as in JavaScript.
    pub json: bool,
}

impl ValueSeed {
    fn inside<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            return Err(E::custom("nested deeper than 128"));
        }
        Ok(ValueSeed {
            depth: self.depth + 1,
            ..self
        })
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of the type map")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'de>, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value<'de>, E> {
        Ok(self.integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value<'de>, E> {
        Ok(self.integer(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value<'de>, E> {
        Ok(Value::Float(value))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(text)))
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Value<'de>, E> {
        Ok(Value::Bytes(Cow::Borrowed(bytes)))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Value<'de>, E> {
        Ok(Value::Bytes(Cow::Owned(bytes.to_owned())))
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Value<'de>, E> {
        Ok(Value::Bytes(Cow::Owned(bytes)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value<'de>, A::Error> {
        let inside = self.inside()?;
        let mut values = Vec::new();
        while let Some(value) = access.next_element_seed(inside)? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value<'de>, A::Error> {
        let mut key = access.next_key_seed(KeySeed)?;
        if key.as_deref() == Some(json_number::KEY) && json_number::is_map() {
            return json_number::parse(&access.next_value::<String>()?, self);
        }
        let inside = self.inside()?;
        let mut pairs = Vec::new();
        while let Some(present) = key {
            pairs.push((present, access.next_value_seed(inside)?));
            key = access.next_key_seed(KeySeed)?;
        }
        Ok(Value::Map(last_wins(pairs)))
    }

    /// An extension type of MessagePack: (type, bytes).
    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Value<'de>, D::Error> {
        let (id, payload) = deserializer.deserialize_tuple(2, ExtensionVisitor)?;
        let extension = Extension {
            id,
            payload: &payload,
        };
        extension
            // The deserializer may be anyone's. Ours has weighed it.
            .decode(self.depth, &mut Room::unlimited())
            .map(Value::into_owned)
            .map_err(D::Error::custom)
    }
}

impl ValueSeed {
    fn integer<'de>(self, value: i128) -> Value<'de> {
        const SAFE: i128 = (1 << 53) - 1;
        if self.json && !(-SAFE..=SAFE).contains(&value) {
            Value::Float(value as f64)
        } else {
            Value::Int(value)
        }
    }
}

/// Reads a map's key, which is text.
struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map key that is text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text))
    }
}

struct ExtensionVisitor;

impl<'de> Visitor<'de> for ExtensionVisitor {
    type Value = (i8, Vec<u8>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a MessagePack extension type")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let id = access
            .next_element()?
            .ok_or_else(|| A::Error::custom("an extension without a type"))?;
        let payload = access
            .next_element_seed(PayloadSeed)?
            .ok_or_else(|| A::Error::custom("an extension without a payload"))?;
        Ok((id, payload))
    }
}

struct PayloadSeed;

impl<'de> DeserializeSeed<'de> for PayloadSeed {
    type Value = Vec<u8>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<u8>, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl<'de> Visitor<'de> for PayloadSeed {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of an extension type")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_owned())
    }
}
