//! What clients can make the server hold, and how it stops.

use crate::process::until;
use crate::running::{directory, Running};
use polycache_serve::{Limits, Options};
use std::net::TcpStream;
use std::time::Duration;

fn limited(limits: Limits) -> Options {
    Options {
        limits,
        ..Options::default()
    }
}

#[test]
fn connections_beyond_the_bound_are_told_so() {
    let (_directory, cache) = directory();
    let limits = Limits {
        connections: 3,
        ..Limits::default()
    };
    let running = Running::start(&cache, limited(limits));
    let mut kept: Vec<_> = (0..3).map(|_| running.connect()).collect();
    for connection in &mut kept {
        assert_eq!(connection.ask("GET", "/healthz", &[]).status, 200);
    }
    let mut fourth = running.connect();
    let answer = fourth.answer("GET").expect("a refusal");
    answer.is_problem(503);
    assert_eq!(answer.field("retry-after"), Some("5"));
    fourth.is_closed();
    // The others are served, and who leaves makes room.
    assert_eq!(kept[0].ask("GET", "/healthz", &[]).status, 200);
    kept.pop();
    until("there is room again", || {
        let mut connection = running.connect();
        let _ = std::io::Write::write_all(
            connection.0.get_mut(),
            b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n",
        );
        connection.head().is_some_and(|answer| answer.status == 200)
    });
}

#[test]
fn idle_connections_end_and_make_room() {
    let (_directory, cache) = directory();
    let limits = Limits {
        connections: 16,
        header_time: Duration::from_millis(200),
        ..Limits::default()
    };
    let running = Running::start(&cache, limited(limits));
    let idle: Vec<TcpStream> = (0..400)
        .filter_map(|_| TcpStream::connect(running.address).ok())
        .collect();
    assert_eq!(idle.len(), 400);
    // Each of those that were taken is closed in its time, without having said a word.
    until("they made room", || {
        let mut connection = running.connect();
        let _ = std::io::Write::write_all(
            connection.0.get_mut(),
            b"GET /stats HTTP/1.1\r\nhost: localhost\r\n\r\n",
        );
        match connection.answer("GET") {
            Some(answer) if answer.status == 200 => {
                let own = &answer.json()["serve"];
                assert!(own["connections"].as_u64().unwrap() <= 16);
                own["refused_connections"].as_u64().unwrap() >= 384
            }
            _ => false,
        }
    });
}

#[test]
fn half_a_request_ends() {
    let (_directory, cache) = directory();
    let limits = Limits {
        header_time: Duration::from_millis(100),
        ..Limits::default()
    };
    let running = Running::start(&cache, limited(limits));
    let mut half = running.connect();
    half.send("GET /healthz HTTP/1.1\r\nhost: local");
    half.is_closed();
    // After an answer, too.
    let mut next = running.connect();
    assert_eq!(next.ask("GET", "/healthz", &[]).status, 200);
    next.send("GET /he");
    next.is_closed();
    assert_eq!(running.get("/healthz").status, 200);
}

#[test]
fn a_client_that_does_not_read_is_dropped() {
    let (_directory, cache) = directory();
    cache.set("large", &"x".repeat(16 << 20)).unwrap();
    let limits = Limits {
        write_time: Duration::from_millis(100),
        ..Limits::default()
    };
    let running = Running::start(&cache, limited(limits));
    let mut slow = running.connect();
    slow.send("GET /entries/large HTTP/1.1\r\nhost: localhost\r\n\r\n");
    // This one asks on a connection of its own.
    running.until("it is dropped", |own| {
        own["connections"] == 1 && own["answers"]["2xx"].as_u64() > Some(1)
    });
    let mut whole = Vec::new();
    let _ = std::io::Read::read_to_end(&mut slow.0, &mut whole);
    assert!(whole.len() < 16 << 20);
}

#[test]
fn it_stops_when_open_requests_are_answered() {
    let (_directory, cache) = directory();
    cache.set("large", &"x".repeat(8 << 20)).unwrap();
    let running = Running::start(&cache, Options::default());
    let address = running.address;
    let mut idle = running.connect();
    assert_eq!(idle.ask("GET", "/healthz", &[]).status, 200);
    let mut open = running.connect();
    open.send("GET /entries/large HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let mut answer = open.head().expect("it began");
    running.stop();
    idle.is_closed();
    let length: usize = answer.field("content-length").unwrap().parse().unwrap();
    answer.body = vec![0; length];
    std::io::Read::read_exact(&mut open.0, &mut answer.body).expect("all of it");
    running.join();
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn it_does_not_wait_for_a_client_for_ever() {
    let (_directory, cache) = directory();
    cache.set("large", &"x".repeat(32 << 20)).unwrap();
    let limits = Limits {
        stop_time: Duration::from_millis(100),
        ..Limits::default()
    };
    let running = Running::start(&cache, limited(limits));
    let mut open = running.connect();
    open.send("GET /entries/large HTTP/1.1\r\nhost: localhost\r\n\r\n");
    open.head().expect("it began");
    running.stop();
    running.join();
}
