//! Everything that decodes bytes from outside, given arbitrary bytes: a value or a typed error, never a
//! panic, and no more memory than the bytes call for; and a value that was read can be written and read
//! again.
//!
//! Each module has a `check` that panics when this fails. `make test` runs seeds and changed seeds, the
//! same in every run ([`mutations`]); `make fuzz` has libFuzzer look for worse (`fuzz/`).

pub mod dictionary;
pub mod encrypted;
pub mod entry;
pub mod frame;
pub mod header;
pub mod keys;
pub mod mutations;
pub mod seeds;
pub mod trainer;
pub mod typed;
pub mod with_dictionary;

use polycache_entry::{
    decode_payload, encode_payload, Compressor, CompressorId, EntryOptions, Header, Limits,
    Serializer, Verify,
};

/// The lowest limit that accepts what the seeds hold.
const LIMITS: Limits = Limits::of(1 << 20);

/// Takes any bytes, and panics if they reveal a fault.
pub type Check = fn(&[u8]);

/// All of them, by the names of their modules.
pub const CHECKS: [(&str, Check); 9] = [
    ("entry", entry::check),
    ("typed", typed::check),
    ("header", header::check),
    ("frame", frame::check),
    ("keys", keys::check),
    ("encrypted", encrypted::check),
    ("with_dictionary", with_dictionary::check),
    ("dictionary", dictionary::check),
    ("trainer", trainer::check),
];

/// The bytes with their correct checksum, which no mutation would guess.
fn sealed(entry: &[u8]) -> Option<Vec<u8>> {
    let (start, rest) = (entry.get(..4)?, entry.get(8..)?);
    let sum = crc32fast::hash(&[start, rest].concat());
    Some([start, &sum.to_le_bytes(), rest].concat())
}

/// The entry of a payload; checks that the payload comes back.
fn entry_of(payload: &[u8], compressor: Compressor, limits: &Limits) -> Vec<u8> {
    let options = EntryOptions {
        compressor,
        dictionaries: limits.dictionaries.as_ref(),
        ..EntryOptions::default()
    };
    let (mut entry, mut scratch) = (Vec::new(), Vec::new());
    encode_payload(payload, Serializer::Bytes, &options, &mut entry).expect("any bytes");
    let (_, read) = decode_payload(&entry, Verify::Checksum, limits, &mut scratch)
        .expect("what was written can be read");
    assert_eq!(read, payload);
    entry
}

/// The frame in the payload of an entry; `None` if it is not compressed.
fn frame_of(entry: &[u8]) -> Option<&[u8]> {
    let header = Header::parse(entry, Verify::Checksum).expect("an entry");
    (header.compressor != CompressorId::None).then(|| header.stored(entry))
}

/// A bit of `changed`, which is not empty. It follows from `data`, so that a run can be repeated.
fn bit_of(data: &[u8], changed: &[u8]) -> usize {
    crc32fast::hash(data) as usize % (changed.len() * 8)
}
