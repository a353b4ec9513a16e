//! What a seed determines.

use crate::scenario::MS;
use fastrand::Rng;
use polycache_host::layout::Geometry;
use std::time::Duration;

/// How often things go wrong, each about once in so many nanoseconds; 0 means never.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chaos {
    /// A process is killed; another one begins.
    pub kill: u64,
    /// A process is stopped for a while.
    pub stop: u64,
    /// Connections end, with notice.
    pub cut: u64,
    /// Connections of listeners end without notice.
    pub silence: u64,
    /// A server does nothing for a while.
    pub hang: u64,
    /// A server is replaced by a replica, which may lack the last writes.
    pub failover: u64,
    /// A slot moves to another server.
    pub reshard: u64,
    /// Another program writes, deletes and flushes.
    pub foreign: u64,
    /// The server has lost a key to get room.
    pub evict: u64,
    /// Of a thousand messages, those that take much longer.
    pub slow: u32,
}

/// The whole scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The seed.
    pub seed: u64,
    /// Of all directories.
    pub geometry: Geometry,
    /// Hosts.
    pub hosts: usize,
    /// Processes of a host.
    pub processes: usize,
    /// Callers of a process.
    pub callers: usize,
    /// Operations of a caller.
    pub operations: u32,
    /// Keys, each with the parts of its namespace.
    pub keys: Vec<(Vec<&'static str>, String)>,
    /// Primaries.
    pub nodes: usize,
    /// `max_staleness`.
    pub staleness: Duration,
    /// `timeout`.
    pub timeout: Duration,
    /// `lease_timeout`.
    pub lease_timeout: Duration,
    /// `wait_timeout`.
    pub wait_timeout: Duration,
    /// Of a hundred operations.
    pub get: u32,
    /// Of a hundred operations.
    pub set: u32,
    /// Of a hundred operations.
    pub delete: u32,
    /// Of a hundred operations.
    pub clear: u32,
    /// Of a hundred operations, adds and exchanges.
    pub change: u32,
    /// Of a hundred operations, those that are cached reads instead.
    pub cached: u32,
    /// Of a hundred cached reads, those by a client that speaks to a server that was replaced.
    pub late: u32,
    /// What cached reads have listeners hear of: the prefixes of the keys of each namespace, or all keys.
    pub hears_all: bool,
    /// Nanoseconds between two operations of a caller, at most.
    pub longest_pause: u64,
    /// Nanoseconds that a loader takes, at most.
    pub longest_load: u64,
    /// Of a hundred loaders, those that fail.
    pub failing: u32,
    /// Of a hundred writes, those that expire soon.
    pub expiring: u32,
    /// Nanoseconds that a message takes, at most, in most cases.
    pub delay: u64,
    /// Nanoseconds that a server takes to go round its loop, at most.
    pub round: u64,
    /// What goes wrong.
    pub chaos: Chaos,
}

/// The namespaces: the root, one, and one nested in it.
pub const NAMESPACES: [&[&str]; 3] = [&[], &["a"], &["a", "b"]];

fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.usize(..all.len())]
}

