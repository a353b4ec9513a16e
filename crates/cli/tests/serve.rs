//! `serve` as a process: how it starts, and how it ends.

mod support;

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use support::{polycache, Place, Ran};

/// A server, which says where it listens in its first line.
struct Serving {
    child: Child,
    said: String,
}

impl Serving {
    fn start(command: &mut Command) -> Serving {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let out = child.stdout.as_mut().unwrap();
        BufReader::new(out).read_line(&mut said).unwrap();
        Serving { child, said }
    }

    fn address(&self) -> &str {
        let (_, address) = self.said.split_once("http://").expect("a URL");
        address.trim_end_matches(['"', '\n', '}', ','])
    }

    fn get(&self, target: &str, fields: &str) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let head = "host: localhost\r\nconnection: close";
        write!(stream, "GET {target} HTTP/1.1\r\n{head}\r\n{fields}\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn signal(&mut self, name: &str) -> Option<i32> {
        let process = self.child.id().to_string();
        let told = Command::new("kill").args([name, &process]).status();
        assert!(told.unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ANYWHERE: [&str; 2] = ["--listen", "127.0.0.1:0"];

#[test]
fn it_says_where_and_ends_when_it_is_told() {
    let place = Place::new();
    place.run(&["set", "-n", "shop", "k", "v"]).ok();
    for (signal, json) in [("-TERM", false), ("-INT", true)] {
        let mut command = polycache();
        command.arg("serve").arg(place.path()).args(ANYWHERE);
        if json {
            command.arg("--json");
        }
        let mut serving = Serving::start(&mut command);
        if json {
            let said: Value = serde_json::from_str(&serving.said).unwrap();
            assert_eq!(said["path"], place.path().to_str().unwrap());
        }
        let answer = serving.get("/entries/shop/k", "");
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("\r\n\r\n\"v\""),
            "{answer}"
        );
        assert_eq!(serving.signal(signal), Some(0));
    }
}

#[test]
fn a_token_may_come_from_the_environment() {
    let place = Place::new();
    place.run(&["set", "k", "v"]).ok();
    let mut command = place.command(&["serve"]);
    command
        .args(["--listen", "0.0.0.0:0"])
        .env("POLYCACHE_TOKEN", "0123456789abcdef");
    let mut serving = Serving::start(&mut command);
    assert!(serving.get("/entries/k", "").starts_with("HTTP/1.1 401"));
    let shown = "authorization: Bearer 0123456789abcdef\r\n";
    assert!(serving.get("/entries/k", shown).starts_with("HTTP/1.1 200"));
    assert_eq!(serving.signal("-TERM"), Some(0));
}

#[test]
fn what_cannot_be_served_ends_at_once() {
    let place = Place::new();
    place.run(&["serve"]).failed(3, "polycache set");
    place.run(&["set", "k", "v"]).ok();
    let alone = Ran::new(polycache().arg("serve").output().unwrap());
    alone.failed(2, "--path");
    place
        .run(&["serve", "--listen", "0.0.0.0:0"])
        .failed(2, "--token-file");
    place
        .run(&["serve", "--listen", "localhost"])
        .failed(2, "--listen");
    place
        .run(&["serve", "--max-connections", "0"])
        .failed(2, "from 1 on");
    place
        .run(&["serve", "--token-file", "/nonexistent"])
        .failed(2, "/nonexistent");
    let mut short = place.command(&["serve"]);
    let short = short.env("POLYCACHE_TOKEN", "short").output().unwrap();
    Ran::new(short).failed(2, "16 characters");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    place
        .run(&["serve", "--listen", &address])
        .failed(4, &address);
    let (code, error) = place.json_error(&["serve", "--listen", &address]);
    assert_eq!((code, &error["code"]), (Some(4), &"io".into()));
    let wrong = Ran::new(
        polycache()
            .args(["serve", "-r", "http://x"])
            .output()
            .unwrap(),
    );
    wrong.failed(2, "URL");
}
