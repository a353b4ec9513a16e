//! A proxy on the loopback interface that cuts, stops and delays.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub struct Proxy {
    pub port: u16,
    state: Arc<State>,
}

struct State {
    target: u16,
    hangs: AtomicBool,
    swallows: AtomicBool,
    over: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    pub fn new(target: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(State {
            target,
            hangs: AtomicBool::new(false),
            swallows: AtomicBool::new(false),
            over: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let accepting = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.over.load(Ordering::Relaxed) {
                    return;
                }
                accepting.connect(stream);
            }
        });
        Proxy { port, state }
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// From now on no byte passes; connections stay, and new ones are accepted.
    pub fn hang(&self, hangs: bool) {
        self.state.hangs.store(hangs, Ordering::Relaxed);
    }

    /// The next reply is lost, and its connection with it.
    pub fn swallow(&self) {
        self.state.swallows.store(true, Ordering::Relaxed);
    }

    /// Ends every connection.
    pub fn cut(&self) {
        for stream in self.state.connections.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::Relaxed);
        self.cut();
        // The thread that accepts looks up.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl State {
    fn connect(self: &Arc<State>, client: TcpStream) {
        let Ok(server) = TcpStream::connect(("127.0.0.1", self.target)) else {
            return;
        };
        let mut connections = self.connections.lock().unwrap();
        for (from, to, replies) in [(&client, &server, false), (&server, &client, true)] {
            let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else {
                return;
            };
            connections.extend(from.try_clone());
            let state = self.clone();
            std::thread::spawn(move || state.pass(from, to, replies));
        }
    }

    fn pass(&self, mut from: TcpStream, mut to: TcpStream, replies: bool) {
        let mut buffer = [0; 1 << 14];
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            while self.hangs.load(Ordering::Relaxed) && !self.over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(5));
            }
            let swallows = replies && self.swallows.swap(false, Ordering::Relaxed);
            if swallows || to.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }
}
