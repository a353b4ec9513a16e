//! `keep_after_reboot`: what may be kept of a directory written before this boot.
//!
//! Pages reach the disk in any order, so neither a word nor a record is believed before its checksums
//! agree. What stays is whole, but may be older than the last write, or deleted: that is what the
//! option's user accepts; without it the cache starts empty.

use crate::directory::Directory;
use crate::engine::Environment;
use crate::error::Error;

/// No environment: recovery runs alone, under the directory's lock.
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

/// Empties every slot whose record is not whole, and seals every block at its last whole record.
pub(crate) fn after_reboot(directory: &Directory) {
    let engine = crate::engine::Engine {
        memory: &directory.memory,
        environment: Nobody,
        geometry: directory.geometry,
        seed: directory.seed,
    };
    engine.clock_above_floors();
    engine.seal_whole_records();
    engine.drop_damaged();
}
