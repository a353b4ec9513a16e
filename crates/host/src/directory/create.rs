//! Creates a cache where there is none, or none that can be trusted.

use super::{any_participant, inode, Directory, Opening};
use crate::error::{Error, TOO_LARGE};
use crate::layout::{header, Geometry, DEFAULT_LIMIT, MAGIC, VERSION};
use crate::mapped::MappedMemory;
use crate::platform;
use crate::shared_memory::SharedMemory;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

impl Opening<'_> {
    /// Creates the directory's files. The index appears last, by a rename, so that a process killed
    /// before it leaves nothing that looks complete.
    pub(super) fn create(&self, path: &Path, locks: &File) -> Result<Directory, Error> {
        if any_participant(locks) {
            return Err(Error::Io {
                action: format!(
                    "{} is damaged, or of another boot, while processes use it; stop them and try again",
                    path.display()
                ),
                source: ErrorKind::InvalidData.into(),
            });
        }
        let geometry = Geometry::new(self.limit.unwrap_or(DEFAULT_LIMIT))?;
        let failed = |error: std::io::Error| {
            if platform::no_room(&error) {
                Error::NoSpace(
                    "the disk has no room for the index; free some, or choose a smaller limit",
                )
            } else if platform::too_large(&error) {
                Error::NoSpace(TOO_LARGE)
            } else if platform::no_allocation(&error) {
                Error::UnsupportedFilesystem(format!("the file system of {}", path.display()))
            } else {
                super::failed("make the cache in", path)(error)
            }
        };
        for old in ["index", "index.new", "blocks"] {
            self.io.remove(&path.join(old)).map_err(failed)?;
        }
        let folder = path.join("blocks");
        self.io.create_directory(&folder).map_err(failed)?;
        let made = self.fill_new(path, locks, geometry, &failed);
        if made.is_err() {
            for part in ["index.new", "blocks"] {
                // The first failure is the one worth reporting.
                let _ = self.io.remove(&path.join(part));
            }
        }
        made
    }

    fn fill_new(
        &self,
        path: &Path,
        locks: &File,
        geometry: Geometry,
        failed: &dyn Fn(std::io::Error) -> Error,
    ) -> Result<Directory, Error> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed)
            .map_err(|error| failed(std::io::Error::other(error.to_string())))?;
        let seed = u64::from_le_bytes(seed);
        let new = path.join("index.new");
        let index = self.io.open(&new, true).map_err(failed)?;
        self.io
            .allocate(&index, 0, geometry.index_len)
            .map_err(failed)?;
        let (block_files, windows) = self
            .block_windows(path, &geometry, true)?
            .unwrap_or_default();
        let mapping = self.io.map(&index, geometry.index_len).map_err(failed)?;
        let memory = MappedMemory::new(mapping, windows);
        memory.store(header::VERSION, VERSION);
        memory.store(header::LIMIT, geometry.limit);
        memory.store(header::SEED, seed);
        memory.store(header::LOCK_INODE, inode(locks)?);
        memory.store(header::KEPT, u64::from(self.keep_after_reboot));
        self.store_boot(&memory, self.boot_words()?);
        memory.store(header::MAGIC, MAGIC);
        self.io.rename(&new, &path.join("index")).map_err(failed)?;
        Ok(Directory {
            path: path.to_path_buf(),
            geometry,
            seed,
            memory,
            block_files,
        })
    }
}
