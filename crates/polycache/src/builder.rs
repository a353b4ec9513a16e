//! The options of a cache.

use crate::cache::{Cache, Settings};
use crate::encryption::Encryption;
use crate::jitter::{Lifetime, Source};
use crate::memory;
use crate::observe;
use crate::presets::Preset;
#[cfg(feature = "remote")]
use crate::remote::{self, Remote};
use crate::tier::{HostTier, MemoryTier, Options as MemoryTierOptions, Tier};
#[cfg(feature = "remote")]
use crate::tier::{Link, LinkOptions, NearStore, RemoteTier};
#[cfg(feature = "bindings")]
use crate::tier::{StoreKind, StoreOptions, StoreTier};
use crate::ttl;
use crate::{Clock, Compressor, Error, Jitter, Serializer, StoreErrors, Structs};
use polycache_entry::{Dictionaries, Limits};
use polycache_host::{Mode, Options, Store};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What the host tier's leases have room for (`spec/semantics.md`); all tiers take the same.
const SHORTEST_LEASE_MS: u128 = 63;
const LONGEST_LEASE_MS: u128 = 8 * 60 * 60 * 1000;

const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Options of the remote tier; `None` was not told.
#[cfg(feature = "remote")]
#[derive(Clone, Debug, Default)]
struct RemoteOptions {
    remote: Option<Remote>,
    timeout: Option<Duration>,
    max_staleness: Option<Duration>,
    prefix: Option<String>,
}

/// Options of a [`Cache`]; every one has a default.
#[derive(Clone, Debug)]
#[must_use = "build() opens the cache"]
pub struct Builder {
    path: Option<PathBuf>,
    opens: Mode,
    mode: Option<u32>,
    limit: Option<u64>,
    name: Option<String>,
    parts: Vec<String>,
    serializer: Serializer,
    structs: Structs,
    compressor: Compressor,
    dictionaries: Option<Vec<Vec<u8>>>,
    ttl: Option<Duration>,
    time_to_idle: Option<Duration>,
    jitter: Option<Jitter>,
    jitter_source: Option<Source>,
    memory: bool,
    max_entries: Option<u64>,
    max_bytes: Option<u64>,
    lease_timeout: Duration,
    wait_timeout: Duration,
    store_errors: StoreErrors,
    empty_at_boot: bool,
    /// `None` when it was not told.
    flush_every: Option<Option<Duration>>,
    clock: Clock,
    max_value: u64,
    #[cfg(feature = "bindings")]
    byte_store: Option<StoreKind>,
    #[cfg(feature = "remote")]
    remote: RemoteOptions,
    /// Of keys that are refused why, for `build` to tell.
    encryption: Option<Result<Encryption, polycache_entry::Error>>,
}

impl Default for Builder {
    fn default() -> Builder {
        let host = Options::new("");
        Builder {
            path: None,
            opens: host.mode,
            mode: host.file_mode,
            limit: host.limit,
            name: None,
            parts: Vec::new(),
            serializer: Serializer::default(),
            structs: Structs::default(),
            compressor: Compressor::default(),
            dictionaries: None,
            ttl: None,
            time_to_idle: None,
            jitter: None,
            jitter_source: None,
            memory: true,
            max_entries: None,
            max_bytes: None,
            lease_timeout: host.lease_timeout,
            wait_timeout: Duration::from_secs(60),
            store_errors: StoreErrors::Report,
            empty_at_boot: host.empty_at_boot,
            flush_every: None,
            clock: host.clock,
            max_value: Limits::default().max_length,
            #[cfg(feature = "bindings")]
            byte_store: None,
            #[cfg(feature = "remote")]
            remote: RemoteOptions::default(),
            encryption: None,
        }
    }
}

impl Builder {
    /// The cache's directory, made when it is missing. Every process that opens it shares the cache. Where this
    /// process may not write, a cache that is there can be read: loaded values are handed out and not stored, and
    /// writes are [`Error::ReadOnly`]. A path that begins with `~/` is in the folder that HOME names.
    /// Without one, the cache is this process's own: the memory tier alone. Default: none.
    pub fn path(mut self, path: impl Into<PathBuf>) -> Builder {
        self.path = Some(path.into());
        self
    }

