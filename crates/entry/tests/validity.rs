//! The validity rule, and the accessors that never fail.

use polycache_entry::{created, encode, expires, is_valid_at, EntryOptions, Value};

fn entry(created: u64, expires: u64) -> Vec<u8> {
    let mut entry = Vec::new();
    let options = EntryOptions {
        created,
        expires,
        ..EntryOptions::default()
    };
    encode(&Value::Null, &options, &mut entry).unwrap();
    entry
}

#[test]
fn an_entry_without_expiry_is_always_valid() {
    for now in [0, 1000, u64::MAX] {
        assert!(is_valid_at(&entry(5000, 0), now));
    }
}

#[test]
fn an_entry_is_valid_before_its_expiry() {
    let entry = entry(5000, 9000);
    assert!(is_valid_at(&entry, 8999));
    assert!(!is_valid_at(&entry, 9000));
    assert!(!is_valid_at(&entry, u64::MAX));
}

#[test]
fn a_clock_that_was_set_back_by_more_than_a_second_revives_nothing() {
    let entry = entry(5000, 9000);
    assert!(is_valid_at(&entry, 4000));
    assert!(!is_valid_at(&entry, 3999));
}

#[test]
fn too_few_bytes_are_never_valid() {
    let whole = entry(5000, 9000);
    assert_eq!((created(&whole), expires(&whole)), (5000, 9000));
    for len in 0..24 {
        let cut = &whole[..len];
        assert_eq!((created(cut), expires(cut)), (0, 0));
        assert!(!is_valid_at(cut, 6000));
    }
}
