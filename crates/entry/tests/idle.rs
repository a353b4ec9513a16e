//! The time to idle: when a read prolongs, how long an entry lives, and that encryption protects both.

use polycache_entry::{
    created, decrypt_payload, encode, expires, has_time_to_idle, is_due, is_valid_at, kept_until,
    prolonged, renewed, times_of, Encryption, EntryOptions, Error, Header, Idle, Limits, Tag,
    Value, Verify, MAX_TIME_MS,
};
use proptest::prelude::*;

const CREATED: u64 = 1_700_000_000_000;

fn entry_of(time_to_idle: u64, ends: u64) -> Vec<u8> {
    let options = EntryOptions {
        created: CREATED,
        expires: ends,
        time_to_idle,
        ..EntryOptions::default()
    };
    let mut entry = Vec::new();
    encode(&Value::from("v"), &options, &mut entry).unwrap();
    entry
}

/// Reads as a tier does: nothing of an entry that has expired.
fn read(entry: &mut Vec<u8>, now: u64) -> bool {
    if !is_valid_at(entry, now) {
        return false;
    }
    let mut later = Vec::new();
    if prolonged(entry, now, None, &mut later).unwrap() {
        assert!(expires(&later) > expires(entry), "a write for nothing");
        *entry = later;
    } else {
        assert!(later.is_empty());
    }
    true
}

#[test]
fn it_lives_for_its_time_and_an_eighth() {
    let entry = entry_of(8_000, 0);
    assert_eq!(expires(&entry), CREATED + 9_000);
    let header = Header::parse(&entry, Verify::Checksum).unwrap();
    let idle = Idle {
        time: 8_000,
        ends: 0,
    };
    assert_eq!(header.idle, Some(idle));
    assert_eq!(times_of(&entry), (0, 8_000));
}

#[test]
fn a_read_prolongs_when_an_eighth_has_passed() {
    let entry = entry_of(8_000, 0);
    assert!(!is_due(&entry, CREATED + 999));
    assert!(is_due(&entry, CREATED + 1_000));
    assert_eq!(kept_until(&entry), CREATED + 1_000);
    let mut later = Vec::new();
    assert!(prolonged(&entry, CREATED + 5_000, None, &mut later).unwrap());
    assert_eq!(
        (created(&later), expires(&later)),
        (CREATED + 5_000, CREATED + 14_000)
    );
    assert_eq!(kept_until(&later), CREATED + 6_000);
}

#[test]
fn nothing_prolongs_beyond_the_time_to_live() {
    let entry = entry_of(8_000, CREATED + 10_000);
    let mut later = Vec::new();
    assert!(prolonged(&entry, CREATED + 5_000, None, &mut later).unwrap());
    assert_eq!(expires(&later), CREATED + 10_000);
    assert!(!is_due(&later, CREATED + 9_999));
    assert_eq!(kept_until(&later), CREATED + 10_000);
    assert!(!is_due(&entry_of(8_000, CREATED + 9_000), CREATED + 8_999));
}

#[test]
fn a_time_to_live_of_another_length_keeps_it() {
    let mut later = Vec::new();
    renewed(
        &entry_of(8_000, 0),
        CREATED + 1,
        CREATED + 2,
        None,
        &mut later,
    )
    .unwrap();
    assert_eq!(times_of(&later), (CREATED + 2, 8_000));
    assert_eq!(expires(&later), CREATED + 2);
    let mut for_ever = Vec::new();
    renewed(&later, CREATED + 3, 0, None, &mut for_ever).unwrap();
    assert_eq!(times_of(&for_ever), (0, 8_000));
    assert_eq!(expires(&for_ever), CREATED + 9_003);
}

#[test]
fn an_entry_without_one_is_never_due() {
    let entry = entry_of(0, CREATED + 10_000);
    assert!(!has_time_to_idle(&entry) && !is_due(&entry, u64::MAX));
    assert_eq!(kept_until(&entry), CREATED + 10_000);
    assert_eq!(times_of(&entry), (CREATED + 10_000, 0));
}

