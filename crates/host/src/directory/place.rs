//! Where a cache's files are: `<path>` and `<path>/v2`, opened once, looked at, and used by these descriptors
//! only. Another user who exchanges a name afterwards changes nothing.

use super::failed;
use super::rights::{
    check_group, check_writable_by_others, depends_on_group, directory_mode, is_shared, Rights,
    Trust,
};
use crate::error::Error;
use crate::io::{Io, Kind, Status};
use crate::layout::VERSION;
use crate::options::Mode;
use crate::platform;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// `f_type` of tmpfs.
pub(crate) const TMPFS: u32 = 0x0102_1994;

/// File systems whose pages every process of the machine shares and that allocate space in advance.
#[cfg(not(target_os = "macos"))]
const LOCAL_FILESYSTEMS: [(u32, &str); 5] = [
    (0xEF53, "ext4"),
    (0x5846_5342, "xfs"),
    (TMPFS, "tmpfs"),
    (0x794c_7630, "overlay"),
    (0xF2F5_2010, "f2fs"),
];
#[cfg(target_os = "macos")]
const LOCAL_FILESYSTEMS: [(u32, &str); 2] = [
    (u32::from_be_bytes(*b"apfs"), "apfs"),
    (u32::from_be_bytes(*b"hfs+"), "hfs"),
];

/// Shares memory and allocates in advance, but wants free space again whenever a clean page is written to, also in
/// files without copy-on-write (`spec/host.md`, *File systems*). Without that space it sends SIGBUS.
const BTRFS: u32 = 0x9123_683E;

/// The directory of the cache's own files, open.
pub(super) struct Place<'a> {
    io: &'a dyn Io,
    /// `<path>/v2`, absolute; for messages, and to find out whether it is still there.
    pub path: PathBuf,
    pub folder: File,
    /// What new files get.
    rights: Rights,
    trust: Trust,
    /// Whether this user's own files that have other rights are given these.
    puts_right: bool,
}

/// How `<path>/v2` is opened.
#[derive(Clone, Copy)]
pub(super) struct Access {
    /// Whether it is made where it is missing.
    pub create: bool,
    /// The mode that the caller asked for.
    pub file_mode: Option<u32>,
}

