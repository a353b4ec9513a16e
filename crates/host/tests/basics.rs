//! The store's operations, one by one.

use polycache_entry::{encode, EntryOptions, Value};
use polycache_host::{Lease, Options, Store};

fn entry(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    encode(
        &Value::Text(text.into()),
        &EntryOptions::default(),
        &mut out,
    )
    .unwrap();
    out
}

fn open(dir: &tempfile::TempDir) -> Store {
    let mut options = Options::new(dir.path());
    options.limit = Some(2 << 20);
    Store::open(&options).unwrap()
}

#[test]
fn set_get_delete_across_handles() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (open(&dir), open(&dir));
    let ns = a.namespace(&["shop"]).unwrap();
    let nb = b.namespace(&["shop"]).unwrap();
    let mut out = Vec::new();
    assert!(a.get(&ns, b"k", &mut out).unwrap().is_none());
    a.put(&ns, b"k", &entry("one")).unwrap();
    let hit = b.get(&nb, b"k", &mut out).unwrap().unwrap();
    assert_eq!(out, entry("one"));
    assert!(b.stands(hit));
    b.put(&nb, b"k", &entry("two")).unwrap();
    assert!(!a.stands(hit));
    out.clear();
    a.get(&ns, b"k", &mut out).unwrap().unwrap();
    assert_eq!(out, entry("two"));
    assert!(a.delete(&ns, b"k").unwrap());
    assert!(!b.delete(&nb, b"k").unwrap());
    assert!(b.check().unwrap().damaged.is_empty());
}

/// By any enclosing namespace, but not by another.
#[test]
fn a_fill_after_a_clear_is_invalidated_and_frees_its_key() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (open(&dir), open(&dir));
    let ns = a.namespace(&["shop", "prices"]).unwrap();
    let mut out = Vec::new();
    let cleared: [(&[&str], bool); 4] = [
        (&["shop", "prices"], true),
        (&["shop"], true),
        (&["shops"], false),
        (&[], true),
    ];
    for (parts, invalidates) in cleared {
        let (before, name) = (a.stats().unwrap(), parts.join("::"));
        let Lease::Acquired(token) = a.lease(&ns, b"k", &mut out).unwrap() else {
            panic!("its key is not free after {name}");
        };
        assert!(a.may_fill(&ns, token));
        b.clear(&b.namespace(parts).unwrap()).unwrap();
        // No caller joins a load that will not be stored.
        assert_eq!(a.may_fill(&ns, token), !invalidates, "{name}");
        let filled = a.fill(&ns, b"k", token, &entry("loaded")).unwrap();
        assert_eq!(filled, !invalidates, "{name}");
        let after = a.stats().unwrap();
        assert_eq!(
            after.invalidated_loads - before.invalidated_loads,
            u64::from(invalidates)
        );
        assert_eq!(after.writes - before.writes, u64::from(!invalidates));
        assert_eq!(a.check().unwrap().leases, 0);
        a.delete(&ns, b"k").unwrap();
    }
}

#[test]
fn many_puts_recycle_and_stay_whole() {
    let dir = tempfile::tempdir().unwrap();
    let a = open(&dir);
    let ns = a.namespace::<&str>(&[]).unwrap();
    let mut out = Vec::new();
    for i in 0..300_000u32 {
        let key = (i % 5000).to_le_bytes();
        a.put(&ns, &key, &entry(&format!("value {i}"))).unwrap();
        if i % 3 == 0 {
            out.clear();
            a.get(&ns, &key, &mut out).unwrap().unwrap();
            assert_eq!(out, entry(&format!("value {i}")));
        }
    }
    let report = a.check().unwrap();
    assert_eq!(report.damaged, Vec::<String>::new());
    let stats = a.stats().unwrap();
    assert!(stats.blocks_claimed > 300, "{stats:?}");
    assert!(stats.bytes <= stats.limit, "{stats:?}");
}

#[test]
fn a_delete_during_a_load_wins() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (open(&dir), open(&dir));
    let ns = a.namespace(&["n"]).unwrap();
    let nb = b.namespace(&["n"]).unwrap();
    let mut out = Vec::new();
    let Lease::Acquired(token) = a.lease(&ns, b"k", &mut out).unwrap() else {
        panic!()
    };
    assert!(matches!(
        b.lease(&nb, b"k", &mut out).unwrap(),
        Lease::Busy { .. }
    ));
    b.delete(&nb, b"k").unwrap();
    assert!(!a.fill(&ns, b"k", token, &entry("x")).unwrap());
    assert!(b.get(&nb, b"k", &mut out).unwrap().is_none());
    let Lease::Acquired(token) = b.lease(&nb, b"k", &mut out).unwrap() else {
        panic!()
    };
    assert!(b.fill(&nb, b"k", token, &entry("y")).unwrap());
    assert!(matches!(
        a.lease(&ns, b"k", &mut out).unwrap(),
        Lease::Hit(_)
    ));
    // A closed handle leaves its lease to the next caller.
    let Lease::Acquired(_) = a.lease(&ns, b"z", &mut out).unwrap() else {
        panic!()
    };
    a.close();
    assert!(matches!(
        b.lease(&nb, b"z", &mut out).unwrap(),
        Lease::Acquired(_)
    ));
}

