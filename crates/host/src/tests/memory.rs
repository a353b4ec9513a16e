//! Memories for tests: shuttle's atomics, and a plain one that stops its process at the n-th access.

use crate::shared_memory::SharedMemory;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// What a cell of a test memory must support.
pub trait Cell: Send + Sync + 'static {
    fn new(value: u64) -> Self;
    fn load(&self) -> u64;
    fn store(&self, value: u64);
    fn compare_exchange(&self, old: u64, new: u64) -> bool;
    fn fetch_add(&self, by: u64) -> u64;
    fn fetch_max(&self, value: u64);
}

macro_rules! cell {
    ($atomic:ty) => {
        impl Cell for $atomic {
            fn new(value: u64) -> Self {
                <$atomic>::new(value)
            }
            fn load(&self) -> u64 {
                <$atomic>::load(self, Ordering::SeqCst)
            }
            fn store(&self, value: u64) {
                <$atomic>::store(self, value, Ordering::SeqCst);
            }
            fn compare_exchange(&self, old: u64, new: u64) -> bool {
                <$atomic>::compare_exchange(self, old, new, Ordering::SeqCst, Ordering::SeqCst)
                    .is_ok()
            }
            fn fetch_add(&self, by: u64) -> u64 {
                <$atomic>::fetch_add(self, by, Ordering::SeqCst)
            }
            fn fetch_max(&self, value: u64) {
                <$atomic>::fetch_max(self, value, Ordering::SeqCst);
            }
        }
    };
}
cell!(shuttle::sync::atomic::AtomicU64);
cell!(std::sync::atomic::AtomicU64);

/// Cells are created on the first write. Reading a cell that was never written gives zero and is no
/// point for the scheduler to switch at: executions stay short, and no order of effects is lost.
pub struct Sparse<C> {
    words: Mutex<HashMap<usize, Arc<C>>>,
    blocks: Mutex<HashMap<u64, Arc<C>>>,
    visited: Mutex<HashMap<usize, u8>>,
}

/// Every access is a point at which shuttle may switch threads.
pub type Interleaved = Sparse<shuttle::sync::atomic::AtomicU64>;
/// No scheduler.
pub type Plain = Sparse<std::sync::atomic::AtomicU64>;

impl<C: Cell> Sparse<C> {
    pub fn new() -> Arc<Self> {
        Arc::new(Sparse {
            words: Mutex::default(),
            blocks: Mutex::default(),
            visited: Mutex::default(),
        })
    }

    fn word(&self, at: usize) -> Arc<C> {
        let mut words = self.words.lock().unwrap();
        words
            .entry(at)
            .or_insert_with(|| Arc::new(C::new(0)))
            .clone()
    }

    fn block_word(&self, at: u64) -> Option<Arc<C>> {
        self.blocks.lock().unwrap().get(&at).cloned()
    }
}

