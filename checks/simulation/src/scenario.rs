//! What a seed determines: the number of processes and callers, what they do, the sizes, and what goes
//! wrong.

use fastrand::Rng;
use polycache_host::hash::key_hash;
use polycache_host::keys::prefix;
use polycache_host::layout::Geometry;
use polycache_host::Namespace;
use std::time::Duration;

/// Nanoseconds in a millisecond.
pub const MS: u64 = 1_000_000;

/// The namespaces: the root, a namespace, one nested in it, and another.
pub const NAMESPACES: [&[&str]; 4] = [&[], &["a"], &["a", "b"], &["c"]];

/// A key of the simulation.
#[derive(Clone, Debug)]
pub struct Key {
    /// Index in [`NAMESPACES`].
    pub namespace: usize,
    /// Its name in that namespace.
    pub name: String,
    /// The ten bits of its hash by which leases are told apart.
    pub tag: u32,
}

/// How often callers do each operation, of a hundred.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    pub get: u32,
    pub set: u32,
    pub delete: u32,
    pub clear: u32,
    pub take: u32,
    pub touch: u32,
    // The rest is get_or_set.
}

/// How loaders behave.
#[derive(Clone, Copy, Debug)]
pub struct Loaders {
    /// Nanoseconds that a loader takes.
    pub shortest: u64,
    pub longest: u64,
    /// Of a hundred loaders, those that fail.
    pub failing: u32,
    /// Of a hundred loaders, those that never end.
    pub hanging: u32,
    /// Of a hundred loaders, those whose value cannot be encoded.
    pub unstorable: u32,
}

/// What goes wrong, each about once in this many steps of the scheduler; 0 means never.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chaos {
    pub kill: u32,
    pub stop: u32,
    pub cancel: u32,
    pub disk: u32,
    /// Of a hundred stops, those that last for ever.
    pub stops_for_ever: u32,
    /// Of a hundred processes that begin, those that get the id of a dead one.
    pub reused_ids: u32,
}

/// How the scheduler chooses.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Memory accesses between two switches, on average.
    pub accesses: u32,
    /// One in this many switches suspends an actor for a while; 0 means none.
    pub aside: u32,
    /// For this many nanoseconds, mostly closer to the shortest.
    pub shortest_aside: u64,
    pub longest_aside: u64,
}

/// The whole scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub seed: u64,
    pub directory_seed: u64,
    pub geometry: Geometry,
    pub first_tick: u64,
    pub processes: u32,
    /// Processes that begin after others were killed, at most.
    pub successors: u32,
    pub callers: u32,
    pub operations: u32,
    pub keys: Vec<Key>,
    pub work: Work,
    /// Nanoseconds between two operations of a caller, at most.
    pub longest_pause: u64,
    /// Bytes of filler in a value, at most.
    pub longest_value: usize,
    /// Of a hundred values, those that no directory of this size stores.
    pub too_large: u32,
    /// Of a hundred other values, those larger than a block.
    pub large: u32,
    pub loaders: Loaders,
    pub lease_timeout: Duration,
    pub wait_timeout: Duration,
    pub chaos: Chaos,
    pub pace: Pace,
}

impl Scenario {
    /// The scenario of this seed.
    pub fn new(seed: u64) -> Scenario {
        let mut rng = Rng::with_seed(seed);
        let rng = &mut rng;
        let mut scenario = Scenario::ordinary(seed, rng);
        match seed % 8 {
            0 => scenario.outage(rng),
            1 => scenario.crowd(rng),
            2 => scenario.brawl(rng),
            3 => scenario.impatience(rng),
            4 => scenario.tangle(rng),
            5 => scenario.household(rng),
            _ => {}
        }
        // In half of them. The outage is one of loads alone.
        if seed % 8 != 0 && rng.bool() {
            scenario.work.take = rng.u32(0..20);
            scenario.work.touch = rng.u32(0..20);
        }
        scenario
    }

