//! The space of cleared namespaces is given back.

use crate::hosts::{everywhere, host, listens};
use crate::nodes::Cluster;
use crate::process::{until, Process};

/// Keys on the server that match a pattern.
fn count(server: &Process, pattern: &str) -> usize {
    let keys: Vec<String> = server.ask(&format!("KEYS {pattern}")).expect("it answers");
    keys.len()
}

#[test]
fn what_was_cleared_leaves_the_server_and_nothing_else_does() {
    everywhere(|server| {
        let (one, other) = (host(server.url()), host(server.url()));
        listens(&one.cache);
        listens(&other.cache);
        let shop = one.cache.namespace("shop").unwrap();
        let nested = shop.namespace("prices").unwrap();
        let shopping = one.cache.namespace("shopping").unwrap();
        let many = |count: usize| (0..count).map(|number| (format!("k{number}"), number));
        shop.set_many(many(3000)).unwrap();
        nested.set_many(many(1000)).unwrap();
        shopping.set_many(many(1000)).unwrap();
        one.cache.set_many(many(1000)).unwrap();
        let mut plain = server.plain();
        let foreign = redis::cmd("SET")
            .arg("polycache:shop::foreign")
            .arg("x")
            .exec(&mut plain);
        foreign.unwrap();
        // Written by a process that knows of the clear.
        other.cache.namespace("shop").unwrap().clear().unwrap();
        until("the clear is heard of", || !shop.has("k1").unwrap());
        shop.set("after", "the clear").unwrap();
        // What another program wrote, and what came after the clear.
        until("its space is given back", || {
            count(&server, "polycache:shop:*") == 2
        });
        until("the sweep ends", || {
            server.ask::<u64>("ZCARD polycache:%sweep").unwrap() == 0
        });
        assert_eq!(
            shop.get::<String>("after").unwrap().as_deref(),
            Some("the clear")
        );
        assert_eq!(shopping.keys("").count(), 1000);
        assert_eq!(one.cache.keys("").count(), 1000);
        assert!(server
            .ask::<bool>("EXISTS polycache:shop::foreign")
            .unwrap());
        one.cache.clear().unwrap();
        until("all space is given back", || {
            count(&server, "polycache:[^%]*") == 1
        });
    });
}

#[test]
fn all_primaries_of_a_cluster_are_swept() {
    let Some(cluster) = Cluster::start(0, "") else {
        return;
    };
    let one = host(cluster.client());
    listens(&one.cache);
    let shop = one.cache.namespace("shop").unwrap();
    let all = || -> usize {
        let nodes = cluster.nodes.iter();
        nodes.map(|node| count(node, "polycache:shop*")).sum()
    };
    shop.set_many((0..2000).map(|number| (format!("k{number}"), number)))
        .unwrap();
    assert_eq!(all(), 2000);
    shop.clear().unwrap();
    until("its space is given back", || all() == 0);
}
