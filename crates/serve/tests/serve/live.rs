//! Live streams.

use crate::client::Connection;
use crate::process::until;
use crate::running::{over_redis, Running};
use polycache_serve::{Limits, Options};
use std::time::Duration;

/// A client of a live stream.
struct Events(Connection);

impl Events {
    fn of(running: &Running, target: &str, fields: &[&str]) -> Events {
        let mut connection = running.connect();
        let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
        connection.send(format!(
            "GET {target} HTTP/1.1\r\nhost: localhost\r\n{fields}\r\n"
        ));
        let head = connection.head().expect("an answer");
        assert_eq!(head.status, 200, "{head:?}");
        assert_eq!(head.field("content-type"), Some("text/event-stream"));
        assert_eq!(head.field("transfer-encoding"), Some("chunked"));
        let mut events = Events(connection);
        let first = events.next().expect("when to come back");
        let after = first.strip_prefix("retry: ").expect("milliseconds");
        assert!((1000..=3000).contains(&after.parse().unwrap()), "{first}");
        events
    }

    /// The next block of lines, without those of the chunks; `None` at the end.
    fn next(&mut self) -> Option<String> {
        let mut block = Vec::new();
        loop {
            let line = self.0.line()?;
            if line.is_empty() && !block.is_empty() {
                return Some(block.join("\n"));
            }
            let is_size = !line.contains(':') && u64::from_str_radix(&line, 16).is_ok();
            if line == "0" {
                return None;
            }
            if !line.is_empty() && !is_size {
                block.push(line);
            }
        }
    }

    fn id(&mut self) -> String {
        let event = self.next().expect("an event");
        let id = event.strip_prefix("id: ").expect("an id");
        id.lines().next().unwrap().to_owned()
    }
}

fn add(redis: &crate::server::Server, words: &str) {
    redis.ask::<redis::Value>(words).unwrap();
}

#[test]
fn what_comes_is_sent_to_all_that_listen_by_one_connection() {
    let Some((redis, _cache, running)) = over_redis(Options::default()) else {
        return;
    };
    add(&redis, "XADD s 1-0 before x");
    let mut first = Events::of(&running, "/streams/s/live", &[]);
    let mut second = Events::of(&running, "/streams/s/live", &[]);
    add(&redis, "XADD s 2-0 text a\u{e9}b");
    let expected = "id: 2-0\ndata: [\"2-0\",[\"text\",\"a\u{e9}b\"]]";
    assert_eq!(first.next().as_deref(), Some(expected));
    assert_eq!(second.next().as_deref(), Some(expected));
    let clients = redis.ask::<String>("CLIENT LIST").unwrap();
    let following = clients.lines().filter(|line| line.contains("cmd=xread"));
    assert_eq!(following.count(), 1, "{clients}");
    running.until("both are counted", |own| {
        own["listeners"] == 2 && own["streams"] == 1
    });
    drop((first, second));
    running.until("nobody is", |own| {
        own["listeners"] == 0 && own["streams"] == 0
    });
    until("the connection ends", || {
        !redis
            .ask::<String>("CLIENT LIST")
            .unwrap()
            .contains("cmd=xread")
    });
}

#[test]
fn a_client_goes_on_after_what_it_had_last() {
    let Some((redis, _cache, running)) = over_redis(Options::default()) else {
        return;
    };
    // More than one page.
    for n in 1..=250 {
        add(&redis, &format!("XADD s {n}-0 n {n}"));
    }
    let mut events = Events::of(&running, "/streams/s/live", &["last-event-id: 7-0"]);
    for n in 8..=250 {
        assert_eq!(events.id(), format!("{n}-0"));
    }
    add(&redis, "XADD s 251-0 n 251");
    assert_eq!(events.id(), "251-0");
    let mut events = Events::of(&running, "/streams/s/live?after=250-0", &[]);
    assert_eq!(events.id(), "251-0");
    for field in [
        "last-event-id: x",
        "last-event-id: 1",
        "last-event-id: 1-0 ",
    ] {
        let answer = running.ask("GET", "/streams/s/live", &[field]);
        match field.ends_with(' ') {
            true => assert_eq!(answer.status, 200),
            false => assert_eq!(answer.is_problem(400)["parameter"], "Last-Event-ID"),
        }
    }
    running
        .get("/streams/s/live?after=1-0&after=2-0")
        .is_problem(400);
    add(&redis, "SET text v");
    running.get("/streams/text/live").is_problem(409);
}

