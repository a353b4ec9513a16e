//! The options of a cache.

use crate::bounds::Bounds;
use crate::budget::Budget;
use crate::cache::{ExpireAfter, Inner, Settings, Weigher};
use crate::clock::Clock;
use crate::lock::{Lock, Readers};
use crate::removed::Listener;
use crate::shard::Shard;
use crate::sync::{Arc, AtomicU64};
use crate::ttl::milliseconds;
use crate::{Error, MemoryCache, RemovalCause, Ttl};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::time::Duration;

/// A shard holds at least so many entries, or bytes: a cache of less has fewer shards,
/// down to one.
const SMALLEST_SHARE: u64 = 1024;
/// Entries at most, whatever is asked for: their indices have 32 bits.
const MOST_ENTRIES: u64 = u32::MAX as u64 - 1;
/// Shards at most, unless asked for.
const MOST_SHARDS: usize = 1024;

/// The hasher for keys unless another is given: fast, seeded anew for every cache, and not made to
/// withstand keys that were chosen to collide.
#[derive(Clone, Debug, Default)]
pub struct DefaultHashBuilder(foldhash::fast::RandomState);

impl BuildHasher for DefaultHashBuilder {
    type Hasher = foldhash::fast::FoldHasher<'static>;

    #[inline]
    fn build_hasher(&self) -> Self::Hasher {
        self.0.build_hasher()
    }
}

/// Options of a [`MemoryCache`]. At least one bound is required: [`Builder::max_entries`], or
/// [`Builder::max_bytes`] with [`Builder::weigher`].
///
/// ```
/// use polycache_memory::MemoryCache;
/// use std::time::Duration;
///
/// let cache = MemoryCache::<String, Vec<u8>>::builder()
///     .max_bytes(64 << 20)
///     .weigher(|key, value| (key.len() + value.len()) as u64)
///     .ttl(Duration::from_secs(300))
///     .time_to_idle(Duration::from_secs(60))
///     .build()?;
/// cache.set("a".into(), vec![0; 1000])?;
/// assert_eq!(cache.bytes(), 1001);
/// # Ok::<(), polycache_memory::Error>(())
/// ```
pub struct Builder<K, V> {
    max_entries: Option<u64>,
    max_bytes: Option<u64>,
    weigher: Option<Weigher<K, V>>,
    ttl: Option<Duration>,
    time_to_idle: Option<Duration>,
    expire_after: Option<ExpireAfter<K, V>>,
    listener: Option<Listener<K, V>>,
    clock: Clock,
    wait_timeout: Duration,
    shards: Option<usize>,
}

impl<K, V> Default for Builder<K, V> {
    fn default() -> Builder<K, V> {
        Builder {
            max_entries: None,
            max_bytes: None,
            weigher: None,
            ttl: None,
            time_to_idle: None,
            expire_after: None,
            listener: None,
            clock: Clock::System,
            wait_timeout: Duration::from_secs(60),
            shards: None,
        }
    }
}

impl<K, V> fmt::Debug for Builder<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("max_entries", &self.max_entries)
            .field("max_bytes", &self.max_bytes)
            .field("ttl", &self.ttl)
            .field("time_to_idle", &self.time_to_idle)
            .field("shards", &self.shards)
            .finish_non_exhaustive()
    }
}

impl<K: Eq + Hash, V: Clone> Builder<K, V> {
    /// How many entries are held at most; at no instant there are more. In any case no more than
    /// 2^32 - 2 are. Default: none.
    #[must_use]
    pub fn max_entries(mut self, entries: u64) -> Self {
        self.max_entries = Some(entries);
        self
    }

    /// How many bytes the entries may weigh together, by [`Builder::weigher`]; at no instant they weigh
    /// more. An entry that weighs more by itself is `EntryTooLarge`. Default: none.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// How many bytes an entry weighs. Asked once, when it is stored. 0 counts as 1. Default: none.
    #[must_use]
    pub fn weigher(mut self, weigher: impl Fn(&K, &V) -> u64 + Send + Sync + 'static) -> Self {
        self.weigher = Some(Box::new(weigher));
        self
    }

    /// How long an entry lives after it was written, where nothing else is said. Without it, entries do
    /// not expire. Reading does not prolong it. Default: none.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// How long an entry stays without being written or read. Whichever time is over first counts.
    /// Default: none.
    #[must_use]
    pub fn time_to_idle(mut self, time: Duration) -> Self {
        self.time_to_idle = Some(time);
        self
    }

    /// How long this entry lives, asked where a write says [`Ttl::Default`]: for values that bring
    /// their own time, as tokens do. [`Ttl::Default`] as its answer is [`Builder::ttl`].
    ///
    /// [`Ttl::For`] no time at all says that the value's time is over at once: it is not stored, and the
    /// key's old value goes; a loaded one is returned. A time that is too long is as long as can be.
    ///
    /// ```
    /// # use polycache_memory::{MemoryCache, Ttl};
    /// # use std::time::Duration;
    /// struct Token { text: String, expires_in: Duration }
    ///
    /// let tokens = MemoryCache::<u64, std::sync::Arc<Token>>::builder()
    ///     .max_entries(1000)
    ///     .expire_after(|_, token| Ttl::For(token.expires_in))
    ///     .build()?;
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    #[must_use]
    pub fn expire_after(mut self, ttl: impl Fn(&K, &V) -> Ttl + Send + Sync + 'static) -> Self {
        self.expire_after = Some(Box::new(ttl));
        self
    }

