//! Stored values, names and arguments from a stranger cannot control a terminal, and break no JSON.

mod support;

use serde_json::{json, Value as Json};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};
use support::{polycache, Place, Ran};

/// ESC, C1, DEL, and marks that change text direction.
const EVIL: &str = "a\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{2066}\u{200f}b";

fn harmless(shown: &str) -> bool {
    let steers = |character: char| {
        (character.is_control() && character != '\n')
            || matches!(character, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
    };
    !shown.contains(steers)
}

fn run(mut command: Command) -> Ran {
    let ran = Ran::new(command.stdin(Stdio::null()).output().unwrap());
    assert!(harmless(&ran.out) && harmless(&ran.error), "{ran:?}");
    ran
}

/// Every command with hostile text in each of its places, plain and as JSON.
#[test]
fn no_output_steers_a_terminal() {
    let place = Place::new();
    let evil_path = place.directory.path().join(EVIL);
    let open = |path: &std::path::Path| polycache::Cache::builder().path(path).build().unwrap();
    for path in [place.path(), evil_path.clone()] {
        let cache = open(&path);
        for cache in [cache.clone(), cache.namespace(EVIL).unwrap()] {
            cache.set(EVIL, EVIL).unwrap();
            cache.set("list", &[EVIL]).unwrap();
            cache.set("map", &json!({EVIL: [EVIL]})).unwrap();
        }
    }
    let dump = place.directory.path().join("dump");
    let dump = dump.to_str().unwrap();
    let lines: [&[&str]; 18] = [
        &["get", EVIL, "list", "map"],
        &["get", "absent\u{9b}"],
        &["get", "--hex", EVIL],
        &["keys"],
        &["keys", "-A", "-l"],
        &["keys", "--glob", EVIL],
        &["keys", "--glob", "[\u{9b}"],
        &["-n", "absent\u{1b}", "keys"],
        &["-n", "%\u{1b}", "keys"],
        &["set", EVIL, EVIL],
        &["set", "k", EVIL, "--type", "json"],
        &["set", "k", "v", "--ttl", EVIL],
        &["delete", EVIL],
        &["stats"],
        &["check"],
        &["clear"],
        &[EVIL],
        &["train-dictionary", "-o", dump, EVIL],
    ];
    for path in [
        place.path(),
        evil_path,
        place.directory.path().join("none\u{1b}"),
    ] {
        for json in [&[][..], &["--json"]] {
            for line in lines {
                let mut command = polycache();
                command.arg("-d").arg(&path).args(json).args(line);
                let ran = run(command);
                if !json.is_empty() {
                    for line in ran.out.lines().chain(ran.error.lines()) {
                        serde_json::from_str::<Json>(line)
                            .unwrap_or_else(|error| panic!("{error}: {ran:?}"));
                    }
                }
            }
        }
    }
}

#[test]
fn a_program_gets_every_byte() {
    let place = Place::new();
    place.open().set(EVIL, EVIL).unwrap();
    assert_eq!(place.run(&["get", "--raw", EVIL]).ok(), EVIL);
    let got = place.json(&["get", EVIL]);
    assert_eq!((&got["value"], &got["key"]), (&json!(EVIL), &json!(EVIL)));
}

#[test]
fn a_path_that_is_no_text_is_shown_and_no_panic() {
    let place = Place::new();
    let path = place.directory.path().join(OsStr::from_bytes(b"\xff\x1b"));
    for arguments in [
        &["get", "k"][..],
        &["set", "k", "v"],
        &["stats"],
        &["--json", "stats"],
        &["clear", "-y"],
    ] {
        let mut command = polycache();
        command.arg("-d").arg(&path).args(arguments);
        let ran = run(command);
        assert!([Some(0), Some(3)].contains(&ran.code), "{ran:?}");
    }
}

#[test]
fn wrong_arguments_are_json_when_asked() {
    let place = Place::new();
    let wrong: [(&[&str], &str); 8] = [
        (&["frob"], "unrecognized subcommand 'frob'"),
        (&["get"], "<KEY>"),
        (&["get", "k", "--frob"], "--frob"),
        (&["set", "k", "v", "--ttl", "soon"], "not a duration"),
        (&["set", "k", "v", "--ttl", "0s"], "longer than 0"),
        (&["keys", "--glob", "["], "not a pattern"),
        (&["get", "--raw", "a", "b"], "--raw"),
        (&[], "a command is missing"),
    ];
    for (arguments, said) in wrong {
        let (code, error) = place.json_error(arguments);
        let message = error["message"].as_str().unwrap();
        assert_eq!(
            (code, &error["code"]),
            (Some(2), &json!("invalid_argument"))
        );
        assert_eq!(error["retryable"], false);
        assert!(
            message.contains(said) && !message.contains("Usage"),
            "{message}"
        );
    }
    // It may come behind what is wrong with the line, but is a value behind `--`.
    let late = place.run(&["frob", "--json"]);
    assert!(late.error.starts_with("{\"error\""), "{late:?}");
    let value = place.run(&["frob", "--", "--json"]);
    assert!(value.error.starts_with("error: "), "{value:?}");
}

#[test]
fn nobody_clears_by_accident() {
    let place = Place::new();
    place.run(&["-n", "shop", "set", "k", "v"]).ok();
    place.run(&["clear"]).failed(2, "-y");
    place
        .run(&["-n", "shop", "clear"])
        .failed(2, "the namespace shop in");
    assert_eq!(place.json_error(&["clear"]).0, Some(2));
    place.run_with(&["clear"], b"y\n").failed(2, "-y");
    assert_eq!(place.keys(&["-A"]), ["shop::k"]);
    place.run(&["clear", "-y"]).ok();
    assert_eq!(place.keys(&["-A"]).len(), 0);
}

#[test]
fn a_file_size_limit_is_an_error_and_no_death() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_polycache");
    let mut shell = Command::new("bash");
    shell.args([
        "-c",
        "ulimit -f 100; exec \"$@\"",
        "bash",
        program,
        "--json",
        "-d",
    ]);
    shell.arg(place.path()).args(["set", "k", "v"]);
    let ran = run(shell);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    let error: Json = serde_json::from_str(&ran.error).unwrap();
    assert_eq!(error["error"]["code"], "no_space");
    assert!(ran.error.contains("ulimit -f"), "{ran:?}");
}
