//! The facade, as a Rust program uses it: text is encoded by every put and decoded by every get; and a cache
//! of one type, which gives Strings.

use polycache::{Builder, Cache, Ttl, TypedCache, Value};
use polycache_bench_host::{
    durability::SURVIVES_KILL, name, operation, Batch, Kind, Operation, Outcome, Place, Subject,
};
use std::hint::black_box;
use std::str::from_utf8;

struct Facade {
    cache: Cache,
    without_memory: TypedCache<String>,
    all_in_memory: TypedCache<String>,
    tenth_in_memory: TypedCache<String>,
}

fn read(cache: &TypedCache<String>, batch: &Batch<'_>) -> Outcome<u64> {
    let mut misses = 0;
    for key in batch.reads {
        misses += u64::from(black_box(cache.get(key)?).is_none());
    }
    Ok(misses)
}

impl Facade {
    fn put(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        for (key, value) in batch.writes {
            let value = Value::Text(from_utf8(value)?.into());
            self.cache.set_value(key, &value, Ttl::Default)?;
        }
        Ok(0)
    }

    fn get(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        let mut misses = 0;
        for key in batch.reads {
            let read = self.cache.get_with(key, |value| {
                black_box(&value);
            })?;
            misses += u64::from(read.is_none());
        }
        Ok(misses)
    }
}

impl Subject for Facade {
    const NAME: &'static str = "polycache";
    const BOUNDED: bool = true;

    fn open(place: &Place) -> Outcome<Facade> {
        let builder = || Cache::builder().path(&place.directory).limit(place.limit);
        let with_memory = |entries| builder().max_bytes(4 << 30).max_entries(entries);
        let typed = |builder: Builder| builder.build()?.typed::<String>();
        Ok(Facade {
            cache: builder().build()?,
            without_memory: typed(builder().memory(false))?,
            all_in_memory: typed(with_memory(place.keys))?,
            tenth_in_memory: typed(with_memory(place.keys / 10))?,
        })
    }

    fn operations() -> Vec<Operation<Facade>> {
        let reading = |name, run| operation(name, Kind::Get, SURVIVES_KILL, run);
        vec![
            operation(name::PUT, Kind::Put, SURVIVES_KILL, Facade::put),
            reading(name::GET, Facade::get),
            reading(name::GET_WITHOUT_MEMORY, |facade: &mut Facade, batch| {
                read(&facade.without_memory, batch)
            }),
            reading(name::GET_ALL_IN_MEMORY, |facade, batch| {
                read(&facade.all_in_memory, batch)
            }),
            reading(name::GET_TENTH_IN_MEMORY, |facade, batch| {
                read(&facade.tenth_in_memory, batch)
            }),
        ]
    }

    fn fill(&mut self, batch: &Batch<'_>) -> Outcome<()> {
        self.put(batch).map(drop)
    }

    fn value(&mut self, key: &[u8]) -> Outcome<Option<String>> {
        Ok(self.cache.get_with(key, |value| match value {
            Value::Text(text) => text.into_owned(),
            other => format!("not text but {other:?}"),
        })?)
    }

    fn turns(&self) -> Outcome<f64> {
        let stats = self.cache.stats()?;
        // A 512th of the limit, from 64 KiB to 16 MiB, rounded down to a power of two (spec/host.md).
        let block = 1 << (stats.limit / 512).clamp(64 << 10, 16 << 20).ilog2();
        Ok((stats.blocks_claimed * block) as f64 / stats.limit as f64)
    }
}

fn main() {
    polycache_bench_host::main::<Facade>();
}
