//! What a server is told.

use crate::Token;
use std::net::SocketAddr;
use std::time::Duration;

/// What to serve, and to whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to listen; port 0 is any free one. Default: 127.0.0.1:8080.
    pub listen: SocketAddr,
    /// What clients must show. Without one, only a loopback address is listened at. Default: none.
    pub token: Option<Token>,
    /// Names that the field Host may have beside those of the loopback interface; without a port. Default: none.
    pub hosts: Vec<String>,
    /// The server of the streams, where the cache has one. Default: none.
    pub redis: Option<Redis>,
    /// What metrics call the cache. Default: `default`.
    pub name: String,
    /// Bounds.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            token: None,
            hosts: Vec::new(),
            redis: None,
            name: "default".into(),
            limits: Limits::default(),
        }
    }
}

/// Where the streams are.
#[derive(Clone, Debug)]
pub struct Redis {
    /// As `redis://127.0.0.1:6379/0`.
    pub url: String,
    /// What the keys begin with that `/streams` and `/reads` show; none for all. Default: none.
    pub prefixes: Vec<String>,
    /// Whether `/reads` may run scripts, which read every key whatever the prefixes say, and may run for ever. Default:
    /// false.
    pub scripts: bool,
}

/// Bounds of what clients can make the server hold.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at once; further ones are told 503. Fewer where the process may not open as many files. Default: 1024.
    pub connections: usize,
    /// Readers of live streams at once. Default: 256.
    pub listeners: usize,
    /// Different streams that are followed at once, each with a connection of its own to Redis. Default: 32.
    pub streams: usize,
    /// Most entries of a stream in one answer. Default: 10000.
    pub entries: u64,
    /// What one reply of Redis to a stream's or another read may take in memory, about: its bytes, and 32 for each of its
    /// lines, as Redis sends it. Not over TLS. Default: 16 MiB.
    pub reply: u64,
    /// How long a client may take to send a request's header, and how long a connection may be idle. Default: 15 s.
    pub header_time: Duration,
    /// How long an answer may take. Default: 30 s.
    pub request_time: Duration,
    /// How long a client may leave what was sent unread. Default: 30 s.
    pub write_time: Duration,
    /// How long open requests may take once the server is told to stop. Default: 10 s.
    pub stop_time: Duration,
    /// How often a live stream says that it is there. Default: 15 s.
    pub heartbeat: Duration,
}

impl Limits {
    /// Bytes of a request's target.
    pub const TARGET: usize = 8 * 1024;
    /// Bytes of a request's whole header.
    pub const HEADER: usize = 32 * 1024;
    /// Fields of a request's header.
    pub const FIELDS: usize = 64;
    /// Namespaces in a path, one in the other. Thousands would take seconds of a processor's time.
    pub const NAMESPACES: usize = 64;
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 1024,
            listeners: 256,
            streams: 32,
            entries: 10_000,
            reply: 16 << 20,
            header_time: Duration::from_secs(15),
            request_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            stop_time: Duration::from_secs(10),
            heartbeat: Duration::from_secs(15),
        }
    }
}
