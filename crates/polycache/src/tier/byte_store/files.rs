//! Values as files: in a store that has one for each, they are written and read piece by piece.

use super::record::{self, Parts};
use super::tier::StoreTier;
use super::ByteStore;
use crate::random::mark;
use crate::Error;
use polycache_entry::{Checksum, CompressorId, Header, Serializer, Verify, HEADER_LEN};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Bytes that are read at once: a header of any length is in them.
const PIECE: u64 = 256 * 1024;

/// A file that a store made, to be filled.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// Its descriptor, which is the caller's.
    pub descriptor: i32,
    /// Its name, where it cannot do without one: whoever gives it up removes that.
    pub name: Option<String>,
}

/// The value of a key, in a file.
#[derive(Debug)]
pub enum ValueFile {
    /// Its bytes lie in the file as they are.
    Plain {
        /// The file, which stays as it is when the key is changed.
        file: File,
        /// Where the bytes begin.
        offset: u64,
        /// How many they are.
        len: u64,
        /// What wrote them.
        serializer: Serializer,
    },
    /// It has to be read as a whole: it is compressed or encrypted, or a read prolongs it.
    Whole,
}

#[cold]
pub(super) fn no_files() -> Error {
    Error::invalid("the store has no files for its values")
}

impl StoreTier {
    /// Whether values can be written piece by piece.
    pub fn has_files(&self) -> bool {
        self.shared().kind.has_files
    }

    /// A file to write a key's value in.
    pub fn new_file(&self) -> Result<NewFile, Error> {
        self.still_open()?;
        let shared = self.shared();
        if shared.state.is_none() {
            self.guards().check_may_change()?;
        }
        let made = shared.store.new_file();
        made.map_err(|error| self.failed(error))
    }

    /// Most bytes of an entry of the key.
    pub fn max_entry(&self, key: &[u8]) -> u64 {
        let key = self.stored_key(key);
        let rest = (key.full.len() + record::TRAILER) as u64;
        self.max_record().saturating_sub(rest)
    }

    /// Stores what was written in a file, behind a place for `head`: `len` bytes. As `put`.
    pub fn put_file(&self, key: &[u8], file: &NewFile, head: &[u8], len: u64) -> Result<(), Error> {
        let key = &self.stored_key(key);
        let end = len.saturating_add(head.len() as u64);
        let mut tail = Vec::new();
        record::end(&key.full, key.is_hashed(), mark(), &mut tail);
        self.put_by(key, || {
            self.check_size(key, end)?;
            let whole = usize::try_from(end).unwrap_or(usize::MAX);
            let shared = self.shared();
            self.write_by(key, whole.saturating_add(tail.len()), || {
                shared.put_file(key.bytes(), file, head, &tail, end)
            })
        })
    }

    /// The file of the key's value, of at most `limit` bytes. It was read once, so its bytes are those that were stored.
    pub fn open_file(&self, key: &[u8], limit: u64) -> Result<Option<ValueFile>, Error> {
        let opened = self.opened(key, limit);
        // One that is to be read as a whole is counted then.
        if let Ok(None | Some(ValueFile::Plain { .. })) = opened {
            self.guards().count_joined(matches!(opened, Ok(Some(_))));
        }
        opened
    }

    fn opened(&self, key: &[u8], limit: u64) -> Result<Option<ValueFile>, Error> {
        self.still_open()?;
        let key = &self.stored_key(key);
        let found = self.shared().store.open_file(key.bytes());
        let Some(mut file) = found.map_err(|error| self.failed(error))? else {
            return Ok(None);
        };
        let end = end_of(&mut file)?;
        let Some(parts) = Parts::of(&end) else {
            return Err(record::damaged());
        };
        if let (true, Some(other)) = (key.is_hashed(), parts.key) {
            // As for any read of it.
            if other != &key.full[..] {
                return Ok(None);
            }
        }
        parts.check_bond(&key.full)?;
        let len = length_of(&file)? - end.len() as u64;
        let mut first = Vec::new();
        file.rewind()
            .and_then(|()| (&file).take(len.min(PIECE)).read_to_end(&mut first))
            .map_err(unreadable)?;
        check_kind(&first)?;
        if is_whole_only(&first) {
            return Ok(Some(ValueFile::Whole));
        }
        check_whole(&file, &first, len)?;
        let header = Header::parse(&first, Verify::Trusted)?;
        if !self.is_served(&first) {
            return Ok(None);
        }
        let payload = len - header.header_len as u64;
        if payload > limit {
            return Err(Error::ValueTooLarge {
                size: payload,
                limit,
            });
        }
        self.note_read(key);
        Ok(Some(ValueFile::Plain {
            offset: header.header_len as u64,
            len: payload,
            serializer: header.serializer,
            file,
        }))
    }
}

/// Refuses bytes of which the beginning tells that no checksum would help, as every reader of an entry does.
fn check_kind(first: &[u8]) -> Result<(), Error> {
    let fixed = &first[..first.len().min(HEADER_LEN)];
    match Header::parse(fixed, Verify::Checksum) {
        // Of so few bytes it says nothing.
        Ok(_) | Err(polycache_entry::Error::ChecksumMismatch) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether an entry that begins so is read as a whole, whatever else it holds.
fn is_whole_only(first: &[u8]) -> bool {
    Header::parse(first, Verify::Trusted).is_ok_and(|header| {
        header.compressor != CompressorId::None
            || header.encryption_key.is_some()
            || header.idle.is_some()
    })
}

#[cold]
fn unreadable(error: std::io::Error) -> Error {
    Error::Io(format!("cannot read the file of a value: {error}"))
}

fn length_of(file: &File) -> Result<u64, Error> {
    Ok(file.metadata().map_err(unreadable)?.len())
}

/// What follows the entry in a record's file.
fn end_of(file: &mut File) -> Result<Vec<u8>, Error> {
    let size = length_of(file)?;
    let mut last = [0; record::TRAILER];
    let Some(at) = size.checked_sub(last.len() as u64) else {
        return Err(record::damaged());
    };
    file.seek(SeekFrom::Start(at))
        .and_then(|_| file.read_exact(&mut last))
        .map_err(unreadable)?;
    let Some(at) = size.checked_sub(record::end_len(&last)) else {
        return Err(record::damaged());
    };
    // Of a record that is whole it is little more than a key.
    if size - at > PIECE {
        return Err(record::damaged());
    }
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(at))
        .and_then(|_| file.read_to_end(&mut end))
        .map_err(unreadable)?;
    Ok(end)
}

/// Reads an entry to its end, behind its `first` bytes.
fn check_whole(mut file: &File, first: &[u8], len: u64) -> Result<(), Error> {
    let Some((head, rest)) = first.split_at_checked(HEADER_LEN) else {
        return Err(record::damaged());
    };
    let mut sum = Checksum::default();
    sum.update(rest);
    let mut left = len - first.len() as u64;
    let mut piece = vec![0; PIECE.min(left) as usize];
    while left > 0 {
        let most = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = file.read(&mut piece[..most]).map_err(unreadable)?;
        if read == 0 {
            return Err(record::damaged());
        }
        sum.update(&piece[..read]);
        left -= read as u64;
    }
    if !sum.seals(head)? {
        return Err(record::damaged());
    }
    Ok(())
}
