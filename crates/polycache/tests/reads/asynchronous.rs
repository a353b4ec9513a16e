//! Cached reads of asynchronous programs.

use crate::hosts::everywhere;
use crate::support::{command, keeping, open, options};
use polycache::reads::AsyncCachedReads;
use polycache::Error;
use polycache_check_proxy::{Proxy, Side};
use redis::Value;
use std::sync::Arc;

fn run<T>(future: impl std::future::Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.unwrap().block_on(future)
}

#[test]
fn many_callers_on_one_thread_make_one_round_trip() {
    everywhere(|server| {
        server.ask::<()>("RPUSH many a").unwrap();
        let proxy = Proxy::new(server.port).unwrap();
        let reads = AsyncCachedReads::from(open(&proxy.url()));
        keeping(reads.reads(), "GET other");
        server.ask::<()>("CONFIG RESETSTAT").unwrap();
        proxy.hang(Side::Data, true);
        let range = Arc::new(command("LRANGE many 0 -1"));
        run(async {
            let callers = (0..100).map(|_| {
                let (reads, range) = (reads.clone(), range.clone());
                tokio::spawn(async move { reads.query::<Vec<String>>(&range).await.unwrap() })
            });
            let callers: Vec<_> = callers.collect();
            // The one thread is free while all of them wait.
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            assert_eq!(reads.stats().joined, 99);
            assert!(callers.iter().all(|caller| !caller.is_finished()));
            proxy.hang(Side::Data, false);
            for caller in callers {
                assert_eq!(caller.await.unwrap(), ["a"]);
            }
        });
        let calls: String = server.ask("INFO commandstats").unwrap();
        assert!(calls.contains("cmdstat_lrange:calls=1,"), "{calls}");
    });
}

#[test]
fn replies_json_and_errors_are_those_of_the_others() {
    everywhere(|server| {
        server.ask::<()>("SET t text").unwrap();
        let reads = AsyncCachedReads::from(options(&server.url()).build().unwrap());
        keeping(reads.reads(), "GET t");
        run(async {
            let get = command("GET t");
            assert_eq!(reads.query::<String>(&get).await.unwrap(), "text");
            let one = reads.json(&get).await.unwrap();
            assert_eq!(&one.bytes()[..], b"\"text\"");
            assert!(Arc::ptr_eq(&one, &reads.json(&get).await.unwrap()));
            server.ask::<()>("SET t other").unwrap();
            reads.forget(["t"]);
            assert_eq!(reads.query::<String>(&get).await.unwrap(), "other");
            let refused = reads.query::<Value>(&command("SET t 1")).await;
            assert!(matches!(refused, Err(Error::UncacheableRead(_))));
            let failed = reads.query::<Value>(&command("LLEN t")).await;
            assert!(matches!(failed, Err(Error::ReadFailed(_))));
        });
    });
}

#[test]
fn a_caller_that_goes_away_leaves_its_read_to_the_others() {
    everywhere(|server| {
        server.ask::<()>("SET t text").unwrap();
        let proxy = Proxy::new(server.port).unwrap();
        let reads = AsyncCachedReads::from(open(&proxy.url()));
        keeping(reads.reads(), "GET other");
        proxy.hang(Side::Data, true);
        run(async {
            let get = Arc::new(command("STRLEN t"));
            let read = || {
                let (reads, get) = (reads.clone(), get.clone());
                tokio::spawn(async move { reads.query::<u32>(&get).await })
            };
            let first = read();
            tokio::task::yield_now().await;
            let second = read();
            tokio::task::yield_now().await;
            first.abort();
            proxy.hang(Side::Data, false);
            assert_eq!(second.await.unwrap().unwrap(), 4);
        });
    });
}
