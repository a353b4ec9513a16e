//! The command over real directories.

mod support;

use polycache::{Cache, Ttl, Value};
use serde_json::{json, Value as Json};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use support::{polycache, Place, Ran};

#[test]
fn what_is_set_is_found_by_the_command_and_by_programs() {
    let place = Place::new();
    let said = place.run(&["set", "k", "hello", "--ttl", "5m"]).ok();
    assert!(said.starts_with("k  stored · "), "{said}");
    let said = place.run(&["get", "k"]).ok();
    let (facts, value) = said.split_once('\n').unwrap();
    assert!(
        facts.starts_with("k  text · 6 B of messagepack · ") && facts.ends_with(" left"),
        "{facts}"
    );
    assert_eq!(value, "hello\n");
    let cache = place.open();
    assert_eq!(cache.get::<String>("k").unwrap().as_deref(), Some("hello"));
    cache.set("k", "by a program").unwrap();
    assert_eq!(place.run(&["get", "k", "--raw"]).ok(), "by a program");
}

#[test]
fn a_key_that_is_not_there_is_exit_code_1() {
    let place = Place::new();
    place.run(&["set", "k", "v"]).ok();
    place
        .run(&["get", "absent"])
        .failed(1, "absent has no entry");
    assert_eq!(
        place.json(&["get", "absent"]),
        json!({"key": "absent", "found": false})
    );
    assert_eq!(place.run(&["--json", "get", "absent"]).code, Some(1));
    let ran = place.run(&["delete", "absent", "another"]);
    assert_eq!((ran.code, &*ran.out), (Some(1), "deleted 0 of 2 keys\n"));
}

#[test]
fn only_set_makes_a_directory() {
    let place = Place::new();
    let others: [&[&str]; 6] = [
        &["get", "k"],
        &["delete", "k"],
        &["keys"],
        &["stats"],
        &["check"],
        &["clear"],
    ];
    for arguments in others {
        place.run(arguments).failed(3, "there is no cache in");
        assert!(!place.path().exists(), "{arguments:?}");
    }
    std::fs::create_dir(place.path()).unwrap();
    place.run(&["get", "k"]).failed(3, "there is no cache in");
    assert!(std::fs::read_dir(place.path()).unwrap().next().is_none());
    place.run(&["set", "k", "v"]).ok();
    place.run(&["get", "k"]).ok();
}

#[test]
fn a_command_line_that_is_wrong_is_exit_code_2_and_makes_nothing() {
    let place = Place::new();
    let wrong: [(&[&str], &str); 12] = [
        (&[], "Usage"),
        (&["frob"], "frob"),
        (&["get"], "<KEY>"),
        (&["set", "k"], "<VALUE>"),
        (&["set", "k", "v", "--ttl", "soon"], "not a duration"),
        (&["set", "k", "v", "--ttl", "0s"], "longer than 0"),
        (&["set", "k", "v", "--limit", "1.5GiB"], "not a size"),
        (&["set", "k", "v", "--limit", "1KiB"], "limit"),
        (
            &["set", "k", "v", "--serializer", "pickle"],
            "not a serializer",
        ),
        (&["set", "k", "xyz", "--type", "bytes"], "hexadecimal"),
        (&["set", "k", "{", "--type", "json"], "JSON"),
        (&["set", "hex:0", "v"], "hexadecimal"),
    ];
    for (arguments, what) in wrong {
        place.run(arguments).failed(2, what);
    }
    place
        .run_with(&["set", "k", "-"], b"\xff")
        .failed(2, "UTF-8");
    place
        .run(&["--namespace", "", "set", "k", "v"])
        .failed(2, "namespace");
    assert!(!place.path().join("v2/index").exists());
    let nowhere = polycache().args(["get", "k"]).output().unwrap();
    Ran::new(nowhere).failed(2, "--path");
}

#[test]
fn errors_of_the_cache_are_exit_code_4_and_json_when_asked() {
    let place = Place::new();
    place.run(&["set", "k", "v", "--limit", "2MiB"]).ok();
    // The limit of a cache stands.
    place.run(&["set", "k", "v", "--limit", "4MiB"]).ok();
    let theirs = Place::new();
    std::fs::create_dir_all(theirs.path().join("v2")).unwrap();
    std::fs::write(theirs.path().join("v2/users.rs"), "").unwrap();
    let foreign = ["set", "k", "v"];
    theirs.run(&foreign).failed(4, "users.rs is not of a cache");
    let large = vec![b'x'; 2_000_000];
    place
        .run_with(&["set", "k", "-"], &large)
        .failed(4, "store less, or raise");
    let ran = theirs.run(&[&["--json"], &foreign[..]].concat());
    let error: Json = serde_json::from_str(&ran.error).unwrap();
    assert_eq!(error["error"]["code"], "foreign_directory");
    assert_eq!(error["error"]["retryable"], false);
    let refused = place.run(&["set", "k", "{}", "--type", "json", "--serializer", "text"]);
    refused.failed(2, "the serializer text takes text only");
}

