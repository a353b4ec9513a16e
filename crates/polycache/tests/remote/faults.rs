//! Servers that are gone, hang, refuse or are full.

use crate::hosts::{everywhere, host, listens, options, somewhere};
use crate::process::until;
use polycache::{Cache, Error};
use polycache_check_proxy::{Proxy, Side};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[test]
fn without_a_server_reads_miss_writes_report_and_loaders_run() {
    let directory = TempDir::new().unwrap();
    // Nobody listens on port 1.
    let cache = Cache::builder()
        .remote("redis://127.0.0.1:1")
        .path(directory.path())
        .build()
        .unwrap();
    assert_eq!(cache.get::<String>("k").unwrap(), None);
    for _ in 0..20 {
        let refused = cache.set("k", "v").unwrap_err();
        assert_eq!(
            (refused.code(), refused.retryable()),
            ("remote_unavailable", true)
        );
    }
    let loaded = cache.get_or_set("k", || Ok::<_, Error>("loaded".to_owned()));
    assert_eq!(loaded.unwrap(), "loaded");
    assert_eq!(cache.peek::<String>("k").unwrap(), None);
    assert!(!cache.has("k").unwrap());
    assert_eq!(cache.delete("k").unwrap_err().code(), "remote_unavailable");
    assert_eq!(
        cache.increment("n", 1).unwrap_err().code(),
        "remote_unavailable"
    );
    let stats = cache.remote_stats().unwrap();
    assert!(stats.is_open && stats.faults > 20, "{stats:?}");
    assert!(!stats.last_fault.is_empty());
    assert_eq!(cache.stats().unwrap().unstored, 1);
}

#[test]
fn a_server_that_hangs_is_given_up_within_the_timeout_and_comes_back() {
    somewhere(|server| {
        let proxy = Proxy::new(server.port).unwrap();
        let directory = TempDir::new().unwrap();
        let cache = Cache::builder()
            .remote(proxy.url())
            .path(directory.path())
            .timeout(Duration::from_millis(300))
            .build()
            .unwrap();
        cache.set("k", "v").unwrap();
        listens(&cache);
        proxy.hang(Side::All, true);
        until("copies are no longer served", || {
            cache.get::<String>("k").unwrap().is_none()
        });
        // Within the breaker's faults, each takes the timeout at most; then they fail at once.
        for _ in 0..10 {
            cache.set("k", "w").unwrap_err();
        }
        assert!(cache.remote_stats().unwrap().is_open);
        let loaded = cache.get_or_set("other", || Ok::<_, Error>(1)).unwrap();
        assert_eq!(loaded, 1);
        proxy.hang(Side::All, false);
        until("it is back", || cache.set("k", "back").is_ok());
        until("reads are back", || {
            cache.get::<String>("k").unwrap().as_deref() == Some("back")
        });
        listens(&cache);
    });
}

#[test]
fn a_load_whose_read_had_no_answer_does_not_wait_again() {
    everywhere(|server| {
        let proxy = Proxy::new(server.port).unwrap();
        let new_cache = || {
            options(proxy.url())
                .timeout(Duration::from_millis(200))
                .build()
                .unwrap()
        };
        let (known, unknown) = (new_cache(), new_cache());
        known.set("k", &0).unwrap();
        let load = |cache: &Cache, value: i32| {
            let before = cache.remote_stats().unwrap().round_trips;
            let loaded = cache.get_or_set("other", || Ok::<_, Error>(value));
            assert_eq!(loaded.unwrap(), value);
            cache.remote_stats().unwrap().round_trips - before
        };
        proxy.hang(Side::All, true);
        // The read; neither the lease nor its return. The second one does not know the database yet.
        assert_eq!((load(&known, 1), load(&unknown, 2)), (1, 1));
        assert_eq!(known.stats().unwrap().unstored, 1);
        proxy.hang(Side::All, false);
        until("it is back", || known.set("k", &1).is_ok());
        until("loads are stored", || {
            load(&known, 3);
            known.get::<i32>("other").unwrap() == Some(3)
        });
    });
}

#[test]
fn a_new_connection_to_a_server_that_hangs_takes_one_timeout() {
    somewhere(|server| {
        let _: () = server.ask("CONFIG SET requirepass secret").unwrap();
        let timeout = Duration::from_secs(2);
        let url = format!("redis://:secret@127.0.0.1:{}/1", server.port);
        let cache = options(url).timeout(timeout).build().unwrap();
        server.hang();
        let began = Instant::now();
        let failed = cache.set("k", "v");
        let took = began.elapsed();
        server.go_on();
        assert_eq!(failed.unwrap_err().code(), "remote_unavailable");
        // Each of the replies that a new connection waits for had one: no measurement, the two lie far apart.
        assert!(took < timeout * 7 / 4, "{took:?}");
    });
}

#[test]
fn connections_that_rest_do_not_add_up_the_times_that_they_are_waited_for() {
    somewhere(|server| {
        let timeout = Duration::from_millis(400);
        // Another handle listens: whoever does uses a connection all the time, which then never rests.
        let leader = host(server.url());
        listens(&leader.cache);
        let cache = options(server.url())
            .timeout(timeout)
            .path(leader.directory.path())
            .build()
            .unwrap();
        cache.set("k", "v").unwrap();
        // Each of those that wait for the server has a connection of its own.
        let started = Barrier::new(9);
        thread::scope(|scope| {
            server.hang();
            for _ in 0..8 {
                scope.spawn(|| {
                    started.wait();
                    cache.set("k", "v")
                });
            }
            started.wait();
            thread::sleep(timeout / 4);
            server.go_on();
        });
        // After this long they are tried out before they are used.
        thread::sleep(Duration::from_millis(1100));
        server.hang();
        let began = Instant::now();
        let failed = cache.set("k", "w");
        let took = began.elapsed();
        server.go_on();
        assert_eq!(failed.unwrap_err().code(), "remote_unavailable");
        // One timeout, where each connection had one: no measurement, the two lie far apart.
        assert!(took < 4 * timeout, "{took:?}");
    });
}

