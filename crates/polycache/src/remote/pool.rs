//! Connections to one server that nobody uses at the moment.

use super::deadline::Deadline;
use polycache_host::PerProcess;
use redis::{cmd, Client, Connection, RedisResult};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Connections that wait for the next command at most.
const IDLE: usize = 64;
/// A connection that rested for longer is tried out before it is used.
const RESTED: Duration = Duration::from_secs(1);

/// The connections, each for one caller at a time. A forked child shares none with its parent, and closes none: TLS
/// would say so on the wire.
#[derive(Default)]
pub(super) struct Pool(PerProcess<Mutex<Idle>>);

#[derive(Default)]
struct Idle {
    /// None are kept any more.
    closed: bool,
    /// With the times since when they rest.
    connections: Vec<(Instant, Connection)>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.0.get().lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that still answers.
    ///
    /// # Errors
    /// One did not answer in time. The others are of the same server: none of them is waited for.
    pub fn take(&self, deadline: Deadline) -> RedisResult<Option<Connection>> {
        loop {
            let Some((since, mut connection)) = self.idle().connections.pop() else {
                return Ok(None);
            };
            if since.elapsed() < RESTED {
                return Ok(Some(connection));
            }
            // A write must not be the one to find out that the server has closed a connection in its rest.
            deadline.limit(&connection)?;
            match cmd("PING").exec(&mut connection) {
                Ok(()) => return Ok(Some(connection)),
                Err(error) if error.is_timeout() => {
                    self.clear();
                    return Err(error);
                }
                Err(_) => {}
            }
        }
    }

    /// Takes back a connection whose replies were all read.
    pub fn give_back(&self, connection: Connection) {
        let mut idle = self.idle();
        if !idle.closed && idle.connections.len() < IDLE {
            idle.connections.push((Instant::now(), connection));
        }
    }

    /// Keeps none from now on.
    pub fn close(&self) {
        self.idle().closed = true;
        self.clear();
    }

    /// Closes them all: they lead nowhere, or to a server that is the primary no more.
    pub fn clear(&self) {
        let closed = std::mem::take(&mut self.idle().connections);
        // Outside of the lock.
        drop(closed);
    }
}

/// A new connection.
pub(super) fn open(client: &Client, deadline: Deadline) -> RedisResult<Connection> {
    client.get_connection_with_timeout(deadline.left()? / greetings(client))
}

/// How many replies the crate `redis` waits for before it hands out a connection: one after the other, each for as long as
/// it may wait, also when the one before did not come. They come together, so a part of the time is enough for each.
fn greetings(client: &Client) -> u32 {
    let settings = client.get_connection_info().redis_settings();
    let authenticates = settings.password().is_some() || settings.protocol().supports_resp3();
    let selects = settings.db() != 0;
    let introduces_itself = if settings.skip_set_lib_name() { 0 } else { 2 };
    (u32::from(authenticates) + u32::from(selects) + introduces_itself).max(1)
}

/// A client that tells the server nothing of the library: two replies less to wait for.
///
/// # Errors
/// An address that cannot be used.
pub(super) fn quiet(client: &Client) -> RedisResult<Client> {
    let info = client.get_connection_info().clone();
    let settings = info.redis_settings().clone().set_skip_set_lib_name();
    Client::open(info.set_redis_settings(settings))
}
