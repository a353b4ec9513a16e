//! Several keys in one call.

use crate::hosts::{everywhere, host, host_with, listens, options, somewhere, SECOND};
use crate::nodes::Cluster;
use crate::process::until;
use crate::server::Server;
use polycache::{Cache, Error};
use std::collections::HashMap;
use std::time::Duration;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("k{number}")).collect()
}

fn round_trips(cache: &Cache, work: impl FnOnce()) -> u64 {
    let now = || cache.remote_stats().expect("it is remote").round_trips;
    let before = now();
    work();
    now() - before
}

/// A cache that reads through: nobody listens, so all round trips are the operations'.
fn reads_through(url: String) -> Cache {
    let options = options(url).max_staleness(Duration::ZERO);
    let cache = options.build().expect("it opens");
    cache.set("warm", "up").expect("it answers");
    cache
}

#[test]
fn many_keys_take_one_round_trip() {
    everywhere(|server| {
        let cache = reads_through(server.url()).namespace("shop").unwrap();
        let names = names(100);
        let entries: Vec<(&String, usize)> = names.iter().zip(0..).collect();
        assert_eq!(round_trips(&cache, || cache.set_many(entries).unwrap()), 1);
        let mut found = HashMap::new();
        let read = || found = cache.get_many::<usize, _>(&names).unwrap();
        assert_eq!(round_trips(&cache, read), 1);
        assert_eq!(found.len(), 100);
        assert_eq!(found[&names[42]], 42);
        let mut deleted = 0;
        let some = names.iter().chain([&names[0]]).skip(50);
        let delete = || deleted = cache.delete_many(some).unwrap();
        assert_eq!(round_trips(&cache, delete), 1);
        assert_eq!(deleted, 51);
        assert_eq!(cache.get_many::<usize, _>(&names).unwrap().len(), 49);
        let stats = cache.stats().unwrap();
        assert_eq!((stats.hits, stats.misses), (149, 51));
        assert_eq!((stats.writes, stats.deletes), (101, 51));
    });
}

/// Without a listener nothing tells of clears: a process remembers the last one, so that what it stores is found at once.
#[test]
fn writes_after_a_clear_take_one_round_trip() {
    everywhere(|server| {
        let (one, other) = (reads_through(server.url()), reads_through(server.url()));
        let set = |cache: &Cache| round_trips(cache, || cache.set("k", "v").unwrap());
        one.clear().unwrap();
        assert_eq!(set(&one), 1, "its own clear");
        assert_eq!((set(&other), set(&other)), (2, 1), "another's");
        let new = options(server.url())
            .max_staleness(Duration::ZERO)
            .build()
            .unwrap();
        assert_eq!(
            set(&new),
            2,
            "the first one asks for the clock with the identity"
        );
        server.ask::<redis::Value>("FLUSHALL").unwrap();
        assert_eq!((set(&one), set(&one)), (2, 1), "the server lost it");
        assert_eq!(other.get("k").unwrap(), Some("v".to_owned()));
        other.clear().unwrap();
        assert_eq!(one.get::<String>("k").unwrap(), None);
        let shop = one.namespace("shop").unwrap();
        let names = names(20);
        let all = || names.iter().map(|name| (name, 1));
        shop.clear().unwrap();
        assert_eq!(round_trips(&one, || shop.set_many(all()).unwrap()), 1);
    });
}

#[test]
fn many_keys_of_a_cluster_take_one_round_trip() {
    let Some(cluster) = Cluster::start(0, "") else {
        return;
    };
    let (one, other) = (host(cluster.client()), host(cluster.client()));
    let names = names(100);
    let entries = names.iter().zip(0_usize..);
    one.cache.set_many(entries).unwrap();
    let found = other.cache.get_many::<usize, _>(&names).unwrap();
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|(name, number)| **name == names[*number]));
    assert_eq!(other.cache.delete_many(&names).unwrap(), 100);
    until("the other host hears of it", || {
        one.cache.get_many::<usize, _>(&names).unwrap().is_empty()
    });
}

