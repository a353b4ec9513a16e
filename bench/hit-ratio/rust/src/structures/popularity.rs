//! How often keys were asked for lately, in a few bytes an entry: the TinyLFU paper's count-min
//! sketch of small counters behind a doorkeeper, a Bloom filter that most keys never get past.

use crate::policy::Key;

/// Requests after which everything is halved, times the capacity.
const SAMPLE: usize = 10;
/// Counters end here, as four bits do.
const MOST: u8 = 15;
const ROWS: usize = 4;
/// Counters in a row, times the capacity.
const WIDTH: usize = 4;
/// Bits of the doorkeeper for each request of a sample, and bits set for each: 3 % are let past
/// wrongly when it is at its fullest.
const DOOR_BITS: usize = 8;
const DOOR_HASHES: usize = 3;

/// Counts requests; forgets half of each count now and then.
pub struct Popularity {
    /// Rows one after another, each a power of two wide.
    counters: Vec<u8>,
    door: Vec<u64>,
    sample: usize,
    counted: usize,
}

impl Popularity {
    /// For a cache of so many entries.
    #[must_use]
    pub fn new(capacity: usize) -> Popularity {
        let sample = SAMPLE * capacity;
        Popularity {
            counters: vec![0; ROWS * (WIDTH * capacity).next_power_of_two().max(64)],
            door: vec![0; (DOOR_BITS * sample / 64).next_power_of_two()],
            sample,
            counted: 0,
        }
    }

    /// Counts a request.
    pub fn count(&mut self, key: Key) {
        let hash = mix(key);
        if !self.knock(hash) {
            for row in 0..ROWS {
                let at = self.counter(hash, row);
                self.counters[at] = (self.counters[at] + 1).min(MOST);
            }
        }
        self.counted += 1;
        if self.counted >= self.sample {
            self.age();
        }
    }

    /// About how often the key was asked for lately: never fewer times than it was, up to 16.
    #[must_use]
    pub fn of(&self, key: Key) -> u8 {
        let hash = mix(key);
        let least = (0..ROWS).map(|row| self.counters[self.counter(hash, row)]);
        least.min().unwrap_or(0) + u8::from(self.is_known(hash))
    }

    fn age(&mut self) {
        self.door.fill(0);
        for counter in &mut self.counters {
            *counter /= 2;
        }
        self.counted /= 2;
    }

    /// True when the key was new to the doorkeeper, which knows it from now on.
    fn knock(&mut self, hash: u64) -> bool {
        let known = self.is_known(hash);
        for number in 0..DOOR_HASHES {
            let (word, bit) = self.door_bit(hash, number);
            self.door[word] |= bit;
        }
        !known
    }

    fn is_known(&self, hash: u64) -> bool {
        (0..DOOR_HASHES).all(|number| {
            let (word, bit) = self.door_bit(hash, number);
            self.door[word] & bit != 0
        })
    }

    fn counter(&self, hash: u64, row: usize) -> usize {
        let width = self.counters.len() / ROWS;
        row * width + (nth(hash, row) as usize & (width - 1))
    }

    fn door_bit(&self, hash: u64, number: usize) -> (usize, u64) {
        let bit = nth(hash, ROWS + number);
        let word = (bit >> 6) as usize & (self.door.len() - 1);
        (word, 1 << (bit & 63))
    }
}

/// Spreads keys that lie side by side over all 64 bits: the finalizer of SplitMix64 (Steele, Lea,
/// Flood, OOPSLA 2014).
fn mix(key: Key) -> u64 {
    let mut z = u64::from(key).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Further hashes out of one, by double hashing (Kirsch, Mitzenmacher, 2006).
fn nth(hash: u64, number: usize) -> u64 {
    let step = (hash >> 32) | 1;
    (hash & 0xffff_ffff).wrapping_add(step.wrapping_mul(number as u64))
}
