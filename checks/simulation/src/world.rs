//! Everything outside the processes: the clock, the disk, and which processes live.

use crate::memory::Shared;
use crate::switch::access;
use polycache_host::engine::Environment;
use polycache_host::shared_memory::SharedMemory;
use polycache_host::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;

/// Nanoseconds in a tick.
pub const TICK: u64 = 62_500_000;
/// Participants at most: one bit each.
pub const PARTICIPANTS: u32 = 64;

/// One host.
#[derive(Debug, Default)]
pub struct World {
    now: AtomicU64,
    /// Ticks when the simulation begins: they wrap around.
    first_tick: u64,
    living: AtomicU64,
    disk_full: AtomicBool,
}

impl World {
    /// A host that has been up for this many ticks.
    pub fn new(first_tick: u64) -> World {
        World {
            first_tick,
            ..World::default()
        }
    }

    /// Nanoseconds since the simulation began.
    pub fn now(&self) -> u64 {
        self.now.load(Relaxed)
    }

    /// The same, as the machines take it.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.now())
    }

    /// Advances the clock.
    pub fn pass(&self, until: u64) {
        self.now.store(until.max(self.now()), Relaxed);
    }

    /// A participant takes or loses its lock.
    pub fn set_alive(&self, id: u32, alive: bool) {
        let living = self.living.load(Relaxed);
        let bit = 1 << id;
        self.living
            .store(if alive { living | bit } else { living & !bit }, Relaxed);
    }

    /// True while the participant holds its lock.
    pub fn is_alive(&self, id: u32) -> bool {
        self.living.load(Relaxed) & (1 << id) != 0
    }

    /// Fills the disk, or frees it.
    pub fn set_disk_full(&self, full: bool) {
        self.disk_full.store(full, Relaxed);
    }

    /// Whether blocks get no disk space.
    pub fn is_disk_full(&self) -> bool {
        self.disk_full.load(Relaxed)
    }
}

/// Bytes that are zeroed behind the records of a block that is prepared.
const BEYOND: u64 = 64;

/// The world as an engine sees it.
#[derive(Clone)]
pub struct Outside {
    pub world: Arc<World>,
    pub memory: Arc<Shared>,
    pub block_size: u64,
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Outside").field(&self.world).finish()
    }
}

impl Environment for Outside {
    fn id_alive(&self, id: u32) -> bool {
        access();
        self.world.is_alive(id)
    }
    fn allocate(&self, _: u64) -> Result<(), Error> {
        access();
        if self.world.is_disk_full() {
            return Err(Error::NoSpace("the simulated disk is full"));
        }
        Ok(())
    }
    /// Zeros, as the host's files get them ahead of new records, but into every block, and right behind the tail.
    fn prepare(&self, block: u64, tail: u64, to: u64) {
        let end = (to + BEYOND).min(self.block_size);
        let zeros = vec![0; end.saturating_sub(tail) as usize];
        self.memory.write(block * self.block_size + tail, &zeros);
    }
    fn allocate_level(&self, _: usize) -> Result<(), Error> {
        self.allocate(0)
    }
    fn ticks(&self) -> u32 {
        access();
        ((self.world.first_tick + self.world.now() / TICK) & 0xf_ffff) as u32
    }
    fn now(&self) -> u64 {
        1_700_000_000_000 + self.world.now() / 1_000_000
    }
}

/// Records that an actor was woken.
#[derive(Debug, Default)]
pub struct Flag(AtomicBool);

impl Flag {
    /// Whether it was woken since the last call.
    pub fn take(&self) -> bool {
        self.0.swap(false, Relaxed)
    }

    /// Whether it was woken.
    pub fn is_set(&self) -> bool {
        self.0.load(Relaxed)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}
