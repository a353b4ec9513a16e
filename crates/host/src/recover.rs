//! `keep_after_reboot`: which entries of a directory written before this boot may be kept.
//!
//! Pages reach the disk in any order, so no word and no record is trusted before its checksums agree. A
//! kept entry is undamaged, but may be older than the last write, or deleted since. A user of the option
//! accepts that; without it the cache starts empty.

use crate::directory::Directory;
use crate::engine::Environment;
use crate::error::Error;

/// No participants: recovery runs alone, under the directory's lock.
struct Nobody;

impl Environment for Nobody {
    fn id_alive(&self, _: u32) -> bool {
        false
    }
    fn allocate(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }
    fn ticks(&self) -> u32 {
        0
    }
    fn now(&self) -> u64 {
        0
    }
}

/// Empties every slot whose record is damaged, and seals every block at its last undamaged record. `levels` is
/// the number of levels whose pages are there.
pub(crate) fn after_reboot(directory: &Directory, levels: usize) {
    let engine = crate::engine::Engine {
        memory: &directory.memory,
        environment: Nobody,
        geometry: directory.geometry,
        seed: directory.seed,
    };
    engine.open_all(levels);
    engine.clears_above_floors();
    engine.seal_whole_records();
    engine.drop_damaged();
}
