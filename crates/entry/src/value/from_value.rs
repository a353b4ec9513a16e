//! A [`Value`] as any serde type.

use super::Value;
use crate::serializer::messagepack::write_extension;
use crate::serializer::{Refusal, MAX_DEPTH};
use crate::Error;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use std::borrow::Cow;
use std::fmt;

/// `value` as a `T`: what [`to_value`](super::to_value) makes of a `T`, and what other languages write
/// for it. A set also reads as a sequence, a UUID as bytes, a decimal as text, a big integer as `i128`
/// or `u128`, bytes as a sequence of `u8`.
///
/// # Errors
/// [`Error::WrongType`] with the path to what does not fit.
pub fn from_value<'de, T: de::Deserialize<'de>>(value: Value<'de>) -> Result<T, Error> {
    T::deserialize(FromValue::new(value)).map_err(|misfit| misfit.0.into_wrong_type())
}

/// As [`from_value`], for a value that a human-readable format (in serde's sense) holds.
pub(crate) fn from_human_readable<'de, T: de::Deserialize<'de>>(
    value: Value<'de>,
) -> Result<T, Error> {
    let from = FromValue {
        value,
        human_readable: true,
    };
    T::deserialize(from).map_err(|misfit| misfit.0.into_wrong_type())
}

/// What does not fit, on its way through serde.
#[derive(Debug)]
pub(crate) struct Misfit(Box<Refusal>);

impl de::Error for Misfit {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Misfit(Refusal::new(reason.to_string()))
    }
}

impl std::error::Error for Misfit {}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// Hands out a value's parts.
pub(crate) struct FromValue<'de> {
    value: Value<'de>,
    human_readable: bool,
}

fn visit_text<'de, V: Visitor<'de>>(text: Cow<'de, str>, visitor: V) -> Result<V::Value, Misfit> {
    match text {
        Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
        Cow::Owned(text) => visitor.visit_string(text),
    }
}

fn visit_bytes<'de, V: Visitor<'de>>(
    bytes: Cow<'de, [u8]>,
    visitor: V,
) -> Result<V::Value, Misfit> {
    match bytes {
        Cow::Borrowed(bytes) => visitor.visit_borrowed_bytes(bytes),
        Cow::Owned(bytes) => visitor.visit_byte_buf(bytes),
    }
}

fn visit_list<'de, V: Visitor<'de>>(
    values: impl Iterator<Item = Value<'de>>,
    human_readable: bool,
    visitor: V,
) -> Result<V::Value, Misfit> {
    let mut items = Items {
        values,
        index: 0,
        human_readable,
    };
    let made = visitor.visit_seq(&mut items)?;
    match items.values.count() {
        0 => Ok(made),
        more => Err(de::Error::custom(format_args!(
            "the list has {} values, {more} too many",
            items.index + more
        ))),
    }
}

impl<'de> FromValue<'de> {
    pub(crate) fn new(value: Value<'de>) -> Self {
        FromValue {
            value,
            human_readable: false,
        }
    }

    /// The content of a registered type: a reader that knows its type need not know the name.
    fn unnamed(mut self) -> Self {
        while let Value::Named(named) = self.value {
            self.value = named.value;
        }
        self
    }

    fn big<T: std::str::FromStr>(&self) -> Option<T> {
        match &self.value {
            Value::BigInt(text) => text.parse().ok(),
            _ => None,
        }
    }
}