#[test]
fn the_directory_may_be_named_by_the_environment() {
    let place = Place::new();
    place.run(&["set", "k", "v"]).ok();
    let ran = polycache()
        .env("POLYCACHE_PATH", place.path())
        .args(["get", "k", "--raw"])
        .output();
    assert_eq!(Ran::new(ran.unwrap()).ok(), "v");
}

#[test]
fn values_come_from_the_standard_input_as_they_are() {
    let place = Place::new();
    place
        .run_with(&["set", "text", "-"], "größer\n".as_bytes())
        .ok();
    assert_eq!(place.run(&["get", "text", "--raw"]).ok(), "größer\n");
    place
        .run_with(&["set", "bytes", "-", "--type", "bytes"], b"\xff\0\n")
        .ok();
    let value = place.open().get_value("bytes").unwrap();
    assert_eq!(value, Some(Value::from(&b"\xff\0\n"[..])));
    let raw = place.command(&["get", "bytes", "--raw"]).output().unwrap();
    assert_eq!(raw.stdout, b"\xff\0\n");
}

#[test]
fn values_that_look_like_options_are_values() {
    let place = Place::new();
    place.run(&["set", "k", "-5", "--type", "json"]).ok();
    assert_eq!(place.open().get::<i64>("k").unwrap(), Some(-5));
    place.run(&["set", "k", "--", "--json"]).ok();
    assert_eq!(
        place.open().get::<String>("k").unwrap().as_deref(),
        Some("--json")
    );
}

#[test]
fn json_is_what_it_stands_for() {
    let place = Place::new();
    let text = r#"{"z":1,"a":[null,true,-2.5,"ü",{"deep":{}}],"big":9007199254740991}"#;
    place.run(&["set", "k", text, "--type", "json"]).ok();
    assert_eq!(place.run(&["get", "k", "--raw"]).ok().trim_end(), text);
    let got = place.json(&["get", "k"]);
    assert_eq!(got["value"], serde_json::from_str::<Json>(text).unwrap());
    assert_eq!((&got["type"], &got["found"]), (&json!("map"), &json!(true)));
}

#[test]
fn json_has_every_fact() {
    let place = Place::new();
    let stored = place.json(&[
        "set",
        "k",
        "hello",
        "--ttl",
        "1h",
        "--compressor",
        "zstd:5",
        "--serializer",
        "text",
    ]);
    let got = place.json(&["get", "k"]);
    let facts = json!({
        "key": "k", "found": true, "value": "hello", "type": "text", "serializer": "text",
        "compressor": "zstd", "payload": 5, "encryption_key": null, "size": stored["size"],
        "created": stored["created"], "expires": stored["expires"], "ttl": got["ttl"],
    });
    assert_eq!(got, facts);
    let (created, expires) = (
        stored["created"].as_u64().unwrap(),
        stored["expires"].as_u64().unwrap(),
    );
    assert_eq!(expires - created, 3_600_000);
    assert!(
        (1..=3_600_000).contains(&got["ttl"].as_u64().unwrap()),
        "{got}"
    );
}

#[test]
fn rows_that_json_lacks_are_tagged() {
    let place = Place::new();
    let values = vec![
        Value::from(vec![255u8]),
        Value::Timestamp {
            seconds: 1_700_000_000,
            nanos: 0,
        },
        Value::Decimal("1.50".into()),
        Value::from(u64::MAX),
    ];
    place.open().set("k", &Value::List(values)).unwrap();
    assert_eq!(
        place.json(&["get", "k"])["value"],
        json!([
            {"$bytes": "ff"},
            {"$timestamp": "2023-11-14T22:13:20Z"},
            {"$decimal": "1.50"},
            {"$int": "18446744073709551615"},
        ])
    );
    let shown = place.run(&["get", "k"]).ok();
    assert_eq!(
        shown.lines().nth(1),
        Some("[bytes ff, 2023-11-14T22:13:20Z, decimal 1.50, 18446744073709551615]")
    );
}