    /// What may be done to the directory, for the command `polycache`.
    #[doc(hidden)]
    pub fn opens(mut self, mode: Mode) -> Builder {
        self.opens = mode;
        self
    }

    /// Permission bits of the cache's files, as of open(2): 0o600 is for this user alone, 0o660 for the users of a
    /// group, 0o640 for one user that writes and a group that reads, and 0o664 and 0o644 let every user read. With
    /// more than 0o600 the files get the group of `path`, and a cache is used that another user made: one of a group
    /// that this process is in or, with 0o664 and 0o644, of any. The owner's processes change an existing
    /// directory's. Default: the existing directory's; 0o600 for a new one.
    pub fn mode(mut self, mode: impl Into<Option<u32>>) -> Builder {
        self.mode = mode.into();
        self
    }

    /// Byte limit of everything in the directory, 2 MiB to 1 TiB. An existing directory's own limit stands,
    /// whatever is asked for: the statistics say it. Default: the existing directory's, or
    /// 256 MiB for a new one.
    pub fn limit(mut self, bytes: impl Into<Option<u64>>) -> Builder {
        self.limit = bytes.into();
        self
    }

    /// Adds one part to the namespace. Default: none.
    pub fn namespace(mut self, part: impl Into<String>) -> Builder {
        self.parts.push(part.into());
        self
    }

    /// Adds parts to the namespace. Default: none.
    pub fn namespaces<S: Into<String>>(mut self, parts: impl IntoIterator<Item = S>) -> Builder {
        self.parts.extend(parts.into_iter().map(Into::into));
        self
    }

    /// What the cache and the namespaces nested in it are called in metrics and traces (cargo features
    /// `metrics` and `tracing`). [`Cache::named`] gives a nested one another. Default: its namespace, or
    /// `default`.
    pub fn name(mut self, name: impl Into<String>) -> Builder {
        self.name = Some(name.into());
        self
    }

    /// How values become bytes. MessagePack takes every row of the type map. Default: MessagePack.
    pub fn serializer(mut self, serializer: impl Into<Serializer>) -> Builder {
        self.serializer = serializer.into();
        self
    }

    /// What structs become when a typed value is written: by default maps, which every language
    /// reads. Either form is read, whatever is chosen here.
    pub fn structs(mut self, structs: Structs) -> Builder {
        self.structs = structs;
        self
    }

    /// What makes the bytes fewer. [`Compressor::Smart`] does where it is worth it. Default: none.
    pub fn compressor(mut self, compressor: impl Into<Compressor>) -> Builder {
        self.compressor = compressor.into();
        self
    }

    /// A serializer and a compressor that go well together: one of [`presets`](crate::presets).
    pub fn preset(self, preset: Preset) -> Builder {
        self.serializer(preset.serializer)
            .compressor(preset.compressor)
    }

    /// Entries that the memory tier may hold, 1 to 2^24. At no instant it holds more. Over a directory
    /// each [`Cache::typed`] has a tier of this size.
    ///
    /// It finds keys by a quick hash, which is not made to withstand who chooses keys to be slow.
    /// Default: 10,000.
    pub fn max_entries(mut self, entries: u64) -> Builder {
        self.max_entries = Some(entries);
        self
    }

    /// Bytes that the memory tier may take, about: keys, entries and what goes with them. An entry that
    /// takes more by itself is `EntryTooLarge`. Default: 64 MiB.
    pub fn max_bytes(mut self, bytes: u64) -> Builder {
        self.max_bytes = Some(bytes);
        self
    }

    /// Whether [`Cache::typed`] keeps decoded values in this process's memory, over a directory.
    /// Default: true.
    pub fn memory(mut self, on: bool) -> Builder {
        self.memory = on;
        self
    }

    /// Shortens the default time to live of each write, at random: by a part of it ([`f64`]), or by
    /// some time ([`Duration`]) at most. See [`Jitter`] for what it is good for. Default: none.
    ///
    /// ```
    /// # use polycache::{Cache, TtlLeft};
    /// # use std::time::Duration;
    /// let cache = Cache::builder().ttl(Duration::from_secs(300)).jitter(0.1).build()?;
    /// cache.set("k", "value")?;
    /// let Some(TtlLeft::For(left)) = cache.ttl("k")? else { unreachable!() };
    /// assert!(left > Duration::from_secs(269) && left <= Duration::from_secs(300));
    /// # Ok::<(), polycache::Error>(())
    /// ```
    pub fn jitter(mut self, jitter: impl Into<Jitter>) -> Builder {
        self.jitter = Some(jitter.into());
        self
    }

