//! How long replies are served, and by whom.

use crate::hosts::{everywhere, somewhere, SECOND};
use crate::process::until;
use crate::server::Server;
use crate::support::{command, failure, keeping, open, open_on_host, options, read, reads_as};
use polycache_check_proxy::{Proxy, Side};
use redis::Value;
use std::sync::Barrier;
use std::time::Duration;
use tempfile::TempDir;

#[test]
fn what_another_program_writes_deletes_expires_and_flushes_is_shown() {
    everywhere(|server| {
        let directory = TempDir::new().unwrap();
        let reads = options(&server.url())
            .path(directory.path())
            .max_staleness(SECOND * 10)
            .build()
            .unwrap();
        server.ask::<()>("SET a 1").unwrap();
        keeping(&reads, "GET a");
        for (change, then) in [
            ("SET a 2", Some("2")),
            ("APPEND a 3", Some("23")),
            ("DEL a", None),
            ("SET a 4 PX 300", Some("4")),
            ("PING", None),
            ("SET a 5", Some("5")),
            ("FLUSHALL", None),
            ("SET a 6", Some("6")),
        ] {
            server.ask::<Value>(change).unwrap();
            reads_as(&reads, "a", then);
            if then != Some("4") {
                keeping(&reads, "GET a");
            }
        }
    });
}

#[test]
fn what_a_program_itself_wrote_shows_after_forget() {
    everywhere(|server| {
        let reads = options(&server.url())
            .max_staleness(SECOND * 10)
            .build()
            .unwrap();
        keeping(&reads, "GET own");
        let mut plain = server.plain();
        for number in 0..50 {
            redis::cmd("SET")
                .arg("own")
                .arg(number)
                .exec(&mut plain)
                .unwrap();
            reads.forget(["own"]);
            assert_eq!(read::<i32>(&reads, "GET own"), number);
        }
    });
}

#[test]
fn a_read_after_forget_joins_none_that_began_before() {
    everywhere(|server| {
        let proxy = Proxy::new(server.port).unwrap();
        let reads = options(&proxy.url())
            .max_staleness(SECOND * 10)
            .build()
            .unwrap();
        keeping(&reads, "GET other");
        server.ask::<()>("SET own old").unwrap();
        server.ask::<()>("CONFIG RESETSTAT").unwrap();
        proxy.delay(Side::Data, Duration::from_millis(700));
        std::thread::scope(|scope| {
            let first = scope.spawn(|| read::<String>(&reads, "GET own"));
            until("the server has read", || {
                let calls: String = server.ask("INFO commandstats").unwrap();
                calls.contains("cmdstat_get:")
            });
            server.ask::<()>("SET own new").unwrap();
            reads.forget(["own"]);
            assert_eq!(read::<String>(&reads, "GET own"), "new");
            assert_eq!(first.join().unwrap(), "old");
        });
        assert_eq!(read::<String>(&reads, "GET own"), "new");
    });
}

#[test]
fn many_callers_make_one_round_trip() {
    everywhere(|server| {
        server.ask::<()>("RPUSH many a").unwrap();
        let proxy = Proxy::new(server.port).unwrap();
        let reads = open(&proxy.url());
        keeping(&reads, "GET other");
        server.ask::<()>("CONFIG RESETSTAT").unwrap();
        let range = command("LRANGE many 0 -1");
        // So that all have asked when the reply comes.
        proxy.delay(Side::Data, Duration::from_millis(200));
        let start = Barrier::new(100);
        std::thread::scope(|scope| {
            for _ in 0..100 {
                scope.spawn(|| {
                    start.wait();
                    assert_eq!(reads.query::<Vec<String>>(&range).unwrap(), ["a"]);
                });
            }
        });
        let calls: String = server.ask("INFO commandstats").unwrap();
        assert!(calls.contains("cmdstat_lrange:calls=1,"), "{calls}");
        let stats = reads.stats();
        assert!(stats.joined > 0, "{stats:?}");
    });
}

#[test]
fn handles_of_one_directory_share_replies() {
    somewhere(|server| {
        server.ask::<()>("SET t text").unwrap();
        let directory = TempDir::new().unwrap();
        let opened = || open_on_host(&server.url(), &directory);
        let (one, other) = (opened(), opened());
        keeping(&one, "GET t");
        keeping(&other, "GET t");
        server.ask::<()>("CONFIG RESETSTAT").unwrap();
        let strlen = command("STRLEN t");
        let start = Barrier::new(20);
        std::thread::scope(|scope| {
            for at in 0..20 {
                let reads = if at % 2 == 0 { &one } else { &other };
                let (start, strlen) = (&start, &strlen);
                scope.spawn(move || {
                    start.wait();
                    assert_eq!(reads.query::<u32>(strlen).unwrap(), 4);
                });
            }
        });
        // One by the host's lease. One that waits too long for another reads for itself, and voids the other's.
        let each = [&one, &other].map(|reads| reads.stats().uncached);
        let uncached: u64 = each.iter().map(|why| why.busy + why.refused).sum();
        let calls: String = server.ask("INFO commandstats").unwrap();
        let calls = calls.split("cmdstat_strlen:calls=").nth(1).unwrap();
        let calls: u64 = calls.split(',').next().unwrap().parse().unwrap();
        assert!(calls <= 1 + 2 * uncached, "{calls} calls, {each:?}");
        server.ask::<()>("SET t longer").unwrap();
        for reads in [&one, &other] {
            until("both hear of it", || read::<u32>(reads, "STRLEN t") == 6);
        }
    });
}