#[test]
fn head_says_what_get_would_and_listens_to_nothing() {
    let Some((redis, _cache, running)) = over_redis(Options::default()) else {
        return;
    };
    add(&redis, "XADD s 1-0 a b");
    add(&redis, "SET text v");
    let mut connection = running.connect();
    for (target, status) in [
        ("/streams/s/live", 200),
        ("/streams/s/live?after=1-0", 200),
        ("/streams/s/live?after=x", 400),
        ("/streams/text/live", 409),
    ] {
        let head = connection.ask("HEAD", target, &[]);
        let mut other = running.connect();
        other.send(format!("GET {target} HTTP/1.1\r\nhost: localhost\r\n\r\n"));
        let get = other.head().expect("an answer");
        let fields = |answer: &crate::client::Answer| {
            let mut fields = answer.fields.clone();
            // The coding of a body that is not sent may be left out (RFC 9110 9.3.2).
            fields.retain(|(name, _)| name != "date" && name != "transfer-encoding");
            fields.sort();
            fields
        };
        assert_eq!((head.status, get.status), (status, status), "{target}");
        assert_eq!(fields(&head), fields(&get), "{target}");
        let has_length = head.field("content-length").is_some();
        assert_eq!(has_length, status != 200, "{target}");
    }
    drop(connection);
    running.until("nobody listens", |own| {
        own["listeners"] == 0 && own["streams"] == 0
    });
}

#[test]
fn a_stream_that_lost_its_last_entry_goes_on() {
    let Some((redis, _cache, running)) = over_redis(Options::default()) else {
        return;
    };
    for n in 1..=300 {
        add(&redis, &format!("XADD s {n}-0 n {n}"));
    }
    let mut events = Events::of(&running, "/streams/s/live", &[]);
    // What a replica has that takes its primary's place.
    add(&redis, "COPY s saved");
    add(&redis, "XADD s 301-0 n lost");
    assert_eq!(events.id(), "301-0");
    add(&redis, "COPY saved s REPLACE");
    let gap = "event: gap\nid: 300-0\ndata: {\"from\":\"301-0\",\"to\":\"300-0\"}";
    assert_eq!(events.next().as_deref(), Some(gap));
    // A client that comes back with the lost one hears no more, either.
    let mut late = Events::of(&running, "/streams/s/live", &["last-event-id: 301-0"]);
    add(&redis, "XADD s 301-0 n other");
    let expected = "id: 301-0\ndata: [\"301-0\",[\"n\",\"other\"]]";
    assert_eq!(events.next().as_deref(), Some(expected));
    assert_eq!(late.next().as_deref(), Some(expected));
}

#[test]
fn a_client_is_told_what_it_cannot_hear() {
    let Some((redis, _cache, running)) = over_redis(Options::default()) else {
        return;
    };
    for n in 1..=10 {
        add(&redis, &format!("XADD s {n}-0 n {n}"));
    }
    // Nothing was removed before the first one.
    let mut whole = Events::of(&running, "/streams/s/live?after=0-1", &[]);
    assert_eq!(whole.id(), "1-0");
    add(&redis, "XTRIM s MAXLEN 3");
    let mut events = Events::of(&running, "/streams/s/live", &["last-event-id: 2-0"]);
    let gap = "event: gap\ndata: {\"from\":\"2-0\",\"to\":\"8-0\"}";
    assert_eq!(events.next().as_deref(), Some(gap));
    for n in 8..=10 {
        assert_eq!(events.id(), format!("{n}-0"));
    }
    let mut events = Events::of(&running, "/streams/s/live", &["last-event-id: 8-0"]);
    assert_eq!(events.id(), "9-0");
    let mut events = Events::of(&running, "/streams/s/live?after=0-0", &[]);
    assert_eq!(events.id(), "8-0");
    // An id that the stream has not given out, and nobody saw why.
    let mut events = Events::of(&running, "/streams/s/live", &["last-event-id: 50-0"]);
    let gap = "event: gap\nid: 10-0\ndata: {\"from\":\"50-0\",\"to\":\"10-0\"}";
    assert_eq!(events.next().as_deref(), Some(gap));
    add(&redis, "XADD s 11-0 n 11");
    assert_eq!(events.id(), "11-0");
}

#[test]
fn nothing_is_lost_while_events_come() {
    let Some((redis, _cache, running)) = over_redis(Options::default()) else {
        return;
    };
    let port = redis.url();
    let writer = std::thread::spawn(move || {
        let mut connection = redis::Client::open(port).unwrap().get_connection().unwrap();
        for n in 1..=2000 {
            let mut command = redis::cmd("XADD");
            command.arg("s").arg(format!("{n}-0")).arg("n").arg(n);
            command.query::<String>(&mut connection).unwrap();
        }
    });
    // Whenever each begins, it hears every entry once and in order.
    for _ in 0..5 {
        let mut events = Events::of(&running, "/streams/s/live?after=0-0", &[]);
        for n in 1..=300 {
            assert_eq!(events.id(), format!("{n}-0"));
        }
    }
    writer.join().unwrap();
}

