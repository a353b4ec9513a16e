//! The store against a plain map: random operations, a moving clock, eviction by a small limit.

mod support;

use polycache_host::{Hit, Lease, Namespace, Store};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use support::{entry_until, text, with_clock};

const NAMESPACES: [&[&str]; 3] = [&[], &["a"], &["a", "b"]];

#[derive(Clone, Debug)]
enum Step {
    Put {
        ns: usize,
        key: u16,
        size: usize,
        ttl: u64,
    },
    Get {
        ns: usize,
        key: u16,
    },
    Delete {
        ns: usize,
        key: u16,
    },
    Take {
        ns: usize,
        key: u16,
    },
    Touch {
        ns: usize,
        key: u16,
        ttl: u64,
    },
    Load {
        ns: usize,
        key: u16,
        ttl: u64,
        meddle: u8,
    },
    Clear {
        ns: usize,
    },
    Advance {
        ms: u64,
    },
    Keys {
        ns: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let ns = 0..NAMESPACES.len();
    let key = 0..40u16;
    let ttl = prop_oneof![3 => Just(0u64), 1 => 1..500u64];
    // The last ones are larger than a block.
    let size = prop_oneof![
        16 => 0..300usize, 4 => 300..9000usize, 2 => 30_000..65_000usize, 1 => 66_000..350_000usize
    ];
    prop_oneof![
        8 => (ns.clone(), key.clone(), size, ttl.clone())
            .prop_map(|(ns, key, size, ttl)| Step::Put { ns, key, size, ttl }),
        8 => (ns.clone(), key.clone()).prop_map(|(ns, key)| Step::Get { ns, key }),
        2 => (ns.clone(), key.clone()).prop_map(|(ns, key)| Step::Delete { ns, key }),
        2 => (ns.clone(), key.clone()).prop_map(|(ns, key)| Step::Take { ns, key }),
        3 => (ns.clone(), key.clone(), ttl.clone())
            .prop_map(|(ns, key, ttl)| Step::Touch { ns, key, ttl }),
        3 => (ns.clone(), key, ttl, 0..4u8)
            .prop_map(|(ns, key, ttl, meddle)| Step::Load { ns, key, ttl, meddle }),
        1 => ns.clone().prop_map(|ns| Step::Clear { ns }),
        2 => (1..200u64).prop_map(|ms| Step::Advance { ms }),
        1 => ns.prop_map(|ns| Step::Keys { ns }),
    ]
}

struct World {
    /// Two handles act as two processes; operations alternate between them.
    stores: [Store; 2],
    namespaces: [Vec<Namespace>; 2],
    map: HashMap<(usize, u16), (String, u64)>,
    turn: usize,
    now: u64,
    serial: u64,
    /// Entries found absent without a reason in the map: each must be a counted eviction.
    lost: u64,
}

impl World {
    fn expected(&self, ns: usize, key: u16) -> Option<&str> {
        let (value, expires) = self.map.get(&(ns, key))?;
        (*expires == 0 || self.now < *expires).then_some(value)
    }

    fn evictions(&self) -> u64 {
        let stats = self.stores[0].stats().unwrap();
        stats.evicted_by_age + stats.evicted_by_conflict
    }

    fn side(&mut self) -> usize {
        self.turn += 1;
        self.turn % 2
    }

    fn value(&mut self, key: u16, size: usize, ttl: u64) -> (String, Vec<u8>, u64) {
        self.serial += 1;
        let value = format!("{key}:{}:{}", self.serial, "x".repeat(size));
        let expires = if ttl == 0 { 0 } else { self.now + ttl };
        let entry = entry_until(&value, self.now, expires);
        (value, entry, expires)
    }

    fn check(&mut self, ns: usize, key: u16) {
        let side = self.side();
        let before = self.evictions();
        let mut out = Vec::new();
        let hit = self.stores[side]
            .get(&self.namespaces[side][ns], &key.to_le_bytes(), &mut out)
            .unwrap();
        match (hit, self.expected(ns, key)) {
            (Some(_), Some(value)) => assert_eq!(text(&out), value),
            (None, None) => {}
            (Some(_), None) => panic!("{ns}/{key} should be absent"),
            (None, Some(_)) => {
                self.lost += 1;
                assert!(self.lost <= before, "{ns}/{key} was lost");
                self.map.remove(&(ns, key));
            }
        }
    }

