//! Redis goes, and comes back.

use crate::process::until;
use crate::running::over_redis;
use polycache_serve::Options;

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
