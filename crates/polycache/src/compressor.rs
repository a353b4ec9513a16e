//! Compressors by name.

use crate::{Compressor, Error};

/// The compressor called `none`, `smart`, `zstd` (level 3), or `zstd:LEVEL` with a level of 1 to 22.
///
/// ```
/// use polycache::Compressor;
/// assert_eq!(polycache::compressor::parse("zstd:19")?, Compressor::Zstd { level: 19 });
/// # Ok::<(), polycache::Error>(())
/// ```
///
/// # Errors
/// `InvalidArgument` for any other name or level.
pub fn parse(name: &str) -> Result<Compressor, Error> {
    match name.split_once(':') {
        None if name == "none" => Some(Compressor::None),
        None if name == "smart" => Some(Compressor::Smart),
        None if name == "zstd" => Some(Compressor::Zstd {
            level: Compressor::DEFAULT_ZSTD_LEVEL,
        }),
        Some(("zstd", level)) if level.bytes().all(|byte| byte.is_ascii_digit()) => level
            .parse()
            .ok()
            .filter(|level| (1..=22).contains(level))
            .map(|level| Compressor::Zstd { level }),
        _ => None,
    }
    .ok_or_else(|| {
        Error::InvalidArgument(format!(
            "{name:?} is not a compressor: none, smart, zstd, or zstd:1 to zstd:22"
        ))
    })
}
