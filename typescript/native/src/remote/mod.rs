//! A cache with a remote tier: `polycache::Cache`, whose operations run on threads of our own ([`crate::workers`]) and
//! settle a promise. A copy on this host is read at once.

mod ask;
mod cached;
mod loads;
mod many;
mod origins;
mod reads;
mod settings;
mod writes;

pub(crate) use ask::CALLBACKS;
pub(crate) use loads::end_all;

use crate::slab::Slab;
use crate::statistics::MachineStats;
use crate::store::DirectoryStats;
use crate::{error, workers};
use napi::bindgen_prelude::Uint8Array;
use napi::Result;
use napi_derive::napi;
use origins::Origins;
use polycache::bindings::Bindings;
use polycache::{Cache, Clock, Serializer, Zstd};
use settings::RemoteSettings;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// A cache, and for the root of a handle where the values of its memory tier were read.
struct Numbered {
    cache: Cache,
    origins: Origins,
}

thread_local! {
    static CACHES: RefCell<Slab<Numbered>> = const { RefCell::new(Slab::new()) };
}

/// The cache of a number.
#[inline]
fn with<R>(number: u32, f: impl FnOnce(&Cache) -> Result<R>) -> Result<R> {
    with_origins(number, |cache, _| f(cache))
}

/// The same, with where values were read.
#[inline]
fn with_origins<R>(number: u32, f: impl FnOnce(&Cache, &mut Origins) -> Result<R>) -> Result<R> {
    CACHES.with_borrow_mut(|all| match all.get(number) {
        Some(Numbered { cache, origins }) => f(cache, origins),
        None => Err(error::invalid("no such cache")),
    })
}

/// An encryption key with its id.
#[napi(object)]
pub struct RemoteKey {
    /// 0 to 2^32 - 1.
    pub id: u32,
    /// 32 bytes.
    pub key: Uint8Array,
}

/// How it is opened. Times are milliseconds; what is absent has its default.
#[napi(object)]
pub struct RemoteOptions {
    /// A URL;
    pub url: Option<String>,
    /// or a client's settings.
    pub settings: Option<RemoteSettings>,
    /// How long a command may take.
    pub timeout: Option<f64>,
    /// How far a read may be behind.
    pub max_staleness: Option<f64>,
    /// What its keys begin with.
    pub prefix: Option<String>,
    /// The directory.
    pub path: Option<String>,
    /// Its byte limit.
    pub limit: Option<f64>,
    /// Permission bits of its files.
    pub mode: Option<u32>,
    /// Whether the first handle of a boot empties it.
    pub empty_at_boot: bool,
    /// 0 for never.
    pub flush_every: Option<f64>,
    /// See `leaseTimeout`.
    pub lease_timeout: f64,
    /// See `waitTimeout`.
    pub wait_timeout: f64,
    /// The id of the payloads it is given.
    pub serializer: u32,
    /// The zstd level, 0 for none, -1 for smart.
    pub level: i32,
    /// Most bytes of a payload.
    pub max_value: f64,
    /// Of entries that are written; 0 is none.
    pub time_to_idle: f64,
    /// Trained ones.
    pub dictionaries: Option<Vec<Uint8Array>>,
    /// The first encrypts.
    pub encryption: Option<Vec<RemoteKey>>,
    /// True when `set_clock` gives the time.
    pub manual_clock: bool,
}

/// What a handle did with its remote tier, and how that is.
#[napi(object)]
pub struct RemoteStats {
    /// See `src/remote/stats.ts`, as for all.
    pub near_hits: f64,
    /// Reads that the server answered.
    pub remote_hits: f64,
    /// Reads that another caller's load answered.
    pub joined_hits: f64,
    /// Of one or several commands.
    pub round_trips: f64,
    /// Without an answer.
    pub faults: f64,
    /// What the last was about.
    pub last_fault: String,
    /// The circuit breaker.
    pub is_open: bool,
    /// Whether copies are served.
    pub listens: bool,
    /// Milliseconds.
    pub lag: Option<f64>,
    /// Whether every read goes through.
    pub refuses_tracking: bool,
}

/// What a handle counted, and what is held.
#[napi(object)]
pub struct RemoteHandleStats {
    /// Reads that found an entry; by a join of another's load JavaScript counts itself.
    pub hits: f64,
    /// Reads that found none.
    pub misses: f64,
    /// Entries stored.
    pub writes: f64,
    /// Entries deleted.
    pub deletes: f64,
    /// Loads whose value was not stored.
    pub invalidated_loads: f64,
    /// By the directory, or by memory.
    pub holdings: DirectoryStats,
}

/// A namespace of a cache with a remote tier. The callbacks of [`ask`] take its number, which is valid as long as this
/// object lives.
#[napi]
pub struct NativeRemote {
    number: u32,
    cache: Cache,
    clock: Option<Arc<AtomicU64>>,
}

/// A time with its fraction.
fn milliseconds(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default()
}

/// An option's time, which has none.
fn whole(ms: f64) -> Duration {
    Duration::from_millis(ms as u64)
}

impl NativeRemote {
    fn of(cache: Cache, clock: Option<Arc<AtomicU64>>) -> NativeRemote {
        NativeRemote {
            number: CACHES.with_borrow_mut(|all| {
                all.add(Numbered {
                    cache: cache.clone(),
                    origins: Origins::default(),
                })
            }),
            cache,
            clock,
        }
    }
}

impl Drop for NativeRemote {
    fn drop(&mut self) {
        let number = self.number;
        let removed = CACHES.try_with(|all| all.borrow_mut().remove(number));
        if let Ok(Some(numbered)) = &removed {
            numbered.origins.report(&numbered.cache);
        }
        let removed = removed.map(|numbered| numbered.map(|numbered| numbered.cache));
        let cache = self.cache.clone();
        // With the last one the connections are closed, and what it was to load is told to the server.
        workers::run(move || drop((removed, cache)));
    }
}

