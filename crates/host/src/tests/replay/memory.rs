//! A memory that remembers every store, and what a power loss leaves of it on the disk.

use crate::layout::{Geometry, FLOOR_GROUPS};
use crate::shared_memory::SharedMemory;
use std::sync::atomic::{AtomicU64, AtomicU8, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// Words of eight bytes: those of the index, then those of the blocks.
pub type Image = Vec<u64>;

/// A store of one word.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    pub place: usize,
    pub value: u64,
}

type Act = Box<dyn FnOnce() + Send>;

pub struct Recorded {
    words: Box<[AtomicU64]>,
    /// Words of the index.
    index: usize,
    visited: Box<[AtomicU8]>,
    visited_at: usize,
    stores: Mutex<Vec<Store>>,
    /// What another process does after so many more stores.
    meanwhile: Mutex<Option<(usize, Act)>>,
}

impl Recorded {
    pub fn new(geometry: &Geometry, image: &Image) -> Arc<Recorded> {
        Arc::new(Recorded {
            words: image.iter().map(|word| AtomicU64::new(*word)).collect(),
            index: words_of_index(geometry),
            visited: (0..geometry.slots()).map(|_| AtomicU8::new(0)).collect(),
            visited_at: geometry.visited_at,
            stores: Mutex::default(),
            meanwhile: Mutex::default(),
        })
    }

    /// Stores so far: the time.
    pub fn now(&self) -> usize {
        self.stores.lock().unwrap().len()
    }

    pub fn stores(&self) -> Vec<Store> {
        self.stores.lock().unwrap().clone()
    }

    /// Another process acts after so many more stores.
    pub fn meanwhile(&self, stores: usize, act: impl FnOnce() + Send + 'static) {
        *self.meanwhile.lock().unwrap() = Some((stores, Box::new(act)));
    }

    pub fn is_waited_for(&self) -> bool {
        self.meanwhile.lock().unwrap().is_some()
    }

    /// Acts now, if something is to be done after some more stores.
    pub fn act(&self) {
        let act = self.meanwhile.lock().unwrap().take();
        if let Some((_, act)) = act {
            act();
        }
    }

    fn stored(&self, place: usize, value: u64) {
        self.stores.lock().unwrap().push(Store { place, value });
        let mut meanwhile = self.meanwhile.lock().unwrap();
        let is_due = match &mut *meanwhile {
            Some((0, _)) => true,
            Some((left, _)) => {
                *left -= 1;
                false
            }
            None => false,
        };
        drop(meanwhile);
        if is_due {
            self.act();
        }
    }

    fn block_word(&self, word: u64) -> &AtomicU64 {
        &self.words[self.index + word as usize]
    }

    fn change(&self, at: usize, change: impl Fn(u64) -> u64) -> u64 {
        let before = self.words[at / 8].load(SeqCst);
        let after = change(before);
        self.words[at / 8].store(after, SeqCst);
        self.stored(at / 8, after);
        before
    }
}

pub fn words_of_index(geometry: &Geometry) -> usize {
    geometry.index_len as usize / 8
}

/// An image of a disk on which nothing was stored.
pub fn empty(geometry: &Geometry) -> Image {
    vec![0; words_of_index(geometry) + geometry.blocks_len() as usize / 8]
}

/// Forgets what lies in levels from this one on: the file was not that long.
pub fn cut_levels(geometry: &Geometry, image: &mut Image, levels: usize) {
    let slots = geometry.slot_at(geometry.slots_in(levels)) / 8..words_of_index(geometry);
    let cells =
        |levels| geometry.floors_at / 8 + (FLOOR_GROUPS + 2 * geometry.floors_in(levels)) as usize;
    let cells = cells(levels)..cells(geometry.level_count);
    for place in slots.chain(cells) {
        image[place] = 0;
    }
}

impl SharedMemory for Recorded {
    fn load(&self, at: usize) -> u64 {
        self.words[at / 8].load(SeqCst)
    }
    fn store(&self, at: usize, value: u64) {
        self.change(at, |_| value);
    }
    fn compare_exchange(&self, at: usize, old: u64, new: u64) -> bool {
        let same = self.load(at) == old;
        if same {
            self.change(at, |_| new);
        }
        same
    }
    fn fetch_add(&self, at: usize, by: u64) -> u64 {
        self.change(at, |word| word.wrapping_add(by))
    }
    fn fetch_max(&self, at: usize, value: u64) {
        self.change(at, |word| word.max(value));
    }
    fn visited(&self, at: usize) -> u8 {
        self.visited[at - self.visited_at].load(SeqCst)
    }
    fn set_visited(&self, at: usize, reads: u8) {
        self.visited[at - self.visited_at].store(reads, SeqCst);
    }
    fn read(&self, at: u64, len: usize, out: &mut Vec<u8>) {
        for here in at..at + len as u64 {
            let word = self.block_word(here / 8).load(SeqCst);
            out.push(word.to_le_bytes()[(here % 8) as usize]);
        }
    }
    fn read_array<const N: usize>(&self, at: u64) -> [u8; N] {
        let mut out = Vec::with_capacity(N);
        self.read(at, N, &mut out);
        out.try_into().unwrap()
    }
    fn equal(&self, at: u64, bytes: &[u8]) -> bool {
        let mut out = Vec::with_capacity(bytes.len());
        self.read(at, bytes.len(), &mut out);
        out == bytes
    }
    fn write(&self, at: u64, bytes: &[u8]) {
        let end = at + bytes.len() as u64;
        for word in at / 8..end.div_ceil(8) {
            let mut value = self.block_word(word).load(SeqCst).to_le_bytes();
            for here in at.max(word * 8)..end.min(word * 8 + 8) {
                value[(here % 8) as usize] = bytes[(here - at) as usize];
            }
            let value = u64::from_le_bytes(value);
            self.block_word(word).store(value, SeqCst);
            self.stored(self.index + word as usize, value);
        }
    }
    fn fence(&self) {}
}
