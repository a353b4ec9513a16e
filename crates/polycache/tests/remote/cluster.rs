//! A real Redis Cluster.

use crate::hosts::{host, host_with, listens, options, reads, SECOND};
use crate::nodes::Cluster;
use crate::process::{until, Process};
use polycache::{Cache, Error};
use polycache_check_proxy::{Proxy, Side};
use polycache_remote::slot_of_key;
use redis::cluster::{ClusterClient, NodeAddress};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Barrier;
use std::time::Duration;

const KEYS: usize = 60;

/// What a user's key is called on the servers.
fn stored(key: &str) -> String {
    format!("polycache:::{key}")
}

/// A key of the primary with this number, as the Cluster began.
fn key_of(primary: u16) -> String {
    (0..)
        .map(|number| format!("k{number}"))
        .find(|key| slot_of_key(stored(key).as_bytes()) / 5462 == primary)
        .expect("each primary has keys")
}

#[test]
fn hosts_share_the_keys_of_all_primaries() {
    let Some(cluster) = Cluster::start(0, "") else {
        return;
    };
    let (one, other) = (host(cluster.client()), host(cluster.client()));
    for number in 0..KEYS {
        one.cache.set(format!("k{number}"), &number).unwrap();
    }
    for node in &cluster.nodes {
        assert!(node.ask::<usize>("DBSIZE").unwrap() > 0);
    }
    for number in 0..KEYS {
        let found = other.cache.get::<usize>(&format!("k{number}")).unwrap();
        assert_eq!(found, Some(number));
    }
    assert_eq!(other.cache.keys("k").count(), KEYS);

    let loads = AtomicU32::new(0);
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for host in [&one, &other].repeat(4) {
            let (loads, barrier) = (&loads, &barrier);
            scope.spawn(move || {
                barrier.wait();
                let loaded = host.cache.get_or_set("loaded", || {
                    loads.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(100));
                    Ok::<_, Error>(1)
                });
                assert_eq!(loaded.unwrap(), 1);
            });
        }
    });
    assert_eq!(loads.load(Ordering::Relaxed), 1);

    std::thread::scope(|scope| {
        for host in [&one, &other] {
            scope.spawn(|| {
                for _ in 0..50 {
                    host.cache.increment("n", 1).unwrap();
                }
            });
        }
    });
    assert_eq!(one.cache.get("n").unwrap(), Some(100));

    let (mine, theirs) = (one.cache.lease("rebuild"), other.cache.lease("rebuild"));
    assert!(mine.acquire(Duration::ZERO).unwrap());
    assert!(!theirs.acquire(Duration::ZERO).unwrap());
    mine.release();
    assert!(theirs.acquire(Duration::ZERO).unwrap());

    listens(&other.cache);
    one.cache.clear().unwrap();
    until("the clear is heard of", || {
        (0..KEYS).all(|number| {
            let found = other.cache.get::<usize>(&format!("k{number}"));
            found.unwrap().is_none()
        })
    });
    assert_eq!(one.cache.keys("").count(), 0);
}

#[test]
fn writes_at_each_primary_are_heard_of() {
    let Some(cluster) = Cluster::start(0, "") else {
        return;
    };
    let one = host(cluster.client());
    for primary in 0..3 {
        let key = key_of(primary);
        one.cache.set(&key, "ours").unwrap();
        listens(&one.cache);
        until("a copy is served", || {
            let before = one.cache.remote_stats().unwrap().near_hits;
            assert_eq!(one.cache.get(&key).unwrap(), Some("ours".to_owned()));
            one.cache.remote_stats().unwrap().near_hits > before
        });
        let node = &cluster.nodes[usize::from(primary)];
        node.ask::<()>(&format!("SET {} theirs", stored(&key)))
            .unwrap();
        until("the foreign bytes are seen", || {
            matches!(one.cache.get::<String>(&key), Err(Error::MalformedEntry(_)))
        });
    }
}

#[test]
fn a_script_that_a_node_forgot_is_sent_as_text() {
    let Some(cluster) = Cluster::start(0, "") else {
        return;
    };
    let one = host(cluster.client());
    for round in 1..=2 {
        for primary in 0..3 {
            assert_eq!(one.cache.increment(key_of(primary), 1).unwrap(), round);
        }
        for node in &cluster.nodes {
            node.ask::<()>("SCRIPT FLUSH").unwrap();
        }
    }
}

