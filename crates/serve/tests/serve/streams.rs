//! Streams and reads of Redis.

use crate::process::until;
use crate::running::{over_redis, with, Running};
use polycache_serve::{Limits, Options, Redis};
use serde_json::json;

fn add(redis: &crate::server::Server, words: &str) {
    redis.ask::<redis::Value>(words).unwrap();
}

#[test]
fn a_stream_is_json_and_follows_every_change() {
    let limits = Limits {
        entries: 100,
        ..Limits::default()
    };
    let Some((redis, _cache, running)) = over_redis(Options {
        limits,
        ..Options::default()
    }) else {
        return;
    };
    for n in 1..=3 {
        add(&redis, &format!("XADD s {n}-0 temperature {n}"));
    }
    let all = running.get("/streams/s");
    let expected = json!([
        ["1-0", ["temperature", "1"]],
        ["2-0", ["temperature", "2"]],
        ["3-0", ["temperature", "3"]]
    ]);
    assert_eq!((all.status, all.json()), (200, expected));
    assert_eq!(all.field("cache-control"), Some("no-cache"));
    let part = running.get("/streams/s?start=(1&end=3&count=1");
    assert_eq!(part.json(), json!([["2-0", ["temperature", "2"]]]));
    let matching = format!("if-none-match: {}", all.field("etag").unwrap());
    assert_eq!(running.ask("GET", "/streams/s", &[&matching]).status, 304);
    assert_eq!(running.get("/streams/absent").json(), json!([]));
    add(&redis, "XADD s 4-0 temperature 4");
    until("the change shows", || {
        let now = running.ask("GET", "/streams/s", &[&matching]);
        now.status == 200 && now.json()[3][0] == "4-0"
    });
    add(&redis, "FLUSHALL");
    until("all is gone", || {
        running.get("/streams/s").json() == json!([])
    });
    for query in [
        "start=x",
        "count=101",
        "count=0",
        "end=1&end=2",
        "start=(18446744073709551615",
    ] {
        let document = running.get(&format!("/streams/s?{query}")).is_problem(400);
        assert_eq!(document["parameter"], query.split('=').next().unwrap());
    }
    add(&redis, "SET text v");
    running.get("/streams/text").is_problem(409);
    running.get("/streams/%00").is_problem(400);
    let stats = running.get("/stats").json();
    assert_eq!(stats["remote"]["is_open"], false);
    assert!(running
        .get("/metrics")
        .text()
        .contains("polycache_remote_breaker_open"));
}

#[test]
fn reads_are_commands_that_can_be_cached() {
    let Some((redis, _cache, running)) = over_redis(Options::default()) else {
        return;
    };
    add(&redis, "HSET user:1 name Ada");
    add(&redis, "RPUSH list a b c");
    add(&redis, "SET text v");
    assert_eq!(running.get("/reads/HGET/user:1/name").json(), "Ada");
    assert_eq!(
        running.get("/reads/lrange/list/0/-1").json(),
        json!(["a", "b", "c"])
    );
    assert_eq!(running.get("/reads/GET/absent").json(), json!(null));
    assert_eq!(running.get("/reads/GET/hex:74657874").json(), "v");
    assert_eq!(
        running.get("/reads/MGET/text/absent").json(),
        json!(["v", null])
    );
    for target in [
        "/reads/SET/text/w",
        "/reads/FLUSHALL",
        "/reads/SRANDMEMBER/set",
        "/reads/KEYS/*",
        "/reads/EVAL/return%201/0",
        "/reads/CONFIG/GET/*",
        "/reads/TTL/text",
        "/reads/nonsense",
    ] {
        let document = running.get(target).is_problem(403);
        assert!(!document["detail"].as_str().unwrap().is_empty(), "{target}");
    }
    assert_eq!(redis.ask::<String>("GET text").unwrap(), "v");
    running.get("/reads/HGET/text/field").is_problem(409);
    running.get("/reads/LRANGE/list/a/b").is_problem(400);
    running.get("/reads/").is_problem(404);
}

#[test]
fn only_the_keys_that_were_named_are_shown() {
    let Some((redis, cache, _running)) = over_redis(Options::default()) else {
        return;
    };
    add(&redis, "XADD OPTIONS:1 1-0 a b");
    add(&redis, "XADD secret 1-0 a b");
    let options = Options {
        redis: Some(Redis {
            url: redis.url(),
            prefixes: vec!["OPTIONS:".into()],
            scripts: false,
        }),
        ..Options::default()
    };
    let running = Running::start(&cache, options);
    assert_eq!(running.get("/streams/OPTIONS:1").status, 200);
    running.get("/streams/secret").is_problem(403);
    running.get("/streams/secret/live").is_problem(403);
    running.get("/reads/XLEN/secret").is_problem(400);
    running
        .get("/reads/SUNION/OPTIONS:1/secret")
        .is_problem(400);
}

