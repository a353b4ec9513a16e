//! The key that an entry has in its store: the full key, or for a long one its beginning and a hash.

use polycache_host::hash::key_hash;
use polycache_host::keys::KeyBuffer;

/// Hexadecimal digits of a hash, and the sign before them.
const HASHED: usize = 33;
/// Any two numbers: the hash is made of two of 64 bits.
const SEEDS: [u64; 2] = [0x706f_6c79, 0x6361_6368];

/// Keys of a namespace, as they are in a store.
pub struct StoredKey {
    pub full: KeyBuffer,
    /// `None` where it is the full key.
    hashed: Option<Vec<u8>>,
}

impl StoredKey {
    /// In a store whose keys have at most `max` bytes, 64 or more. A hashed one has just so many, any other one has
    /// fewer.
    #[inline]
    pub fn new(prefix: &[u8], key: &[u8], max: usize) -> StoredKey {
        let mut full = KeyBuffer::with_capacity(prefix.len() + key.len());
        full.extend_from_slice(prefix);
        full.extend_from_slice(key);
        let hashed = (full.len() >= max).then(|| hashed(&full, max));
        StoredKey { full, hashed }
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.hashed.as_deref().unwrap_or(&self.full)
    }

    pub fn is_hashed(&self) -> bool {
        self.hashed.is_some()
    }
}

#[cold]
fn hashed(full: &[u8], max: usize) -> Vec<u8> {
    use std::io::Write;
    let mut stored = full[..max - HASHED].to_vec();
    let [one, other] = SEEDS.map(|seed| key_hash(seed, full).as_u64());
    // Writing to memory does not fail.
    let _ = write!(stored, "%{one:016x}{other:016x}");
    stored
}

/// What the stored keys of all full keys with this prefix begin with.
pub fn stored_prefix(prefix: &[u8], max: usize) -> &[u8] {
    &prefix[..prefix.len().min(max - HASHED)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_key_is_its_beginning_and_a_hash() {
        let short = StoredKey::new(b"::", &[b'k'; 61], 64);
        assert_eq!((short.bytes().len(), short.is_hashed()), (63, false));
        let long = StoredKey::new(b"::", &[b'k'; 62], 64);
        assert_eq!((long.bytes().len(), long.is_hashed()), (64, true));
        assert!(long.bytes().starts_with(b"::kkkk"));
        let other = StoredKey::new(b"::", &[b'k'; 63], 64);
        assert_ne!(long.bytes(), other.bytes());
        for key in [&short, &long, &other] {
            assert!(key.bytes().starts_with(stored_prefix(&key.full, 64)));
        }
    }
}
