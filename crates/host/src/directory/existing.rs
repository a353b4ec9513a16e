//! Finds out what a directory holds, before anything is changed.

use super::{any_participant, failed, inode, Directory, Opening};
use crate::error::{Error, TOO_LARGE};
use crate::layout::{header, Geometry, MAGIC, VERSION, WINDOW};
use crate::mapped::MappedMemory;
use crate::options::Mode;
use crate::platform;
use crate::shared_memory::SharedMemory;
use memmap2::MmapRaw;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Smallest length of an index, in bytes.
const SMALLEST_INDEX: u64 = 4096;

/// What was found where a cache should be.
pub(super) enum DirectoryState {
    /// A cache that may be used.
    Cache(Box<Directory>),
    /// No cache.
    Nothing,
    /// Something that is not an undamaged cache, and why.
    Damaged(String),
    /// A cache that was written before this boot and may not be kept.
    EarlierBoot,
}

impl Opening<'_> {
    /// What the directory holds; the caller holds its lock.
    pub(super) fn existing(&self, path: &Path, locks: &File) -> Result<DirectoryState, Error> {
        let index_path = path.join("index");
        let index = match self.open_file(&index_path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(DirectoryState::Nothing)
            }
            opened => opened.map_err(failed("open", &index_path))?,
        };
        let len = self.io.len(&index).map_err(failed("map", &index_path))?;
        if len < SMALLEST_INDEX {
            return Ok(DirectoryState::Damaged(format!(
                "its index has {len} bytes"
            )));
        }
        let memory = self.map_index(&index, len, Vec::new(), &index_path)?;
        if memory.load(header::MAGIC) != MAGIC {
            return Ok(DirectoryState::Damaged("its index is none".into()));
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
        if version != VERSION || geometry.index_len != len {
            return Ok(DirectoryState::Damaged(format!(
                "its index has {len} bytes, and should have {}",
                geometry.index_len
            )));
        }
        if let Some(requested) = self.limit.filter(|requested| *requested != limit) {
            return Err(Error::ConfigMismatch {
                existing: limit,
                requested,
            });
        }
        // The file of locks was removed (by a cleaner of /tmp, say). Processes that hold the old one
        // cannot be detected, so the files are left to them.
        if memory.load(header::LOCK_INODE) != inode(locks)? {
            return Ok(DirectoryState::Damaged(
                "its file participants is another one than it was made with, as in a copy".into(),
            ));
        }
        let boot = self.boot_words()?;
        let same_boot = boot
            == [
                memory.load(header::BOOT_ID),
                memory.load(header::BOOT_ID + 8),
            ];
        // Containers may have boot ids of their own; recovery must never run beside a writer. A reader
        // needs no recovery while there are writers, because they keep what it sees whole.
        let lived_in = !same_boot && any_participant(locks);
        let recover = !same_boot && !lived_in;
        if lived_in && self.mode != Mode::Read {
            return Ok(DirectoryState::Damaged(
                "it is of another boot, and processes use it".into(),
            ));
        }
        if recover && !self.keeps(&memory) {
            return Ok(DirectoryState::EarlierBoot);
        }
        let (block_files, windows) = match self.block_windows(path, &geometry, false)? {
            Ok(blocks) => blocks,
            Err(why) => return Ok(DirectoryState::Damaged(why)),
        };
        let memory = if recover && self.mode == Mode::Read {
            // The recovery's stores stay in this process's private copy of the pages.
            let private = self.io.map_private(&index, len);
            MappedMemory::new(private.map_err(failed("map", &index_path))?, windows)
        } else {
            self.map_index(&index, len, windows, &index_path)?
        };
        let directory = Directory {
            path: path.to_path_buf(),
            geometry,
            seed: memory.load(header::SEED),
            memory,
            block_files,
        };
        if recover {
            crate::recover::after_reboot(&directory);
            self.store_boot(&directory.memory, boot);
        }
        if self.keep_after_reboot && self.mode != Mode::Read {
            directory.memory.store(header::KEPT, 1);
        }
        Ok(DirectoryState::Cache(Box::new(directory)))
    }

    /// Whether entries written before this boot are kept. A mode that creates no cache goes by what the
    /// creating process chose.
    fn keeps(&self, memory: &MappedMemory) -> bool {
        let recorded = self.mode != Mode::Create && memory.load(header::KEPT) != 0;
        self.keep_after_reboot || recorded
    }

    fn open_file(&self, path: &Path) -> io::Result<File> {
        match self.mode {
            Mode::Read => self.io.open_to_read(path),
            _ => self.io.open(path, false),
        }
    }

    fn map_index(
        &self,
        index: &File,
        len: u64,
        windows: Vec<MmapRaw>,
        path: &Path,
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

    /// Files of blocks with their mappings, or why there are none: a file is missing or has a wrong
    /// length.
    #[allow(clippy::type_complexity)]
    pub(super) fn block_windows(
        &self,
        path: &Path,
        geometry: &Geometry,
        create: bool,
    ) -> Result<Result<(Vec<File>, Vec<MmapRaw>), String>, Error> {
        let folder = path.join("blocks");
        let (mut files, mut windows) = (Vec::new(), Vec::new());
        let mut left = geometry.blocks_len();
        while left > 0 {
            let len = left.min(WINDOW);
            let name = format!("{:04}", files.len());
            let file_path = folder.join(&name);
            let failed = |error| {
                if platform::too_large(&error) {
                    Error::NoSpace(TOO_LARGE)
                } else {
                    failed("open", &file_path)(error)
                }
            };
            let opened = if create {
                self.io.open(&file_path, true)
            } else {
                self.open_file(&file_path)
            };
            let file = match opened {
                Err(error) if error.kind() == ErrorKind::NotFound && !create => {
                    return Ok(Err(format!("its file blocks/{name} is missing")))
                }
                opened => opened.map_err(failed)?,
            };
            if create {
                self.io.set_len(&file, len).map_err(failed)?;
            } else {
                let has = self.io.len(&file).map_err(failed)?;
                if has != len {
                    return Ok(Err(format!(
                        "its file blocks/{name} has {has} bytes, and should have {len}"
                    )));
                }
            }
            let mapping = match self.mode {
                Mode::Read => self.io.map_to_read(&file, len),
                _ => self.io.map(&file, len),
            };
            windows.push(mapping.map_err(failed)?);
            files.push(file);
            left -= len;
        }
        Ok(Ok((files, windows)))
    }
}
