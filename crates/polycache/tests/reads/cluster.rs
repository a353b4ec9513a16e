//! Cached reads over a real Cluster, each test's own.

use crate::hosts::SECOND;
use crate::nodes::Cluster;
use crate::process::{until, Process};
use crate::support::{command, keeping, reads_as};
use polycache::reads::CachedReads;
use polycache::Error;
use polycache_remote::slot_of_key;
use redis::Value;
use tempfile::TempDir;

fn open(cluster: &Cluster, directory: &TempDir) -> CachedReads {
    let reads = CachedReads::builder(cluster.client()).path(directory.path());
    let reads = reads.limit(16 << 20).timeout(SECOND * 5);
    reads.max_staleness(SECOND * 10).build().expect("they open")
}

/// The primary that has a key.
fn owner<'a>(cluster: &'a Cluster, key: &str) -> Option<&'a Process> {
    let mut nodes = cluster.nodes.iter();
    nodes.find(|node| node.ask::<Value>(&format!("GET {key}")).is_ok())
}

fn write(cluster: &Cluster, key: &str, value: &str) {
    until("it is written", || {
        owner(cluster, key)
            .is_some_and(|node| node.ask::<()>(&format!("SET {key} {value}")).is_ok())
    });
}

#[test]
fn writes_of_others_at_each_primary_are_shown() {
    let Some(cluster) = Cluster::start(0, "") else {
        return;
    };
    let directory = TempDir::new().unwrap();
    let (reads, other) = (open(&cluster, &directory), open(&cluster, &directory));
    let keys: Vec<String> = (0..9).map(|number| format!("c:{number}")).collect();
    for value in ["first", "second"] {
        for key in &keys {
            // A reply may be voided between two looks: one of them finds what the first one read.
            until("the other serves what the first one read", || {
                write(&cluster, key, value);
                reads_as(&reads, key, Some(value));
                keeping(&reads, &format!("GET {key}"));
                let before = other.stats();
                reads_as(&other, key, Some(value));
                other.stats().sent == before.sent && other.stats().host_hits > before.host_hits
            });
        }
    }
    for node in &cluster.nodes {
        assert!(node.ask::<usize>("DBSIZE").unwrap() > 0);
    }
    let first = owner(&cluster, &keys[0]).unwrap();
    first.ask::<()>("FLUSHALL").unwrap();
    reads_as(&reads, &keys[0], None);
}

#[test]
fn keys_of_one_slot_are_read_together() {
    let Some(cluster) = Cluster::start(0, "") else {
        return;
    };
    let reads = open(&cluster, &TempDir::new().unwrap());
    match reads.query::<Value>(&command("MGET a b")) {
        Err(Error::UncacheableRead(why)) => assert!(why.contains("several slots"), "{why}"),
        other => panic!("{other:?}"),
    }
    write(&cluster, "{k}a", "1");
    keeping(&reads, "MGET {k}a {k}b");
    let found: (Option<String>, Option<String>) = reads.query(&command("MGET {k}a {k}b")).unwrap();
    assert_eq!(found, (Some("1".into()), None));
    let error = reads.query::<Value>(&command("HGETALL {k}a")).unwrap_err();
    assert!(error.to_string().contains("WRONGTYPE"), "{error}");
}

fn id(node: &Process) -> String {
    node.ask("CLUSTER MYID").expect("an id")
}

#[test]
fn a_slot_that_moves_is_followed() {
    let Some(cluster) = Cluster::start(0, "") else {
        return;
    };
    let reads = open(&cluster, &TempDir::new().unwrap());
    write(&cluster, "moves", "1");
    keeping(&reads, "GET moves");
    for value in ["2", "3"] {
        let slot = slot_of_key(b"moves");
        let from = owner(&cluster, "moves").unwrap();
        let mut others = cluster.nodes.iter().filter(|node| node.port != from.port);
        let to = others.next().unwrap();
        to.ask::<()>(&format!("CLUSTER SETSLOT {slot} IMPORTING {}", id(from)))
            .unwrap();
        from.ask::<()>(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", id(to)))
            .unwrap();
        let sent = reads.query::<Value>(&command("GET moves"));
        sent.unwrap();
        from.ask::<()>(&format!("MIGRATE 127.0.0.1 {} moves 0 5000", to.port))
            .unwrap();
        // Half moved: one node has the slot, another one the key.
        reads_as(&reads, "moves", Some(if value == "2" { "1" } else { "2" }));
        for node in [to, from] {
            node.ask::<()>(&format!("CLUSTER SETSLOT {slot} NODE {}", id(to)))
                .unwrap();
        }
        write(&cluster, "moves", value);
        reads_as(&reads, "moves", Some(value));
        keeping(&reads, "GET moves");
    }
}

#[test]
fn a_replica_takes_the_place_of_a_killed_primary() {
    let Some(mut cluster) = Cluster::start(3, "") else {
        return;
    };
    let reads = open(&cluster, &TempDir::new().unwrap());
    write(&cluster, "killed", "1");
    keeping(&reads, "GET killed");
    let port = owner(&cluster, "killed").unwrap().port;
    let mut nodes = cluster.nodes.iter_mut();
    nodes.find(|node| node.port == port).unwrap().kill();
    write(&cluster, "killed", "2");
    let get = command("GET killed");
    until("the value is read", || {
        reads.query::<String>(&get).is_ok_and(|value| value == "2")
    });
    until("memory serves it", || {
        let before = reads.stats().memory_hits;
        for _ in 0..2 {
            let _ = reads.query::<Value>(&get);
        }
        reads.stats().memory_hits > before
    });
}
