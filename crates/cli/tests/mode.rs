//! `--mode`: a cache that a group shares.

mod support;

use std::os::unix::fs::MetadataExt;
use support::Place;

#[test]
fn set_gives_the_files_their_mode() {
    let place = Place::new();
    let bits = || {
        let index = std::fs::metadata(place.path().join("v2/index"));
        index.unwrap().mode() & 0o777
    };
    assert_eq!(place.run(&["set", "k", "v", "--mode", "660"]).code, Some(0));
    assert_eq!(bits(), 0o660);
    assert_eq!(place.run(&["--mode", "0o660", "get", "k"]).code, Some(0));
    // Only programs change what is there.
    assert_eq!(place.run(&["set", "k", "v", "--mode", "600"]).code, Some(0));
    assert_eq!(bits(), 0o660);
}

#[test]
fn other_modes_are_refused() {
    let place = Place::new();
    for mode in ["666", "rw", "0x1b0", "", "-660"] {
        let argument = format!("--mode={mode}");
        let ran = place.run(&["set", "k", "v", &argument]);
        assert_eq!(ran.code, Some(2), "{mode}: {ran:?}");
    }
    assert!(!place.path().exists());
}