#[test]
fn a_silent_stream_says_that_it_is_there() {
    let limits = Limits {
        heartbeat: Duration::from_millis(20),
        ..Limits::default()
    };
    let Some((_redis, _cache, running)) = over_redis(Options {
        limits,
        ..Options::default()
    }) else {
        return;
    };
    let mut events = Events::of(&running, "/streams/s/live", &[]);
    for _ in 0..3 {
        assert_eq!(events.next().as_deref(), Some(":"));
    }
}

#[test]
fn a_slow_reader_is_dropped_and_the_others_are_not() {
    let limits = Limits {
        write_time: Duration::from_millis(500),
        ..Limits::default()
    };
    let Some((redis, _cache, running)) = over_redis(Options {
        limits,
        ..Options::default()
    }) else {
        return;
    };
    let mut slow = Events::of(&running, "/streams/s/live", &[]);
    let mut quick = Events::of(&running, "/streams/s/live", &[]);
    let mut connection = redis.plain();
    for n in 1..=400 {
        let mut command = redis::cmd("XADD");
        command.arg("s").arg(format!("{n}-0"));
        command.arg("n").arg("x".repeat(100_000));
        command.query::<String>(&mut connection).unwrap();
        assert_eq!(quick.id(), format!("{n}-0"));
    }
    running.until("the slow one is dropped", |own| own["listeners"] == 1);
    // What it had got until then, and an end.
    let mut last = String::new();
    while let Some(event) = slow.next() {
        match event.strip_prefix("id: ") {
            Some(id) => last = id.lines().next().unwrap().to_owned(),
            None => break,
        }
    }
    assert_ne!(last, "400-0");
    add(&redis, "XADD s 401-0 n 401");
    assert_eq!(quick.id(), "401-0");
}

#[test]
fn large_entries_are_not_read_before_their_client_reads() {
    let Some((redis, _cache, running)) = over_redis(Options::default()) else {
        return;
    };
    let large = "x".repeat(1 << 20);
    for n in 1..=60 {
        add(&redis, &format!("XADD s {n}-0 f {large}"));
    }
    let sent = || -> u64 {
        let stats = redis.ask::<String>("INFO stats").unwrap();
        let bytes = stats
            .lines()
            .find_map(|line| line.strip_prefix("total_net_output_bytes:"));
        bytes.expect("it counts them").parse().unwrap()
    };
    let before = sent();
    let mut events = Events::of(&running, "/streams/s/live", &["last-event-id: 0-0"]);
    // Both ends of the stream, what is remembered of it, and a page or two.
    let read = sent() - before;
    assert!(read < 30 << 20, "{read} bytes");
    for n in 1..=60 {
        assert_eq!(events.id(), format!("{n}-0"));
    }
    add(&redis, "XADD s 61-0 f v");
    assert_eq!(events.id(), "61-0");
}

#[test]
fn listeners_and_streams_are_bounded() {
    let limits = Limits {
        listeners: 2,
        streams: 1,
        ..Limits::default()
    };
    let Some((_redis, _cache, running)) = over_redis(Options {
        limits,
        ..Options::default()
    }) else {
        return;
    };
    let first = Events::of(&running, "/streams/a/live", &[]);
    running.get("/streams/b/live").is_problem(503);
    let second = Events::of(&running, "/streams/a/live", &[]);
    running.get("/streams/a/live").is_problem(503);
    drop(first);
    running.until("there is room", |own| own["listeners"] == 1);
    let _third = Events::of(&running, "/streams/a/live", &[]);
    drop(second);
}

#[test]
fn a_stream_that_begins_anew_is_heard() {
    let Some((redis, _cache, running)) = over_redis(Options::default()) else {
        return;
    };
    add(&redis, "XADD s 100-0 a b");
    let mut events = Events::of(&running, "/streams/s/live?after=0-0", &[]);
    assert_eq!(events.id(), "100-0");
    add(&redis, "FLUSHALL");
    add(&redis, "XADD s 1-0 a b");
    add(&redis, "XADD s 2-0 a b");
    assert_eq!(events.id(), "1-0");
    assert_eq!(events.id(), "2-0");
    // A client that had the last entry of the deleted one missed all of this one.
    let mut late = Events::of(&running, "/streams/s/live", &["last-event-id: 100-0"]);
    assert_eq!(late.id(), "1-0");
    assert_eq!(late.id(), "2-0");
    add(&redis, "XADD s 3-0 a b");
    assert_eq!((events.id(), late.id()), ("3-0".into(), "3-0".into()));
}

#[test]
fn streams_end_when_the_server_stops() {
    let Some((_redis, _cache, running)) = over_redis(Options::default()) else {
        return;
    };
    let mut events = Events::of(&running, "/streams/s/live", &[]);
    running.stop();
    assert_eq!(events.next(), None);
    running.join();
}