macro_rules! unnamed_to_any {
    ($($method:ident),*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            self.unnamed().deserialize_any(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for FromValue<'de> {
    type Error = Misfit;

    fn is_human_readable(&self) -> bool {
        self.human_readable
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Int(value) => match (i64::try_from(value), u64::try_from(value)) {
                (Ok(value), _) => visitor.visit_i64(value),
                (_, Ok(value)) => visitor.visit_u64(value),
                _ => visitor.visit_i128(value),
            },
            Value::Float(value) => visitor.visit_f64(value),
            Value::Text(text) => visit_text(text, visitor),
            Value::Bytes(bytes) => visit_bytes(bytes, visitor),
            Value::List(values) => visit_list(values.into_iter(), self.human_readable, visitor),
            Value::Map(pairs) => visitor.visit_map(Pairs {
                pairs: pairs.into_iter(),
                value: None,
                human_readable: self.human_readable,
            }),
            // Only a `Value` understands this: (type, bytes).
            extension => {
                let mut payload = Vec::new();
                let id =
                    write_extension(&extension, MAX_DEPTH, &mut 0, &mut payload).map_err(Misfit)?;
                let parts = vec![Value::Int(id.into()), Value::from(payload)];
                visitor.visit_newtype_struct(FromValue::new(Value::List(parts)))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let this = self.unnamed();
        match this.value {
            Value::Set(values) => visit_list(values.into_iter(), this.human_readable, visitor),
            Value::Bytes(bytes) => {
                let values = bytes.iter().map(|byte| Value::Int((*byte).into()));
                visit_list(values, this.human_readable, visitor)
            }
            _ => this.deserialize_any(visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let this = self.unnamed();
        match this.value {
            Value::Uuid(bytes) => visitor.visit_bytes(&bytes),
            _ => this.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let this = self.unnamed();
        match this.value {
            Value::Decimal(text) => visit_text(text, visitor),
            _ => this.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_str(visitor)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let this = self.unnamed();
        match this.big() {
            Some(value) => visitor.visit_i128(value),
            None => this.deserialize_any(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let this = self.unnamed();
        match this.big() {
            Some(value) => visitor.visit_u128(value),
            None => this.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let this = self.unnamed();
        match this.value {
            Value::Text(variant) => visitor.visit_enum(Variant {
                variant,
                content: None,
                human_readable: this.human_readable,
            }),
            Value::Map(mut pairs) if pairs.len() == 1 => {
                let (variant, content) = pairs.remove(0);
                visitor.visit_enum(Variant {
                    variant,
                    content: Some(content),
                    human_readable: this.human_readable,
                })
            }
            _ => Err(de::Error::invalid_type(
                Unexpected::Other("what is neither text nor a map of one pair"),
                &"an enum",
            )),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.unnamed().deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.unnamed().deserialize_any(visitor)
    }

    unnamed_to_any!(
        deserialize_bool,
        deserialize_i8,
        deserialize_i16,
        deserialize_i32,
        deserialize_i64,
        deserialize_u8,
        deserialize_u16,
        deserialize_u32,
        deserialize_u64,
        deserialize_f32,
        deserialize_f64,
        deserialize_char,
        deserialize_unit,
        deserialize_map,
        deserialize_identifier
    );
}

/// A list's values, one after another.
struct Items<I> {
    values: I,
    index: usize,
    human_readable: bool,
}

impl<'de, I: Iterator<Item = Value<'de>>> SeqAccess<'de> for Items<I> {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Misfit> {
        let Some(value) = self.values.next() else {
            return Ok(None);
        };
        let index = self.index;
        self.index += 1;
        let human_readable = self.human_readable;
        seed.deserialize(FromValue {
            value,
            human_readable,
        })
        .map(Some)
        .map_err(|misfit| Misfit(misfit.0.at_index(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        self.values.size_hint().1
    }
}

/// A map's pairs, one after another.
struct Pairs<'de> {
    pairs: std::vec::IntoIter<(Cow<'de, str>, Value<'de>)>,
    value: Option<(Cow<'de, str>, Value<'de>)>,
    human_readable: bool,
}

impl<'de> MapAccess<'de> for Pairs<'de> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Misfit> {
        let Some((key, value)) = self.pairs.next() else {
            return Ok(None);
        };
        let made = seed.deserialize(FromValue {
            value: Value::Text(key.clone()),
            human_readable: self.human_readable,
        })?;
        self.value = Some((key, value));
        Ok(Some(made))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Misfit> {
        let (key, value) = self
            .value
            .take()
            .ok_or_else(|| de::Error::custom("a value was asked for before its key"))?;
        let human_readable = self.human_readable;
        seed.deserialize(FromValue {
            value,
            human_readable,
        })
        .map_err(|misfit| Misfit(misfit.0.at_key(&key)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.pairs.len())
    }
}

/// A variant's name and content.
struct Variant<'de> {
    variant: Cow<'de, str>,
    content: Option<Value<'de>>,
    human_readable: bool,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Misfit;
    type Variant = Content<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Content<'de>), Misfit> {
        let name = self.variant.as_ref().into_deserializer();
        let made = seed.deserialize::<de::value::StrDeserializer<'_, Misfit>>(name)?;
        Ok((made, Content(self)))
    }
}

struct Content<'de>(Variant<'de>);

impl<'de> Content<'de> {
    fn read<T>(self, read: impl FnOnce(FromValue<'de>) -> Result<T, Misfit>) -> Result<T, Misfit> {
        let Variant {
            variant,
            content,
            human_readable,
        } = self.0;
        let value = content.ok_or_else(|| {
            de::Error::custom(format_args!(
                "the variant {variant} has its content missing"
            ))
        })?;
        read(FromValue {
            value,
            human_readable,
        })
        .map_err(|misfit: Misfit| Misfit(misfit.0.at_key(&variant)))
    }
}

impl<'de> VariantAccess<'de> for Content<'de> {
    type Error = Misfit;

    fn unit_variant(self) -> Result<(), Misfit> {
        match self.0.content {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(de::Error::custom(format_args!(
                "the variant {} has no content",
                self.0.variant
            ))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Misfit> {
        self.read(|content| seed.deserialize(content))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Misfit> {
        self.read(|content| content.deserialize_seq(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.read(|content| content.deserialize_any(visitor))
    }
}
