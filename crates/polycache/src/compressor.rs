//! Compressors by name.

use crate::{Compressor, Error};

/// Trains a dictionary for the option `dictionaries` of at most `max_size` bytes (16,384 suit small
/// values) from samples: values as the serializer writes them.
///
/// # Errors
/// `InvalidArgument` for too few samples (a hundred is a good number), and for a size outside 256 bytes to 1 MiB.
pub fn train<S: AsRef<[u8]>>(samples: &[S], max_size: usize) -> Result<Vec<u8>, Error> {
    Ok(polycache_entry::train(samples, max_size)?)
}

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

/// [`Compressor::None`], where a type reads better: `.compressor(Noop)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noop;

/// [`Compressor::Smart`], where a type reads better: `.compressor(Smart)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Smart;

/// [`Compressor::Zstd`], where a type reads better.
///
/// ```
/// use polycache::{Cache, MessagePack, Zstd};
///
/// let cache = Cache::builder().serializer(MessagePack).compressor(Zstd::new(1)).build()?;
/// cache.set("page", &"<p>".repeat(1000))?;
/// assert_eq!(cache.get("page")?, Some("<p>".repeat(1000)));
///
/// let wrong = Cache::builder().compressor(Zstd::new(23)).build();
/// assert_eq!(wrong.unwrap_err().code(), "invalid_argument");
/// # Ok::<(), polycache::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zstd(i32);

impl Zstd {
    /// At a level, 1 (fast) to 22 (small); [`Builder::build`](crate::Builder::build) refuses any other.
    #[must_use]
    pub const fn new(level: i32) -> Zstd {
        Zstd(level)
    }
}

/// The format's own level, 3.
impl Default for Zstd {
    fn default() -> Zstd {
        Zstd(Compressor::DEFAULT_ZSTD_LEVEL)
    }
}

impl From<Noop> for Compressor {
    fn from(_: Noop) -> Compressor {
        Compressor::None
    }
}

impl From<Smart> for Compressor {
    fn from(_: Smart) -> Compressor {
        Compressor::Smart
    }
}

impl From<Zstd> for Compressor {
    fn from(zstd: Zstd) -> Compressor {
        Compressor::Zstd { level: zstd.0 }
    }
}
