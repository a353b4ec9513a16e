//! An open directory.

use crate::dictionaries::NativeDictionaries;
use crate::encryption::NativeEncryption;
use crate::namespace::NativeNamespace;
use crate::statistics::{self, MachineStats};
use crate::{buffers, error, tasks};
use napi::bindgen_prelude::{ArrayBuffer, AsyncTask, Env};
use napi::Result;
use napi_derive::napi;
use polycache_entry::Limits;
use polycache_host::{layout, Clock, Counts, Options, Stats, Store};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// How a directory is opened.
#[napi(object)]
pub struct OpenOptions {
    /// The cache's directory.
    pub path: String,
    /// Byte limit; the existing directory's or the default when absent.
    pub limit: Option<f64>,
    /// Permission bits of the files; the existing directory's or the default when absent.
    pub mode: Option<u32>,
    /// Milliseconds.
    pub lease_timeout: f64,
    /// Whether the first handle of a boot empties the directory.
    pub empty_at_boot: bool,
    /// Milliseconds; 0 for never.
    pub flush_every: f64,
    /// True when `set_clock` gives the time.
    pub manual_clock: bool,
}

/// Where JavaScript finds what it reads in place. Offsets are bytes in the index.
#[napi(object)]
pub struct Layout {
    /// The epoch, whose low 32 bits are looked at. Its uppermost byte counts the levels opened beside the first.
    pub epoch_at: f64,
    /// The slots' words.
    pub slots_at: f64,
    /// The slots' visited bytes.
    pub visited_at: f64,
    /// Bytes of the index.
    pub index_length: f64,
    /// Number of buckets of each level, powers of two.
    pub levels: Vec<f64>,
    /// Slots in a bucket.
    pub bucket_slots: u32,
    /// Bytes of a block, a power of two.
    pub block_size: f64,
    /// Bytes of a unit of the words' locations, a power of two.
    pub unit: u32,
    /// Bytes of a window, a power of two; the last window is shorter.
    pub window_size: f64,
    /// Bytes of all blocks.
    pub blocks_length: f64,
    /// Bytes of a record before its key.
    pub record_header: u32,
    /// Bytes of an entry before its payload, without optional fields.
    pub entry_header: u32,
    /// Byte limit of the directory.
    pub limit: f64,
    /// Seed of the key hash, low and high half.
    pub seed_low: u32,
    /// See `seed_low`.
    pub seed_high: u32,
    /// True where the processor keeps loads in order, which JavaScript cannot ask for: x86-64.
    pub ordered_loads: bool,
    /// True when the pages may only be read.
    pub read_only: bool,
}

/// What the directory holds; the counters of one handle's own operations are kept in JavaScript.
#[napi(object)]
pub struct DirectoryStats {
    /// Entries in the index.
    pub entries: f64,
    /// Bytes of disk space.
    pub bytes: f64,
    /// Byte limit.
    pub limit: f64,
    /// Largest key and entry together.
    pub max_record: f64,
    /// Entries evicted because their block was the oldest.
    pub evicted_by_age: f64,
    /// Entries evicted because the index had no place for a new key.
    pub evicted_by_conflict: f64,
    /// Old values removed because their replacement could not be stored.
    pub evicted_by_failed_put: f64,
    /// Expired entries that recycling removed.
    pub expired: f64,
    /// Entries that recycling kept because they had been visited.
    pub reinserted: f64,
    /// Blocks claimed since the directory was made.
    pub blocks_claimed: f64,
    /// Clears that found no place for their namespace's floor and cleared a group of namespaces.
    pub floor_overflows: f64,
    /// Flushes that failed because the disk refused something.
    pub failed_flushes: f64,
}

impl From<Stats> for DirectoryStats {
    fn from(stats: Stats) -> DirectoryStats {
        DirectoryStats {
            entries: stats.entries as f64,
            bytes: stats.bytes as f64,
            limit: stats.limit as f64,
            max_record: stats.max_record as f64,
            evicted_by_age: stats.evicted_by_age as f64,
            evicted_by_conflict: stats.evicted_by_conflict as f64,
            evicted_by_failed_put: stats.evicted_by_failed_put as f64,
            expired: stats.expired as f64,
            reinserted: stats.reinserted as f64,
            blocks_claimed: stats.blocks_claimed as f64,
            floor_overflows: stats.floor_overflows as f64,
            failed_flushes: stats.failed_flushes as f64,
        }
    }
}

