//! Real servers on free ports of the loopback interface, stopped when they are dropped.

use crate::outcome::Fallible;
use crate::process;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long what must come to pass may take.
const PATIENCE: Duration = Duration::from_secs(40);

/// A server, or a node of a Cluster.
pub struct Server {
    child: Child,
    program: String,
    words: Vec<String>,
    /// Where it listens.
    pub port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Server {
    /// A server without files.
    pub fn single(program: &str, folder: &Path) -> Fallible<Server> {
        let ports = free_ports(1)?;
        Server::start(program, ports[0], folder, &[])
    }

    fn start(program: &str, port: u16, folder: &Path, more: &[&str]) -> Fallible<Server> {
        let folder = folder.to_str().ok_or("a path that is text")?;
        let port_word = port.to_string();
        let mut words = vec!["--bind", "127.0.0.1", "--port", &port_word];
        words.extend(["--save", "", "--appendonly", "no", "--dir", folder]);
        words.extend(more);
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        let server = Server {
            child: spawn(program, &words)?,
            program: program.to_owned(),
            words,
            port,
        };
        server.answers()?;
        Ok(server)
    }

    /// Whether such a program is there.
    pub fn is_there(program: &str) -> bool {
        let asked = Command::new(program)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        asked.is_ok_and(|status| status.success())
    }

    /// Its version, as it says itself.
    pub fn version(&self) -> Fallible<String> {
        let info: String = self.ask("INFO server")?;
        let value = |name: &str| info.lines().find_map(|line| line.strip_prefix(name));
        let valkey = value("valkey_version:").map(|version| format!("Valkey {version}"));
        let redis = || format!("Redis {}", value("redis_version:").unwrap_or("?"));
        Ok(valkey.unwrap_or_else(redis))
    }

    /// The same server at the same port, empty.
    pub fn start_again(&mut self) -> Fallible<()> {
        self.kill();
        self.child = spawn(&self.program, &self.words)?;
        self.answers()
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// From now on it takes connections and commands, and answers none.
    pub fn hang(&self) {
        process::signal(&self.child, libc::SIGSTOP);
    }

    /// It answers again.
    pub fn go_on(&self) {
        process::signal(&self.child, libc::SIGCONT);
    }

    /// A connection of its own.
    pub fn connect(&self) -> redis::RedisResult<redis::Connection> {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}", self.port))?;
        client.get_connection_with_timeout(Duration::from_secs(2))
    }

    /// Sends one command, its words separated by spaces.
    pub fn ask<T: redis::FromRedisValue>(&self, words: &str) -> redis::RedisResult<T> {
        let mut command = redis::Cmd::new();
        words.split(' ').for_each(|word| {
            command.arg(word);
        });
        let mut connection = self.connect()?;
        connection.set_read_timeout(Some(Duration::from_secs(5)))?;
        command.query(&mut connection)
    }

    fn answers(&self) -> Fallible<()> {
        until(&format!("{} answers", self.program), || {
            self.ask::<String>("PING").is_ok()
        })
    }

    /// A line of what it says of its replication.
    fn replication(&self, name: &str) -> Option<String> {
        let info: String = self.ask("INFO replication").ok()?;
        let lines = info.lines().map(str::to_owned);
        lines
            .filter_map(|line| line.strip_prefix(name).map(str::to_owned))
            .next()
    }

    fn is_primary(&self) -> bool {
        self.replication("role:").as_deref() == Some("master")
    }
}

fn spawn(program: &str, words: &[String]) -> Fallible<Child> {
    let mut command = Command::new(program);
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    process::end_with_us(&mut command);
    Ok(command.spawn()?)
}

/// Three primaries with a replica each. Primary and replica `n` are the nodes `n` and `n + 3`, until one fails over.
pub struct Cluster {
    /// All nodes.
    pub nodes: Vec<Server>,
}

/// Primaries.
const PRIMARIES: usize = 3;

impl Cluster {
    /// Starts it, and waits until all know all.
    pub fn start(program: &str, folder: &Path) -> Fallible<Cluster> {
        let ports = free_ports(4 * PRIMARIES)?;
        let (ports, buses) = ports.split_at(2 * PRIMARIES);
        let mut nodes = Vec::new();
        for (port, bus) in ports.iter().zip(buses) {
            let options = format!(
                "--cluster-port {bus} --cluster-enabled yes --cluster-config-file {port}.conf \
                 --cluster-node-timeout 1500 --repl-diskless-sync-delay 0"
            );
            let options: Vec<&str> = options.split_whitespace().collect();
            nodes.push(Server::start(program, *port, folder, &options)?);
        }
        let cluster = Cluster { nodes };
        cluster.meet(buses)?;
        Ok(cluster)
    }

