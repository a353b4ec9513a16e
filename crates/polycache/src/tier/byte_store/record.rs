//! What a store holds under a key: the entry, and a trailer.
//!
//! ```text
//! entry   the bytes of spec/entry.md
//! key     the full key, where the store's own key is a hash
//! u32     length of that key, 0 for none
//! u32     bond: a hash of mark and full key, so that a record counts for its own key only
//! u64     mark: another one for each write, the entry's version
//! ```

use crate::Error;
use polycache_entry::{Header, Verify};
use polycache_host::hash::key_hash;

/// Bytes of the trailer without a key.
pub const TRAILER: usize = 16;

fn bond(mark: u64, full_key: &[u8]) -> u32 {
    key_hash(mark, full_key).as_u64() as u32
}

/// The record of an entry. `full_key` is in it where the store's key is its hash.
pub fn compose(entry: &[u8], full_key: &[u8], is_hashed: bool, mark: u64) -> Vec<u8> {
    let key_len = if is_hashed { full_key.len() } else { 0 };
    let mut record = Vec::with_capacity(entry.len() + key_len + TRAILER);
    record.extend_from_slice(entry);
    end(full_key, is_hashed, mark, &mut record);
    record
}

/// Appends what follows the entry.
pub fn end(full_key: &[u8], is_hashed: bool, mark: u64, out: &mut Vec<u8>) {
    let key: &[u8] = if is_hashed { full_key } else { b"" };
    out.extend_from_slice(key);
    out.extend_from_slice(&(key.len() as u32).to_le_bytes());
    out.extend_from_slice(&bond(mark, full_key).to_le_bytes());
    out.extend_from_slice(&mark.to_le_bytes());
}

/// Bytes of a record that follow its entry, of which these are the last.
pub fn end_len(last: &[u8; TRAILER]) -> u64 {
    let [a, b, c, d, ..] = *last;
    TRAILER as u64 + u64::from(u32::from_le_bytes([a, b, c, d]))
}

/// A record taken apart; its bytes are not yet checked.
pub struct Parts<'a> {
    pub entry: &'a [u8],
    /// The full key, if it is in the record.
    pub key: Option<&'a [u8]>,
    bond: u32,
    pub mark: u64,
}

impl Parts<'_> {
    /// `None` for bytes that are no record.
    pub fn of(record: &[u8]) -> Option<Parts<'_>> {
        let (rest, mark) = record.split_last_chunk::<8>()?;
        let (rest, bond) = rest.split_last_chunk::<4>()?;
        let (rest, len) = rest.split_last_chunk::<4>()?;
        let len = u32::from_le_bytes(*len) as usize;
        let (entry, key) = rest.split_at_checked(rest.len().checked_sub(len)?)?;
        Some(Parts {
            entry,
            key: Some(key).filter(|key| !key.is_empty()),
            bond: u32::from_le_bytes(*bond),
            mark: u64::from_le_bytes(*mark),
        })
    }

    /// Whether the record was written for this key, and is as it was written.
    pub fn check(&self, full_key: &[u8]) -> Result<(), Error> {
        self.check_bond(full_key)?;
        Header::parse(self.entry, Verify::Checksum)?;
        Ok(())
    }

    /// Whether the record was written for this key.
    pub fn check_bond(&self, full_key: &[u8]) -> Result<(), Error> {
        if self.bond != bond(self.mark, full_key) {
            return Err(damaged());
        }
        Ok(())
    }
}

/// The error for bytes that are not what was stored.
#[cold]
pub fn damaged() -> Error {
    Error::ChecksumMismatch(
        "the store gives other bytes under this key than were stored there; set or delete it"
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use polycache_entry::{encode, EntryOptions, Value};

    fn entry() -> Vec<u8> {
        let mut entry = Vec::new();
        encode(&Value::from("text"), &EntryOptions::default(), &mut entry).unwrap();
        entry
    }

    #[test]
    fn a_record_is_taken_apart_as_it_was_composed() {
        let entry = entry();
        for is_hashed in [false, true] {
            let record = compose(&entry, b"shop::k", is_hashed, 7);
            let parts = Parts::of(&record).unwrap();
            assert_eq!((parts.entry, parts.mark), (&entry[..], 7));
            assert_eq!(parts.key, is_hashed.then_some(b"shop::k".as_slice()));
            parts.check(b"shop::k").unwrap();
        }
    }

    #[test]
    fn another_key_and_each_changed_byte_are_found() {
        let record = compose(&entry(), b"shop::k", true, 7);
        let whole = Parts::of(&record).unwrap();
        assert_eq!(
            whole.check(b"shop::l").unwrap_err().code(),
            "checksum_mismatch"
        );
        for at in 0..record.len() {
            let mut changed = record.clone();
            changed[at] ^= 0x10;
            let found = Parts::of(&changed);
            let passes = found.is_some_and(|parts| {
                parts.key == Some(b"shop::k") && parts.check(b"shop::k").is_ok()
            });
            assert!(!passes, "byte {at}");
        }
        for len in 0..record.len() {
            let cut = Parts::of(&record[..len]);
            assert!(
                cut.is_none_or(|parts| parts.check(b"shop::k").is_err()),
                "{len} bytes"
            );
        }
    }
}
