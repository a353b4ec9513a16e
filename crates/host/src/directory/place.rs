//! Where a cache's files are: `<path>` and `<path>/v2`, opened once, looked at, and used by these descriptors
//! only. Another user who exchanges a name afterwards changes nothing.

use super::failed;
use crate::error::Error;
use crate::io::{Io, Kind, Status};
use crate::layout::VERSION;
use crate::options::Mode;
use crate::platform;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// File systems whose pages every process of the machine shares and that allocate space in advance.
const LOCAL_FILESYSTEMS: [(u32, &str); 5] = [
    (0xEF53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x0102_1994, "tmpfs"),
    (0x794c_7630, "overlay"),
    (0xF2F5_2010, "f2fs"),
];
const ROOT: u32 = 0;
const WRITABLE_BY_OTHERS: u32 = 0o002;

/// The directory of the cache's own files, open.
pub(super) struct Place<'a> {
    io: &'a dyn Io,
    /// `<path>/v2`, absolute; for messages, and to find out whether it is still there.
    pub path: PathBuf,
    pub folder: File,
}

impl<'a> Place<'a> {
    /// Opens `<path>/v2`, and makes it with `create`; `None` when it is missing.
    pub fn open(io: &'a dyn Io, path: &Path, create: bool) -> Result<Option<Place<'a>>, Error> {
        if create {
            io.create_directory(path).map_err(failed("make", path))?;
        }
        let link = match io.status_of(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            found => found.map_err(failed("look at", path))?,
        };
        check_owner(path, &link, true)?;
        // A link that is switched later, as by a deploy, leaves this handle and the others of its cache where they are.
        let path = &match std::fs::canonicalize(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            real => real.map_err(failed("resolve", path))?,
        };
        let Some(parent) = there(io.open_directory(path), path)? else {
            return Ok(None);
        };
        let status = io.status(&parent).map_err(failed("look at", path))?;
        check_owner(path, &status, true)?;
        let name = format!("v{VERSION}");
        let path = path.join(&name);
        if create {
            match io.create_directory_in(&parent, &name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => made.map_err(failed("make", &path))?,
            }
        }
        let Some(folder) = there(io.open_directory_in(&parent, &name), &path)? else {
            return Ok(None);
        };
        let place = Place { io, path, folder };
        place.check_directory(&place.folder, &place.path)?;
        place.check_filesystem()?;
        Ok(Some(place))
    }

    /// A file of the cache, of this user, and what it is; `None` when it is missing.
    pub fn file(&self, name: &str, mode: Mode) -> Result<Option<(File, Status)>, Error> {
        self.file_in(&self.folder, name, name, mode)
    }

    /// As [`Place::file`], in the folder of the blocks.
    pub fn block_file(
        &self,
        blocks: &File,
        name: &str,
        mode: Mode,
    ) -> Result<Option<(File, Status)>, Error> {
        self.file_in(blocks, name, &format!("blocks/{name}"), mode)
    }

    fn file_in(
        &self,
        folder: &File,
        name: &str,
        shown: &str,
        mode: Mode,
    ) -> Result<Option<(File, Status)>, Error> {
        let path = self.path.join(shown);
        let opened = match mode {
            Mode::Create => self.io.open(folder, name, true),
            Mode::Existing => self.io.open(folder, name, false),
            Mode::Read => self.io.open_to_read(folder, name),
        };
        let Some(file) = there(opened, &path)? else {
            return Ok(None);
        };
        let status = self.io.status(&file).map_err(failed("look at", &path))?;
        if status.kind != Kind::File {
            return Err(not_a("regular file", &path));
        }
        check_owner(&path, &status, false)?;
        Ok(Some((file, status)))
    }

    /// The folder of the blocks; `None` when it is missing.
    pub fn blocks(&self) -> Result<Option<File>, Error> {
        let path = self.path.join("blocks");
        let Some(folder) = there(self.io.open_directory_in(&self.folder, "blocks"), &path)? else {
            return Ok(None);
        };
        self.check_directory(&folder, &path)?;
        Ok(Some(folder))
    }

    /// Refuses a directory that holds what no cache has made, for one whose index is missing or empty.
    pub fn check_only_ours(&self) -> Result<(), Error> {
        let names = self.io.names(&self.folder);
        for name in names.map_err(failed("list", &self.path))? {
            let known = [
                "participants",
                "participants.new",
                "index",
                "index.new",
                "blocks",
            ];
            if !known.iter().any(|known| name == *known) {
                return Err(foreign_name(&self.path.join(name)));
            }
        }
        for name in ["participants", "participants.new"] {
            let Some((_, status)) = self.file(name, Mode::Read)? else {
                continue;
            };
            if status.len > 0 {
                return Err(foreign_name(&self.path.join(name)));
            }
        }
        let Some(blocks) = self.blocks()? else {
            return Ok(());
        };
        let path = self.path.join("blocks");
        let names = self.io.names(&blocks).map_err(failed("list", &path))?;
        let foreign = names
            .into_iter()
            .find(|name| !name.to_str().is_some_and(is_block_file));
        foreign.map_or(Ok(()), |name| Err(foreign_name(&path.join(name))))
    }

    fn check_directory(&self, folder: &File, path: &Path) -> Result<(), Error> {
        let status = self.io.status(folder).map_err(failed("look at", path))?;
        check_owner(path, &status, false)?;
        if status.permissions & WRITABLE_BY_OTHERS != 0 {
            return Err(Error::ForeignDirectory(format!(
                "{} may be written to by every user (chmod o-w helps)",
                path.display()
            )));
        }
        Ok(())
    }

    fn check_filesystem(&self) -> Result<(), Error> {
        let kind = self
            .io
            .filesystem(&self.folder)
            .map_err(failed("look at", &self.path))?;
        if !LOCAL_FILESYSTEMS.iter().any(|(known, _)| *known == kind) {
            let known: Vec<_> = LOCAL_FILESYSTEMS.iter().map(|(_, name)| *name).collect();
            return Err(Error::UnsupportedFilesystem(format!(
                "the file system of {} (type {kind:#x}, known are {})",
                self.path.display(),
                known.join(", ")
            )));
        }
        Ok(())
    }
}

/// True for the name of a file of blocks: `0000`, `0001`, ...
pub(super) fn is_block_file(name: &str) -> bool {
    name.len() == 4 && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// What was opened; `None` when it is missing. A symbolic link is an error, wherever it leads.
fn there(opened: std::io::Result<File>, path: &Path) -> Result<Option<File>, Error> {
    match opened {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if platform::is_link(&error) => Err(not_a("file or directory of its own", path)),
        // A directory where a file should be, opened for writing.
        Err(error) if error.kind() == ErrorKind::IsADirectory => Err(not_a("regular file", path)),
        opened => opened.map(Some).map_err(failed("open", path)),
    }
}

/// `is_outside` is for `<path>`, which may also be root's; and anybody's for root, as a folder of the host is in a
/// container: all below it is root's own then.
fn check_owner(path: &Path, status: &Status, is_outside: bool) -> Result<(), Error> {
    let user = platform::user();
    if status.owner == user || (is_outside && (status.owner == ROOT || user == ROOT)) {
        return Ok(());
    }
    Err(Error::ForeignDirectory(format!(
        "{} belongs to another user",
        path.display()
    )))
}

fn not_a(what: &str, path: &Path) -> Error {
    Error::ForeignDirectory(format!("{} is not a {what}", path.display()))
}

fn foreign_name(path: &Path) -> Error {
    Error::ForeignDirectory(format!(
        "{} is not of a cache, and its directory has no index of one; nothing was changed",
        path.display()
    ))
}
