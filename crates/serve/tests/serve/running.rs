//! A server that a test starts, and stops after it.

use crate::client::{Answer, Connection};
use crate::process::until;
use crate::server::{Server as RedisServer, PROGRAMS};
use polycache::Cache;
use polycache_serve::{Options, Redis, Server, Stopper};
use serde_json::Value;
use std::net::SocketAddr;
use std::thread::JoinHandle;

pub struct Running {
    pub address: SocketAddr,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub fn start(cache: &Cache, options: Options) -> Running {
        let listen = "127.0.0.1:0".parse().unwrap();
        let server = Server::bind(cache.clone(), Options { listen, ..options });
        let server = server.expect("it listens");
        Running {
            address: server.address(),
            stopper: server.stopper(),
            thread: Some(std::thread::spawn(move || server.run())),
        }
    }

    pub fn connect(&self) -> Connection {
        Connection::to(self.address)
    }

    pub fn get(&self, target: &str) -> Answer {
        self.connect().ask("GET", target, &[])
    }

    pub fn ask(&self, method: &str, target: &str, fields: &[&str]) -> Answer {
        self.connect().ask(method, target, fields)
    }

    /// What it says of itself; a second old at most.
    pub fn own(&self) -> Value {
        self.get("/stats").json()["serve"].take()
    }

    /// Waits until what it says of itself is so.
    pub fn until(&self, what: &str, holds: impl Fn(&Value) -> bool) {
        until(what, || holds(&self.own()));
    }

    pub fn stop(&self) {
        self.stopper.stop();
    }

    /// Waits until it has ended.
    pub fn join(mut self) {
        self.thread.take().unwrap().join().expect("it ends well");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A directory with a cache in it.
pub fn directory() -> (tempfile::TempDir, Cache) {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::builder().path(directory.path().join("cache"));
    (directory, cache.build().unwrap())
}

/// Redis, and a server over it with copies in memory. `None` where Redis is not installed.
pub fn over_redis(options: Options) -> Option<(RedisServer, Cache, Running)> {
    let redis = PROGRAMS.into_iter().find_map(RedisServer::start)?;
    let cache = Cache::builder().remote(redis.url()).build().unwrap();
    let running = Running::start(&cache, with(&redis.url(), options));
    Some((redis, cache, running))
}

pub fn with(url: &str, options: Options) -> Options {
    Options {
        redis: Some(Redis {
            url: url.to_owned(),
            prefixes: Vec::new(),
            scripts: false,
        }),
        ..options
    }
}
