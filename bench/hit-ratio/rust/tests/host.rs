//! The real engine under the simulator.

mod common;

use common::{built, hits};
use polycache_bench_hit_ratio::policy::{find, Setting};
use polycache_bench_hit_ratio::workload::zipf::Zipf;
use polycache_bench_hit_ratio::workload::Source;

const ZIPF: Zipf = Zipf {
    alpha: 0.9,
    keys: 30_000,
    requests: 100_000,
};

#[test]
fn no_more_entries_than_the_capacity_and_no_more_hits_than_opt() {
    let requests = ZIPF.trace(1).expect("a trace").requests;
    for capacity in [4000, 9000] {
        let mut host = built("polycache-host", capacity, &requests);
        let mut found = 0;
        for (at, &key) in requests.iter().enumerate() {
            found += usize::from(host.access(key));
            if at % 1000 == 0 {
                assert!(host.len() <= capacity, "{} entries", host.len());
            }
        }
        assert!(host.len() > capacity * 8 / 10, "{} entries", host.len());
        assert!(
            found > hits("FIFO", capacity, &requests) * 9 / 10,
            "{found}"
        );
        assert!(found <= hits("OPT", capacity, &requests), "{found}");
    }
}

#[test]
fn a_capacity_below_the_smallest_limit_is_refused() {
    let setting = Setting {
        capacity: 100,
        keys: 1,
        requests: &[],
    };
    let build = find("polycache-host").expect("there").build;
    let error = build(&setting).err().expect("an error").to_string();
    assert!(error.contains("smallest limit"), "{error}");
}