#[test]
fn keys_of_any_bytes_are_listed_so_that_they_can_be_given_back() {
    let place = Place::new();
    let odd: [&[u8]; 5] = [
        b"",
        b"\xff\x00",
        b"line\nbreak",
        b"hex:no",
        "ключ".as_bytes(),
    ];
    let cache = place.open();
    for key in odd {
        cache.set(key, &Value::from(key)).unwrap();
    }
    let listed = place.keys(&[]);
    assert_eq!(listed.len(), odd.len());
    for shown in &listed {
        let value = place.command(&["get", "--raw", shown]).output().unwrap();
        assert!(odd.contains(&&*value.stdout), "{shown}");
    }
    let hex = place.command(&["get", "--hex", "FF00", "--raw"]).output();
    assert_eq!(hex.unwrap().stdout, b"\xff\x00");
    assert_eq!(place.keys(&["hex:ff"]), ["hex:ff00"]);
    let lines = place.run(&["--json", "keys", "hex:ff"]).ok();
    assert_eq!(lines, "{\"key\":{\"$bytes\":\"ff00\"}}\n");
}

#[test]
fn keys_are_those_of_the_namespace_with_the_prefix() {
    let place = Place::new();
    for arguments in [
        &["set", "user:1", "v"][..],
        &["set", "user:2", "v"],
        &["set", "item:1", "v"],
        &["-n", "shop", "set", "user:3", "v"],
        &["-n", "shop", "-n", "a%3Ab", "set", "user:4", "v"],
        &["-n", "shopping", "set", "user:5", "v"],
    ] {
        place.run(arguments).ok();
    }
    assert_eq!(place.keys(&[]), ["item:1", "user:1", "user:2"]);
    assert_eq!(place.keys(&["user:"]), ["user:1", "user:2"]);
    assert_eq!(place.keys(&["-n", "shop"]), ["user:3"]);
    assert_eq!(place.keys(&["-n", "shop", "-n", "a%3Ab"]), ["user:4"]);
    assert_eq!(
        place.keys(&["-n", "shop", "-A"]),
        ["shop::user:3", "shop:a%3Ab::user:4"]
    );
    assert_eq!(place.keys(&["-A", "user:"]).len(), 5);
    assert_eq!(place.keys(&["-A", "--limit-output", "2"]).len(), 2);
    assert_eq!(place.keys(&["--limit-output", "0"]).len(), 0);

    let lines = place.run(&["--json", "keys", "-A", "-l", "user:4"]).ok();
    let line: Json = serde_json::from_str(&lines).unwrap();
    assert_eq!(
        (&line["key"], &line["namespace"]),
        (&json!("user:4"), &json!(["shop", "a:b"]))
    );
    assert_eq!(
        (&line["size"], &line["expires"]),
        (&json!(26), &json!(null))
    );

    let listed = place.run(&["keys", "-l", "item"]).ok();
    let mut lines = listed.lines();
    assert_eq!(
        lines.next().unwrap().split_whitespace().collect::<Vec<_>>(),
        ["SIZE", "AGE", "LEFT", "KEY"]
    );
    let words: Vec<_> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(
        (&words[..2], &words[3..]),
        (&["26", "B"][..], &["-", "item:1"][..]),
        "{listed}"
    );
}

#[test]
fn a_clear_takes_the_namespace_and_what_is_nested_in_it() {
    let place = Place::new();
    place.run(&["-n", "shop", "set", "a", "v"]).ok();
    place.run(&["-n", "shop", "-n", "x", "set", "b", "v"]).ok();
    place.run(&["-n", "shopping", "set", "c", "v"]).ok();
    assert_eq!(
        place.json(&["-n", "shop", "clear", "-y"]),
        json!({"cleared": true})
    );
    assert_eq!(place.keys(&["-A"]), ["shopping::c"]);
    let said = place.run(&["clear", "--yes"]).ok();
    assert!(said.starts_with("cleared the whole cache in "), "{said}");
    assert_eq!(place.keys(&["-A"]).len(), 0);
}

#[test]
fn deletes_are_counted() {
    let place = Place::new();
    place
        .open()
        .set_many([("a", 1), ("b", 2), ("c", 3)])
        .unwrap();
    assert_eq!(
        place.run(&["delete", "a", "absent", "c"]).ok(),
        "deleted 2 of 3 keys\n"
    );
    assert_eq!(place.json(&["delete", "b"]), json!({"deleted": 1}));
    assert_eq!(place.keys(&[]).len(), 0);
}

