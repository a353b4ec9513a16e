//! The remote tier on real servers: two caches with a directory each are two hosts.

#[path = "remote/proxy.rs"]
mod proxy;
#[path = "remote/server.rs"]
mod server;

use polycache::{Builder, Cache, Error};
use proxy::Proxy;
use server::{Server, PROGRAMS};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SECOND: Duration = Duration::from_secs(1);
/// How long a test waits for what must come to pass.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs on every server that is installed.
fn everywhere(check: impl Fn(Server)) {
    PROGRAMS
        .into_iter()
        .filter_map(Server::start)
        .for_each(check);
}

/// Runs on the first server that is installed.
fn somewhere(check: impl FnOnce(Server)) {
    if let Some(server) = PROGRAMS.into_iter().find_map(Server::start) {
        check(server);
    }
}

struct Host {
    directory: TempDir,
    cache: Cache,
}

fn options(url: &str) -> Builder {
    // Machines are slow at times, and a command that waits for its turn is no fault.
    Cache::builder().remote(url).timeout(SECOND * 5)
}

fn host(url: &str) -> Host {
    let directory = TempDir::new().expect("a directory");
    let cache = options(url)
        .path(directory.path())
        .build()
        .expect("it opens");
    Host { directory, cache }
}

/// Waits until a condition holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until a cache serves copies.
fn listens(cache: &Cache) {
    until("it listens", || {
        cache.get::<String>("anything").expect("a read");
        cache.remote_stats().expect("it is remote").listens
    });
}

fn plain(server: &Server) -> redis::Connection {
    let client = redis::Client::open(server.url()).expect("a URL");
    client.get_connection().expect("it answers")
}

