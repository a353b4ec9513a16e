//! Clears: every namespace can be cleared, any number of times, without a loss to any other
//! (`spec/host.md`, "Floors" and "Surveys").

mod support;

use polycache_host::layout::{header, Geometry};
use polycache_host::{Clock, Options, Store};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use support::{entry, entry_until, get};

const MIB: u64 = 1 << 20;

fn open(path: &Path, limit: u64) -> Store {
    let mut options = Options::new(path);
    options.limit = Some(limit);
    Store::open(&options).unwrap()
}

#[test]
fn a_million_namespaces_are_cleared_in_turn_and_unrelated_entries_stand() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 2 * MIB);
    let unrelated = store.namespace(&["unrelated"]).unwrap();
    for number in 0..1_000 {
        let key = format!("k{number}");
        store.put(&unrelated, key.as_bytes(), &entry("v")).unwrap();
    }
    for number in 0..1_000_000 {
        let tenant = store.namespace(&[format!("tenant{number}")]).unwrap();
        if number % 100 == 0 {
            store.put(&tenant, b"k", &entry("cleared")).unwrap();
        }
        store.clear(&tenant).unwrap();
        if number % 100 == 0 {
            assert_eq!(get(&store, &tenant, b"k"), None);
            store.put(&tenant, b"k", &entry("kept")).unwrap();
            assert_eq!(get(&store, &tenant, b"k").as_deref(), Some("kept"));
            store.delete(&tenant, b"k").unwrap();
        }
    }
    let missing = (0..1_000)
        .filter(|number| get(&store, &unrelated, format!("k{number}").as_bytes()).is_none())
        .count();
    let stats = store.stats().unwrap();
    assert_eq!((missing, stats.floor_overflows), (0, 0), "{stats:?}");
    assert!(store.check().unwrap().damaged.is_empty());
}

/// Every entry that was cleared stays so after its floor has ended and its cell was given away.
#[test]
fn a_cleared_entry_never_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 2 * MIB);
    let tenants: Vec<_> = (0..1_000)
        .map(|number| store.namespace(&[format!("tenant{number}")]).unwrap())
        .collect();
    for tenant in &tenants {
        store.put(tenant, b"k", &entry("cleared")).unwrap();
    }
    for tenant in &tenants {
        store.clear(tenant).unwrap();
    }
    for number in 0..20_000 {
        let other = store.namespace(&[format!("other{number}")]).unwrap();
        store.clear(&other).unwrap();
    }
    // Handles of their own remember no floor.
    let again = open(dir.path(), 2 * MIB);
    for number in 0..1_000 {
        let tenant = again.namespace(&[format!("tenant{number}")]).unwrap();
        assert_eq!(get(&again, &tenant, b"k"), None);
    }
    assert_eq!(again.stats().unwrap().entries, 0);
}

/// A load older than two surveys is refused: the floor of its namespace may have ended.
#[test]
fn a_load_that_a_forgotten_clear_overtook_stores_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 2 * MIB);
    let ns = store.namespace(&["n"]).unwrap();
    let polycache_host::Lease::Acquired(token) = store.lease(&ns, b"k", &mut Vec::new()).unwrap()
    else {
        panic!("the key is absent");
    };
    store.clear(&ns).unwrap();
    for number in 0..20_000 {
        let other = store.namespace(&[format!("other{number}")]).unwrap();
        store.clear(&other).unwrap();
    }
    // A namespace of its own remembers no floor.
    let ns = store.namespace(&["n"]).unwrap();
    assert_eq!(store.floor(&ns), 0, "the floor has not ended");
    assert!(!store.may_fill(&ns, token));
    assert!(!store.fill(&ns, b"k", token, &entry("stale")).unwrap());
    assert_eq!(get(&store, &ns, b"k"), None);
    // And the lease is free again.
    let lease = store.lease(&ns, b"k", &mut Vec::new()).unwrap();
    assert!(matches!(lease, polycache_host::Lease::Acquired(_)));
}

#[test]
fn a_clear_of_the_root_needs_no_cell() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 2 * MIB);
    let (root, ns) = (
        store.namespace::<&str>(&[]).unwrap(),
        store.namespace(&["n"]).unwrap(),
    );
    store.put(&ns, b"k", &entry("v")).unwrap();
    store.clear(&root).unwrap();
    assert_eq!(get(&store, &ns, b"k"), None);
    store.put(&ns, b"k", &entry("v")).unwrap();
    assert_eq!(get(&store, &ns, b"k").as_deref(), Some("v"));
}

fn overwrite(path: &Path, at: usize, change: impl Fn(u64) -> u64) {
    let file = File::options()
        .read(true)
        .write(true)
        .open(path.join("v2/index"))
        .unwrap();
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, at as u64).unwrap();
    let changed = change(u64::from_le_bytes(bytes)).to_le_bytes();
    file.write_all_at(&changed, at as u64).unwrap();
}