#[test]
fn stats_are_the_directorys() {
    let place = Place::new();
    place.run(&["set", "k", "v", "--limit", "4MiB"]).ok();
    let stats = place.json(&["stats"]);
    assert_eq!(
        (&stats["entries"], &stats["limit"]),
        (&json!(1), &json!(4 << 20))
    );
    assert_eq!(stats["path"], json!(place.path()));
    assert!(
        stats["bytes"].as_u64() <= stats["limit"].as_u64(),
        "{stats}"
    );
    let said = place.run(&["stats"]).ok();
    for word in ["entries     1 ", " of 4.00 MiB ", "evicted     0 by age"] {
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn check_finds_damage() {
    let place = Place::new();
    place
        .run(&["set", "k", "a value that is easily found"])
        .ok();
    assert_eq!(
        place.run(&["check"]).ok(),
        "1 entry is whole, 0 damaged, 0 loads under way\n"
    );
    damage(&place.path().join("v2"), b"easily found");
    let ran = place.run(&["check"]);
    assert_eq!((ran.code, &*ran.error), (Some(1), ""), "{ran:?}");
    assert!(
        ran.out.contains("checksum") && ran.out.contains("1 damaged"),
        "{ran:?}"
    );
    let report = place.json(&["check"]);
    assert_eq!(
        (
            &report["whole"],
            report["damaged"].as_array().unwrap().len()
        ),
        (&json!(0), 1)
    );
}

/// Changes the first byte of `found` in the file of the directory that contains it.
fn damage(directory: &Path, found: &[u8]) {
    let mut changed = 0;
    for file in std::fs::read_dir(directory).unwrap() {
        let file = file.unwrap().path();
        if file.is_dir() {
            damage(&file, found);
            return;
        }
        let mut bytes = std::fs::read(&file).unwrap();
        if let Some(at) = bytes
            .windows(found.len())
            .position(|window| window == found)
        {
            bytes[at] ^= 1;
            std::fs::write(&file, bytes).unwrap();
            changed += 1;
        }
    }
    assert_eq!(changed, 1);
}

#[test]
fn an_entry_that_cannot_be_read_is_an_error_not_a_miss() {
    let place = Place::new();
    let cache = place.open();
    // More uncompressed bytes than a reader accepts by default.
    let zeros = Value::from(vec![0u8; (64 << 20) + 1]);
    let compressed = Cache::builder()
        .path(place.path())
        .serializer(polycache::Serializer::Bytes)
        .compressor(polycache::Compressor::Zstd { level: 1 })
        .max_value(128 << 20) // above the limit of other readers
        .build()
        .unwrap();
    compressed.set_value(b"k", &zeros, Ttl::Default).unwrap();
    assert_eq!(cache.get_value("k").unwrap_err().code(), "value_too_large");
    place.run(&["get", "k"]).failed(4, "raise max_value");
    assert_eq!(place.run(&["delete", "k"]).ok(), "deleted 1 of 1 key\n");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let place = Place::new();
    let cache = place.open();
    cache
        .set_many((0..5000).map(|number| (format!("a key of some length {number}"), number)))
        .unwrap();
    let mut child = place
        .command(&["keys"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut error = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut error)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), &*error), (Some(0), ""));
}

#[test]
fn help_names_every_command_exit_code_and_json_field() {
    let help = |arguments: &[&str]| Ran::new(polycache().args(arguments).output().unwrap()).ok();
    let whole = help(&["--help"]);
    for words in [
        "Exit codes:",
        "  3  there is no cache",
        "POLYCACHE_PATH",
        "$timestamp",
        "hex:00ff",
    ] {
        assert!(whole.contains(words), "{words}: {whole}");
    }
    for command in ["get", "set", "delete", "keys", "stats", "check", "clear"] {
        assert!(
            whole.contains(&format!("\n  {command} ")),
            "{command}: {whole}"
        );
        let own = help(&[command, "--help"]);
        assert!(
            own.contains("JSON") && own.contains("Usage: polycache"),
            "{own}"
        );
    }
    assert_eq!(
        help(&["--version"]),
        concat!("polycache ", env!("CARGO_PKG_VERSION"), "\n")
    );

    let place = Place::new();
    place.run(&["set", "k", "v"]).ok();
    let stats_help = help(&["stats", "--help"]);
    for field in place.json(&["stats"]).as_object().unwrap().keys() {
        assert!(
            stats_help.contains(&format!("\"{field}\"")),
            "{field}: {stats_help}"
        );
    }
}