#[test]
fn what_an_older_reply_served_is_not_served_after_a_newer_one_was_seen() {
    // One host: a read that begins after another returned never returns an older reply.
    everywhere(|server| {
        let directory = TempDir::new().unwrap();
        let opened = || open_on_host(&server.url(), &directory);
        let (one, other) = (opened(), opened());
        server.ask::<()>("SET n 0").unwrap();
        keeping(&one, "GET n");
        keeping(&other, "GET n");
        let get = command("GET n");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut plain = server.plain();
                for number in 1..=2000 {
                    redis::cmd("SET")
                        .arg("n")
                        .arg(number)
                        .exec(&mut plain)
                        .unwrap();
                }
            });
            let mut last = 0;
            while last < 2000 {
                for reads in [&one, &other] {
                    let found: u32 = reads.query(&get).unwrap();
                    assert!(found >= last, "{found} after {last}");
                    last = found;
                }
            }
        });
    });
}

#[test]
fn no_hash_is_kept_whose_fields_may_expire() {
    let Some(server) = Server::start("redis-server-8") else {
        return;
    };
    server.ask::<()>("HSET h a 1 b 2").unwrap();
    let reads = options(&server.url())
        .max_staleness(SECOND * 10)
        .build()
        .unwrap();
    keeping(&reads, "HGETALL h");
    server.ask::<Value>("HPEXPIRE h 200 FIELDS 1 a").unwrap();
    until("the field has expired", || {
        !read::<Vec<String>>(&reads, "HKEYS h").contains(&"a".to_owned())
            && read::<Vec<String>>(&reads, "HGETALL h").len() == 2
    });
    server.ask::<Value>("HPEXPIRE h 100000 FIELDS 1 b").unwrap();
    until("it is not kept", || {
        let refused = reads.stats().uncached.refused;
        read::<Value>(&reads, "HGETALL h");
        reads.stats().uncached.refused > refused
    });
}

#[test]
fn more_keys_than_are_kept_as_one_are_read_and_not_kept() {
    everywhere(|server| {
        server.ask::<()>("SET k1024 last").unwrap();
        let reads = open(&server.url());
        let keys: Vec<String> = (0..1025).map(|number| format!("k{number}")).collect();
        keeping(&reads, &format!("MGET {}", keys[..1024].join(" ")));
        let refused = reads.stats().uncached.refused;
        let words = format!("MGET {}", keys.join(" "));
        for times in 1..=2 {
            let found: Vec<Option<String>> = read(&reads, &words);
            assert_eq!((found.len(), found[1024].as_deref()), (1025, Some("last")));
            assert_eq!(reads.stats().uncached.refused, refused + times);
        }
        server.ask::<()>("SET k1024 another").unwrap();
        let found: Vec<Option<String>> = read(&reads, &words);
        assert_eq!(found[1024].as_deref(), Some("another"));
    });
}

#[test]
fn errors_of_the_server_are_handed_out_and_not_kept() {
    everywhere(|server| {
        server.ask::<()>("HSET h a 1").unwrap();
        let reads = open(&server.url());
        keeping(&reads, "HGETALL h");
        for _ in 0..3 {
            let error = reads.query::<Value>(&command("GET h")).unwrap_err();
            assert_eq!((error.code(), error.retryable()), ("read_failed", false));
            assert_eq!(failure(error).code(), Some("WRONGTYPE"));
        }
        server.ask::<()>("DEL h").unwrap();
        until("it is read", || {
            reads.query::<Option<String>>(&command("GET h")).is_ok()
        });
    });
}

#[test]
fn without_a_server_the_error_is_the_clients() {
    let port = crate::process::free_ports(1)[0];
    let reads = open(&format!("redis://127.0.0.1:{port}"));
    let error = reads.query::<Value>(&command("GET k")).unwrap_err();
    assert!(error.retryable());
    assert!(failure(error).is_connection_refusal());
    assert_eq!(reads.stats().uncached.deaf, 1);
}

#[test]
fn a_server_that_hangs_is_not_waited_for_longer_than_the_timeout() {
    somewhere(|server| {
        let reads = options(&server.url())
            .timeout(Duration::from_millis(50))
            .read_timeout(Duration::from_millis(50))
            .build()
            .unwrap();
        server.ask::<()>("SET k v").unwrap();
        reads_as(&reads, "k", Some("v"));
        server.hang();
        let error = until_err(&reads);
        assert!(failure(error).is_timeout());
        server.go_on();
        until("it answers again", || {
            reads.query::<Value>(&command("GET k")).is_ok()
        });
    });
}

/// The error of reads that memory serves for a moment yet.
fn until_err(reads: &polycache::reads::CachedReads) -> polycache::Error {
    let mut failed = None;
    until("it fails", || {
        failed = reads.query::<Value>(&command("GET k")).err();
        failed.is_some()
    });
    failed.unwrap()
}

#[test]
fn a_server_that_comes_back_is_read_and_kept_again() {
    let Some(mut server) = Server::start("redis-server") else {
        return;
    };
    let reads = open(&server.url());
    server.ask::<()>("SET k first").unwrap();
    keeping(&reads, "GET k");
    server.start_again();
    reads_as_soon(&reads, None);
    server.ask::<()>("SET k second").unwrap();
    reads_as_soon(&reads, Some("second"));
    until("memory serves it", || {
        let before = reads.stats().memory_hits;
        let _ = reads.query::<Value>(&command("GET k"));
        reads.stats().memory_hits > before
    });
}

/// Errors of connections that have died are the client's.
fn reads_as_soon(reads: &polycache::reads::CachedReads, value: Option<&str>) {
    until("the value is read", || {
        let found = reads.query::<Option<String>>(&command("GET k"));
        found.is_ok_and(|found| found.as_deref() == value)
    });
}
