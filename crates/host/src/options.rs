//! How a store is opened.

use crate::clock::Clock;
use crate::error::Error;
use crate::io::{Io, SystemIo};
use crate::word::MAX_LEASE_TICKS;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What opening and using a store may do to its directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Makes the cache where there is none, or none to be trusted: what a program needs.
    #[default]
    Create,
    /// Opens a cache that is there, and changes its entries. `NoCache` and `Damaged` say that there is
    /// none; then nothing was changed. Whether it is kept after a reboot is as it was made.
    Existing,
    /// As `Existing`, and changes no byte of any file: writes are `InvalidArgument`, and reads do not
    /// mark entries as read. Other processes' writes are seen, but for a cache of an earlier boot,
    /// which stays as it was found.
    Read,
}

/// Options of [`crate::Store::open`].
#[derive(Clone)]
pub struct Options {
    /// The cache's directory. The store's own files lie in `v1` below it.
    pub path: PathBuf,
    /// What may be done to it.
    pub mode: Mode,
    /// Byte limit of everything in the directory, 2 MiB to 1 TiB. `None` takes the existing
    /// directory's, or 256 MiB for a new one.
    pub limit: Option<u64>,
    /// Keeps what is whole after a reboot, though it may be older than the last write or deleted
    /// since. Without it a reboot empties the cache.
    pub keep_after_reboot: bool,
    /// How long a load may take before another caller may load the same key; at most 8 hours.
    pub lease_timeout: Duration,
    /// Where the time of day comes from.
    pub clock: Clock,
    /// The operating system's files.
    pub io: Arc<dyn Io>,
}

impl Options {
    /// The defaults for a directory: existing limit or 256 MiB, leases of 30 s.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Options {
        Options {
            path: path.into(),
            mode: Mode::Create,
            limit: None,
            keep_after_reboot: false,
            lease_timeout: Duration::from_secs(30),
            clock: Clock::System,
            io: Arc::new(SystemIo),
        }
    }

    /// The lease timeout in sixteenths of a second.
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
