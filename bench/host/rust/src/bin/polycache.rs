//! The facade, as a Rust program uses it: text is encoded by every put and decoded by every get.

use polycache::{Cache, Ttl, Value};
use polycache_bench_host::{
    durability::SURVIVES_KILL, name, operation, Batch, Kind, Operation, Outcome, Place, Subject,
};
use std::hint::black_box;
use std::str::from_utf8;

struct Facade {
    cache: Cache,
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
        let cache = Cache::builder()
            .path(&place.directory)
            .limit(place.limit)
            .build()?;
        Ok(Facade { cache })
    }

    fn operations() -> Vec<Operation<Facade>> {
        vec![
            operation(name::PUT, Kind::Put, SURVIVES_KILL, Facade::put),
            operation(name::GET, Kind::Get, SURVIVES_KILL, Facade::get),
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
        let block = stats.max_record + 32;
        Ok((stats.blocks_claimed * block) as f64 / stats.limit as f64)
    }
}

fn main() {
    polycache_bench_host::main::<Facade>();
}
