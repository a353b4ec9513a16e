//! Loads and locks of several hosts, and counting.

use crate::hosts::{everywhere, host, listens, options, somewhere, Host, SECOND};
use polycache::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Barrier;
use std::time::Duration;
use tempfile::TempDir;

#[test]
fn one_caller_in_the_cluster_loads() {
    everywhere(|server| {
        let hosts: Vec<Host> = (0..3).map(|_| host(server.url())).collect();
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
        let one = host(server.url());
        let mut plain = server.plain();
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
fn a_lock_is_the_clusters() {
    everywhere(|server| {
        let (one, other) = (host(server.url()), host(server.url()));
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
        let hosts: Vec<Host> = (0..3).map(|_| host(server.url())).collect();
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
