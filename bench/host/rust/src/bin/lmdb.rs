//! LMDB with NO_SYNC: a commit is written to the file but not to the disk.

use heed::EnvFlags;
use polycache_bench_host::{Batch, Lmdb, Operation, Outcome, Place, Subject};

struct NoSync(Lmdb);

impl AsMut<Lmdb> for NoSync {
    fn as_mut(&mut self) -> &mut Lmdb {
        &mut self.0
    }
}

impl Subject for NoSync {
    const NAME: &'static str = "lmdb";

    fn open(place: &Place) -> Outcome<NoSync> {
        Ok(NoSync(Lmdb::open(place, EnvFlags::NO_SYNC)?))
    }

    fn operations() -> Vec<Operation<NoSync>> {
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
    polycache_bench_host::main::<NoSync>();
}
