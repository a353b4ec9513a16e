//! Serializers by name.

use crate::{Error, Serializer};

/// The serializer called `messagepack`, `json`, `text` or `bytes`.
///
/// # Errors
/// `InvalidArgument` for any other name.
pub fn parse(name: &str) -> Result<Serializer, Error> {
    Serializer::from_name(name).ok_or_else(|| {
        Error::InvalidArgument(format!(
            "{name:?} is not a serializer: messagepack, json, text or bytes"
        ))
    })
}

/// [`Serializer::Json`], where a type reads better: `.serializer(Json)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json;

/// [`Serializer::MessagePack`], the default, where a type reads better: `.serializer(MessagePack)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessagePack;

/// [`Serializer::Bincode`], where a type reads better: `.serializer(Bincode)`. Only typed Rust reads it.
///
/// ```
/// use polycache::{Bincode, Cache, Noop, Zstd};
///
/// // Fast; and with fewer bytes, where values repeat themselves.
/// let fast = Cache::builder().serializer(Bincode).compressor(Noop).build()?;
/// let balanced = Cache::builder().serializer(Bincode).compressor(Zstd::new(1)).build()?;
/// fast.set("key", &42)?;
/// balanced.set("key", &42)?;
/// assert_eq!((fast.get("key")?, balanced.get("key")?), (Some(42), Some(42)));
/// # Ok::<(), polycache::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bincode;

impl From<Json> for Serializer {
    fn from(_: Json) -> Serializer {
        Serializer::Json
    }
}

impl From<MessagePack> for Serializer {
    fn from(_: MessagePack) -> Serializer {
        Serializer::MessagePack
    }
}

impl From<Bincode> for Serializer {
    fn from(_: Bincode) -> Serializer {
        Serializer::Bincode
    }
}
