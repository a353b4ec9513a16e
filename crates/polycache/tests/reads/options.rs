//! How cached reads are opened, and closed.

use crate::hosts::{host, somewhere};
use crate::process::{free_ports, Process};
use crate::support::{command, keeping, open, options};
use polycache::reads::CachedReads;
use polycache::{Cache, Error};
use redis::Value;
use std::time::Duration;
use tempfile::TempDir;

fn refused(what: Result<CachedReads, Error>, why: &str) {
    match what {
        Err(Error::InvalidArgument(said)) => assert!(said.contains(why), "{said}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let url = "redis://127.0.0.1:1";
    refused(
        CachedReads::of(&Cache::builder().build().unwrap()).build(),
        "remote",
    );
    refused(
        options(url).read_timeout(Duration::ZERO).build(),
        "read_timeout",
    );
    refused(options(url).max_entries(0).build(), "max_entries");
    refused(options(url).prefix("{").build(), "prefix");
    refused(options("file:///etc/passwd").build(), "URL");
    refused(options(url).limit(1 << 22).build(), "limit");
    let cache = Cache::builder().remote(url).build().unwrap();
    refused(CachedReads::of(&cache).path("elsewhere").build(), "path");
}

#[test]
fn a_sentinel_is_refused() {
    let sentinel = redis::sentinel::SentinelClient::build(
        vec!["redis://127.0.0.1:1"],
        "main",
        None,
        redis::sentinel::SentinelServerType::Master,
    );
    refused(CachedReads::builder(sentinel.unwrap()).build(), "Sentinel");
}

/// The errors MOVED and ASK of a node go to the caller: its own client can follow them.
#[test]
fn a_node_of_a_cluster_answers_as_it_does_without_us() {
    let directory = TempDir::new().unwrap();
    let folder = directory.path().to_str().unwrap();
    let words = ["--cluster-enabled", "yes", "--save", "", "--dir", folder];
    let Some(node) = Process::start(free_ports(1)[0], words) else {
        return;
    };
    node.answers();
    let error = open(&node.url())
        .query::<Value>(&command("GET k"))
        .unwrap_err();
    assert_eq!(error.code(), "read_failed");
    assert!(
        error.to_string().contains("CLUSTERDOWN") || error.to_string().contains("Hash slot"),
        "{error}"
    );
}

#[test]
fn a_cache_lends_its_server_and_its_directory() {
    somewhere(|server| {
        let host = host(server.url());
        let reads = CachedReads::of(&host.cache).build().unwrap();
        host.cache.set("k", "a value").unwrap();
        server.ask::<()>("SET t text").unwrap();
        keeping(&reads, "GET t");
        // A namespace of it has the same server, and the same replies.
        let shop = host.cache.namespace("shop").unwrap();
        let of_shop = CachedReads::of(&shop).build().unwrap();
        let text: String = of_shop.query(&command("GET t")).unwrap();
        assert_eq!((text.as_str(), of_shop.stats().host_hits), ("text", 1));
        reads.close();
        assert!(matches!(
            reads.query::<Value>(&command("GET t")),
            Err(Error::Closed)
        ));
        assert_eq!(host.cache.get("k").unwrap(), Some("a value".to_owned()));
        let others = CachedReads::of(&host.cache).build().unwrap();
        host.cache.close();
        assert!(matches!(
            others.query::<Value>(&command("GET t")),
            Err(Error::Closed)
        ));
        refused_as_closed(CachedReads::of(&host.cache).build());
    });
}

fn refused_as_closed(what: Result<CachedReads, Error>) {
    assert!(matches!(what, Err(Error::Closed)), "{what:?}");
}

#[test]
fn memory_is_bounded() {
    somewhere(|server| {
        let reads = options(&server.url()).max_bytes(64 << 10).build().unwrap();
        let mut plain = server.plain();
        redis::cmd("SET")
            .arg("large")
            .arg(vec![b'x'; 100 << 10])
            .exec(&mut plain)
            .unwrap();
        keeping(&reads, "GET small");
        for _ in 0..3 {
            let before = reads.stats().memory_hits;
            assert_eq!(
                reads.query::<Vec<u8>>(&command("GET large")).unwrap().len(),
                100 << 10
            );
            assert_eq!(reads.stats().memory_hits, before);
        }
    });
}

#[test]
fn with_no_staleness_nothing_is_kept() {
    somewhere(|server| {
        let reads = options(&server.url())
            .max_staleness(Duration::ZERO)
            .build()
            .unwrap();
        for number in 0..20 {
            server.ask::<()>(&format!("SET n {number}")).unwrap();
            assert_eq!(reads.query::<i32>(&command("GET n")).unwrap(), number);
        }
        let stats = reads.stats();
        assert_eq!((stats.sent, stats.memory_hits, stats.host_hits), (20, 0, 0));
    });
}

/// What a host's processes want to be heard of lies among what is kept, and no read uses it: it leaves sooner or later.
#[test]
fn many_different_reads_do_not_end_the_listening() {
    somewhere(|server| {
        let reads = open(&server.url());
        let mut keys = (0..).map(|number| format!("GET other{number}"));
        let mut read_more = |count| {
            for words in keys.by_ref().take(count) {
                reads.query::<Value>(&command(&words)).unwrap();
            }
        };
        // More than are kept. When the first ones leave, what the leader tells may leave once, too.
        read_more(8_000);
        keeping(&reads, "GET hot");
        let before = reads.stats().uncached;
        read_more(20_000);
        let after = reads.stats().uncached;
        assert_eq!(
            (after.deaf, after.not_heard),
            (before.deaf, before.not_heard)
        );
    });
}