    /// A few processes, keys and troubles.
    fn ordinary(seed: u64, rng: &mut Rng) -> Scenario {
        let directory_seed = rng.u64(..);
        let buckets = if rng.bool() { 2 } else { 4 };
        let processes = rng.u32(2..=4);
        let callers = rng.u32(1..=4).min(14 / processes);
        let number = *one_of(rng, &[1, 1, 2, 2, 3, 5, 8, 24]);
        let chance = |rng: &mut Rng, rate: u32| if rng.bool() { rate } else { 0 };
        Scenario {
            seed,
            directory_seed,
            geometry: geometry(rng, buckets),
            first_tick: if rng.u32(..4) == 0 {
                0xf_fff0
            } else {
                rng.u64(..1 << 20)
            },
            processes,
            successors: rng.u32(0..=3),
            callers,
            operations: rng.u32(4..=24),
            keys: keys(rng, directory_seed, number),
            work: Work {
                get: rng.u32(0..40),
                set: rng.u32(0..25),
                delete: rng.u32(0..15),
                clear: rng.u32(0..10),
                ..Work::default()
            },
            longest_pause: *one_of(rng, &[0, MS, 20 * MS, 200 * MS]),
            longest_value: rng.usize(0..110),
            too_large: chance(rng, 5),
            large: *one_of(rng, &[0, 0, 5, 30]),
            loaders: Loaders {
                shortest: 0,
                longest: *one_of(rng, &[0, MS, 50 * MS, 800 * MS]),
                failing: *one_of(rng, &[0, 0, 10, 50, 100]),
                hanging: chance(rng, 2),
                unstorable: chance(rng, 4),
            },
            lease_timeout: Duration::from_millis(rng.u64(63..800)),
            wait_timeout: Duration::from_millis(rng.u64(20..1500)),
            chaos: Chaos {
                kill: chance(rng, 2000),
                stop: chance(rng, 1000),
                cancel: chance(rng, 300),
                disk: chance(rng, 2000),
                stops_for_ever: rng.u32(0..30),
                reused_ids: chance(rng, 20),
            },
            pace: Pace {
                accesses: *one_of(rng, &[1, 2, 4, 16, 64]),
                aside: *one_of(rng, &[0, 10, 40, 100]),
                shortest_aside: 0,
                longest_aside: *one_of(rng, &[MS / 10, 5 * MS, 100 * MS]),
            },
        }
    }

    /// The source of a key fails for all callers, and slowly; nothing else goes wrong.
    fn outage(&mut self, rng: &mut Rng) {
        self.processes = rng.u32(2..=5);
        self.callers = rng.u32(1..=2);
        self.operations = 3;
        self.keys.truncate(2);
        self.work = Work::default();
        self.longest_pause = 30 * MS;
        self.loaders = Loaders {
            shortest: 300 * MS,
            longest: 400 * MS,
            failing: 100,
            hanging: 0,
            unstorable: 0,
        };
        self.lease_timeout = Duration::from_secs(2);
        self.wait_timeout = Duration::from_secs(20);
        self.chaos = Chaos::default();
        self.pace.longest_aside = self.pace.longest_aside.min(5 * MS);
    }

    /// More callers that load than there are slots.
    fn crowd(&mut self, rng: &mut Rng) {
        self.processes = 6;
        self.callers = 4;
        self.operations = rng.u32(3..=6);
        let buckets = 2;
        // One level: an index that grows has room for the leases of all.
        self.geometry = geometry(rng, buckets).with_levels(&[buckets]);
        self.keys = keys(rng, self.directory_seed, 30);
        self.loaders.longest = 100 * MS;
        self.loaders.hanging = rng.u32(40..95);
        self.work = Work {
            get: 5,
            set: rng.u32(0..30),
            delete: rng.u32(0..10),
            clear: rng.u32(0..5),
            ..Work::default()
        };
        self.chaos.cancel = 400;
    }

    /// All callers want one key, without a pause between two operations.
    fn brawl(&mut self, rng: &mut Rng) {
        self.processes = rng.u32(3..=5);
        self.callers = rng.u32(1..=2);
        self.operations = 30;
        self.keys.truncate(rng.usize(1..=2));
        self.longest_pause = *one_of(rng, &[0, 0, MS]);
        self.longest_value = 40;
        self.loaders.longest = *one_of(rng, &[0, MS / 100, MS]);
        self.loaders.hanging = 0;
        self.loaders.failing = *one_of(rng, &[0, 30, 60]);
        self.work = Work {
            get: 20,
            set: rng.u32(5..25),
            delete: rng.u32(5..25),
            clear: rng.u32(0..20),
            ..Work::default()
        };
        self.pace.accesses = *one_of(rng, &[1, 2, 4]);
        self.pace.aside = *one_of(rng, &[5, 10, 20]);
        self.pace.longest_aside = *one_of(rng, &[MS / 10, MS]);
    }

    /// Loads of one key that fail at once, and sets of it: each of them finds another's lease.
    fn tangle(&mut self, rng: &mut Rng) {
        self.brawl(rng);
        self.processes = rng.u32(4..=6);
        self.callers = 2;
        // Neighbours that come and go make inserters choose different slots.
        let (buckets, number) = (2, rng.usize(2..=3));
        self.geometry = geometry(rng, buckets);
        self.keys = keys(rng, self.directory_seed, number);
        self.loaders.longest = *one_of(rng, &[MS / 100, MS / 10, MS / 3]);
        self.loaders.failing = rng.u32(30..80);
        self.work = Work {
            get: 5,
            set: rng.u32(10..40),
            delete: rng.u32(15..35),
            ..Work::default()
        };
        self.pace.aside = *one_of(rng, &[8, 16, 32]);
        self.pace.longest_aside = *one_of(rng, &[MS / 2, 2 * MS]);
        self.pace.shortest_aside = self.pace.longest_aside >> 3;
    }

