//! Finds out what a directory holds, before anything is changed.

use super::place::Place;
use super::{any_participant, failed, full_fence, identity, mark, store_identity};
use super::{Directory, Identity, Opening};
use crate::block::descriptor;
use crate::error::Error;
use crate::layout::{header, replaced, Geometry, MAGIC, VERSION, WINDOW};
use crate::mapped::MappedMemory;
use crate::options::Mode;
use crate::platform;
use crate::shared_memory::SharedMemory;
use memmap2::MmapRaw;
use std::fs::File;

/// What was found where a cache should be.
pub(super) enum DirectoryState {
    /// A cache that may be used.
    Cache(Box<Directory>),
    /// No cache.
    Nothing,
    /// A cache that lacks a file, and what it lacks. Processes that use the rest cannot be joined.
    InPieces(String),
    /// Something that is not an undamaged cache, and why.
    Damaged(String),
    /// A file that has the index's name and is not one.
    NotOurs(String),
    /// A cache that was written before this boot, and that the caller wants emptied.
    EarlierBoot,
    /// Only the holder of the directory's lock can say: it may be none of the above for long.
    Unclear,
}

/// Whether the caller holds the directory's lock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Locked {
    No,
    Yes,
}

impl Opening<'_> {
    /// What the directory holds. Without the directory's lock the answer is `Cache` or `Unclear`.
    pub(super) fn existing(
        &self,
        place: &Place,
        locks: &File,
        locked: Locked,
    ) -> Result<DirectoryState, Error> {
        let found = self.look(place, locks, locked)?;
        Ok(match found {
            DirectoryState::Cache(_) => found,
            _ if locked == Locked::No => DirectoryState::Unclear,
            _ => found,
        })
    }

    fn look(&self, place: &Place, locks: &File, locked: Locked) -> Result<DirectoryState, Error> {
        let index_path = place.path.join("index");
        let Some((index, status)) = place.file("index", self.existing_mode())? else {
            return Ok(DirectoryState::Nothing);
        };
        let len = status.len;
        if len == 0 {
            return Ok(DirectoryState::Damaged("its index is empty".into()));
        }
        let memory = self.map_index(&index, len.max(8), Vec::new(), &index_path)?;
        if memory.load(header::MAGIC) != MAGIC {
            return Ok(DirectoryState::NotOurs("its index is none".into()));
        }
        if len < header::LEN {
            return Ok(DirectoryState::Damaged(format!(
                "its index has {len} bytes"
            )));
        }
        let version = memory.load(header::VERSION);
        if version > VERSION {
            return Err(Error::UnsupportedVersion(version));
        }
        let limit = memory.load(header::LIMIT);
        let Ok(geometry) = Geometry::new(limit) else {
            return Ok(DirectoryState::Damaged(format!(
                "its index says a limit of {limit} bytes, which no cache has"
            )));
        };
        // Levels whose pages are there. A process that was killed while it opened one leaves the file longer
        // than the open levels need.
        let levels = geometry.levels_within(len);
        if version != VERSION || levels == 0 || len > geometry.index_len {
            return Ok(DirectoryState::Damaged(format!(
                "its index has {len} bytes, and should have {} to {}",
                geometry.index_end(1),
                geometry.index_len
            )));
        }
        if memory.load(header::REPLACED) == replaced::YES {
            return Ok(DirectoryState::InPieces("it is being replaced".into()));
        }
        let copied = [
            memory.load(header::INDEX_INODE),
            memory.load(header::DEVICE),
        ] != [status.inode, status.device];
        // The file of locks was removed (by a cleaner of /tmp, say). Processes that hold the old one
        // cannot be detected, so the files are left to them.
        let lock_status = self
            .io
            .status(locks)
            .map_err(failed("look at", &place.path))?;
        if !copied && memory.load(header::LOCK_INODE) != lock_status.inode {
            return Ok(DirectoryState::InPieces(
                "its file participants is another one than it was made with".into(),
            ));
        }
        let boot = self.boot_words()?;
        let same_boot = boot
            == [
                memory.load(header::BOOT_ID),
                memory.load(header::BOOT_ID + 8),
            ];
        let fresh = same_boot && !copied;
        if locked == Locked::No && (!fresh || memory.load(header::REPLACED) != replaced::NO) {
            return Ok(DirectoryState::Unclear);
        }
        // A copy of a cache may have been made while it was written to, and its blocks may have no space:
        // it is recovered as after a reboot. Containers may have boot ids of their own; recovery must never run
        // beside a writer. A reader needs no recovery while there are writers, because they keep what it sees whole.
        let mark =
            |as_what| locked == Locked::No || self.mode == Mode::Read || mark(&memory, as_what);
        if !fresh {
            // Before the look: who joins without the directory's lock is seen, or sees this.
            if !mark(replaced::PERHAPS) {
                return Ok(DirectoryState::InPieces("it is being replaced".into()));
            }
            full_fence();
        }
        let lived_in = !fresh && any_participant(locks);
        let recover = !fresh && !lived_in;
        let answer = if lived_in && self.mode != Mode::Read {
            Some(DirectoryState::Damaged(
                "it is of another boot, or a copy, and processes use it".into(),
            ))
        } else if recover && !same_boot && self.may_empty(&memory) {
            Some(DirectoryState::EarlierBoot)
        } else if recover {
            None
        } else {
            self.lacks_levels(&memory, &geometry, &index, &index_path)?
        };
        let blocks = match answer {
            Some(answer) => Err(answer),
            None => self
                .block_windows(place, &geometry, false)?
                .map_err(DirectoryState::InPieces),
        };
        let (block_files, windows) = match blocks {
            Ok(blocks) => blocks,
            Err(answer) => {
                mark(replaced::NO);
                return Ok(answer);
            }
        };
        // What a process left that was killed before it decided. Recovery takes it back at its end.
        if fresh {
            mark(replaced::NO);
        }
        let memory = if recover && self.mode == Mode::Read {
            // The recovery's stores stay in this process's private copy of the pages.
            let private = self.io.map_private(&index, geometry.index_len);
            MappedMemory::new(private.map_err(failed("map", &index_path))?, windows)
        } else {
            self.map_index(&index, geometry.index_len, windows, &index_path)?
        };
        let identities = self.identities(place, locks, &index, &block_files)?;
        let mut directory = Directory {
            path: place.path.clone(),
            geometry,
            seed: memory.load(header::SEED),
            memory,
            index_file: index,
            block_files,
            identities,
            read_only: (self.mode == Mode::Read).then(|| "it was opened for reading only".into()),
            copied_at: None,
        };
        if recover && self.mode == Mode::Read {
            crate::recover::recover(&directory, levels);
            let epoch = self.watch_epoch(&directory)?;
            if directory.geometry.levels_at(epoch) > levels {
                let why = format!("its index has {len} bytes, and more levels than that");
                return Ok(DirectoryState::Damaged(why));
            }
            directory.copied_at = Some(epoch);
            // The header's page shows the file by now, and a store into it would end the process.
            directory.memory.only_read();
        } else if recover {
            self.allocate_again(&directory, levels)?;
            crate::recover::recover(&directory, levels);
            store_identity(&directory.memory, &directory.identities);
            self.store_boot(&directory.memory, boot);
            if !mark(replaced::NO) {
                return Ok(DirectoryState::InPieces("it is being replaced".into()));
            }
        }
        Ok(DirectoryState::Cache(Box::new(directory)))
    }

    /// Whether a directory of an earlier boot is emptied: only when every process that ever opened it asked for that.
    fn may_empty(&self, memory: &MappedMemory) -> bool {
        self.mode == Mode::Create && self.empty_at_boot && memory.load(header::KEPT) == 0
    }

    /// How far the recovery of the index is, whoever does it; 0 when that cannot be seen.
    pub(super) fn progress(&self, place: &Place) -> u64 {
        let Ok(Some((index, status))) = place.file("index", Mode::Read) else {
            return 0;
        };
        if status.len < header::LEN {
            return 0;
        }
        let header = self.io.map_to_read(&index, header::LEN);
        header.map_or(0, |header| {
            MappedMemory::read_only(header, Vec::new()).load(header::RECOVERED)
        })
    }

    /// Whether the index begins as one does; `None` for an empty one, or none.
    pub(super) fn has_magic(&self, place: &Place) -> Result<Option<bool>, Error> {
        let Some((index, status)) = place.file("index", Mode::Read)? else {
            return Ok(None);
        };
        if status.len == 0 {
            return Ok(None);
        }
        let mapping = self.io.map_to_read(&index, 8);
        let mapping = mapping.map_err(failed("map", &place.path.join("index")))?;
        let memory = MappedMemory::read_only(mapping, Vec::new());
        Ok(Some(memory.load(header::MAGIC) == MAGIC))
    }

    /// The mode in which a file that should exist is opened.
    fn existing_mode(&self) -> Mode {
        match self.mode {
            Mode::Read => Mode::Read,
            _ => Mode::Existing,
        }
    }

    /// Whether the file is too short for the levels that the index says are open.
    fn lacks_levels(
        &self,
        memory: &MappedMemory,
        geometry: &Geometry,
        index: &File,
        path: &std::path::Path,
    ) -> Result<Option<DirectoryState>, Error> {
        let open = geometry.levels_at(memory.load(header::EPOCH));
        // The length after the number of levels: a writer may open one meanwhile.
        let len = self.io.status(index).map_err(failed("look at", path))?.len;
        let lacking = open > geometry.levels_within(len);
        Ok(lacking.then(|| {
            DirectoryState::Damaged(format!(
                "its index has {len} bytes, and should have at least {}",
                geometry.index_end(open)
            ))
        }))
    }

    /// The length of the index may have reached the disk before the space that was allocated for its last level did,
    /// as may the word that says that a block has its space; and copying leaves holes where there was space without
    /// bytes. A store into one would end the process on a full disk.
    fn allocate_again(&self, directory: &Directory, levels: usize) -> Result<(), Error> {
        let geometry = &directory.geometry;
        let failed = || failed("make room for the cache in", &directory.path);
        for (at, len) in (0..levels).flat_map(|level| geometry.level_ranges(level)) {
            self.io
                .allocate(&directory.index_file, at, len)
                .map_err(failed())?;
        }
        for block in 0..geometry.blocks {
            let at = block * geometry.block_size;
            let file = &directory.block_files[(at / WINDOW) as usize];
            let allocated_at = geometry.descriptor_at(block) + descriptor::ALLOCATED;
            if directory.memory.load(allocated_at) == 0 {
                continue;
            }
            match self.io.allocate(file, at % WINDOW, geometry.block_size) {
                // Without its space the block counts as empty, and gets some when there is some.
                Err(error) if platform::no_room(&error) => directory.memory.store(allocated_at, 0),
                allocated => allocated.map_err(failed())?,
            }
        }
        Ok(())
    }

    /// Shows a recovered copy the header of the files, and with it the epoch: a reader that sees it unmoved after it
    /// copied a record knows that no process has recovered the files, and so none has written to them.
    fn watch_epoch(&self, directory: &Directory) -> Result<u64, Error> {
        let (memory, index) = (&directory.memory, &directory.index_file);
        self.io
            .map_over(memory.index(), index, header::LEN)
            .map_err(failed("map", &directory.path.join("index")))?;
        Ok(memory.load(header::EPOCH))
    }

    fn map_index(
        &self,
        index: &File,
        len: u64,
        windows: Vec<MmapRaw>,
        path: &std::path::Path,
    ) -> Result<MappedMemory, Error> {
        Ok(match self.mode {
            Mode::Read => {
                let mapping = self.io.map_to_read(index, len);
                MappedMemory::read_only(mapping.map_err(failed("map", path))?, windows)
            }
            _ => {
                let mapping = self.io.map(index, len);
                MappedMemory::new(mapping.map_err(failed("map", path))?, windows)
            }
        })
    }

    pub(super) fn boot_words(&self) -> Result<[u64; 2], Error> {
        let id = self
            .io
            .boot_id()
            .map_err(Error::io("cannot read the kernel's boot id"))?;
        let id = u128::from_le_bytes(id);
        Ok([id as u64, (id >> 64) as u64])
    }

    pub(super) fn store_boot(&self, memory: &MappedMemory, boot: [u64; 2]) {
        memory.store(header::BOOT_ID, boot[0]);
        memory.store(header::BOOT_ID + 8, boot[1]);
    }

    /// Which files these are: the index, the file of locks, the files of blocks.
    pub(super) fn identities(
        &self,
        place: &Place,
        locks: &File,
        index: &File,
        blocks: &[File],
    ) -> Result<Vec<Identity>, Error> {
        [index, locks]
            .into_iter()
            .chain(blocks)
            .map(|file| self.io.status(file).map(|status| identity(&status)))
            .collect::<Result<_, _>>()
            .map_err(failed("look at", &place.path))
    }

    /// Files of blocks with their mappings, or why there are none: a file is missing or has a wrong
    /// length.
    #[allow(clippy::type_complexity)]
    pub(super) fn block_windows(
        &self,
        place: &Place,
        geometry: &Geometry,
        create: bool,
    ) -> Result<Result<(Vec<File>, Vec<MmapRaw>), String>, Error> {
        let (mut files, mut windows) = (Vec::new(), Vec::new());
        let mode = if create {
            Mode::Create
        } else {
            self.existing_mode()
        };
        let Some(folder) = place.blocks()? else {
            return Ok(Err("its file blocks/0000 is missing".into()));
        };
        let mut left = geometry.blocks_len();
        while left > 0 {
            let len = left.min(WINDOW);
            let name = format!("{:04}", files.len());
            let path = place.path.join("blocks").join(&name);
            let failed = || failed("open", &path);
            let Some((file, status)) = place.block_file(&folder, &name, mode)? else {
                return Ok(Err(format!("its file blocks/{name} is missing")));
            };
            if create {
                self.io.set_len(&file, len).map_err(failed())?;
            } else if status.len != len {
                return Ok(Err(format!(
                    "its file blocks/{name} has {} bytes, and should have {len}",
                    status.len
                )));
            }
            let mapping = match self.mode {
                Mode::Read => self.io.map_to_read(&file, len),
                _ => self.io.map(&file, len),
            };
            windows.push(mapping.map_err(failed())?);
            files.push(file);
            left -= len;
        }
        Ok(Ok((files, windows)))
    }
}
