//! The command on a server, and on one that is not there.

#[allow(dead_code)]
#[path = "../../polycache/tests/remote/process.rs"]
mod process;
#[allow(dead_code)]
#[path = "../../polycache/tests/remote/server.rs"]
mod server;
mod support;

use polycache::Cache;
use server::{Server, PROGRAMS};
use std::process::Command;
use support::{polycache, Ran};

fn run(url: &str, arguments: &[&str]) -> Ran {
    // The variable of a directory does not matter then.
    let mut command: Command = polycache();
    command.env("POLYCACHE_PATH", "/nonexistent");
    command.args(["-r", url]).args(arguments);
    Ran::new(command.output().unwrap())
}

#[test]
fn it_works_with_what_is_on_a_server() {
    let Some(server) = PROGRAMS.into_iter().find_map(Server::start) else {
        return;
    };
    let url = server.url();
    let set = run(&url, &["set", "-n", "shop", "k", "v"]);
    assert_eq!(set.code, Some(0), "{set:?}");
    let cache = Cache::builder()
        .remote(url.as_str())
        .namespace("shop")
        .build()
        .unwrap();
    assert_eq!(cache.get("k").unwrap(), Some("v".to_owned()));
    let got = run(&url, &["get", "-n", "shop", "--raw", "k"]);
    assert_eq!((got.code, got.out.as_str()), (Some(0), "v"), "{got:?}");
    let keys = run(&url, &["keys", "-A"]);
    assert_eq!(keys.out, "shop::k\n", "{keys:?}");
    assert_eq!(run(&url, &["get", "absent"]).code, Some(1));
    let deleted = run(&url, &["delete", "-n", "shop", "k", "absent"]);
    assert_eq!(deleted.out, "deleted 1 of 2 keys\n", "{deleted:?}");
    cache.set("k", "again").unwrap();
    let cleared = run(&url, &["clear", "-y"]);
    assert_eq!(
        cleared.out, "cleared the whole cache in the server\n",
        "{cleared:?}"
    );
    assert_eq!(run(&url, &["get", "-n", "shop", "k"]).code, Some(1));
    let other = run(&url, &["--remote-prefix", "other", "set", "k", "v"]);
    assert_eq!(other.code, Some(0), "{other:?}");
    assert_eq!(run(&url, &["keys"]).out, "");
}

#[test]
fn a_server_that_is_not_there_is_no_miss() {
    let absent = "redis://127.0.0.1:1";
    for arguments in [
        &["get", "k"][..],
        &["set", "k", "v"],
        &["delete", "k"],
        &["keys"],
        &["clear", "-y"],
    ] {
        let ran = run(absent, arguments);
        assert_eq!(ran.code, Some(4), "{arguments:?}: {ran:?}");
        assert!(
            ran.error.contains("Connection refused"),
            "{arguments:?}: {ran:?}"
        );
    }
}

#[test]
fn what_tells_of_a_directory_says_so() {
    for command in ["stats", "check", "usage", "top"] {
        let ran = run("redis://127.0.0.1:1", &[command]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.error.contains("tells of a directory"), "{ran:?}");
    }
    assert_eq!(run("http://127.0.0.1", &["get", "k"]).code, Some(2));
}
