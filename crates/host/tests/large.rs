//! Values larger than a block, in real directories: against a plain map, and from several processes, also killed ones
//! (`spec/host.md`, "Large values").

mod support;

use polycache_host::layout::Geometry;
use polycache_host::{Namespace, Store};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use support::large::{most, open, undamaged, value, MIB};
use support::{entry, entry_until, get, text};

#[derive(Clone, Debug)]
enum Step {
    /// The size in millionths of the largest one's logarithm.
    Put(u8, u32),
    Get(u8),
    Delete(u8),
    Touch(u8),
    Replace(u8, u32),
    Load(u8, u32),
}

fn step() -> impl Strategy<Value = Step> {
    let (key, size) = (0..12u8, 0..=1_000_000u32);
    prop_oneof![
        6 => (key.clone(), size.clone()).prop_map(|(key, size)| Step::Put(key, size)),
        4 => key.clone().prop_map(Step::Get),
        1 => key.clone().prop_map(Step::Delete),
        2 => key.clone().prop_map(Step::Touch),
        1 => (key.clone(), size.clone()).prop_map(|(key, size)| Step::Replace(key, size)),
        2 => (key, size).prop_map(|(key, size)| Step::Load(key, size)),
    ]
}

/// Two handles on one directory, which take turns, and what they must hold.
struct World {
    stores: [Store; 2],
    namespaces: [Namespace; 2],
    map: HashMap<u8, String>,
    turn: usize,
    serial: u64,
    lost: u64,
    most: usize,
}

impl World {
    fn side(&mut self) -> usize {
        self.turn += 1;
        self.turn % 2
    }

    fn value(&mut self, size: u32) -> String {
        self.serial += 1;
        let power = (self.most as f64).ln() * f64::from(size) / 1e6;
        value(self.serial, (power.exp() as usize).clamp(1, self.most))
    }

    fn check(&mut self, key: u8) {
        let side = self.side();
        let found = get(&self.stores[side], &self.namespaces[side], &[key]);
        match self.map.get(&key) {
            Some(value) if found.is_none() => {
                let stats = self.stores[side].stats().unwrap();
                self.lost += 1;
                assert!(
                    self.lost <= stats.evicted_by_age,
                    "{} bytes were lost",
                    value.len()
                );
                self.map.remove(&key);
            }
            expected => assert!(found.as_ref() == expected, "key {key} has another value"),
        }
    }

