//! The options of a cache.

use crate::cache::{Cache, Settings};
use crate::encryption::Encryption;
use crate::{ttl, Clock, Compressor, Error, Serializer, Structs};
use polycache_entry::Limits;
use polycache_host::{Options, Store};
use std::path::PathBuf;
use std::time::Duration;

/// Options of a [`Cache`]; every one but the path has a default.
#[derive(Clone, Debug)]
#[must_use = "build() opens the cache"]
pub struct Builder {
    path: Option<PathBuf>,
    limit: Option<u64>,
    parts: Vec<String>,
    serializer: Serializer,
    structs: Structs,
    compressor: Compressor,
    ttl: Option<Duration>,
    lease_timeout: Duration,
    keep_after_reboot: bool,
    clock: Clock,
    max_value: u64,
    /// Of keys that are refused why, for `build` to tell.
    encryption: Option<Result<Encryption, polycache_entry::Error>>,
}

impl Default for Builder {
    fn default() -> Builder {
        let host = Options::new("");
        Builder {
            path: None,
            limit: host.limit,
            parts: Vec::new(),
            serializer: Serializer::default(),
            structs: Structs::default(),
            compressor: Compressor::default(),
            ttl: None,
            lease_timeout: host.lease_timeout,
            keep_after_reboot: host.keep_after_reboot,
            clock: host.clock,
            max_value: Limits::default().max_length,
            encryption: None,
        }
    }
}

impl Builder {
    /// The cache's directory, made when it is missing. Every process that opens it shares the cache.
    pub fn path(mut self, path: impl Into<PathBuf>) -> Builder {
        self.path = Some(path.into());
        self
    }

    /// Byte limit of everything in the directory, 2 MiB to 1 TiB; by default the existing
    /// directory's, or 256 MiB for a new one.
    pub fn limit(mut self, bytes: impl Into<Option<u64>>) -> Builder {
        self.limit = bytes.into();
        self
    }

    /// Adds one part to the namespace; none by default.
    pub fn namespace(mut self, part: impl Into<String>) -> Builder {
        self.parts.push(part.into());
        self
    }

    /// Adds parts to the namespace.
    pub fn namespaces<S: Into<String>>(mut self, parts: impl IntoIterator<Item = S>) -> Builder {
        self.parts.extend(parts.into_iter().map(Into::into));
        self
    }

    /// How values become bytes; MessagePack by default, which takes every row of the type map.
    pub fn serializer(mut self, serializer: Serializer) -> Builder {
        self.serializer = serializer;
        self
    }

    /// What structs become when a typed value is written: by default maps, which every language
    /// reads. Either form is read, whatever is chosen here.
    pub fn structs(mut self, structs: Structs) -> Builder {
        self.structs = structs;
        self
    }

    /// What makes the bytes fewer; nothing by default. [`Compressor::Smart`] does where it is worth
    /// it.
    pub fn compressor(mut self, compressor: Compressor) -> Builder {
        self.compressor = compressor;
        self
    }

    /// How long an entry lives when its write does not say; by default until it is evicted.
    pub fn ttl(mut self, ttl: impl Into<Option<Duration>>) -> Builder {
        self.ttl = ttl.into();
        self
    }

    /// How long a load may take before another caller may load the same key, 63 ms to 8 hours; 30 s
    /// by default. A loader that dies does not count: its key is free at once.
    pub fn lease_timeout(mut self, timeout: Duration) -> Builder {
        self.lease_timeout = timeout;
        self
    }

    /// Keeps what is whole after a reboot, though it may be older than the last write, or deleted
    /// since. By default a reboot empties the cache.
    pub fn keep_after_reboot(mut self, keep: bool) -> Builder {
        self.keep_after_reboot = keep;
        self
    }

    /// Where the time of day comes from; tests pass a [`Clock::Manual`].
    pub fn clock(mut self, clock: Clock) -> Builder {
        self.clock = clock;
        self
    }

    /// Most bytes of a value that is read, before decompression adds to them: what a hostile entry
    /// may make this process allocate; 64 MiB by default.
    pub fn max_value(mut self, bytes: u64) -> Builder {
        self.max_value = bytes;
        self
    }

    /// Encrypts values with AES-256-GCM: a list of keys of 32 bytes, each with an id of your choice.
    /// The first encrypts new entries; entries under the others are still read, so that keys can be
    /// changed. By default nothing is encrypted.
    ///
    /// Keys of the cache, sizes and times stay readable, values are neither readable nor
    /// interchangeable. Plain entries are then refused as `NotEncrypted`. One key is good for 2^32
    /// entries.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path();
    /// # let (new_key, old_key) = ([2; 32], [1; 32]);
    /// use polycache::Cache;
    /// let keys = [(20261122, new_key), (1, old_key)]; // from your secret store
    /// let cache = Cache::builder().path(path).encryption(keys).build()?;
    /// cache.set("card", "4111 1111 1111 1111")?;
    /// assert_eq!(cache.get("card")?, Some("4111 1111 1111 1111".to_owned()));
    ///
    /// let without = Cache::builder().path(path).build()?;
    /// let refused = without.get::<String>("card").unwrap_err();
    /// assert_eq!(refused.code(), "unknown_encryption_key");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encryption<K: AsRef<[u8]>>(
        mut self,
        keys: impl IntoIterator<Item = (u32, K)>,
    ) -> Builder {
        self.encryption = Some(Encryption::new(keys));
        self
    }

    /// Opens the cache.
    ///
    /// # Errors
    /// `InvalidArgument`, `ConfigMismatch`, `UnsupportedFilesystem`, `UnsupportedVersion`,
    /// `UnsupportedPlatform`, `ForeignDirectory`, `TooManyParticipants`, `NoSpace`, `Io`.
    pub fn build(self) -> Result<Cache, Error> {
        let path = self
            .path
            .filter(|path| !path.as_os_str().is_empty())
            .ok_or_else(|| Error::invalid("a cache needs a path: the directory it lives in"))?;
        let default_ttl = self.ttl.map_or(Ok(0), ttl::milliseconds)?;
        if let Compressor::Zstd { level } = self.compressor {
            if !(1..=22).contains(&level) {
                return Err(Error::InvalidArgument(format!(
                    "the zstd level {level} is not one: 1 to 22"
                )));
            }
        }
        let encryption = self.encryption.transpose()?;
        // Before the directory is made: a part that is refused leaves nothing behind.
        polycache_host::keys::prefix(&self.parts)?;
        let mut options = Options::new(path);
        options.limit = self.limit;
        options.keep_after_reboot = self.keep_after_reboot;
        options.lease_timeout = self.lease_timeout;
        options.clock = self.clock;
        let settings = Settings {
            serializer: self.serializer,
            structs: self.structs,
            compressor: self.compressor,
            default_ttl,
            limits: Limits {
                max_length: self.max_value,
            },
            encryption,
        };
        Cache::new(Store::open(&options)?, self.parts, settings)
    }
}
