//! A store that this process has open: one for each directory, whatever the number of its handles.

use super::calls::{Calls, Within};
use super::eviction::Hand;
use super::key_locks::KeyLocks;
use super::state::{words_for, State, Word, VERSION};
use super::{ByteStore, Durability, Ended, Opening, StoreKind};
use crate::Error;
use polycache_host::io::{Io, SystemIo};
use polycache_host::{PerProcess, SharedWords};
use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The folder of the store's own files.
const FOLDER: &str = "data";
/// The file that says which store a directory has.
pub const MARKER: &str = "store";
/// What small files and directories take, generously.
const SMALL_FILES: u64 = 64 * 1024;

pub struct Shared {
    pub store: Calls,
    pub kind: StoreKind,
    pub locks: KeyLocks,
    /// `None` where nothing may be written.
    pub state: Option<State>,
    pub hand: PerProcess<Mutex<Hand>>,
    /// Bytes that the whole directory may take.
    pub limit: u64,
    /// Bytes that the store may take.
    pub room: u64,
    directory: PathBuf,
    /// The file that says which store it is, kept open: no other file gets its number meanwhile.
    marker: File,
    /// Its directory was removed, and another one is there now.
    replaced: AtomicBool,
    /// Set in the process that opened it; a forked child joins by its first change.
    joined: PerProcess<OnceLock<()>>,
    closed: AtomicBool,
}

/// The open stores of this process, with how many handles each has.
static OPEN: PerProcess<Mutex<ByDirectory>> = PerProcess::new();

type ByDirectory = HashMap<PathBuf, (Arc<Shared>, usize)>;

/// A handle's share of an open store. The last one closes it.
pub struct Joined(pub Arc<Shared>);

impl Joined {
    /// Opens the store of a directory, which exists, or joins the handles that this process has on it.
    /// `reserved` bytes of the limit belong to others.
    pub fn open(
        directory: &Path,
        kind: &StoreKind,
        limit: Option<u64>,
        reserved: u64,
        read_only: bool,
    ) -> Result<Joined, Error> {
        let directory = std::fs::canonicalize(directory).map_err(failed("resolve", directory))?;
        let _within = Within::begin();
        let mut open = OPEN.get().lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(shared) = take_replaced(&mut open, &directory) {
            drop(open);
            // What it is in the midst of may want what this thread has.
            shared.store.aside(&mut || shared.close());
            open = OPEN.get().lock().unwrap_or_else(PoisonError::into_inner);
        }
        if let Some((shared, handles)) = open.get_mut(&directory) {
            if shared.kind.name != kind.name || shared.kind.durability != kind.durability {
                return Err(Error::InvalidArgument(format!(
                    "this process has {} open with the store {} and its durability; open it with the same",
                    directory.display(),
                    shared.kind.name
                )));
            }
            *handles += 1;
            return Ok(Joined(shared.clone()));
        }
        let shared = Arc::new(Shared::open(
            directory.clone(),
            kind,
            limit,
            reserved,
            read_only,
        )?);
        open.insert(directory, (shared.clone(), 1));
        Ok(Joined(shared))
    }

    /// Gives the share back. Others may hold what a store wants, and wait here.
    pub fn leave(&self) {
        let shared = self.0.clone();
        Within::after(move || shared.store.aside(&mut || leave_now(&shared)));
    }
}

/// Takes a store out of the open ones whose directory was removed, and made anew or not.
fn take_replaced(open: &mut ByDirectory, directory: &Path) -> Option<Arc<Shared>> {
    let (shared, _) = open.get(directory)?;
    let opened = SystemIo.status(&shared.marker);
    let there = SystemIo.status_of(&directory.join(MARKER));
    let is_same = match (opened, there) {
        (Ok(opened), Ok(there)) => (opened.device, opened.inode) == (there.device, there.inode),
        (_, Err(error)) => error.kind() != ErrorKind::NotFound,
        // What cannot be looked at proves nothing.
        (Err(_), _) => true,
    };
    if is_same {
        return None;
    }
    shared.replaced.store(true, Ordering::Release);
    open.remove(directory).map(|(shared, _)| shared)
}

fn leave_now(left: &Arc<Shared>) {
    let _within = Within::begin();
    let mut open = OPEN.get().lock().unwrap_or_else(PoisonError::into_inner);
    // A forked child's registry is its own: it closes nothing of its parent's.
    let Some((shared, handles)) = open.get_mut(&left.directory) else {
        return;
    };
    if !Arc::ptr_eq(shared, left) {
        return;
    }
    *handles -= 1;
    if *handles == 0 {
        open.remove(&left.directory);
        left.close();
    }
}

