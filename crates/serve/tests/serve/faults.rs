//! What is behind the server goes, hangs, or was never right.

use crate::client::Connection;
use crate::process::until;
use crate::running::{directory, over_redis, with, Running};
use polycache::Cache;
use polycache_serve::{Limits, Options};
use std::net::TcpListener;
use std::thread::sleep;
use std::time::Duration;

#[test]
fn a_redis_that_goes_is_503_and_comes_back() {
    let Some((mut redis, _cache, running)) = over_redis(Options::default()) else {
        return;
    };
    redis.ask::<String>("XADD s 1-0 a b").unwrap();
    assert_eq!(running.get("/streams/s").status, 200);
    let mut events = running.connect();
    events.send("GET /streams/s/live HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert_eq!(events.head().unwrap().status, 200);
    redis.kill();
    until("what is kept is too old", || {
        let answer = running.get("/streams/s");
        assert!(matches!(answer.status, 200 | 503), "{answer:?}");
        answer.status == 503
    });
    running.get("/streams/s").is_problem(503);
    let health = running.get("/healthz");
    assert_eq!(
        (health.status, &health.json()["status"]),
        (200, &"ok".into())
    );
    redis.start_again();
    until("it is served again", || {
        running.get("/streams/s").status == 200
    });
    assert_eq!(running.get("/streams/s").text(), "[]");
    // The live stream goes on, too: the new server's stream begins anew.
    redis.ask::<String>("XADD s 5-0 a b").unwrap();
    until("the entry is heard", || {
        events.line().expect("it goes on") == "id: 5-0"
    });
}

#[test]
fn what_its_url_has_wrong_is_no_fault_of_a_client() {
    let Some((redis, _cache, _running)) = over_redis(Options::default()) else {
        return;
    };
    let url = redis.url();
    let address = url.trim_start_matches("redis://").trim_end_matches('/');
    for url in [
        // There are 16.
        format!("redis://{address}/99"),
        format!("redis://:wrong@{address}"),
        format!("redis://nobody:wrong@{address}"),
    ] {
        let cache = Cache::builder().remote(url.as_str()).build().unwrap();
        let running = Running::start(&cache, with(&url, Options::default()));
        for target in ["/streams/s", "/reads/GET/k", "/streams/s/live"] {
            running.get(target).is_problem(502);
        }
    }
}

#[test]
fn a_directory_that_was_removed_is_no_health() {
    let (directory, cache) = directory();
    cache.set("k", "v").unwrap();
    let running = Running::start(&cache, Options::default());
    assert_eq!(running.get("/healthz").status, 200);
    std::fs::remove_dir_all(directory.path().join("cache")).unwrap();
    // Nobody is told any more what it held, and not only after so many reads.
    let noticed = (0..500).any(|_| {
        sleep(Duration::from_millis(10));
        running.get("/entries/k").status != 200
    });
    assert!(noticed);
    running.get("/entries/k").is_problem(503);
    running.get("/healthz").is_problem(503);
}

#[test]
fn a_redis_that_hangs_keeps_nobody_from_the_metrics() {
    // It takes connections, and says nothing.
    let hangs = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", hangs.local_addr().unwrap());
    let cache = Cache::builder().remote(url.as_str()).build().unwrap();
    // A read waits longer than that.
    let limits = Limits {
        request_time: Duration::from_secs(5),
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..Options::default()
    };
    let running = Running::start(&cache, with(&url, options));
    // More than tokio has threads for what blocks.
    let mut waiting: Vec<Connection> = (0..600).map(|_| running.connect()).collect();
    for (n, connection) in waiting.iter_mut().enumerate() {
        connection.send(format!(
            "GET /reads/GET/{n} HTTP/1.1\r\nhost: localhost\r\n\r\n"
        ));
    }
    assert_eq!(running.get("/healthz").status, 200);
    assert_eq!(running.get("/metrics").status, 200);
    assert_eq!(running.get("/stats").status, 200);
    let late = waiting[0].answer("GET").expect("an answer");
    late.is_problem(503);
    assert_eq!(late.field("retry-after"), Some("1"));
}
