//! Records as an application caches them: made by a generator with a fixed seed, no field the same
//! in all, nothing that compresses as well as the page's 10,000 times the letter x. Without
//! floating-point numbers, because Polycache has serde_json read them exactly, which slows all
//! users of it in one program.

use fastrand::Rng;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub id: u64,
    pub name: String,
    pub email: String,
    pub city: String,
    pub cents: i64,
    pub active: bool,
    pub created: String,
    pub tags: Vec<String>,
}

/// About 15 KB of JSON, as the page's large data.
pub const COUNT: usize = 82;

const SEED: u64 = 5;
const FIRST: [&str; 16] = [
    "Ada",
    "Alan",
    "Barbara",
    "Claude",
    "Donald",
    "Edsger",
    "Frances",
    "Grace",
    "Hedy",
    "John",
    "Katherine",
    "Ken",
    "Leslie",
    "Margaret",
    "Niklaus",
    "Tim",
];
const LAST: [&str; 16] = [
    "Allen", "Backus", "Dijkstra", "Hamilton", "Hopper", "Johnson", "Knuth", "Lamarr", "Lamport",
    "Liskov", "Lovelace", "Ritchie", "Shannon", "Thompson", "Turing", "Wirth",
];
const CITIES: [&str; 12] = [
    "Amsterdam",
    "Berlin",
    "Chicago",
    "Dublin",
    "Edinburgh",
    "Florence",
    "Geneva",
    "Helsinki",
    "Lisbon",
    "Montréal",
    "Oslo",
    "Zürich",
];
const TAGS: [&str; 10] = [
    "admin",
    "beta",
    "billing",
    "export",
    "invited",
    "mobile",
    "newsletter",
    "partner",
    "trial",
    "vip",
];

/// The same `count` records every time.
pub fn records(count: usize) -> Vec<Record> {
    let mut random = Rng::with_seed(SEED);
    let mut pick = move |from: &[&str]| from[random.usize(..from.len())].to_owned();
    let mut random = Rng::with_seed(SEED + 1);
    (0..count)
        .map(|_| {
            let (first, last) = (pick(&FIRST), pick(&LAST));
            let number = random.u32(1..10_000);
            Record {
                id: random.u64(1_000_000..1_000_000_000),
                email: format!("{first}.{last}{number}@example.org").to_lowercase(),
                name: format!("{first} {last}"),
                city: pick(&CITIES),
                cents: random.i64(-100_000..1_000_000),
                active: random.bool(),
                created: format!(
                    "202{}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
                    random.u32(0..7),
                    random.u32(1..13),
                    random.u32(1..29),
                    random.u32(0..24),
                    random.u32(0..60),
                    random.u32(0..60),
                ),
                tags: (0..random.usize(0..4)).map(|_| pick(&TAGS)).collect(),
            }
        })
        .collect()
}
