//! A local Redis over loopback TCP, one connection, a round trip per operation.

use polycache_bench_host::{
    durability::NONE, locked, name, operation, Batch, Kind, Operation, Outcome, Place, Subject,
};
use redis::{Client, Connection};
use std::hint::black_box;

struct Redis(Connection);

impl Redis {
    fn put(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        for (key, value) in batch.writes {
            redis::cmd("SET").arg(*key).arg(*value).exec(&mut self.0)?;
        }
        Ok(0)
    }

    fn put_100(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        for writes in batch.writes.chunks(100) {
            let mut command = redis::cmd("MSET");
            for (key, value) in writes {
                command.arg(*key).arg(*value);
            }
            command.exec(&mut self.0)?;
        }
        Ok(0)
    }

    fn get(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        let mut misses = 0;
        for key in batch.reads {
            let value: Option<Vec<u8>> = redis::cmd("GET").arg(*key).query(&mut self.0)?;
            misses += u64::from(black_box(value).is_none());
        }
        Ok(misses)
    }

    fn keys(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        for _ in batch.reads {
            let keys: Vec<Vec<u8>> = redis::cmd("KEYS").arg("*").query(&mut self.0)?;
            black_box(keys);
        }
        Ok(0)
    }

    fn get_100(&mut self, batch: &Batch<'_>) -> Outcome<u64> {
        let mut misses = 0;
        for keys in batch.reads.chunks(100) {
            let values: Vec<Option<Vec<u8>>> = redis::cmd("MGET").arg(keys).query(&mut self.0)?;
            misses += black_box(values).iter().filter(|v| v.is_none()).count() as u64;
        }
        Ok(misses)
    }
}

impl Subject for Redis {
    const NAME: &'static str = "redis";

    fn open(place: &Place) -> Outcome<Redis> {
        let client = Client::open(("127.0.0.1", place.redis_port))?;
        Ok(Redis(client.get_connection()?))
    }

    fn operations() -> Vec<Operation<Redis>> {
        vec![
            operation(name::PUT, Kind::Put, NONE, Redis::put),
            operation(name::PUT_100, Kind::Put, NONE, Redis::put_100),
            operation(name::GET, Kind::Get, NONE, Redis::get),
            operation(name::GET_100, Kind::Get, NONE, Redis::get_100),
            operation(name::KEYS, Kind::Get, NONE, Redis::keys),
        ]
    }

    fn versions(&self) -> Vec<(&'static str, String)> {
        vec![("redis (crate)", locked("redis"))]
    }

    fn fill(&mut self, batch: &Batch<'_>) -> Outcome<()> {
        self.put_100(batch).map(drop)
    }

    fn value(&mut self, key: &[u8]) -> Outcome<Option<String>> {
        Ok(redis::cmd("GET").arg(key).query(&mut self.0)?)
    }
}

fn main() {
    polycache_bench_host::main::<Redis>();
}
