//! Every command that may be cached, and those that may not.

use crate::hosts::{everywhere, somewhere, SECOND};
use crate::server::Server;
use crate::support::{command, keeping, open, options};
use polycache::Error;
use redis::{Cmd, Value};
use std::collections::BTreeSet;
use tempfile::TempDir;

/// One of each, and further forms of some.
const CALLS: &[&str] = &[
    "BITCOUNT t",
    "BITFIELD_RO t GET u8 0",
    "BITPOS t 1",
    "DUMP t",
    "EVALSHA_RO 930269f31393d0be681588b6ab08dccee7d6bb67 1 t",
    "EXISTS t none",
    "GEODIST g a b",
    "GEOHASH g a",
    "GEOPOS g a none",
    "GEORADIUSBYMEMBER_RO g a 500 km",
    "GEORADIUS_RO g 13 38 500 km WITHDIST",
    "GEOSEARCH g FROMMEMBER a BYRADIUS 500 km",
    "GET t",
    "get none",
    "GETBIT t 1",
    "GETRANGE t 0 1",
    "HEXISTS h a",
    "HGET h b",
    "HGETALL h",
    "HKEYS h",
    "HLEN h",
    "HMGET h a none",
    "HSTRLEN h a",
    "HVALS h",
    "LCS t t2",
    "LINDEX l 1",
    "LLEN l",
    "LPOS l b",
    "LRANGE l 0 -1",
    "MGET t none",
    "PFCOUNT p",
    "SCARD s",
    "SDIFF s s2",
    "SINTER s s2",
    "SINTERCARD 2 s s2",
    "SISMEMBER s m",
    "SMEMBERS s",
    "SMISMEMBER s m none",
    "SORT_RO l ALPHA",
    "STRLEN t",
    "SUBSTR t 0 1",
    "SUNION s s2",
    "TYPE t",
    "XLEN x",
    "XRANGE x - +",
    "XRANGE x - + COUNT 1",
    "XREAD COUNT 2 STREAMS x 0",
    "XREVRANGE x + -",
    "ZCARD z",
    "ZCOUNT z -inf +inf",
    "ZDIFF 2 z z2 WITHSCORES",
    "ZINTER 2 z z2",
    "ZINTERCARD 2 z z2",
    "ZLEXCOUNT z - +",
    "ZMSCORE z a none",
    "ZRANGE z 0 -1",
    "ZRANGE z 0 -1 WITHSCORES",
    "ZRANGEBYLEX z - +",
    "ZRANGEBYSCORE z -inf +inf",
    "ZRANK z b",
    "ZREVRANGE z 0 -1",
    "ZREVRANGEBYLEX z + -",
    "ZREVRANGEBYSCORE z +inf -inf",
    "ZREVRANK z b",
    "ZSCORE z c",
    "ZUNION 2 z z2",
];

const FILL: &[&str] = &[
    "SET t text",
    "SET t2 test",
    "HSET h a 1 b zwei ü ö",
    "RPUSH l a b c",
    "ZADD z 1 a 2.5 b inf c",
    "ZADD z2 1 a",
    "SADD s m",
    "SADD s2 m n",
    "XADD x 1-1 name one n 1",
    "XADD x 2-1 name two",
    "GEOADD g 13.361389 38.115556 a 15.087269 37.502669 b",
    "PFADD p a b",
    // The first count is written into the key.
    "PFCOUNT p",
    "SCRIPT LOAD return(1)",
];

fn calls() -> Vec<Cmd> {
    let mut script = redis::cmd("EVAL_RO");
    script
        .arg("return {redis.call('get', KEYS[1]), ARGV[1], 7}")
        .arg(1)
        .arg("t")
        .arg("x");
    let calls = CALLS.iter().map(|words| command(words));
    calls.chain([script]).collect()
}

fn fill(server: &Server) {
    for words in FILL {
        server.ask::<Value>(words).expect("it is written");
    }
}

