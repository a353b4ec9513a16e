//! A namespace's view of a store: the prefix of its keys and the floor of its clears.

use crate::hash::key_hash;
use crate::keys::{ancestors, KeyBuffer, INLINE};
use std::sync::atomic::{AtomicU64, Ordering};

/// The keys of one namespace. Cheap to use; created once per cache handle.
#[derive(Debug)]
pub struct Namespace {
    prefix: Vec<u8>,
    /// Hashes of the prefixes of all enclosing namespaces, from the root's to this one's.
    names: Vec<u64>,
    /// The epoch at which `floor` was looked up, plus one; 0 = never.
    epoch: AtomicU64,
    floor: AtomicU64,
}

impl Namespace {
    /// The namespace whose keys begin with this prefix, in a directory with this seed; for
    /// `checks/simulation`.
    #[doc(hidden)]
    #[must_use]
    pub fn new(prefix: Vec<u8>, seed: u64) -> Namespace {
        let names = ancestors(&prefix)
            .map(|prefix| key_hash(seed, &prefix).as_u64())
            .collect();
        Namespace {
            prefix,
            names,
            epoch: AtomicU64::new(0),
            floor: AtomicU64::new(0),
        }
    }

    /// The full key's bytes of a key.
    #[inline]
    #[must_use]
    pub fn full_key(&self, key: &[u8]) -> KeyBuffer {
        let prefix = self.prefix.len();
        let len = prefix + key.len();
        if len > INLINE {
            let mut full = KeyBuffer::with_capacity(len);
            full.extend_from_slice(&self.prefix);
            full.extend_from_slice(key);
            return full;
        }
        // Growing an empty buffer twice would cost a tenth of a get.
        let mut bytes = [0; INLINE];
        bytes[..prefix].copy_from_slice(&self.prefix);
        bytes[prefix..len].copy_from_slice(key);
        KeyBuffer::from_buf_and_len(bytes, len)
    }

    /// True for names that are no user's: of locks, and those of the remote tier.
    pub(crate) fn is_reserved(&self) -> bool {
        // No part of a user's namespace begins with the sign % and a letter that is no hexadecimal digit.
        self.prefix.ends_with(b"%lock::")
            || self.prefix.starts_with(b"%load")
            || self.prefix.starts_with(b"%remote-")
    }

    /// The prefix of every full key of this namespace.
    #[must_use]
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// Hashes of the prefixes of all enclosing namespaces, from the root's to this one's.
    #[doc(hidden)]
    #[must_use]
    pub fn names(&self) -> &[u64] {
        &self.names
    }

    /// The floor at this epoch, looked up once per epoch. Floors only rise, so a value that another
    /// thread stored for a later epoch is correct too.
    #[doc(hidden)]
    #[inline]
    pub fn floor(&self, epoch: u64, look_up: impl FnOnce(&[u64]) -> u64) -> u64 {
        if self.epoch.load(Ordering::Acquire) != epoch + 1 {
            self.floor
                .fetch_max(look_up(&self.names), Ordering::Relaxed);
            self.epoch.store(epoch + 1, Ordering::Release);
        }
        self.floor.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_key_is_the_prefix_and_the_key_whatever_their_length() {
        let namespace = Namespace::new(b"shop::".to_vec(), 7);
        for len in 0..2 * INLINE {
            let key = vec![b'k'; len];
            let want = [b"shop::".as_slice(), &key].concat();
            assert_eq!(namespace.full_key(&key).as_slice(), want);
        }
    }
}