    /// Where the jitter's random numbers come from, all 64 bits of each; tests pass their own.
    pub fn jitter_source(mut self, source: impl Fn() -> u64 + Send + Sync + 'static) -> Builder {
        self.jitter_source = Some(Source::new(source));
        self
    }

    /// How long an entry lives when its write does not say, with `None` until it is evicted.
    /// Default: none.
    pub fn ttl(mut self, ttl: impl Into<Option<Duration>>) -> Builder {
        self.ttl = ttl.into();
        self
    }

    /// How long an entry stays without a read, with `None` as long as its time to live: it expires when no process has
    /// read it for that long, in any language. With a time to live, too, whichever ends first counts.
    ///
    /// A read prolongs the entry when an eighth of the time has passed, by one write, so an entry lives up to an eighth
    /// longer than this, and never less. `peek`, `has`, `ttl` and `keys` are no reads in this sense. An entry keeps the
    /// time that it was written with. Default: none.
    ///
    /// ```
    /// # use polycache::{Cache, Clock};
    /// # use std::sync::{atomic::{AtomicU64, Ordering}, Arc};
    /// # use std::time::Duration;
    /// # let time = Arc::new(AtomicU64::new(1_700_000_000_000));
    /// # let clock = Clock::Manual(time.clone());
    /// let half_an_hour = Duration::from_secs(1800);
    /// let sessions = Cache::builder().time_to_idle(half_an_hour).clock(clock).build()?;
    /// sessions.set("ada", "signed in")?;
    /// for _ in 0..10 {
    ///     time.fetch_add(1_800_000, Ordering::Relaxed); // half an hour passes
    ///     assert!(sessions.has("ada")? && sessions.get::<String>("ada")?.is_some());
    /// }
    /// # Ok::<(), polycache::Error>(())
    /// ```
    pub fn time_to_idle(mut self, time: impl Into<Option<Duration>>) -> Builder {
        self.time_to_idle = time.into();
        self
    }

    /// How old a load may be before a caller stops waiting for it and loads beside it, 63 ms to 8
    /// hours. The load goes on, and whichever ends first is stored. A loader that dies does not count:
    /// its key is free at once. Default: 30 s.
    pub fn lease_timeout(mut self, timeout: Duration) -> Builder {
        self.lease_timeout = timeout;
        self
    }

    /// How long a caller waits for the loads of others, 1 ms to 24 hours, before it gets
    /// [`Error::WaitTimeout`]. The time its own loader takes does not count. Default: 60 s.
    pub fn wait_timeout(mut self, timeout: Duration) -> Builder {
        self.wait_timeout = timeout;
        self
    }

    /// What becomes of a loaded value that cannot be stored, too large or of no type that entries have.
    /// With `Report` its caller gets it, it is counted in [`Stats::unstored`](crate::Stats), and
    /// observers are told. Default: `Report`.
    pub fn store_errors(mut self, what: StoreErrors) -> Builder {
        self.store_errors = what;
        self
    }

    /// Empties the directory when this process is the first to open it since the machine started, and it was never
    /// opened without this option. Otherwise the cache is kept: see `flush_every` for what a power loss undoes.
    /// Default: false.
    pub fn empty_at_boot(mut self, empty: bool) -> Builder {
        self.empty_at_boot = empty;
        self
    }

    /// How often what was changed is written to the disk, 100 ms to 24 hours, by a thread in the background; no
    /// caller waits for it. A power loss undoes what was changed since, and no more: no wrong bytes. With
    /// `None` it undoes what the kernel had not written by itself (on Linux mostly within half a
    /// minute), and a value that was deleted or cleared in that time may be back. Default: 5s.
    pub fn flush_every(mut self, every: impl Into<Option<Duration>>) -> Builder {
        self.flush_every = Some(every.into());
        self
    }

    /// Where the time of day comes from; tests pass a [`Clock::Manual`]. Default: the system's.
    pub fn clock(mut self, clock: Clock) -> Builder {
        self.clock = clock;
        self
    }