impl<'a> Place<'a> {
    /// Opens `<path>/v2`; `None` when it is missing.
    pub fn open(io: &'a dyn Io, path: &Path, access: Access) -> Result<Option<Place<'a>>, Error> {
        let asked = access.file_mode;
        let shares = asked.is_some_and(is_shared);
        let made = if access.create {
            make_path(io, path, asked).map_err(failed("make", path))?
        } else {
            Vec::new()
        };
        let link = match io.status_of(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            found => found.map_err(failed("look at", path))?,
        };
        Trust::check_outside(path, &link, shares)?;
        // A link that is switched later, as by a deploy, leaves this handle and the others of its cache where they are.
        let path = &match std::fs::canonicalize(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            real => real.map_err(failed("resolve", path))?,
        };
        let Some(parent) = there(io.open_directory(path), path)? else {
            return Ok(None);
        };
        let outside = io.status(&parent).map_err(failed("look at", path))?;
        Trust::check_outside(path, &outside, shares)?;
        let name = format!("v{VERSION}");
        let path = path.join(&name);
        if access.create {
            if let Some(mode) = asked.filter(|_| is_missing(io, &path)) {
                let refused = check_group(path.parent().unwrap_or(&path), &outside, mode);
                if refused.is_err() {
                    for made in made {
                        // Fails where another process has put something into it meanwhile, and then it stays.
                        let _ = std::fs::remove_dir(made);
                    }
                    return refused.map(|()| None);
                }
            }
            match io.create_directory_in(&parent, &name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => made.map_err(failed("make", &path))?,
            }
        }
        let Some(folder) = there(io.open_directory_in(&parent, &name), &path)? else {
            return Ok(None);
        };
        let status = io.status(&folder).map_err(failed("look at", &path))?;
        let trust = Trust::of(&path, &status, &outside, asked)?;
        let is_own = status.owner == platform::user();
        let mut place = Place {
            io,
            path,
            folder,
            rights: Rights::of(&status),
            trust,
            puts_right: false,
        };
        place.check_filesystem()?;
        if let Some(mode) = asked.filter(|_| access.create && is_own) {
            place.rights = Rights::new(mode, outside.group);
            place.puts_right = true;
            place.put_right(&place.folder, &place.path, directory_mode(mode), &status)?;
            let status = io
                .status(&place.folder)
                .map_err(failed("look at", &place.path))?;
            place.trust = Trust::of(&place.path, &status, &outside, asked)?;
        }
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
        self.trust.check(&path, &status)?;
        if mode == Mode::Create || (mode == Mode::Existing && self.puts_right) {
            self.put_right(&file, &path, self.rights.file_mode, &status)?;
        }
        Ok(Some((file, status)))
    }

    /// The folder of the blocks; `None` when it is missing.
    pub fn blocks(&self) -> Result<Option<File>, Error> {
        let path = self.path.join("blocks");
        let Some(folder) = there(self.io.open_directory_in(&self.folder, "blocks"), &path)? else {
            return Ok(None);
        };
        let status = self.io.status(&folder).map_err(failed("look at", &path))?;
        self.trust.check(&path, &status)?;
        check_writable_by_others(&path, &status)?;
        if self.puts_right {
            let mode = directory_mode(self.rights.file_mode);
            self.put_right(&folder, &path, mode, &status)?;
        }
        Ok(Some(folder))
    }

    /// Makes the folder of the blocks where it is missing.
    pub fn make_blocks(&self) -> Result<(), Error> {
        if self.blocks()?.is_some() {
            return Ok(());
        }
        let path = self.path.join("blocks");
        self.io
            .create_directory_in(&self.folder, "blocks")
            .map_err(failed("make", &path))?;
        let Some(folder) = self.blocks()? else {
            return Err(failed("make", &path)(ErrorKind::NotFound.into()));
        };
        let status = self.io.status(&folder).map_err(failed("look at", &path))?;
        let mode = directory_mode(self.rights.file_mode);
        self.put_right(&folder, &path, mode, &status)
    }

    /// Makes an empty file where it is missing, and opens it.
    pub fn make_file(&self, name: &str) -> std::io::Result<File> {
        let file = self.io.open(&self.folder, name, true)?;
        let status = self.io.status(&file)?;
        self.set_rights(&file, self.rights.file_mode, &status)?;
        Ok(file)
    }

    /// Gives a file or directory of this user the rights that it should have.
    fn put_right(
        &self,
        file: &File,
        path: &Path,
        permissions: u32,
        status: &Status,
    ) -> Result<(), Error> {
        let failed = failed("set the rights of", path);
        self.set_rights(file, permissions, status).map_err(failed)
    }

    fn set_rights(&self, file: &File, permissions: u32, status: &Status) -> std::io::Result<()> {
        if status.owner != platform::user() || self.rights.are_of(status, permissions) {
            return Ok(());
        }
        let group = self.rights.group.filter(|group| *group != status.group);
        match self.io.set_rights(file, permissions, group) {
            // Every user may do what the group may: it does not matter which group it is.
            Err(error)
                if error.kind() == ErrorKind::PermissionDenied
                    && group.is_some()
                    && !depends_on_group(self.rights.file_mode) =>
            {
                self.io.set_rights(file, permissions, None)
            }
            // Nobody asked for the directory's rights: the file stays this user's own.
            Err(error) if error.kind() == ErrorKind::PermissionDenied && !self.puts_right => Ok(()),
            done => done,
        }
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

    fn check_filesystem(&self) -> Result<(), Error> {
        let kind = self
            .io
            .filesystem(&self.folder)
            .map_err(failed("look at", &self.path))?;
        if !LOCAL_FILESYSTEMS.iter().any(|(known, _)| *known == kind) {
            let known: Vec<_> = LOCAL_FILESYSTEMS.iter().map(|(_, name)| *name).collect();
            let (path, known) = (self.path.display(), known.join(", "));
            return Err(Error::UnsupportedFilesystem(if kind == BTRFS {
                format!("{path} is on btrfs, where a full disk would end the process (known are {known})")
            } else {
                format!(
                    "the file system of {path} (type {kind:#x}, known are {known}) does not share memory \
                     between processes"
                )
            }));
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

fn is_missing(io: &dyn Io, path: &Path) -> bool {
    io.status_of(path)
        .is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Makes `<path>` and what is missing above it, with the rights that the mode stands for. Returns what was missing of
/// a shared one, the innermost first.
fn make_path<'p>(
    io: &dyn Io,
    path: &'p Path,
    file_mode: Option<u32>,
) -> std::io::Result<Vec<&'p Path>> {
    let Some(mode) = file_mode.filter(|mode| is_shared(*mode)) else {
        io.create_directory(path)?;
        return Ok(Vec::new());
    };
    let missing: Vec<_> = path
        .ancestors()
        .take_while(|path| is_missing(io, path))
        .collect();
    io.create_directory(path)?;
    // The outermost first: without its rights the others cannot pass.
    for made in missing.iter().rev() {
        match io.set_permissions_of(made, directory_mode(mode)) {
            // Another user of the group made it meanwhile.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            done => done?,
        }
    }
    Ok(missing)
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
