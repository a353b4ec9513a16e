//! Compressors: none, zstd (RFC 8878), and zstd where it is worth it.

mod frame;
mod smart;

use crate::{Error, Limits};
use std::cell::RefCell;
use std::io::Cursor;
use zstd::zstd_safe::{compress_bound, CCtx, DCtx, ErrorCode, SafeResult};

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
    /// For each value what it deserves: one zstd frame, made quickly, when that takes an eighth of
    /// the payload away, else the payload as it is. The entry says which, like any other.
    ///
    /// Payloads below [`Compressor::SMART_FROM`] bytes, and those whose bytes look random
    /// (compressed or encrypted before), are not even tried. It saves about what level 1 saves.
    Smart,
}

impl Compressor {
    /// The level that `zstd` means when none is chosen.
    pub const DEFAULT_ZSTD_LEVEL: i32 = 3;

    /// Bytes of the smallest payload that [`Compressor::Smart`] tries. Smaller ones have little to
    /// repeat: half of this of JSON saves a fifth, and takes as long.
    pub const SMART_FROM: usize = 512;

    /// Appends the `payload`, compressed or as it is; says which. After an error `out` is as it was.
    ///
    /// ```
    /// use polycache_entry::{Compressor, CompressorId, Limits};
    ///
    /// let (text, mut out, mut back) = ("to be or not to be; ".repeat(100), Vec::new(), Vec::new());
    /// assert_eq!(Compressor::Smart.compress(text.as_bytes(), &mut out)?, CompressorId::Zstd);
    /// assert!(out.len() < 100);
    /// CompressorId::Zstd.decompress(&out, text.len() as u64, &Limits::default(), &mut back)?;
    /// assert_eq!(back, text.as_bytes());
    /// # Ok::<(), polycache_entry::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when the level is out of its range; [`Error::Io`] when there is no
    /// memory for the compressor.
    pub fn compress(self, payload: &[u8], out: &mut Vec<u8>) -> Result<CompressorId, Error> {
        let start = out.len();
        let frame = match self {
            Compressor::None => false,
            Compressor::Zstd { level } => {
                check_level(level)?;
                compress(payload, level, out)?;
                true
            }
            Compressor::Smart => {
                smart::is_worth_trying(payload) && {
                    compress_quickly(payload, out)?;
                    smart::is_worth_keeping(payload.len(), out.len() - start)
                }
            }
        };
        if frame {
            return Ok(CompressorId::Zstd);
        }
        out.truncate(start);
        out.extend_from_slice(payload);
        Ok(CompressorId::None)
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
    /// Replaces `out` by the payload that is `stored`, and was `length` bytes long.
    ///
    /// # Errors
    /// [`Error::ValueTooLarge`] when `length` is above the limit, before anything is allocated;
    /// [`Error::MalformedEntry`] when `stored` is not that payload.
    pub fn decompress(
        self,
        stored: &[u8],
        length: u64,
        limits: &Limits,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        limits.check(length)?;
        match self {
            CompressorId::Zstd => decompress(stored, length, out),
            CompressorId::None if stored.len() as u64 == length => {
                out.clear();
                out.extend_from_slice(stored);
                Ok(())
            }
            CompressorId::None => Err(wrong_length()),
        }
    }

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

pub(crate) fn check_level(level: i32) -> Result<(), Error> {
    if (1..=22).contains(&level) {
        Ok(())
    } else {
        Err(Error::invalid("the zstd level is 1 to 22"))
    }
}

/// Appends the compressed `payload` to `out`.
fn compress(payload: &[u8], level: i32, out: &mut Vec<u8>) -> Result<(), Error> {
    append_frame(payload, out, |context, end| {
        context.compress(end, payload, level)
    })
}

/// Likewise, with the parameters of [`Compressor::Smart`].
fn compress_quickly(payload: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    append_frame(payload, out, |context, end| context.compress2(end, payload))
}

type End<'a> = Cursor<&'a mut Vec<u8>>;

fn append_frame(
    payload: &[u8],
    out: &mut Vec<u8>,
    compress: impl FnOnce(&mut CCtx<'static>, &mut End<'_>) -> SafeResult,
) -> Result<(), Error> {
    out.reserve(compress_bound(payload.len()));
    let mut end = Cursor::new(out);
    end.set_position(end.get_ref().len() as u64);
    let written = COMPRESS.with(|slot| {
        let mut slot = slot.borrow_mut();
        if slot.is_none() {
            *slot = Some(context()?);
        }
        let context = slot.as_mut().ok_or(NO_MEMORY)?;
        compress(context, &mut end).map_err(failed)
    })?;
    debug_assert!(written > 0);
    Ok(())
}

/// A context whose own parameters are those of [`Compressor::Smart`]; a call that names a level
/// neither heeds nor changes them.
fn context() -> Result<CCtx<'static>, Error> {
    let mut context = CCtx::try_create().ok_or(NO_MEMORY)?;
    for parameter in smart::PARAMETERS {
        context.set_parameter(parameter).map_err(failed)?;
    }
    Ok(context)
}

fn failed(code: ErrorCode) -> Error {
    Error::Io {
        reason: zstd::zstd_safe::get_error_name(code).into(),
    }
}

/// Replaces `out` by the payload in `compressed`, which is exactly `length` bytes long. The caller
/// has checked `length` against its limit; memory follows what the frame can really hold.
fn decompress(compressed: &[u8], length: u64, out: &mut Vec<u8>) -> Result<(), Error> {
    let most = frame::max_content(compressed)
        .ok_or_else(|| Error::malformed("the compressed payload is not one whole zstd frame"))?;
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

#[cold]
fn wrong_length() -> Error {
    Error::malformed("the payload does not decompress to LENGTH bytes")
}

const NO_MEMORY: Error = Error::Io {
    reason: std::borrow::Cow::Borrowed("no memory for a zstd context"),
};
