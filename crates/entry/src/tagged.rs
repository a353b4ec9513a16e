//! Tagged JSON, the form of values and entries in `spec/vectors` (feature `vectors`): for the tests of
//! every crate, not for production. Binary is lower-case hex.

use crate::{Named, Value};
use serde_json::{json, Value as Json};
use std::borrow::Cow;

/// The value that `tagged` stands for, or what is wrong with it.
pub fn from_json(tagged: &Json) -> Result<Value<'static>, String> {
    let object = match tagged {
        Json::Null => return Ok(Value::Null),
        Json::Bool(value) => return Ok(Value::Bool(*value)),
        Json::String(text) => return Ok(Value::from(text.clone())),
        Json::Object(object) if object.len() == 1 => object,
        other => return Err(format!("not a tagged value: {other}")),
    };
    let (tag, held) = object.iter().next().ok_or("no tag")?;
    let text = || held.as_str().ok_or(format!("{tag}: not text: {held}"));
    let list = || held.as_array().ok_or(format!("{tag}: not a list: {held}"));
    Ok(match tag.as_str() {
        "int" => match text()?.parse::<i128>() {
            Ok(value) => Value::integer(value),
            Err(_) => Value::BigInt(Cow::Owned(text()?.to_owned())),
        },
        "float" => Value::Float(text()?.parse().map_err(|_| format!("float: {held}"))?),
        "bytes" => Value::from(hex_decode(text()?)?),
        "list" => Value::List(list()?.iter().map(from_json).collect::<Result<_, _>>()?),
        "set" => Value::Set(list()?.iter().map(from_json).collect::<Result<_, _>>()?),
        "map" => Value::Map(list()?.iter().map(pair).collect::<Result<_, _>>()?),
        "timestamp" => match list()?.as_slice() {
            [seconds, nanos] => Value::Timestamp {
                seconds: seconds.as_i64().ok_or("timestamp: seconds")?,
                nanos: nanos
                    .as_u64()
                    .and_then(|nanos| nanos.try_into().ok())
                    .ok_or("timestamp: nanoseconds")?,
            },
            _ => return Err(format!("timestamp: {held}")),
        },
        "decimal" => Value::Decimal(Cow::Owned(text()?.to_owned())),
        "uuid" => Value::Uuid(
            hex_decode(text()?)?
                .try_into()
                .map_err(|_| format!("uuid: {held}"))?,
        ),
        "named" => match list()?.as_slice() {
            [Json::String(name), value] => Value::Named(Box::new(Named {
                name: Cow::Owned(name.clone()),
                value: from_json(value)?,
            })),
            _ => return Err(format!("named: {held}")),
        },
        "repeat" => match list()?.as_slice() {
            [Json::String(text), times] => {
                let times = times.as_u64().ok_or("repeat: not a number")?;
                Value::from(text.repeat(times as usize))
            }
            _ => return Err(format!("repeat: {held}")),
        },
        _ => return Err(format!("unknown tag {tag}")),
    })
}

fn pair(pair: &Json) -> Result<(Cow<'static, str>, Value<'static>), String> {
    match pair.as_array().map(Vec::as_slice) {
        Some([Json::String(key), value]) => Ok((Cow::Owned(key.clone()), from_json(value)?)),
        _ => Err(format!("map: not a pair of text and value: {pair}")),
    }
}

/// The tagged form of `value`. Unlike [`Value`]s, these forms are equal for two NaNs and differ for 0.0
/// and -0.0, as a test needs.
pub fn to_json(value: &Value<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!({ "int": value.to_string() }),
        Value::BigInt(text) => json!({ "int": text }),
        Value::Float(value) => json!({ "float": float(*value) }),
        Value::Text(text) => json!(text),
        Value::Bytes(bytes) => json!({ "bytes": hex_encode(bytes) }),
        Value::List(values) => elements("list", values.iter().map(to_json)),
        Value::Set(values) => elements("set", values.iter().map(to_json)),
        Value::Map(pairs) => {
            let pair = |(key, value): &(Cow<'_, str>, _)| {
                Json::Array(vec![Json::from(&**key), to_json(value)])
            };
            elements("map", pairs.iter().map(pair))
        }
        Value::Timestamp { seconds, nanos } => json!({ "timestamp": [seconds, nanos] }),
        Value::Decimal(text) => json!({ "decimal": text }),
        Value::Uuid(bytes) => json!({ "uuid": hex_encode(bytes) }),
        Value::Named(named) => elements(
            "named",
            [Json::from(&*named.name), to_json(&named.value)].into_iter(),
        ),
    }
}

/// `json!` would copy them all, at every level of what they are nested in.
fn elements(tag: &str, elements: impl Iterator<Item = Json>) -> Json {
    Json::Object(
        [(tag.to_owned(), Json::Array(elements.collect()))]
            .into_iter()
            .collect(),
    )
}

fn float(value: f64) -> String {
    if value.is_nan() {
        "nan".into()
    } else if value.is_infinite() {
        if value > 0.0 { "inf" } else { "-inf" }.into()
    } else {
        format!("{value:?}")
    }
}

/// `bytes` as lower-case hex.
pub fn hex_encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// The bytes that `hex` stands for, or what is wrong with it.
pub fn hex_decode(hex: &str) -> Result<Vec<u8>, String> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(format!("not lower-case hex: {hex}")),
    };
    if hex.len() % 2 != 0 {
        return Err(format!("an odd number of hex digits: {hex}"));
    }
    hex.as_bytes()
        .chunks_exact(2)
        .map(|two| Ok(digit(two[0])? << 4 | digit(two[1])?))
        .collect()
}

/// Reads a file of `spec/vectors`, a list of rows nested as deep as they like.
pub fn read_rows(text: &str) -> Result<Vec<Json>, String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    serde::Deserialize::deserialize(&mut deserializer).map_err(|error| error.to_string())
}
