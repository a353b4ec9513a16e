//! Reads of many keys in one pass: what the next [`PREFETCHED`] reads touch is fetched from memory first.

use crate::cache::Cache;
use crate::key::{key, Key};
use crate::memory_reader::MemoryReader;
use magnus::{rb_sys::AsRawValue, Error, RArray, RHash, Ruby, Value};
use polycache::bindings::{Bindings, PREFETCHED};
use std::ops::Range;

impl Cache {
    /// Puts the keys that are there into `found`, as they were given, with their values. Nobody changes `names`.
    pub(crate) fn get_many(
        ruby: &Ruby,
        this: &Cache,
        names: RArray,
        found: RHash,
    ) -> Result<RHash, Error> {
        this.read_clock(ruby)?;
        for batch in batches(names) {
            let keys: Vec<Key> = batch
                .clone()
                .map(|at| key(ruby, name_at(names, at)?))
                .collect::<Result<_, _>>()?;
            this.cache.prefetch(&keys);
            for (at, key) in batch.zip(&keys) {
                if let Some(made) = this.get_made(ruby, key)? {
                    found.aset(name_at(names, at)?, this.give(ruby, made)?)?;
                }
            }
        }
        Ok(found)
    }
}

impl MemoryReader {
    /// As [`Cache::get_many`]. Values in memory are not fetched from there first. `miss` is an object that is no value.
    pub(crate) fn get_many(
        ruby: &Ruby,
        this: &MemoryReader,
        names: RArray,
        found: RHash,
        miss: Value,
    ) -> Result<RHash, Error> {
        let cache = this.cache(ruby);
        let mut keys: Vec<Key> = Vec::new();
        for batch in batches(names) {
            keys.clear();
            for at in batch.clone() {
                let name = name_at(names, at)?;
                if !this.has_entry(ruby, name) {
                    keys.push(key(ruby, name)?);
                }
            }
            cache.cache.prefetch(&keys);
            for at in batch {
                let name = name_at(names, at)?;
                let value = MemoryReader::get(ruby, this, name, miss)?;
                if value.as_raw() != miss.as_raw() {
                    found.aset(name, value)?;
                }
            }
        }
        Ok(found)
    }
}

fn batches(names: RArray) -> impl Iterator<Item = Range<usize>> {
    let all = names.len();
    let ends = move |start| start..all.min(start + PREFETCHED);
    (0..all).step_by(PREFETCHED).map(ends)
}

fn name_at(names: RArray, at: usize) -> Result<Value, Error> {
    names.entry(isize::try_from(at).unwrap_or(isize::MAX))
}
