//! Namespaces as they are printed, patterns, several keys at once, completions and the manual.

mod support;

use serde_json::Value as Json;
use support::{polycache, Place, Ran};

#[test]
fn a_namespace_is_given_as_it_is_printed() {
    let place = Place::new();
    let cache = place.open();
    for parts in [
        &["shop"][..],
        &["shop", "eu"],
        &["a:b", "50%"],
        &["line\nbreak"],
    ] {
        let nested = parts
            .iter()
            .try_fold(cache.clone(), |cache, part| cache.namespace(*part));
        nested.unwrap().set("k", &parts).unwrap();
    }
    let listed = place.keys(&["-A"]);
    assert_eq!(
        listed,
        ["a%3Ab:50%25::k", "line%0Abreak::k", "shop::k", "shop:eu::k"]
    );
    for line in listed {
        let (namespace, key) = line.split_once("::").unwrap();
        assert_eq!(place.keys(&["-n", namespace]), [key]);
        place.run(&["-n", namespace, "get", key]).ok();
    }
    assert_eq!(place.keys(&["-n", "shop", "-n", "eu"]), ["k"]);
    place
        .run(&["-n", "shop::", "keys"])
        .failed(2, "parts joined by colons");
}

#[test]
fn patterns_choose_keys() {
    let place = Place::new();
    let names = ["user:1", "user:2", "user:10", "item/1", "a.b"];
    place.open().set_many(names.map(|name| (name, 1))).unwrap();
    assert_eq!(place.keys(&["--glob", "user:?"]), ["user:1", "user:2"]);
    assert_eq!(place.keys(&["-g", "*1"]), ["item/1", "user:1"]);
    assert_eq!(place.keys(&["-g", "*[!0-9]"]), ["a.b"]);
    assert_eq!(place.keys(&["-g", "*"]).len(), 5);
    assert_eq!(
        place.keys(&["-g", "user:*", "user:1"]),
        ["user:1", "user:10"]
    );
    assert_eq!(place.keys(&["-A", "-g", "user:*"]).len(), 3);
    assert_eq!(place.keys(&["-g", "*", "--limit-output", "2"]).len(), 2);
    assert_eq!(place.keys(&["-g", "User:*"]).len(), 0);
}

#[test]
fn several_keys_are_answered_one_by_one() {
    let place = Place::new();
    place.open().set_many([("a", 1), ("b", 2)]).unwrap();
    let ran = place.run(&["--json", "get", "a", "absent", "b"]);
    assert_eq!((ran.code, &*ran.error), (Some(1), ""));
    let lines: Vec<Json> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let keys: Vec<_> = lines
        .iter()
        .map(|line| (&line["key"], &line["found"]))
        .collect();
    let expected = [("a", true), ("absent", false), ("b", true)]
        .map(|(key, found)| (Json::from(key), Json::from(found)));
    assert_eq!(
        keys,
        expected
            .iter()
            .map(|(key, found)| (key, found))
            .collect::<Vec<_>>()
    );
    let shown = place.run(&["get", "a", "b"]).ok();
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!((lines.len(), lines[1], lines[3]), (4, "1", "2"));
}

fn alone(arguments: &[&str]) -> String {
    Ran::new(polycache().args(arguments).output().unwrap()).ok()
}

#[test]
fn every_shell_has_completions_of_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = alone(&["completions", shell]);
        for word in ["train-dictionary", "clear", "glob", "namespace"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let refused = polycache().args(["completions", "dos"]).output().unwrap();
    Ran::new(refused).failed(2, "bash");
}

/// What bash itself completes with the printed script.
#[test]
fn bash_completes_commands() {
    let script = alone(&["completions", "bash"])
        + "
        COMP_WORDS=(polycache st); COMP_CWORD=1
        _polycache polycache st polycache; echo \"${COMPREPLY[@]}\"";
    let bash = std::process::Command::new("bash")
        .args(["-c", &script])
        .output();
    assert_eq!(Ran::new(bash.unwrap()).ok(), "stats\n");
}

#[test]
fn the_manual_has_a_page_a_command() {
    let page = alone(&["man"]);
    assert!(
        page.contains(".TH polycache 1") && page.contains("POLYCACHE_ENCRYPTION"),
        "{page}"
    );
    let page = alone(&["man", "get"]);
    assert!(
        page.contains(".TH polycache-get 1") && page.contains("\\-\\-raw"),
        "{page}"
    );
    let refused = polycache().args(["man", "frob"]).output().unwrap();
    Ran::new(refused).failed(2, "not a command");
}
