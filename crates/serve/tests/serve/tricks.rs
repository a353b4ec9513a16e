//! Requests that nobody means well with.

use crate::running::{directory, Running};
use polycache_serve::{Error, Limits, Options, Server};

#[test]
fn strange_paths_are_problems() {
    let (_directory, cache) = directory();
    let running = Running::start(&cache, Options::default());
    for target in [
        "/entries/..",
        "/entries/%2e%2E/k",
        "/entries/shop/../k",
        "/entries/shop//k",
        "/entries//k",
        "/entries/shop/",
        "/entries/%00",
        "/entries/a%0D%0Ab",
        "/entries/a%",
        "/entries/%zz",
        "/entries/hex:0",
        "/entries/%FF/k",
    ] {
        running.get(target).is_problem(400);
    }
    for target in [
        "/entries",
        "/entries/",
        "/nothing",
        "//",
        "/streams",
        "/streams/",
        "/streams//live",
        "/streams/a/b",
        "/healthz/",
        "/entries/%25remote/k",
        "/./",
    ] {
        running.get(target).is_problem(404);
    }
}

#[test]
fn namespaces_are_not_nested_without_end() {
    let (_directory, cache) = directory();
    let running = Running::start(&cache, Options::default());
    let deep = |namespaces: usize| format!("/entries/{}k", "a/".repeat(namespaces));
    running.get(&deep(Limits::NAMESPACES)).is_problem(404);
    let refused = running.get(&deep(Limits::NAMESPACES + 1)).is_problem(400);
    assert_eq!(refused["parameter"], "path");
    // As many as a path may hold.
    running.get(&deep(4000)).is_problem(400);
}

#[test]
fn what_is_too_long_is_refused() {
    let (_directory, cache) = directory();
    let running = Running::start(&cache, Options::default());
    let long = format!("/entries/{}", "a".repeat(Limits::TARGET));
    running.get(&long).is_problem(414);
    // Beyond these bounds no document is made: the header is not read to its end.
    let mut connection = running.connect();
    connection.send("GET / HTTP/1.1\r\nhost: localhost\r\nx: ");
    let large = vec![b'a'; Limits::HEADER];
    let _ = std::io::Write::write_all(connection.0.get_mut(), &large);
    let status = connection.head().map(|answer| answer.status);
    assert!(matches!(status, None | Some(431)), "{status:?}");
    let fields: Vec<String> = (0..=Limits::FIELDS).map(|n| format!("x-{n}: 1")).collect();
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    assert_eq!(running.ask("GET", "/", &fields).status, 431);
}

#[test]
fn only_get_and_head_and_no_body() {
    let (_directory, cache) = directory();
    let running = Running::start(&cache, Options::default());
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
        let answer = running.ask(method, "/entries/k", &[]);
        answer.is_problem(405);
        assert_eq!(answer.field("allow"), Some("GET, HEAD"));
    }
    for field in ["content-length: 5", "transfer-encoding: chunked"] {
        let answer = running.ask("GET", "/", &[field]);
        answer.is_problem(413);
        assert_eq!(answer.field("connection"), Some("close"));
    }
}

#[test]
fn hosts_of_others_are_refused() {
    let (_directory, cache) = directory();
    let hosts = vec!["cache.example".to_owned()];
    let running = Running::start(
        &cache,
        Options {
            hosts,
            ..Options::default()
        },
    );
    let status = |request: &str| {
        let mut connection = running.connect();
        connection.send(request);
        connection.answer("GET").expect("an answer").status
    };
    for (request, expected) in [
        ("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n", 200),
        ("GET / HTTP/1.1\r\nhost: LOCALHOST:8080\r\n\r\n", 200),
        ("GET / HTTP/1.1\r\nhost: [::1]:80\r\n\r\n", 200),
        ("GET / HTTP/1.1\r\nhost: cache.example:80\r\n\r\n", 200),
        // It may be listened at, too.
        ("GET / HTTP/1.1\r\nhost: 127.0.0.2:8080\r\n\r\n", 200),
        ("GET / HTTP/1.1\r\nhost: 10.0.0.1\r\n\r\n", 421),
        ("GET / HTTP/1.0\r\n\r\n", 200),
        (
            "GET http://localhost/ HTTP/1.1\r\nhost: localhost\r\n\r\n",
            200,
        ),
        ("GET / HTTP/1.1\r\nhost: evil.example\r\n\r\n", 421),
        ("GET / HTTP/1.0\r\nhost: evil.example\r\n\r\n", 421),
        (
            "GET / HTTP/1.1\r\nhost: 127.0.0.1.evil.example\r\n\r\n",
            421,
        ),
        (
            "GET / HTTP/1.1\r\nhost: localhost@evil.example\r\n\r\n",
            421,
        ),
        ("GET / HTTP/1.1\r\nhost:\r\n\r\n", 421),
        (
            "GET http://evil.example/ HTTP/1.1\r\nhost: localhost\r\n\r\n",
            421,
        ),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        (
            "GET / HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n\r\n",
            400,
        ),
        ("GET  / HTTP/1.1\r\n\r\n", 400),
        ("nonsense\r\n\r\n", 400),
    ] {
        assert_eq!(status(request), expected, "{request:?}");
    }
}

#[test]
fn a_host_that_no_request_can_have_is_refused() {
    let (_directory, cache) = directory();
    for host in ["", "cache.example:8080", "http://cache.example"] {
        let options = Options {
            listen: "127.0.0.1:0".parse().unwrap(),
            hosts: vec![host.to_owned()],
            ..Options::default()
        };
        let Err(Error::InvalidArgument(why)) = Server::bind(cache.clone(), options) else {
            panic!("{host:?} was taken");
        };
        assert!(why.contains("--host"), "{why}");
    }
}