impl<C: Cell> SharedMemory for Sparse<C> {
    fn load(&self, at: usize) -> u64 {
        let cell = self.words.lock().unwrap().get(&at).cloned();
        cell.map_or(0, |cell| cell.load())
    }
    fn store(&self, at: usize, value: u64) {
        self.word(at).store(value);
    }
    fn compare_exchange(&self, at: usize, old: u64, new: u64) -> bool {
        self.word(at).compare_exchange(old, new)
    }
    fn fetch_add(&self, at: usize, by: u64) -> u64 {
        self.word(at).fetch_add(by)
    }
    fn fetch_max(&self, at: usize, value: u64) {
        self.word(at).fetch_max(value);
    }
    fn visited(&self, at: usize) -> u8 {
        self.visited.lock().unwrap().get(&at).copied().unwrap_or(0)
    }
    fn set_visited(&self, at: usize, reads: u8) {
        self.visited.lock().unwrap().insert(at, reads);
    }
    fn read(&self, at: u64, len: usize, out: &mut Vec<u8>) {
        for word in at / 8..(at + len as u64).div_ceil(8) {
            let value = self.block_word(word).map_or(0, |cell| cell.load());
            for (place, byte) in value.to_le_bytes().into_iter().enumerate() {
                let here = word * 8 + place as u64;
                if here >= at && here < at + len as u64 {
                    out.push(byte);
                }
            }
        }
    }
    fn read_array<const N: usize>(&self, at: u64) -> [u8; N] {
        let mut out = Vec::new();
        self.read(at, N, &mut out);
        out.try_into().unwrap()
    }
    fn equal(&self, at: u64, bytes: &[u8]) -> bool {
        let mut out = Vec::new();
        self.read(at, bytes.len(), &mut out);
        out == bytes
    }
    fn write(&self, at: u64, bytes: &[u8]) {
        for word in at / 8..(at + bytes.len() as u64).div_ceil(8) {
            let old = self.block_word(word);
            let mut value = old.as_ref().map_or(0, |cell| cell.load()).to_le_bytes();
            for (place, byte) in value.iter_mut().enumerate() {
                let here = word * 8 + place as u64;
                if here >= at && here < at + bytes.len() as u64 {
                    *byte = bytes[(here - at) as usize];
                }
            }
            let value = u64::from_le_bytes(value);
            match old {
                Some(cell) => cell.store(value),
                None => {
                    self.blocks
                        .lock()
                        .unwrap()
                        .insert(word, Arc::new(C::new(value)));
                }
            }
        }
    }
    fn fence(&self) {}
}

/// The panic payload of a process killed by [`Killable`].
pub struct Killed;

/// One process's view of the memory; the process dies at its n-th access, like a SIGKILL at every
/// instant in turn.
pub struct Killable<C = std::sync::atomic::AtomicU64> {
    pub memory: Arc<Sparse<C>>,
    left: std::sync::atomic::AtomicU64,
}

impl<C: Cell> Killable<C> {
    pub fn new(memory: Arc<Sparse<C>>, accesses: u64) -> Killable<C> {
        Killable {
            memory,
            left: std::sync::atomic::AtomicU64::new(accesses),
        }
    }

    fn live(&self) -> &Sparse<C> {
        let left = self.left.load(Ordering::SeqCst);
        if left == 0 {
            // Without the panic hook, which would print it, and in which shuttle ends its run.
            std::panic::resume_unwind(Box::new(Killed));
        }
        self.left.store(left - 1, Ordering::SeqCst);
        &self.memory
    }
}

impl<C: Cell> SharedMemory for Killable<C> {
    fn load(&self, at: usize) -> u64 {
        self.live().load(at)
    }
    fn store(&self, at: usize, value: u64) {
        self.live().store(at, value);
    }
    fn compare_exchange(&self, at: usize, old: u64, new: u64) -> bool {
        self.live().compare_exchange(at, old, new)
    }
    fn fetch_add(&self, at: usize, by: u64) -> u64 {
        self.live().fetch_add(at, by)
    }
    fn fetch_max(&self, at: usize, value: u64) {
        self.live().fetch_max(at, value);
    }
    fn visited(&self, at: usize) -> u8 {
        self.live().visited(at)
    }
    fn set_visited(&self, at: usize, reads: u8) {
        self.live().set_visited(at, reads);
    }
    fn read(&self, at: u64, len: usize, out: &mut Vec<u8>) {
        self.live().read(at, len, out);
    }
    fn read_array<const N: usize>(&self, at: u64) -> [u8; N] {
        self.live().read_array(at)
    }
    fn equal(&self, at: u64, bytes: &[u8]) -> bool {
        self.live().equal(at, bytes)
    }
    fn write(&self, at: u64, bytes: &[u8]) {
        // A copy may be cut short at any byte.
        for (place, chunk) in bytes.chunks(8).enumerate() {
            self.live().write(at + 8 * place as u64, chunk);
        }
    }
    fn fence(&self) {}
}
