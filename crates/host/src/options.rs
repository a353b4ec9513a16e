//! How a store is opened.

use crate::clock::Clock;
use crate::error::Error;
use crate::io::{Io, SystemIo};
use crate::word::MAX_LEASE_TICKS;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const SHORTEST_FLUSH: Duration = Duration::from_millis(100);
const LONGEST_FLUSH: Duration = Duration::from_secs(24 * 60 * 60);

/// What opening and using a store may do to its directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Creates the cache if there is none, or none that can be trusted: the mode for programs. Where this process
    /// may not write, a whole cache is opened as by `Read`.
    #[default]
    Create,
    /// Opens an existing cache and may change its entries. `NoCache` and `Damaged` say that there is
    /// none; nothing was changed then.
    Existing,
    /// Like `Existing`, but changes no byte of any file: writes are `ReadOnly`, and reads do not
    /// mark entries as read. It sees other processes' writes. A cache of an earlier boot it recovers in a copy of
    /// its own; when another process recovers the files, the store must be opened again (`Io`).
    Read,
}

/// Options of [`crate::Store::open`].
#[derive(Clone)]
pub struct Options {
    /// The cache's directory. The store's own files are in `v2` below it.
    pub path: PathBuf,
    /// What the store may do to the directory.
    pub mode: Mode,
    /// Byte limit of everything in a new directory, 2 MiB to 1 TiB; `None` is 256 MiB. The limit of an existing
    /// directory stands.
    pub limit: Option<u64>,
    /// Empties the cache if no other handle has opened it since the machine started, and none ever without this
    /// option. Otherwise it is kept.
    pub empty_at_boot: bool,
    /// How often what was changed is written to the disk in the background, 100 ms to 24 hours: what a power loss
    /// undoes at most. `None`: never, the kernel writes it when it likes to.
    pub flush_every: Option<Duration>,
    /// Permission bits of the files, as of open(2): 0o600, 0o640, 0o644, 0o660 or 0o664. With more than 0o600 the
    /// files get the group of `path`, and a cache that another user of the group made is used. `None` is the existing
    /// directory's own, or 0o600 for a new one.
    pub file_mode: Option<u32>,
    /// Counts reads, writes, deletes and refused loads. A caller that counts them itself says so, and adds them by
    /// [`Store::add_counts`](crate::Store::add_counts).
    pub counts: bool,
    /// How long a load may take before another caller may load the same key; at most 8 hours.
    pub lease_timeout: Duration,
    /// The source of wall time.
    pub clock: Clock,
    /// The operating system's files.
    pub io: Arc<dyn Io>,
}

impl Options {
    /// The defaults for a directory: its existing limit or 256 MiB, leases of 30 s.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Options {
        Options {
            path: path.into(),
            mode: Mode::Create,
            limit: None,
            empty_at_boot: false,
            flush_every: Some(Duration::from_secs(5)),
            file_mode: None,
            counts: true,
            lease_timeout: Duration::from_secs(30),
            clock: Clock::System,
            io: Arc::new(SystemIo),
        }
    }

    /// The interval of flushes, if it is possible.
    pub(crate) fn checked_flush_every(&self) -> Result<Option<Duration>, Error> {
        match self.flush_every {
            Some(every) if !(SHORTEST_FLUSH..=LONGEST_FLUSH).contains(&every) => {
                Err(Error::InvalidArgument(format!(
                    "flush_every is {every:?}; it must lie between 100 ms and 24 hours"
                )))
            }
            every => Ok(every),
        }
    }

    /// The lease timeout in ticks.
    pub(crate) fn lease_ticks(&self) -> Result<u32, Error> {
        let ticks = self.lease_timeout.as_millis() * 16 / 1000;
        if ticks == 0 || ticks > u128::from(MAX_LEASE_TICKS) {
            return Err(Error::InvalidArgument(format!(
                "lease_timeout is {:?}; it must lie between 63 ms and 8 hours",
                self.lease_timeout
            )));
        }
        Ok(ticks as u32)
    }
}
