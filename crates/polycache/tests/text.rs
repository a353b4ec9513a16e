//! Durations, sizes, serializers and compressors as text.

use polycache::{compressor, duration, serializer, size, Compressor, Serializer};
use proptest::prelude::*;
use std::time::Duration;

const MAX_MS: u64 = (1 << 48) - 1;
const DURATIONS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1000),
    ("m", 60 * 1000),
    ("h", 60 * 60 * 1000),
    ("d", 24 * 60 * 60 * 1000),
];
const SIZES: [(&str, u64); 10] = [
    ("", 1),
    ("B", 1),
    ("KiB", 1024),
    ("MiB", 1024 * 1024),
    ("GiB", 1024 * 1024 * 1024),
    ("TiB", 1024 * 1024 * 1024 * 1024),
    ("kB", 1000),
    ("MB", 1000 * 1000),
    ("GB", 1000 * 1000 * 1000),
    ("TB", 1000 * 1000 * 1000 * 1000),
];

/// Numbers of every magnitude: uniform ones would hardly ever be in range.
fn numbers() -> impl Strategy<Value = u128> {
    (any::<u128>(), 0..128u32).prop_map(|(bits, shift)| bits >> shift)
}

/// What one edit can make of a text.
fn edited() -> impl Strategy<Value = (String, String)> {
    let units = DURATIONS.iter().chain(&SIZES).map(|(unit, _)| *unit);
    let text = (
        any::<u16>(),
        proptest::sample::select(Vec::from_iter(units)),
    );
    let junk = "[-+ .,_eE\t\n٣xsmhdBiKMGT]";
    (text, any::<prop::sample::Index>(), junk).prop_map(|((number, unit), at, junk)| {
        let whole = format!("{number}{unit}");
        let mut edited = whole.clone();
        edited.insert_str(at.index(whole.len() + 1), &junk);
        (whole, edited)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_duration_is_its_number_times_its_unit(number in numbers(), (unit, factor) in proptest::sample::select(&DURATIONS[..])) {
        let text = format!("{number}{unit}");
        let expected = number.checked_mul(factor.into()).filter(|ms| *ms <= MAX_MS.into());
        match (duration::parse(&text), expected) {
            (Ok(duration), Some(ms)) => prop_assert_eq!(duration, Duration::from_millis(ms as u64)),
            (Err(error), None) => prop_assert_eq!(error.code(), "invalid_argument"),
            (got, expected) => prop_assert!(false, "{text}: {got:?}, not {expected:?} ms"),
        }
    }

    #[test]
    fn a_size_is_its_number_times_its_unit(number in numbers(), (unit, factor) in proptest::sample::select(&SIZES[..])) {
        let text = format!("{number}{unit}");
        let expected = number.checked_mul(factor.into()).and_then(|bytes| u64::try_from(bytes).ok());
        match (size::parse(&text), expected) {
            (Ok(bytes), Some(expected)) => prop_assert_eq!(bytes, expected),
            (Err(error), None) => prop_assert_eq!(error.code(), "invalid_argument"),
            (got, expected) => prop_assert!(false, "{text}: {got:?}, not {expected:?}"),
        }
    }

    /// Whatever is accepted is digits and a unit, nothing else.
    #[test]
    fn nothing_else_is_accepted((_, text) in edited()) {
        let shape = |units: &[(&str, u64)]| {
            let unit = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
            unit.len() < text.len() && units.iter().any(|(known, _)| *known == unit)
        };
        prop_assert_eq!(duration::parse(&text).is_ok(), shape(&DURATIONS), "{}", text);
        prop_assert_eq!(size::parse(&text).is_ok(), shape(&SIZES), "{}", text);
    }

    #[test]
    fn any_text_at_all_is_answered(text in any::<String>()) {
        let _ = (duration::parse(&text), size::parse(&text), serializer::parse(&text), compressor::parse(&text));
    }
}

#[test]
fn a_unit_needs_a_number() {
    for (unit, _) in DURATIONS {
        assert!(duration::parse(unit).is_err(), "{unit}");
    }
    for (unit, _) in SIZES {
        assert!(size::parse(unit).is_err(), "{unit}");
    }
}

#[test]
fn serializers_have_their_names() {
    for one in Serializer::ALL {
        assert_eq!(serializer::parse(one.name()).unwrap(), one);
    }
    for wrong in ["", "JSON", "bincode", "json "] {
        assert_eq!(
            serializer::parse(wrong).unwrap_err().code(),
            "invalid_argument"
        );
    }
}

#[test]
fn compressors_have_their_names_and_levels() {
    assert_eq!(compressor::parse("none").unwrap(), Compressor::None);
    assert_eq!(compressor::parse("smart").unwrap(), Compressor::Smart);
    assert_eq!(
        compressor::parse("zstd").unwrap(),
        Compressor::Zstd { level: 3 }
    );
    for level in 1..=22 {
        let parsed = compressor::parse(&format!("zstd:{level}")).unwrap();
        assert_eq!(parsed, Compressor::Zstd { level });
    }
    for wrong in [
        "", "gzip", "zstd:0", "zstd:23", "zstd:", "zstd:-1", "zstd:+1", "zstd:1:2", "none:1",
        "smart:1", "Smart", "Zstd",
    ] {
        assert_eq!(
            compressor::parse(wrong).unwrap_err().code(),
            "invalid_argument",
            "{wrong}"
        );
    }
}
