//! Entries read by a cache with keys: only an entry sealed under one of its keys and for this full key
//! is read, and it reads as if it had never been encrypted.
//!
//! Entries are also sealed and opened by hand here, with ring and `spec/entry.md`, "Encryption", so that
//! hostile bytes also reach places that only a holder of the key can write to.

use crate::{bit_of, sealed, LIMITS};
use polycache_entry::{
    decode_payload, decrypt_payload, encode_payload, Compressor, Encryption, EntryOptions, Error,
    Header, Limits, Serializer, Verify, HEADER_LEN,
};
use ring::aead::{Aad, LessSafeKey, Nonce, UnboundKey, AES_256_GCM};
use std::sync::LazyLock;

/// Those of `spec/vectors/encrypted_malformed.json`.
const KEYS: [(u32, [u8; 32]); 2] = [(1, [1; 32]), (2, [2; 32])];
const PREFIX: &[u8] = b"shop::";
const KEY: &[u8] = b"user:1";

/// A limit that many seeds exceed.
const LOW: Limits = Limits::of(32);

const ENCRYPTION: u16 = 8;
const TIME_TO_IDLE: u16 = 16;
/// The key's id and the nonce.
const FIELD: usize = 4 + 12;
const TAG: usize = 16;

static READER: LazyLock<Encryption> = LazyLock::new(|| keys(KEYS));
/// Each key under the other one's id.
static SWAPPED: LazyLock<Encryption> = LazyLock::new(|| keys([(1, KEYS[1].1), (2, KEYS[0].1)]));
static STRANGER: LazyLock<Encryption> = LazyLock::new(|| keys([(3, KEYS[0].1)]));

fn keys<const N: usize>(keys: [(u32, [u8; 32]); N]) -> Encryption {
    Encryption::new(keys).expect("keys of 32 bytes")
}

/// An entry; sealed, an entry again; a plain entry that is encrypted here; and a payload.
pub fn check(data: &[u8]) {
    any(data);
    if let Some(entry) = sealed(data) {
        any(&entry);
    }
    if let Some(entry) = encrypted(data) {
        read_as_if_plain(data, &entry);
        bound(&entry, bit_of(data, &entry));
    }
    written(data);
}

/// Any bytes: an entry that is read was sealed.
fn any(entry: &[u8]) {
    for verify in [Verify::Checksum, Verify::Trusted] {
        match (read(entry, verify, &READER, KEY).0, opened(entry)) {
            (Ok(_), None) => panic!("an entry was read that was never sealed"),
            (Err(Error::DecryptionFailed { .. }), Some(_)) => {
                panic!("it is sealed, and was refused")
            }
            _ => {}
        }
    }
    only_its_reader(entry);
}

/// A reader without the key, or of another key of the cache, reads nothing.
fn only_its_reader(entry: &[u8]) {
    let header = Header::parse(entry, Verify::Trusted);
    let id = header.ok().and_then(|header| header.encryption_key);
    for (keys, key) in [(&*SWAPPED, KEY), (&STRANGER, KEY), (&READER, b"user:2")] {
        read(entry, Verify::Trusted, keys, key)
            .0
            .expect_err("it is not for this reader");
    }
    if let Some(id) = id {
        let unknown = Err(Error::UnknownEncryptionKey { id });
        let without = decode_payload(entry, Verify::Trusted, &LIMITS, &mut Vec::new()).map(drop);
        assert_eq!(without, unknown);
        if KEYS.iter().all(|(known, _)| *known != id) {
            let found = read(entry, Verify::Trusted, &READER, KEY).0.map(drop);
            assert_eq!(found, unknown);
        }
    }
}

/// The payload, and the entry's bytes after decryption.
fn read(
    entry: &[u8],
    verify: Verify,
    keys: &Encryption,
    key: &[u8],
) -> (Result<Vec<u8>, Error>, Vec<u8>) {
    read_within(&LIMITS, entry, verify, keys, key)
}

fn read_within(
    limits: &Limits,
    entry: &[u8],
    verify: Verify,
    keys: &Encryption,
    key: &[u8],
) -> (Result<Vec<u8>, Error>, Vec<u8>) {
    let (mut entry, mut scratch) = (entry.to_vec(), Vec::new());
    let keys = keys.of(PREFIX, key);
    let payload = decrypt_payload(&mut entry, verify, limits, keys, &mut scratch)
        .map(|(_, payload)| payload.to_vec());
    if let Err(error) = &payload {
        assert!(!error.to_string().is_empty());
    }
    assert!(scratch.capacity() as u64 <= limits.max_length.max(64));
    (payload, entry)
}

/// An encrypted entry reads like the plain one, whatever made its content.
fn read_as_if_plain(plain: &[u8], entry: &[u8]) {
    for limits in [&LIMITS, &LOW] {
        let mut scratch = Vec::new();
        let expected = decode_payload(plain, Verify::Trusted, limits, &mut scratch)
            .map(|(_, payload)| payload)
            .map_err(|error| error.code());
        let found = read_within(limits, entry, Verify::Checksum, &READER, KEY).0;
        assert_eq!(found.as_deref().map_err(Error::code), expected);
    }
}

