//! Commands of the program's own, on connections of the program's own client.

use super::deadline::Deadline;
use super::pool::{open, Pool};
use super::replies::has_code;
use super::round_trip::round_trip;
use polycache_host::without_signals;
use redis::{Client, Connection, RedisError, RedisResult, Value};
use std::time::Duration;

/// Connections to one server.
#[derive(Debug)]
pub(crate) struct OneServer {
    client: Client,
    pool: Pool,
    /// How long an exchange may take, connecting included.
    timeout: Duration,
}

impl OneServer {
    pub fn new(client: Client, timeout: Duration) -> OneServer {
        OneServer {
            client,
            pool: Pool::default(),
            timeout,
        }
    }

    /// The number of its database.
    pub fn database(&self) -> i64 {
        self.client.get_connection_info().redis_settings().db()
    }

    /// Whether the client asks for RESP3.
    pub fn speaks_resp3(&self) -> bool {
        let settings = self.client.get_connection_info().redis_settings();
        settings.protocol().supports_resp3()
    }

    /// Sends packed commands that only read, in one round trip on one connection. Errors of single commands are replies.
    ///
    /// # Errors
    /// The client's.
    pub fn exchange(&self, packed: &[u8], count: usize) -> RedisResult<Vec<Value>> {
        // A signal would end the wait for a reply, which then looks like a fault.
        without_signals(|| self.exchange_undisturbed(packed, count))
    }

    fn exchange_undisturbed(&self, packed: &[u8], count: usize) -> RedisResult<Vec<Value>> {
        let deadline = Deadline::after(self.timeout);
        let request = |connection: &mut Connection| round_trip(connection, packed, count, deadline);
        let rested = self.pool.take(deadline)?;
        let has_rested = rested.is_some();
        let mut connection = match rested {
            Some(connection) => connection,
            None => open(&self.client, deadline)?,
        };
        let mut replies = request(&mut connection);
        let was_closed = |replies: &RedisResult<_>| {
            (replies.as_ref().err()).is_some_and(RedisError::is_connection_dropped)
        };
        if has_rested && was_closed(&replies) {
            // The others are of the same server.
            self.pool.clear();
            connection = open(&self.client, deadline)?;
            replies = request(&mut connection);
        }
        match &replies {
            // A replica by now: another connection may lead to the primary.
            Ok(all) if all.iter().any(|reply| has_code(reply, "READONLY")) => self.pool.clear(),
            Ok(_) => self.pool.give_back(connection),
            Err(_) => {}
        }
        replies
    }

    /// Keeps no connection from now on.
    pub fn close(&self) {
        self.pool.close();
    }
}
