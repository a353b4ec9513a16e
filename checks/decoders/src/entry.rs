//! Whole entries, and payloads alone, as values: every serializer except Bincode, which has no values.

use crate::{sealed, LIMITS};
use polycache_entry::tagged::to_json;
use polycache_entry::{
    decode_payload, decode_value, deserialize, encode, EntryOptions, Limits, Serializer, Value,
    Verify,
};

/// An entry; sealed, an entry again; and all but its first byte as a payload of the serializer which
/// that names.
pub fn check(data: &[u8]) {
    whole(data);
    if let Some(entry) = sealed(data) {
        whole(&entry);
    }
    if let Some((id, payload)) = data.split_first() {
        let serializer = Serializer::ALL[usize::from(*id) % Serializer::ALL.len()];
        payload_alone(serializer, payload);
    }
}

fn whole(entry: &[u8]) {
    let mut scratch = Vec::new();
    if let Ok((header, payload)) = decode_payload(entry, Verify::Checksum, &LIMITS, &mut scratch) {
        payload_alone(header.serializer, payload);
    }
}

/// A value that was read can be written, and reads the same.
fn payload_alone(serializer: Serializer, payload: &[u8]) {
    let direct = deserialize::<Value<'static>>(serializer, payload, &LIMITS);
    let value = match decode_value(serializer, payload, &LIMITS) {
        Ok(value) => value,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            direct.expect_err("neither way reads it");
            return;
        }
    };
    assert_eq!(
        to_json(&direct.expect("both ways read it")),
        to_json(&value)
    );
    let options = EntryOptions {
        serializer,
        ..EntryOptions::default()
    };
    let (mut entry, mut scratch) = (Vec::new(), Vec::new());
    encode(&value, &options, &mut entry).expect("what was read can be written");
    let limits = Limits::default();
    let (_, again) = decode_payload(&entry, Verify::Checksum, &limits, &mut scratch)
        .expect("what was written is an entry");
    let again = decode_value(serializer, again, &limits).expect("and reads again");
    assert_eq!(to_json(&value), to_json(&again));
}
