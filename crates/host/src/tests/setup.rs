//! A small engine on a test's memory: two buckets, a few blocks of 256 bytes.

use crate::block::Notes;
use crate::engine::{Engine, Environment, Participant};
use crate::error::Error;
use crate::layout::Geometry;
use crate::shared_memory::SharedMemory;
use polycache_entry::{encode, EntryOptions, Value};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// Which participants live, one bit each.
#[derive(Clone, Default)]
pub struct World(Arc<AtomicU64>);

impl World {
    pub fn dies(&self, id: u32) {
        self.0.fetch_or(1 << id, Ordering::SeqCst);
    }

    pub fn revives(&self, id: u32) {
        self.0.fetch_and(!(1 << id), Ordering::SeqCst);
    }

    pub fn lives(&self, id: u32) -> bool {
        self.id_alive(id)
    }
}

impl Environment for World {
    fn id_alive(&self, id: u32) -> bool {
        self.0.load(Ordering::SeqCst) & (1 << id) == 0
    }
    fn allocate(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }
    fn ticks(&self) -> u32 {
        100
    }
    fn now(&self) -> u64 {
        1_000_000
    }
}

pub fn geometry(blocks: u64) -> Geometry {
    let mut geometry = Geometry::new(2 << 20).unwrap();
    geometry.block_size = 256;
    geometry.blocks = blocks;
    geometry.with_levels(&[2])
}

/// A process: an engine of its own on the shared memory.
pub fn engine<M: SharedMemory>(memory: M, blocks: u64, world: &World) -> Engine<M, World> {
    Engine {
        memory,
        environment: world.clone(),
        geometry: geometry(blocks),
        seed: 0x5eed,
        notes: Notes::default(),
    }
}

/// Participant `id` in its first incarnation (the memory's word for it is set by `enter`).
pub fn participant(id: u32) -> Participant {
    Participant { id, incarnation: 1 }
}

pub fn enter<M: SharedMemory>(engine: &Engine<M, World>, id: u32) -> Participant {
    engine
        .memory
        .store(engine.geometry.participants_at + id as usize * 8, 1);
    participant(id)
}

pub fn entry(text: &str) -> Vec<u8> {
    entry_until(text, 0)
}

/// An entry that expires at this time; 0 for never.
pub fn entry_until(text: &str, expires: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let options = EntryOptions {
        serializer: polycache_entry::Serializer::Text,
        expires,
        ..EntryOptions::default()
    };
    encode(&Value::Text(text.into()), &options, &mut out).unwrap();
    out
}

/// The text in an entry, with its checksum verified: torn bytes never pass.
pub fn text(entry: &[u8]) -> String {
    polycache_entry::Header::parse(entry, polycache_entry::Verify::Checksum)
        .expect("a reader was served damaged bytes");
    String::from_utf8(entry[polycache_entry::HEADER_LEN..].to_vec()).unwrap()
}