    fn meet(&self, buses: &[u16]) -> Fallible<()> {
        for (place, node) in self.nodes.iter().enumerate() {
            if let Some(slots) = ["0 5460", "5461 10922", "10923 16383"].get(place) {
                let _: () = node.ask(&format!("CLUSTER ADDSLOTSRANGE {slots}"))?;
            }
            // Epochs that differ from the beginning are not fought over.
            let _: () = node.ask(&format!("CLUSTER SET-CONFIG-EPOCH {}", place + 1))?;
        }
        for (node, bus) in self.nodes.iter().zip(buses) {
            let _: () =
                self.nodes[0].ask(&format!("CLUSTER MEET 127.0.0.1 {} {bus}", node.port))?;
        }
        for (place, replica) in self.nodes.iter().enumerate().skip(PRIMARIES) {
            let primary: String = self.nodes[place - PRIMARIES].ask("CLUSTER MYID")?;
            until("a node is a replica", || {
                let told = replica.ask::<()>(&format!("CLUSTER REPLICATE {primary}"));
                told.is_ok()
            })?;
        }
        self.is_whole()
    }

    /// Waits until all know all, and each replica has what its primary has.
    pub fn is_whole(&self) -> Fallible<()> {
        let known = format!("cluster_known_nodes:{}\r", self.nodes.len());
        until("the Cluster is whole", || {
            let primaries = self.nodes.iter().filter(|node| node.is_primary()).count();
            let whole = |node: &Server| {
                let info = node.ask::<String>("CLUSTER INFO").unwrap_or_default();
                let linked = node.replication("master_link_status:");
                let linked = node.is_primary() || linked.as_deref() == Some("up");
                linked && info.contains("cluster_state:ok") && info.contains(&known)
            };
            primaries == PRIMARIES && self.nodes.iter().all(whole)
        })
    }

    /// The places of a primary and its replica.
    pub fn pair(&self, number: usize) -> (usize, usize) {
        let (one, other) = (number % PRIMARIES, number % PRIMARIES + PRIMARIES);
        match self.nodes[one].is_primary() {
            true => (one, other),
            false => (other, one),
        }
    }

    /// The nodes that are primaries.
    pub fn primaries(&self) -> impl Iterator<Item = &Server> {
        self.nodes.iter().filter(|node| node.is_primary())
    }

    /// Waits until a replica has all that its primary executed before now.
    pub fn catch_up(&self, primary: usize, replica: usize) -> Fallible<()> {
        let offset = |node: usize, name: &str| -> Option<u64> {
            self.nodes[node].replication(name)?.trim().parse().ok()
        };
        let executed = offset(primary, "master_repl_offset:").ok_or("a primary's offset")?;
        until("a replica has what its primary has", || {
            offset(replica, "slave_repl_offset:").is_some_and(|has| has >= executed)
        })
    }

    /// Waits until a node is a primary, or a replica.
    pub fn becomes(&self, node: usize, primary: bool) -> Fallible<()> {
        until("a node takes its role", || {
            let role = self.nodes[node].replication("role:");
            role.is_some_and(|role| (role == "master") == primary)
        })
    }

    /// For keys by their slots; a driver's own client.
    pub fn client(&self) -> Fallible<redis::cluster::ClusterClient> {
        let urls = self.nodes.iter().map(|node| node.port);
        let urls = urls.map(|port| format!("redis://127.0.0.1:{port}"));
        Ok(redis::cluster::ClusterClient::new(
            urls.collect::<Vec<_>>(),
        )?)
    }
}

/// Ports that are free at the moment, no two the same.
fn free_ports(count: usize) -> Fallible<Vec<u16>> {
    let bound: Result<Vec<TcpListener>, _> = (0..count)
        .map(|_| TcpListener::bind("127.0.0.1:0"))
        .collect();
    let bound = bound?;
    let ports = bound.iter().map(|one| Ok(one.local_addr()?.port()));
    ports.collect()
}

/// Waits until a condition holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) -> Fallible<()> {
    let began = Instant::now();
    while !holds() {
        if began.elapsed() > PATIENCE {
            return Err(format!("never: {what}").into());
        }
        process::pause(Duration::from_millis(5))?;
    }
    Ok(())
}

/// A folder for servers' files and hosts' directories, removed when it is dropped unless it is kept.
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    kept: bool,
}

impl Folder {
    /// A new one.
    pub fn new(name: &str) -> Fallible<Folder> {
        let name = format!("polycache-remote-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Folder { path, kept: false })
    }

    /// It stays, to be looked at.
    pub fn keep(&mut self) {
        self.kept = true;
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.kept {
            // What cannot be removed is in the system's own folder for such things.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