/// A store that can be closed under the objects that use it: the mapping goes with the last buffer
/// over it, not when the garbage collector gets to these objects.
pub(crate) struct Handle {
    store: RefCell<Option<Store>>,
    clock: Option<Arc<AtomicU64>>,
}

impl Handle {
    /// The store while it is open.
    pub fn store(&self) -> Result<Store> {
        self.with(|store| Ok(store.clone()))
    }

    /// Calls `f` with the store while it is open.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(&Store) -> Result<R>) -> Result<R> {
        match &*self.store.borrow() {
            Some(store) => f(store),
            None => Err(error::host(polycache_host::Error::Closed)),
        }
    }
}

/// An open directory.
#[napi]
pub struct NativeStore {
    handle: Rc<Handle>,
}

#[napi]
impl NativeStore {
    /// Opens the directory.
    #[napi(factory)]
    pub fn open(options: OpenOptions) -> Result<NativeStore> {
        let mut opening = Options::new(options.path);
        opening.limit = options.limit.map(|limit| limit as u64);
        opening.file_mode = options.mode;
        opening.lease_timeout = Duration::from_millis(options.lease_timeout as u64);
        opening.empty_at_boot = options.empty_at_boot;
        let every = Duration::from_millis(options.flush_every as u64);
        opening.flush_every = (!every.is_zero()).then_some(every);
        // JavaScript reads the mapping itself, so it counts everything itself.
        opening.counts = false;
        let clock = options.manual_clock.then(Arc::<AtomicU64>::default);
        if let Some(time) = &clock {
            opening.clock = Clock::Manual(time.clone());
        }
        let store = Store::open(&opening).map_err(error::host)?;
        Ok(NativeStore {
            handle: Rc::new(Handle {
                store: RefCell::new(Some(store)),
                clock,
            }),
        })
    }

    /// Where everything lies.
    #[napi]
    pub fn layout(&self) -> Result<Layout> {
        self.handle.with(|store| {
            let shared = store.shared();
            let geometry = shared.geometry;
            Ok(Layout {
                epoch_at: layout::header::EPOCH as f64,
                slots_at: geometry.slots_at as f64,
                visited_at: geometry.visited_at as f64,
                index_length: geometry.index_len as f64,
                levels: geometry.levels[..geometry.level_count]
                    .iter()
                    .map(|level| level.buckets() as f64)
                    .collect(),
                bucket_slots: layout::BUCKET as u32,
                block_size: geometry.block_size as f64,
                unit: geometry.unit as u32,
                window_size: layout::WINDOW as f64,
                blocks_length: geometry.blocks_len() as f64,
                record_header: layout::RECORD_HEADER as u32,
                entry_header: polycache_entry::HEADER_LEN as u32,
                limit: geometry.limit as f64,
                seed_low: shared.seed as u32,
                seed_high: (shared.seed >> 32) as u32,
                ordered_loads: cfg!(target_arch = "x86_64"),
                read_only: store.is_read_only(),
            })
        })
    }