#[test]
fn what_one_host_writes_another_reads() {
    everywhere(|server| {
        let (one, other) = (host(&server.url()), host(&server.url()));
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
        let one = host(&server.url());
        let mut plain = plain(&server);
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
        let (one, other) = (host(&server.url()), host(&server.url()));
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
fn one_caller_in_the_cluster_loads() {
    everywhere(|server| {
        let hosts: Vec<Host> = (0..3).map(|_| host(&server.url())).collect();
        for host in &hosts {
            listens(&host.cache);
        }
        let loads = AtomicU32::new(0);
        let barrier = Barrier::new(hosts.len() * 4);
        std::thread::scope(|scope| {
            for host in &hosts {
                for _ in 0..4 {
                    scope.spawn(|| {
                        barrier.wait();
                        let loaded = host.cache.get_or_set("k", || {
                            loads.fetch_add(1, Ordering::Relaxed);
                            std::thread::sleep(Duration::from_millis(200));
                            Ok::<_, Error>("loaded".to_owned())
                        });
                        assert_eq!(loaded.unwrap(), "loaded");
                    });
                }
            }
        });
        assert_eq!(loads.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_plain_write_during_a_load_wins() {
    everywhere(|server| {
        let one = host(&server.url());
        let mut plain = plain(&server);
        let loaded = one.cache.get_or_set("k", || {
            redis::cmd("DEL")
                .arg("polycache:::k")
                .exec(&mut plain)
                .unwrap();
            Ok::<_, Error>("old".to_owned())
        });
        assert_eq!(loaded.unwrap(), "old");
        assert_eq!(one.cache.get::<String>("k").unwrap(), None);
        assert_eq!(one.cache.stats().unwrap().invalidated_loads, 1);
    });
}

#[test]
fn processes_of_a_host_share_copies_and_one_listens() {
    somewhere(|server| {
        let one = host(&server.url());
        listens(&one.cache);
        one.cache.set("k", "v").unwrap();
        assert_eq!(one.cache.get("k").unwrap(), Some("v".to_owned()));
        let same = options(&server.url())
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
                .query(&mut plain(&server))
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
    let one = host(&server.url());
    one.cache.set("k", "here").unwrap();
    listens(&one.cache);
    assert_eq!(one.cache.get("k").unwrap(), Some("here".to_owned()));
    let other = options(&second.url())
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
        let proxy = Proxy::new(server.port);
        let directory = TempDir::new().unwrap();
        let cache = Cache::builder()
            .remote(proxy.url())
            .path(directory.path())
            .timeout(Duration::from_millis(300))
            .build()
            .unwrap();
        cache.set("k", "v").unwrap();
        listens(&cache);
        proxy.hang(true);
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
        proxy.hang(false);
        until("it is back", || cache.set("k", "back").is_ok());
        until("reads are back", || {
            cache.get::<String>("k").unwrap().as_deref() == Some("back")
        });
        listens(&cache);
    });
}

#[test]
fn a_connection_that_is_cut_is_armed_anew() {
    somewhere(|server| {
        let proxy = Proxy::new(server.port);
        let near = host(&proxy.url());
        let far = host(&server.url());
        near.cache.set("k", "0").unwrap();
        listens(&near.cache);
        for round in 1..=5 {
            proxy.cut();
            far.cache.set("k", &round.to_string()).unwrap();
            until("the write is read", || {
                near.cache.get::<String>("k").unwrap() == Some(round.to_string())
            });
            listens(&near.cache);
        }
    });
}

#[test]
fn the_first_operation_of_a_process_voids_what_others_of_the_host_serve() {
    somewhere(|server| {
        let proxy = Proxy::new(server.port);
        let directory = TempDir::new().unwrap();
        let far = host(&server.url());
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
            proxy.hang(true);
            first(&opened(&server.url(), staleness), &far.cache);
            let found = read(&serving);
            proxy.hang(false);
            assert_ne!(found.as_deref(), Some("old"), "{name}, {staleness:?}");
        }
    });
}

#[test]
fn a_loader_may_ask_another_database_of_its_directory_for_the_same_key() {
    somewhere(|server| {
        let directory = TempDir::new().unwrap();
        let opened = |url: &str, prefix| {
            options(url)
                .path(directory.path())
                .prefix(prefix)
                .wait_timeout(SECOND / 10)
                .build()
                .unwrap()
        };
        let cache = opened(&server.url(), "one");
        for other in [
            opened(&server.url(), "other"),
            opened(&format!("{}/1", server.url()), "one"),
        ] {
            cache.delete("k").unwrap();
            let found = cache.get_or_set("k", || {
                let inner = other.get_or_set("k", || Ok::<_, Error>("inner".to_owned()))?;
                Ok::<_, Error>(format!("{inner}, outer"))
            });
            assert_eq!(found.unwrap(), "inner, outer");
            assert_eq!(other.stats().unwrap().wait_timeouts, 0);
            assert_eq!(other.get("k").unwrap(), Some("inner".to_owned()));
        }
    });
}

#[test]
fn an_error_says_what_the_server_said() {
    somewhere(|server| {
        let one = host(&server.url());
        let mut plain = plain(&server);
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
fn a_server_that_comes_back_empty_empties_the_copies() {
    somewhere(|mut server| {
        let one = host(&server.url());
        one.cache.set("k", "v").unwrap();
        listens(&one.cache);
        assert_eq!(one.cache.get("k").unwrap(), Some("v".to_owned()));
        server.stop();
        server.start_again();
        until("the copy is gone", || {
            one.cache.get::<String>("k").unwrap().is_none()
        });
        until("it can be written", || one.cache.set("k", "w").is_ok());
        listens(&one.cache);
        assert_eq!(one.cache.get("k").unwrap(), Some("w".to_owned()));
    });
}

#[test]
fn a_user_who_may_not_track_reads_through() {
    somewhere(|server| {
        let acl =
            "ACL SETUSER limited on >secret ~polycache* +@all -client|tracking -client|setinfo";
        let mut setting = redis::Cmd::new();
        acl.split(' ').for_each(|word| {
            setting.arg(word);
        });
        if setting.exec(&mut plain(&server)).is_err() {
            return; // No rights for parts of a command before Redis 7.
        }
        let one = host(&format!("redis://limited:secret@127.0.0.1:{}", server.port));
        one.cache.set("k", "v").unwrap();
        until("it says so", || {
            assert_eq!(one.cache.get("k").unwrap(), Some("v".to_owned()));
            one.cache.remote_stats().unwrap().refuses_tracking
        });
        assert!(!one.cache.remote_stats().unwrap().listens);
    });
}

#[test]
fn a_lock_is_the_clusters() {
    everywhere(|server| {
        let (one, other) = (host(&server.url()), host(&server.url()));
        let (mine, theirs) = (one.cache.lease("rebuild"), other.cache.lease("rebuild"));
        assert!(mine.acquire(Duration::ZERO).unwrap());
        assert!(theirs.locked().unwrap() && !theirs.acquire(Duration::ZERO).unwrap());
        mine.release();
        assert!(theirs.acquire(Duration::ZERO).unwrap());
        assert_eq!(one.cache.keys("").count(), 0);
    });
}

#[test]
fn counting_loses_nothing() {
    somewhere(|server| {
        let hosts: Vec<Host> = (0..3).map(|_| host(&server.url())).collect();
        std::thread::scope(|scope| {
            for host in &hosts {
                scope.spawn(|| {
                    for _ in 0..100 {
                        host.cache.increment("n", 1).unwrap();
                    }
                });
            }
        });
        assert_eq!(hosts[0].cache.get("n").unwrap(), Some(300));
    });
}

#[test]
fn keys_that_look_like_patterns_are_found() {
    somewhere(|server| {
        let one = host(&server.url());
        for key in ["a*", "a?b", "a[b]", "a\\", "a^", "b"] {
            one.cache.set(key, &1).unwrap();
        }
        let mut found: Vec<_> = one.cache.keys("a").map(Result::unwrap).collect();
        found.sort();
        assert_eq!(
            found,
            [
                b"a*".to_vec(),
                b"a?b".to_vec(),
                b"a[b]".to_vec(),
                b"a\\".to_vec(),
                b"a^".to_vec()
            ]
        );
    });
}

#[test]
fn bad_options_are_refused() {
    let refused = |builder: Builder| builder.build().unwrap_err().code();
    let url = "redis://127.0.0.1:1";
    let with = || Cache::builder().remote(url);
    for builder in [
        Cache::builder().remote("http://127.0.0.1"),
        Cache::builder().timeout(SECOND),
        Cache::builder().max_staleness(SECOND),
        Cache::builder().prefix("p"),
        with().timeout(Duration::ZERO),
        with().timeout(SECOND * 61),
        with().max_staleness(Duration::from_millis(9)),
        with().prefix(""),
        with().prefix("a{b}"),
    ] {
        assert_eq!(refused(builder), "invalid_argument");
    }
    let secret = Cache::builder()
        .remote("redis//user:secret@host")
        .build()
        .unwrap_err();
    assert!(!secret.to_string().contains("secret"), "{secret}");
    assert!(!format!("{:?}", with()).contains("127"));
}

#[test]
fn a_handle_that_is_dropped_leaves_no_thread() {
    somewhere(|server| {
        let before = Arc::new(());
        for _ in 0..3 {
            let one = host(&server.url());
            listens(&one.cache);
        }
        drop(before);
        let connected = || -> usize {
            let list: String = redis::cmd("CLIENT")
                .arg("LIST")
                .query(&mut plain(&server))
                .unwrap();
            list.lines().count()
        };
        // The connection that asks.
        until("all connections are closed", || connected() == 1);
    });
}

/// Sends the words of a line.
fn command(server: &Server, line: &str) -> redis::RedisResult<redis::Value> {
    let mut command = redis::Cmd::new();
    line.split_whitespace().for_each(|word| {
        command.arg(word);
    });
    command.query(&mut plain(server))
}

/// The rights that docs/remote.md tells to give.
#[test]
fn the_least_rights_are_enough() {
    let page = include_str!("../../../docs/remote.md");
    let rights = page
        .split("```\nACL SETUSER")
        .nth(1)
        .expect("the page tells them");
    let rights = rights.split("```").next().expect("they end");
    everywhere(|server| {
        command(&server, &format!("ACL SETUSER {rights}")).expect("they are rights");
        let url = format!("redis://cache:secret@127.0.0.1:{}", server.port);
        let (one, other) = (host(&url), host(&url));
        listens(&one.cache);
        listens(&other.cache);
        one.cache.set_with_ttl("k", &1, SECOND * 60).unwrap();
        assert_eq!(other.cache.get("k").unwrap(), Some(1));
        assert!(one.cache.add("new", &1).unwrap() && !other.cache.add("new", &1).unwrap());
        assert_eq!(other.cache.increment("k", 1).unwrap(), 2);
        assert_eq!(
            one.cache
                .get_or_set("loaded", || Ok::<_, Error>(3))
                .unwrap(),
            3
        );
        assert_eq!(other.cache.keys("").count(), 3);
        let lock = one.cache.lease("lock");
        assert!(lock.acquire(Duration::ZERO).unwrap());
        assert!(other.cache.lease("lock").locked().unwrap());
        assert!(one.cache.delete("new").unwrap());
        one.cache.clear().unwrap();
        until("the clear is heard of", || {
            other.cache.get::<i64>("k").unwrap().is_none()
        });
        let stats = other.cache.remote_stats().unwrap();
        assert_eq!(
            (stats.faults, stats.refuses_tracking),
            (0, false),
            "{stats:?}"
        );
    });
}

#[test]
fn a_server_without_memory_serves_what_it_has() {
    everywhere(|server| {
        let one = host(&server.url());
        one.cache.set("k", "v").unwrap();
        listens(&one.cache);
        command(&server, "CONFIG SET maxmemory 1").unwrap();
        let refused = one.cache.set("k", "w").unwrap_err();
        assert!(refused.to_string().contains("OOM"), "{refused}");
        assert_eq!(
            one.cache.get_or_set("other", || Ok::<_, Error>(1)).unwrap(),
            1
        );
        assert_eq!(one.cache.get("k").unwrap(), Some("v".to_owned()));
        assert!(!one.cache.remote_stats().unwrap().is_open);
        command(&server, "CONFIG SET maxmemory 0").unwrap();
        one.cache.set("k", "w").unwrap();
        assert_eq!(one.cache.get("k").unwrap(), Some("w".to_owned()));
    });
}

#[test]
fn a_replica_is_not_read() {
    everywhere(|server| {
        let one = host(&server.url());
        one.cache.set("k", "v").unwrap();
        command(&server, "REPLICAOF 127.0.0.1 1").unwrap();
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
        command(&server, "REPLICAOF NO ONE").unwrap();
        until("it is written again", || one.cache.set("k", "w").is_ok());
        until("it is read again", || {
            one.cache.get("k").unwrap() == Some("w".to_owned())
        });
    });
}

/// A process that does not listen itself voids the copies that others of its host serve, whose database that is now.
#[test]
fn after_a_flush_a_process_that_only_writes_voids_the_copies_that_are_served() {
    somewhere(|server| {
        let reader = host(&server.url());
        let shared = || options(&server.url()).path(reader.directory.path());
        let writers = [
            shared().build().unwrap(),
            shared().max_staleness(Duration::ZERO).build().unwrap(),
        ];
        listens(&reader.cache);
        for round in 0..20 {
            for writer in &writers {
                writer.set("k", &0).unwrap();
                command(&server, "FLUSHALL").unwrap();
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

/// With the policy that docs/remote.md tells to set, a full server evicts entries, and never what remembers a clear.
#[test]
fn a_full_server_evicts_entries_and_keeps_clears() {
    everywhere(|server| {
        let one = host(&server.url());
        let shop = one.cache.namespace("shop").unwrap();
        shop.set("before", &vec![1_u8; 1000]).unwrap();
        shop.clear().unwrap();
        command(&server, "CONFIG SET maxmemory-policy volatile-lru").unwrap();
        command(&server, "CONFIG SET maxmemory 6mb").unwrap();
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
            let there = command(&server, &format!("EXISTS {key}")).unwrap();
            assert_eq!(there, redis::Value::Int(1), "{key}");
        }
    });
}
