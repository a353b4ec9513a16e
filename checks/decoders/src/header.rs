//! Headers and tags: with and without the checksum, the same is read.

use crate::{sealed, LIMITS};
use polycache_entry::{
    created, decode_payload, encode_payload, expires, is_valid_at, trusted_payload, CompressorId,
    EntryOptions, Header, Tag, Verify,
};

const NOW: u64 = 1_700_000_000_000;

/// An entry, and the same one sealed.
pub fn check(data: &[u8]) {
    read(data);
    if let Some(entry) = sealed(data) {
        read(&entry);
    }
}

fn read(entry: &[u8]) {
    let fields = (created(entry), expires(entry), is_valid_at(entry, NOW));
    let (checked, trusted) = (
        Header::parse(entry, Verify::Checksum),
        Header::parse(entry, Verify::Trusted),
    );
    let header = match (checked, trusted) {
        (Ok(header), trusted) => {
            assert_eq!(trusted.as_ref(), Ok(&header));
            header
        }
        (Err(error), trusted) => {
            assert!(!error.to_string().is_empty());
            match trusted {
                Ok(_) => assert_eq!(error.code(), "checksum_mismatch"),
                Err(other) => assert!(other == error || error.code() == "checksum_mismatch"),
            }
            return;
        }
    };
    assert_eq!((header.created, header.expires), (fields.0, fields.1));
    assert!(header.header_len <= entry.len());
    payloads(entry, &header);
    again(&header);
}

/// The short way to a payload finds the same as the long way.
fn payloads(entry: &[u8], header: &Header<'_>) {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let long = decode_payload(entry, Verify::Trusted, &LIMITS, &mut one);
    let short = trusted_payload(entry, &LIMITS, &mut other);
    match (long, short) {
        (Ok((same, payload)), short) => {
            assert_eq!(&same, header);
            assert_eq!(short, Ok((header.serializer, payload)));
        }
        (Err(error), short) => assert_eq!(short, Err(error)),
    }
}

/// A header that was read can be written, and reads the same.
fn again(header: &Header<'_>) {
    let tags: Vec<Tag<'_>> = header.tags.iter().collect();
    assert_eq!(tags.len(), header.tags.len());
    let options = EntryOptions {
        created: header.created,
        expires: header.idle.map_or(header.expires, |idle| idle.ends),
        time_to_idle: header.idle.map_or(0, |idle| idle.time),
        fresh_until: header.fresh_until,
        tags: &tags,
        ..EntryOptions::default()
    };
    let mut entry = Vec::new();
    encode_payload(b"payload", header.serializer, &options, &mut entry)
        .expect("what was read can be written");
    let read = Header::parse(&entry, Verify::Checksum).expect("and reads again");
    assert_eq!(read.serializer, header.serializer);
    assert_eq!(read.compressor, CompressorId::None);
    assert_eq!(
        (read.created, read.idle, read.fresh_until),
        (header.created, header.idle, header.fresh_until)
    );
    // With a time to idle it follows from that; what was read may have had another one before.
    if header.idle.is_none() {
        assert_eq!(read.expires, header.expires);
    }
    assert!(read.tags.iter().eq(tags));
}
