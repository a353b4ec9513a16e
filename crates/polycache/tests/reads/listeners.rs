//! The process of a host that hears of writes, and its end.

use crate::hosts::SECOND;
use crate::process::until;
use crate::server::Server;
use crate::support::{command, keeping, options, reads_as};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Another process of the host, which prints what it reads under `k` from its memory.
struct Reader {
    process: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Reader {
    fn start(url: &str, path: &Path) -> Reader {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "--nocapture",
                "listeners::a_process_that_reads",
            ])
            .env("READS_URL", url)
            .env("READS_PATH", path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Reader { process, lines }
    }

    /// Waits until it reads this, from its memory.
    fn until(&mut self, value: &str) {
        let read = format!("read {value}");
        let found = self.lines.find(|line| line.as_ref().unwrap() == &read);
        assert!(found.is_some(), "the reader has ended");
    }
}

#[test]
#[ignore = "a program that other tests run"]
fn a_process_that_reads() {
    let Ok(url) = std::env::var("READS_URL") else {
        return;
    };
    let reads = options(&url)
        .path(std::env::var("READS_PATH").unwrap())
        .max_staleness(SECOND * 2)
        .build()
        .unwrap();
    let get = command("GET k");
    let mut last = String::new();
    until("it is killed", || {
        let before = reads.stats().memory_hits;
        let found: String = reads.query(&get).unwrap();
        if reads.stats().memory_hits > before && found != last {
            println!("read {found}");
            last = found;
        }
        false
    });
}

#[test]
fn another_process_listens_when_the_one_that_did_is_killed() {
    let Some(server) = Server::start("redis-server") else {
        return;
    };
    server.ask::<()>("SET k first").unwrap();
    let directory = TempDir::new().unwrap();
    let mut first = Reader::start(&server.url(), directory.path());
    first.until("first");
    let reads = options(&server.url())
        .path(directory.path())
        .max_staleness(SECOND * 2)
        .build()
        .unwrap();
    keeping(&reads, "GET k");
    drop(first);
    server.ask::<()>("SET k second").unwrap();
    reads_as(&reads, "k", Some("second"));
    keeping(&reads, "GET k");
    let mut other = Reader::start(&server.url(), directory.path());
    other.until("second");
    server.ask::<()>("SET k third").unwrap();
    other.until("third");
    reads_as(&reads, "k", Some("third"));
}
