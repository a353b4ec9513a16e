//! Text and bytes are not copied when a value is decoded.

use polycache_entry::{decode_value, Limits, Serializer, Value};
use std::borrow::Cow;

fn borrows(value: &Value<'_>) -> bool {
    match value {
        Value::Text(Cow::Owned(_)) | Value::Bytes(Cow::Owned(_)) => false,
        Value::BigInt(Cow::Owned(_)) | Value::Decimal(Cow::Owned(_)) => false,
        Value::List(values) | Value::Set(values) => values.iter().all(borrows),
        Value::Map(pairs) => pairs
            .iter()
            .all(|(key, value)| matches!(key, Cow::Borrowed(_)) && borrows(value)),
        _ => true,
    }
}

#[test]
fn messagepack_borrows_all_its_text_and_bytes() {
    let payload = b"\x95\xA3abc\xC4\x01\xFF\x81\xA1k\xA1v\xD4\x03\x31\xD4\x01\x91";
    let payload = [&payload[..payload.len() - 3], b"\xC7\x03\x01\x91\xA1s"].concat();
    let value = decode_value(Serializer::MessagePack, &payload, &Limits::default()).unwrap();
    assert!(borrows(&value), "{value:?}");
    assert_eq!(value.clone().into_owned(), value);
}

#[test]
fn json_borrows_text_without_escapes() {
    let read = |payload: &'static str| {
        decode_value(Serializer::Json, payload.as_bytes(), &Limits::default()).unwrap()
    };
    assert!(borrows(&read(r#"{"é":["a",{"b":"c"}]}"#)));
    assert!(!borrows(&read(r#""\n""#)));
}

#[test]
fn text_and_bytes_borrow() {
    let limits = Limits::default();
    assert!(borrows(
        &decode_value(Serializer::Text, b"text", &limits).unwrap()
    ));
    assert!(borrows(
        &decode_value(Serializer::Bytes, b"\xFF", &limits).unwrap()
    ));
}
