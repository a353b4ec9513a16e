//! A cache's values, facts and statistics as JSON for programs; `polycache --help` describes the form.

mod statistics;
mod time;

pub use statistics::{identity, listener, milliseconds, moment, statistics};
pub use time::rfc3339;

use polycache::{CompressorId, Facts, TtlLeft, Value};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{json, Map};
use std::fmt::Write;

/// Beyond this a JavaScript reader would round.
const SAFE: i128 = (1 << 53) - 1;

/// A value that serializes as JSON without loss.
pub struct JsonValue<'a>(pub &'a Value<'a>);

impl Serialize for JsonValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let list = |serializer: S, values: &[Value<'_>]| {
            serializer.collect_seq(values.iter().map(JsonValue))
        };
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(value) if (-SAFE..=SAFE).contains(value) => {
                serializer.serialize_i64(*value as i64)
            }
            Value::Int(value) => tagged(serializer, "$int", &value.to_string()),
            Value::BigInt(digits) => tagged(serializer, "$int", digits),
            Value::Float(value) if value.is_finite() => serializer.serialize_f64(*value),
            Value::Float(value) if value.is_nan() => tagged(serializer, "$float", "nan"),
            Value::Float(value) if *value > 0.0 => tagged(serializer, "$float", "inf"),
            Value::Float(_) => tagged(serializer, "$float", "-inf"),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => tagged(serializer, "$bytes", &hex(bytes)),
            Value::List(values) => list(serializer, values),
            Value::Map(pairs) if looks_tagged(pairs) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("$map", &Pairs(pairs))?;
                map.end()
            }
            Value::Map(pairs) => {
                serializer.collect_map(pairs.iter().map(|(key, value)| (key, JsonValue(value))))
            }
            Value::Set(values) => {
                let values: Vec<_> = values.iter().map(JsonValue).collect();
                serializer.collect_map([("$set", values)])
            }
            Value::Timestamp { seconds, nanos } => {
                tagged(serializer, "$timestamp", &rfc3339(*seconds, *nanos))
            }
            Value::Decimal(text) => tagged(serializer, "$decimal", text),
            Value::Uuid(bytes) => tagged(serializer, "$uuid", &uuid(bytes)),
            Value::Named(named) => {
                serializer.collect_map([("$named", (&named.name, JsonValue(&named.value)))])
            }
        }
    }
}

fn tagged<S: Serializer>(serializer: S, tag: &str, text: &str) -> Result<S::Ok, S::Error> {
    serializer.collect_map([(tag, text)])
}

fn looks_tagged<T>(pairs: &[(std::borrow::Cow<'_, str>, T)]) -> bool {
    matches!(pairs, [(key, _)] if key.starts_with('$'))
}

struct Pairs<'a>(&'a [(std::borrow::Cow<'a, str>, Value<'a>)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for (key, value) in self.0 {
            list.serialize_element(&(key, JsonValue(value)))?;
        }
        list.end()
    }
}

/// Bytes as lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// `00112233-4455-6677-8899-aabbccddeeff`.
#[must_use]
pub fn uuid(bytes: &[u8; 16]) -> String {
    let digits = hex(bytes);
    let parts = [
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..],
    ];
    parts.join("-")
}

/// The row of the type map.
#[must_use]
pub fn type_name(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::BigInt(_) => "integer",
        Value::Float(_) => "float",
        Value::Text(_) => "text",
        Value::Bytes(_) => "bytes",
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Set(_) => "set",
        Value::Timestamp { .. } => "timestamp",
        Value::Decimal(_) => "decimal",
        Value::Uuid(_) => "uuid",
        Value::Named(_) => "named",
    }
}

/// A compressor's name.
#[must_use]
pub fn compressor_name(compressor: CompressorId) -> &'static str {
    match compressor {
        CompressorId::None => "none",
        CompressorId::Zstd => "zstd",
    }
}

/// A key: its text, or an object with its bytes.
#[must_use]
pub fn key(key: &[u8]) -> serde_json::Value {
    match std::str::from_utf8(key) {
        Ok(text) => json!(text),
        Err(_) => json!({ "$bytes": hex(key) }),
    }
}

