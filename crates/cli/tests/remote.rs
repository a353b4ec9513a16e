//! The command on a server, and on one that is not there.

#[allow(dead_code)]
#[path = "../../polycache/tests/remote/process.rs"]
mod process;
#[allow(dead_code)]
#[path = "../../polycache/tests/remote/server.rs"]
mod server;
mod support;

use polycache::Cache;
use process::until;
use serde_json::{json, Value};
use server::{Server, PROGRAMS};
use std::process::Command;
use std::time::Duration;
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
    for command in ["check", "usage", "top"] {
        let ran = run("redis://127.0.0.1:1", &[command]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.error.contains("tells of a directory"), "{ran:?}");
    }
    assert_eq!(run("http://127.0.0.1", &["get", "k"]).code, Some(2));
}

#[test]
fn stats_tell_of_the_server_and_of_all_processes_of_the_machine() {
    let Some(server) = PROGRAMS.into_iter().find_map(Server::start) else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let cache = Cache::builder()
        .path(place.path())
        .remote(server.url())
        .timeout(Duration::from_secs(5))
        .build()
        .unwrap();
    cache.set("k", "v").unwrap();
    until("it listens", || {
        cache.get::<String>("k").unwrap();
        cache.remote_stats().unwrap().listens
    });
    cache.get::<String>("k").unwrap();
    for _ in 0..100 {
        cache.get::<String>("k").unwrap();
    }
    let own = cache.remote_stats().unwrap();
    let look = |arguments: &[&str]| {
        let mut command = polycache();
        command
            .arg("--json")
            .arg("-d")
            .arg(place.path())
            .args(arguments);
        let ran = Ran::new(command.arg("stats").output().unwrap());
        (
            ran.code,
            serde_json::from_str::<Value>(&ran.out).expect("JSON"),
        )
    };
    // What the process did is added by its thread, or when it asks.
    cache.machine_stats().unwrap();
    let (code, stats) = look(&["-r", &server.url()]);
    assert_eq!(code, Some(0));
    let near = stats["near_hits"].as_u64().unwrap();
    assert!(near >= own.near_hits && near >= 100, "{stats}");
    assert_eq!(stats["remote_hits"], own.remote_hits, "{stats}");
    assert_eq!(stats["hits"], near + own.remote_hits, "{stats}");
    assert_eq!((&stats["writes"], &stats["faults"]), (&json!(1), &json!(0)));
    assert!(stats["round_trips"].as_u64() > Some(1), "{stats}");
    assert_eq!(stats["last_open_at"], Value::Null);
    let listener = &stats["listeners"][0];
    assert_eq!(listener["pid"], std::process::id(), "{stats}");
    assert_eq!(listener["refuses_tracking"], false, "{stats}");
    assert!(
        listener["lag"].as_f64().is_some_and(|lag| lag < 60_000.0),
        "{stats}"
    );
    let answers = &stats["server"];
    assert_eq!(
        (&answers["answers"], &answers["fault"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(answers["identity"], listener["identity"], "{stats}");
    assert!(
        answers["lag"].is_number() && answers["round_trip"].is_number(),
        "{stats}"
    );
    let said = {
        let mut command = polycache();
        command.arg("-d").arg(place.path()).arg("stats");
        Ran::new(command.output().unwrap()).ok()
    };
    let process = format!("listener    process {}, for ", std::process::id());
    assert!(
        said.contains("by copies here") && said.contains(&process),
        "{said}"
    );

    drop(server);
    until("the breaker opens", || {
        let _ = cache.set("k", "w");
        cache.remote_stats().unwrap().is_open
    });
    cache.machine_stats().unwrap();
    let (code, stats) = look(&[]);
    assert_eq!((code, &stats["server"]), (Some(0), &Value::Null));
    assert!(stats["faults"].as_u64() >= Some(5), "{stats}");
    assert!(
        stats["last_fault_at"].is_number() && stats["last_open_at"].is_number(),
        "{stats}"
    );
    cache.close();
    let (_, stats) = look(&[]);
    assert_eq!(stats["listeners"][0]["pid"], Value::Null, "{stats}");
}

#[test]
fn stats_of_a_server_alone_say_whether_it_answers() {
    let ran = run("redis://127.0.0.1:1", &["--json", "stats"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let stats: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(stats["server"]["answers"], false);
    let why = stats["server"]["fault"].as_str().expect("why");
    assert!(why.contains("Connection refused"), "{why}");
    let Some(server) = PROGRAMS.into_iter().find_map(Server::start) else {
        return;
    };
    let said = run(&server.url(), &["stats"]).ok();
    assert!(said.starts_with("server      answered within "), "{said}");
    assert!(said.contains("it tells of writes; "), "{said}");
    let mut plain = server.plain();
    let user = "ACL SETUSER limited on >secret ~* &* +@all -client|tracking";
    let words: Vec<_> = user.split(' ').collect();
    redis::cmd(words[0])
        .arg(&words[1..])
        .exec(&mut plain)
        .unwrap();
    let limited = format!("redis://limited:secret@127.0.0.1:{}", server.port);
    let said = run(&limited, &["stats"]).ok();
    assert!(said.contains("it refuses to tell of writes"), "{said}");
}