#[test]
fn a_reply_that_is_too_large_is_not_read_to_its_end() {
    let limits = Limits {
        reply: 1 << 20,
        ..Limits::default()
    };
    let Some((redis, _cache, running)) = over_redis(Options {
        limits,
        ..Options::default()
    }) else {
        return;
    };
    add(&redis, "SETRANGE text 67108864 x");
    add(&redis, "HSET hash small x");
    let mut many = redis::cmd("HSET");
    many.arg("hash");
    let mut list = redis::cmd("RPUSH");
    list.arg("list");
    for n in 0..20_000 {
        many.arg(n).arg("x");
        list.arg("x");
    }
    let mut connection = redis.plain();
    many.exec(&mut connection).unwrap();
    list.exec(&mut connection).unwrap();
    for target in [
        "/reads/GET/text",
        "/reads/HGETALL/hash",
        // Few bytes, but many values.
        "/reads/LRANGE/list/0/-1",
        "/reads/SORT_RO/list/ALPHA",
    ] {
        let answer = running.get(target);
        // Without the answer, which is long if it is wrong.
        assert_eq!(answer.status, 403, "{target}");
        let document = answer.is_problem(403);
        assert_eq!(document["limit"], 1 << 20, "{target}");
        assert!(document["detail"].as_str().unwrap().contains("--max-reply"));
    }
    // Only what its connection had room for left Redis.
    let sent = redis.ask::<String>("INFO stats").unwrap();
    let sent = sent
        .lines()
        .find_map(|line| line.strip_prefix("total_net_output_bytes:"));
    let sent: u64 = sent.unwrap().parse().unwrap();
    assert!(sent < 32 << 20, "{sent}");
    // A part of each may be read, and so may others.
    assert_eq!(running.get("/reads/HGET/hash/small").json(), "x");
    assert_eq!(
        running.get("/reads/LRANGE/list/0/2").json(),
        json!(["x", "x", "x"])
    );
    assert_eq!(running.get("/reads/GETRANGE/text/67108864/-1").json(), "x");
    let part = running.get("/reads/LRANGE/list/0/9999");
    assert_eq!(part.json().as_array().unwrap().len(), 10_000);
}

#[test]
fn scripts_are_run_only_where_the_server_is_told_to() {
    let Some((redis, cache, running)) = over_redis(Options::default()) else {
        return;
    };
    add(&redis, "SET secret v");
    let digest = redis
        .ask::<String>("SCRIPT LOAD return(redis.call('GET','secret'))")
        .unwrap();
    let text = "/reads/EVAL_RO/return%20redis.call('GET','secret')/1/OPTIONS:1";
    let by_digest = format!("/reads/EVALSHA_RO/{digest}/1/OPTIONS:1");
    for target in [
        text,
        &text.replace("EVAL_RO", "eval%5Fro"),
        &by_digest,
        "/reads/FCALL_RO/f/1/OPTIONS:1",
    ] {
        let document = running.get(target).is_problem(403);
        let detail = document["detail"].as_str().unwrap();
        assert!(detail.contains("--allow-scripts"), "{target}: {detail}");
    }
    let options = Options {
        redis: Some(Redis {
            url: redis.url(),
            prefixes: vec!["OPTIONS:".into()],
            scripts: true,
        }),
        ..Options::default()
    };
    // What --allow-scripts says of --keys is so.
    let running = Running::start(&cache, options);
    assert_eq!(running.get(text).json(), "v");
    assert_eq!(running.get(&by_digest).json(), "v");
    running.get("/reads/FCALL_RO/f/1/OPTIONS:1").is_problem(403);
}

#[test]
fn entries_of_the_remote_tier_are_served() {
    let Some((redis, cache, running)) = over_redis(Options::default()) else {
        return;
    };
    let other = polycache::Cache::builder()
        .remote(redis.url())
        .build()
        .unwrap();
    other.set("k", "v").unwrap();
    assert_eq!(running.get("/entries/k").text(), "\"v\"");
    other.set("k", "w").unwrap();
    until("the write shows", || {
        running.get("/entries/k").text() == "\"w\""
    });
    drop(cache);
}

#[test]
fn a_redis_that_is_not_there_is_503() {
    let url = "redis://127.0.0.1:1";
    let cache = polycache::Cache::builder().remote(url).build().unwrap();
    let running = Running::start(&cache, with(url, Options::default()));
    for target in [
        "/streams/s",
        "/streams/s/live",
        "/reads/GET/k",
        "/entries/k",
    ] {
        let answer = running.get(target);
        answer.is_problem(503);
        assert_eq!(answer.field("retry-after"), Some("1"), "{target}");
    }
    let health = running.get("/healthz");
    assert_eq!(health.status, 200);
    assert!(health.json()["remote"]["faults"].as_u64() > Some(0));
}
