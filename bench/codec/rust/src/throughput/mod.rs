//! Caches: set, get, and 80 reads with 20 writes, as the page has them, and reads on several threads.

#[cfg(feature = "cached")]
mod cached;
#[cfg(feature = "foyer")]
mod foyer;
mod json;
mod mini_moka;
mod moka;
mod polycache_cache;
mod polycache_host;
mod polycache_host_json;
mod polycache_memory;
mod quick_cache;
mod skp_cache;
mod skp_cache_bincode;
mod skp_cache_one_block_on;

use crate::bench::{proven, time, timed, Operation, Subject, Unit};
use crate::Outcome;
use json::Json;
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::borrow::Cow;
use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

/// Every table's name is its workload's.
const WORKLOAD: &str = "throughput";
/// Entries that a cache has room for: skp-cache's default.
const CAPACITY: usize = 10_000;
/// Of every entry, in those that have one: skp-cache's default.
const TTL: Duration = Duration::from_secs(300);
const KEY: &str = "key";
const ABSENT: &str = "nonexistent";
const SMALL: i32 = 42;
const KEYS: u64 = 100;
/// Reads of each thread that criterion counts as one, so that starting threads is not what it times.
const BATCH: u64 = 1000;

pub fn subjects() -> Vec<Subject> {
    vec![
        subject::<polycache_cache::PolycacheCache>(),
        subject::<polycache_host::PolycacheHost>(),
        subject::<polycache_memory::PolycacheMemory>(),
        subject::<polycache_memory::WithoutExpiry>(),
        subject::<Json<polycache_memory::PolycacheMemory>>(),
        subject::<polycache_host_json::PolycacheHostJson>(),
        subject::<skp_cache::SkpCache>(),
        subject::<skp_cache_one_block_on::OneBlockOn>(),
        subject::<skp_cache_bincode::Bincode>(),
        #[cfg(feature = "cached")]
        subject::<cached::Cached>(),
        #[cfg(feature = "cached")]
        subject::<Json<cached::Cached>>(),
        #[cfg(feature = "foyer")]
        subject::<foyer::Foyer>(),
        #[cfg(feature = "foyer")]
        subject::<Json<foyer::Foyer>>(),
        #[cfg(not(feature = "cached"))]
        Subject::absent(WORKLOAD, "cached", "not compiled: needs Rust 1.92"),
        #[cfg(not(feature = "foyer"))]
        Subject::absent(WORKLOAD, "foyer", "not compiled: needs Rust 1.91"),
        subject::<mini_moka::MiniMoka>(),
        subject::<Json<mini_moka::MiniMoka>>(),
        subject::<moka::Moka>(),
        subject::<Json<moka::Moka>>(),
        subject::<quick_cache::QuickCache>(),
        subject::<Json<quick_cache::QuickCache>>(),
    ]
}

/// What is cached.
pub trait Value: Serialize + DeserializeOwned + Clone + PartialEq + Send + Sync + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + PartialEq + Send + Sync + 'static> Value for T {}

/// An open cache of one type of values.
pub trait Store<V>: Send + Sync + 'static {
    fn set(&self, key: Cow<'_, str>, value: &V);

    fn get(&self, key: &str) -> Option<V>;

    /// Several calls of [`Store::set`], one by one.
    fn sets(&self, key: &str, value: &V, count: u64) {
        for _ in 0..count {
            self.set(Cow::Borrowed(black_box(key)), black_box(value));
        }
    }

    fn gets(&self, key: &str, count: u64) {
        for _ in 0..count {
            black_box(self.get(black_box(key)));
        }
    }

    /// Of one key after the other, from `first` on.
    fn gets_of(&self, keys: &[String], first: usize, count: u64) {
        let (later, sooner) = keys.split_at(first);
        let turns = sooner.iter().chain(later).cycle();
        for (key, _) in turns.zip(0..count) {
            black_box(self.get(black_box(key)));
        }
    }
}

/// A subject: how its caches are opened.
pub trait Cache: 'static {
    /// Text in its best form: `String` where it is encoded, `Arc<str>` where objects are shared.
    type Text: Value + for<'a> From<&'a str>;
    type Store<V: Value>: Store<V>;

    fn name() -> String;

    fn notes() -> Vec<String>;

    /// The crate.
    fn version() -> (String, String);

    fn open<V: Value>() -> Outcome<Self::Store<V>>;

    /// The library that encodes values as JSON.
    const JSON: &'static str = "serde_json";

    /// Appends a value's JSON.
    fn write_json<V: Value>(value: &V, out: &mut Vec<u8>) {
        serde_json::to_writer(out, value).expect("a value that JSON has");
    }

    /// What was written so.
    fn read_json<V: Value>(json: &[u8]) -> V {
        serde_json::from_slice(json).expect("what was encoded")
    }

    /// 100 operations, every fifth a set; making the key is part of each.
    fn mixed(store: &Self::Store<u64>, number: &mut u64) {
        for _ in 0..KEYS {
            *number += 1;
            let key = format!("key:{}", *number % KEYS);
            if *number % 5 == 0 {
                store.set(Cow::Owned(key), number);
            } else {
                black_box(store.get(&key));
            }
        }
    }
}

