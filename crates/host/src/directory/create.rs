//! Creates a cache where there is none, or none that can be trusted.

use super::place::{is_block_file, Place};
use super::{any_participant, failed, mark, Directory, LockFile, Opening};
use crate::error::Error;
use crate::layout::{header, replaced, Geometry, DEFAULT_LIMIT, MAGIC, VERSION};
use crate::mapped::MappedMemory;
use crate::options::Mode;
use crate::shared_memory::SharedMemory;
use std::fs::File;
use std::io::ErrorKind;

enum OldIndex {
    None,
    /// An index without a whole header.
    TooShort,
    Header(MappedMemory),
}

impl Opening<'_> {
    /// Creates the directory's files. The index appears last, by a rename, so that a process killed
    /// before it leaves nothing that looks complete. The caller holds the directory's lock; a lock file other
    /// than the caller's, with its lock, takes the name over when processes use what is left of the old cache
    /// (`in_pieces`): they are told, and keep the old file.
    pub(super) fn create(
        &self,
        place: &Place,
        locks: &File,
        in_pieces: bool,
    ) -> Result<(Directory, Option<LockFile>), Error> {
        let geometry = Geometry::new(self.limit.unwrap_or(DEFAULT_LIMIT))?;
        let old = match self.old_index(place)? {
            OldIndex::None => {
                place.check_only_ours()?;
                None
            }
            OldIndex::TooShort => None,
            OldIndex::Header(header) => Some(header),
        };
        let mark = |as_what| old.as_ref().is_some_and(|old| mark(old, as_what));
        // Before the look: who joins without the directory's lock is seen, or sees this. What was replaced stays so,
        // though this process may be killed before it says so again.
        mark(replaced::PERHAPS);
        super::full_fence();
        let used = any_participant(locks);
        if used && !in_pieces {
            mark(replaced::NO);
            return Err(Error::Io {
                action: format!(
                    "{} is damaged, or of another boot, while processes use it; stop them and try again",
                    place.path.display()
                ),
                source: ErrorKind::InvalidData.into(),
            });
        }
        if let Some(old) = &old {
            old.store(header::REPLACED, replaced::YES);
            old.fetch_add(header::EPOCH, 1);
        }
        let fresh = if used {
            Some(self.fresh_locks(place)?)
        } else {
            None
        };
        let locks = fresh.as_ref().map_or(locks, |fresh| &fresh.0);
        let made = self
            .remove_files(place, true)
            .and_then(|()| place.make_blocks())
            .and_then(|()| self.fill_new(place, locks, geometry));
        if made.is_err() {
            // The first failure is the one worth reporting.
            let _ = self.remove_files(place, false);
        }
        Ok((made?, fresh))
    }

    /// The index that is about to be replaced. The caller knows that it is one, or empty.
    fn old_index(&self, place: &Place) -> Result<OldIndex, Error> {
        let Some((file, status)) = place.file("index", Mode::Existing)? else {
            return Ok(OldIndex::None);
        };
        if status.len < header::LEN {
            return Ok(match status.len {
                0 => OldIndex::None,
                _ => OldIndex::TooShort,
            });
        }
        let path = place.path.join("index");
        let mapping = self.io.map(&file, header::LEN);
        let mapping = mapping.map_err(failed("map", &path))?;
        Ok(OldIndex::Header(MappedMemory::new(mapping, Vec::new())))
    }

    /// A new file of locks, with the directory's lock held, in the place of the old one.
    fn fresh_locks(&self, place: &Place) -> Result<LockFile, Error> {
        let failed = || failed("make the cache in", &place.path);
        let (new, name) = ("participants.new", "participants");
        self.io.remove(&place.folder, new).map_err(failed())?;
        let locks = LockFile::open(|| place.make_file(new)).map_err(failed())?;
        // No other process knows the file.
        self.io
            .lock(&locks.0, super::DIRECTORY_LOCK)
            .map_err(failed())?;
        self.io.rename(&place.folder, new, name).map_err(failed())?;
        Ok(locks)
    }

    /// Removes the files that a cache has, and nothing else.
    fn remove_files(&self, place: &Place, with_index: bool) -> Result<(), Error> {
        let failed = || failed("make the cache in", &place.path);
        let index = if with_index { "index" } else { "index.new" };
        for name in [index, "index.new"] {
            self.io.remove(&place.folder, name).map_err(failed())?;
        }
        let Some(blocks) = place.blocks()? else {
            return Ok(());
        };
        for name in self.io.names(&blocks).map_err(failed())? {
            if let Some(name) = name.to_str().filter(|name| is_block_file(name)) {
                self.io.remove(&blocks, name).map_err(failed())?;
            }
        }
        Ok(())
    }

    fn fill_new(
        &self,
        place: &Place,
        locks: &File,
        geometry: Geometry,
    ) -> Result<Directory, Error> {
        let failed = || failed("make the cache in", &place.path);
        let mut seed = [0; 8];
        getrandom::fill(&mut seed)
            .map_err(|error| failed()(std::io::Error::other(error.to_string())))?;
        let seed = u64::from_le_bytes(seed);
        let Some((index, _)) = place.file("index.new", Mode::Create)? else {
            return Err(failed()(ErrorKind::NotFound.into()));
        };
        for (at, len) in geometry.level_ranges(0) {
            self.io.allocate(&index, at, len).map_err(failed())?;
        }
        let blocks = self.block_windows(place, &geometry, true)?;
        let (block_files, windows) = blocks.map_err(|_| failed()(ErrorKind::NotFound.into()))?;
        let mapping = self.io.map(&index, geometry.index_len).map_err(failed())?;
        let memory = MappedMemory::new(mapping, windows);
        memory.store(header::VERSION, VERSION);
        memory.store(header::LIMIT, geometry.limit);
        memory.store(header::SEED, seed);
        memory.store(header::CREATED, self.now);
        memory.store(header::KEPT, u64::from(!self.empty_at_boot));
        let identities = self.identities(place, locks, &index, &block_files)?;
        super::store_identity(&memory, &identities);
        self.store_boot(&memory, self.boot_words()?);
        memory.store(header::MAGIC, MAGIC);
        // After a power loss, too, a file that is called `index` begins with the magic. One that does not is
        // another program's, and is left alone.
        self.io.sync(memory.index()).map_err(failed())?;
        self.io
            .rename(&place.folder, "index.new", "index")
            .map_err(failed())?;
        Ok(Directory {
            path: place.path.clone(),
            geometry,
            seed,
            memory,
            index_file: index,
            block_files,
            identities,
            read_only: None,
            copied_at: None,
        })
    }
}