#[napi]
impl NativeRemote {
    /// Opens the cache: the root of its namespaces. Nothing is sent yet.
    #[napi(factory)]
    pub fn open(options: RemoteOptions) -> Result<NativeRemote> {
        let serializer = u8::try_from(options.serializer)
            .map_err(|_| error::invalid("no such serializer"))
            .and_then(|id| Serializer::from_id(id).map_err(error::entry))?;
        let mut builder = Cache::builder()
            .serializer(serializer)
            .max_value(options.max_value as u64)
            .lease_timeout(whole(options.lease_timeout))
            .wait_timeout(whole(options.wait_timeout))
            .limit(options.limit.map(|limit| limit as u64))
            .mode(options.mode)
            .empty_at_boot(options.empty_at_boot);
        builder = match options.level {
            0 => builder,
            level if level < 0 => builder.compressor(polycache::Smart),
            level => builder.compressor(Zstd::new(level)),
        };
        builder = match (options.settings, options.url) {
            (Some(given), _) => builder.remote(settings::remote(given)?),
            (None, url) => builder.remote(url.unwrap_or_default()),
        };
        if let Some(timeout) = options.timeout {
            builder = builder.timeout(whole(timeout));
        }
        if let Some(staleness) = options.max_staleness {
            builder = builder.max_staleness(whole(staleness));
        }
        if let Some(prefix) = options.prefix {
            builder = builder.prefix(prefix);
        }
        if let Some(path) = options.path {
            builder = builder.path(path);
        }
        if let Some(every) = options.flush_every {
            let every = whole(every);
            builder = builder.flush_every((!every.is_zero()).then_some(every));
        }
        if options.time_to_idle > 0.0 {
            builder = builder.time_to_idle(whole(options.time_to_idle));
        }
        if let Some(dictionaries) = options.dictionaries {
            builder = builder.dictionaries(dictionaries);
        }
        if let Some(keys) = options.encryption {
            builder = builder.encryption(keys.iter().map(|one| (one.id, &one.key)));
        }
        let clock = options.manual_clock.then(Arc::<AtomicU64>::default);
        if let Some(time) = &clock {
            builder = builder.clock(Clock::Manual(time.clone()));
        }
        let cache = builder.build().map_err(error::cache)?;
        Ok(NativeRemote::of(cache, clock))
    }

    /// The namespace nested in this one.
    #[napi]
    pub fn nested(&self, part: String) -> Result<NativeRemote> {
        let nested = self.cache.namespace(part).map_err(error::cache)?;
        Ok(NativeRemote::of(nested, self.clock.clone()))
    }

    /// The number for the callbacks.
    #[napi(getter)]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The directory, absolute; empty where there is none.
    #[napi(getter)]
    pub fn path(&self) -> String {
        self.cache.path().to_string_lossy().into_owned()
    }

    /// Sets the time, in milliseconds since 1970, of a cache with a manual clock.
    #[napi]
    pub fn set_clock(&self, now: f64) {
        if let Some(clock) = &self.clock {
            clock.store(now as u64, Ordering::Relaxed);
        }
    }

    /// What the handle did, with what the directory or the copies in memory hold.
    #[napi]
    pub fn stats(&self) -> Result<RemoteHandleStats> {
        let stats = self.cache.stats().map_err(error::cache)?;
        Ok(RemoteHandleStats {
            hits: stats.hits as f64,
            misses: stats.misses as f64,
            writes: stats.writes as f64,
            deletes: stats.deletes as f64,
            invalidated_loads: stats.invalidated_loads as f64,
            holdings: DirectoryStats::from(stats),
        })
    }

    /// What all processes did with the directory, if there is one.
    #[napi]
    pub fn machine_stats(&self) -> Result<Option<MachineStats>> {
        with_origins(self.number, |cache, origins| {
            origins.report(cache);
            Ok(())
        })?;
        let stats = self.cache.machine_stats().map_err(error::cache)?;
        Ok(stats.map(MachineStats::from))
    }

    /// Counts what JavaScript did: reads that another caller's load answered or left without a value, loaded values that
    /// could not be stored, and callers that waited too long.
    #[napi]
    pub fn add_counts(&self, joined: u32, misses: u32, unstored: u32, timeouts: u32) {
        (0..joined).for_each(|_| self.cache.add_read(true));
        (0..misses).for_each(|_| self.cache.add_read(false));
        (0..unstored).for_each(|_| self.cache.count_unstored());
        (0..timeouts).for_each(|_| self.cache.count_wait_timeout());
    }

    /// Counts the read of a `take`.
    #[napi]
    pub fn count_taken(&self, found: bool) {
        self.cache.count_taken(found);
    }

    /// Takes back the miss of a read whose caller went on to a load.
    #[napi]
    pub fn found_later(&self) {
        self.cache.count_found_later();
    }

    /// What the handle did with its remote tier.
    #[napi]
    pub fn remote_stats(&self) -> Option<RemoteStats> {
        self.cache.remote_stats().map(|stats| RemoteStats {
            near_hits: stats.near_hits as f64,
            remote_hits: stats.remote_hits as f64,
            joined_hits: stats.joined_hits as f64,
            round_trips: stats.round_trips as f64,
            faults: stats.faults as f64,
            last_fault: stats.last_fault,
            is_open: stats.is_open,
            listens: stats.listens,
            lag: stats.lag.map(|lag| lag.as_secs_f64() * 1000.0),
            refuses_tracking: stats.refuses_tracking,
        })
    }
}