#[test]
fn copies_are_made_of_many_keys_and_voided() {
    somewhere(|server| {
        let (one, other) = (host(server.url()), host(server.url()));
        let names = names(1300);
        let all = |value: usize| names.iter().map(move |name| (name, value));
        one.cache.set_many(all(1)).unwrap();
        listens(&other.cache);
        let read = |value| {
            let found = other.cache.get_many::<usize, _>(&names).unwrap();
            found.len() == names.len() && found.values().all(|found| *found == value)
        };
        assert!(read(1));
        let before = other.cache.remote_stats().unwrap();
        assert!(read(1));
        let after = other.cache.remote_stats().unwrap();
        assert_eq!(after.near_hits - before.near_hits, 1300);
        one.cache.set_many(all(2)).unwrap();
        until("the other host hears of all", || read(2));
        // Its own writes it sees at once.
        other.cache.set_many(all(3)).unwrap();
        assert!(read(3));
        other.cache.delete_many(&names[..1000]).unwrap();
        assert_eq!(other.cache.get_many::<usize, _>(&names).unwrap().len(), 300);
    });
}

#[test]
fn the_last_value_of_a_key_that_is_set_twice_stays() {
    somewhere(|server| {
        let one = host(server.url());
        let twice = [("k", 1), ("other", 2), ("k", 3)];
        one.cache.set_many(twice).unwrap();
        assert_eq!(one.cache.get("k").unwrap(), Some(3));
        let same = one.cache.get_many::<i32, _>(["k", "k", "none"]).unwrap();
        assert_eq!(same, HashMap::from([("k", 3)]));
        assert_eq!(one.cache.delete_many(["k", "k"]).unwrap(), 1);
    });
}

/// A clear that comes between the writes and the reads of the floors is noticed by all of them.
#[test]
fn a_clear_of_another_host_meets_many_writes() {
    somewhere(|server| {
        let (one, other) = (host(server.url()), host(server.url()));
        listens(&one.cache);
        listens(&other.cache);
        let names = names(50);
        let shop = one.cache.namespace("shop").unwrap();
        let clears = other.cache.namespace("shop").unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..50).for_each(|_| clears.clear().unwrap()));
            for round in 0..200_usize {
                let entries = names.iter().map(|name| (name, round));
                shop.set_many(entries).unwrap();
            }
        });
        // Nothing is left that only some hosts serve.
        until("all hosts agree", || {
            let read = |cache: &Cache| cache.get_many::<usize, _>(&names).unwrap();
            read(&shop) == read(&clears)
        });
        clears.clear().unwrap();
        until("the clear is heard of", || {
            shop.get_many::<usize, _>(&names).unwrap().is_empty()
        });
    });
}

#[test]
fn what_cannot_be_read_or_written_is_told_and_the_rest_is_done() {
    somewhere(|server| {
        let one = host_with(options(server.url()).max_value(1000));
        let mut plain = server.plain();
        let foreign = redis::cmd("SET")
            .arg("polycache:::b")
            .arg("theirs")
            .exec(&mut plain);
        foreign.unwrap();
        one.cache.set("a", "ours").unwrap();
        let failed = one.cache.get_many::<String, _>(["a", "b"]).unwrap_err();
        assert!(matches!(failed, Error::MalformedEntry(_)), "{failed:?}");
        let long = "x".repeat(5000);
        let values = [("c", "short"), ("d", long.as_str()), ("e", "later")];
        one.cache.set_many(values).unwrap_err();
        assert!(one.cache.has("c").unwrap());
        assert!(!one.cache.has("e").unwrap());
    });
}

#[test]
fn what_another_program_keeps_in_a_type_of_its_own_is_deleted() {
    somewhere(|server| {
        let cache = reads_through(server.url());
        let hash = |key: &str| {
            let command = format!("HSET polycache:::{key} field value");
            server.ask::<redis::Value>(&command).unwrap();
        };
        hash("a");
        hash("b");
        assert_eq!(cache.get::<u64>("a").ok().flatten(), None);
        assert!(cache.delete("a").unwrap() && !cache.delete("a").unwrap());
        cache.set("c", &1).unwrap();
        assert_eq!(cache.delete_many(["a", "b", "c", "d"]).unwrap(), 2);
        assert_eq!(server.ask::<u64>("EXISTS polycache:::b").unwrap(), 0);
    });
}

#[test]
fn what_another_program_keeps_among_many_keys_is_missed() {
    somewhere(|server| {
        let cache = reads_through(server.url());
        let names = names(20);
        cache.set_many(names.iter().zip(0_usize..)).unwrap();
        for key in [&names[0], &names[7]] {
            server
                .ask::<redis::Value>(&format!("DEL polycache:::{key}"))
                .unwrap();
            let command = format!("HSET polycache:::{key} field value");
            server.ask::<redis::Value>(&command).unwrap();
        }
        let found = cache.get_many::<usize, _>(&names).unwrap();
        assert_eq!(found.len(), 18);
        assert_eq!(found[&names[19]], 19);
    });
}

