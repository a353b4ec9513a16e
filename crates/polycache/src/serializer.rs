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
