//! A proxy on the loopback interface between a host and a server: it cuts, delays, hangs, closes one half of a
//! connection and loses replies, of all connections or of those alone by which a host listens.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// All of them.
    All,
    /// Those on which the server pushes keys.
    Listening,
    /// All others.
    Data,
}

/// Which bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The host's commands.
    There,
    /// The server's replies and pushes.
    Back,
}

/// How often a thread that holds bytes back looks whether it may go on.
const LOOK: Duration = Duration::from_millis(2);

/// The proxy; it ends when it is dropped.
pub struct Proxy {
    /// Where hosts reach it.
    pub port: u16,
    state: Arc<State>,
}

struct State {
    target: u16,
    over: AtomicBool,
    /// For the sides `Data` and `Listening`.
    hangs: [AtomicBool; 2],
    /// Milliseconds by which what comes back is late, for both sides.
    late: [AtomicU64; 2],
    /// The next reply is lost, and its connection with it.
    swallows: AtomicBool,
    connections: Mutex<Vec<Connection>>,
}

struct Connection {
    client: TcpStream,
    server: TcpStream,
    listens: Arc<AtomicBool>,
}

impl Proxy {
    /// One to the server at this port.
    pub fn new(target: u16) -> std::io::Result<Proxy> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State {
            target,
            over: AtomicBool::new(false),
            hangs: Default::default(),
            late: Default::default(),
            swallows: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let accepting = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.over.load(Ordering::Relaxed) {
                    return;
                }
                // A server that is away: the connection ends.
                let _ = accepting.connect(stream);
            }
        });
        Ok(Proxy { port, state })
    }

    /// From now on no byte passes, or bytes pass again; connections stay, and new ones are accepted.
    pub fn hang(&self, side: Side, hangs: bool) {
        for place in places(side).iter().copied() {
            self.state.hangs[place].store(hangs, Ordering::Relaxed);
        }
    }

    /// What the server sends comes this much later.
    pub fn delay(&self, side: Side, late: Duration) {
        for place in places(side).iter().copied() {
            self.state.late[place].store(late.as_millis() as u64, Ordering::Relaxed);
        }
    }

    /// The next reply is lost, and its connection with it.
    pub fn swallow(&self) {
        self.state.swallows.store(true, Ordering::Relaxed);
    }

    /// Ends connections.
    pub fn cut(&self, side: Side) {
        self.each(side, |connection| {
            let _ = connection.client.shutdown(Shutdown::Both);
            let _ = connection.server.shutdown(Shutdown::Both);
        });
    }

    /// The server sends nothing any more on connections, and hosts learn so by an end of the stream; what hosts
    /// send arrives.
    pub fn half_close(&self, side: Side) {
        self.each(side, |connection| {
            let _ = connection.client.shutdown(Shutdown::Write);
        });
    }

    fn each(&self, side: Side, act: impl Fn(&Connection)) {
        let mut connections = self.state.connections();
        for connection in &*connections {
            if places(side).contains(&connection.place()) {
                act(connection);
            }
        }
        connections.retain(|connection| !places(side).contains(&connection.place()));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::Relaxed);
        self.cut(Side::All);
        // The thread that accepts looks up.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// Where a side's settings stand.
fn places(side: Side) -> &'static [usize] {
    match side {
        Side::All => &[0, 1],
        Side::Data => &[0],
        Side::Listening => &[1],
    }
}

impl Connection {
    fn place(&self) -> usize {
        usize::from(self.listens.load(Ordering::Relaxed))
    }
}

impl State {
    fn connections(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(self: &Arc<State>, client: TcpStream) -> std::io::Result<()> {
        let server = TcpStream::connect(("127.0.0.1", self.target))?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let listens = Arc::new(AtomicBool::new(false));
        for (from, to, way) in [
            (&client, &server, Way::There),
            (&server, &client, Way::Back),
        ] {
            let (from, to) = (from.try_clone()?, to.try_clone()?);
            let (state, listens) = (self.clone(), listens.clone());
            std::thread::spawn(move || state.pass(from, to, way, &listens));
        }
        self.connections().push(Connection {
            client,
            server,
            listens,
        });
        Ok(())
    }

    fn pass(&self, mut from: TcpStream, mut to: TcpStream, way: Way, listens: &AtomicBool) {
        let mut buffer = [0; 1 << 14];
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let bytes = &buffer[..read];
            if way == Way::There && bytes.windows(8).any(|word| word == b"TRACKING") {
                listens.store(true, Ordering::Relaxed);
            }
            self.hold_back(way, listens);
            let swallows = way == Way::Back && self.swallows.swap(false, Ordering::Relaxed);
            if swallows || to.write_all(bytes).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }

    /// Waits while bytes of this connection may not pass.
    fn hold_back(&self, way: Way, listens: &AtomicBool) {
        let place = || usize::from(listens.load(Ordering::Relaxed));
        let came = Instant::now();
        loop {
            let late = self.late[place()].load(Ordering::Relaxed);
            let early = way == Way::Back && came.elapsed() < Duration::from_millis(late);
            let hangs = self.hangs[place()].load(Ordering::Relaxed);
            if !(early || hangs) || self.over.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }
}
