//! The command over entries that are encrypted.

mod support;

use polycache::Cache;
use serde_json::{json, Value as Json};
use support::{Place, Ran};

const KEY: [u8; 32] = [0xAB; 32];

/// The command with this in POLYCACHE_ENCRYPTION.
fn with_keys(place: &Place, keys: &str, arguments: &[&str]) -> Ran {
    let mut command = place.command(arguments);
    Ran::new(command.env("POLYCACHE_ENCRYPTION", keys).output().unwrap())
}

#[test]
fn an_encrypted_entry_shows_its_facts_and_with_its_key_its_value() {
    let place = Place::new();
    let cache = Cache::builder()
        .path(place.path())
        .encryption([(7, KEY)])
        .build()
        .unwrap();
    cache.set("card", "4111 1111 1111 1111").unwrap();

    let ran = place.run(&["get", "card"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(
        ran.out
            .contains("encrypted under the key 7 · 20 B of messagepack"),
        "{ran:?}"
    );
    assert!(
        ran.error
            .contains("the key 7, which this cache does not have"),
        "{ran:?}"
    );
    let ran = place.run(&["--json", "get", "card"]);
    let facts: Json = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&facts["encryption_key"], &facts["payload"]),
        (&json!(7), &json!(20))
    );
    assert_eq!(facts.get("value"), None);
    assert!(ran.error.contains("unknown_encryption_key"), "{ran:?}");
    assert_eq!(place.run(&["get", "--raw", "card"]).out, "");
    assert!(place.run(&["keys", "--long"]).out.contains("card"));
    assert_eq!(place.json(&["check"])["damaged"], json!([]));

    let keys = format!("1:{}, 7:{}", "00".repeat(32), "ab".repeat(32));
    assert_eq!(
        with_keys(&place, &keys, &["get", "--raw", "card"]).out,
        "4111 1111 1111 1111"
    );
    assert_eq!(
        with_keys(&place, &keys, &["set", "other", "v"]).code,
        Some(0)
    );
    let shown = with_keys(&place, &keys, &["--json", "get", "other"]);
    let shown: Json = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(
        (&shown["value"], &shown["encryption_key"]),
        (&json!("v"), &json!(1))
    );
}

#[test]
fn keys_that_are_none_are_told_without_being_shown() {
    let place = Place::new();
    place.open();
    let (short, digits) = (format!("1:{}", "ab".repeat(31)), "c0ffee".repeat(10));
    for keys in [
        "secret",
        "1",
        &short,
        &format!("1:{digits}xyz!"),
        &format!("x:{digits}"),
    ] {
        let ran = with_keys(&place, keys, &["get", "k"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        for secret in ["secret", "abab", "c0ffee"] {
            assert!(!format!("{ran:?}").contains(secret), "{ran:?}");
        }
    }
}
