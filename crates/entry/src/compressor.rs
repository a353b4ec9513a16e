//! Compressors: none, and zstd (RFC 8878).

mod frame;

use crate::Error;
use std::cell::RefCell;
use std::io::Cursor;
use zstd::zstd_safe::{compress_bound, CCtx, DCtx};

/// How a payload is made smaller when an entry is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compressor {
    /// The payload stays as it is.
    #[default]
    None,
    /// One zstd frame without a dictionary.
    Zstd {
        /// 1 (fast) to 22 (small); the format's default is 3. Not recorded in the entry.
        level: i32,
    },
}

impl Compressor {
    /// The level that `zstd` means when none is chosen.
    pub const DEFAULT_ZSTD_LEVEL: i32 = 3;

    /// What a reader needs to know of this compressor.
    pub const fn id(self) -> CompressorId {
        match self {
            Compressor::None => CompressorId::None,
            Compressor::Zstd { .. } => CompressorId::Zstd,
        }
    }
}

/// How the payload of an entry that is read was made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CompressorId {
    /// Not at all.
    None = 0,
    /// One zstd frame.
    Zstd = 1,
}

impl CompressorId {
    /// The compressor with this id in the header.
    ///
    /// # Errors
    /// [`Error::UnsupportedCompressor`] for every other id.
    pub const fn from_id(id: u8) -> Result<Self, Error> {
        match id {
            0 => Ok(CompressorId::None),
            1 => Ok(CompressorId::Zstd),
            _ => Err(Error::UnsupportedCompressor { id }),
        }
    }
}

thread_local! {
    // A context is some 100 KiB (several MiB at high levels) and costs more to make than a small
    // payload costs to compress.
    static COMPRESS: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
    static DECOMPRESS: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// Appends the compressed `payload` to `out`.
pub(crate) fn compress(payload: &[u8], level: i32, out: &mut Vec<u8>) -> Result<(), Error> {
    out.reserve(compress_bound(payload.len()));
    let mut end = Cursor::new(out);
    end.set_position(end.get_ref().len() as u64);
    let written = COMPRESS.with(|slot| {
        let mut slot = slot.borrow_mut();
        if slot.is_none() {
            *slot = CCtx::try_create();
        }
        let context = slot.as_mut().ok_or(NO_MEMORY)?;
        context
            .compress(&mut end, payload, level)
            .map_err(|code| Error::Io {
                reason: zstd::zstd_safe::get_error_name(code).into(),
            })
    })?;
    debug_assert!(written > 0);
    Ok(())
}

/// Replaces `out` by the payload in `compressed`, which is exactly `length` bytes long. The caller
/// has checked `length` against its limit; memory follows what the frame can really hold.
pub(crate) fn decompress(compressed: &[u8], length: u64, out: &mut Vec<u8>) -> Result<(), Error> {
    let most = frame::max_content(compressed)
        .ok_or_else(|| Error::malformed("the compressed payload is not one whole zstd frame"))?;
    let wrong_length = || Error::malformed("the payload does not decompress to LENGTH bytes");
    if length > most {
        return Err(wrong_length());
    }
    let length = usize::try_from(length).map_err(|_| wrong_length())?;
    out.clear();
    out.reserve_exact(length);
    let written = DECOMPRESS.with(|slot| {
        let mut slot = slot.borrow_mut();
        if slot.is_none() {
            *slot = DCtx::try_create();
        }
        let context = slot.as_mut().ok_or(NO_MEMORY)?;
        context
            .decompress(out, compressed)
            .map_err(|code| Error::malformed(zstd::zstd_safe::get_error_name(code)))
    })?;
    if written != length {
        return Err(wrong_length());
    }
    Ok(())
}

const NO_MEMORY: Error = Error::Io {
    reason: std::borrow::Cow::Borrowed("no memory for a zstd context"),
};
