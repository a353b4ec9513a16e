//! The memory tier over copies of what a server holds: objects, each served while its copy would be.

use crate::hosts::{everywhere, host_with, listens, options, somewhere, SECOND};
use crate::process::until;
use crate::server::{Server, PROGRAMS};
use polycache::{Builder, Cache, Error, Remote, TypedCache};
use polycache_check_proxy::{Proxy, Side};
use std::time::Duration;
use tempfile::TempDir;

/// A cache, and its directory if it has one.
struct Reader {
    cache: Cache,
    typed: TypedCache<String>,
    _directory: Option<TempDir>,
}

impl Reader {
    fn get(&self, key: &str) -> Option<String> {
        self.typed.get(key).unwrap()
    }

    /// Reads that memory answered.
    fn hits(&self) -> u64 {
        self.typed.memory_stats().hits
    }

    /// Reads the key until memory answers it.
    fn keeps(&self, key: &str, value: &str) {
        until("memory has it", || {
            let before = self.hits();
            assert_eq!(self.get(key).as_deref(), Some(value));
            self.hits() > before
        });
    }
}

fn with_directory(builder: Builder) -> Reader {
    let host = host_with(builder);
    Reader {
        typed: host.cache.typed().unwrap(),
        cache: host.cache,
        _directory: Some(host.directory),
    }
}

fn without_directory(builder: Builder) -> Reader {
    let cache = builder.build().unwrap();
    Reader {
        typed: cache.typed().unwrap(),
        cache,
        _directory: None,
    }
}

/// A process with a directory, and one without.
const READERS: [fn(Builder) -> Reader; 2] = [with_directory, without_directory];

/// Runs with each, beside another host.
fn each(remote: impl Fn() -> Remote, check: impl Fn(Reader, Cache)) {
    for reader in READERS {
        let reader = reader(options(remote()));
        listens(&reader.cache);
        check(reader, options(remote()).build().unwrap());
    }
}

#[test]
fn what_memory_has_is_not_asked_for() {
    everywhere(|server| {
        each(
            || server.url().into(),
            |reader, far| {
                far.set("k", "first").unwrap();
                reader.keeps("k", "first");
                let (hits, before) = (reader.hits(), reader.cache.remote_stats().unwrap());
                for _ in 0..100 {
                    assert_eq!(reader.get("k").as_deref(), Some("first"));
                }
                let after = reader.cache.remote_stats().unwrap();
                assert_eq!(reader.hits(), hits + 100);
                assert_eq!(after.near_hits, before.near_hits);
                assert_eq!(after.remote_hits, before.remote_hits);
            },
        );
    });
}

#[test]
fn any_change_ends_what_memory_has() {
    everywhere(|server| {
        each(
            || server.url().into(),
            |reader, far| {
                let sees = |what: &str, value: Option<&str>| {
                    until(what, || reader.get("k").as_deref() == value);
                };
                far.set("k", "first").unwrap();
                reader.keeps("k", "first");
                far.set("k", "second").unwrap();
                sees("another host's write", Some("second"));
                reader.keeps("k", "second");
                // Its own is seen at once.
                reader.cache.set("k", "mine").unwrap();
                assert_eq!(reader.get("k").as_deref(), Some("mine"));
                reader.keeps("k", "mine");
                assert!(reader.cache.delete("k").unwrap());
                assert_eq!(reader.get("k"), None);
                reader.cache.set("k", "again").unwrap();
                reader.keeps("k", "again");
                far.delete("k").unwrap();
                sees("another host's delete", None);
                far.set("k", "to be cleared").unwrap();
                sees("it is back", Some("to be cleared"));
                reader.keeps("k", "to be cleared");
                far.clear().unwrap();
                sees("another host's clear", None);
                far.set("k", "to be flushed").unwrap();
                sees("it is back", Some("to be flushed"));
                reader.keeps("k", "to be flushed");
                server.ask::<redis::Value>("FLUSHALL").unwrap();
                sees("a flush", None);
                far.set("k", "of another database").unwrap();
                sees("the database after it", Some("of another database"));
                listens(&reader.cache);
                reader.keeps("k", "of another database");
            },
        );
    });
}