    /// An ArrayBuffer over the index, or `undefined` where this engine allows none. Called once: an
    /// engine may abort when an address is wrapped twice.
    #[napi]
    pub fn index_buffer<'env>(&self, env: &'env Env) -> Result<Option<ArrayBuffer<'env>>> {
        self.handle
            .with(|store| buffers::over(env, store, store.shared().memory.index()))
    }

    /// An ArrayBuffer over one window of blocks; otherwise like `index_buffer`.
    #[napi]
    pub fn window_buffer<'env>(
        &self,
        env: &'env Env,
        window: u32,
    ) -> Result<Option<ArrayBuffer<'env>>> {
        self.handle.with(
            |store| match store.shared().memory.windows().get(window as usize) {
                Some(mapping) => buffers::over(env, store, mapping),
                None => Err(error::invalid("no such window")),
            },
        )
    }

    /// A namespace. `serializer` is the id of the payloads it is given, `level` the zstd level, 0 or -1 (smart),
    /// `max_value` the most bytes of a payload it hands out, `encryption` the keys
    /// and `dictionaries` what zstd compresses with, if there are any. `time_to_idle` is that of entries it writes, in
    /// milliseconds; 0 is none.
    // One call makes a namespace whole.
    #[allow(clippy::too_many_arguments)]
    #[napi]
    pub fn namespace(
        &self,
        parts: Vec<String>,
        serializer: u32,
        level: i32,
        max_value: f64,
        encryption: Option<&NativeEncryption>,
        dictionaries: Option<&NativeDictionaries>,
        time_to_idle: Option<f64>,
    ) -> Result<NativeNamespace> {
        NativeNamespace::new(
            &self.handle,
            &parts,
            serializer,
            level,
            Limits {
                max_length: max_value as u64,
                dictionaries: dictionaries.map(|some| some.0.clone()),
            },
            encryption.map(|keys| keys.0.clone()),
            time_to_idle.unwrap_or(0.0) as u64,
        )
    }

    /// Sets the time, in milliseconds since 1970, of a store with a manual clock.
    #[napi]
    pub fn set_clock(&self, now: f64) {
        if let Some(clock) = &self.handle.clock {
            clock.store(now as u64, Ordering::Relaxed);
        }
    }

    /// Counts and sizes of the directory.
    #[napi]
    pub fn stats(&self) -> Result<DirectoryStats> {
        let stats: Stats = self
            .handle
            .with(|store| store.stats().map_err(error::host))?;
        Ok(DirectoryStats::from(stats))
    }

    /// What all processes of the machine did with the directory.
    #[napi]
    pub fn machine_stats(&self) -> Result<MachineStats> {
        let stats = self
            .handle
            .with(|store| store.machine_stats().map_err(error::host))?;
        Ok(stats.into())
    }

    /// The namespaces that take the most space, found on a thread of the pool.
    #[napi]
    pub fn usage(&self, most: u32) -> Result<AsyncTask<statistics::Usage>> {
        Ok(AsyncTask::new(statistics::Usage(
            self.handle.store()?,
            most as usize,
        )))
    }

    /// Adds to what the machine counts, in the order of `Counts`: memory hits, hits, misses, writes, deletes, invalidated
    /// loads, unstored values, waits that took too long.
    #[napi]
    pub fn add_counts(&self, counts: Vec<f64>) -> Result<()> {
        let count = |place: usize| counts.get(place).map_or(0, |count| *count as u64);
        self.handle.with(|store| {
            store.add_counts(&Counts {
                memory_hits: count(0),
                hits: count(1),
                misses: count(2),
                writes: count(3),
                deletes: count(4),
                invalidated_loads: count(5),
                unstored: count(6),
                wait_timeouts: count(7),
            });
            Ok(())
        })
    }

    /// Looks whether the files are still those of the path.
    #[napi]
    pub fn look(&self) -> Result<()> {
        self.handle.store()?.look();
        Ok(())
    }

    /// Verifies every entry, on a thread of the pool.
    #[napi]
    pub fn check(&self) -> Result<AsyncTask<tasks::Check>> {
        Ok(AsyncTask::new(tasks::Check(self.handle.store()?)))
    }

    /// Writes everything to the disk, on a thread of the pool.
    #[napi]
    pub fn flush(&self) -> Result<AsyncTask<tasks::Flush>> {
        Ok(AsyncTask::new(tasks::Flush(self.handle.store()?)))
    }

    /// The cache's directory, absolute.
    #[napi(getter)]
    pub fn path(&self) -> Result<String> {
        self.handle.with(|store| {
            // The store's files lie in a folder of their layout's version.
            let path = store.path();
            Ok(path.parent().unwrap_or(path).display().to_string())
        })
    }

    /// Closes the directory. The caller has detached the buffers.
    #[napi]
    pub fn close(&self) {
        if let Some(store) = self.handle.store.borrow_mut().take() {
            store.close();
        }
    }
}
