//! The engine alone: entries that were encoded before the timing, bytes in and bytes out.

use polycache_bench_host::{
    durability::SURVIVES_KILL, name, operation, Batch, Kind, Operation, Outcome, Place, Subject,
};
use polycache_entry::{
    decode_payload, decode_value, encode, EntryOptions, Limits, Serializer, Value, Verify,
};
use polycache_host::{Namespace, Options, Store};
use std::hint::black_box;

struct Engine {
    store: Store,
    namespace: Namespace,
    entry: Vec<u8>,
}

impl Engine {
    fn put(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        for (key, entry) in batch.writes {
            self.store.put(&self.namespace, key, entry)?;
        }
        Ok(0)
    }

    fn get(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        let mut misses = 0;
        for key in batch.reads {
            self.entry.clear();
            let hit = self.store.get(&self.namespace, key, &mut self.entry)?;
            misses += u64::from(hit.is_none());
        }
        Ok(misses)
    }

    fn keys(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        for _ in batch.reads {
            let mut keys = Vec::new();
            self.store
                .keys(&self.namespace, b"", 0, u64::MAX, &mut keys)?;
            black_box(keys);
        }
        Ok(0)
    }

    fn mixed(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        let mut misses = 0;
        for ((key, entry), read) in batch.writes.iter().zip(batch.reads) {
            self.store.put(&self.namespace, key, entry)?;
            self.entry.clear();
            let hit = self.store.get(&self.namespace, read, &mut self.entry)?;
            misses += u64::from(hit.is_none());
        }
        Ok(misses)
    }
}

impl Subject for Engine {
    const NAME: &'static str = "polycache-store";
    const BOUNDED: bool = true;

    fn open(place: &Place) -> Outcome<Engine> {
        let mut options = Options::new(&place.directory);
        options.limit = Some(place.limit);
        let store = Store::open(&options)?;
        Ok(Engine {
            namespace: store.namespace::<&str>(&[])?,
            store,
            entry: Vec::new(),
        })
    }

    fn operations() -> Vec<Operation<Engine>> {
        vec![
            operation(name::PUT, Kind::Put, SURVIVES_KILL, Engine::put),
            operation(name::GET, Kind::Get, SURVIVES_KILL, Engine::get),
            operation(name::KEYS, Kind::Get, SURVIVES_KILL, Engine::keys),
            operation(name::MIXED, Kind::Mixed, SURVIVES_KILL, Engine::mixed),
        ]
    }

    fn stored(&self, value: &str) -> Vec<u8> {
        let options = EntryOptions {
            serializer: Serializer::MessagePack,
            created: self.store.now(),
            ..EntryOptions::default()
        };
        let mut entry = Vec::new();
        encode(&Value::Text(value.into()), &options, &mut entry).expect("text has an encoding");
        entry
    }

    fn fill(&mut self, batch: &Batch<'_>) -> Outcome<()> {
        self.put(batch).map(drop)
    }

    fn value(&mut self, key: &[u8]) -> Outcome<Option<String>> {
        let mut entry = Vec::new();
        Ok(match self.store.get(&self.namespace, key, &mut entry)? {
            Some(_) => Some(text(&entry)?),
            None => None,
        })
    }

    fn turns(&self) -> Outcome<f64> {
        let stats = self.store.stats()?;
        Ok(
            (stats.blocks_claimed * self.store.shared().geometry.block_size) as f64
                / stats.limit as f64,
        )
    }
}

fn text(entry: &[u8]) -> Outcome<String> {
    let (limits, mut scratch) = (Limits::default(), Vec::new());
    let (header, payload) = decode_payload(entry, Verify::Checksum, &limits, &mut scratch)?;
    match decode_value(header.serializer, payload, &limits)? {
        Value::Text(text) => Ok(text.into_owned()),
        other => Err(format!("not text but {other:?}").into()),
    }
}

fn main() {
    polycache_bench_host::main::<Engine>();
}
