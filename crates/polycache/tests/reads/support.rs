//! Reads that a test opens.

use crate::hosts::SECOND;
use crate::process::until;
use polycache::reads::{CachedReads, CachedReadsBuilder};
use polycache::Error;
use redis::{Cmd, FromRedisValue, RedisError, Value};
use tempfile::TempDir;

/// A command, its words separated by spaces.
pub fn command(words: &str) -> Cmd {
    let mut command = Cmd::new();
    words.split_whitespace().for_each(|word| {
        command.arg(word);
    });
    command
}

/// With a timeout for slow machines: a command that waits for its turn is no fault.
pub fn options(url: &str) -> CachedReadsBuilder {
    CachedReads::builder(url).timeout(SECOND * 5)
}

pub fn open(url: &str) -> CachedReads {
    options(url).build().expect("they open")
}

/// With a directory, which some share.
pub fn open_on_host(url: &str, directory: &TempDir) -> CachedReads {
    let built = options(url).path(directory.path()).build();
    built.expect("they open")
}

/// Waits until memory serves a read.
pub fn keeping(reads: &CachedReads, words: &str) {
    let command = command(words);
    until("memory serves it", || {
        let before = reads.stats().memory_hits;
        for _ in 0..2 {
            reads.query::<Value>(&command).expect("a reply");
        }
        reads.stats().memory_hits > before
    });
}

pub fn read<T: FromRedisValue>(reads: &CachedReads, words: &str) -> T {
    reads.query(&command(words)).expect("a reply")
}

/// Waits until a key reads so.
pub fn reads_as(reads: &CachedReads, key: &str, value: Option<&str>) {
    until("the value is read", || {
        read::<Option<String>>(reads, &format!("GET {key}")).as_deref() == value
    });
}

/// The error of the client or the server.
pub fn failure(error: Error) -> RedisError {
    match error {
        Error::ReadFailed(error) => (*error).clone(),
        other => panic!("{other:?}"),
    }
}
