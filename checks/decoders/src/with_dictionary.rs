//! Entries and frames read with dictionaries: any frame, with any length that an entry may declare for
//! it.

use crate::{bit_of, entry_of, frame_of, sealed, LIMITS};
use polycache_entry::tagged::{hex_decode, read_rows};
use polycache_entry::{
    decode_payload, Compressor, CompressorId, Dictionaries, Error, Limits, Verify,
};
use std::sync::LazyLock;
use zstd::zstd_safe::get_dict_id_from_frame;

const DICTIONARIES: &str = include_str!("../../../spec/vectors/dictionaries.json");
const ZSTD: Compressor = Compressor::Zstd { level: 3 };
/// Input to the compressor is cut off here, so that a round costs no more than a decoding.
const MOST: usize = 2048;

static READER: LazyLock<Limits> = LazyLock::new(|| limits(&["first", "second"], ZSTD));
static QUICK: LazyLock<Limits> = LazyLock::new(|| limits(&["second", "first"], Compressor::Smart));
/// Has another dictionary under the id of `first`.
static IMPOSTOR: LazyLock<Limits> = LazyLock::new(|| limits(&["impostor"], ZSTD));

fn limits(names: &[&str], compressor: Compressor) -> Limits {
    let all: Vec<Vec<u8>> = names.iter().map(|name| vector(name)).collect();
    Limits {
        dictionaries: Some(Dictionaries::new(&all, compressor).expect("vectors are dictionaries")),
        ..LIMITS
    }
}

/// The dictionary with this name in `spec/vectors`.
pub(crate) fn vector(name: &str) -> Vec<u8> {
    let rows = read_rows(DICTIONARIES).expect("vectors are JSON");
    let row = rows.iter().find(|row| row["name"] == name);
    let hex = row.and_then(|row| row["dictionary"].as_str());
    hex_decode(hex.expect("it is among them")).expect("vectors are hexadecimal")
}

fn id_of(name: &str) -> u32 {
    let bytes = vector(name);
    u32::from_le_bytes(bytes[4..8].try_into().expect("a dictionary"))
}

static KNOWN: LazyLock<[u32; 2]> = LazyLock::new(|| ["first", "second"].map(id_of));

/// An entry; sealed, an entry again; 3 bytes of a length and a frame; and a payload.
pub fn check(data: &[u8]) {
    whole(data);
    if let Some(entry) = sealed(data) {
        whole(&entry);
    }
    if let Some((length, frame)) = data.split_first_chunk::<3>() {
        let length = u32::from_le_bytes([length[0], length[1], length[2], 0]);
        alone(frame, length.into());
        alone(frame, u64::MAX);
    }
    let payload = &data[..data.len().min(MOST)];
    round(payload, ZSTD, &READER);
    round(payload, Compressor::Smart, &QUICK);
}

fn whole(entry: &[u8]) {
    let read = |limits: &Limits| {
        let mut scratch = Vec::new();
        let read = decode_payload(entry, Verify::Checksum, limits, &mut scratch)
            .map(|(_, payload)| payload.to_vec());
        assert!(scratch.capacity() as u64 <= LIMITS.max_length);
        read
    };
    let (with, without) = (read(&READER), read(&LIMITS));
    match without {
        // Having dictionaries changes only the result of frames whose dictionary is missing.
        Err(Error::UnknownDictionary { .. }) => {}
        without => assert_eq!(worded(with), worded(without)),
    }
}

/// zstd describes a broken frame by the fault that it meets first, which differs after a dictionary was
/// used.
fn worded(read: Result<Vec<u8>, Error>) -> Result<Vec<u8>, &'static str> {
    read.map_err(|error| error.code())
}

/// A frame that claims to hold `length` bytes.
fn alone(frame: &[u8], length: u64) {
    let with = decompress(frame, length, &READER);
    let without = decompress(frame, length, &LIMITS);
    let other = decompress(frame, length, &IMPOSTOR);
    let needed = get_dict_id_from_frame(frame).map(u32::from);
    for (read, known) in [(&with, &KNOWN[..]), (&without, &[]), (&other, &KNOWN[..1])] {
        match (read, needed) {
            (Ok(_), Some(id)) => assert!(known.contains(&id), "read without its dictionary"),
            (Err(Error::UnknownDictionary { id }), _) => {
                // zstd reports no length for a header that it would reject for another reason.
                assert!(needed.is_none_or(|needed| needed == *id) && !known.contains(id));
            }
            _ => {}
        }
    }
    if !matches!(without, Err(Error::UnknownDictionary { .. })) {
        assert_eq!(worded(with.clone()), worded(without));
    }
    // A frame's checksum fits one content, whatever the dictionary makes of it.
    if let (Ok(with), Ok(other)) = (with, other) {
        assert!(with == other);
    }
}

fn decompress(frame: &[u8], length: u64, limits: &Limits) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    let read = CompressorId::Zstd.decompress(frame, length, limits, &mut out);
    // A block holds 128 KiB at most, and its header takes 3 bytes.
    let most = (frame.len() as u64 / 3 + 1) * 128 * 1024;
    assert!(out.capacity() as u64 <= most.min(length.max(64)).min(limits.max_length));
    if length > limits.max_length {
        assert_eq!(read.as_ref().map_err(Error::code), Err("value_too_large"));
    }
    match read {
        Ok(()) => assert_eq!(out.len() as u64, length),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Err(error);
        }
    }
    Ok(out)
}

/// A written payload comes back; changed, or with another dictionary of the same id, it gives no other
/// bytes.
fn round(payload: &[u8], compressor: Compressor, limits: &Limits) {
    let entry = entry_of(payload, compressor, limits);
    let Some(frame) = frame_of(&entry) else {
        return;
    };
    let length = payload.len() as u64;
    let used = KNOWN[usize::from(compressor == Compressor::Smart)];
    let missing = decompress(frame, length, &LIMITS);
    assert_eq!(missing, Err(Error::UnknownDictionary { id: used }));
    let mut renamed = frame.to_vec();
    let place = frame.windows(4).position(|id| id == used.to_le_bytes());
    renamed[place.expect("a frame says its dictionary")..][..4].fill(b'?');
    let id = u32::from_le_bytes([b'?'; 4]);
    let missing = decompress(&renamed, length, limits);
    assert_eq!(missing, Err(Error::UnknownDictionary { id }));
    for wrong in [length.wrapping_sub(1), length + 1] {
        decompress(frame, wrong, limits).expect_err("another length");
    }
    let mut changed = frame.to_vec();
    let bit = bit_of(payload, frame);
    changed[bit / 8] ^= 1 << (bit % 8);
    for read in [
        decompress(&changed, length, limits),
        decompress(frame, length, &IMPOSTOR),
    ] {
        assert!(read.is_err() || read.as_deref() == Ok(payload));
    }
}