/// Offsets of the words with a namespace's floor, found by their change.
fn words_with_a_floor(path: &Path, clear: impl Fn()) -> Vec<usize> {
    let geometry = Geometry::new(2 * MIB).unwrap();
    let read = || {
        let bytes = std::fs::read(path.join("v2/index")).unwrap();
        bytes[geometry.floors_at..geometry.descriptors_at].to_vec()
    };
    let before = read();
    clear();
    let after = read();
    (0..before.len())
        .step_by(8)
        .filter(|at| before[*at..at + 8] != after[*at..at + 8])
        .map(|at| at + geometry.floors_at)
        .collect()
}

/// Flips a bit of a floor: of a namespace's, or the root's.
fn a_flipped_bit_is_noticed_and_mended(bit: u32, of_the_root: bool) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 2 * MIB);
    let ns = store.namespace(&["n"]).unwrap();
    let cleared = if of_the_root {
        store.namespace::<&str>(&[]).unwrap()
    } else {
        store.namespace(&["n"]).unwrap()
    };
    let mut words = words_with_a_floor(dir.path(), || store.clear(&cleared).unwrap());
    if of_the_root {
        assert!(words.is_empty());
        words = vec![header::ROOT_FLOOR, header::ROOT_FLOOR + 8];
    }
    let flip = |at| {
        overwrite(dir.path(), at, |word| word ^ 1 << bit);
        let found = store.check().unwrap().damaged;
        assert!(found.len() == 1 && found[0].contains("floor"), "{found:?}");
        // Readers look at the floors again.
        store.clear(&store.namespace(&["epoch"]).unwrap()).unwrap();
    };
    let is_stored = || {
        store.put(&ns, b"k", &entry("v")).unwrap();
        get(&store, &ns, b"k").as_deref() == Some("v")
    };
    flip(words[0]);
    assert!(is_stored(), "the other half's floor does not count");
    flip(words[1]);
    store.clear(&cleared).unwrap();
    assert_eq!(get(&store, &ns, b"k"), None);
    assert!(is_stored());
    store.clear(&cleared).unwrap();
    assert_eq!(get(&store, &ns, b"k"), None);
    assert_eq!(store.check().unwrap().damaged, [""; 0]);
}

#[test]
fn a_damaged_floor_is_noticed_and_a_clear_mends_it() {
    for bit in [40, 60, 61, 63] {
        a_flipped_bit_is_noticed_and_mended(bit, false);
        a_flipped_bit_is_noticed_and_mended(bit, true);
    }
}

/// A third of the limit is live and was never read. As much is written again and again, and then cleared or
/// expires.
fn what_is_dead_goes_first(size: usize, dead: impl Fn(&Store, &AtomicU64)) {
    let now = Arc::new(AtomicU64::new(1_000_000));
    let dir = tempfile::tempdir().unwrap();
    let mut options = Options::new(dir.path());
    options.limit = Some(32 * MIB);
    options.clock = Clock::Manual(now.clone());
    let store = Store::open(&options).unwrap();
    let (live, other) = (
        store.namespace(&["live"]).unwrap(),
        store.namespace(&["other"]).unwrap(),
    );
    let text = "v".repeat(size);
    let count = 9 * MIB / (size as u64 + 100);
    let rounds = 8;
    for round in 0..rounds {
        for number in 0..count {
            let created = now.load(Ordering::SeqCst);
            if round == 0 {
                let key = format!("k{number}");
                store.put(&live, key.as_bytes(), &entry(&text)).unwrap();
            }
            let key = format!("k{round}-{number}");
            let expiring = entry_until(&text, created, created + 1_000_000);
            store.put(&other, key.as_bytes(), &expiring).unwrap();
        }
        dead(&store, &now);
    }
    let stats = store.stats().unwrap();
    let missing = (0..count)
        .filter(|number| get(&store, &live, format!("k{number}").as_bytes()).is_none())
        .count();
    assert_eq!((missing, stats.evicted_by_age), (0, 0), "{stats:?}");
    assert!(stats.expired >= count * (rounds - 3), "{stats:?}");
    assert!(store.check().unwrap().damaged.is_empty());
}

#[test]
fn cleared_entries_give_their_space_back_before_anything_live_goes() {
    for size in [1_000, 10_000] {
        what_is_dead_goes_first(size, |store, _| {
            store.clear(&store.namespace(&["other"]).unwrap()).unwrap();
        });
    }
}

#[test]
fn expired_entries_give_their_space_back_before_anything_live_goes() {
    for size in [1_000, 10_000] {
        what_is_dead_goes_first(size, |_, now| {
            now.fetch_add(1_000_000, Ordering::SeqCst);
        });
    }
}