    /// Two processes with many callers, which join each other's loads of a key that changes often.
    fn household(&mut self, rng: &mut Rng) {
        self.brawl(rng);
        self.processes = 2;
        self.callers = rng.u32(4..=7);
        self.operations = 20;
        self.keys.truncate(1);
        self.longest_pause = *one_of(rng, &[0, MS / 10, MS]);
        self.loaders.longest = *one_of(rng, &[MS / 10, MS, 90 * MS]);
        self.loaders.failing = rng.u32(0..30);
        self.lease_timeout = Duration::from_millis(63);
        self.wait_timeout = Duration::from_millis(*one_of(rng, &[30, 500]));
        self.work.get = 0;
    }

    /// Loaders take longer than callers are asked to wait, and some fail.
    fn impatience(&mut self, rng: &mut Rng) {
        self.keys.truncate(2);
        self.work = Work {
            get: 5,
            set: rng.u32(0..4),
            delete: rng.u32(0..4),
            clear: rng.u32(0..3),
            ..Work::default()
        };
        self.lease_timeout = Duration::from_millis(rng.u64(63..150));
        self.loaders.shortest = 50 * MS;
        self.loaders.longest = 600 * MS;
        self.loaders.failing = *one_of(rng, &[0, 20, 50]);
        self.wait_timeout = Duration::from_millis(*one_of(rng, &[100, 400, 3000]));
    }

    /// Bytes of a namespace's keys before their names.
    pub fn namespace(&self, number: usize) -> Namespace {
        let prefix = prefix(NAMESPACES[number]).expect("no empty part");
        Namespace::new(prefix, self.directory_seed)
    }

    /// Whether a clear of this namespace clears the key.
    pub fn is_cleared(&self, namespace: usize, key: usize) -> bool {
        NAMESPACES[self.keys[key].namespace].starts_with(NAMESPACES[namespace])
    }

    /// Whether leases of this many callers can fill both buckets of a key, so that leases may be lost.
    pub fn is_crowded(&self) -> bool {
        self.processes * self.callers >= 16
    }

    /// Whether nothing except loaders goes wrong.
    pub fn is_calm(&self) -> bool {
        self.chaos.kill + self.chaos.stop + self.chaos.cancel + self.chaos.disk == 0
            && self.pace.longest_aside <= 5 * MS
    }

    /// The time of a lease, as in `polycache_host::Options`.
    pub fn lease_ticks(&self) -> u32 {
        (self.lease_timeout.as_millis() * 16 / 1000) as u32
    }
}

fn one_of<'a, T>(rng: &mut Rng, all: &'a [T]) -> &'a T {
    &all[rng.usize(..all.len())]
}

/// A directory with few buckets and small blocks, so that keys share slots and blocks are recycled.
fn geometry(rng: &mut Rng, buckets: u64) -> Geometry {
    let mut geometry = Geometry::new(2 << 20).expect("the smallest limit");
    geometry.block_size = if rng.bool() { 256 } else { 512 };
    geometry.blocks = *one_of(rng, &[8, 16, 24, 64]);
    // Many records begin where more is prepared.
    geometry.preparing = 64;
    // Two sets: clears of a few tenants end the floors of before.
    geometry.floors = 16;
    // Of half of them the index grows.
    let levels = [buckets, buckets * 4];
    geometry.with_levels(&levels[..rng.usize(1..=2)])
}

/// Keys with short names; sometimes the second has the tag of the first.
fn keys(rng: &mut Rng, seed: u64, number: usize) -> Vec<Key> {
    let one_namespace = rng.bool().then(|| rng.usize(..NAMESPACES.len()));
    let mut keys: Vec<Key> = Vec::new();
    let wants_same_tag = rng.u32(..4) == 0;
    let mut place = 0;
    while keys.len() < number {
        let namespace = one_namespace.unwrap_or_else(|| rng.usize(..NAMESPACES.len()));
        let name = format!("k{place}");
        place += 1;
        let mut full = prefix(NAMESPACES[namespace]).expect("no empty part");
        full.extend_from_slice(name.as_bytes());
        let tag = key_hash(seed, &full).tag();
        if wants_same_tag && keys.len() == 1 && tag != keys[0].tag && place < 4000 {
            continue;
        }
        keys.push(Key {
            namespace,
            name,
            tag,
        });
    }
    keys
}