#[test]
fn a_namespace_has_its_own() {
    somewhere(|server| {
        for reader in READERS {
            let reader = reader(options(server.url()));
            listens(&reader.cache);
            let parts = ["one", "other"];
            let [one, other] = parts.map(|part| reader.typed.namespace(part).unwrap());
            one.set("k", &"1".to_owned()).unwrap();
            other.set("k", &"2".to_owned()).unwrap();
            until("both are in memory", || {
                let before = [one.memory_stats().hits, other.memory_stats().hits];
                assert_eq!(one.get("k").unwrap().as_deref(), Some("1"));
                assert_eq!(other.get("k").unwrap().as_deref(), Some("2"));
                one.memory_stats().hits > before[0] && other.memory_stats().hits > before[1]
            });
            // By a handle that has no objects of its own.
            reader.cache.namespace("one").unwrap().clear().unwrap();
            assert_eq!(one.get("k").unwrap(), None);
            assert_eq!(other.get("k").unwrap().as_deref(), Some("2"));
        }
    });
}

#[test]
fn without_news_memory_serves_for_max_staleness_at_most() {
    somewhere(|server| {
        for reader in READERS {
            let proxy = Proxy::new(server.port).unwrap();
            let builder = options(proxy.url()).timeout(Duration::from_millis(300));
            let reader = reader(builder);
            let far = options(server.url()).build().unwrap();
            far.set("k", "old").unwrap();
            listens(&reader.cache);
            reader.keeps("k", "old");
            proxy.hang(Side::All, true);
            far.set("k", "new").unwrap();
            until("it is served no longer", || reader.get("k").is_none());
            // It does not come back before the server does.
            for _ in 0..20 {
                assert_eq!(reader.get("k"), None);
            }
            let loaded = reader
                .typed
                .get_or_set("k", || Ok::<_, Error>("own".into()));
            assert_eq!(loaded.unwrap(), "own");
            proxy.hang(Side::All, false);
            until("the server is back", || reader.get("k").is_some());
            assert_eq!(reader.get("k").as_deref(), Some("new"));
        }
    });
}

#[test]
fn without_staleness_memory_serves_nothing() {
    somewhere(|server| {
        for reader in READERS {
            let reader = reader(options(server.url()).max_staleness(Duration::ZERO));
            let far = options(server.url()).build().unwrap();
            for number in 0..50 {
                far.set("k", &number.to_string()).unwrap();
                assert_eq!(reader.get("k"), Some(number.to_string()));
                assert_eq!(reader.get("k"), Some(number.to_string()));
            }
            assert_eq!(reader.hits(), 0);
        }
    });
}

/// Copies are as old as the leader says, and another process may be content with older ones than this.
#[test]
fn memory_serves_by_the_readers_own_max_staleness() {
    somewhere(|server| {
        let proxy = Proxy::new(server.port).unwrap();
        let leader = host_with(options(proxy.url()).max_staleness(SECOND * 60));
        listens(&leader.cache);
        let cache = options(server.url())
            .path(leader.directory.path())
            .max_staleness(Duration::from_millis(400))
            .build()
            .unwrap();
        let reader = Reader {
            typed: cache.typed().unwrap(),
            cache,
            _directory: None,
        };
        let far = options(server.url()).build().unwrap();
        far.set("k", "old").unwrap();
        until("it is there", || reader.get("k").is_some());
        reader.keeps("k", "old");
        // The leader hears of nothing, and waits for a minute before it says so.
        proxy.hang(Side::Listening, true);
        far.set("k", "new").unwrap();
        until("the server is asked", || {
            reader.get("k").as_deref() == Some("new")
        });
    });
}