    /// What a peek finds, checked as a read.
    fn peek(&mut self, side: usize, ns: usize, key: u16) -> Option<(Hit, Vec<u8>)> {
        self.check(ns, key);
        let mut out = Vec::new();
        let (store, namespace) = (&self.stores[side], &self.namespaces[side][ns]);
        let hit = store.peek(namespace, &key.to_le_bytes(), &mut out).unwrap();
        let found = hit.is_some().then(|| text(&out));
        assert_eq!(found.as_deref(), self.expected(ns, key));
        hit.map(|hit| (hit, out))
    }

    fn take(&mut self, ns: usize, key: u16) {
        let side = self.side();
        let seen = self.peek(side, ns, key);
        let (store, namespace) = (&self.stores[side], &self.namespaces[side][ns]);
        let bytes = key.to_le_bytes();
        match seen {
            Some((hit, _)) => {
                assert!(store.remove(namespace, &bytes, hit).unwrap());
                assert!(
                    !store.remove(namespace, &bytes, hit).unwrap(),
                    "a second time"
                );
                assert!(!store
                    .replace(namespace, &bytes, hit, &entry_until("", 0, 0))
                    .unwrap());
            }
            None => assert!(store.invalidate_loads(namespace, &bytes).unwrap()),
        }
        self.map.remove(&(ns, key));
        self.check(ns, key);
    }

    fn touch(&mut self, ns: usize, key: u16, ttl: u64) {
        let side = self.side();
        let Some((hit, old)) = self.peek(side, ns, key) else {
            return;
        };
        let expires = if ttl == 0 { 0 } else { self.now + ttl };
        let mut new = Vec::new();
        polycache_entry::renewed(&old, self.now, expires, None, &mut new).unwrap();
        let (store, namespace) = (&self.stores[side], &self.namespaces[side][ns]);
        // A copy that needs room may recycle the block of the entry that it is to replace.
        if store
            .replace(namespace, &key.to_le_bytes(), hit, &new)
            .unwrap()
        {
            self.map.get_mut(&(ns, key)).unwrap().1 = expires;
        } else {
            assert!(!store.stands(hit));
        }
        self.check(ns, key);
    }

    fn load(&mut self, ns: usize, key: u16, ttl: u64, meddle: u8) {
        self.check(ns, key);
        let side = self.side();
        let bytes = key.to_le_bytes();
        let mut out = Vec::new();
        let store = self.stores[side].clone();
        let lease = store
            .lease(&self.namespaces[side][ns], &bytes, &mut out)
            .unwrap();
        let Lease::Acquired(token) = lease else {
            assert!(matches!(lease, Lease::Hit(_)), "{lease:?}");
            assert_eq!(Some(text(&out).as_str()), self.expected(ns, key));
            return;
        };
        assert!(self.expected(ns, key).is_none());
        let other = 1 - side;
        let theirs = &self.namespaces[other][ns];
        let busy = self.stores[other].lease(theirs, &bytes, &mut out).unwrap();
        assert!(matches!(busy, Lease::Busy { .. }), "{busy:?}");
        let (value, entry, expires) = self.value(key, 20, ttl);
        match meddle {
            1 => assert!(!self.stores[other]
                .delete(&self.namespaces[other][ns], &bytes)
                .unwrap()),
            2 => {
                let (value, entry, expires) = self.value(key, 30, 0);
                self.stores[other]
                    .put(&self.namespaces[other][ns], &bytes, &entry)
                    .unwrap();
                self.map.insert((ns, key), (value, expires));
            }
            3 => self.clear(ns),
            _ => {}
        }
        let filled = store
            .fill(&self.namespaces[side][ns], &bytes, token, &entry)
            .unwrap();
        match meddle {
            0 => {
                assert!(filled);
                self.map.insert((ns, key), (value, expires));
            }
            1 | 2 => assert!(!filled),
            _ => {} // After a clear the value may be stored, but it must not be served.
        }
        self.check(ns, key);
    }

    fn clear(&mut self, ns: usize) {
        let side = self.side();
        self.stores[side].clear(&self.namespaces[side][ns]).unwrap();
        self.map.retain(|(place, _), _| *place < ns);
    }

