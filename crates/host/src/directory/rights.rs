//! Who may use a cache's files: what rights new ones get, and whose files are used.

use crate::error::Error;
use crate::io::Status;
use crate::platform;
use std::path::Path;

/// The file modes that a cache may have.
const FILE_MODES: [u32; 5] = [PRIVATE, 0o640, 0o644, 0o660, 0o664];
/// The mode of a cache that was made without one.
const PRIVATE: u32 = 0o600;
const BEYOND_OWNER: u32 = 0o077;
const OTHERS: u32 = 0o007;
const WRITABLE_BY_GROUP: u32 = 0o020;
const WRITABLE_BY_OTHERS: u32 = 0o002;
/// In a directory with this bit new files get the directory's group.
const SET_GROUP: u32 = 0o2000;
const STICKY: u32 = 0o1000;
const ROOT: u32 = 0;

/// Refuses a mode that no cache can have.
pub(super) fn check_file_mode(mode: u32) -> Result<(), Error> {
    if FILE_MODES.contains(&mode) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "mode is {mode:#o}; it must be 0o600, 0o640, 0o644, 0o660 or 0o664, and most languages need the 0o \
         for octal"
    )))
}

/// True when the mode gives others than the owner any right.
pub(super) fn is_shared(mode: u32) -> bool {
    mode & BEYOND_OWNER != 0
}

/// The permission bits of a directory whose files have this mode.
pub(super) fn directory_mode(mode: u32) -> u32 {
    let set_group = if mode & WRITABLE_BY_GROUP != 0 {
        SET_GROUP
    } else {
        0
    };
    // Where a file may be read, a directory may be passed through.
    mode | (mode & 0o444) >> 2 | set_group
}

/// True when the group has more rights than every user, so that the right group has to own the files.
pub(super) fn depends_on_group(mode: u32) -> bool {
    (mode & 0o070) >> 3 != mode & OTHERS
}

/// Refuses a mode for a group that this user cannot give the files to.
pub(super) fn check_group(path: &Path, status: &Status, mode: u32) -> Result<(), Error> {
    if !depends_on_group(mode) || user_is_root() || platform::is_in_group(status.group) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "mode is {mode:#o}, but {} has the group {}, which user {} is not in: give it one of this user's groups by \
         chgrp, or choose another path",
        path.display(),
        status.group,
        platform::user()
    )))
}

/// What a new file or directory gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rights {
    pub file_mode: u32,
    /// The group; `None` leaves the one that the system chooses.
    pub group: Option<u32>,
}

impl Rights {
    pub fn new(file_mode: u32, group: u32) -> Rights {
        Rights {
            file_mode,
            group: is_shared(file_mode).then_some(group),
        }
    }

    /// As a directory's own bits say.
    pub fn of(directory: &Status) -> Rights {
        let bits = directory.permissions & 0o666 & !WRITABLE_BY_OTHERS;
        Rights::new(PRIVATE | bits, directory.group)
    }

    pub fn are_of(&self, status: &Status, permissions: u32) -> bool {
        status.permissions == permissions && self.group.is_none_or(|group| group == status.group)
    }
}

/// Whose files in `v2` are used, beside this user's own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trust {
    /// The owner of `v2`, when that is another user who is trusted.
    owner: Option<u32>,
    /// The group that may write to `v2`: what it owns there, its members have made.
    group: Option<u32>,
}

impl Trust {
    /// Looks at `<path>`, or at the link that it is. `shares` is whether the caller asked to share with a group.
    /// Root may be given a folder of another user's, as in a container: all below it is root's own then.
    pub fn check_outside(path: &Path, status: &Status, shares: bool) -> Result<(), Error> {
        let user = platform::user();
        if status.owner == user || status.owner == ROOT || user_is_root() || shares {
            return Ok(());
        }
        Err(of_another_user(path))
    }

    /// Looks at `v2`. Another user's is trusted when the caller asked to share with a group and is in that of `v2`
    /// (or asked to share with all users), or when `<path>` lets the group write to which `v2` belongs.
    pub fn of(
        path: &Path,
        status: &Status,
        outside: &Status,
        asked: Option<u32>,
    ) -> Result<Trust, Error> {
        check_writable_by_others(path, status)?;
        let shares = asked.is_some_and(|mode| {
            mode & OTHERS != 0
                || (is_shared(mode) && (user_is_root() || platform::is_in_group(status.group)))
        });
        let user = platform::user();
        let is_own = status.owner == user;
        if !is_own {
            let is_outside_ours = outside.owner == user || outside.owner == ROOT;
            let by_outside = is_outside_ours
                && outside.permissions & WRITABLE_BY_GROUP != 0
                && outside.group == status.group;
            if !is_shared(status.permissions & 0o777) || !(shares || by_outside) {
                return Err(of_another_user(path));
            }
        }
        // What every user may write to is nobody's word, unless only owners may exchange its names.
        if shares && outside.permissions & (WRITABLE_BY_OTHERS | STICKY) == WRITABLE_BY_OTHERS {
            check_writable_by_others(path.parent().unwrap_or(path), outside)?;
        }
        let by_group = status.permissions & WRITABLE_BY_GROUP != 0;
        Ok(Trust {
            owner: (!is_own).then_some(status.owner),
            group: by_group.then_some(status.group),
        })
    }

    /// Looks at a file or directory in `v2`.
    pub fn check(&self, path: &Path, status: &Status) -> Result<(), Error> {
        if status.owner != platform::user() {
            let of_owner = self.owner == Some(status.owner);
            let of_group = self.group == Some(status.group);
            if !of_owner && !of_group {
                return Err(of_another_user(path));
            }
        }
        if self.owner.is_some() || self.group.is_some() {
            check_writable_by_others(path, status)?;
        }
        Ok(())
    }
}

/// Refuses what every user may write to.
pub(super) fn check_writable_by_others(path: &Path, status: &Status) -> Result<(), Error> {
    if status.permissions & WRITABLE_BY_OTHERS == 0 {
        return Ok(());
    }
    Err(Error::ForeignDirectory(format!(
        "{} may be written to by every user (chmod o-w helps)",
        path.display()
    )))
}

fn user_is_root() -> bool {
    platform::user() == ROOT
}

fn of_another_user(path: &Path) -> Error {
    Error::ForeignDirectory(format!(
        "{} belongs to another user (a group shares a cache by mode 0o660)",
        path.display()
    ))
}
