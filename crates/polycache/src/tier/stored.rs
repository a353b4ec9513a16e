//! Entries of the memory tier.

use super::memory_key::Key;
use super::OVERHEAD;
use polycache_memory::Ttl;
use std::any::Any;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// A decoded value, for the typed handles of a cache.
pub(crate) type Object = Arc<dyn Any + Send + Sync>;

/// An entry: its bytes, as the host tier would have them, and its decoded value, for a typed handle that needs it.
#[derive(Clone)]
pub(crate) struct Stored {
    pub entry: Arc<[u8]>,
    pub object: Option<Object>,
    /// No other entry of the process has it.
    pub version: u64,
}

/// A number that was never given out before. Each thread takes some thousand of them at once, so that writers in
/// different threads share no cache line.
#[inline]
pub(crate) fn next_version() -> u64 {
    const AT_ONCE: u64 = 1 << 12;
    static TAKEN: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NEXT: Cell<u64> = const { Cell::new(0) };
    }
    let mut version = NEXT.get();
    if version % AT_ONCE == 0 {
        version = TAKEN.fetch_add(1, Ordering::Relaxed) * AT_ONCE;
    }
    NEXT.set(version + 1);
    version
}

impl Stored {
    /// Whether it is the same entry, whatever objects are beside it.
    pub fn is_same(&self, other: &Stored) -> bool {
        Arc::ptr_eq(&self.entry, &other.entry)
    }

    /// Bytes that it takes, about. An object counts as much as its encoding.
    pub fn bytes(&self, key: usize) -> u64 {
        let entry = self.entry.len();
        let object = self
            .object
            .as_ref()
            .map_or(0, |object| entry + size_of_val(&**object));
        (key + entry + object) as u64 + OVERHEAD
    }

    pub fn weigh(key: &Key, stored: &Stored) -> u64 {
        stored.bytes(key.bytes.len())
    }

    /// How long it has to live, if it was written just now.
    #[inline]
    pub fn whole_ttl(&self) -> Ttl {
        self.ttl(|| polycache_entry::created(&self.entry))
    }

    /// How long it has to live, at `now`.
    pub fn ttl(&self, now: impl FnOnce() -> u64) -> Ttl {
        match polycache_entry::expires(&self.entry) {
            0 => Ttl::Forever,
            // If it is over by now, no reader gets it; 0 is not a time to live.
            expires => Ttl::For(Duration::from_millis(expires.saturating_sub(now()).max(1))),
        }
    }
}
