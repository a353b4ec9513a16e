//! Leases match by tag: what a caller meets in the way of its own process.

mod support;

use polycache_host::{AtKey, Lease, Namespace, Store};
use polycache_operations::{Lease as Answer, Leases};
use support::{entry, get, small};

/// A key that meets the lease that stands: some have the same tag in the same bucket.
fn in_the_way(store: &Store, namespace: &Namespace) -> Vec<u8> {
    let mut out = Vec::new();
    for number in 0..100_000_000_u64 {
        let key = format!("key {number}").into_bytes();
        match store.lease(namespace, &key, &mut out).unwrap() {
            Lease::Acquired(token) => store.release(token),
            Lease::Busy { .. } => return key,
            Lease::Hit(_) | Lease::Bypass => unreachable!("nothing is stored"),
        }
    }
    panic!("no key has the tag and the bucket of another one");
}

/// Whether a caller is to load beside the lease that it meets.
fn loads_beside(store: &Store, namespace: &Namespace, key: &[u8]) -> bool {
    let mut unused = Vec::new();
    match AtKey::new(store, namespace, key, &mut unused)
        .lease()
        .unwrap()
    {
        Answer::Busy { overdue, .. } => overdue,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_lease_of_another_key_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Store::open(&small(dir.path())).unwrap();
    let (first, second) = (open(), open());
    let namespace = first.namespace::<&str>(&[]).unwrap();
    let Lease::Acquired(held) = first.lease(&namespace, b"held", &mut Vec::new()).unwrap() else {
        panic!("nobody else loads");
    };
    let key = in_the_way(&first, &namespace);
    // A loader may use another handle.
    for store in [&first, &second] {
        assert!(loads_beside(store, &namespace, &key));
        assert!(!loads_beside(store, &namespace, b"held"));
    }
    // Of the two loads the first that ends is stored.
    let mut buffer = Vec::new();
    let mut at = AtKey::new(&first, &namespace, &key, &mut buffer);
    let Answer::Busy { holder, .. } = at.lease().unwrap() else {
        panic!("it stands");
    };
    let token = at.beside(holder).unwrap().unwrap();
    assert!(at.fill(token, &entry("loaded")).unwrap());
    assert_eq!(get(&second, &namespace, &key).as_deref(), Some("loaded"));
    let late = first.fill(&namespace, b"held", held, &entry("late"));
    assert!(!late.unwrap());
    assert_eq!(get(&second, &namespace, b"held"), None);
}

/// The lease of a cleared load stands until that ends: beside it nothing would be stored.
#[test]
fn a_lease_of_the_same_key_is_waited_for_after_a_clear() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let namespace = store.namespace::<&str>(&[]).unwrap();
    let Lease::Acquired(held) = store.lease(&namespace, b"held", &mut Vec::new()).unwrap() else {
        panic!("nobody else loads");
    };
    store.clear(&namespace).unwrap();
    assert!(!loads_beside(&store, &namespace, b"held"));
    assert!(!store
        .fill(&namespace, b"held", held, &entry("old"))
        .unwrap());
    let Lease::Acquired(next) = store.lease(&namespace, b"held", &mut Vec::new()).unwrap() else {
        panic!("it is free");
    };
    assert!(store
        .fill(&namespace, b"held", next, &entry("new"))
        .unwrap());
}

/// A key may have the tag of two keys that have no slot in common.
#[test]
fn a_caller_loads_beside_one_of_several_leases_of_other_keys() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let namespace = store.namespace::<&str>(&[]).unwrap();
    let (mut besides, mut buffer) = (0, Vec::new());
    // So many leases that some key meets two of them.
    for number in 0..40_000_u32 {
        let key = number.to_string().into_bytes();
        let mut at = AtKey::new(&store, &namespace, &key, &mut buffer);
        match at.lease().unwrap() {
            Answer::Acquired(_) | Answer::Bypass => {}
            Answer::Busy { holder, overdue } => {
                assert!(overdue);
                assert!(at.beside(holder).unwrap().is_some(), "key {number}");
                besides += 1;
            }
            Answer::Hit => panic!("nothing is stored"),
        }
    }
    assert!(besides > 0);
}

/// A caller beside a lease leaves it as it is, and what is known of it.
#[test]
fn who_loads_beside_a_lease_does_not_end_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let namespace = store.namespace::<&str>(&[]).unwrap();
    let held = store.lease(&namespace, b"held", &mut Vec::new()).unwrap();
    assert!(matches!(held, Lease::Acquired(_)));
    let key = in_the_way(&store, &namespace);
    for _ in 0..2 {
        let mut buffer = Vec::new();
        let mut at = AtKey::new(&store, &namespace, &key, &mut buffer);
        let Answer::Busy { holder, overdue } = at.lease().unwrap() else {
            panic!("it stands");
        };
        assert!(overdue);
        let token = at.beside(holder).unwrap().unwrap();
        at.release(token);
    }
    assert!(!loads_beside(&store, &namespace, b"held"));
}

/// A lock of this process is a lease of another key, too: for locks there is no loading beside it.
#[test]
fn a_lock_is_kept_from_its_own_process_only_for_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&small(dir.path())).unwrap();
    let namespace = store.namespace::<&str>(&[]).unwrap();
    let locks = store.locks_of(&namespace);
    let mut unused = Vec::new();
    let lock = store.lease(&locks, b"lock", &mut unused).unwrap();
    assert!(matches!(lock, Lease::Acquired(_)));
    assert!(!loads_beside(&store, &locks, b"lock"));
    let key = in_the_way(&store, &namespace);
    assert!(loads_beside(&store, &namespace, &key));
}
