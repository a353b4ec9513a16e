//! Content codings that Ruby has no library of its own for: Zstandard (RFC 8878), by the compressor of entries.

use crate::error::OrRaise;
use crate::without_gvl::without_gvl;
use magnus::{function, prelude::*, Error, RModule, RString, Ruby};
use polycache_entry::Compressor;

/// Bytes as a frame of Zstandard. Other threads run meanwhile.
///
/// # Errors
/// `InvalidArgument` for a level that is not one of 1 to 22; an interrupt.
fn zstd(ruby: &Ruby, bytes: RString, level: i32) -> Result<RString, Error> {
    // SAFETY: the bytes are copied at once.
    let bytes = unsafe { bytes.as_slice() }.to_vec();
    let made = without_gvl(move || {
        let mut out = Vec::new();
        Compressor::Zstd { level }
            .compress(&bytes, &mut out)
            .map(|_| out)
    })?;
    let made = made.map_err(polycache::Error::from).or_raise(ruby)?;
    Ok(ruby.str_from_slice(&made))
}

/// Defines the module.
///
/// # Errors
/// What Ruby raises when it cannot.
pub(crate) fn define(native: RModule) -> Result<(), Error> {
    let module = native.define_module("Codings")?;
    module.define_singleton_method("zstd", function!(zstd, 2))
}
