//! The crate ring, which Polycache encrypts with: a nonce, the ciphertext and its tag, nothing else.

use super::{Cipher, KEY};
use crate::{locked, Outcome};
use ring::aead::{Aad, LessSafeKey, Nonce, UnboundKey, AES_256_GCM, NONCE_LEN};
use ring::rand::{SecureRandom, SystemRandom};

pub struct Ring(LessSafeKey);

impl Cipher for Ring {
    const NAME: &'static str = "ring";

    fn notes() -> Vec<String> {
        vec![
            "12 B of nonce, ciphertext, 16 B of tag: nothing is bound, no header, no checksum"
                .into(),
        ]
    }

    fn version() -> (String, String) {
        locked("ring")
    }

    fn new() -> Outcome<Ring> {
        let key = UnboundKey::new(&AES_256_GCM, &KEY).map_err(|_| "not a key")?;
        Ok(Ring(LessSafeKey::new(key)))
    }

    fn write(&mut self, data: &[u8], out: &mut Vec<u8>) -> Outcome<()> {
        let mut nonce = [0; NONCE_LEN];
        let random = SystemRandom::new();
        random.fill(&mut nonce).map_err(|_| "no random bytes")?;
        out.clear();
        out.extend_from_slice(&nonce);
        out.extend_from_slice(data);
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self
            .0
            .seal_in_place_separate_tag(nonce, Aad::empty(), &mut out[NONCE_LEN..])
            .map_err(|_| "not sealed")?;
        out.extend_from_slice(tag.as_ref());
        Ok(())
    }

    fn read<'a>(&'a mut self, written: &'a mut [u8]) -> Outcome<&'a [u8]> {
        let (nonce, sealed) = written.split_at_mut(NONCE_LEN);
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| "no nonce")?;
        let data = self.0.open_in_place(nonce, Aad::empty(), sealed);
        Ok(data.map_err(|_| "not opened")?)
    }
}