#[test]
fn clearing_a_namespace_takes_its_children_only() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let of = |parts: &[&str]| store.namespace(parts).unwrap();
    let (users, nested, other, root) = (
        of(&["users"]),
        of(&["users", "x"]),
        of(&["usersAbc"]),
        of(&[]),
    );
    for ns in [&users, &nested, &other, &root] {
        store.put(ns, b"k", &entry("v")).unwrap();
    }
    store.clear(&users).unwrap();
    let mut out = Vec::new();
    let there =
        [&users, &nested, &other, &root].map(|ns| store.get(ns, b"k", &mut out).unwrap().is_some());
    assert_eq!(there, [false, false, true, true]);
    store.put(&users, b"k", &entry("v")).unwrap();
    assert!(store.get(&users, b"k", &mut out).unwrap().is_some());
    store.clear(&root).unwrap();
    assert!(store.get(&other, b"k", &mut out).unwrap().is_none());
    let mut keys = Vec::new();
    assert!(store
        .keys(&users, b"", 0, u64::MAX, &mut keys)
        .unwrap()
        .is_none());
    assert!(keys.is_empty());
}

#[test]
fn a_peek_is_no_use() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let ns = store.namespace(&["n"]).unwrap();
    store.put(&ns, b"k", &entry("v")).unwrap();
    let mut out = Vec::new();
    let hit = store.peek(&ns, b"k", &mut out).unwrap().unwrap();
    assert!(store.stands(hit));
    assert_eq!(out, entry("v"));
    assert!(store.peek(&ns, b"absent", &mut out).unwrap().is_none());
    let stats = store.stats().unwrap();
    assert_eq!((stats.hits, stats.misses), (0, 0));
    // Nothing but reading marks an entry, so recycling lets it go.
    let long = entry(&"x".repeat(10_000));
    for round in 0..1000u32 {
        store.put(&ns, &round.to_le_bytes(), &long).unwrap();
        store.peek(&ns, b"k", &mut out).unwrap();
    }
    assert!(store.peek(&ns, b"k", &mut out).unwrap().is_none());
}

#[test]
fn only_what_was_seen_is_removed_or_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (open(&dir), open(&dir));
    let ns = a.namespace(&["n"]).unwrap();
    let nb = b.namespace(&["n"]).unwrap();
    let mut out = Vec::new();
    a.put(&ns, b"k", &entry("old")).unwrap();
    let old = a.peek(&ns, b"k", &mut out).unwrap().unwrap();
    b.put(&nb, b"k", &entry("new")).unwrap();
    assert!(!a.remove(&ns, b"k", old).unwrap());
    assert!(!a.replace(&ns, b"k", old, &entry("older")).unwrap());
    out.clear();
    let new = a.get(&ns, b"k", &mut out).unwrap().unwrap();
    assert_eq!(out, entry("new"));
    // Nor is it another key's, whatever is asked for.
    assert!(!a.remove(&ns, b"other", new).unwrap());
    assert!(a.replace(&ns, b"k", new, &entry("newer")).unwrap());
    assert!(!b.stands(new));
    out.clear();
    let newer = b.peek(&nb, b"k", &mut out).unwrap().unwrap();
    assert_eq!(out, entry("newer"));
    assert!(b.remove(&nb, b"k", newer).unwrap());
    assert!(a.get(&ns, b"k", &mut out).unwrap().is_none());
    let (a, b) = (a.stats().unwrap(), b.stats().unwrap());
    assert_eq!((a.deletes, b.deletes, a.writes, b.writes), (0, 1, 1, 1));
}

/// A clear that came after the value was written clears its replacement, too.
#[test]
fn a_replacement_is_as_old_as_what_it_replaces() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (open(&dir), open(&dir));
    let ns = a.namespace(&["n"]).unwrap();
    let mut out = Vec::new();
    a.put(&ns, b"k", &entry("v")).unwrap();
    let hit = a.peek(&ns, b"k", &mut out).unwrap().unwrap();
    b.clear(&b.namespace(&["n"]).unwrap()).unwrap();
    assert!(!a.replace(&ns, b"k", hit, &entry("again")).unwrap());
    assert!(a.get(&ns, b"k", &mut out).unwrap().is_none());
}

#[test]
fn a_replacement_that_fails_leaves_the_entry() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let ns = store.namespace(&["n"]).unwrap();
    let mut out = Vec::new();
    store.put(&ns, b"k", &entry("v")).unwrap();
    let hit = store.peek(&ns, b"k", &mut out).unwrap().unwrap();
    let huge = entry(&"x".repeat(1 << 20));
    let error = store.replace(&ns, b"k", hit, &huge).unwrap_err();
    assert_eq!(error.code(), "entry_too_large");
    assert!(store.stands(hit));
    let error = store.replace(&ns, b"k", hit, b"no entry").unwrap_err();
    assert_eq!(error.code(), "malformed_entry");
}

#[test]
fn invalidate_loads_leaves_entries_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (open(&dir), open(&dir));
    let ns = a.namespace(&["n"]).unwrap();
    let nb = b.namespace(&["n"]).unwrap();
    let mut out = Vec::new();
    let Lease::Acquired(token) = a.lease(&ns, b"k", &mut out).unwrap() else {
        panic!()
    };
    assert!(b.invalidate_loads(&nb, b"k").unwrap());
    assert!(!a.fill(&ns, b"k", token, &entry("loaded")).unwrap());
    a.put(&ns, b"k", &entry("set")).unwrap();
    assert!(!b.invalidate_loads(&nb, b"k").unwrap());
    assert!(b.get(&nb, b"k", &mut out).unwrap().is_some());
    // What was cleared is not an entry.
    a.clear(&ns).unwrap();
    assert!(b.invalidate_loads(&nb, b"k").unwrap());
}
