//! From the JSON of a case to values, keys, durations and options, and back.

use polycache::{duration, CompressorId, Entry, Error, Ttl, TtlLeft, Value};
use polycache_entry::tagged::{from_json, to_json};
use serde_json::{json, Value as Json};
use std::time::{Duration, SystemTime};

pub fn dictionaries(given: &Json) -> Vec<Vec<u8>> {
    let bytes = |one: &Json| match value(one) {
        Value::Bytes(bytes) => bytes.into_owned(),
        other => panic!("{other:?} is not a dictionary"),
    };
    given
        .as_array()
        .expect("a list")
        .iter()
        .map(bytes)
        .collect()
}

pub fn left_json(left: TtlLeft) -> Json {
    match left {
        TtlLeft::Forever => json!("forever"),
        TtlLeft::For(left) => json!(left.as_millis() as u64),
    }
}

pub fn entry_json(entry: Entry) -> Json {
    let compressor = match entry.facts.compressor {
        CompressorId::None => "none",
        CompressorId::Zstd => "zstd",
    };
    json!({
        "value": to_json(&entry.value), "ttl": left_json(entry.facts.ttl), "created": entry.facts.created,
        "expires": entry.facts.expires, "size": entry.facts.size,
        "serializer": entry.facts.serializer.name(), "compressor": compressor,
    })
}

pub fn miss() -> Json {
    json!({"miss": true})
}

pub fn value(tagged: &Json) -> Value<'static> {
    from_json(tagged).expect("a tagged value")
}

pub fn bytes(tagged: &Json) -> Vec<u8> {
    match value(tagged) {
        Value::Text(text) => text.into_owned().into_bytes(),
        Value::Bytes(bytes) => bytes.into_owned(),
        other => panic!("not a key: {other:?}"),
    }
}

pub fn key_json(key: &[u8]) -> Json {
    std::str::from_utf8(key).map_or_else(|_| to_json(&Value::from(key)), |text| json!(text))
}

pub fn keys(list: &Json) -> Vec<(u32, Vec<u8>)> {
    let list = list.as_array().expect("a list").iter();
    list.map(|one| {
        let id = one["id"].as_u64().expect("an id");
        (u32::try_from(id).expect("an id"), bytes(&one["key"]))
    })
    .collect()
}

pub fn strings(list: &Json) -> Vec<String> {
    let list = list.as_array().expect("a list").iter();
    list.map(|text| text.as_str().expect("text").to_owned())
        .collect()
}

pub fn time(tagged: &Json) -> Result<Duration, Error> {
    match tagged {
        Json::String(text) => duration::parse(text),
        own => Ok(Duration::from_millis(own["ms"].as_u64().expect("ms"))),
    }
}

pub fn ttl(tagged: &Json) -> Result<Ttl, Error> {
    match tagged {
        Json::Null => Ok(Ttl::Forever),
        other => time(other).map(Ttl::For),
    }
}

pub fn at(ms: i64) -> Ttl {
    let distance = Duration::from_millis(ms.unsigned_abs());
    let start = SystemTime::UNIX_EPOCH;
    Ttl::Until(if ms < 0 {
        start - distance
    } else {
        start + distance
    })
}

pub fn integer(tagged: &Json) -> i64 {
    match value(tagged) {
        Value::Int(integer) => i64::try_from(integer).expect("64 bits"),
        other => panic!("not an integer: {other:?}"),
    }
}

pub fn sorted(items: impl Iterator<Item = Json>) -> Json {
    let mut items: Vec<_> = items.collect();
    items.sort_by_key(Json::to_string);
    Json::Array(items)
}

/// A value or a miss, as it is expected.
pub fn normal_value(expected: &Json) -> Json {
    if *expected == miss() {
        return miss();
    }
    to_json(&value(expected))
}
