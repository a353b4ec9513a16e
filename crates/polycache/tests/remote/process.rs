//! A server on the loopback interface that a test starts, stops and kills.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a test waits for what must come to pass.
const PATIENCE: Duration = Duration::from_secs(40);

pub struct Process {
    child: Child,
    pub port: u16,
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that hangs ends, too.
        self.kill();
    }
}

impl Process {
    /// `None` where redis-server is not installed.
    pub fn start<'a>(port: u16, words: impl IntoIterator<Item = &'a str>) -> Option<Process> {
        Process::of("redis-server", port, words)
    }

    /// `None` where the program is not installed.
    pub fn of<'a>(
        program: &str,
        port: u16,
        words: impl IntoIterator<Item = &'a str>,
    ) -> Option<Process> {
        let child = Command::new(program)
            .args(words)
            .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        Some(Process { child, port })
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// A client that knows nothing of the cache.
    pub fn plain(&self) -> redis::Connection {
        let client = redis::Client::open(self.url()).expect("a URL");
        client.get_connection().expect("it answers")
    }

    /// Sends one command, its words separated by spaces.
    pub fn ask<T: redis::FromRedisValue>(&self, words: &str) -> redis::RedisResult<T> {
        let client = redis::Client::open(self.url())?;
        let mut command = redis::Cmd::new();
        words.split_whitespace().for_each(|word| {
            command.arg(word);
        });
        command.query(&mut client.get_connection()?)
    }

    /// Waits until it answers.
    pub fn answers(&self) {
        until("it answers", || self.ask::<String>("PING").is_ok());
    }

    /// From now on it takes connections and commands, and answers none.
    pub fn hang(&self) {
        self.signal("STOP");
    }

    pub fn go_on(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let process = self.id().to_string();
        let told = Command::new("kill")
            .args([&format!("-{name}"), &process])
            .status();
        assert!(told.expect("kill is there").success());
    }

    /// The process' id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ports that are free at the moment, no two the same.
pub fn free_ports(count: usize) -> Vec<u16> {
    let bound: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"))
        .collect();
    bound
        .iter()
        .map(|one| one.local_addr().expect("an address").port())
        .collect()
}

/// Waits until a condition holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