fn subject<C: Cache>() -> Subject {
    Subject {
        workload: WORKLOAD.into(),
        name: C::name(),
        notes: C::notes(),
        versions: vec![C::version()],
        open: Box::new(open::<C>),
    }
}

fn open<C: Cache>() -> Outcome<Vec<Operation>> {
    let small = Arc::new(C::open::<i32>()?);
    let text = C::Text::from("x".repeat(1024).as_str());
    let texts = C::open::<C::Text>()?;
    let numbers = C::open::<u64>()?;
    let many = Arc::new(C::open::<u64>()?);
    let keys: Arc<[String]> = (0..KEYS).map(|n| format!("key:{n}")).collect();
    prove(&*small, &SMALL)?;
    prove(&texts, &text)?;
    prove(&numbers, &7)?;
    for (number, key) in (0..).zip(keys.iter()) {
        many.set(Cow::Borrowed(key), &number);
        numbers.set(Cow::Borrowed(key), &number);
        proven(key, &Some(number), &many.get(key))?;
    }
    let mut operations = vec![
        {
            let small = small.clone();
            timed("set, small", Unit::Nanoseconds, move |count| {
                clocked(|| small.sets(KEY, &SMALL, count))
            })
        },
        timed("set, medium", Unit::Nanoseconds, move |count| {
            clocked(|| texts.sets(KEY, &text, count))
        }),
        {
            let small = small.clone();
            timed("get, hit", Unit::Nanoseconds, move |count| {
                clocked(|| small.gets(KEY, count))
            })
        },
        {
            let small = small.clone();
            timed("get, miss", Unit::Nanoseconds, move |count| {
                clocked(|| small.gets(ABSENT, count))
            })
        },
        {
            let mut number = 0;
            time("mixed, 100 operations", Unit::Nanoseconds, move || {
                C::mixed(&numbers, &mut number);
            })
        },
    ];
    for threads in thread_counts() {
        let s = if threads == 1 { "" } else { "s" };
        let (small, many, keys) = (small.clone(), many.clone(), keys.clone());
        operations.push(timed(
            format!("get, hit, {threads} thread{s}"),
            Unit::PerSecond(threads as u64 * BATCH),
            move |count| at_once(threads, |_| small.gets(KEY, count * BATCH)),
        ));
        operations.push(timed(
            format!("get, 100 keys, {threads} thread{s}"),
            Unit::PerSecond(threads as u64 * BATCH),
            move |count| {
                at_once(threads, |number| {
                    many.gets_of(&keys, keys.len() * number / threads, count * BATCH);
                })
            },
        ));
    }
    Ok(operations)
}

/// What it reads is what it wrote, last.
fn prove<V: Value>(store: &impl Store<V>, value: &V) -> Outcome<()> {
    store.set(Cow::Borrowed(KEY), value);
    proven("get after set", &Some(value), &store.get(KEY).as_ref())?;
    store.sets(KEY, value, 2);
    proven("get after sets", &Some(value), &store.get(KEY).as_ref())?;
    store.gets(KEY, 1);
    proven("get of an absent key", &true, &store.get(ABSENT).is_none())
}

/// 1, 2, 4 and so on, as far as this machine has cores; 2 at least.
fn thread_counts() -> Vec<usize> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (0..)
        .map(|power| 1 << power)
        .take_while(|count| *count <= cores.max(2))
        .collect()
}

fn clocked(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// From when all threads are ready until the last one is done.
fn at_once(threads: usize, work: impl Fn(usize) + Sync) -> Duration {
    let ready = Barrier::new(threads);
    let spans: Vec<(Instant, Instant)> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|number| {
                let (ready, work) = (&ready, &work);
                scope.spawn(move || {
                    ready.wait();
                    let start = Instant::now();
                    work(number);
                    (start, Instant::now())
                })
            })
            .collect();
        let joined = running.into_iter().map(|thread| thread.join());
        joined
            .map(|span| span.expect("a thread that reads"))
            .collect()
    });
    let start = spans.iter().map(|span| span.0).min();
    let end = spans.iter().map(|span| span.1).max();
    end.zip(start)
        .map_or(Duration::ZERO, |(end, start)| end - start)
}
