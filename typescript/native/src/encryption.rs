//! Keys of AES-256-GCM, which leave JavaScript's heap for good when they are taken over here.

use crate::error;
use napi::bindgen_prelude::Uint8Array;
use napi::Result;
use napi_derive::napi;
use polycache_entry::Encryption;

/// A key with its id.
#[napi(object)]
pub struct EncryptionKey {
    /// 0 to 2^32 - 1; JavaScript has checked it.
    pub id: u32,
    /// 32 bytes.
    pub key: Uint8Array,
}

/// The keys of a cache.
#[napi]
pub struct NativeEncryption(pub(crate) Encryption);

#[napi]
impl NativeEncryption {
    /// Takes the keys; the first encrypts.
    #[napi(factory)]
    pub fn of(keys: Vec<EncryptionKey>) -> Result<NativeEncryption> {
        let keys = keys.iter().map(|one| (one.id, &one.key));
        Encryption::new(keys)
            .map(NativeEncryption)
            .map_err(error::entry)
    }
}