/// Adds what an entry records, except how it is encoded.
pub fn add_facts(object: &mut Map<String, serde_json::Value>, facts: &Facts) {
    object.insert("size".into(), json!(facts.size));
    object.insert("created".into(), json!(facts.created));
    object.insert("expires".into(), json!(facts.expires));
    let ttl = match facts.ttl {
        TtlLeft::Forever => json!(null),
        TtlLeft::For(left) => json!(left.as_millis() as u64),
    };
    object.insert("ttl".into(), ttl);
}

/// The first whole number in a JSON text that a reader would round. A number with a point or an exponent
/// is meant to be a float.
#[must_use]
pub fn rounded(text: &[u8]) -> Option<&str> {
    let part_of_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => {
                at += 1;
                while at < text.len() && text[at] != b'"' {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let end = text[at..].iter().position(|byte| !part_of_number(byte));
                let end = end.map_or(text.len(), |length| at + length);
                let number = std::str::from_utf8(&text[at..end]).unwrap_or_default();
                let digits = number.strip_prefix('-').unwrap_or(number);
                // An invalid number is rejected by the reader, which says why.
                let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                let fits = number
                    .parse()
                    .is_ok_and(|whole: i128| (-SAFE..=SAFE).contains(&whole));
                if whole && !fits {
                    return Some(number);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use polycache::Named;

    #[test]
    fn whole_numbers_that_would_be_rounded_are_found() {
        for exact in [
            "1",
            "-9007199254740991",
            "1e300",
            "9007199254740993.0",
            r#"{"9007199254740993":"\"9007199254740993"}"#,
            "[1,-2,3.5]",
            // Not JSON: the reader says so.
            "1-9007199254740993",
            "-",
            r#""\"#,
        ] {
            assert_eq!(rounded(exact.as_bytes()), None, "{exact}");
        }
        for (text, found) in [
            ("9007199254740993", "9007199254740993"),
            ("[1, -9007199254740992]", "-9007199254740992"),
            (
                r#"{"a":"\\\\","n":123456789012345678901234567890123456789012}"#,
                "123456789012345678901234567890123456789012",
            ),
        ] {
            assert_eq!(rounded(text.as_bytes()), Some(found));
        }
    }

    fn text(value: Value<'_>) -> String {
        serde_json::to_string(&JsonValue(&value)).unwrap()
    }

    #[test]
    fn what_json_has_is_itself_in_order() {
        let pairs = vec![("b".into(), Value::Null), ("a".into(), Value::from(1.5))];
        let list = vec![Value::from(true), Value::from(-7i64), Value::Map(pairs)];
        assert_eq!(text(Value::List(list)), r#"[true,-7,{"b":null,"a":1.5}]"#);
    }

    #[test]
    fn the_rest_is_tagged() {
        assert_eq!(text(Value::from(vec![0u8, 255])), r#"{"$bytes":"00ff"}"#);
        assert_eq!(
            text(Value::from(u64::MAX)),
            r#"{"$int":"18446744073709551615"}"#
        );
        assert_eq!(text(Value::from((1i64 << 53) - 1)), "9007199254740991");
        assert_eq!(text(Value::from(f64::NEG_INFINITY)), r#"{"$float":"-inf"}"#);
        assert_eq!(text(Value::Set(vec!["a".into()])), r#"{"$set":["a"]}"#);
        let moment = Value::Timestamp {
            seconds: 0,
            nanos: 0,
        };
        assert_eq!(text(moment), r#"{"$timestamp":"1970-01-01T00:00:00Z"}"#);
        let user = Named::new("user", Value::Map(vec![("id".into(), Value::Int(1))]));
        assert_eq!(text(user.into()), r#"{"$named":["user",{"id":1}]}"#);
        let uuid = Value::Uuid(*b"0123456789abcdef");
        assert_eq!(
            text(uuid),
            r#"{"$uuid":"30313233-3435-3637-3839-616263646566"}"#
        );
    }

    #[test]
    fn a_map_that_looks_tagged_is_told_apart() {
        let map = |key: &'static str| Value::Map(vec![(key.into(), "00".into())]);
        assert_eq!(text(map("$bytes")), r#"{"$map":[["$bytes","00"]]}"#);
        assert_eq!(text(map("bytes")), r#"{"bytes":"00"}"#);
    }
}
