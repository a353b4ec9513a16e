//! Entries of a directory.

use crate::running::{directory, Running};
use polycache_serve::Options;
use std::io::Read;
use std::time::Duration;

#[test]
fn values_are_json_and_bytes_are_bytes() {
    let (_directory, cache) = directory();
    let running = Running::start(&cache, Options::default());
    cache.set("text", "hello").unwrap();
    cache.set("list", &vec![1, 2, 3]).unwrap();
    let answer = running.get("/entries/text");
    assert_eq!((answer.status, answer.text()), (200, "\"hello\""));
    assert_eq!(answer.field("content-type"), Some("application/json"));
    assert_eq!(answer.field("cache-control"), Some("no-cache"));
    assert_eq!(answer.field("x-content-type-options"), Some("nosniff"));
    assert_eq!(running.get("/entries/list").text(), "[1,2,3]");
    let bytes = polycache::Value::Bytes(b"<script>\xff".into());
    cache
        .set_value(b"raw", &bytes, polycache::Ttl::Forever)
        .unwrap();
    let answer = running.get("/entries/raw");
    assert_eq!(answer.body, b"<script>\xff");
    assert_eq!(
        answer.field("content-type"),
        Some("application/octet-stream")
    );
    let policy = answer.field("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("sandbox"));
    running.get("/entries/absent").is_problem(404);
}

#[test]
fn what_http_asks_of_a_value_is_done() {
    let (_directory, cache) = directory();
    let running = Running::start(&cache, Options::default());
    cache.set("k", &"x".repeat(5000)).unwrap();
    let mut connection = running.connect();
    let first = connection.ask("GET", "/entries/k", &[]);
    let tag = first.field("etag").unwrap().to_owned();
    let matching = format!("if-none-match: {tag}");
    let again = connection.ask("GET", "/entries/k", &[&matching]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    let head = connection.ask("HEAD", "/entries/k", &[]);
    assert_eq!(
        (head.status, head.field("content-length")),
        (200, Some("5002"))
    );
    let gzip = connection.ask("GET", "/entries/k", &["accept-encoding: gzip"]);
    assert_eq!(gzip.field("content-encoding"), Some("gzip"));
    let mut whole = Vec::new();
    flate2::read::GzDecoder::new(&*gzip.body)
        .read_to_end(&mut whole)
        .unwrap();
    assert_eq!(whole, first.body);
    let refused = connection.ask(
        "GET",
        "/entries/k",
        &["accept-encoding: identity;q=0, *;q=0"],
    );
    refused.is_problem(406);
    connection
        .ask("GET", "/entries/k", &["if-match: \"other\""])
        .is_problem(412);
    // Each write is seen, and so is the end.
    cache.set("k", "new").unwrap();
    let new = connection.ask("GET", "/entries/k", &[&matching]);
    assert_eq!((new.status, new.text()), (200, "\"new\""));
    assert!(cache.delete("k").unwrap());
    connection.ask("GET", "/entries/k", &[]).is_problem(404);
}

#[test]
fn caches_may_keep_an_entry_as_long_as_it_lives() {
    let (_directory, cache) = directory();
    let running = Running::start(&cache, Options::default());
    cache
        .set_with_ttl("k", "v", Duration::from_secs(3600))
        .unwrap();
    let answer = running.get("/entries/k");
    assert_eq!(answer.field("cache-control"), Some("max-age=3600"));
    let age: u64 = answer.field("age").unwrap().parse().unwrap();
    assert!(age < 3600);
}

#[test]
fn namespaces_and_keys_are_parts_of_the_path() {
    let (_directory, cache) = directory();
    let running = Running::start(&cache, Options::default());
    let shop = cache.namespace("shop").unwrap().namespace("e/u").unwrap();
    shop.set("a/b", "nested").unwrap();
    cache.set("a/b", "root").unwrap();
    cache.set([0u8, 255], "bytes").unwrap();
    cache.set("..", "dots").unwrap();
    cache.set("ключ 1%", "text").unwrap();
    for (target, value) in [
        ("/entries/shop/e%2Fu/a%2fb", "nested"),
        ("/entries/a%2Fb", "root"),
        ("/entries/hex:00ff", "bytes"),
        ("/entries/hex:2e2e", "dots"),
        ("/entries/%D0%BA%D0%BB%D1%8E%D1%87%201%25", "text"),
        ("/entries/a%2Fb?ignored=1", "root"),
    ] {
        assert_eq!(
            running.get(target).text(),
            format!("\"{value}\""),
            "{target}"
        );
    }
    // Decoded parts are no further parts.
    running.get("/entries/shop/e/u/a/b").is_problem(404);
    running.get("/entries/shop%2Fe%252Fu/a%2Fb").is_problem(404);
}

#[test]
fn a_namespace_of_the_server_is_the_root_of_its_clients() {
    let (_directory, cache) = directory();
    let shop = cache.namespace("shop").unwrap();
    let running = Running::start(&shop, Options::default());
    cache.set("k", "outside").unwrap();
    running.get("/entries/k").is_problem(404);
    shop.set("k", "inside").unwrap();
    assert_eq!(running.get("/entries/k").text(), "\"inside\"");
}

#[test]
fn without_redis_the_server_says_so() {
    let (_directory, cache) = directory();
    let running = Running::start(&cache, Options::default());
    for target in ["/streams/s", "/streams/s/live", "/reads/GET/k"] {
        let document = running.get(target).is_problem(404);
        let detail = document["detail"].as_str().unwrap();
        assert!(detail.contains("without Redis"), "{target}: {detail}");
    }
    let health = running.get("/healthz");
    assert_eq!(
        (health.status, &health.json()["remote"]),
        (200, &serde_json::Value::Null)
    );
}
