//! `eviction-vectors > spec/vectors/eviction.json`: what the memory tier's policy decides in random
//! sequences of operations, for engines to be held against.

use polycache_bench_hit_ratio::policy::two_queue_clock::TwoQueueClock;
use polycache_bench_hit_ratio::policy::Key;
use polycache_bench_hit_ratio::Error;
use rand_distr::{Distribution, Uniform, Zipf};
use rand_pcg::rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeSet;

const CAPACITIES: [(usize, usize); 5] = [(1, 60), (4, 400), (10, 700), (64, 1000), (200, 1500)];
/// Of a hundred operations, these are deletions; half as many write without a look.
const DELETIONS: u32 = 3;
/// Operations between two lists of what is there.
const APART: usize = 500;

fn main() -> Result<(), Error> {
    let mut cases = Vec::new();
    for (capacity, operations) in CAPACITIES {
        for skewed in [true, false] {
            cases.push(case(capacity, operations, skewed)?);
        }
    }
    println!("[\n{}\n]", cases.join(",\n"));
    Ok(())
}

fn case(capacity: usize, operations: usize, skewed: bool) -> Result<String, Error> {
    let keys = 4 * capacity as Key + 2;
    let mut random = Pcg64Mcg::seed_from_u64(capacity as u64 + u64::from(skewed));
    let (zipf, percent) = (Zipf::new(f64::from(keys), 0.9)?, Uniform::new(0, 100)?);
    let near = Uniform::new(0, 2 * capacity as Key + 1)?;
    let mut cache = TwoQueueClock::new(capacity, keys as usize);
    let mut steps = Vec::new();
    for at in 0..operations {
        // A loop, or draws near a place that moves on.
        let key = match (skewed, at / (4 * capacity + 20) % 3) {
            (true, _) => zipf.sample(&mut random) as Key - 1,
            (false, 0) => at as Key % (capacity as Key * 3 / 2 + 1),
            (false, part) => (near.sample(&mut random) + part as Key * capacity as Key) % keys,
        };
        steps.push(match percent.sample(&mut random) {
            roll if roll < DELETIONS => format!("[\"delete\",{key},{}]", cache.delete(key)),
            roll if roll < 2 * DELETIONS => set(&mut cache, key),
            _ if cache.get(key) => format!("[\"get\",{key},true]"),
            _ => format!("[\"get\",{key},false],{}", set(&mut cache, key)),
        });
        if (at + 1) % APART == 0 || at + 1 == operations {
            let resident: BTreeSet<Key> = (0..keys).filter(|&key| cache.holds(key)).collect();
            steps.push(format!("[\"resident\",{resident:?}]").replace([' ', '{', '}'], ""));
            let last = steps.last_mut().expect("just pushed");
            *last = last.replacen(',', ",[", 1).replace(']', "]]");
        }
    }
    Ok(format!(
        "{{\"capacity\":{capacity},\"steps\":[{}]}}",
        steps.join(",")
    ))
}

fn set(cache: &mut TwoQueueClock, key: Key) -> String {
    let evicted = format!("{:?}", cache.set(key)).replace(' ', "");
    format!("[\"set\",{key},{evicted}]")
}
