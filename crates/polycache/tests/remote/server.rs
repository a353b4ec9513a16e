//! A real server that a test starts on a free port of the loopback interface, and stops after it.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The servers that `tools/setup.sh servers` installs.
pub const PROGRAMS: [&str; 3] = ["redis-server", "redis-server-8", "valkey-server"];

pub struct Server {
    child: Child,
    pub port: u16,
    program: &'static str,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Server {
    /// `None` where the program is not installed.
    pub fn start(program: &'static str) -> Option<Server> {
        let free = TcpListener::bind("127.0.0.1:0").ok()?;
        let port = free.local_addr().ok()?.port();
        drop(free);
        let child = Server::spawn(program, port)?;
        let server = Server {
            child,
            port,
            program,
        };
        server.wait();
        Some(server)
    }

    fn spawn(program: &str, port: u16) -> Option<Child> {
        Command::new(program)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()
    }

    fn wait(&self) {
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let late = began.elapsed() > Duration::from_secs(20);
            assert!(!late, "{} does not start", self.program);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// The same server at the same port, empty.
    #[allow(dead_code)]
    pub fn start_again(&mut self) {
        self.child = Server::spawn(self.program, self.port).expect("it started before");
        self.wait();
    }

    #[allow(dead_code)]
    pub fn process(&self) -> u32 {
        self.child.id()
    }
}
