//! What all processes of the machine do with a cache's directory.

use crate::{Cache, Error};
use polycache_host::{MachineStats, Usage};

impl Cache {
    /// What all processes of the machine, in all languages, did with the directory since it was made, what it holds, and
    /// which processes have it open; `None` without a directory. Walks the index, as [`Cache::stats`] does.
    ///
    /// Another process' hits may be missing for a moment: at most a sixteenth of them, and never more than 63 of a handle
    /// and those of a memory tier that it has not added yet. All else is counted as it happens.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path();
    /// use polycache::Cache;
    /// let cache = Cache::builder().path(path).build()?;
    /// cache.set("k", "v")?;
    /// (cache.get::<String>("k")?, cache.get::<String>("absent")?);
    /// let stats = cache.machine_stats()?.expect("it has a directory");
    /// assert_eq!((stats.hits, stats.misses, stats.writes), (1, 1, 1));
    /// assert_eq!(stats.processes[0].pid, std::process::id());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Closed`; `Io` when the directory's file of locks cannot be looked at.
    pub fn machine_stats(&self) -> Result<Option<MachineStats>, Error> {
        self.still_open()?;
        #[cfg(feature = "remote")]
        if let Some(remote) = self.tier().remote() {
            remote.link().report();
        }
        self.tier().machine_stats()
    }

    /// The `most` namespaces of the whole directory whose entries take the most space, the largest first; `None` without
    /// a directory. It reads every key, about 0.2 µs for each entry: not for each request.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path();
    /// use polycache::Cache;
    /// let cache = Cache::builder().path(path).build()?;
    /// cache.namespace("shop")?.set("k", "v")?;
    /// let usage = cache.usage(10)?.expect("it has a directory");
    /// assert_eq!((usage[0].namespace.join(":"), usage[0].entries), ("shop".into(), 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Closed`.
    pub fn usage(&self, most: usize) -> Result<Option<Vec<Usage>>, Error> {
        self.still_open()?;
        self.tier().usage(most)
    }

    /// What this handle did with its remote tier, and how that is; `None` for a cache without one.
    #[cfg(feature = "remote")]
    #[must_use]
    pub fn remote_stats(&self) -> Option<crate::RemoteStats> {
        self.tier()
            .remote()
            .map(crate::tier::RemoteTier::remote_stats)
    }
}
