//! Copies on a host, and what ends them.

use crate::hosts::{everywhere, host, listens, options, somewhere, SECOND};
use crate::process::until;
use crate::server::{Server, PROGRAMS};
use polycache::{Cache, Error};
use polycache_check_proxy::{Proxy, Side};
use std::time::Duration;
use tempfile::TempDir;

#[test]
fn what_one_host_writes_another_reads() {
    everywhere(|server| {
        let (one, other) = (host(server.url()), host(server.url()));
        one.cache.set("k", "first").unwrap();
        assert_eq!(other.cache.get("k").unwrap(), Some("first".to_owned()));
        listens(&other.cache);
        assert_eq!(other.cache.get("k").unwrap(), Some("first".to_owned()));
        let before = other.cache.remote_stats().unwrap();
        for _ in 0..100 {
            assert_eq!(other.cache.get("k").unwrap(), Some("first".to_owned()));
        }
        let after = other.cache.remote_stats().unwrap();
        // Copies were served; beacons go on, but no read went through.
        assert_eq!(after.remote_hits, before.remote_hits);
        assert_eq!(after.near_hits, before.near_hits + 100);
        one.cache.set("k", "second").unwrap();
        until("the other host hears of it", || {
            other.cache.get::<String>("k").unwrap().as_deref() == Some("second")
        });
        assert!(one.cache.delete("k").unwrap());
        until("the other host hears of that", || {
            other.cache.get::<String>("k").unwrap().is_none()
        });
    });
}

#[test]
fn a_foreign_program_is_heard_of() {
    everywhere(|server| {
        let one = host(server.url());
        let mut plain = server.plain();
        one.cache
            .namespace("shop")
            .unwrap()
            .set("k", "ours")
            .unwrap();
        let shop = one.cache.namespace("shop").unwrap();
        listens(&shop);
        assert_eq!(shop.get("k").unwrap(), Some("ours".to_owned()));
        let key = "polycache:shop::k";
        redis::cmd("SET")
            .arg(key)
            .arg("theirs")
            .exec(&mut plain)
            .unwrap();
        until("the foreign bytes are seen", || {
            matches!(shop.get::<String>("k"), Err(Error::MalformedEntry(_)))
        });
        redis::cmd("DEL").arg(key).exec(&mut plain).unwrap();
        until("they are gone", || {
            matches!(shop.get::<String>("k"), Ok(None))
        });
        shop.set("k", "again").unwrap();
        listens(&shop);
        redis::cmd("FLUSHALL").exec(&mut plain).unwrap();
        until("all is gone", || shop.get::<String>("k").unwrap().is_none());
        shop.set("k", "at last").unwrap();
        assert_eq!(shop.get("k").unwrap(), Some("at last".to_owned()));
    });
}

#[test]
fn a_clear_is_everybodys() {
    everywhere(|server| {
        let (one, other) = (host(server.url()), host(server.url()));
        let shop = one.cache.namespace("shop").unwrap();
        let prices = other
            .cache
            .namespace("shop")
            .unwrap()
            .namespace("prices")
            .unwrap();
        prices.set("apple", "1").unwrap();
        other.cache.set("apple", "outside").unwrap();
        listens(&prices);
        assert_eq!(prices.get("apple").unwrap(), Some("1".to_owned()));
        shop.clear().unwrap();
        until("the clear is heard of", || {
            prices.get::<String>("apple").unwrap().is_none()
        });
        assert_eq!(prices.keys("").count(), 0);
        assert_eq!(
            other.cache.get("apple").unwrap(),
            Some("outside".to_owned())
        );
        prices.set("apple", "2").unwrap();
        assert_eq!(
            shop.namespace("prices").unwrap().get("apple").unwrap(),
            Some("2".to_owned())
        );
    });
}

#[test]
fn a_clear_leaves_the_copies_of_other_namespaces() {
    somewhere(|server| {
        // Without a directory copies stand in a memory tier.
        let cache = options(server.url()).build().unwrap();
        let (one, other) = (
            cache.namespace("one").unwrap(),
            cache.namespace("other").unwrap(),
        );
        one.set("k", &1).unwrap();
        other.set("k", &2).unwrap();
        listens(&cache);
        assert_eq!(other.get("k").unwrap(), Some(2));
        one.clear().unwrap();
        let before = cache.remote_stats().unwrap();
        assert_eq!(other.get("k").unwrap(), Some(2));
        assert_eq!(one.get::<i32>("k").unwrap(), None);
        let after = cache.remote_stats().unwrap();
        assert_eq!(after.near_hits, before.near_hits + 1);
    });
}

#[test]
fn processes_of_a_host_share_copies_and_one_listens() {
    somewhere(|server| {
        let one = host(server.url());
        listens(&one.cache);
        one.cache.set("k", "v").unwrap();
        assert_eq!(one.cache.get("k").unwrap(), Some("v".to_owned()));
        let same = options(server.url())
            .path(one.directory.path())
            .build()
            .unwrap();
        until("it serves the other's copies", || {
            same.get::<String>("k").unwrap();
            same.remote_stats().unwrap().near_hits > 0
        });
        let listeners = || {
            let list: String = redis::cmd("CLIENT")
                .arg("LIST")
                .query(&mut server.plain())
                .unwrap();
            // Connections that track keys: their flags hold a t.
            let tracks = |line: &&str| {
                line.split(' ')
                    .any(|word| word.starts_with("flags=") && word.contains('t'))
            };
            list.lines().filter(tracks).count()
        };
        assert_eq!(listeners(), 1);
        drop(one.cache);
        until("the other one leads", || {
            same.get::<String>("k").unwrap();
            listeners() == 1 && same.remote_stats().unwrap().listens
        });
        assert_eq!(same.get("k").unwrap(), Some("v".to_owned()));
    });
}