#[test]
fn a_password_reaches_every_node() {
    let Some(cluster) = Cluster::start(0, "") else {
        return;
    };
    for node in &cluster.nodes {
        node.ask::<()>("ACL SETUSER shop on >secret ~* &* +@all")
            .unwrap();
        node.ask::<()>("ACL SETUSER default off").unwrap();
    }
    let first = format!("redis://shop:secret@127.0.0.1:{}", cluster.nodes[0].port);
    let one = host(ClusterClient::new([first]).unwrap());
    for primary in 0..3 {
        one.cache.set(key_of(primary), "v").unwrap();
    }
    listens(&one.cache);
}

fn id(node: &Process) -> String {
    node.ask("CLUSTER MYID").expect("an id")
}

/// Moves a slot with its keys, as `redis-cli --cluster reshard` does.
fn move_slot(slot: u16, from: &Process, to: &Process, cluster: &Cluster) {
    let (source, target) = (id(from), id(to));
    to.ask::<()>(&format!("CLUSTER SETSLOT {slot} IMPORTING {source}"))
        .unwrap();
    from.ask::<()>(&format!("CLUSTER SETSLOT {slot} MIGRATING {target}"))
        .unwrap();
    let keys: Vec<String> = from
        .ask(&format!("CLUSTER GETKEYSINSLOT {slot} 100"))
        .unwrap();
    for key in keys {
        from.ask::<()>(&format!("MIGRATE 127.0.0.1 {} {key} 0 5000", to.port))
            .unwrap();
    }
    // Those who move it first: they stop to redirect.
    for node in [to, from].into_iter().chain(&cluster.nodes) {
        node.ask::<()>(&format!("CLUSTER SETSLOT {slot} NODE {target}"))
            .unwrap();
    }
}

#[test]
fn a_slot_moves_while_it_is_read() {
    let Some(cluster) = Cluster::start(0, "") else {
        return;
    };
    let (one, other) = (host(cluster.client()), host(cluster.client()));
    let key = key_of(0);
    let slot = slot_of_key(stored(&key).as_bytes());
    one.cache.set(&key, &0).unwrap();
    for host in [&one, &other] {
        listens(&host.cache);
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Whoever counts sees every number: none is lost, none is old.
        let counts = scope.spawn(|| {
            let mut last = 0;
            while !over.load(Ordering::Relaxed) {
                last += 1;
                assert_eq!(one.cache.increment(&key, 1).unwrap(), last);
                assert_eq!(one.cache.get(&key).unwrap(), Some(last));
            }
            last
        });
        let reads = scope.spawn(|| {
            let mut newest = 0;
            while !over.load(Ordering::Relaxed) {
                let found: i64 = other.cache.get(&key).unwrap().expect("it is there");
                assert!(found >= newest, "{found} after {newest}");
                newest = found;
            }
        });
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            move_slot(slot, &cluster.nodes[from], &cluster.nodes[to], &cluster);
        }
        over.store(true, Ordering::Relaxed);
        let last = counts.join().unwrap();
        reads.join().unwrap();
        until("the last number is read", || {
            other.cache.get(&key).unwrap() == Some(last)
        });
    });
    for host in [&one, &other] {
        listens(&host.cache);
    }
}

