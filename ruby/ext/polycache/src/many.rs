//! Operations on many keys. What the next [`PREFETCHED`] reads of a directory touch is fetched from memory first; over a
//! remote tier all take one round trip.

use crate::cache::Cache;
use crate::duration;
use crate::error::OrRaise;
use crate::from_ruby::with_value;
use crate::key::{key, Key};
use crate::memory_reader::MemoryReader;
use crate::to_ruby::make;
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
        if this.is_remote() {
            return this.get_from_servers(ruby, names, found);
        }
        for batch in batches(names) {
            let keys = keys(ruby, names, batch.clone())?;
            this.cache.prefetch(&keys);
            for (at, key) in batch.zip(&keys) {
                if let Some(made) = this.get_made(ruby, key)? {
                    found.aset(name_at(names, at)?, this.give(ruby, made)?)?;
                }
            }
        }
        Ok(found)
    }

    /// The same over a remote tier: in one round trip.
    fn get_from_servers(&self, ruby: &Ruby, names: RArray, found: RHash) -> Result<RHash, Error> {
        let keys = keys(ruby, names, 0..names.len())?;
        let values = self
            .run(|cache| cache.get_from_servers(&keys))?
            .or_raise(ruby)?;
        for (at, value) in values.unwrap_or_default().into_iter().enumerate() {
            if let Some(value) = value {
                let made = make(ruby, &value)?;
                found.aset(name_at(names, at)?, self.give(ruby, made)?)?;
            }
        }
        Ok(found)
    }

    /// Stores several values, in order: `pairs` of keys and values. After an error those before it are stored.
    pub(crate) fn set_many(
        ruby: &Ruby,
        this: &Cache,
        pairs: RArray,
        ttl: Value,
    ) -> Result<(), Error> {
        this.read_clock(ruby)?;
        let pair = |at| RArray::to_ary(name_at(pairs, at)?)?.to_value_array::<2>();
        if !this.is_remote() {
            return (0..pairs.len()).try_for_each(|at| {
                let [name, object] = pair(at)?;
                Cache::set(ruby, this, name, object, ttl)
            });
        }
        let ttl = duration::ttl(ruby, ttl)?;
        let mut entries = Vec::with_capacity(pairs.len());
        let written = (0..pairs.len()).try_for_each(|at| {
            let [name, object] = pair(at)?;
            let key = key(ruby, name)?;
            let types = this.types(ruby);
            let entry = with_value(ruby, types, object, |value| {
                this.cache.entry_of(&key, value, ttl)
            })?;
            entries.push((key.to_vec(), entry.or_raise(ruby)?));
            Ok(())
        });
        this.run(|cache| cache.store_entries(&entries))?
            .or_raise(ruby)
            .and(written)
    }

    /// Deletes several keys. How many had an entry.
    pub(crate) fn delete_many(ruby: &Ruby, this: &Cache, names: RArray) -> Result<u64, Error> {
        this.read_clock(ruby)?;
        let keys = keys(ruby, names, 0..names.len())?;
        this.run(|cache| cache.delete_many(&keys))?.or_raise(ruby)
    }
}

/// The keys at these places.
fn keys(ruby: &Ruby, names: RArray, places: Range<usize>) -> Result<Vec<Key>, Error> {
    places.map(|at| key(ruby, name_at(names, at)?)).collect()
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
        if cache.is_remote() {
            // Nothing of it is kept in memory.
            return Cache::get_many(ruby, &cache, names, found);
        }
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
