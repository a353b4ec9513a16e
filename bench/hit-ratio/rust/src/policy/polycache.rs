//! Ours in one process' memory: the real cache, bounded in entries, with as many shards as it gives
//! itself. Only its hasher is another one, without a seed, so that every run finds the same.

use super::{Key, Policy, Setting, Subject};
use polycache_memory::MemoryCache;
use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;

pub const SUBJECT: Subject = Subject {
    name: "polycache",
    note: "the real cache of Rust",
    build: |setting: &Setting<'_>| {
        let builder = MemoryCache::builder().max_entries(setting.capacity as u64);
        Ok(Box::new(Memory(
            builder.build_with_hasher(Hasher::default())?,
        )))
    },
};

type Hasher = BuildHasherDefault<DefaultHasher>;

struct Memory(MemoryCache<Key, Key, Hasher>);

impl Policy for Memory {
    fn access(&mut self, key: Key) -> bool {
        match self.0.get(&key) {
            Some(value) => {
                assert_eq!(value, key, "what is read is what was written");
                true
            }
            None => {
                self.0
                    .set(key, key)
                    .expect("an entry that is not weighed fits");
                false
            }
        }
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}
