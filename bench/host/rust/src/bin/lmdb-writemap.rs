//! LMDB with WRITE_MAP and MAP_ASYNC: a commit changes the mapped pages and starts no write to the disk.

use heed::EnvFlags;
use polycache_bench_host::{Batch, Lmdb, Operation, Outcome, Place, Subject};

struct WriteMap(Lmdb);

impl AsMut<Lmdb> for WriteMap {
    fn as_mut(&mut self) -> &mut Lmdb {
        &mut self.0
    }
}

impl Subject for WriteMap {
    const NAME: &'static str = "lmdb-writemap";

    fn open(place: &Place) -> Outcome<WriteMap> {
        Ok(WriteMap(Lmdb::open(
            place,
            EnvFlags::WRITE_MAP | EnvFlags::MAP_ASYNC,
        )?))
    }

    fn operations() -> Vec<Operation<WriteMap>> {
        Lmdb::operations()
    }

    fn versions(&self) -> Vec<(&'static str, String)> {
        Lmdb::versions()
    }

    fn fill(&mut self, batch: &Batch<'_>) -> Outcome<()> {
        self.0.put(batch, usize::MAX).map(drop)
    }

    fn value(&mut self, key: &[u8]) -> Outcome<Option<String>> {
        self.0.value(key)
    }
}

fn main() {
    polycache_bench_host::main::<WriteMap>();
}
