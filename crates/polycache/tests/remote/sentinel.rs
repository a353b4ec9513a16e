//! Primaries that a real Sentinel names.

use crate::hosts::{self, host_with, listens, reads, writes, Host, SECOND};
use crate::process::until;
use crate::sentinels::{role, Watched, SERVICE};
use polycache::Builder;
use redis::sentinel::{SentinelClient, SentinelServerType};
use std::collections::HashMap;
use std::time::Duration;

fn options(watched: &Watched, of: SentinelServerType) -> Builder {
    let client = SentinelClient::build(vec![watched.sentinel.url()], SERVICE, None, of);
    hosts::options(client.expect("addresses"))
}

fn host(watched: &Watched) -> Host {
    host_with(options(watched, SentinelServerType::Master))
}

#[test]
fn a_replica_takes_the_place_of_its_killed_primary() {
    let Some(mut watched) = Watched::start() else {
        return;
    };
    let (one, other) = (host(&watched), host(&watched));
    one.cache.set("k", "before").unwrap();
    for host in [&one, &other] {
        listens(&host.cache);
        reads(&host.cache, "k", "before");
    }
    watched.servers[0].kill();
    until("the replica is the primary", || {
        role(&watched.servers[1]).as_deref() == Some("master")
    });
    writes(&one.cache, "k", "after");
    reads(&one.cache, "k", "after");
    reads(&other.cache, "k", "after");
    for host in [&one, &other] {
        listens(&host.cache);
    }
    // Writes at the new primary are heard of.
    one.cache.set("k", "at last").unwrap();
    reads(&other.cache, "k", "at last");
    assert_eq!(
        watched.servers[1].ask::<usize>("EXISTS polycache:::k"),
        Ok(1)
    );
}

#[test]
fn a_primary_that_became_a_replica_is_left() {
    let Some(watched) = Watched::start() else {
        return;
    };
    let (one, other) = (host(&watched), host(&watched));
    one.cache.set("k", "before").unwrap();
    for host in [&one, &other] {
        listens(&host.cache);
    }
    // It refuses as long as it does not know how far the replica is.
    until("Sentinel begins", || {
        let told = watched
            .sentinel
            .ask::<()>(&format!("SENTINEL FAILOVER {SERVICE}"));
        told.is_ok()
    });
    until("they have changed places", || {
        let roles = watched.servers.each_ref().map(role);
        roles == [Some("slave".to_owned()), Some("master".to_owned())]
    });
    writes(&one.cache, "k", "after");
    reads(&other.cache, "k", "after");
    for host in [&one, &other] {
        listens(&host.cache);
    }
    one.cache.set("k", "at last").unwrap();
    reads(&other.cache, "k", "at last");
}

#[test]
fn a_connection_that_leads_to_a_replica_is_dropped() {
    let Some(watched) = Watched::start() else {
        return;
    };
    let cache = options(&watched, SentinelServerType::Master)
        // Without a listener, which would find the other primary, too.
        .max_staleness(Duration::ZERO)
        .build()
        .unwrap();
    cache.set("k", "v").unwrap();
    // By hand, and without closing any connection, which a Sentinel would do.
    let [first, second] = &watched.servers;
    watched
        .sentinel
        .ask::<()>(&format!("SENTINEL REMOVE {SERVICE}"))
        .unwrap();
    second.ask::<()>("REPLICAOF NO ONE").unwrap();
    first
        .ask::<()>(&format!("REPLICAOF 127.0.0.1 {}", second.port))
        .unwrap();
    watched
        .sentinel
        .ask::<()>(&format!(
            "SENTINEL MONITOR {SERVICE} 127.0.0.1 {} 1",
            second.port
        ))
        .unwrap();
    until("Sentinel has reached the new primary", || {
        let asked = format!("SENTINEL MASTER {SERVICE}");
        let told = watched.sentinel.ask::<HashMap<String, String>>(&asked);
        told.is_ok_and(|told| told["flags"] == "master")
    });
    // The first write finds out, unless a thread of the tier did; the next one goes elsewhere. Not "a later one": now and
    // then two threads want a connection at once, Sentinel is asked for the second one, and its answer ends the old ones.
    let first = cache.set("k", "v");
    assert!(first.map_or_else(|error| error.to_string().contains("READONLY"), |()| true));
    cache.set("k", "w").unwrap();
    assert_eq!(second.ask::<usize>("EXISTS polycache:::k"), Ok(1));
    assert_eq!(cache.get("k").unwrap(), Some("w".to_owned()));
}

#[test]
fn a_client_of_replicas_is_refused() {
    let Some(watched) = Watched::start() else {
        return;
    };
    let cache = options(&watched, SentinelServerType::Replica)
        .build()
        .unwrap();
    let refused = cache.set("k", "v").unwrap_err();
    assert_eq!(refused.code(), "remote_unavailable");
    assert!(refused.to_string().contains("no primary"), "{refused}");
}

#[test]
fn a_sentinel_that_hangs_is_not_waited_for() {
    let Some(watched) = Watched::start() else {
        return;
    };
    let cache = options(&watched, SentinelServerType::Master)
        .timeout(SECOND / 2)
        .build()
        .unwrap();
    cache.set("k", "v").unwrap();
    watched.sentinel.hang();
    let primary = &watched.servers[0];
    until("no connection is left", || {
        primary.ask::<usize>("CLIENT KILL TYPE normal").unwrap();
        let refused = cache.set("k", "w");
        refused.is_err_and(|error| error.to_string().contains("Sentinel did not tell"))
    });
    watched.sentinel.go_on();
    writes(&cache, "k", "back");
    reads(&cache, "k", "back");
}

#[test]
fn a_sentinel_that_is_gone_ends_no_connection() {
    let Some(mut watched) = Watched::start() else {
        return;
    };
    let one = host(&watched);
    one.cache.set("k", "v").unwrap();
    watched.sentinel.kill();
    assert_eq!(one.cache.get("k").unwrap(), Some("v".to_owned()));
    one.cache.set("k", "w").unwrap();
    assert_eq!(one.cache.get("k").unwrap(), Some("w".to_owned()));
}