#[test]
fn another_database_has_other_copies() {
    let mut servers = PROGRAMS.into_iter().filter_map(Server::start);
    let (Some(server), Some(second)) = (servers.next(), servers.next()) else {
        return;
    };
    let one = host(server.url());
    one.cache.set("k", "here").unwrap();
    listens(&one.cache);
    assert_eq!(one.cache.get("k").unwrap(), Some("here".to_owned()));
    let other = options(second.url())
        .path(one.directory.path())
        .build()
        .unwrap();
    listens(&other);
    assert_eq!(other.get::<String>("k").unwrap(), None);
    let local = Cache::builder().path(one.directory.path()).build().unwrap();
    assert_eq!(local.get::<String>("k").unwrap(), None);
    assert_eq!(local.keys("").count(), 0);
    assert_eq!(one.cache.get("k").unwrap(), Some("here".to_owned()));
}

#[test]
fn the_first_operation_of_a_process_voids_what_others_of_the_host_serve() {
    somewhere(|server| {
        let proxy = Proxy::new(server.port).unwrap();
        let directory = TempDir::new().unwrap();
        let far = host(server.url());
        let opened = |url: &str, staleness| {
            Cache::builder()
                .remote(url)
                .path(directory.path())
                .max_staleness(staleness)
                .timeout(SECOND)
                .build()
                .unwrap()
        };
        let read = |cache: &Cache| cache.get::<String>("k").unwrap();
        let serving = opened(&proxy.url(), SECOND * 60);
        type First = fn(&Cache, &Cache);
        let set: First = |new, _| new.set("k", "new").unwrap();
        let clear: First = |new, _| new.clear().unwrap();
        let load: First = |new, far| {
            far.delete("k").unwrap();
            new.get_or_set("k", || Ok::<_, Error>("new".to_owned()))
                .unwrap();
        };
        let get: First = |new, far| {
            far.set("k", "new").unwrap();
            assert_eq!(new.get("k").unwrap(), Some("new".to_owned()));
        };
        // With a second, a read might find the copy itself.
        for (name, staleness, first) in [
            ("set", Duration::ZERO, set),
            ("set", SECOND, set),
            ("clear", Duration::ZERO, clear),
            ("clear", SECOND, clear),
            ("load", Duration::ZERO, load),
            ("get", Duration::ZERO, get),
        ] {
            serving.set("k", "old").unwrap();
            listens(&serving);
            until("a copy is served", || {
                let before = serving.remote_stats().unwrap().near_hits;
                assert_eq!(read(&serving).as_deref(), Some("old"));
                serving.remote_stats().unwrap().near_hits > before
            });
            // No push comes, and V is good for a minute.
            proxy.hang(Side::All, true);
            first(&opened(&server.url(), staleness), &far.cache);
            let found = read(&serving);
            proxy.hang(Side::All, false);
            assert_ne!(found.as_deref(), Some("old"), "{name}, {staleness:?}");
        }
    });
}

/// A process that does not listen itself voids the copies that others of its host serve, whose database that is now.
#[test]
fn after_a_flush_a_process_that_only_writes_voids_the_copies_that_are_served() {
    somewhere(|server| {
        let reader = host(server.url());
        let shared = || options(server.url()).path(reader.directory.path());
        let writers = [
            shared().build().unwrap(),
            shared().max_staleness(Duration::ZERO).build().unwrap(),
        ];
        listens(&reader.cache);
        for round in 0..20 {
            for writer in &writers {
                writer.set("k", &0).unwrap();
                server.ask::<redis::Value>("FLUSHALL").unwrap();
                listens(&reader.cache);
                for number in 1..20 {
                    let number = round * 20 + number;
                    writer.set("k", &number).unwrap();
                    assert_eq!(reader.cache.get("k").unwrap(), Some(number));
                    // Served from the copy, which the next write voids.
                    assert_eq!(reader.cache.get("k").unwrap(), Some(number));
                }
            }
        }
    });
}

#[test]
fn a_connection_that_is_cut_is_armed_anew() {
    somewhere(|server| {
        let proxy = Proxy::new(server.port).unwrap();
        let near = host(proxy.url());
        let far = host(server.url());
        near.cache.set("k", "0").unwrap();
        listens(&near.cache);
        for round in 1..=5 {
            proxy.cut(Side::All);
            far.cache.set("k", &round.to_string()).unwrap();
            until("the write is read", || {
                near.cache.get::<String>("k").unwrap() == Some(round.to_string())
            });
            listens(&near.cache);
        }
    });
}

#[test]
fn a_server_that_comes_back_empty_empties_the_copies() {
    somewhere(|mut server| {
        let one = host(server.url());
        one.cache.set("k", "v").unwrap();
        listens(&one.cache);
        assert_eq!(one.cache.get("k").unwrap(), Some("v".to_owned()));
        server.kill();
        server.start_again();
        until("the copy is gone", || {
            one.cache.get::<String>("k").unwrap().is_none()
        });
        until("it can be written", || one.cache.set("k", "w").is_ok());
        listens(&one.cache);
        assert_eq!(one.cache.get("k").unwrap(), Some("w".to_owned()));
    });
}
