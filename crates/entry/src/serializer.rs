//! Serializers: how a value becomes the bytes of a payload, and back.

pub(crate) mod json;
pub(crate) mod messagepack;
mod path;

use crate::weight::{self, VALUE};
use crate::{utf8, Error, Value};
pub(crate) use path::Refusal;
use std::borrow::Cow;

/// The most levels of lists, sets and maps, the value itself included.
pub const MAX_DEPTH: usize = 128;

/// How a value becomes an entry's payload. The discriminant is the id in the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Serializer {
    /// [`Value::Bytes`] as they are; no other value.
    Bytes = 0,
    /// [`Value::Text`] as UTF-8; no other value.
    Text = 1,
    /// What JSON has (RFC 8259), with integers within ±(2^53 - 1) and finite floats.
    Json = 2,
    /// Every row of the type map; the default.
    #[default]
    MessagePack = 3,
    /// Typed values of Rust, shorter and faster than all others: [`encode_typed`](crate::encode_typed)
    /// writes them and [`deserialize`](crate::deserialize) reads them as the same type; no [`Value`],
    /// and no other language. If a struct gains, loses or moves a field, earlier entries are read
    /// wrongly or not at all: change the key with it. The format has no names, so it cannot hold fields
    /// that may be left out (`skip_serializing_if`), flattened fields, and untagged or internally tagged
    /// enums.
    Bincode = 4,
}

impl Serializer {
    /// The serializers that every language has: all except [`Serializer::Bincode`].
    pub const ALL: [Serializer; 4] = [
        Serializer::Bytes,
        Serializer::Text,
        Serializer::Json,
        Serializer::MessagePack,
    ];

    /// The serializer with this id in the header.
    ///
    /// # Errors
    /// [`Error::UnsupportedSerializer`] for every other id.
    pub const fn from_id(id: u8) -> Result<Self, Error> {
        match id {
            0 => Ok(Serializer::Bytes),
            1 => Ok(Serializer::Text),
            2 => Ok(Serializer::Json),
            3 => Ok(Serializer::MessagePack),
            4 => Ok(Serializer::Bincode),
            _ => Err(Error::UnsupportedSerializer { id }),
        }
    }

    /// Its name, the same in the configuration of every language.
    pub const fn name(self) -> &'static str {
        match self {
            Serializer::Bytes => "bytes",
            Serializer::Text => "text",
            Serializer::Json => "json",
            Serializer::MessagePack => "messagepack",
            Serializer::Bincode => "bincode",
        }
    }

    /// The serializer of that name, among [`Serializer::ALL`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Appends `value` to `out`, for readers whose payloads have at most `max_length` bytes; after an error `out`
    /// holds a part of it.
    pub(crate) fn write(
        self,
        value: &Value<'_>,
        max_length: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut weight = VALUE;
        let written = match (self, value) {
            (Serializer::Json, _) => json::write(value, MAX_DEPTH, &mut weight, out),
            (Serializer::MessagePack, _) => messagepack::write(value, MAX_DEPTH, &mut weight, out),
            (Serializer::Bytes, Value::Bytes(bytes)) => {
                out.extend_from_slice(bytes);
                Ok(())
            }
            (Serializer::Text, Value::Text(text)) => {
                out.extend_from_slice(text.as_bytes());
                Ok(())
            }
            (Serializer::Bincode, _) => Err(Refusal::new(
                "the serializer bincode takes values of a Rust type only: use messagepack",
            )),
            (Serializer::Bytes | Serializer::Text, other) => Err(Refusal::new(format!(
                "the serializer {} takes {0} only, not {}: use messagepack",
                self.name(),
                other.row()
            ))),
        };
        written.map_err(|refusal| refusal.into_error())?;
        weight::check(weight, max_length)
    }

    /// The value in `payload`, for a reader whose payloads have at most `max_length` bytes.
    pub(crate) fn read(self, payload: &[u8], max_length: u64) -> Result<Value<'_>, Error> {
        match self {
            Serializer::Bytes => Ok(Value::Bytes(Cow::Borrowed(payload))),
            Serializer::Text => utf8::text(payload)
                .map(Value::from)
                .ok_or_else(|| Error::malformed("the text is not valid UTF-8")),
            Serializer::Json => json::read(payload, max_length),
            Serializer::MessagePack => messagepack::read(payload, max_length),
            Serializer::Bincode => Err(Error::UnsupportedSerializer { id: self as u8 }),
        }
    }
}