#[test]
fn many_keys_are_read_by_two_commands() {
    somewhere(|server| {
        let cache = reads_through(server.url());
        let names = names(100);
        cache.set_many(names.iter().zip(0_usize..)).unwrap();
        server.ask::<redis::Value>("CONFIG RESETSTAT").unwrap();
        assert_eq!(cache.get_many::<usize, _>(&names).unwrap().len(), 100);
        let told: String = server.ask("INFO commandstats").unwrap();
        for line in ["cmdstat_getex:calls=1,", "cmdstat_mget:calls=1,"] {
            assert!(told.contains(line), "{told}");
        }
    });
}

/// How often the server executed the commands of these names.
fn executed<const N: usize>(server: &Server, names: [&str; N]) -> [u64; N] {
    let told: String = server.ask("INFO commandstats").unwrap();
    names.map(|name| {
        let counted = told.split(&format!("cmdstat_{name}:calls=")).nth(1);
        let counted = counted.and_then(|behind| behind.split(',').next());
        counted.map_or(0, |count| count.parse().unwrap())
    })
}

#[test]
fn a_key_is_set_and_read_by_two_commands() {
    somewhere(|server| {
        let cache = reads_through(server.url());
        cache.set("k", &1).unwrap();
        let counted = || executed(&server, ["getex", "mget"]);
        let before = counted();
        cache.set("k", &2).unwrap();
        assert_eq!(cache.get("k").unwrap(), Some(2));
        let now = counted();
        // The set asks by the second command of its round trip, and the get by both of its.
        assert_eq!([now[0] - before[0], now[1] - before[1]], [1, 2]);
    });
}

#[test]
fn keys_are_read_one_by_one_without_the_right_to_mget() {
    somewhere(|server| {
        let cache = reads_through(server.url());
        let names = names(20);
        cache.set_many(names.iter().zip(0_usize..)).unwrap();
        server
            .ask::<redis::Value>("ACL SETUSER default -mget")
            .unwrap();
        assert_eq!(cache.get_many::<usize, _>(&names).unwrap().len(), 20);
    });
}

#[test]
fn a_write_is_stored_once_without_the_right_to_mget() {
    somewhere(|server| {
        let cache = reads_through(server.url());
        cache.set("warm", &0).unwrap();
        server
            .ask::<redis::Value>("ACL SETUSER default -mget")
            .unwrap();
        let [before] = executed(&server, ["set"]);
        for value in 0..5 {
            cache.set("k", &value).unwrap();
            assert_eq!(cache.get("k").unwrap(), Some(value));
        }
        let [after] = executed(&server, ["set"]);
        // The process tells who lives here now and then, by another SET.
        assert!((5..=6).contains(&(after - before)), "{}", after - before);
    });
}

#[test]
fn what_another_program_keeps_in_a_type_of_its_own_is_missed() {
    somewhere(|server| {
        let cache = reads_through(server.url());
        cache.set("warm", &0).unwrap();
        server
            .ask::<redis::Value>("HSET polycache:::k field value")
            .unwrap();
        assert_eq!(cache.get::<u64>("k").unwrap(), None);
        assert!(!cache.has("k").unwrap());
        assert_eq!(cache.ttl("k").unwrap(), None);
    });
}

#[test]
fn many_keys_are_not_read_at_a_replica() {
    everywhere(|server| {
        let cache = reads_through(server.url());
        let names = names(100);
        cache.set_many(names.iter().zip(0_usize..)).unwrap();
        let found = || cache.get_many::<usize, _>(&names).unwrap().len();
        server.ask::<redis::Value>("REPLICAOF 127.0.0.1 1").unwrap();
        assert_eq!(found(), 0);
        server.ask::<redis::Value>("REPLICAOF NO ONE").unwrap();
        until("they are read again", || found() == 100);
    });
}

#[test]
fn without_a_server_many_keys_are_missed_and_writes_report() {
    let url = "redis://127.0.0.1:1".to_owned();
    let options = options(url).timeout(SECOND / 10);
    let cache = options.build().unwrap();
    let names = names(1000);
    assert!(cache.get_many::<usize, _>(&names).unwrap().is_empty());
    let stored = cache.set_many(names.iter().zip(0_usize..));
    assert_eq!(stored.unwrap_err().code(), "remote_unavailable");
    let deleted = cache.delete_many(&names);
    assert_eq!(deleted.unwrap_err().code(), "remote_unavailable");
    assert_eq!(cache.stats().unwrap().misses, 1000);
}
