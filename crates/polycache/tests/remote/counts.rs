//! What the machine counts of caches with a server.

use crate::hosts::{host, listens, options, somewhere};
use crate::process::until;
use polycache::Error;
use std::sync::Barrier;

#[test]
fn the_machine_counts_what_programs_did_and_not_what_their_copies_did() {
    somewhere(|server| {
        let one = host(server.url());
        one.cache.set("k", "v").unwrap();
        listens(&one.cache);
        for _ in 0..10 {
            assert_eq!(one.cache.get("k").unwrap(), Some("v".to_owned()));
        }
        assert_eq!(one.cache.get::<String>("absent").unwrap(), None);
        let loaded: String = one
            .cache
            .get_or_set("loaded", || Ok::<_, Error>("l".to_owned()))
            .unwrap();
        assert_eq!(loaded, "l");
        assert!(one.cache.delete("k").unwrap());
        let other = options(server.url())
            .path(one.directory.path())
            .build()
            .unwrap();
        assert_eq!(other.get("loaded").unwrap(), Some("l".to_owned()));
        let (own, others) = (one.cache.stats().unwrap(), other.stats().unwrap());
        let (near, far) = (
            one.cache.remote_stats().unwrap(),
            other.remote_stats().unwrap(),
        );
        other.close();
        let all = one
            .cache
            .machine_stats()
            .unwrap()
            .expect("it has a directory");
        // `listens` read, too, and both handles did what they say.
        assert_eq!(all.hits, own.hits + others.hits);
        assert_eq!(all.misses, own.misses + others.misses);
        assert_eq!(
            (all.writes, all.deletes, all.loads, all.failed_loads),
            (2, 1, 1, 0)
        );
        assert_eq!(all.near_hits, near.near_hits + far.near_hits);
        assert_eq!(all.remote_hits, near.remote_hits + far.remote_hits);
        assert!(all.round_trips >= near.round_trips + far.round_trips);
        assert_eq!((all.faults, all.last_fault_at, all.last_open_at), (0, 0, 0));
        assert_eq!(all.processes[0].writes, 2);
    });
}

#[test]
fn a_caller_that_joined_is_a_hit_of_its_own_kind() {
    somewhere(|server| {
        let one = host(server.url());
        let mut rounds = 0;
        // A caller that comes too late is answered by a copy, or by the server.
        until("a caller joins", || {
            rounds += 1;
            let (key, both) = (format!("k{rounds}"), Barrier::new(2));
            std::thread::scope(|scope| {
                let first = scope.spawn(|| {
                    one.cache.get_or_set(&key, || {
                        both.wait();
                        (0..1000).for_each(|_| std::thread::yield_now());
                        Ok::<_, Error>(rounds)
                    })
                });
                both.wait();
                let second = one.cache.get_or_set(&key, || Ok::<_, Error>(0));
                let first = first.join().expect("it does not panic");
                assert_eq!((first.unwrap(), second.unwrap()), (rounds, rounds));
            });
            one.cache.remote_stats().unwrap().joined_hits > 0
        });
        let joined = one.cache.remote_stats().unwrap().joined_hits;
        let all = one
            .cache
            .machine_stats()
            .unwrap()
            .expect("it has a directory");
        assert_eq!(
            (all.joined_hits, all.hits, all.loads),
            (joined, rounds, rounds)
        );
    });
}

#[test]
fn a_loader_that_fails_and_a_server_that_is_gone_are_counted() {
    somewhere(|mut server| {
        let one = host(server.url());
        let failed = one.cache.get_or_set("k", || Err::<String, _>("no"));
        assert!(failed.is_err());
        server.kill();
        until("the breaker opens", || {
            let _ = one.cache.set("k", "v");
            one.cache.remote_stats().unwrap().is_open
        });
        let all = one
            .cache
            .machine_stats()
            .unwrap()
            .expect("it has a directory");
        assert_eq!((all.loads, all.failed_loads), (1, 1));
        assert_eq!(all.faults, one.cache.remote_stats().unwrap().faults);
        assert!(all.faults > 0 && all.last_fault_at > 1_600_000_000_000);
        assert!(all.last_open_at >= all.last_fault_at);
    });
}
