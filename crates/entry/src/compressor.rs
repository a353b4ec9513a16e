//! Compressors: none, zstd (RFC 8878), and zstd where it is worth it.

mod dictionary;
mod frame;
mod smart;

pub use dictionary::{train, Dictionaries};

use crate::{Error, Limits};
use std::cell::RefCell;
use std::io::Cursor;
use std::thread::LocalKey;
use zstd::zstd_safe::{compress_bound, CCtx, CDict, CParameter, DCtx, ErrorCode, SafeResult};

/// How the payload of a new entry is compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compressor {
    /// The payload stays as it is.
    #[default]
    None,
    /// One zstd frame.
    Zstd {
        /// 1 (fast) to 22 (small); the format's default is 3. Not recorded in the entry.
        level: i32,
    },
    /// Chooses for each value: one zstd frame, compressed fast, when that saves an eighth of the
    /// payload, else the payload as it is. The entry records the choice.
    ///
    /// Payloads below [`Compressor::SMART_FROM`] bytes, and those whose bytes look random (already
    /// compressed or encrypted), are not tried. It saves about as much as level 1.
    Smart,
}

impl Compressor {
    /// The level of `zstd` when the caller gives none.
    pub const DEFAULT_ZSTD_LEVEL: i32 = 3;

    /// Bytes of the smallest payload that [`Compressor::Smart`] tries. Smaller ones repeat little: JSON
    /// of half this size saves a fifth, and takes as long. A dictionary brings what they repeat; with
    /// one it tries payloads of [`Compressor::SMART_FROM_WITH_DICTIONARY`] bytes.
    pub const SMART_FROM: usize = 512;

    /// A frame adds some 20 bytes to what it compresses, and its entry 8 more.
    pub const SMART_FROM_WITH_DICTIONARY: usize = 64;

    /// Appends the `payload`, compressed or as it is, and says which. After an error `out` is unchanged.
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
        self.compress_with(None, payload, out)
    }

    /// As [`Compressor::compress`]; dictionaries have a level of their own, and the first one
    /// compresses.
    pub(crate) fn compress_with(
        self,
        dictionaries: Option<&Dictionaries>,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<CompressorId, Error> {
        let start = out.len();
        let frame = match self {
            Compressor::None => false,
            Compressor::Zstd { level } => {
                check_level(level)?;
                match dictionaries {
                    None => compress(payload, level, out)?,
                    Some(some) => compress_by(some.compressing(), payload, out)?,
                }
                true
            }
            Compressor::Smart => {
                smart::is_worth_trying(payload, dictionaries.is_some()) && {
                    match dictionaries {
                        None => compress_quickly(payload, out)?,
                        Some(some) => compress_by(some.compressing(), payload, out)?,
                    }
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

/// How the payload of an entry was compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CompressorId {
    /// Not at all.
    None = 0,
    /// One zstd frame.
    Zstd = 1,
}

impl CompressorId {
    /// Replaces `out` by the payload that `stored` holds, which was `length` bytes long.
    ///
    /// # Errors
    /// [`Error::ValueTooLarge`] when `length` is above the limit, before anything is allocated;
    /// [`Error::MalformedEntry`] when `stored` is not that payload; [`Error::UnknownDictionary`] when
    /// it needs a dictionary that the limits don't name.
    pub fn decompress(
        self,
        stored: &[u8],
        length: u64,
        limits: &Limits,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        limits.check(length)?;
        match self {
            CompressorId::Zstd => decompress(stored, length, limits.dictionaries.as_ref(), out),
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

type Context = RefCell<Option<CCtx<'static>>>;

thread_local! {
    // A context is some 100 KiB (several MiB at high levels); creating one costs more than compressing a
    // small payload.
    static COMPRESS: Context = const { RefCell::new(None) };
    // A separate one, because it writes checksums; created by a thread's first dictionary.
    static COMPRESS_BY_DICTIONARY: Context = const { RefCell::new(None) };
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
    append_frame(&COMPRESS, payload, out, |context, end| {
        context.compress(end, payload, level)
    })
}

/// The same, with the parameters of [`Compressor::Smart`].
fn compress_quickly(payload: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    append_frame(&COMPRESS, payload, out, |context, end| {
        context.compress2(end, payload)
    })
}

/// The same, by a dictionary, which has the level's parameters. The frame has a checksum of its content,
/// because another dictionary of the same id would give other bytes and no other error.
fn compress_by(
    dictionary: &CDict<'static>,
    payload: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    append_frame(&COMPRESS_BY_DICTIONARY, payload, out, |context, end| {
        context.set_parameter(CParameter::ChecksumFlag(true))?;
        // SAFETY: only the context uses the reference, and forgets the dictionary before this function
        // returns: by `disable_dictionary`, or because `append_frame` drops the context after an error.
        // Nothing in between can panic.
        let lasting: &'static CDict<'static> = unsafe { &*std::ptr::from_ref(dictionary) };
        context.ref_cdict(lasting)?;
        let written = context.compress2(end, payload)?;
        context.disable_dictionary()?;
        Ok(written)
    })
}

type End<'a> = Cursor<&'a mut Vec<u8>>;

fn append_frame(
    context: &'static LocalKey<Context>,
    payload: &[u8],
    out: &mut Vec<u8>,
    compress: impl FnOnce(&mut CCtx<'static>, &mut End<'_>) -> SafeResult,
) -> Result<(), Error> {
    out.reserve(compress_bound(payload.len()));
    let mut end = Cursor::new(out);
    end.set_position(end.get_ref().len() as u64);
    let written = context.with(|slot| {
        let mut slot = slot.borrow_mut();
        if slot.is_none() {
            *slot = Some(new_context()?);
        }
        let context = slot.as_mut().ok_or(NO_MEMORY)?;
        let written = compress(context, &mut end).map_err(failed);
        if written.is_err() {
            *slot = None; // A context amid a frame refuses what comes next.
        }
        written
    })?;
    debug_assert!(written > 0);
    Ok(())
}

/// A context whose own parameters are those of [`Compressor::Smart`]; a call with an explicit level
/// neither uses nor changes them.
fn new_context() -> Result<CCtx<'static>, Error> {
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

/// Replaces `out` by the payload in `compressed`, which is exactly `length` bytes long. The caller has
/// checked `length` against its limit; the memory used follows what the frame can really hold.
fn decompress(
    compressed: &[u8],
    length: u64,
    dictionaries: Option<&Dictionaries>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let frame = frame::outline(compressed)
        .ok_or_else(|| Error::malformed("the compressed payload is not one whole zstd frame"))?;
    if length > frame.max_content {
        return Err(wrong_length());
    }
    let dictionary = match frame.dictionary {
        None => None,
        Some(id) => {
            let known = dictionaries.and_then(|all| all.decompressing(id));
            Some(known.ok_or(Error::UnknownDictionary { id })?)
        }
    };
    let length = usize::try_from(length).map_err(|_| wrong_length())?;
    out.clear();
    out.reserve_exact(length);
    let written = DECOMPRESS.with(|slot| {
        let mut slot = slot.borrow_mut();
        if slot.is_none() {
            *slot = DCtx::try_create();
        }
        let context = slot.as_mut().ok_or(NO_MEMORY)?;
        match dictionary {
            None => context.decompress(out, compressed),
            Some(dictionary) => context.decompress_using_ddict(out, compressed, dictionary),
        }
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