    fn keys(&mut self, ns: usize) {
        let side = self.side();
        let mut found = Vec::new();
        let mut cursor = Some(0);
        while let Some(at) = cursor {
            cursor = self.stores[side]
                .keys(&self.namespaces[side][ns], b"", at, 1000, &mut found)
                .unwrap();
        }
        let unique: std::collections::HashSet<_> = found.iter().collect();
        assert_eq!(unique.len(), found.len());
        for key in 0..40u16 {
            let there = found.iter().any(|found| **found == key.to_le_bytes());
            if there != self.expected(ns, key).is_some() {
                assert!(!there, "{ns}/{key} is listed");
                assert!(self.evictions() > 0, "{ns}/{key} is not listed");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_store_is_a_map_that_may_forget(steps in prop::collection::vec(step(), 1..700)) {
        let dir = tempfile::tempdir().unwrap();
        let now = 1_000_000;
        let (first, clock) = with_clock(dir.path(), now);
        let (second, other_clock) = with_clock(dir.path(), now);
        let namespaces = [&first, &second]
            .map(|store| NAMESPACES.iter().map(|parts| store.namespace(parts).unwrap()).collect());
        let mut world = World {
            stores: [first, second],
            namespaces,
            map: HashMap::new(),
            turn: 0,
            now,
            serial: 0,
            lost: 0,
        };
        for step in steps {
            match step {
                Step::Put { ns, key, size, ttl } => {
                    let side = world.side();
                    let (value, entry, expires) = world.value(key, size, ttl);
                    let namespace = &world.namespaces[side][ns];
                    world.stores[side].put(namespace, &key.to_le_bytes(), &entry).unwrap();
                    world.map.insert((ns, key), (value, expires));
                }
                Step::Get { ns, key } => world.check(ns, key),
                Step::Delete { ns, key } => {
                    let side = world.side();
                    let removed = world.stores[side]
                        .delete(&world.namespaces[side][ns], &key.to_le_bytes())
                        .unwrap();
                    let expected = world.expected(ns, key).is_some();
                    prop_assert!(removed == expected || (!removed && world.evictions() > 0));
                    world.map.remove(&(ns, key));
                }
                Step::Take { ns, key } => world.take(ns, key),
                Step::Touch { ns, key, ttl } => world.touch(ns, key, ttl),
                Step::Load { ns, key, ttl, meddle } => world.load(ns, key, ttl, meddle),
                Step::Clear { ns } => world.clear(ns),
                Step::Advance { ms } => {
                    world.now += ms;
                    clock.store(world.now, Ordering::Relaxed);
                    other_clock.store(world.now, Ordering::Relaxed);
                }
                Step::Keys { ns } => world.keys(ns),
            }
        }
        let report = world.stores[0].check().unwrap();
        prop_assert_eq!(report.damaged, Vec::<String>::new());
        let stats = world.stores[1].stats().unwrap();
        prop_assert!(stats.bytes <= stats.limit);
        prop_assert_eq!(stats.evicted_by_conflict, 0);
    }
}

/// Entries that are read while others stream through stay; unread ones leave.
#[test]
fn visited_entries_outlive_a_stream() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = with_clock(dir.path(), 1);
    let ns = store.namespace(&["n"]).unwrap();
    for hot in 0..50u32 {
        store
            .put(
                &ns,
                format!("hot{hot}").as_bytes(),
                &entry_until("hot", 1, 0),
            )
            .unwrap();
    }
    let filler = "x".repeat(1000);
    for stream in 0..20_000u32 {
        let key = format!("cold{stream}");
        store
            .put(&ns, key.as_bytes(), &entry_until(&filler, 1, 0))
            .unwrap();
        if stream % 10 == 0 {
            let hot = format!("hot{}", (stream / 10) % 50);
            let mut out = Vec::new();
            assert!(
                store.get(&ns, hot.as_bytes(), &mut out).unwrap().is_some(),
                "{hot} at {stream}"
            );
        }
    }
    let mut out = Vec::new();
    assert!(store.get(&ns, b"cold1", &mut out).unwrap().is_none());
    let stats = store.stats().unwrap();
    // Kept once each: their block is not the oldest again before the test ends.
    assert!(
        stats.reinserted >= 50 && stats.evicted_by_age > 10_000,
        "{stats:?}"
    );
}
