//! Commands that only read change nothing: they create, replace and write no file.

mod support;

use polycache::Cache;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use support::Place;

const LOOKS: [&[&str]; 5] = [
    &["get", "k1", "k2"],
    &["keys", "-A", "--long"],
    &["keys", "--glob", "k*"],
    &["stats"],
    &["check"],
];

fn fill(place: &Place) {
    let builder = Cache::builder().path(place.path()).limit(4 << 20);
    let cache = builder.build().unwrap();
    let entries = (0..1000).map(|number| (format!("k{number}"), number));
    cache.set_many(entries).unwrap();
}

/// Every file below a directory, with its bytes.
fn files(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap().path();
        if entry.is_dir() {
            found.append(&mut files(&entry));
        } else {
            found.insert(entry.clone(), fs::read(&entry).unwrap());
        }
    }
    found
}

/// Simulates a restart of the machine: another boot id in the index's header.
fn reboot(place: &Place) {
    let index = place.path().join("v2/index");
    let file = fs::File::options().read(true).write(true).open(index);
    let file = file.unwrap();
    let mut first = [0];
    file.read_exact_at(&mut first, 32).unwrap();
    file.write_all_at(&[!first[0]], 32).unwrap();
}

#[test]
fn a_path_may_begin_in_the_home_folder() {
    let place = Place::new();
    fill(&place);
    let home = place.path().parent().unwrap().to_path_buf();
    let at_home = |home: &Path| {
        let mut command = support::polycache();
        command
            .env("HOME", home)
            .args(["--path", "~/cache", "get", "k7"]);
        command.output().unwrap()
    };
    let found = at_home(&home);
    let shown = String::from_utf8_lossy(&found.stdout);
    assert!(shown.ends_with("\n7\n"), "{shown}");
    let refused = at_home(Path::new(""));
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && why.contains("HOME"), "{why}");
}

#[test]
fn no_byte_of_a_cache_in_use_is_changed() {
    let place = Place::new();
    fill(&place);
    let before = files(&place.path());
    for look in LOOKS {
        place.run(look).ok();
        assert!(files(&place.path()) == before, "{look:?}");
    }
}

#[test]
fn a_cache_outlives_a_look_after_a_reboot() {
    let place = Place::new();
    fill(&place);
    reboot(&place);
    let before = files(&place.path());
    for look in LOOKS {
        place.run(look).ok();
        assert!(files(&place.path()) == before, "{look:?}");
    }
    assert_eq!(place.json(&["stats"])["entries"], 1000);
    assert_eq!(place.json(&["check"])["whole"], 1000);
    // Commands that change entries keep the other entries.
    place.run(&["delete", "k0"]).ok();
    reboot(&place);
    place.run(&["set", "new", "v"]).ok();
    let builder = Cache::builder().path(place.path());
    let cache = builder.build().unwrap();
    assert_eq!(cache.stats().unwrap().entries, 1000);
    assert_eq!(cache.get::<u64>("k999").unwrap(), Some(999));
}

#[test]
fn foreign_files_survive_every_command() {
    let place = Place::new();
    fs::create_dir_all(place.path().join("v2/blocks")).unwrap();
    fs::write(place.path().join("v2/blocks/important"), "x").unwrap();
    fs::write(place.path().join("v2/index"), [0; 5000]).unwrap();
    fs::write(place.path().join("v2/participants"), "").unwrap();
    let before = files(&place.path());
    for arguments in [
        &["get", "k"][..],
        &["keys"],
        &["stats"],
        &["delete", "k"],
        &["clear", "-y"],
        &["set", "k", "v"],
    ] {
        place.run(arguments).failed(4, "there is no whole cache in");
        assert!(files(&place.path()) == before, "{arguments:?}");
    }
    let (code, error) = place.json_error(&["stats"]);
    assert_eq!((code, &error["code"]), (Some(4), &json!("damaged")));
}

#[test]
fn a_truncated_index_is_damage_that_check_finds() {
    let place = Place::new();
    fill(&place);
    let index = place.path().join("v2/index");
    fs::File::options()
        .write(true)
        .open(&index)
        .unwrap()
        .set_len(10_000)
        .unwrap();
    let before = files(&place.path());
    let ran = place.run(&["check"]);
    assert_eq!((ran.code, &*ran.error), (Some(1), ""), "{ran:?}");
    assert!(
        ran.out.contains("its index has 10000 bytes") && ran.out.contains("1 damaged"),
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
    assert!(files(&place.path()) == before);
}
