//! AES-256-GCM (NIST SP 800-38D), `spec/entry.md` "Encryption": the payload is encrypted, the header
//! stays readable, and neither header nor full key can be replaced unnoticed.

mod key;

use crate::header::{nonce_at, HEADER_LEN};
use crate::{Error, Header, Limits, Verify};
use key::Key;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// Bytes of the tag behind an encrypted payload.
pub(crate) const TAG_LEN: usize = ring::aead::MAX_TAG_LEN;
/// Bytes of a nonce.
pub(crate) const NONCE_LEN: usize = ring::aead::NONCE_LEN;

/// The keys for encryption: the first one encrypts, all of them decrypt.
///
/// Cheap to clone. No key is ever printed, and a key's memory is overwritten when the last clone is
/// dropped.
#[derive(Clone)]
pub struct Encryption(Arc<[Key]>);

impl Encryption {
    /// Bytes of a key.
    pub const KEY_LEN: usize = 32;

    /// Takes the keys, each with its id, which is stored in every entry that the key encrypts.
    ///
    /// ```
    /// use polycache_entry::Encryption;
    /// let (old, new) = ([1; 32], [2; 32]); // from your secret store: 32 random bytes each
    /// let encryption = Encryption::new([(20261122, new), (1, old)])?;
    /// assert_eq!(format!("{encryption:?}"), "Encryption { ids: [20261122, 1] }");
    /// # Ok::<(), polycache_entry::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no key, two keys with the same id, and a key that does not have 32
    /// bytes.
    pub fn new<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = (u32, K)>) -> Result<Self, Error> {
        let keys = keys
            .into_iter()
            .map(|(id, key)| Key::new(id, key.as_ref()))
            .collect::<Result<Arc<[Key]>, Error>>()?;
        if keys.is_empty() {
            return Err(Error::invalid("encryption takes one key or more"));
        }
        for (place, key) in keys.iter().enumerate() {
            if keys[..place].iter().any(|other| other.id == key.id) {
                return Err(Error::invalid(format!(
                    "two keys of encryption have the id {}",
                    key.id
                )));
            }
        }
        Ok(Encryption(keys))
    }

    /// The keys, for the entry of one key of the cache: `prefix`, which identifies the namespace, and
    /// `key` together are the full key (`spec/keys.md`).
    #[must_use]
    pub const fn of<'a>(&'a self, prefix: &'a [u8], key: &'a [u8]) -> EntryEncryption<'a> {
        EntryEncryption {
            keys: self,
            full_key: [prefix, key],
        }
    }
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<u32> = self.0.iter().map(|key| key.id).collect();
        f.debug_struct("Encryption").field("ids", &ids).finish()
    }
}

/// An [`Encryption`] with the full key of the entry to be written or read: see [`Encryption::of`].
#[derive(Clone, Copy, Debug)]
pub struct EntryEncryption<'a> {
    keys: &'a Encryption,
    full_key: [&'a [u8]; 2],
}

impl EntryEncryption<'_> {
    /// Encrypts the payload of the entry that `out` holds from `start` on, whose header has room for the
    /// key's id and the nonce. The caller adds the checksum afterwards.
    pub(crate) fn encrypt(&self, out: &mut Vec<u8>, start: usize) -> Result<(), Error> {
        let key = &self.keys.0[0];
        let (header, payload) = split(&mut out[start..]);
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| Error::Io {
            reason: "the operating system has no random bytes for a nonce".into(),
        })?;
        let field = nonce_at(header);
        header[field.start - 4..field.start].copy_from_slice(&key.id.to_le_bytes());
        header[field].copy_from_slice(&nonce);
        let tag = self.associated(header, |data| key.encrypt(nonce, data, payload))?;
        out.extend_from_slice(&tag);
        Ok(())
    }

    /// The key that the entry of this header is encrypted under.
    fn key_of(&self, header: &Header<'_>) -> Result<&Key, Error> {
        let id = header.encryption_key.ok_or(Error::NotEncrypted)?;
        let mut keys = self.keys.0.iter();
        keys.find(|key| key.id == id)
            .ok_or(Error::UnknownEncryptionKey { id })
    }

    /// Decrypts the payload of the entry of this header in its place; the tag behind it stays.
    pub(crate) fn decrypt(&self, header: &Header<'_>, entry: &mut [u8]) -> Result<(), Error> {
        self.decrypt_by(self.key_of(header)?, entry)
    }

    fn decrypt_by(&self, key: &Key, entry: &mut [u8]) -> Result<(), Error> {
        let (header, stored) = split(entry);
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&header[nonce_at(header)]);
        self.associated(header, |data| key.decrypt(nonce, data, stored))
    }

    /// Calls `f` with the associated data: the header without its checksum, then the full key.
    fn associated<R>(&self, header: &[u8], f: impl FnOnce(&[u8]) -> R) -> R {
        thread_local! {
            static KEPT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
        }
        /// Longer than the header and key of nearly every entry.
        const MOST_KEPT: usize = 4096;

        // A thread that is ending has no buffer to reuse.
        let mut data = KEPT.try_with(Cell::take).unwrap_or_default();
        data.clear();
        data.extend_from_slice(&header[..4]);
        data.extend_from_slice(&header[8..]);
        data.extend_from_slice(self.full_key[0]);
        data.extend_from_slice(self.full_key[1]);
        let result = f(&data);
        if data.capacity() <= MOST_KEPT {
            let _ = KEPT.try_with(|kept| kept.set(data));
        }
        result
    }
}

/// An entry's header and the rest, split at the length that the header gives.
fn split(entry: &mut [u8]) -> (&mut [u8], &mut [u8]) {
    let header_len = u16::from_le_bytes([entry[HEADER_LEN - 2], entry[HEADER_LEN - 1]]);
    entry.split_at_mut(usize::from(header_len))
}

/// As [`decode_payload`](crate::decode_payload), for a reader with keys: decrypts the payload in place
/// in `entry`. After [`Error::DecryptionFailed`] none of the payload is left there.
///
/// # Errors
/// Those of [`Header::parse`]; then [`Error::NotEncrypted`], [`Error::UnknownEncryptionKey`],
/// [`Error::ValueTooLarge`], [`Error::DecryptionFailed`], [`Error::MalformedEntry`],
/// [`Error::UnknownDictionary`].
pub fn decrypt_payload<'a>(
    entry: &'a mut [u8],
    verify: Verify,
    limits: &Limits,
    encryption: EntryEncryption<'_>,
    scratch: &'a mut Vec<u8>,
) -> Result<(Header<'a>, &'a [u8]), Error> {
    let header = Header::parse(entry, verify)?;
    let key = encryption.key_of(&header)?;
    limits.check(header.payload_len(entry))?;
    encryption.decrypt_by(key, entry)?;
    // Parsed again, because the entry was borrowed for writing in between.
    let header = Header::parse(entry, Verify::Trusted)?;
    let payload = header.stored(entry);
    crate::entry::decompress(header, payload, limits, scratch)
}
