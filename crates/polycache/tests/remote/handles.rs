//! Options, keys and the end of a handle.

use crate::hosts::{host, listens, somewhere, SECOND};
use crate::process::until;
use polycache::{Builder, Cache};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn keys_that_look_like_patterns_are_found() {
    somewhere(|server| {
        let one = host(server.url());
        for key in ["a*", "a?b", "a[b]", "a\\", "a^", "b"] {
            one.cache.set(key, &1).unwrap();
        }
        let mut found: Vec<_> = one.cache.keys("a").map(Result::unwrap).collect();
        found.sort();
        assert_eq!(
            found,
            [
                b"a*".to_vec(),
                b"a?b".to_vec(),
                b"a[b]".to_vec(),
                b"a\\".to_vec(),
                b"a^".to_vec()
            ]
        );
    });
}

#[test]
fn bad_options_are_refused() {
    let refused = |builder: Builder| builder.build().unwrap_err().code();
    let url = "redis://127.0.0.1:1";
    let with = || Cache::builder().remote(url);
    for builder in [
        Cache::builder().remote("http://127.0.0.1"),
        Cache::builder().timeout(SECOND),
        Cache::builder().max_staleness(SECOND),
        Cache::builder().prefix("p"),
        with().timeout(Duration::ZERO),
        with().timeout(SECOND * 61),
        with().max_staleness(Duration::from_millis(9)),
        with().prefix(""),
        with().prefix("a{b}"),
    ] {
        assert_eq!(refused(builder), "invalid_argument");
    }
    let secret = Cache::builder()
        .remote("redis//user:secret@host")
        .build()
        .unwrap_err();
    assert!(!secret.to_string().contains("secret"), "{secret}");
    assert!(!format!("{:?}", with()).contains("127"));
}

#[test]
fn a_handle_that_is_dropped_leaves_no_thread() {
    somewhere(|server| {
        let before = Arc::new(());
        for _ in 0..3 {
            let one = host(server.url());
            listens(&one.cache);
        }
        drop(before);
        let connected = || -> usize {
            let list: String = redis::cmd("CLIENT")
                .arg("LIST")
                .query(&mut server.plain())
                .unwrap();
            list.lines().count()
        };
        // The connection that asks.
        until("all connections are closed", || connected() == 1);
    });
}
