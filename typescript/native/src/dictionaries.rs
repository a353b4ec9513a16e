//! Trained dictionaries, prepared for one compressor.

use crate::entry::compressor_of;
use crate::error;
use napi::bindgen_prelude::Uint8Array;
use napi::Result;
use napi_derive::napi;
use polycache_entry::Dictionaries;

/// The dictionaries of a cache.
#[napi]
pub struct NativeDictionaries(pub(crate) Dictionaries);

#[napi]
impl NativeDictionaries {
    /// Takes them; the first compresses, at the zstd level, 0 (none, which is refused) or -1 (smart).
    #[napi(factory)]
    pub fn of(dictionaries: Vec<Uint8Array>, level: i32) -> Result<NativeDictionaries> {
        Dictionaries::new(&dictionaries, compressor_of(level))
            .map(NativeDictionaries)
            .map_err(error::entry)
    }
}
