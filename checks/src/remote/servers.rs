//! Real servers on free ports of the loopback interface, stopped when they are dropped.

use crate::outcome::Fallible;
use crate::process;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long what must come to pass may take.
const PATIENCE: Duration = Duration::from_secs(40);

/// A server, a node of a Cluster, or a Sentinel.
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

    /// One with more words to its options.
    pub fn start(program: &str, port: u16, folder: &Path, more: &[&str]) -> Fallible<Server> {
        let folder = folder.to_str().ok_or("a path that is text")?;
        let port_word = port.to_string();
        let mut words = vec!["--bind", "127.0.0.1", "--port", &port_word];
        words.extend(["--save", "", "--appendonly", "no", "--dir", folder]);
        words.extend(more);
        Server::run(program, port, words)
    }

    /// A Sentinel with this file of settings, which it rewrites.
    pub fn sentinel(program: &str, port: u16, file: &str) -> Fallible<Server> {
        let port_word = port.to_string();
        let words = vec![
            file,
            "--sentinel",
            "--bind",
            "127.0.0.1",
            "--port",
            &port_word,
        ];
        Server::run(program, port, words)
    }

    fn run(program: &str, port: u16, words: Vec<&str>) -> Fallible<Server> {
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
        self.start_again_with(&[])
    }

    /// The same, with more words to its options.
    pub fn start_again_with(&mut self, more: &[&str]) -> Fallible<()> {
        self.kill();
        let more = more.iter().map(|word| (*word).to_owned());
        let words: Vec<String> = self.words.iter().cloned().chain(more).collect();
        self.child = spawn(&self.program, &words)?;
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

    /// Waits until a replica has all that this primary executed before now.
    pub fn is_followed_by(&self, replica: &Server) -> Fallible<()> {
        let offset = |server: &Server, name: &str| -> Option<u64> {
            server.replication(name)?.trim().parse().ok()
        };
        let executed = offset(self, "master_repl_offset:").ok_or("a primary's offset")?;
        until("a replica has what its primary has", || {
            offset(replica, "slave_repl_offset:").is_some_and(|has| has >= executed)
        })
    }

    /// Waits until it is a primary, or a replica.
    pub fn becomes(&self, primary: bool) -> Fallible<()> {
        until("a server takes its role", || {
            let role = self.replication("role:");
            role.is_some_and(|role| (role == "master") == primary)
        })
    }

    /// A line of what it says of its replication.
    pub fn replication(&self, name: &str) -> Option<String> {
        let info: String = self.ask("INFO replication").ok()?;
        let lines = info.lines().map(str::to_owned);
        lines
            .filter_map(|line| line.strip_prefix(name).map(str::to_owned))
            .next()
    }

    /// Whether it says so.
    pub fn is_primary(&self) -> bool {
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

/// Ports that are free at the moment, no two the same.
pub fn free_ports(count: usize) -> Fallible<Vec<u16>> {
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