    fn step(&mut self, step: &Step) {
        let side = self.side();
        let store = self.stores[side].clone();
        let ns = store.namespace(&["n"]).unwrap();
        match *step {
            Step::Put(key, size) => {
                let value = self.value(size);
                store.put(&ns, &[key], &entry(&value)).unwrap();
                self.map.insert(key, value);
                self.check(key);
            }
            Step::Get(key) => self.check(key),
            Step::Delete(key) => {
                store.delete(&ns, &[key]).unwrap();
                self.map.remove(&key);
                self.check(key);
            }
            Step::Touch(key) => {
                self.check(key);
                let mut old = Vec::new();
                let Some(hit) = store.peek(&ns, &[key], &mut old).unwrap() else {
                    return;
                };
                let mut new = Vec::new();
                polycache_entry::renewed(&old, 1, 0, None, &mut new).unwrap();
                let touched = store.replace(&ns, &[key], hit, &new).unwrap();
                assert!(touched || !store.stands(hit));
                self.check(key);
            }
            Step::Replace(key, size) => {
                self.check(key);
                let Some(hit) = store.peek(&ns, &[key], &mut Vec::new()).unwrap() else {
                    return;
                };
                let value = self.value(size);
                let version = store.version(&ns, &[key], hit).unwrap();
                if store.replace(&ns, &[key], hit, &entry(&value)).unwrap() {
                    self.map.insert(key, value);
                    let hit = store.peek(&ns, &[key], &mut Vec::new()).unwrap().unwrap();
                    assert_ne!(store.version(&ns, &[key], hit).unwrap(), version);
                } else {
                    assert!(!store.stands(hit));
                }
                self.check(key);
            }
            Step::Load(key, size) => {
                self.check(key);
                if let polycache_host::Lease::Acquired(token) =
                    store.lease(&ns, &[key], &mut Vec::new()).unwrap()
                {
                    let value = self.value(size);
                    assert!(store.fill(&ns, &[key], token, &entry(&value)).unwrap());
                    self.map.insert(key, value);
                }
                self.check(key);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn a_store_of_any_limit_is_a_map_that_may_forget(
        limit in prop_oneof![
            4 => Just(2 * MIB), 2 => Just(3 * MIB + 4097), 2 => Just(16 * MIB), 1 => Just(64 * MIB),
        ],
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let stores = [open(dir.path(), limit), open(dir.path(), limit)];
        let namespaces = [0, 1].map(|side| stores[side].namespace(&["n"]).unwrap());
        let most = most(&stores[0], &namespaces[0], 1);
        let mut world = World { stores, namespaces, map: HashMap::new(), turn: 0, serial: 0, lost: 0, most };
        for step in &steps {
            world.step(step);
        }
        for key in 0..12 {
            world.check(key);
        }
        let mut found = Vec::new();
        world.stores[0].keys(&world.namespaces[0], b"", 0, u64::MAX, &mut found).unwrap();
        prop_assert_eq!(found.len(), world.map.len());
        undamaged(&world.stores[0]);
        let stats = world.stores[0].stats().unwrap();
        prop_assert!(stats.bytes <= stats.limit);
    }
}

#[test]
fn the_largest_value_is_a_quarter_of_the_directory() {
    for limit in [2 * MIB, 5 * MIB, 64 * MIB] {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path(), limit);
        let ns = store.namespace(&["n"]).unwrap();
        let most = most(&store, &ns, 1);
        let geometry = Geometry::new(limit).unwrap();
        assert!(most as u64 > geometry.blocks_len() / 5, "{most} of {limit}");
        for len in [most, 1, most / 2, most] {
            store.put(&ns, b"k", &entry(&value(7, len))).unwrap();
            assert!(get(&store, &ns, b"k") == Some(value(7, len)));
        }
        let error = store
            .put(&ns, b"k", &entry(&value(7, most + 1)))
            .unwrap_err();
        assert_eq!(error.code(), "entry_too_large");
        assert_eq!(get(&store, &ns, b"k"), None);
    }
}

/// Runs `child` in a forked process.
fn fork(child: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child only uses a store of its own and leaves by `_exit`.
    unsafe {
        let pid = libc::fork();
        if pid == 0 {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
            libc::_exit(i32::from(ended.is_err()));
        }
        pid
    }
}

fn exit_code(pid: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: `status` is written only by the call.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    status
}

/// Processes that write, read and touch the same keys at once, with values to a quarter of the directory: each value
/// that is read was written, whole. More of them than fit write at the same time, and all find room.
#[test]
fn processes_share_large_values() {
    let dir = tempfile::tempdir().unwrap();
    let limit = 3 * MIB;
    let watcher = open(dir.path(), limit);
    let children: Vec<_> = (0..5u64)
        .map(|child| {
            fork(|| {
                let store = open(dir.path(), limit);
                let ns = store.namespace(&["n"]).unwrap();
                let most = most(&store, &ns, 1);
                for round in 0..150u64 {
                    let key = [(round * 7 + child) as u8 % 5];
                    let serial = child * 1_000 + round;
                    let len = most >> ((round * 5 + child) % 6);
                    store.put(&ns, &key, &entry(&value(serial, len))).unwrap();
                    let other = [(round + child) as u8 % 5];
                    let mut out = Vec::new();
                    if let Some(hit) = store.get(&ns, &other, &mut out).unwrap() {
                        let found = text(&out);
                        let serial = found[..15.min(found.len())].trim().parse().unwrap();
                        assert!(found == value(serial, found.len()));
                        let mut new = Vec::new();
                        polycache_entry::renewed(&out, round, 0, None, &mut new).unwrap();
                        store.replace(&ns, &other, hit, &new).unwrap();
                    }
                    if round % 11 == 0 {
                        store.delete(&ns, &key).unwrap();
                    }
                }
            })
        })
        .collect();
    for child in children {
        assert_eq!(exit_code(child), 0);
    }
    undamaged(&watcher);
    let ns = watcher.namespace(&["n"]).unwrap();
    let most = most(&watcher, &ns, 1);
    // What the processes left may stay instead of what comes now, if it was read often enough. So it goes first, and then
    // no block may be missing.
    for key in 0..5 {
        watcher.delete(&ns, &[key]).unwrap();
    }
    for key in 0..3 {
        watcher.put(&ns, &[key], &entry(&value(1, most))).unwrap();
    }
    for key in 0..3 {
        assert!(get(&watcher, &ns, &[key]).is_some(), "{key}");
    }
}

/// A process that is killed in the middle of writing large values, again and again: nothing damaged is left, and no
/// space is gone.
#[test]
fn killed_processes_leave_no_damage_and_no_hole() {
    let dir = tempfile::tempdir().unwrap();
    let limit = 2 * MIB;
    let watcher = open(dir.path(), limit);
    let ns = watcher.namespace(&["n"]).unwrap();
    let most = most(&watcher, &ns, 1);
    for round in 0..40u64 {
        let mut pipe = [0; 2];
        // SAFETY: the array has room for two descriptors.
        assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
        let child = fork(|| {
            let store = open(dir.path(), limit);
            let ns = store.namespace(&["n"]).unwrap();
            for serial in 0.. {
                let key = [(serial % 3) as u8];
                store.put(&ns, &key, &entry(&value(serial, most))).unwrap();
                if serial == round {
                    // SAFETY: one byte of a live buffer.
                    unsafe { libc::write(pipe[1], [0u8].as_ptr().cast(), 1) };
                }
            }
        });
        let mut byte = [0u8];
        // SAFETY: one byte of a live buffer; the pipe's ends and the child are this test's own.
        unsafe {
            assert_eq!(libc::read(pipe[0], byte.as_mut_ptr().cast(), 1), 1);
            assert_eq!(libc::kill(child, libc::SIGKILL), 0);
            libc::close(pipe[0]);
            libc::close(pipe[1]);
        }
        exit_code(child);
        undamaged(&watcher);
        for key in 0..3 {
            if let Some(found) = get(&watcher, &ns, &[key]) {
                let serial = found[..15].trim().parse().unwrap();
                assert!(found == value(serial, most));
            }
        }
    }
    for key in 0..3 {
        watcher.put(&ns, &[key], &entry(&value(1, most))).unwrap();
    }
    for key in 0..3 {
        assert!(get(&watcher, &ns, &[key]).is_some(), "{key}");
    }
}

/// An expired or cleared value gives its blocks back before anything live goes.
#[test]
fn what_is_served_no_more_goes_first() {
    let dir = tempfile::tempdir().unwrap();
    let (store, clock) = support::with_clock(dir.path(), 1_000);
    let ns = store.namespace(&["n"]).unwrap();
    let cleared = store.namespace(&["cleared"]).unwrap();
    let most = most(&store, &cleared, 4);
    for key in 0..4 {
        store
            .put(&ns, &[key], &entry_until(&value(1, 50_000), 1_000, 0))
            .unwrap();
    }
    let expiring = entry_until(&value(2, most), 1_000, 2_000);
    store.put(&ns, b"soon", &expiring).unwrap();
    store
        .put(&cleared, b"gone", &entry(&value(3, most)))
        .unwrap();
    clock.store(3_000, Ordering::Relaxed);
    store.clear(&cleared).unwrap();
    for round in 0..8 {
        let value = entry_until(&value(round, most), 3_000, 0);
        store.put(&ns, b"new", &value).unwrap();
    }
    assert!((0..4).all(|key| get(&store, &ns, &[key]).is_some()));
    let stats = store.stats().unwrap();
    assert_eq!((stats.evicted_by_age, stats.expired), (0, 2), "{stats:?}");
}
