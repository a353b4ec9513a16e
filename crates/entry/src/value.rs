//! The type map's values, as Rust sees them.

mod from_value;
mod json_number;
mod map;
mod named;
mod number;
mod serde_impl;
mod to_value;

pub use from_value::from_value;
pub(crate) use from_value::{from_human_readable, FromValue};
pub(crate) use map::last_wins;
pub(crate) use named::check_name;
pub use named::{Named, MAX_NAME};
pub(crate) use number::{check_big_integer, check_decimal, check_int, check_timestamp};
pub use number::{MAX_DIGITS, MAX_TIMESTAMP_SECONDS, MIN_TIMESTAMP_SECONDS};
pub(crate) use serde_impl::{ValueSeed, EXTENSION};
pub use to_value::to_value;
pub(crate) use to_value::{extension_value, Refused};

use std::borrow::Cow;

/// A value that every language of Polycache knows: one row of the type map in `spec/entry.md`.
///
/// Text and bytes borrow from the payload they were decoded from (JSON text with an escape is
/// owned). [`Value::into_owned`] cuts that tie. Equality is Rust's: `NaN` differs from itself, and
/// the order of lists, maps and sets counts.
///
/// With serde, a `Value` inside your own type keeps every row in MessagePack written by
/// `rmp-serde`; text formats such as JSON take what JSON has and refuse the rest.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// Nothing; not a miss.
    Null,
    /// True or false.
    Bool(bool),
    /// An integer in `i64::MIN ..= u64::MAX`; see [`Value::integer`].
    Int(i128),
    /// An integer outside that range, as decimal text `-?[1-9][0-9]*` of at most [`MAX_DIGITS`].
    BigInt(Cow<'a, str>),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(Cow<'a, str>),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
    /// Values in order.
    List(Vec<Value<'a>>),
    /// Pairs in order. Of two equal keys the last wins; decoded maps have no equal keys.
    Map(Vec<(Cow<'a, str>, Value<'a>)>),
    /// Values without order or repetition, none of them a list, map or set, nor of a registered type.
    Set(Vec<Value<'a>>),
    /// A value of a type that a program has registered by name.
    Named(Box<Named<'a>>),
    /// A moment: `seconds` since 1970-01-01T00:00Z (leap seconds not counted) and, always forward
    /// from there, `nanos`.
    Timestamp {
        /// In [`MIN_TIMESTAMP_SECONDS`]` ..= `[`MAX_TIMESTAMP_SECONDS`], the years 1 to 9999.
        seconds: i64,
        /// 0 to 999,999,999.
        nanos: u32,
    },
    /// A decimal number as text: `-?[0-9]+(\.[0-9]+)?(E[+-]?[0-9]{1,9})?` of at most
    /// [`MAX_DIGITS`] bytes, or `NaN`, `Infinity`, `-Infinity`.
    Decimal(Cow<'a, str>),
    /// A UUID in RFC 9562 order.
    Uuid([u8; 16]),
}

impl<'a> Value<'a> {
    /// The integer `value`: [`Value::Int`] where it fits, else [`Value::BigInt`].
    pub fn integer(value: i128) -> Self {
        if check_int(value).is_ok() {
            Value::Int(value)
        } else {
            Value::BigInt(value.to_string().into())
        }
    }

    /// The same value, borrowing nothing.
    pub fn into_owned(self) -> Value<'static> {
        fn own<T: ToOwned + ?Sized + 'static>(cow: Cow<'_, T>) -> Cow<'static, T> {
            Cow::Owned(cow.into_owned())
        }
        fn all(values: Vec<Value<'_>>) -> Vec<Value<'static>> {
            values.into_iter().map(Value::into_owned).collect()
        }
        match self {
            Value::Null => Value::Null,
            Value::Bool(value) => Value::Bool(value),
            Value::Int(value) => Value::Int(value),
            Value::BigInt(text) => Value::BigInt(own(text)),
            Value::Float(value) => Value::Float(value),
            Value::Text(text) => Value::Text(own(text)),
            Value::Bytes(bytes) => Value::Bytes(own(bytes)),
            Value::List(values) => Value::List(all(values)),
            Value::Map(pairs) => Value::Map(
                pairs
                    .into_iter()
                    .map(|(key, value)| (own(key), value.into_owned()))
                    .collect(),
            ),
            Value::Set(values) => Value::Set(all(values)),
            Value::Timestamp { seconds, nanos } => Value::Timestamp { seconds, nanos },
            Value::Decimal(text) => Value::Decimal(own(text)),
            Value::Uuid(bytes) => Value::Uuid(bytes),
            Value::Named(named) => Value::Named(Box::new(Named {
                name: own(named.name),
                value: named.value.into_owned(),
            })),
        }
    }

    /// The row of the type map, for messages.
    pub(crate) fn row(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a bool",
            Value::Int(_) => "an integer",
            Value::BigInt(_) => "a big integer",
            Value::Float(_) => "a float",
            Value::Text(_) => "text",
            Value::Bytes(_) => "bytes",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Set(_) => "a set",
            Value::Timestamp { .. } => "a timestamp",
            Value::Decimal(_) => "a decimal",
            Value::Uuid(_) => "a UUID",
            Value::Named(_) => "a value of a registered type",
        }
    }

    /// Whether it holds other values, so that a set cannot hold it.
    pub(crate) fn is_container(&self) -> bool {
        matches!(
            self,
            Value::List(_) | Value::Map(_) | Value::Set(_) | Value::Named(_)
        )
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::Int(value.into())
    }
}

impl From<u64> for Value<'_> {
    fn from(value: u64) -> Self {
        Value::Int(value.into())
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Value::Float(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(Cow::Owned(text))
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Value::Bytes(Cow::Borrowed(bytes))
    }
}

impl From<Vec<u8>> for Value<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Value::Bytes(Cow::Owned(bytes))
    }
}