#[test]
fn many_keys_of_a_server_that_hangs_take_one_timeout() {
    let timeout = Duration::from_millis(400);
    everywhere(|server| {
        let proxy = Proxy::new(server.port).unwrap();
        let entries: Vec<(String, u64)> = (0..40).map(|one| (format!("k{one}"), one)).collect();
        type Call = fn(&Cache, &[(String, u64)]) -> Option<Error>;
        let calls: [Call; 4] = [
            |cache, entries| cache.set_many(entries.iter().cloned()).err(),
            |cache, entries| cache.delete_many(entries.iter().map(|one| &one.0)).err(),
            |cache, entries| {
                let found = cache.get_many::<u64, _>(entries.iter().map(|one| one.0.clone()));
                assert!(found.unwrap().is_empty());
                None
            },
            |cache, entries| cache.set(&entries[0].0, &1).err(),
        ];
        for call in calls {
            let cache = options(proxy.url()).timeout(timeout).build().unwrap();
            cache.set("k", &0).unwrap();
            proxy.hang(Side::All, true);
            let began = Instant::now();
            call(&cache, &entries);
            let took = began.elapsed();
            proxy.hang(Side::All, false);
            // One timeout, where each reply had one: no measurement, the two lie far apart for many keys.
            assert!(took < 3 * timeout, "{took:?}");
        }
    });
}

#[test]
fn an_error_says_what_the_server_said() {
    somewhere(|server| {
        let one = host(server.url());
        let mut plain = server.plain();
        for setting in [["maxmemory", "1mb"], ["maxmemory-policy", "noeviction"]] {
            redis::cmd("CONFIG")
                .arg("SET")
                .arg(&setting)
                .exec(&mut plain)
                .unwrap();
        }
        let error = one.cache.set("k", &"x".repeat(1 << 20)).err();
        let error = error.or_else(|| one.cache.set("k", "v").err()).unwrap();
        assert!(error.to_string().contains("OOM"), "{error}");
        assert!(!one.cache.remote_stats().unwrap().is_open);
    });
}

#[test]
fn a_server_without_memory_serves_what_it_has() {
    everywhere(|server| {
        let one = host(server.url());
        one.cache.set("k", "v").unwrap();
        listens(&one.cache);
        server
            .ask::<redis::Value>("CONFIG SET maxmemory 1")
            .unwrap();
        let refused = one.cache.set("k", "w").unwrap_err();
        assert!(refused.to_string().contains("OOM"), "{refused}");
        assert_eq!(
            one.cache.get_or_set("other", || Ok::<_, Error>(1)).unwrap(),
            1
        );
        assert_eq!(one.cache.get("k").unwrap(), Some("v".to_owned()));
        assert!(!one.cache.remote_stats().unwrap().is_open);
        server
            .ask::<redis::Value>("CONFIG SET maxmemory 0")
            .unwrap();
        one.cache.set("k", "w").unwrap();
        assert_eq!(one.cache.get("k").unwrap(), Some("w".to_owned()));
    });
}

#[test]
fn a_replica_is_not_read() {
    everywhere(|server| {
        let one = host(server.url());
        one.cache.set("k", "v").unwrap();
        server.ask::<redis::Value>("REPLICAOF 127.0.0.1 1").unwrap();
        until("it is no longer read", || {
            one.cache.get::<String>("k").unwrap().is_none()
        });
        assert_eq!(
            one.cache.set("k", "w").unwrap_err().code(),
            "remote_unavailable"
        );
        assert_eq!(
            one.cache
                .get_or_set("k", || Ok::<_, Error>("x".to_owned()))
                .unwrap(),
            "x"
        );
        server.ask::<redis::Value>("REPLICAOF NO ONE").unwrap();
        until("it is written again", || one.cache.set("k", "w").is_ok());
        until("it is read again", || {
            one.cache.get("k").unwrap() == Some("w".to_owned())
        });
    });
}

/// With the policy that docs/remote.md tells to set, a full server evicts entries, and never what remembers a clear.
#[test]
fn a_full_server_evicts_entries_and_keeps_clears() {
    everywhere(|server| {
        let one = host(server.url());
        let shop = one.cache.namespace("shop").unwrap();
        shop.set("before", &vec![1_u8; 1000]).unwrap();
        shop.clear().unwrap();
        server
            .ask::<redis::Value>("CONFIG SET maxmemory-policy volatile-lru")
            .unwrap();
        server
            .ask::<redis::Value>("CONFIG SET maxmemory 6mb")
            .unwrap();
        let page = "x".repeat(10_000);
        for number in 0..2000 {
            shop.set(number.to_string(), &page).unwrap();
        }
        assert_eq!(shop.get("1999").unwrap(), Some(page));
        assert!(shop.keys("").count() < 1000);
        assert_eq!(shop.get::<Vec<u8>>("before").unwrap(), None);
        for key in [
            "polycache:%floor:shop::",
            "polycache:%clock",
            "polycache:%id",
        ] {
            let there = server
                .ask::<redis::Value>(&format!("EXISTS {key}"))
                .unwrap();
            assert_eq!(there, redis::Value::Int(1), "{key}");
        }
    });
}
