//! One server whose replies are bounded while they are read. The crate `redis` reads a reply of any size.

use super::deadline::Deadline;
use super::replies::has_code;
use polycache_host::{without_signals, PerProcess};
use redis::{cmd, Client, ConnectionAddr, ErrorKind, Parser, RedisError, RedisResult, Value};
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Connections that wait for the next command at most.
const IDLE: usize = 64;
/// What a line of a reply takes in memory beside its bytes, about: a text or a number is one or two of them.
const LINE: u64 = 32;
/// From here on a reply is large.
const LARGE: u64 = 256 << 10;
/// Large replies that are in memory at once.
const MOST_LARGE: usize = 4;

/// Connections to one server, without TLS.
#[derive(Debug)]
pub(crate) struct BoundedServer {
    client: Client,
    idle: PerProcess<Mutex<Idle>>,
    /// How long an exchange may take, connecting included.
    timeout: Duration,
    /// What a reply may take in memory, about.
    most: u64,
    large: Arc<LargeReplies>,
}

#[derive(Default)]
struct Idle {
    closed: bool,
    connections: Vec<Line>,
}

impl BoundedServer {
    /// `None` for a server that is reached by TLS, whose bytes only the crate `redis` sees.
    pub fn new(client: &Client, timeout: Duration, most: u64) -> Option<BoundedServer> {
        match client.get_connection_info().addr() {
            ConnectionAddr::Tcp(..) => {}
            #[cfg(unix)]
            ConnectionAddr::Unix(_) => {}
            _ => return None,
        }
        Some(BoundedServer {
            client: client.clone(),
            idle: PerProcess::new(),
            timeout,
            most,
            large: Arc::default(),
        })
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sends packed commands that only read, in one round trip on one connection. Errors of single commands are replies. With
    /// large replies comes the right to have them in memory.
    ///
    /// # Errors
    /// A timeout; those of the system and of the parser; that the replies are too large ([`is_too_large`]).
    pub fn exchange(
        &self,
        packed: &[u8],
        count: usize,
    ) -> RedisResult<(Vec<Value>, Option<LargeReply>)> {
        // A signal would end the wait for a reply, which then looks like a fault.
        without_signals(|| self.exchange_undisturbed(packed, count))
    }

    fn exchange_undisturbed(
        &self,
        packed: &[u8],
        count: usize,
    ) -> RedisResult<(Vec<Value>, Option<LargeReply>)> {
        let deadline = Deadline::after(self.timeout);
        // Given back after the connection, which holds what was read of a reply that is given up.
        let mut large = None;
        let rested = self.idle().connections.pop();
        let has_rested = rested.is_some();
        let mut line = match rested {
            Some(line) => line,
            None => self.open(deadline)?,
        };
        let mut told = line.round_trip(packed, count, deadline, self, &mut large);
        let was_closed = |told: &RedisResult<_>| {
            (told.as_ref().err()).is_some_and(RedisError::is_connection_dropped)
        };
        if has_rested && was_closed(&told) {
            // The others are of the same server.
            self.clear();
            line = self.open(deadline)?;
            told = line.round_trip(packed, count, deadline, self, &mut large);
        }
        match &told {
            // A replica by now: another connection may lead to the primary.
            Ok(all) if all.iter().any(|reply| has_code(reply, "READONLY")) => self.clear(),
            Ok(_) => self.give_back(line),
            // What was not read of a reply goes with its connection.
            Err(_) => {}
        }
        told.map(|replies| (replies, large.take()))
    }

    fn open(&self, deadline: Deadline) -> RedisResult<Line> {
        let info = self.client.get_connection_info();
        let mut line = Line {
            stream: Stream::connect(info.addr(), deadline)?,
            parser: Parser::new(),
        };
        let settings = info.redis_settings();
        let mut greeting = Vec::new();
        let (user, password) = (settings.username(), settings.password());
        if settings.protocol().supports_resp3() {
            let mut hello = cmd("HELLO");
            hello.arg(3);
            if let Some(password) = password {
                hello
                    .arg("AUTH")
                    .arg(user.unwrap_or("default"))
                    .arg(password);
            }
            greeting.push(hello);
        } else if let Some(password) = password {
            greeting.push(cmd("AUTH").arg(user).arg(password).take());
        }
        if settings.db() != 0 {
            greeting.push(cmd("SELECT").arg(settings.db()).take());
        }
        let mut packed = Vec::new();
        greeting
            .iter()
            .for_each(|one| one.write_packed_command(&mut packed));
        let replies = line.round_trip(&packed, greeting.len(), deadline, self, &mut None)?;
        replies
            .into_iter()
            .try_for_each(|reply| reply.extract_error().map(drop))?;
        Ok(line)
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        let idle = self.idle.get();
        idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_back(&self, line: Line) {
        let mut idle = self.idle();
        if !idle.closed && idle.connections.len() < IDLE {
            idle.connections.push(line);
        }
    }

    fn clear(&self) {
        let closed = std::mem::take(&mut self.idle().connections);
        // Outside of the lock.
        drop(closed);
    }

    /// Keeps no connection from now on.
    pub fn close(&self) {
        self.idle().closed = true;
        self.clear();
    }
}

const TOO_LARGE: &str = "the reply is larger than it may be";

/// Whether an exchange was given up because its replies are too large.
pub(crate) fn is_too_large(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Client && error.to_string().starts_with(TOO_LARGE)
}

/// A connection.
struct Line {
    stream: Stream,
    parser: Parser,
}

impl Line {
    fn round_trip(
        &mut self,
        packed: &[u8],
        count: usize,
        deadline: Deadline,
        server: &BoundedServer,
        large: &mut Option<LargeReply>,
    ) -> RedisResult<Vec<Value>> {
        self.stream.limit(deadline)?;
        self.stream.write_all(packed)?;
        let mut reader = Counting {
            stream: &mut self.stream,
            deadline,
            limited: Instant::now(),
            taken: 0,
            server,
            large,
        };
        let mut replies = Vec::with_capacity(count);
        while replies.len() < count {
            match self.parser.parse_value(&mut reader) {
                // RESP3: no reply.
                Ok(Value::Push { .. }) => {}
                Ok(reply) => replies.push(reply),
                Err(_) if reader.taken > server.most => {
                    return Err((ErrorKind::Client, TOO_LARGE).into());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(replies)
    }
}

/// How far a byte that is waited for may be behind the deadline: those that have arrived already cost no system call more.
const LATE: Duration = Duration::from_millis(10);

/// Reads what comes, and counts what it will take in memory.
struct Counting<'a> {
    stream: &'a mut Stream,
    deadline: Deadline,
    limited: Instant,
    taken: u64,
    server: &'a BoundedServer,
    large: &'a mut Option<LargeReply>,
}

impl Read for Counting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.limited.elapsed() >= LATE {
            self.stream.limit(self.deadline)?;
            self.limited = Instant::now();
        }
        let length = self.stream.read(buffer)?;
        let read = buffer.get(..length).unwrap_or_default();
        let lines = read.iter().filter(|byte| **byte == b'\n').count();
        self.taken += length as u64 + LINE * lines as u64;
        if self.taken > self.server.most {
            return Err(io::Error::other(TOO_LARGE));
        }
        if self.taken > LARGE && self.large.is_none() {
            let large = self.server.large.take(self.deadline.remaining());
            *self.large = Some(large.ok_or(io::ErrorKind::TimedOut)?);
        }
        Ok(length)
    }
}

enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixStream),
}