impl Shared {
    fn open(
        directory: PathBuf,
        kind: &StoreKind,
        limit: Option<u64>,
        reserved: u64,
        read_only: bool,
    ) -> Result<Shared, Error> {
        if kind.max_key < 64 {
            return Err(Error::invalid("a store's keys have 64 bytes at least"));
        }
        let locks = KeyLocks::new(&directory, kind.is_shared);
        let folder = directory.join(FOLDER);
        let open = |state: Option<&State>, ended, alone| {
            let limit = state.map_or(u64::MAX, |state| state.get(Word::Limit));
            let room = limit
                .saturating_sub(reserved)
                .saturating_sub(state.map_or(0, State::size) + SMALL_FILES);
            let opening = Opening {
                folder: &folder,
                limit: room,
                ended,
                alone,
                read_only,
            };
            let store = (kind.open)(opening)?;
            Ok::<_, Error>((store, limit, room))
        };
        let shared = |(store, limit, room), locks, state, marker| Shared {
            store: Calls::new(store, kind.is_shared),
            kind: kind.clone(),
            locks,
            state,
            hand: PerProcess::new(),
            limit,
            room,
            directory: directory.clone(),
            marker,
            replaced: AtomicBool::new(false),
            joined: PerProcess::new(),
            closed: AtomicBool::new(false),
        };
        if read_only {
            let marker = open_marker(&directory)?;
            return Ok(shared(
                open(None, Ended::Closed, false)?,
                locks,
                None,
                marker,
            ));
        }
        locks.begin_opening()?;
        let opened = (|| {
            let alone = locks.be_alone()?;
            if !alone && (!kind.is_shared || !locks.be_present()?) {
                return Err(is_taken(&kind.name, &directory));
            }
            // Another process may have made one of another kind since it was looked at.
            check_foreign(&directory, &kind.name)?;
            // First: where it is missing, the other files are nobody's.
            write_marker(&directory, &kind.name)?;
            let marker = open_marker(&directory)?;
            let is_new = !folder.exists();
            std::fs::create_dir_all(&folder).map_err(failed("make", &folder))?;
            let limit = limit.unwrap_or(DEFAULT_LIMIT);
            let state = State::new(SharedWords::open(
                &directory.join("state"),
                words_for(limit),
            )?);
            locks.open(alone)?;
            let ended = if alone {
                begin(&state, limit, is_new, kind.durability)?
            } else {
                if state.get(Word::Version) != VERSION {
                    return Err(Error::UnsupportedVersion(
                        "the store's state is not that of the processes that have it open: another version of this \
                         package made it, or it was removed; end them first"
                            .into(),
                    ));
                }
                if kind.durability != Durability::Synced {
                    state.set(Word::Unsynced, 1);
                }
                Ended::Closed
            };
            let (store, limit, room) = open(Some(&state), ended, alone)?;
            let is_off = state.get(Word::Changing) > 0;
            if alone && (ended != Ended::Closed || !kind.counts || is_off) {
                let size = store.size().inspect_err(|_| store.close())?;
                state.set(Word::Bytes, size);
                state.set(Word::Written, 0);
                state.set(Word::Changing, 0);
            }
            // From here on others may come.
            if alone && kind.is_shared {
                locks.be_present()?;
            }
            Ok((store, limit, room, state, marker))
        })();
        locks.end_opening();
        let (store, limit, room, state, marker) = opened.inspect_err(|_| locks.be_absent())?;
        let shared = shared((store, limit, room), locks, Some(state), marker);
        let _ = shared.joined.get().set(());
        Ok(shared)
    }

    /// A forked child shows that it has the store open, too.
    pub fn join(&self) -> Result<(), Error> {
        let joined = self.joined.get();
        if joined.get().is_some() {
            return Ok(());
        }
        // A store for one process refuses its children itself.
        if self.kind.is_shared && !self.locks.be_present()? {
            return Err(is_taken(&self.kind.name, &self.directory));
        }
        if let Some(state) = &self.state {
            // Its parent may have been the last one, and closed it.
            state.set(Word::Closed, 0);
        }
        let _ = joined.set(());
        Ok(())
    }

