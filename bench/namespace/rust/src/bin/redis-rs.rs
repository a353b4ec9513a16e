//! redis-rs without a namespace: the limit for what is built on it.

use polycache_bench_namespace::{serve, Canned, Kind};

struct Bare;

impl Kind for Bare {
    const NAME: &'static str = "redis-rs";
    const PREFIXES: bool = false;
    type Connection = Canned;

    fn new(connection: Canned, _: &str) -> Canned {
        connection
    }

    fn inner(connection: &mut Canned) -> &mut Canned {
        connection
    }
}

fn main() {
    serve::<Bare>();
}
