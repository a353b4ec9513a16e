//! A primary, a replica and a Sentinel that watches them, started on free ports of the loopback interface.

use crate::process::{free_ports, until, Process};
use tempfile::TempDir;

/// What the service is called.
pub const SERVICE: &str = "shop";

pub struct Watched {
    /// The primary, and its replica.
    pub servers: [Process; 2],
    pub sentinel: Process,
    /// For the Sentinel's own file.
    _directory: TempDir,
}

impl Watched {
    /// `None` where redis-server is not installed.
    pub fn start() -> Option<Watched> {
        let directory = TempDir::new().expect("a directory");
        let ports = free_ports(3);
        let [first, second, third] = [ports[0], ports[1], ports[2]];
        let path = directory.path().to_str().expect("a path");
        let plain = ["--save", "", "--appendonly", "no", "--dir", path];
        let primary = Process::start(first, plain)?;
        let of_first = format!("127.0.0.1 {first}");
        let port = first.to_string();
        let copies = ["--replicaof", "127.0.0.1", &port];
        let replica = Process::start(second, plain.into_iter().chain(copies))?;
        primary.answers();
        until("the replica has what its primary has", || {
            let info = replica.ask::<String>("INFO replication");
            info.is_ok_and(|info| info.contains("master_link_status:up"))
        });
        let file = directory.path().join("sentinel.conf");
        let text = format!(
            "sentinel monitor {SERVICE} {of_first} 1\n\
             sentinel down-after-milliseconds {SERVICE} 500\n\
             sentinel failover-timeout {SERVICE} 2000\n"
        );
        std::fs::write(&file, text).expect("a file");
        let sentinel = Process::start(third, [file.to_str().expect("a path"), "--sentinel"])?;
        let watched = Watched {
            servers: [primary, replica],
            sentinel,
            _directory: directory,
        };
        until("the Sentinel knows the replica", || {
            let info = watched.sentinel.ask::<String>("INFO sentinel");
            info.is_ok_and(|info| info.contains("status=ok") && info.contains("slaves=1"))
        });
        Some(watched)
    }
}

/// `master` or `slave`.
pub fn role(server: &Process) -> Option<String> {
    let info: String = server.ask("INFO replication").ok()?;
    let role = info.lines().find_map(|line| line.strip_prefix("role:"))?;
    Some(role.to_owned())
}