impl Stream {
    fn connect(address: &ConnectionAddr, deadline: Deadline) -> RedisResult<Stream> {
        let (host, port) = match address {
            ConnectionAddr::Tcp(host, port) => (host.as_str(), *port),
            #[cfg(unix)]
            ConnectionAddr::Unix(path) => {
                let stream = std::os::unix::net::UnixStream::connect(path)?;
                return Ok(Stream::Unix(stream));
            }
            _ => return Err(io::Error::from(io::ErrorKind::Unsupported).into()),
        };
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in (host, port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, deadline.left()?) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(Stream::Tcp(stream));
                }
                Err(error) => last = error,
            }
        }
        Err(last.into())
    }

    /// Lets the next read and the next write take what is left.
    fn limit(&self, deadline: Deadline) -> io::Result<()> {
        let left = deadline.remaining();
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let left = Some(left);
        match self {
            Stream::Tcp(stream) => {
                stream.set_read_timeout(left)?;
                stream.set_write_timeout(left)
            }
            #[cfg(unix)]
            Stream::Unix(stream) => {
                stream.set_read_timeout(left)?;
                stream.set_write_timeout(left)
            }
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            #[cfg(unix)]
            Stream::Unix(stream) => stream.read(buffer),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.write_all(bytes),
            #[cfg(unix)]
            Stream::Unix(stream) => stream.write_all(bytes),
        }
    }
}

/// How many large replies are in memory.
#[derive(Debug, Default)]
struct LargeReplies {
    now: Mutex<usize>,
    fewer: Condvar,
}

/// The right to have a large reply in memory, until it is dropped.
#[derive(Debug)]
pub(crate) struct LargeReply(Arc<LargeReplies>);

impl LargeReplies {
    fn now(&self) -> MutexGuard<'_, usize> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there are few enough; `None` when that takes too long.
    fn take(self: &Arc<Self>, patience: Duration) -> Option<LargeReply> {
        let (mut now, waited) = (self.fewer)
            .wait_timeout_while(self.now(), patience, |now| *now >= MOST_LARGE)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return None;
        }
        *now += 1;
        drop(now);
        Some(LargeReply(self.clone()))
    }
}

impl Drop for LargeReply {
    fn drop(&mut self) {
        *self.0.now() -= 1;
        self.0.fewer.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_replies_wait_for_each_other() {
        let large = Arc::new(LargeReplies::default());
        let mut taken: Vec<_> = (0..MOST_LARGE)
            .map(|_| large.take(Duration::ZERO).expect("there is room"))
            .collect();
        assert!(large.take(Duration::ZERO).is_none());
        let waiting = {
            let large = large.clone();
            std::thread::spawn(move || large.take(Duration::from_secs(20)).is_some())
        };
        taken.pop();
        assert!(waiting.join().unwrap());
        assert!(large.take(Duration::ZERO).is_some());
    }
}
