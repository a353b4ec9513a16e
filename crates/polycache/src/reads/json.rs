//! A reply as JSON, with its entity tag.

use crate::json::{write_double, write_integer, write_list, write_text, Members};
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::Engine;
use bytes::Bytes;
use redis::Value;
use std::any::Any;
use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Bytes of the hash that are the tag (`spec/http.md`, "A value").
const TAG: usize = 16;

/// The JSON of a reply, encoded once for each change and shared by all callers. Lists are as RESP has them; RESP3's maps
/// are objects, and its sets lists. Strings are taken for UTF-8, with U+FFFD for what is none. What JSON.GET gives is JSON already.
pub struct JsonReply {
    bytes: Bytes,
    etag: String,
    made: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl fmt::Debug for JsonReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonReply")
            .field("size", &self.bytes.len())
            .field("etag", &self.etag)
            .finish()
    }
}

impl JsonReply {
    /// `is_document` says that a text is that of a JSON document.
    pub(super) fn new(value: &Value, is_document: bool) -> JsonReply {
        let mut bytes = Vec::new();
        match value {
            Value::BulkString(_) | Value::SimpleString(_) | Value::VerbatimString { .. }
                if is_document =>
            {
                bytes.extend_from_slice(text_of(value).as_bytes());
            }
            value => write(value, &mut bytes),
        }
        let hash = ring::digest::digest(&ring::digest::SHA256, &bytes);
        let tag = hash.as_ref().get(..TAG).unwrap_or_default();
        JsonReply {
            etag: format!("\"{}\"", URL_SAFE_NO_PAD.encode(tag)),
            bytes: bytes.into(),
            made: OnceLock::new(),
        }
    }

    /// The JSON. A clone shares the bytes.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Its strong entity tag, in quotes (RFC 9110 8.8.3): the first 128 bits of the SHA-256 of the bytes, as base64url
    /// without padding.
    #[must_use]
    pub fn etag(&self) -> &str {
        &self.etag
    }

    /// What a program makes of the JSON, for instance compressed forms: made when it is first asked for, and kept beside it, outside of `max_bytes`. It
    /// has room for a value of one type; one of another type is made at each call.
    pub fn made<T: Any + Send + Sync>(&self, make: impl Fn(&JsonReply) -> T) -> Arc<T> {
        let made = self.made.get_or_init(|| Arc::new(make(self)));
        let made = made.clone().downcast();
        made.unwrap_or_else(|_| Arc::new(make(self)))
    }
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Nil => out.extend_from_slice(b"null"),
        Value::Int(number) => write_integer(*number, out),
        Value::Double(number) => write_double(*number, out),
        Value::Boolean(yes) => out.extend_from_slice(if *yes { b"true" } else { b"false" }),
        Value::Array(list) | Value::Set(list) | Value::Push { data: list, .. } => {
            let Ok(()) = write_list(list, out, infallible(write));
        }
        Value::Map(pairs) => {
            let mut members = Members::default();
            for (name, value) in pairs {
                members.add(text_of(name), value);
            }
            let Ok(()) = members.write(out, infallible(write));
        }
        Value::Attribute { data, .. } => write(data, out),
        other => write_text(&text_of(other), out),
    }
}

fn infallible<T>(
    write: impl Fn(T, &mut Vec<u8>),
) -> impl Fn(T, &mut Vec<u8>) -> Result<(), Infallible> {
    move |value, out| {
        write(value, out);
        Ok(())
    }
}

/// A value that is no compound one, as text.
fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => text.into(),
        Value::Okay => "OK".into(),
        Value::BigNumber(number) => digits(number).into(),
        Value::ServerError(error) => error.details().unwrap_or_default().into(),
        other => {
            let mut json = Vec::new();
            write(other, &mut json);
            String::from_utf8_lossy(&json).into_owned().into()
        }
    }
}

/// The digits of a large number, which is bytes or, with redis' feature `num-bigint`, a `BigInt`.
pub(super) fn digits<T: Any + fmt::Debug>(number: &T) -> String {
    match (number as &dyn Any).downcast_ref::<Vec<u8>>() {
        Some(digits) => String::from_utf8_lossy(digits).into_owned(),
        None => format!("{number:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use redis::parse_redis_value;
    use std::collections::HashMap;

    #[test]
    fn a_reply_is_the_json_that_every_language_gives() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../spec/vectors/replies.json"
        );
        let file = std::fs::read_to_string(file).expect("the vectors");
        let cases: Vec<HashMap<String, serde_json::Value>> =
            serde_json::from_str(&file).expect("JSON");
        assert!(!cases.is_empty());
        for case in cases {
            let resp = case["resp"].as_str().expect("a text");
            let value = parse_redis_value(&bytes_of(resp)).expect("RESP");
            let json = JsonReply::new(&value, case.contains_key("document"));
            assert_eq!(
                String::from_utf8_lossy(json.bytes()),
                case["json"].as_str().expect("a text"),
                "{}",
                case["name"]
            );
        }
    }

    fn bytes_of(hex: &str) -> Vec<u8> {
        let pairs = (0..hex.len()).step_by(2);
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
        pairs.map(byte).collect()
    }

    #[test]
    fn integers_of_64_bits_keep_their_digits() {
        let json = JsonReply::new(&Value::Int(i64::MAX), false);
        assert_eq!(&json.bytes()[..], b"9223372036854775807");
    }
}
