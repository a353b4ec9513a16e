//! The tier over a byte store: entries that another library keeps, in a folder of the cache's directory.
//!
//! A byte store knows keys and bytes only. What it lacks across processes stands beside it: leases, locks and counters
//! in a small directory of the host tier (`guards`), locks of keys in a file of locks, and sizes in a file of words.
//! `spec/stores.md` says what is where.

mod calls;
mod eviction;
mod files;
mod key_locks;
mod record;
mod scans;
mod shared;
mod state;
mod stored_key;
mod tier;
mod word_locks;

pub use files::{NewFile, ValueFile};
pub(crate) use tier::{StoreOptions, StoreTier};

use crate::Error;
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// What keeps bytes under keys, in a folder of its own. Its methods are called from many threads at once; those that
/// change one key are called one after the other.
///
/// An error that is `NoSpace` says that there may be room after a deletion.
pub trait ByteStore: Send + Sync {
    /// Appends the key's bytes to `out`; false when it has none.
    ///
    /// # Errors
    /// What the library gives.
    fn get(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool, Error>;

    /// Stores bytes under a key, in the place of what it had. Says by how many bytes the store grew, if it counts.
    ///
    /// # Errors
    /// `NoSpace`, and what the library gives.
    fn put(&self, key: &[u8], value: &[u8]) -> Result<Option<i64>, Error>;

    /// Deletes the key, if it is there. Says by how many bytes the store grew, a number below 0, if it counts.
    ///
    /// # Errors
    /// What the library gives.
    fn delete(&self, key: &[u8]) -> Result<Option<i64>, Error>;

    /// Deletes the key, if it is there, and appends the beginning of what it had: `most` bytes, or all if those were
    /// fewer. For a kind that [pops](StoreKind::pops).
    ///
    /// # Errors
    /// What the library gives.
    fn pop(&self, key: &[u8], most: usize, out: &mut Vec<u8>) -> Result<Popped, Error> {
        let _ = (key, most, out);
        Err(Error::invalid("this store does not pop"))
    }

    /// Appends some keys that begin with `prefix`, and gives the cursor to go on from; `None` at the end. A key that
    /// stays throughout comes exactly once.
    ///
    /// # Errors
    /// What the library gives.
    fn scan(
        &self,
        prefix: &[u8],
        cursor: Option<&[u8]>,
        out: &mut Vec<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, Error>;

    /// A new file, for an entry that is written piece by piece and then given to [`ByteStore::put_file`]. Nobody reads it
    /// before, and it does not outlast the process. For a kind that [has files](StoreKind::has_files), as all of these.
    ///
    /// # Errors
    /// `NoSpace`, and what the library gives.
    fn new_file(&self) -> Result<NewFile, Error> {
        Err(files::no_files())
    }

    /// Stores a file's bytes under a key, with `head` at their beginning, which was left free, and `tail` at the place
    /// `end`, which is theirs. It may be tried again. Says by how many bytes the store grew, if it counts.
    ///
    /// # Errors
    /// `NoSpace`, and what the library gives.
    fn put_file(
        &self,
        key: &[u8],
        file: &NewFile,
        head: &[u8],
        tail: &[u8],
        end: u64,
    ) -> Result<Option<i64>, Error> {
        let _ = (key, file, head, tail, end);
        Err(files::no_files())
    }

    /// The file of the key's bytes, which stays as it is when the key is changed; `None` when it has none.
    ///
    /// # Errors
    /// What the library gives.
    fn open_file(&self, key: &[u8]) -> Result<Option<File>, Error> {
        let _ = key;
        Err(files::no_files())
    }

    /// Bytes of the disk that it takes.
    ///
    /// # Errors
    /// What the library gives.
    fn size(&self) -> Result<u64, Error>;

    /// Gives back the space of what was deleted; for a kind that does it only when it is asked to.
    ///
    /// # Errors
    /// What the library gives.
    fn reclaim(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Writes everything to the disk, and waits for it.
    ///
    /// # Errors
    /// What the library gives.
    fn flush(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Lets go of it. Later calls give errors.
    fn close(&self) {}

    /// Runs what waits for another thread or process, without a lock that those want.
    fn aside(&self, work: &mut dyn FnMut()) {
        work();
    }
}

/// What [`ByteStore::pop`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Popped {
    /// Whether the key was there.
    pub was_there: bool,
    /// By how many bytes the store grew, a number below 0, if it counts.
    pub grown: Option<i64>,
}

/// What becomes of a write that returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It may be lost when a process is killed.
    None,
    /// It may be lost when the machine stops.
    Kill,
    /// It is on the disk.
    Synced,
}

/// How the last process that had the store open ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It closed the store; or there was none.
    Closed,
    /// It was killed, and what it had told the system stands.
    Killed,
    /// The machine stopped, and what was not on the disk may be there in part.
    PowerLost,
}

/// How a byte store is to be opened.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The store's own folder; it exists.
    pub folder: &'a Path,
    /// Bytes that it may take.
    pub limit: u64,
    /// How it was left.
    pub ended: Ended,
    /// Whether no other process has it open now, nor opens it meanwhile.
    pub alone: bool,
    /// Whether nothing may be written.
    pub read_only: bool,
}

/// What opens a store.
pub type Open = dyn Fn(Opening<'_>) -> Result<Box<dyn ByteStore>, Error> + Send + Sync;

/// A kind of store, what it can do, and how it is opened.
#[derive(Clone)]
pub struct StoreKind {
    /// Its name, a word: a directory is opened by stores of the same name only.
    pub name: String,
    /// Whether several processes may have it open at once.
    pub is_shared: bool,
    /// Whether it counts its bytes as they change. Otherwise it is asked for its size, which should be quick then.
    pub counts: bool,
    /// Whether what was deleted takes space until [`ByteStore::reclaim`].
    pub reclaims: bool,
    /// Whether it deletes a key and tells what it had at once ([`ByteStore::pop`]), in less time than a get and a delete
    /// take.
    pub pops: bool,
    /// Whether each value is a file, which can be written and read piece by piece.
    pub has_files: bool,
    /// What it does with what was acknowledged.
    pub durability: Durability,
    /// Longer keys are replaced by their beginning and a hash; 64 at least.
    pub max_key: usize,
    /// Most bytes of a value.
    pub max_value: u64,
    /// Opens it, once a process.
    pub open: Arc<Open>,
}

impl fmt::Debug for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreKind")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
