//! What passes a proxy's connections, and when.

use super::names::{Names, Renaming};
use super::Side;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a thread that holds bytes back looks whether it may go on.
const LOOK: Duration = Duration::from_millis(2);

/// Which bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The host's commands.
    There,
    /// The server's replies and pushes.
    Back,
}

pub(super) struct State {
    target: AtomicU16,
    over: AtomicBool,
    names: Mutex<Names>,
    /// For the sides `Data` and `Listening`.
    pub hangs: [AtomicBool; 2],
    /// Milliseconds by which what comes back is late, for both sides.
    pub late: [AtomicU64; 2],
    /// The next reply is lost, and its connection with it.
    pub swallows: AtomicBool,
    /// After so many more pushes with this text listening connections hang.
    last: Mutex<Option<(u32, &'static [u8])>>,
    connections: Mutex<Vec<Connection>>,
}

pub(super) struct Connection {
    pub client: TcpStream,
    pub server: TcpStream,
    pub listens: Arc<AtomicBool>,
}

impl State {
    pub fn new(target: u16) -> State {
        State {
            target: AtomicU16::new(target),
            over: AtomicBool::new(false),
            names: Mutex::default(),
            hangs: Default::default(),
            late: Default::default(),
            swallows: AtomicBool::new(false),
            last: Mutex::default(),
            connections: Mutex::default(),
        }
    }

    pub fn lead_to(&self, target: u16) {
        self.target.store(target, Ordering::SeqCst);
    }

    pub fn set_names(&self, names: Names) {
        *lock(&self.names) = names;
    }

    pub fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    pub fn hang_after(&self, pushes: u32, text: &'static [u8]) {
        *lock(&self.last) = (pushes > 0).then_some((pushes, text));
    }

    pub fn each(&self, side: Side, act: impl Fn(&Connection)) {
        let mut connections = lock(&self.connections);
        for connection in &*connections {
            if side.places().contains(&connection.place()) {
                act(connection);
            }
        }
        connections.retain(|connection| !side.places().contains(&connection.place()));
    }

    pub fn connect(self: &Arc<State>, client: TcpStream) -> std::io::Result<()> {
        let server = TcpStream::connect(("127.0.0.1", self.target.load(Ordering::SeqCst)))?;
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
        lock(&self.connections).push(Connection {
            client,
            server,
            listens,
        });
        Ok(())
    }

    fn pass(&self, mut from: TcpStream, mut to: TcpStream, way: Way, listens: &AtomicBool) {
        let mut buffer = [0; 1 << 14];
        let mut renaming = Renaming::new(lock(&self.names).clone());
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let mut bytes = &buffer[..read];
            if way == Way::There && bytes.windows(8).any(|word| word == b"TRACKING") {
                listens.store(true, Ordering::Relaxed);
            }
            if way == Way::Back {
                bytes = renaming.pass(bytes);
            }
            self.hold_back(way, listens);
            let swallows = way == Way::Back && self.swallows.swap(false, Ordering::Relaxed);
            if swallows {
                break;
            }
            let now = match way == Way::Back && listens.load(Ordering::Relaxed) {
                true => self.before_silence(bytes),
                false => bytes.len(),
            };
            if to.write_all(&bytes[..now]).is_err() {
                break;
            }
            if now < bytes.len() {
                self.hold_back(way, listens);
                if to.write_all(&bytes[now..]).is_err() {
                    break;
                }
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }

    /// How many of these bytes pass before listening connections fall silent; all, if they do not.
    fn before_silence(&self, bytes: &[u8]) -> usize {
        let mut last = lock(&self.last);
        let Some((left, text)) = &mut *last else {
            return bytes.len();
        };
        let mut from = 0;
        let next = |from: usize| {
            let rest = &bytes[from..];
            let found = rest.windows(text.len()).position(|word| word == *text)?;
            // To the end of the key, and of its line.
            let end = rest[found..].iter().position(|byte| *byte == b'\n')?;
            Some(from + found + end + 1)
        };
        while let Some(end) = next(from) {
            from = end;
            *left -= 1;
            if *left == 0 {
                *last = None;
                self.hangs[1].store(true, Ordering::Relaxed);
                return from;
            }
        }
        bytes.len()
    }

    /// Waits while bytes of this connection may not pass.
    fn hold_back(&self, way: Way, listens: &AtomicBool) {
        let place = || usize::from(listens.load(Ordering::Relaxed));
        let came = Instant::now();
        loop {
            let late = self.late[place()].load(Ordering::Relaxed);
            let early = way == Way::Back && came.elapsed() < Duration::from_millis(late);
            let hangs = self.hangs[place()].load(Ordering::Relaxed);
            if !(early || hangs) || self.is_over() {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