#[test]
fn a_time_that_the_format_has_no_place_for_is_refused() {
    for (time_to_idle, ends) in [(MAX_TIME_MS + 1, 0), (1, MAX_TIME_MS + 1)] {
        let options = EntryOptions {
            created: CREATED,
            expires: ends,
            time_to_idle,
            ..EntryOptions::default()
        };
        let mut out = b"before".to_vec();
        let refused = encode(&Value::Null, &options, &mut out);
        assert!(matches!(refused, Err(Error::InvalidArgument { .. })));
        assert_eq!(out, b"before");
    }
}

#[test]
fn encryption_protects_it() {
    let keys = Encryption::new([(1, [1; 32])]).unwrap();
    let options = EntryOptions {
        created: CREATED,
        expires: CREATED + 20_000,
        time_to_idle: 8_000,
        tags: &[Tag {
            name: "a tag",
            generation: 1,
        }],
        encryption: Some(keys.of(b"", b"k")),
        ..EntryOptions::default()
    };
    let mut entry = Vec::new();
    encode(&Value::from("v"), &options, &mut entry).unwrap();
    let mut later = Vec::new();
    let due = prolonged(&entry, CREATED + 5_000, options.encryption, &mut later);
    assert!(due.unwrap());
    assert!(prolonged(&entry, CREATED + 5_000, None, &mut Vec::new()).is_err());
    let (limits, mut scratch) = (Limits::default(), Vec::new());
    for entry in [&entry, &later] {
        let header_len = Header::parse(entry, Verify::Checksum).unwrap().header_len;
        let mut read = |entry: &mut [u8]| {
            let keys = keys.of(b"", b"k");
            decrypt_payload(entry, Verify::Trusted, &limits, keys, &mut scratch).map(drop)
        };
        read(&mut entry.clone()).unwrap();
        // The time, and the end of the time to live.
        for at in [header_len - 16, header_len - 8] {
            let mut changed = entry.clone();
            changed[at] ^= 1;
            assert!(matches!(
                read(&mut changed),
                Err(Error::DecryptionFailed { .. })
            ));
        }
    }
}

proptest! {
    /// The promise, for reads at any moments: none that comes within the time to idle after the one before is a miss, and
    /// none that comes later than an eighth after that, or at the end of the time to live, is a hit. Each eighth has one
    /// write at most.
    #[test]
    fn what_is_read_in_time_stays(
        time in prop_oneof![1u64..20, 1u64..100_000, Just(MAX_TIME_MS)],
        lives in prop_oneof![Just(None), (0u64..1_000_000).prop_map(Some)],
        pauses in prop::collection::vec(0f64..1.5, 1..40),
    ) {
        let ends = lives.map_or(0, |lives| CREATED + lives);
        let mut entry = entry_of(time, ends);
        let (mut now, mut last) = (CREATED, CREATED);
        for part in pauses {
            now = now.saturating_add((time as f64 * part) as u64).min(MAX_TIME_MS - 1);
            let is_over = ends != 0 && now >= ends;
            let written = created(&entry);
            let found = read(&mut entry, now);
            if is_over || now - last >= time + time / 8 {
                prop_assert!(!found);
                break;
            }
            if now - last < time.max(1) {
                prop_assert!(found);
            }
            if !found {
                break;
            }
            if created(&entry) != written {
                prop_assert!(now - written >= time / 8);
            }
            last = now;
        }
    }

    /// Bytes that only look like an entry.
    #[test]
    fn nothing_is_trusted(mut bytes in prop::collection::vec(any::<u8>(), 0..80), now in any::<u64>()) {
        if let Some(flags) = bytes.get_mut(14) {
            *flags |= 16;
        }
        let _ = (is_due(&bytes, now), kept_until(&bytes), times_of(&bytes));
        let _ = prolonged(&bytes, now, None, &mut Vec::new());
    }
}
