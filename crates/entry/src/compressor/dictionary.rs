//! Dictionaries (RFC 8878, section 5): the common parts of values, so that small values compress too.

use super::Compressor;
use crate::Error;
use std::fmt;
use std::sync::Arc;
use zstd::zstd_safe::{CDict, DDict};

/// First bytes of a trained dictionary; its id follows.
const MAGIC: [u8; 4] = 0xEC30_A437_u32.to_le_bytes();

/// Dictionaries for writing and reading frames: the first one compresses, all of them decompress, so
/// that a new one can take over. Prepared once; cheap to clone, for all threads.
#[derive(Clone)]
pub struct Dictionaries(Arc<Prepared>);

struct Prepared {
    compress: CDict<'static>,
    decompress: Vec<(u32, DDict<'static>)>,
}

impl Dictionaries {
    /// Most bytes of one dictionary: it takes several times as much memory in every process.
    pub const MAX_LEN: usize = 1024 * 1024;

    /// Takes trained dictionaries, as [`train`](crate::train) and `zstd --train` make them, for the
    /// compressor that will use the first.
    ///
    /// [`Error::InvalidArgument`] for no dictionary, two with the same id, bytes that are not a trained
    /// dictionary or more than [`Dictionaries::MAX_LEN`], a zstd level out of range, and for
    /// [`Compressor::None`], which does not use dictionaries.
    pub fn new<D: AsRef<[u8]>>(
        dictionaries: impl IntoIterator<Item = D>,
        compressor: Compressor,
    ) -> Result<Self, Error> {
        let level = match compressor {
            Compressor::None => {
                return Err(Error::invalid(
                    "dictionaries need a compressor: zstd or smart",
                ))
            }
            Compressor::Zstd { level } => {
                super::check_level(level)?;
                level
            }
            Compressor::Smart => super::smart::LEVEL,
        };
        let mut compress = None;
        let mut decompress: Vec<(u32, DDict<'static>)> = Vec::new();
        for dictionary in dictionaries {
            let bytes = dictionary.as_ref();
            let id = id_of(bytes)?;
            if decompress.iter().any(|(other, _)| *other == id) {
                return Err(Error::invalid(format!("two dictionaries have the id {id}")));
            }
            decompress.push((id, DDict::try_create(bytes).ok_or_else(not_one)?));
            // Also for one that only reads: a process that rotates dictionaries must not fail only when
            // it writes.
            let prepared = CDict::try_create(bytes, level).ok_or_else(not_one)?;
            compress.get_or_insert(prepared);
        }
        let compress = compress.ok_or_else(|| Error::invalid("dictionaries takes one or more"))?;
        Ok(Dictionaries(Arc::new(Prepared {
            compress,
            decompress,
        })))
    }

    pub(super) fn compressing(&self) -> &CDict<'static> {
        &self.0.compress
    }

    pub(super) fn decompressing(&self, id: u32) -> Option<&DDict<'static>> {
        let mut all = self.0.decompress.iter();
        all.find(|(its, _)| *its == id)
            .map(|(_, prepared)| prepared)
    }

    fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.decompress.iter().map(|(id, _)| *id)
    }
}

impl fmt::Debug for Dictionaries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<u32> = self.ids().collect();
        f.debug_struct("Dictionaries").field("ids", &ids).finish()
    }
}

/// Whether they are the same dictionaries, prepared together.
impl PartialEq for Dictionaries {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Dictionaries {}

/// The id in a trained dictionary's header.
fn id_of(dictionary: &[u8]) -> Result<u32, Error> {
    if dictionary.len() > Dictionaries::MAX_LEN {
        return Err(Error::invalid(format!(
            "a dictionary is at most {} bytes, one has {}",
            Dictionaries::MAX_LEN,
            dictionary.len()
        )));
    }
    let id = dictionary
        .strip_prefix(&MAGIC)
        .and_then(<[u8]>::first_chunk);
    match id.copied().map(u32::from_le_bytes) {
        None | Some(0) => Err(not_one()),
        Some(id) => Ok(id),
    }
}

#[cold]
fn not_one() -> Error {
    Error::invalid(
        "that is not a trained zstd dictionary: make one with polycache train-dictionary or zstd --train",
    )
}

/// Trains a dictionary of at most `max_size` bytes from samples of what will be compressed: payloads, or
/// values as JSON if that is the serializer. Its id follows from its content.
///
/// For a good one give at least a hundred samples, a hundred times as many bytes as the dictionary; 16
/// KiB (16,384) suit small values. The method is zstd's (`ZDICT_trainFromBuffer`).
///
/// ```
/// use polycache_entry::train;
/// let user = |id: u32| format!(r#"{{"id":{id},"name":"user {id}","roles":["reader"],"age":{}}}"#, id % 90);
/// let samples: Vec<String> = (0..1000).map(user).collect();
/// let dictionary = train(&samples, 4096)?;
/// assert!(dictionary.len() <= 4096);
/// # Ok::<(), polycache_entry::Error>(())
/// ```
///
/// [`Error::InvalidArgument`] for too few samples, and for a `max_size` outside 256 bytes to
/// [`Dictionaries::MAX_LEN`].
pub fn train<S: AsRef<[u8]>>(samples: &[S], max_size: usize) -> Result<Vec<u8>, Error> {
    const LEAST: usize = 256;
    if !(LEAST..=Dictionaries::MAX_LEN).contains(&max_size) {
        return Err(Error::invalid(format!(
            "a dictionary is {LEAST} to {} bytes, not {max_size}",
            Dictionaries::MAX_LEN
        )));
    }
    let few = || {
        Error::invalid(format!(
            "{} samples are too few, or too small, for a dictionary: give a hundred or more",
            samples.len()
        ))
    };
    // zstd's trainer uses 32-bit sizes.
    let total: usize = samples.iter().map(|sample| sample.as_ref().len()).sum();
    if total > MOST_SAMPLED {
        return Err(Error::invalid(format!(
            "the samples are {total} bytes, at most {MOST_SAMPLED} are of use"
        )));
    }
    if total < LEAST_SAMPLED {
        return Err(few()); // zstd makes a dictionary without content of them.
    }
    let dictionary = zstd::dict::from_samples(samples, max_size).map_err(|_| few())?;
    match id_of(&dictionary) {
        Ok(_) => Ok(dictionary),
        Err(_) => Err(few()),
    }
}

/// Bytes of all samples together: 1 KiB to 1 GiB.
const LEAST_SAMPLED: usize = 1 << 10;
const MOST_SAMPLED: usize = 1 << 30;
