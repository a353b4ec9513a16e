//! Who may ask.

use crate::running::{directory, Running};
use polycache_serve::{Error, Options, Redis, Server, Token};
use std::io::Write;

const SECRET: &str = "0123456789abcdef-secret";

#[test]
fn other_machines_need_a_token() {
    let (_directory, cache) = directory();
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let options = Options {
            listen: listen.parse().unwrap(),
            ..Options::default()
        };
        let refused = Server::bind(cache.clone(), options.clone());
        let Err(Error::InvalidArgument(why)) = refused else {
            panic!("{listen} was taken");
        };
        assert!(why.contains("--token-file"), "{why}");
        if listen.starts_with('0') {
            let token = Some(Token::new(SECRET).unwrap());
            Server::bind(cache.clone(), Options { token, ..options }).expect("with one it may");
        }
    }
}

#[test]
fn data_is_for_those_who_show_it() {
    let (_directory, cache) = directory();
    cache.set("k", "v").unwrap();
    let token = Some(Token::new(SECRET).unwrap());
    let running = Running::start(
        &cache,
        Options {
            token,
            ..Options::default()
        },
    );
    let right = format!("authorization: Bearer {SECRET}");
    let lower = format!("authorization: bearer {SECRET}");
    let longer = format!("{right}x");
    let shorter = &right[..right.len() - 1];
    let basic = format!("authorization: Basic {SECRET}");
    for target in ["/entries/k", "/stats", "/metrics"] {
        for field in [&right, &lower] {
            assert_eq!(running.ask("GET", target, &[field]).status, 200, "{target}");
        }
        for field in [&*longer, shorter, &basic, "authorization: Bearer ", "x: y"] {
            let answer = running.ask("GET", target, &[field]);
            answer.is_problem(401);
            let challenge = answer.field("www-authenticate").unwrap();
            assert!(challenge.starts_with("Bearer"), "{target} {field}");
        }
    }
    // What is not there is not told either.
    running.get("/nothing").is_problem(401);
    assert_eq!(running.get("/").status, 200);
    assert_eq!(running.get("/healthz").text(), r#"{"status":"ok"}"#);
    let health = running.ask("GET", "/healthz", &[&right]).json();
    assert!(health.as_object().unwrap().contains_key("remote"));
    // Another site's page cannot know it, so the server may have any name.
    let mut connection = running.connect();
    connection.send(format!(
        "GET /stats HTTP/1.1\r\nhost: cache.example\r\n{right}\r\n\r\n"
    ));
    assert_eq!(connection.answer("GET").unwrap().status, 200);
}

#[test]
fn a_prefix_that_every_key_has_is_refused() {
    let (_directory, cache) = directory();
    let redis = Redis {
        url: "redis://127.0.0.1:1".into(),
        prefixes: vec!["shop:".into(), String::new()],
        scripts: false,
    };
    let options = Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        redis: Some(redis),
        ..Options::default()
    };
    let refused = Server::bind(cache.clone(), options);
    let Err(Error::InvalidArgument(why)) = refused else {
        panic!("it was taken");
    };
    assert!(why.contains("--keys"), "{why}");
}

#[test]
fn tokens_are_long_and_plain() {
    for wrong in [
        "",
        "short",
        "0123456789abcde",
        "0123456789abcdef ghi",
        "0123456789абвгд",
    ] {
        assert!(Token::new(wrong).is_err(), "{wrong}");
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    assert!(Token::read(file.path()).is_err());
    writeln!(file, "{SECRET}").unwrap();
    let token = Token::read(file.path()).unwrap();
    assert!(!format!("{token:?}").contains(SECRET));
    assert!(Token::read(&file.path().join("absent")).is_err());
}
