//! One key of AES-256-GCM.

use super::{NONCE_LEN, TAG_LEN};
use crate::{Encryption, Error};
use ring::aead::{Aad, LessSafeKey, Nonce, UnboundKey, AES_256_GCM};
use std::mem::MaybeUninit;
use zeroize::Zeroize;

/// A key, expanded for use, with its id. On the heap, so that moving it leaves no copies behind.
pub(super) struct Key {
    pub id: u32,
    expanded: Box<MaybeUninit<LessSafeKey>>,
}

impl Key {
    pub fn new(id: u32, key: &[u8]) -> Result<Key, Error> {
        let unbound = UnboundKey::new(&AES_256_GCM, key).map_err(|_| {
            Error::invalid(format!(
                "a key of encryption is {} bytes, the one with the id {id} has {}",
                Encryption::KEY_LEN,
                key.len()
            ))
        })?;
        let expanded = Box::new(MaybeUninit::new(LessSafeKey::new(unbound)));
        Ok(Key { id, expanded })
    }

    fn get(&self) -> &LessSafeKey {
        // SAFETY: `new` initialized it, and only `drop` uninitializes it.
        unsafe { self.expanded.assume_init_ref() }
    }

    /// Encrypts the payload in place and returns the tag. The caller must choose a new nonce for each
    /// entry.
    pub fn encrypt(
        &self,
        nonce: [u8; NONCE_LEN],
        associated: &[u8],
        payload: &mut [u8],
    ) -> Result<[u8; TAG_LEN], Error> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let sealed = self
            .get()
            .seal_in_place_separate_tag(nonce, Aad::from(associated), payload);
        // The only possible error is GCM's own bound of 64 GiB.
        let tag = sealed.map_err(|_| Error::invalid("the value is too large to be encrypted"))?;
        let mut bytes = [0; TAG_LEN];
        bytes.copy_from_slice(tag.as_ref());
        Ok(bytes)
    }

    /// Decrypts `stored`, payload and tag, in place. After an error none of the decrypted payload is
    /// left there.
    pub fn decrypt(
        &self,
        nonce: [u8; NONCE_LEN],
        associated: &[u8],
        stored: &mut [u8],
    ) -> Result<(), Error> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        self.get()
            .open_in_place(nonce, Aad::from(associated), stored)
            .map(drop)
            .map_err(|_| Error::DecryptionFailed { id: self.id })
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        let bytes: *mut [MaybeUninit<u8>] = std::ptr::slice_from_raw_parts_mut(
            self.expanded.as_mut_ptr().cast(),
            size_of::<LessSafeKey>(),
        );
        // SAFETY: `new` initialized the value, and only this line drops it. Afterwards its bytes are
        // plain memory of the box, typed `MaybeUninit`, for which any bytes are valid.
        unsafe {
            self.expanded.assume_init_drop();
            (*bytes).zeroize();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test case 16 of McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B.
    #[test]
    fn is_aes_256_gcm() {
        let hex = |text: &str| -> Vec<u8> {
            let digits: Vec<_> = text.split_whitespace().collect::<String>().into();
            digits
                .chunks(2)
                .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
                .collect()
        };
        let key = "feffe9928665731c6d6a8f9467308308 feffe9928665731c6d6a8f9467308308";
        let nonce = hex("cafebabefacedbaddecaf888").try_into().unwrap();
        let associated = hex("feedfacedeadbeeffeedfacedeadbeef abaddad2");
        let plain = hex(
            "d9313225f88406e5a55909c5aff5269a 86a7a9531534f7da2e4c303d8a318a72
             1c3c0c95956809532fcf0e2449a6b525 b16aedf5aa0de657ba637b39",
        );
        let cipher = hex(
            "522dc1f099567d07f47f37a32a84427d 643a8cdcbfe5c0c97598a2bd2555d1aa
             8cb08e48590dbb3da7b08b1056828838 c5f61e6393ba7a0abcc9f662",
        );
        let tag = hex("76fc6ece0f4e1768cddf8853bb2d551b");

        let key = Key::new(7, &hex(key)).unwrap();
        let mut bytes = plain.clone();
        let made = key.encrypt(nonce, &associated, &mut bytes).unwrap();
        assert_eq!((&bytes, made.as_slice()), (&cipher, tag.as_slice()));
        bytes.extend_from_slice(&made);
        key.decrypt(nonce, &associated, &mut bytes).unwrap();
        assert_eq!(&bytes[..plain.len()], plain);
    }

    #[test]
    fn a_wrong_tag_leaves_nothing_of_the_plain_payload() {
        let key = Key::new(7, &[1; 32]).unwrap();
        let mut bytes = b"a secret that is longer than a block".to_vec();
        let tag = key.encrypt([2; 12], b"here", &mut bytes).unwrap();
        bytes.extend_from_slice(&tag);
        let failed = key.decrypt([2; 12], b"there", &mut bytes);
        assert_eq!(failed, Err(Error::DecryptionFailed { id: 7 }));
        assert!(!bytes.windows(6).any(|some| some == b"secret"));
    }
}