    /// Most bytes of a value, uncompressed, that is read or written: it bounds what a hostile entry may make this
    /// process allocate. Each number and text in the value counts for 4 bytes at least, each list, map and other
    /// compound value for 16; for these counts the limit is 4 MiB or more. Default: 64 MiB.
    pub fn max_value(mut self, bytes: u64) -> Builder {
        self.max_value = bytes;
        self
    }

    /// Trained dictionaries for the compressor, `zstd` or `smart`: with one, values of one or a few
    /// hundred bytes become about half as large, too. The first compresses new entries; entries
    /// compressed with the others are still read, so that a new one can take over.
    ///
    /// [`compressor::train`](crate::compressor::train) makes one from samples, as does the command
    /// `polycache train-dictionary`. An entry whose dictionary is not here is `UnknownDictionary`.
    /// Default: none.
    ///
    /// ```
    /// use polycache::{compressor, Cache, Json, Zstd};
    /// let user = |id: u32| serde_json::json!({"id": id, "name": format!("user {id}"), "active": true});
    /// let samples: Vec<String> = (0..1000).map(|id| user(id).to_string()).collect();
    /// let dictionary = compressor::train(&samples, 4096)?; // once; to be kept in a file
    ///
    /// let cache = Cache::builder()
    ///     .serializer(Json)
    ///     .compressor(Zstd::default())
    ///     .dictionaries([&dictionary])
    ///     .build()?;
    /// cache.set("user:1001", &user(1001))?;
    /// assert_eq!(cache.get("user:1001")?, Some(user(1001)));
    /// # Ok::<(), polycache::Error>(())
    /// ```
    pub fn dictionaries<D: AsRef<[u8]>>(
        mut self,
        dictionaries: impl IntoIterator<Item = D>,
    ) -> Builder {
        let bytes = dictionaries.into_iter().map(|one| one.as_ref().to_vec());
        self.dictionaries = Some(bytes.collect());
        self
    }

    /// Encrypts values with AES-256-GCM: a list of keys of 32 bytes, each with an id of your choice.
    /// The first encrypts new entries; entries under the others are still read, so that keys can be
    /// changed.
    ///
    /// Keys of the cache, sizes and times stay readable, values are neither readable nor
    /// interchangeable. Plain entries are then refused as `NotEncrypted`. One key is good for 2^32
    /// entries. Default: none.
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

    /// The Redis or Valkey by which the cache is shared with other machines (cargo feature `remote`, Rust 1.88): a URL, or a client
    /// of the crate `redis`. What this machine has read stands in `path`, too, or in this process' memory where there is
    /// no path, and is served from there for as long as the server tells of every write. Default: none.
    ///
    /// ```no_run
    /// use polycache::Cache;
    /// let cache = Cache::builder()
    ///     .path("/var/cache/shop")
    ///     .remote("redis://cache.internal:6379/0")
    ///     .build()?;
    /// # Ok::<(), polycache::Error>(())
    /// ```
    #[cfg(feature = "remote")]
    pub fn remote(mut self, remote: impl Into<Remote>) -> Builder {
        self.remote.remote = Some(remote.into());
        self
    }

    /// How long the remote tier may take to answer a command, 1 ms to 60 s. Then a read is a miss, a load is handed out
    /// and not stored, and a write is [`Error::RemoteUnavailable`]. Default: 250 ms.
    #[cfg(feature = "remote")]
    pub fn timeout(mut self, timeout: Duration) -> Builder {
        self.remote.timeout = Some(timeout);
        self
    }

    /// How far a read may be behind writes of other machines, 10 ms to an hour, when a connection has died in silence;
    /// otherwise it is as far behind as the server's message takes. With zero every read asks the server.
    /// Default: 1 s.
    #[cfg(feature = "remote")]
    pub fn max_staleness(mut self, staleness: Duration) -> Builder {
        self.remote.max_staleness = Some(staleness);
        self
    }