fn name_of(call: &Cmd) -> String {
    let words = String::from_utf8(call.get_packed_command()).expect("text");
    words.split("\r\n").nth(2).expect("a name").to_uppercase()
}

#[test]
fn each_command_gives_what_the_client_gives_from_the_server_the_host_and_memory() {
    everywhere(|server| {
        fill(&server);
        for protocol in ["", "/?protocol=resp3"] {
            let url = server.url() + protocol;
            let client = redis::Client::open(url.as_str()).unwrap();
            let mut plain = client.get_connection().unwrap();
            let directory = TempDir::new().unwrap();
            let opened = || {
                options(&url)
                    .path(directory.path())
                    .max_staleness(SECOND * 10)
            };
            let (reads, other) = (opened().build().unwrap(), opened().build().unwrap());
            keeping(&reads, "GET t");
            for call in calls() {
                let name = name_of(&call);
                let expected: Value = call.query(&mut plain).unwrap();
                let before = reads.stats();
                assert_eq!(reads.query::<Value>(&call).unwrap(), expected, "{name}");
                assert_eq!(reads.query::<Value>(&call).unwrap(), expected, "{name}");
                let after = reads.stats();
                if before.uncached == after.uncached {
                    assert!(after.memory_hits > before.memory_hits, "{name} of memory");
                }
                let before = other.stats();
                assert_eq!(other.query::<Value>(&call).unwrap(), expected, "{name}");
                assert_eq!(
                    other.stats().host_hits,
                    before.host_hits + 1,
                    "{name} of the host"
                );
            }
        }
    });
}

#[test]
fn each_command_of_the_list_is_tried() {
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/reads.json");
    let list = std::fs::read_to_string(list).unwrap();
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let names = list["reads"].as_array().unwrap().iter();
    let mut listed: BTreeSet<String> = names.map(|one| one.as_str().unwrap().into()).collect();
    // A module's, which no server here has.
    listed.remove("JSON.GET");
    let tried: BTreeSet<String> = calls().iter().map(name_of).collect();
    assert_eq!(tried, listed);
}

#[test]
fn what_cannot_be_cached_says_why_and_is_not_sent() {
    somewhere(|server| {
        let reads = options(&server.url()).prefixes(["a:"]).build().unwrap();
        for (words, why) in [
            ("SRANDMEMBER a:s", "its reply is random"),
            ("TTL a:s", "its reply changes with the time"),
            ("SET a:s 1", "not known to be a read"),
            ("XREAD BLOCK 0 STREAMS a:s 0", "BLOCK"),
            ("SORT_RO a:s BY w_*", "does not name"),
            ("XINFO STREAM a:s", "consumer groups"),
        ] {
            let refused = reads.query::<Value>(&command(words)).unwrap_err();
            assert_eq!(
                (refused.code(), refused.retryable()),
                ("uncacheable_read", false)
            );
            assert!(refused.to_string().contains(why), "{refused}");
            assert_eq!(
                reads.json(&command(words)).unwrap_err().code(),
                "uncacheable_read"
            );
        }
        let mut walk = redis::cmd("SSCAN");
        walk.arg("a:s").cursor_arg(0);
        let refused = reads.query::<Value>(&walk).unwrap_err();
        assert!(refused.to_string().contains("walk"), "{refused}");
        let unheard = reads.query::<Value>(&command("GET b")).unwrap_err();
        assert!(matches!(unheard, Error::InvalidArgument(_)), "{unheard}");
        assert_eq!(reads.stats().sent, 0);
        assert!(!server.ask::<bool>("EXISTS a:s").unwrap());
    });
}

#[test]
fn a_type_that_the_reply_is_not_is_an_error() {
    somewhere(|server| {
        server.ask::<()>("SET t text").unwrap();
        let reads = open(&server.url());
        for _ in 0..3 {
            let wrong = reads.query::<u64>(&command("GET t")).unwrap_err();
            assert_eq!(wrong.code(), "wrong_type");
        }
        assert_eq!(reads.query::<String>(&command("GET t")).unwrap(), "text");
    });
}