    /// Called with every entry that leaves, and why, in the thread whose call made it leave, after its
    /// change is done and without a lock: it may use the cache. What it is given is its own. A panic
    /// ends the listener alone: the program's panic hook reports it, and the call goes on. Default: none.
    ///
    /// ```
    /// # use polycache_memory::{MemoryCache, RemovalCause};
    /// # use std::sync::{Arc, Mutex};
    /// let left = Arc::new(Mutex::new(Vec::new()));
    /// let list = left.clone();
    /// let cache = MemoryCache::builder()
    ///     .max_entries(1)
    ///     .removal_listener(move |key, value, cause| list.lock().unwrap().push((key, value, cause)))
    ///     .build()?;
    /// cache.set("a", 1)?;
    /// cache.set("b", 2)?;
    /// cache.delete("b");
    /// let left = left.lock().unwrap();
    /// assert_eq!(*left, [("a", 1, RemovalCause::Evicted), ("b", 2, RemovalCause::Deleted)]);
    /// # Ok::<(), polycache_memory::Error>(())
    /// ```
    #[must_use]
    pub fn removal_listener(
        mut self,
        listener: impl Fn(K, V, RemovalCause) + Send + Sync + 'static,
    ) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// How long a thread waits for another caller's load before it gets [`Error::WaitTimeout`].
    /// Default: 60 s.
    #[must_use]
    pub fn wait_timeout(mut self, timeout: Duration) -> Self {
        self.wait_timeout = timeout;
        self
    }

    /// What time it is, for tests: milliseconds since any instant, never fewer than before. Without it,
    /// the system's monotonic clock, which is a few milliseconds behind on Linux.
    /// Default: the system's.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.clock = Clock::Given(Arc::new(clock));
        self
    }

    /// Into how many parts the entries are divided, each with a lock for its writers: a power of
    /// two, up to 65,536. Without it, four for each processor, and one for a small cache. With one,
    /// the eviction policy is exact over all entries.
    #[must_use]
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = Some(shards);
        self
    }

    /// Makes the cache.
    ///
    /// # Errors
    /// `InvalidArgument` for a bound of 0 or none at all, for a weigher without `max_bytes` or the
    /// other way round, for a time of 0 or more than 2^48 - 1 ms, and for a number of shards that is
    /// not a power of two or too large.
    pub fn build(self) -> Result<MemoryCache<K, V>, Error> {
        self.build_with_hasher(DefaultHashBuilder::default())
    }

    /// Makes the cache, with another hasher for its keys.
    ///
    /// # Errors
    /// As for [`Builder::build`].
    pub fn build_with_hasher<S: BuildHasher>(
        self,
        hasher: S,
    ) -> Result<MemoryCache<K, V, S>, Error> {
        self.check_bounds()?;
        let ttl = optional("ttl", self.ttl)?;
        let time_to_idle = optional("time_to_idle", self.time_to_idle)?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let shards = self.shard_count(processors)?;
        let weighed = self.max_bytes.is_some();
        let shards =
            (1..=shards).map(|number| Lock::new(number, Shard::new(weighed, time_to_idle)));
        Ok(MemoryCache(Arc::new(Inner {
            hasher,
            shards: shards.collect(),
            readers: Readers::new((4 * processors).clamp(16, 256)),
            bounds: Bounds {
                entries: Budget::new(self.max_entries.unwrap_or(u64::MAX).min(MOST_ENTRIES)),
                bytes: self.max_bytes.map(Budget::new),
            },
            settings: Settings {
                ttl,
                expire_after: self.expire_after,
                weigher: self.weigher,
                listener: self.listener,
                clock: self.clock,
                wait_timeout: self.wait_timeout,
            },
            wait_timeouts: AtomicU64::new(0),
        })))
    }

    fn check_bounds(&self) -> Result<(), Error> {
        let wrong = match (self.max_entries, self.max_bytes, &self.weigher) {
            (Some(0), ..) => "max_entries is 0; it must be at least 1",
            (_, Some(0), _) => "max_bytes is 0; it must be at least 1",
            (None, None, _) => "give the cache a bound: max_entries, or max_bytes with a weigher",
            (_, Some(_), None) => "max_bytes needs a weigher, which says what an entry weighs",
            (_, None, Some(_)) => "a weigher needs max_bytes, which bounds what it says",
            _ => return Ok(()),
        };
        Err(Error::InvalidArgument(wrong.into()))
    }

    fn shard_count(&self, processors: usize) -> Result<usize, Error> {
        if let Some(shards) = self.shards {
            if !shards.is_power_of_two() || shards > 1 << 16 {
                return Err(Error::InvalidArgument(format!(
                    "shards is {shards}; it must be a power of two, at most 65,536"
                )));
            }
            return Ok(shards);
        }
        let wanted = (4 * processors).next_power_of_two().min(MOST_SHARDS);
        let bounds = [self.max_entries, self.max_bytes];
        let smallest = bounds.into_iter().flatten().min();
        let filled = smallest.unwrap_or(u64::MAX) / SMALLEST_SHARE;
        let filled = usize::try_from(filled).unwrap_or(usize::MAX);
        Ok(match filled {
            0 => 1,
            filled if filled >= wanted => wanted,
            filled => 1 << filled.ilog2(),
        })
    }
}

/// A time in milliseconds, 0 for none.
fn optional(option: &str, time: Option<Duration>) -> Result<u64, Error> {
    time.map_or(Ok(0), |time| milliseconds(option, time))
}
