//! Entries of a cache that is configured with keys.

use polycache_entry::{
    decrypt_payload, trusted_payload, EntryEncryption, Error, Limits, Serializer, Verify,
};

pub(crate) use polycache_entry::Encryption;

/// The payload of an entry that the store handed out: decrypted where the cache has keys, and refused
/// where the entry is encrypted and the cache is not configured for it, or the other way round.
#[inline]
pub(crate) fn payload<'a>(
    encryption: Option<EntryEncryption<'_>>,
    entry: &'a mut [u8],
    limits: &Limits,
    scratch: &'a mut Vec<u8>,
) -> Result<(Serializer, &'a [u8]), Error> {
    // The store's own checks say that its bytes are whole.
    match encryption {
        None => trusted_payload(entry, limits, scratch),
        Some(keys) => {
            let (header, payload) = decrypt_payload(entry, Verify::Trusted, limits, keys, scratch)?;
            Ok((header.serializer, payload))
        }
    }
}