#[test]
fn a_slot_that_is_half_moved_is_read_and_no_copy_is_served() {
    let Some(cluster) = Cluster::start(0, "") else {
        return;
    };
    let one = host(cluster.client());
    let key = key_of(0);
    let slot = slot_of_key(stored(&key).as_bytes());
    let (from, to) = (&cluster.nodes[0], &cluster.nodes[1]);
    listens(&one.cache);
    to.ask::<()>(&format!("CLUSTER SETSLOT {slot} IMPORTING {}", id(from)))
        .unwrap();
    from.ask::<()>(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", id(to)))
        .unwrap();
    until("copies are not served", || {
        one.cache.get::<String>("anything").unwrap();
        !one.cache.remote_stats().unwrap().listens
    });
    // The key is missing at the first one, which sends it to the second by ASK; the script, too.
    one.cache.set(&key, &1).unwrap();
    assert_eq!(one.cache.increment(&key, 1).unwrap(), 2);
    assert_eq!(one.cache.get(&key).unwrap(), Some(2));
    let there: usize = to.ask(&format!("CLUSTER COUNTKEYSINSLOT {slot}")).unwrap();
    assert_eq!(there, 1);
    for node in &cluster.nodes {
        node.ask::<()>(&format!("CLUSTER SETSLOT {slot} NODE {}", id(to)))
            .unwrap();
    }
    listens(&one.cache);
    assert_eq!(one.cache.get(&key).unwrap(), Some(2));
}

#[test]
fn a_replica_takes_the_place_of_its_killed_primary() {
    let Some(mut cluster) = Cluster::start(3, "") else {
        return;
    };
    let (one, other) = (host(cluster.client()), host(cluster.client()));
    let (key, elsewhere) = (key_of(0), key_of(1));
    for key in [&key, &elsewhere] {
        one.cache.set(key, "before").unwrap();
    }
    for host in [&one, &other] {
        listens(&host.cache);
        reads(&host.cache, &key, "before");
    }
    let replica_has_it = || {
        let info: String = cluster.nodes[0].ask("INFO replication").unwrap();
        let offset = |name: &str| -> Option<u64> {
            let rest = info.split(name).nth(1)?;
            rest.split(|end: char| !end.is_ascii_digit())
                .next()?
                .parse()
                .ok()
        };
        offset("master_repl_offset:").is_some_and(|all| offset(",offset=") == Some(all))
    };
    until("the replica has what its primary has", replica_has_it);
    cluster.nodes[0].kill();
    until("copies are not served", || {
        let _ = one.cache.get::<String>(&elsewhere);
        !one.cache.remote_stats().unwrap().listens
    });
    cluster.nodes[3]
        .ask::<()>("CLUSTER FAILOVER TAKEOVER")
        .unwrap();
    until("it can be written", || one.cache.set(&key, "after").is_ok());
    reads(&one.cache, &key, "after");
    reads(&other.cache, &key, "after");
    reads(&other.cache, &elsewhere, "before");
    for host in [&one, &other] {
        listens(&host.cache);
    }
    // Writes at the new primary are heard of.
    one.cache.set(&key, "at last").unwrap();
    reads(&other.cache, &key, "at last");
}

/// The number of a primary that owns neither the clock nor a floor: writes elsewhere do without it.
fn dispensable() -> u16 {
    let needed = ["polycache:%clock", "polycache:%floor:::"];
    let owners = needed.map(|key| slot_of_key(key.as_bytes()) / 5462);
    (0..3)
        .find(|primary| !owners.contains(primary))
        .expect("three own two")
}

#[test]
fn a_primary_that_hangs_is_given_up_and_the_others_answer() {
    let Some(cluster) = Cluster::start(0, "--cluster-require-full-coverage no") else {
        return;
    };
    let one = host_with(options(cluster.client()).timeout(SECOND / 2));
    let hangs = dispensable();
    let (hung, other) = (key_of(hangs), key_of((hangs + 1) % 3));
    for key in [&hung, &other] {
        one.cache.set(key, "v").unwrap();
    }
    let node = &cluster.nodes[usize::from(hangs)];
    node.hang();
    let refused = one.cache.set(&hung, "w").unwrap_err();
    assert_eq!(refused.code(), "remote_unavailable");
    until("the others answer", || one.cache.set(&other, "w").is_ok());
    let loaded = one
        .cache
        .get_or_set(&hung, || Ok::<_, Error>("loaded".to_owned()));
    assert_eq!(loaded.unwrap(), "loaded");
    node.go_on();
    until("it is back", || one.cache.set(&hung, "back").is_ok());
    reads(&one.cache, &hung, "back");
    listens(&one.cache);
}

#[test]
fn a_write_whose_reply_is_lost_is_not_sent_again() {
    let Some(cluster) = Cluster::start(0, "") else {
        return;
    };
    let proxies: Vec<Proxy> = cluster
        .nodes
        .iter()
        .map(|node| Proxy::new(node.port).unwrap())
        .collect();
    // The nodes say where they are; the program reaches them by the proxies.
    let at = |port: u16| NodeAddress::new("127.0.0.1", port);
    let by_proxy = cluster.nodes.iter().zip(&proxies);
    let client = ClusterClient::builder(cluster.urls())
        .node_address_map(
            by_proxy
                .map(|(node, proxy)| (at(node.port), at(proxy.port)))
                .collect(),
        )
        .build()
        .unwrap();
    let cache = Cache::builder()
        .remote(client)
        .timeout(SECOND * 5)
        // Without beacons, which are writes too.
        .max_staleness(Duration::ZERO)
        .build()
        .unwrap();
    let primary = dispensable();
    let (key, place) = (key_of(primary), usize::from(primary));
    let sets = || -> u64 {
        let info: String = cluster.nodes[place].ask("INFO commandstats").unwrap();
        let rest = info.split("cmdstat_set:calls=").nth(1).unwrap_or("0,");
        rest.split(',').next().unwrap().parse().unwrap()
    };
    cache.set(&key, "first").unwrap();
    let before = sets();
    proxies[place].swallow();
    let lost = cache.set(&key, "second").unwrap_err();
    assert_eq!(lost.code(), "remote_unavailable");
    assert_eq!(sets(), before + 1);
    // A read is sent again, by a connection that is not closed.
    proxies[place].cut(Side::All);
    assert_eq!(cache.get(&key).unwrap(), Some("second".to_owned()));
}
