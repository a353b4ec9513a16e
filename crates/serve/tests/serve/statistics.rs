//! What it tells of the cache and of itself.

use crate::process::until;
use crate::running::{directory, over_redis, Running};
use polycache_serve::Options;
use std::collections::HashMap;

#[test]
fn stats_are_those_of_the_directory() {
    let (_directory, cache) = directory();
    let shop = cache.namespace("shop").unwrap();
    shop.set("a", "1").unwrap();
    cache.set("b", "2").unwrap();
    assert_eq!(cache.get::<String>("absent").unwrap(), None);
    let running = Running::start(&cache, Options::default());
    let stats = running.get("/stats").json();
    assert_eq!(
        (&stats["writes"], &stats["misses"], &stats["entries"]),
        (&2.into(), &1.into(), &2.into())
    );
    assert_eq!(stats["processes"][0]["pid"], std::process::id());
    let mut namespaces: Vec<_> = stats["namespaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["namespace"].to_string())
        .collect();
    namespaces.sort();
    assert_eq!(namespaces, [r#"["shop"]"#, "[]"]);
    assert_eq!(stats["remote"], serde_json::Value::Null);
    assert_eq!(stats["serve"]["connections"], 1);
}

/// Samples by name and labels; panics for what is not Prometheus' text format.
fn parsed(text: &str) -> HashMap<String, f64> {
    let mut samples = HashMap::new();
    let mut typed = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(matches!(kind, "counter" | "gauge"), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            typed = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("# HELP ") {
            assert!(rest.starts_with("polycache_"), "{line}");
        } else {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert_eq!(name.split('{').next().unwrap(), typed, "{line}");
            let before = samples.insert(name.to_owned(), value.parse().unwrap());
            assert_eq!(before, None, "{line}");
        }
    }
    samples
}

#[test]
fn metrics_have_the_names_of_every_language() {
    let (_directory, cache) = directory();
    cache.set("k", "v").unwrap();
    assert!(cache.get::<String>("k").unwrap().is_some());
    let name = "a\"b\\c".to_owned();
    let running = Running::start(
        &cache,
        Options {
            name,
            ..Options::default()
        },
    );
    let answer = running.get("/metrics");
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    assert_eq!(answer.field("content-type"), Some(kind));
    let samples = parsed(answer.text());
    let cache = r#"polycache_cache_name="a\"b\\c""#;
    let hits = format!(
        r#"polycache_reads_total{{{cache},polycache_tier="host",polycache_read_outcome="hit"}}"#
    );
    assert_eq!(samples[&hits], 1.0);
    let writes = format!(r#"polycache_writes_total{{{cache},polycache_tier="host"}}"#);
    assert_eq!(samples[&writes], 1.0);
    assert_eq!(samples["polycache_serve_connections"], 1.0);
    // All counters and gauges of spec/metrics.json.
    let spec: serde_json::Value =
        serde_json::from_str(include_str!("../../../../spec/metrics.json")).unwrap();
    for instrument in spec["instruments"].as_array().unwrap() {
        let kind = instrument["kind"].as_str().unwrap();
        if kind == "histogram" {
            continue;
        }
        let mut name = instrument["name"].as_str().unwrap().replace('.', "_");
        name += if instrument["unit"] == "By" {
            "_bytes"
        } else {
            ""
        };
        name += if kind == "counter" { "_total" } else { "" };
        assert!(
            samples
                .keys()
                .any(|sample| sample.starts_with(&format!("{name}{{"))),
            "{name}"
        );
    }
}

#[test]
fn reads_of_clients_are_counted() {
    let Some((redis, _cache, running)) = over_redis(Options::default()) else {
        return;
    };
    redis.ask::<redis::Value>("SET k v").unwrap();
    until("a reply is kept", || {
        assert_eq!(running.get("/reads/GET/k").json(), "v");
        // A look at what was counted is a second old at most; these are read anew.
        running.get("/stats").json()["serve"]["reads"]["memory_hits"] != 0
    });
    let reads = &running.get("/stats").json()["serve"]["reads"];
    let samples = parsed(running.get("/metrics").text());
    let of = |answered: &str| {
        samples[&format!(r#"polycache_serve_reads_total{{answered="{answered}"}}"#)]
    };
    assert_eq!(reads["memory_hits"].as_f64(), Some(of("memory")));
    assert_eq!(reads["sent"].as_f64(), Some(of("sent")));
    assert!(of("sent") >= 1.0);
    for reason in ["deaf", "not_heard", "busy", "refused"] {
        let name = format!(r#"polycache_serve_uncached_reads_total{{reason="{reason}"}}"#);
        assert_eq!(reads["uncached"][reason].as_f64(), Some(samples[&name]));
    }
    let (_directory, cache) = directory();
    let without = Running::start(&cache, Options::default());
    assert!(without.get("/stats").json()["serve"]["reads"].is_null());
    assert!(!without
        .get("/metrics")
        .text()
        .contains("polycache_serve_reads"));
}