/// The copy of another database is that of another key, although it still stands in the directory.
#[test]
fn another_database_ends_what_memory_has() {
    let mut servers = PROGRAMS.into_iter().filter_map(Server::start);
    let (Some(server), Some(second)) = (servers.next(), servers.next()) else {
        return;
    };
    let proxy = Proxy::new(server.port).unwrap();
    let host = host_with(options(proxy.url()).timeout(SECOND));
    let reader = Reader {
        typed: host.cache.typed().unwrap(),
        cache: host.cache.clone(),
        _directory: None,
    };
    let [far, other] = [&server, &second].map(|server| options(server.url()).build().unwrap());
    for key in ["asked", "k"] {
        far.set(key, "of the first").unwrap();
        other.set(key, "of the second").unwrap();
    }
    // Another process of the host uses the second server, and hears of its writes.
    let leader = options(second.url())
        .path(host.directory.path())
        .build()
        .unwrap();
    listens(&leader);
    listens(&reader.cache);
    reader.keeps("k", "of the first");
    // The address is the second one's from now on. The reader's own listener is not armed again, and
    // so removes no copies.
    proxy.hang(Side::Listening, true);
    proxy.lead_to(second.port);
    proxy.cut(Side::All);
    // This voids the copy of the key that is asked for, and no other.
    until("the second one is read", || {
        reader.get("asked").as_deref() == Some("of the second")
    });
    reader.keeps("asked", "of the second");
    assert_eq!(reader.get("k").as_deref(), Some("of the second"));
    reader.keeps("k", "of the second");
}

/// A small tier evicts copies; an object may not outlive what a read of the server has found since.
#[test]
fn evicted_copies_leave_no_older_objects() {
    somewhere(|server| {
        let proxy = Proxy::new(server.port).unwrap();
        // News come late: until then only the reads themselves can tell.
        proxy.delay(Side::Listening, Duration::from_millis(150));
        let reader = without_directory(options(proxy.url()).max_entries(8));
        let far = options(server.url()).build().unwrap();
        listens(&reader.cache);
        let others: Vec<String> = (0..32).map(|number| format!("other {number}")).collect();
        for other in &others {
            far.set(other, "x").unwrap();
        }
        far.set("k", "0").unwrap();
        let read = |key: &str| reader.cache.get::<String>(key).unwrap();
        let mut evicted = 0;
        for round in 1..=10 {
            let value = round.to_string();
            until("it is heard of", || {
                reader.get("k") == Some((round - 1).to_string())
            });
            reader.keeps("k", &(round - 1).to_string());
            // Each twice, or more, so that the tier takes them for more useful than a key that rests.
            for _ in 0..3 {
                for other in &others {
                    (0..3).for_each(|_| drop(read(other)));
                }
            }
            far.set("k", &value).unwrap();
            if read("k").as_deref() == Some(&value) {
                evicted += 1;
                assert_eq!(reader.get("k").as_deref(), Some(value.as_str()));
            }
        }
        assert!(evicted > 0, "no copy was evicted");
    });
}

#[test]
fn a_closed_cache_serves_nothing_from_memory() {
    somewhere(|server| {
        each(
            || server.url().into(),
            |reader, far| {
                far.set("k", "v").unwrap();
                reader.keeps("k", "v");
                reader.cache.close();
                let closed = reader.typed.get("k").unwrap_err();
                assert_eq!(closed.code(), "closed");
            },
        );
    });
}

#[test]
fn an_entry_in_memory_expires() {
    somewhere(|server| {
        each(
            || server.url().into(),
            |reader, far| {
                far.set_with_ttl("k", "v", Duration::from_millis(1500))
                    .unwrap();
                reader.keeps("k", "v");
                until("it expires", || reader.get("k").is_none());
            },
        );
    });
}

#[test]
fn the_machine_counts_hits_of_memory() {
    somewhere(|server| {
        let reader = with_directory(options(server.url()));
        reader.cache.set("k", "v").unwrap();
        listens(&reader.cache);
        reader.keeps("k", "v");
        let before = reader.cache.machine_stats().unwrap().unwrap().memory_hits;
        for _ in 0..1000 {
            reader.get("k");
        }
        let after = reader.cache.machine_stats().unwrap().unwrap().memory_hits;
        // Added from time to time.
        assert!((500..=1100).contains(&(after - before)), "{before} {after}");
    });
}
