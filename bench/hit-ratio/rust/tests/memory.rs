//! The memory tier's real cache under the simulator.

mod common;

use common::{built, hits};
use polycache_bench_hit_ratio::workload::zipf::Zipf;
use polycache_bench_hit_ratio::workload::Source;

const ZIPF: Zipf = Zipf {
    alpha: 0.9,
    keys: 30_000,
    requests: 100_000,
};

#[test]
fn as_many_entries_as_the_capacity_and_no_more_hits_than_opt() {
    let requests = ZIPF.trace(1).expect("a trace").requests;
    // One shard, and several of them.
    for capacity in [1, 100, 4000, 9000] {
        let mut memory = built("polycache", capacity, &requests);
        let mut found = 0;
        for &key in &requests {
            found += usize::from(memory.access(key));
            assert!(memory.len() <= capacity, "{} entries", memory.len());
        }
        assert_eq!(memory.len(), capacity);
        assert!(found <= hits("OPT", capacity, &requests), "{found}");
        assert!(found >= hits("LRU", capacity, &requests), "{found}");
        let again = hits("polycache", capacity, &requests);
        assert_eq!(found, again, "every run finds the same");
    }
}