impl Scenario {
    /// The scenario of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Scenario {
        let mut rng = Rng::with_seed(seed ^ 0x0072_656d_6f74_6521);
        let rng = &mut rng;
        let mut geometry = Geometry::new(2 << 20).expect("the smallest limit");
        geometry.block_size = 512;
        geometry.blocks = 64;
        geometry.preparing = 64;
        geometry.floors = 16;
        let geometry = geometry.with_levels(&[4, 16]);
        let number = one_of(rng, &[1, 1, 2, 3, 6]);
        let keys = (0..number)
            .map(|key| (one_of(rng, &NAMESPACES).to_vec(), format!("k{key}")))
            .collect();
        let quiet = seed % 4 == 0;
        let rate = |rng: &mut Rng, every: u64| match quiet || rng.bool() {
            true => 0,
            false => every,
        };
        let chaos = Chaos {
            kill: rate(rng, 300 * MS),
            stop: rate(rng, 200 * MS),
            cut: rate(rng, 200 * MS),
            silence: rate(rng, 200 * MS),
            hang: rate(rng, 300 * MS),
            failover: rate(rng, 400 * MS),
            reshard: rate(rng, 200 * MS),
            foreign: if rng.bool() { 10 * MS } else { 0 },
            evict: rate(rng, 50 * MS),
            slow: if quiet {
                0
            } else {
                one_of(rng, &[0, 0, 5, 50])
            },
        };
        let mut scenario = Scenario {
            seed,
            geometry,
            hosts: rng.usize(1..=4),
            processes: rng.usize(1..=2),
            callers: rng.usize(1..=3),
            operations: rng.u32(10..60),
            keys,
            nodes: one_of(rng, &[1, 1, 2, 3]),
            staleness: Duration::from_millis(one_of(rng, &[0, 20, 100, 1000])),
            timeout: Duration::from_millis(one_of(rng, &[5, 50, 250])),
            lease_timeout: Duration::from_millis(rng.u64(63..800)),
            wait_timeout: Duration::from_millis(rng.u64(200..1500)),
            get: rng.u32(20..70),
            set: rng.u32(0..20),
            delete: rng.u32(0..10),
            clear: if rng.bool() { rng.u32(0..10) } else { 0 },
            change: rng.u32(0..10),
            cached: 0,
            late: 0,
            hears_all: false,
            longest_pause: one_of(rng, &[0, MS, 5 * MS, 40 * MS]),
            longest_load: one_of(rng, &[0, MS, 20 * MS, 400 * MS]),
            failing: one_of(rng, &[0, 0, 20, 60]),
            expiring: one_of(rng, &[0, 0, 30]),
            delay: one_of(rng, &[MS / 20, MS / 5, 2 * MS]),
            round: one_of(rng, &[MS / 5, MS / 5, 5 * MS]),
            chaos,
        };
        let more = &mut Rng::with_seed(seed ^ 0x7265_6164_7321);
        if seed % 2 == 1 {
            scenario.cached = one_of(more, &[0, 30, 70, 95]);
            scenario.late = one_of(more, &[0, 0, 50]);
            scenario.hears_all = more.bool();
        }
        if scenario.is_stampede() {
            scenario.stampede();
        } else if seed % 16 == 9 {
            scenario.dawdle();
        }
        scenario
    }

    /// Whether no server, connection or process fails.
    #[must_use]
    pub fn is_calm(&self) -> bool {
        let Chaos {
            kill,
            stop,
            cut,
            silence,
            hang,
            failover,
            reshard,
            evict,
            slow,
            ..
        } = self.chaos;
        kill + stop + cut + silence + hang + failover + reshard + evict + u64::from(slow) == 0
    }

    /// Whether a clear of the namespace in this place clears the key.
    #[must_use]
    pub fn is_cleared(&self, namespace: usize, key: usize) -> bool {
        self.keys[key].0.starts_with(NAMESPACES[namespace])
    }
}

impl Scenario {
    /// All callers want the same keys, which nobody changes.
    #[must_use]
    pub fn is_stampede(&self) -> bool {
        self.seed % 8 == 4
    }

    /// Whether every miss is one on the server, too.
    #[must_use]
    pub fn loses_nothing(&self) -> bool {
        self.is_calm() && self.expiring == 0 && self.clear == 0
    }

    /// A server that goes round its loop slowly, and a network that holds some messages up: what is pushed
    /// of one round arrives at different times.
    fn dawdle(&mut self) {
        self.hosts = 2;
        self.processes = 1;
        self.callers = 3;
        self.operations = 200;
        self.keys.truncate(1);
        self.nodes = 1;
        self.staleness = Duration::from_millis(100);
        self.timeout = Duration::from_millis(250);
        self.get = 100;
        self.longest_pause = MS;
        self.delay = MS / 20;
        self.round = 40 * MS;
        self.chaos = Chaos {
            foreign: 10 * MS,
            slow: 100,
            ..Chaos::default()
        };
    }

    fn stampede(&mut self) {
        // Callers of one host that begin at the same instant may see each other's attempts at a lease as
        // loads that failed. That is the host's simulation's matter.
        self.processes = 1;
        self.callers = 1;
        self.get = 10;
        self.set = 0;
        self.delete = 0;
        self.clear = 0;
        self.change = 0;
        self.failing = 0;
        self.expiring = 0;
        self.longest_load = self.longest_load.min(50 * MS);
        self.lease_timeout = Duration::from_millis(800);
        self.timeout = Duration::from_millis(250);
        self.wait_timeout = Duration::from_millis(1500);
        self.chaos = Chaos::default();
    }
}