    /// What is said of a call after the store was closed under it; `None` if it was not.
    pub fn replaced(&self) -> Option<Error> {
        self.replaced.load(Ordering::Acquire).then(|| {
            Error::Io(format!(
                "{} was removed or replaced while it was open; open the cache again",
                self.directory.display()
            ))
        })
    }

    fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let flushed = self.store.end();
        let Some(state) = &self.state else { return };
        // Without the lock nothing is noted, and the next process looks at everything.
        if self.locks.begin_opening().is_ok() {
            if flushed && self.locks.be_alone().unwrap_or(false) {
                state.set(Word::Closed, 1);
                let _ = state.sync();
            }
            self.locks.be_absent();
            self.locks.end_opening();
        }
    }
}

/// As of the host tier.
const DEFAULT_LIMIT: u64 = 256 << 20;

/// Notes in the state that a process has the store open, and says how the last one ended.
fn begin(state: &State, limit: u64, is_new: bool, durability: Durability) -> Result<Ended, Error> {
    let boot = boot();
    let ended = if is_new || state.get(Word::Version) == 0 {
        state.set(Word::Limit, limit);
        state.set(Word::Bytes, 0);
        state.set(Word::Written, 0);
        // Without its state nothing is known of what is there.
        if is_new {
            Ended::Closed
        } else {
            Ended::Killed
        }
    } else if state.get(Word::Version) > VERSION {
        return Err(Error::UnsupportedVersion(
            "a newer version of this package made the store's state; use that one".into(),
        ));
    } else if state.get(Word::Closed) == 1 {
        Ended::Closed
    } else if state.get(Word::Boot) != boot && state.get(Word::Unsynced) == 1 {
        Ended::PowerLost
    } else {
        Ended::Killed
    };
    state.set(Word::Version, VERSION);
    state.set(Word::Unsynced, u64::from(durability != Durability::Synced));
    state.set(Word::Boot, boot);
    state.set(Word::Closed, 0);
    // Before anything else is written: a power loss must not leave the mark of a store that was closed.
    state.sync()?;
    Ok(ended)
}

/// A part of the kernel's id of this boot.
fn boot() -> u64 {
    let id = SystemIo.boot_id().unwrap_or_default();
    u64::from_le_bytes([id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7]]) | 1
}

#[cold]
fn is_taken(name: &str, directory: &Path) -> Error {
    Error::TooManyParticipants(format!(
        "another process has {} open, and the store {name} admits one process; use another store to share it",
        directory.display()
    ))
}

/// What a marker says of a store of this name.
fn marker(name: &str) -> String {
    format!("polycache store {name}\n")
}

/// Refuses a directory of another store, or of the host tier.
pub fn check_foreign(directory: &Path, name: &str) -> Result<(), Error> {
    let path = directory.join(MARKER);
    match std::fs::read_to_string(&path) {
        Ok(found) if found == marker(name) => Ok(()),
        Ok(found) => Err(Error::ForeignDirectory(format!(
            "{} is of another store ({}), not of {name}; open it as that, or choose another path",
            directory.display(),
            found.trim_end()
        ))),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if directory.join("v2").exists() {
                return Err(Error::ForeignDirectory(format!(
                    "{} holds a cache of the store host, not of {name}; choose another path",
                    directory.display()
                )));
            }
            let foreign = [FOLDER, "state"].map(|name| directory.join(name));
            match foreign.iter().find(|path| path.exists()) {
                Some(path) => Err(Error::ForeignDirectory(format!(
                    "{} is no cache's; nothing was changed",
                    path.display()
                ))),
                None => Ok(()),
            }
        }
        Err(error) => Err(failed("read", &path)(error)),
    }
}

fn open_marker(directory: &Path) -> Result<File, Error> {
    let path = directory.join(MARKER);
    File::open(&path).map_err(failed("read", &path))
}

fn write_marker(directory: &Path, name: &str) -> Result<(), Error> {
    let path = directory.join(MARKER);
    if path.exists() {
        return Ok(());
    }
    // Whole or not at all.
    let new = directory.join("store.new");
    let written = File::create(&new)
        .and_then(|mut file| file.write_all(marker(name).as_bytes()))
        .and_then(|()| std::fs::rename(&new, &path));
    written.map_err(failed("write", &path))
}

fn failed<'a>(what: &'a str, path: &'a Path) -> impl FnOnce(std::io::Error) -> Error + 'a {
    move |error| {
        let text = format!("cannot {what} {}: {error}", path.display());
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::NoSpace(text),
            _ => Error::Io(text),
        }
    }
}