/// With one bit changed, or the end cut off: nothing is read, and nothing of the payload is left.
fn bound(entry: &[u8], bit: usize) {
    let (at, header_len) = (bit / 8, header_len(entry));
    let mut changed = entry.to_vec();
    changed[at] ^= 1 << (bit % 8);
    // The checksum, which is not checked here, is the only part that is not bound.
    if !(4..8).contains(&at) {
        let (found, left) = read(&changed, Verify::Trusted, &READER, KEY);
        let error = found.expect_err("a changed entry");
        let plain = opened(entry).expect("it was sealed here");
        // Only zeros are left of it.
        let start = plain.first_chunk::<16>().filter(|start| **start != [0; 16]);
        if let (Error::DecryptionFailed { .. }, Some(start)) = (error, start) {
            assert_ne!(left[header_len..].first_chunk(), Some(start));
        }
    }
    let cut = read(&entry[..at], Verify::Trusted, &READER, KEY).0;
    cut.expect_err("an entry that was cut off");
}

/// A written entry can be opened by hand, and read.
fn written(payload: &[u8]) {
    for compressor in [Compressor::None, Compressor::Smart] {
        let options = EntryOptions {
            compressor,
            encryption: Some(READER.of(PREFIX, KEY)),
            ..EntryOptions::default()
        };
        let mut entry = Vec::new();
        encode_payload(payload, Serializer::Bytes, &options, &mut entry).expect("any bytes");
        let stored = opened(&entry).expect("it was sealed");
        assert!(compressor != Compressor::None || stored == payload);
        let found = read(&entry, Verify::Checksum, &READER, KEY).0;
        assert_eq!(found.as_deref(), Ok(payload));
    }
}

fn header_len(entry: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([entry[22], entry[23]]))
}

fn by_hand(id: u32) -> Option<LessSafeKey> {
    let (_, key) = KEYS.into_iter().find(|(its, _)| *its == id)?;
    Some(LessSafeKey::new(
        UnboundKey::new(&AES_256_GCM, &key).expect("32 bytes"),
    ))
}

fn associated(header: &[u8]) -> Aad<Vec<u8>> {
    Aad::from([&header[..4], &header[8..], PREFIX, KEY].concat())
}

/// Bytes of the fields that follow the one of encryption.
fn behind(flags: u16) -> usize {
    usize::from(flags & TIME_TO_IDLE != 0) * 16
}

/// A plain entry, encrypted: its header with a field more, however wrong the others may be. Key and
/// nonce follow from its bytes.
pub(crate) fn encrypted(plain: &[u8]) -> Option<Vec<u8>> {
    let flags = u16::from_le_bytes(plain.get(14..16)?.try_into().ok()?);
    if plain.len() < HEADER_LEN || flags & ENCRYPTION != 0 {
        return None;
    }
    let (header, payload) = plain.split_at_checked(header_len(plain))?;
    let longer = u16::try_from(header.len() + FIELD).ok()?;
    let sum = crc32fast::hash(plain);
    let id = 1 + sum % 2;
    let nonce: [u8; 12] = [sum.to_le_bytes(); 3].concat().try_into().ok()?;

    let mut header = header.to_vec();
    let behind = header.split_off(header.len().checked_sub(behind(flags))?);
    header
        .get_mut(14..16)?
        .copy_from_slice(&(flags | ENCRYPTION).to_le_bytes());
    header
        .get_mut(22..24)?
        .copy_from_slice(&longer.to_le_bytes());
    header.extend_from_slice(&id.to_le_bytes());
    header.extend_from_slice(&nonce);
    header.extend_from_slice(&behind);
    let mut stored = payload.to_vec();
    by_hand(id)?
        .seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            associated(&header),
            &mut stored,
        )
        .expect("a payload that fits");
    sealed(&[header, stored].concat())
}

/// The decrypted content after an entry's header, if it was sealed under one of the keys.
fn opened(entry: &[u8]) -> Option<Vec<u8>> {
    if entry.len() < HEADER_LEN {
        return None;
    }
    let flags = u16::from_le_bytes([entry[14], entry[15]]);
    if flags & ENCRYPTION == 0 {
        return None;
    }
    let (header, stored) = entry.split_at_checked(header_len(entry))?;
    let rest = header.get(..header.len().checked_sub(behind(flags))?)?;
    let (rest, nonce) = rest.split_last_chunk::<12>()?;
    let (rest, id) = rest.split_last_chunk::<4>()?;
    if rest.len() < HEADER_LEN || stored.len() < TAG {
        return None;
    }
    let mut stored = stored.to_vec();
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let plain = by_hand(u32::from_le_bytes(*id))?
        .open_in_place(nonce, associated(header), &mut stored)
        .ok()?
        .len();
    stored.truncate(plain);
    Some(stored)
}
