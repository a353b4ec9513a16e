//! Ours around a connection of redis-rs.

use polycache_bench_namespace::{serve, Canned, Kind};
use polycache_redis_namespace::{Namespace, Namespaced};

struct Ours;

impl Kind for Ours {
    const NAME: &'static str = "polycache-namespace-on-redis-rs";
    const PREFIXES: bool = true;
    type Connection = Namespaced<Canned>;

    fn new(connection: Canned, namespace: &str) -> Self::Connection {
        Namespaced::new(
            connection,
            Namespace::new(namespace).expect("it has a name"),
        )
    }

    fn inner(connection: &mut Self::Connection) -> &mut Canned {
        connection.inner()
    }
}

fn main() {
    serve::<Ours>();
}
