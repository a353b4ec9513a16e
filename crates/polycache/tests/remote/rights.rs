//! What the servers' user must be allowed.

use crate::hosts::{everywhere, host, listens, somewhere, SECOND};
use crate::process::until;
use polycache::Error;
use std::time::Duration;

#[test]
fn a_user_who_may_not_track_reads_through() {
    somewhere(|server| {
        let acl =
            "ACL SETUSER limited on >secret ~polycache* +@all -client|tracking -client|setinfo";
        let mut setting = redis::Cmd::new();
        acl.split(' ').for_each(|word| {
            setting.arg(word);
        });
        if setting.exec(&mut server.plain()).is_err() {
            return; // No rights for parts of a command before Redis 7.
        }
        let one = host(format!("redis://limited:secret@127.0.0.1:{}", server.port));
        one.cache.set("k", "v").unwrap();
        until("it says so", || {
            assert_eq!(one.cache.get("k").unwrap(), Some("v".to_owned()));
            one.cache.remote_stats().unwrap().refuses_tracking
        });
        assert!(!one.cache.remote_stats().unwrap().listens);
    });
}

/// A listener whose process was stopped reads nothing: what the server keeps for it must have a bound, and has one
/// for subscribers.
#[test]
fn what_a_server_keeps_for_a_listener_has_a_bound() {
    everywhere(|server| {
        let one = host(format!("redis://127.0.0.1:{}", server.port));
        listens(&one.cache);
        until("it subscribes", || {
            let subscribers: String = server.ask("CLIENT LIST TYPE pubsub").expect("a list");
            subscribers.lines().count() == 1
        });
    });
}

#[test]
fn a_user_who_may_not_subscribe_is_told_of_writes() {
    somewhere(|server| {
        server
            .ask::<redis::Value>("ACL SETUSER silent on >secret ~polycache* +@all -subscribe")
            .expect("they are rights");
        let url = format!("redis://silent:secret@127.0.0.1:{}", server.port);
        let (one, other) = (host(url.as_str()), host(url.as_str()));
        listens(&one.cache);
        listens(&other.cache);
        for number in 1..20 {
            one.cache.set("k", &number).unwrap();
            until("it hears", || other.cache.get("k").unwrap() == Some(number));
        }
        assert!(one.cache.remote_stats().unwrap().listens);
    });
}

/// The rights that docs/remote.md tells to give.
#[test]
fn the_least_rights_are_enough() {
    let page = include_str!("../../../../docs/remote.md");
    let rights = page
        .split("```\nACL SETUSER")
        .nth(1)
        .expect("the page tells them");
    let rights = rights.split("```").next().expect("they end");
    everywhere(|server| {
        server
            .ask::<redis::Value>(&format!("ACL SETUSER {rights}"))
            .expect("they are rights");
        let url = format!("redis://cache:secret@127.0.0.1:{}", server.port);
        let (one, other) = (host(url.as_str()), host(url.as_str()));
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
        let many: Vec<String> = (0..20).map(|number| format!("many{number}")).collect();
        one.cache.set_many(many.iter().zip(0..)).unwrap();
        assert_eq!(other.cache.get_many::<i64, _>(&many).unwrap().len(), 20);
        assert_eq!(one.cache.delete_many(&many).unwrap(), 20);
        let lock = one.cache.lease("lock");
        assert!(lock.acquire(Duration::ZERO).unwrap());
        assert!(other.cache.lease("lock").locked().unwrap());
        assert!(one.cache.delete("new").unwrap());
        one.cache.clear().unwrap();
        until("the clear is heard of", || {
            other.cache.get::<i64>("k").unwrap().is_none()
        });
        until("its space is given back", || {
            server.ask::<u64>("ZCARD polycache:%sweep").unwrap() == 0
        });
        let stats = other.cache.remote_stats().unwrap();
        assert_eq!(
            (stats.faults, stats.refuses_tracking),
            (0, false),
            "{stats:?}"
        );
    });
}
