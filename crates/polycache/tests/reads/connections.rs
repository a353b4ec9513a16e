//! Cached reads by the methods of the crate `redis`.

use crate::hosts::{everywhere, somewhere};
use crate::support::{keeping, open, options, read};
use polycache_redis_namespace::{Namespace, Namespaced};
use redis::{Commands, ConnectionLike};
use std::collections::HashMap;

#[test]
fn typed_commands_of_redis_are_cached() {
    everywhere(|server| {
        server.ask::<()>("RPUSH l a b").unwrap();
        server.ask::<()>("HSET h a 1").unwrap();
        server.ask::<()>("SET n 7").unwrap();
        let mut reads = open(&(server.url() + "/0"));
        keeping(&reads, "GET n");
        let mut once = || {
            let list: Vec<String> = reads.lrange("l", 0, -1).unwrap();
            let hash: HashMap<String, u32> = reads.hgetall("h").unwrap();
            let both: (u32, Option<u32>) = reads.mget(&["n", "none"]).unwrap();
            assert_eq!((list.len(), hash["a"], both), (2, 1, (7, None)));
            reads.stats()
        };
        let first = once();
        assert_eq!(once().memory_hits, first.memory_hits + 3);
        assert!(reads.is_open() && reads.check_connection());
        assert_eq!(reads.get_db(), 0);
        let mut pipeline = redis::pipe();
        pipeline.cmd("GET").arg("n").ignore().cmd("LLEN").arg("l");
        assert_eq!(pipeline.query::<(u32,)>(&mut reads).unwrap(), (2,));
        reads.close();
        assert!(!reads.is_open());
    });
}

#[test]
fn what_cannot_be_cached_is_an_error_of_redis() {
    somewhere(|server| {
        server.ask::<()>("SET n 7").unwrap();
        let mut reads = open(&server.url());
        let refused = reads.set::<_, _, ()>("n", 8).unwrap_err();
        assert_eq!(refused.kind(), redis::ErrorKind::Client);
        assert!(
            refused.to_string().contains("uncacheable_read"),
            "{refused}"
        );
        let mut transaction = redis::pipe();
        transaction.atomic().cmd("GET").arg("n");
        assert!(transaction.query::<(u32,)>(&mut reads).is_err());
        let wrong = reads.llen::<_, u32>("n").unwrap_err();
        assert_eq!(wrong.code(), Some("WRONGTYPE"));
        assert_eq!(read::<u32>(&reads, "GET n"), 7);
    });
}

#[test]
fn a_namespace_goes_around_them() {
    everywhere(|server| {
        server.ask::<()>("SET shop:n 7").unwrap();
        server.ask::<()>("XADD shop:x 1-1 a 1").unwrap();
        let reads = options(&server.url()).prefixes(["shop:"]).build().unwrap();
        keeping(&reads, "GET shop:n");
        let mut shop = Namespaced::new(reads.clone(), Namespace::new("shop").unwrap());
        let before = reads.stats();
        assert_eq!(shop.get::<_, u32>("n").unwrap(), 7);
        assert_eq!(reads.stats().memory_hits, before.memory_hits + 1);
        for _ in 0..2 {
            let streams: redis::Value = redis::cmd("XREAD")
                .arg(&["STREAMS", "x", "0"])
                .query(&mut shop)
                .unwrap();
            assert!(
                format!("{streams:?}").contains("bulk-string('\"x\"')"),
                "{streams:?}"
            );
        }
    });
}
