//! Keys and values of the simulation, as bytes.

use super::*;
use polycache_host::keys::prefix;

/// The prefixes of the root's and of each namespace's full keys around a key.
pub fn namespaces(scenario: &Scenario, key: usize) -> Vec<Vec<u8>> {
    let parts = &scenario.keys[key].0;
    (0..=parts.len())
        .map(|depth| prefix(&parts[..depth]).expect("no empty part"))
        .collect()
}

/// The full key.
pub fn full_key(scenario: &Scenario, key: usize) -> Vec<u8> {
    let (parts, name) = &scenario.keys[key];
    let mut full = prefix(parts).expect("no empty part");
    full.extend_from_slice(name.as_bytes());
    full
}

/// The entry of a value; `expires` in milliseconds since 1970, 0 for never.
pub fn entry_of(key: usize, serial: Serial, expires: u64, now: u64) -> Vec<u8> {
    let options = polycache_entry::EntryOptions {
        serializer: polycache_entry::Serializer::Text,
        created: now,
        expires,
        ..polycache_entry::EntryOptions::default()
    };
    let text = polycache_entry::Value::Text(format!("{key}:{serial}:{key}").into());
    let mut out = Vec::new();
    polycache_entry::encode(&text, &options, &mut out).expect("text has an entry");
    out
}

/// The value of a record, if it is one.
pub fn serial_of_record(bytes: &[u8]) -> Option<Serial> {
    match Record::parse(bytes)?.kind {
        Kind::Value(entry) => serial_of(entry),
        Kind::Pending(_) => None,
    }
}

/// The value of an entry.
pub fn serial_of(entry: &[u8]) -> Option<Serial> {
    let header = polycache_entry::Header::parse(entry, polycache_entry::Verify::Checksum).ok()?;
    let text = std::str::from_utf8(header.stored(entry)).ok()?;
    text.split(':').nth(1)?.parse().ok()
}

pub(super) fn brief(reply: &Reply) -> String {
    match reply {
        Reply::Bytes(bytes) => match Record::parse(bytes).map(|record| record.kind) {
            Some(Kind::Value(entry)) => format!("v{:?}", serial_of(entry)),
            Some(Kind::Pending(holder)) => format!("pending {:?}", holder.participant),
            None => String::from_utf8_lossy(bytes).into_owned(),
        },
        other => format!("{other:?}"),
    }
}
