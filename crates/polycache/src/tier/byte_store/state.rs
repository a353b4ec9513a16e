//! What the processes of a store share beside it: its limit, its size, how it was left, which keys were used.

use polycache_host::SharedWords;
use std::sync::atomic::{AtomicU64, Ordering};

/// A word of the file `state`.
#[derive(Clone, Copy)]
pub enum Word {
    /// 0 in a new file.
    Version,
    /// Bytes that the whole directory may take.
    Limit,
    /// Bytes that the store takes, as counted, or as measured last.
    Bytes,
    /// Bytes written since the store's size was measured.
    Written,
    /// 1 while nobody has the store open and everything is on the disk.
    Closed,
    /// A part of the boot's id.
    Boot,
    /// 1 when a process wrote without waiting for the disk.
    Unsynced,
    Evicted,
    FailedPuts,
    /// Changes under way in a store that counts, and those that did not end: then `Bytes` may be wrong.
    Changing,
}

/// Of this file, and of `locks`. In version 1 the locks of keys were those of bytes.
pub const VERSION: u64 = 2;
/// Where the bits of used keys begin.
const USES: usize = 64;

/// Bits of a key. What is read outlives what was only written, even where one eviction goes round more than once.
const WRITTEN: u64 = 1;
const READ: u64 = 2;

/// The shared words, and their bits: two for each hash of a key, set when the key is used, so that the hand of the
/// eviction passes it by (CLOCK, Corbató 1968).
pub struct State(SharedWords);

/// Words of a file for a store of this limit: two bits for each 256 bytes. Most are nobody's, so that hardly two keys
/// share theirs.
pub fn words_for(limit: u64) -> usize {
    let bits = (limit / 128).clamp(1 << 18, 1 << 30);
    USES + (bits / 64) as usize
}

impl State {
    pub fn new(words: SharedWords) -> State {
        State(words)
    }

    #[inline]
    pub fn word(&self, word: Word) -> &AtomicU64 {
        &self.0.all()[word as usize]
    }

    #[inline]
    pub fn get(&self, word: Word) -> u64 {
        self.word(word).load(Ordering::Relaxed)
    }

    pub fn set(&self, word: Word, value: u64) {
        self.word(word).store(value, Ordering::Relaxed);
    }

    /// Adds to a count that does not fall below 0.
    #[inline]
    pub fn add(&self, word: Word, by: i64) {
        let next = |now: u64| Some(now.saturating_add_signed(by));
        let _ = self
            .word(word)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.0.all().len() as u64 * 8
    }

    pub fn sync(&self) -> Result<(), polycache_host::Error> {
        self.0.sync()
    }

    #[inline]
    fn place(&self, stored_key: &[u8]) -> (&AtomicU64, u32) {
        let uses = &self.0.all()[USES..];
        let hash = polycache_host::hash::key_hash(0, stored_key).as_u64();
        let at = (hash >> 5) as usize % uses.len();
        (&uses[at], 2 * (hash & 31) as u32)
    }

    /// Notes that the key was read: the hand passes it by twice.
    #[inline]
    pub fn note_read(&self, stored_key: &[u8]) {
        self.note(stored_key, WRITTEN | READ);
    }

    /// Notes that the key was written: the hand passes it by once.
    pub fn note_write(&self, stored_key: &[u8]) {
        self.note(stored_key, WRITTEN);
    }

    #[inline]
    fn note(&self, stored_key: &[u8], bits: u64) {
        let (word, shift) = self.place(stored_key);
        let bits = bits << shift;
        // Most are noted already: then the cache line stays shared.
        if word.load(Ordering::Relaxed) & bits != bits {
            word.fetch_or(bits, Ordering::Relaxed);
        }
    }

    /// Whether the hand is to pass the key by; once less from then on.
    pub fn take_use(&self, stored_key: &[u8]) -> bool {
        let (word, shift) = self.place(stored_key);
        [READ, WRITTEN].into_iter().any(|bit| {
            let bit = bit << shift;
            word.fetch_and(!bit, Ordering::Relaxed) & bit != 0
        })
    }
}
