//! Types that a program has registered by name.

use super::serde_impl::{RawBytes, EXTENSION};
use super::{from_value, Value};
use crate::serializer::messagepack::{write_text, NAMED};
use crate::{serialize, Serializer, Structs};
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer as Write};
use std::borrow::Cow;

/// The most bytes that the name of a registered type has.
pub const MAX_NAME: usize = 255;

/// A value under the name of a type that a program has registered: a class, a dataclass, a struct.
///
/// Every language that has registered the name makes its own type of it; a language that has not gives
/// name and value. In Rust a struct may be read without knowing the name; this type gives the name too:
///
/// ```
/// use polycache_entry::{deserialize, serialize, Limits, Named, Serializer, Structs};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, PartialEq, Debug)]
/// struct User { name: String }
///
/// let ada = User { name: "Ada".into() };
/// let mut payload = Vec::new();
/// let named = Named::new("user", &ada);
/// serialize(&named, Serializer::MessagePack, Structs::Maps, &mut payload)?;
///
/// let limits = Limits::default();
/// let user: User = deserialize(Serializer::MessagePack, &payload, &limits)?;
/// assert_eq!(user, ada);
/// let named: Named<User> = deserialize(Serializer::MessagePack, &payload, &limits)?;
/// assert_eq!(named.name, "user");
/// # Ok::<(), polycache_entry::Error>(())
/// ```
///
/// Only MessagePack has it; other serializers reject it with [`Error::UnsupportedValue`]. A flattened
/// field and an untagged enum cannot be read from it.
///
/// [`Error::UnsupportedValue`]: crate::Error::UnsupportedValue
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Named<'a, T = Value<'a>> {
    /// 1 to [`MAX_NAME`] bytes.
    pub name: Cow<'a, str>,
    /// The content of the type: usually a map of its fields.
    pub value: T,
}

impl<'a, T> Named<'a, T> {
    /// `value` under the name `name`, whose length is checked when it is written.
    pub fn new(name: impl Into<Cow<'a, str>>, value: T) -> Self {
        Named {
            name: name.into(),
            value,
        }
    }
}

impl<'a> From<Named<'a>> for Value<'a> {
    fn from(named: Named<'a>) -> Self {
        Value::Named(Box::new(named))
    }
}

impl<T: Serialize> Serialize for Named<'_, T> {
    fn serialize<S: Write>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return Err(S::Error::custom(
                "JSON has no row for a value of a registered type: use MessagePack",
            ));
        }
        check_name(&self.name).map_err(S::Error::custom)?;
        let mut payload = Vec::new();
        write_text(&self.name, &mut payload)
            .map_err(|refusal| S::Error::custom(refusal.into_error()))?;
        serialize(
            &self.value,
            Serializer::MessagePack,
            Structs::Maps,
            &mut payload,
        )
        .map_err(S::Error::custom)?;
        serializer.serialize_newtype_struct(EXTENSION, &(NAMED, RawBytes(&payload)))
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Named<'_, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Named(named) => Ok(Named {
                name: Cow::Owned(named.name.into_owned()),
                value: from_value(named.value).map_err(D::Error::custom)?,
            }),
            other => Err(D::Error::custom(format_args!(
                "{} has no name",
                other.row()
            ))),
        }
    }
}

pub(crate) fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() || name.len() > MAX_NAME {
        return Err("the name of a registered type has 1 to 255 bytes");
    }
    Ok(())
}
