//! Which keys' reads the server has just left without an answer.

use std::hash::{DefaultHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const PLACES: usize = 64;

/// Reads that waited for the server in vain. A load follows such a read, and would wait a second time for the same
/// server. Of two keys with one place the later one is known.
#[derive(Debug)]
pub(crate) struct Unanswered {
    places: [Place; PLACES],
    /// Whether there ever was one: usually no read need look for its key.
    is_used: AtomicBool,
}

/// A hash of the key, and when its read ended, in microseconds; 0: none. They are not one step: what is lost by a race
/// is a wait of one more timeout, or the lease of one load.
#[derive(Debug, Default)]
struct Place {
    hash: AtomicU64,
    at: AtomicU64,
}

impl Default for Unanswered {
    fn default() -> Self {
        Unanswered {
            places: std::array::from_fn(|_| Place::default()),
            is_used: AtomicBool::new(false),
        }
    }
}

impl Unanswered {
    fn place(&self, key: &[u8]) -> (&Place, u64) {
        let mut hasher = DefaultHasher::new();
        hasher.write(key);
        let hash = hasher.finish();
        (&self.places[hash as usize % PLACES], hash)
    }

    pub fn note(&self, key: &[u8], now: Duration) {
        self.is_used.store(true, Ordering::Relaxed);
        let (place, hash) = self.place(key);
        place.hash.store(hash, Ordering::Relaxed);
        place.at.store(now.as_micros() as u64, Ordering::Relaxed);
    }

    pub fn forget(&self, key: &[u8]) {
        if !self.is_used.load(Ordering::Relaxed) {
            return;
        }
        let (place, hash) = self.place(key);
        if place.hash.load(Ordering::Relaxed) == hash {
            place.at.store(0, Ordering::Relaxed);
        }
    }

    /// Whether a read of the key ended so within `most`.
    pub fn is_recent(&self, key: &[u8], now: Duration, most: Duration) -> bool {
        let (place, hash) = self.place(key);
        let at = place.at.load(Ordering::Relaxed);
        at != 0
            && place.hash.load(Ordering::Relaxed) == hash
            && now.saturating_sub(Duration::from_micros(at)) < most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_known_until_it_is_old_or_has_an_answer() {
        let unanswered = Unanswered::default();
        let ms = Duration::from_millis;
        assert!(!unanswered.is_recent(b"k", ms(0), ms(250)));
        unanswered.note(b"k", ms(1000));
        assert!(unanswered.is_recent(b"k", ms(1249), ms(250)));
        assert!(!unanswered.is_recent(b"k", ms(1250), ms(250)));
        assert!(!unanswered.is_recent(b"other", ms(1000), ms(250)));
        unanswered.forget(b"other");
        assert!(unanswered.is_recent(b"k", ms(1000), ms(250)));
        unanswered.forget(b"k");
        assert!(!unanswered.is_recent(b"k", ms(1000), ms(250)));
    }
}