    /// What the names of the cache's keys on the server begin with, followed by a colon. It holds no `{` and no `}`.
    /// Default: `polycache`.
    #[cfg(feature = "remote")]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Builder {
        self.remote.prefix = Some(prefix.into());
        self
    }

    /// The library that keeps the entries of the directory, in the place of the host tier.
    #[cfg(feature = "bindings")]
    #[doc(hidden)]
    pub fn byte_store(mut self, kind: StoreKind) -> Builder {
        self.byte_store = Some(kind);
        self
    }

    /// Opens the cache.
    ///
    /// # Errors
    /// `InvalidArgument`, also for options of a directory without a path; with one,
    /// `UnsupportedFilesystem`, `UnsupportedVersion`, `UnsupportedPlatform`, `ForeignDirectory`,
    /// `TooManyParticipants`, `NoSpace`, `Io` too.
    pub fn build(mut self) -> Result<Cache, Error> {
        let settings = self.settings()?;
        // Before a directory is made: a part that is refused leaves nothing behind.
        polycache_host::keys::prefix(&self.parts)?;
        let parts = std::mem::take(&mut self.parts);
        let tier = self.tier(&parts)?;
        let cache = Cache::new(tier, Default::default(), parts, settings);
        observe::opened(&cache);
        Ok(cache)
    }

    /// The tier of a cache without a server.
    fn own_tier(&mut self, parts: &[String]) -> Result<Arc<dyn Tier>, Error> {
        #[cfg(feature = "bindings")]
        if let Some(kind) = self.byte_store.take() {
            let path = self
                .path
                .take()
                .ok_or_else(|| Error::invalid("a store needs a path: the directory it lives in"))?;
            let mut host = self.host_options(path)?;
            if self.flush_every.is_none() {
                host.flush_every = None;
            }
            return Ok(Arc::new(StoreTier::open(
                StoreOptions { host, kind },
                parts,
            )?));
        }
        Ok(match self.path.take() {
            Some(path) => Arc::new(self.host_tier(path, parts, true)?),
            None => Arc::new(self.memory_tier(parts, false)?),
        })
    }

    #[cfg(not(feature = "remote"))]
    fn tier(&mut self, parts: &[String]) -> Result<Arc<dyn Tier>, Error> {
        self.own_tier(parts)
    }

    #[cfg(feature = "remote")]
    fn tier(&mut self, parts: &[String]) -> Result<Arc<dyn Tier>, Error> {
        let RemoteOptions {
            remote,
            timeout,
            max_staleness,
            prefix,
        } = std::mem::take(&mut self.remote);
        let Some(remote) = remote else {
            let told = [
                ("timeout", timeout.is_some()),
                ("max_staleness", max_staleness.is_some()),
                ("prefix", prefix.is_some()),
            ];
            return match told.into_iter().find(|(_, given)| *given) {
                Some((name, _)) => Err(Error::InvalidArgument(format!(
                    "{name} is of a remote tier, and means nothing without remote"
                ))),
                None => self.own_tier(parts),
            };
        };
        #[cfg(feature = "bindings")]
        if self.byte_store.is_some() {
            return Err(Error::invalid(
                "a store beside the host tier cannot have copies of what a remote tier holds",
            ));
        }
        let options = LinkOptions {
            transport: remote.transport()?,
            prefix: remote::checked_prefix(prefix)?,
            timeout: remote::checked_timeout(timeout)?,
            staleness: remote::checked_staleness(max_staleness)?,
            clock: self.clock.clone(),
        };
        let (near, store) = match self.path.take() {
            Some(path) => {
                // What the machine counts is what the program does, not what its copies do.
                let tier = self.host_tier(path, &[], false)?;
                let store = NearStore::Host(tier.handle());
                (Arc::new(tier) as Arc<dyn Tier>, store)
            }
            None => {
                let tier = self.memory_tier(&[], true)?;
                (
                    Arc::new(tier.clone()) as Arc<dyn Tier>,
                    NearStore::Memory(tier),
                )
            }
        };
        let link = Link::new(options, store);
        let tier = RemoteTier::new(link, near, self.lease_timeout, parts)?;
        Ok(Arc::new(tier))
    }

    fn settings(&mut self) -> Result<Settings, Error> {
        if self.path.is_none() && !self.has_remote() && self.encryption.is_some() {
            return Err(Error::invalid(
                "encryption is of a directory, and means nothing without a path",
            ));
        }
        if let Compressor::Zstd { level } = self.compressor {
            if !(1..=22).contains(&level) {
                return Err(Error::InvalidArgument(format!(
                    "the zstd level {level} is not one: 1 to 22"
                )));
            }
        }
        if !(Duration::from_millis(1)..=LONGEST_WAIT).contains(&self.wait_timeout) {
            return Err(Error::InvalidArgument(format!(
                "wait_timeout is {:?}; it must lie between 1 ms and 24 hours",
                self.wait_timeout
            )));
        }
        let dictionaries = self.dictionaries.take();
        let dictionaries = dictionaries.map(|all| Dictionaries::new(all, self.compressor));
        let name = self.name.take().unwrap_or_else(|| match &self.parts[..] {
            [] => "default".to_owned(),
            parts => parts.join("::"),
        });
        Ok(Settings {
            name: name.into(),
            serializer: self.serializer,
            structs: self.structs,
            compressor: self.compressor,
            lifetime: Lifetime::new(self.ttl, self.jitter, self.jitter_source.clone())?,
            time_to_idle: self.time_to_idle.map_or(Ok(0), ttl::time_to_idle)?,
            limits: Limits {
                max_length: self.max_value,
                dictionaries: dictionaries.transpose()?,
            },
            encryption: self.encryption.take().transpose()?,
            memory: self.bounds()?,
            lease_timeout: self.lease_timeout,
            wait_timeout: self.wait_timeout,
            store_errors: self.store_errors,
        })
    }

    fn has_remote(&self) -> bool {
        #[cfg(feature = "remote")]
        return self.remote.remote.is_some();
        #[cfg(not(feature = "remote"))]
        false
    }

    /// What a memory tier may hold; `None` is none.
    fn bounds(&self) -> Result<Option<memory::Bounds>, Error> {
        let told = self.max_entries.is_some() || self.max_bytes.is_some();
        match (self.memory, &self.path) {
            (true, _) => memory::Bounds::new(self.max_entries, self.max_bytes).map(Some),
            (false, None) if !self.has_remote() => Err(Error::invalid(
                "without memory a cache needs a path: the directory it lives in",
            )),
            (false, _) if told => Err(Error::invalid(
                "max_entries and max_bytes mean nothing without the memory tier",
            )),
            (false, _) => Ok(None),
        }
    }

    fn host_tier(&self, path: PathBuf, parts: &[String], counts: bool) -> Result<HostTier, Error> {
        let mut options = self.host_options(path)?;
        options.counts = counts;
        HostTier::new(Store::open(&options)?, parts)
    }

    fn host_options(&self, path: PathBuf) -> Result<Options, Error> {
        if path.as_os_str().is_empty() {
            return Err(Error::invalid(
                "the path is empty: it is the directory that the cache lives in",
            ));
        }
        let mut options = Options::new(path);
        options.mode = self.opens;
        options.file_mode = self.mode;
        options.limit = self.limit;
        options.empty_at_boot = self.empty_at_boot;
        if let Some(every) = self.flush_every {
            options.flush_every = every;
        }
        options.lease_timeout = self.lease_timeout;
        options.clock = self.clock.clone();
        Ok(options)
    }

    /// `holds_copies`: of what a server holds.
    fn memory_tier(&self, parts: &[String], holds_copies: bool) -> Result<MemoryTier, Error> {
        let named = [
            ("limit", self.limit.is_some()),
            ("mode", self.mode.is_some()),
            ("empty_at_boot", self.empty_at_boot),
            ("flush_every", self.flush_every.is_some()),
        ];
        if let Some((name, _)) = named.into_iter().find(|(_, given)| *given) {
            return Err(Error::InvalidArgument(format!(
                "{name} is of a directory, and means nothing without a path"
            )));
        }
        let lease = self.lease_timeout.as_millis();
        if !(SHORTEST_LEASE_MS..=LONGEST_LEASE_MS).contains(&lease) {
            return Err(Error::InvalidArgument(format!(
                "lease_timeout is {:?}; it must lie between 63 ms and 8 hours",
                self.lease_timeout
            )));
        }
        let options = MemoryTierOptions {
            bounds: memory::Bounds::new(self.max_entries, self.max_bytes)?,
            lease_timeout: self.lease_timeout,
            clock: self.clock.clone(),
            holds_copies,
        };
        MemoryTier::new(options, parts)
    }
}
