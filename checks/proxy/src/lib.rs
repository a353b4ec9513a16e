//! A proxy on the loopback interface between a host and a server: it cuts, delays, hangs, closes one half of a
//! connection and loses replies, of all connections or of those alone by which a host listens.

mod names;
mod state;

pub use names::Names;
use state::{Connection, State};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

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

impl Side {
    /// Where its settings stand.
    fn places(self) -> &'static [usize] {
        match self {
            Side::All => &[0, 1],
            Side::Data => &[0],
            Side::Listening => &[1],
        }
    }
}

/// The proxy; it ends when it is dropped.
pub struct Proxy {
    /// Where hosts reach it.
    pub port: u16,
    state: Arc<State>,
}

impl Proxy {
    /// One to the server at this port of the loopback interface.
    ///
    /// # Errors
    /// No port is free.
    pub fn new(target: u16) -> std::io::Result<Proxy> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State::new(target));
        let accepting = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.is_over() {
                    return;
                }
                // A server that is away: the connection ends.
                let _ = accepting.connect(stream);
            }
        });
        Ok(Proxy { port, state })
    }

    /// How a client is told to reach it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// New connections go to the server at another port.
    pub fn lead_to(&self, target: u16) {
        self.state.lead_to(target);
    }

    /// From now on new connections are told of servers by other names: those of proxies.
    pub fn rename(&self, names: &Names) {
        self.state.set_names(names.clone());
    }

    /// From now on no byte passes, or bytes pass again; connections stay, and new ones are accepted.
    pub fn hang(&self, side: Side, hangs: bool) {
        for place in side.places() {
            self.state.hangs[*place].store(hangs, Ordering::Relaxed);
        }
    }

    /// Connections on which keys are pushed hang once so many more pushes with this text have passed, and what comes
    /// behind the last of them in the same segment hangs, too. 0: they do not.
    pub fn hang_after(&self, pushes: u32, text: &'static [u8]) {
        self.state.hang_after(pushes, text);
    }

    /// What the server sends comes this much later.
    pub fn delay(&self, side: Side, late: Duration) {
        for place in side.places() {
            self.state.late[*place].store(late.as_millis() as u64, Ordering::Relaxed);
        }
    }

    /// The next reply is lost, and its connection with it.
    pub fn swallow(&self) {
        self.state.swallows.store(true, Ordering::Relaxed);
    }

    /// Ends connections.
    pub fn cut(&self, side: Side) {
        self.state.each(side, |connection| {
            let _ = connection.client.shutdown(Shutdown::Both);
            let _ = connection.server.shutdown(Shutdown::Both);
        });
    }

    /// The server sends nothing any more on connections, and hosts learn so by an end of the stream; what hosts
    /// send arrives.
    pub fn half_close(&self, side: Side) {
        self.state.each(side, |connection| {
            let _ = connection.client.shutdown(Shutdown::Write);
        });
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.end();
        self.cut(Side::All);
        // The thread that accepts looks up.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Connection {
    fn place(&self) -> usize {
        usize::from(self.listens.load(Ordering::Relaxed))
    }
}
