//! Valid entries that this crate reads but does not write: longer forms, other JSON, other frames.

use super::bytes::{frame, plain, raw_block, run_block, zstd, Raw, ONE_MIB, WINDOW};
use polycache_entry::tagged::{hex_decode, hex_encode};
use serde_json::{json, Value as Json};

type Row = (String, &'static str, &'static str, Vec<u8>, Json);

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, payload, value) in messagepack() {
        let payload = hex_decode(payload).expect("hex");
        let name = format!("other MessagePack: {name}");
        rows.push((name, "messagepack", "none", plain(3, &payload), value));
    }
    for (name, payload, value) in json_texts() {
        let name = format!("other JSON: {name}");
        rows.push((name, "json", "none", plain(2, payload.as_bytes()), value));
    }
    for (name, entry, content) in frames() {
        let name = format!("other zstd: {name}");
        let value = json!({ "bytes": hex_encode(&content) });
        rows.push((name, "bytes", "zstd", entry, value));
    }
    let no_tags = Raw {
        flags: 4,
        fields: vec![0, 0],
        ..Raw::default()
    };
    rows.push((
        "TAGS with a count of 0".into(),
        "messagepack",
        "none",
        no_tags.bytes(),
        Json::Null,
    ));
    rows
}

fn messagepack() -> Vec<(&'static str, &'static str, Json)> {
    let one = || json!({ "int": "1" });
    let epoch = || json!({ "timestamp": [1, 0] });
    vec![
        ("uint 8", "cc01", one()),
        ("uint 16", "cd0001", one()),
        ("uint 32", "ce00000001", one()),
        ("uint 64", "cf0000000000000001", one()),
        ("int 8", "d001", one()),
        ("int 16", "d10001", one()),
        ("int 32", "d200000001", one()),
        ("int 64", "d30000000000000001", one()),
        (
            "int 64, negative",
            "d3ffffffffffffffff",
            json!({ "int": "-1" }),
        ),
        ("float 32", "ca3fc00000", json!({ "float": "1.5" })),
        (
            "float 32 is not rounded to decimal",
            "ca3dcccccd",
            json!({ "float": "0.10000000149011612" }),
        ),
        (
            "float 64 without a fraction",
            "cb4000000000000000",
            json!({ "float": "2.0" }),
        ),
        ("str 8", "d90161", json!("a")),
        ("str 16", "da000161", json!("a")),
        ("str 32", "db0000000161", json!("a")),
        ("bin 16", "c50001ff", json!({ "bytes": "ff" })),
        ("bin 32", "c600000001ff", json!({ "bytes": "ff" })),
        ("array 16", "dc000101", json!({ "list": [one()] })),
        ("array 32", "dd0000000101", json!({ "list": [one()] })),
        ("map 16", "de0001a16101", json!({ "map": [["a", one()]] })),
        (
            "map 32",
            "df00000001a16101",
            json!({ "map": [["a", one()]] }),
        ),
        (
            "map with a key as str 32",
            "81db000000016101",
            json!({ "map": [["a", one()]] }),
        ),
        (
            "of equal keys the last wins",
            "84a161c0a16201a16101a162c2",
            json!({ "map": [["a", one()], ["b", false]] }),
        ),
        ("timestamp 64 for 32", "d7ff0000000000000001", epoch()),
        (
            "timestamp 96 for 32",
            "c70cff000000000000000000000001",
            epoch(),
        ),
        ("ext 8 for fixext 4", "c704ff00000001", epoch()),
        ("ext 16", "c80004ff00000001", epoch()),
        ("ext 32", "c900000004ff00000001", epoch()),
        (
            "timestamp with nanoseconds, below what TypeScript and Python have",
            "d7ff1d6f34546553f100",
            json!({ "timestamp": [1_700_000_000u64, 123_456_789] }),
        ),
        (
            "set as array 16",
            "c70401dc000101",
            json!({ "set": [one()] }),
        ),
        (
            "decimal that keeps its zeros",
            "c70403312e3530",
            json!({ "decimal": "1.50" }),
        ),
        (
            "decimal with zeros in front",
            "c7040330303130",
            json!({ "decimal": "0010" }),
        ),
    ]
}

fn json_texts() -> Vec<(&'static str, &'static str, Json)> {
    let text = |text: &str| json!(text);
    vec![
        (
            "white space",
            " \t\r\n[ 1 , 2 ] \n",
            json!({ "list": [{ "int": "1" }, { "int": "2" }] }),
        ),
        (
            "escapes",
            r#""\"\\\/\b\f\n\r\t\u0041""#,
            text("\"\\/\u{8}\u{c}\n\r\tA"),
        ),
        (
            "an escaped pair of surrogates",
            r#""\ud83d\ude00""#,
            text("😀"),
        ),
        ("upper-case escapes", r#""\uD83D\uDE00\u00E9""#, text("😀é")),
        ("an escaped NUL", r#""\u0000""#, text("\0")),
        ("a fraction makes a float", "2.0", json!({ "float": "2.0" })),
        (
            "an exponent makes a float",
            "1e2",
            json!({ "float": "100.0" }),
        ),
        (
            "an exponent with a sign",
            "1E+2",
            json!({ "float": "100.0" }),
        ),
        (
            "2^53 is a float",
            "9007199254740992",
            json!({ "float": "9007199254740992.0" }),
        ),
        (
            "-2^53 is a float",
            "-9007199254740992",
            json!({ "float": "-9007199254740992.0" }),
        ),
        (
            "2^64 is a float",
            "18446744073709551616",
            json!({ "float": "18446744073709552000.0" }),
        ),
        (
            "1e20 as JavaScript writes it",
            "100000000000000000000",
            json!({ "float": "1e20" }),
        ),
        (
            "a float with many digits",
            "0.1000000000000000055511151231257827",
            json!({ "float": "0.1" }),
        ),
        (
            "a float that underflows",
            "1e-400",
            json!({ "float": "0.0" }),
        ),
        (
            "of equal keys the last wins",
            r#"{"a":null,"b":1,"a":2}"#,
            json!({ "map": [["a", { "int": "2" }], ["b", { "int": "1" }]] }),
        ),
        (
            "equal keys, one escaped",
            r#"{"a":1,"\u0061":2}"#,
            json!({ "map": [["a", { "int": "2" }]] }),
        ),
    ]
}

fn frames() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let hello = b"hello".to_vec();
    let raw = [raw_block(true, &hello)];
    // The content checksum is the low half of XXH64, here of "hello" (0x26C7827D889F6DA3).
    let sum = 0x889F_6DA3_u32.to_le_bytes();
    let with_sum = [frame(4, ONE_MIB, &raw), sum.to_vec()].concat();
    vec![
        (
            "no content size",
            zstd(5, &frame(WINDOW, ONE_MIB, &raw)),
            hello.clone(),
        ),
        (
            "a single segment",
            zstd(5, &frame(0x20, &[5], &raw)),
            hello.clone(),
        ),
        (
            "two blocks",
            zstd(
                5,
                &frame(
                    WINDOW,
                    ONE_MIB,
                    &[raw_block(false, b"he"), raw_block(true, b"llo")],
                ),
            ),
            hello.clone(),
        ),
        (
            "a run",
            zstd(300, &frame(WINDOW, ONE_MIB, &[run_block(true, 300)])),
            vec![0; 300],
        ),
        (
            "an empty block",
            zstd(0, &frame(WINDOW, ONE_MIB, &[raw_block(true, b"")])),
            Vec::new(),
        ),
        ("a content checksum", zstd(5, &with_sum), hello),
    ]
}
