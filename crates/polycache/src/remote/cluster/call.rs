//! A node, and a round trip to it whose two halves are apart: several nodes work at the same time.

use crate::remote::deadline::Deadline;
#[cfg(feature = "fibers")]
use crate::remote::fibers::{self, Endpoint};
use crate::remote::pool::{open, Pool};
use redis::{Client, Connection, RedisResult, Value};
#[cfg(feature = "fibers")]
use std::sync::Arc;

/// A node and the connections to it.
pub(super) struct Peer {
    pub client: Client,
    pub host: String,
    pool: Pool,
    #[cfg(feature = "fibers")]
    pub endpoint: Option<Arc<Endpoint>>,
}

impl Peer {
    /// Keeps no connection from now on.
    pub fn close(&self) {
        self.pool.close();
    }

    pub fn new(client: Client, host: &str) -> Peer {
        Peer {
            #[cfg(feature = "fibers")]
            endpoint: Endpoint::of(&client).map(Arc::new),
            client,
            host: host.to_owned(),
            pool: Pool::default(),
        }
    }
}

/// What a node is sent.
pub(super) struct Call<'a> {
    peer: &'a Peer,
    packed: Vec<u8>,
    count: usize,
    /// It only reads: it is sent again if a connection that had rested was closed.
    reads: bool,
    deadline: Deadline,
    /// Where the replies are to be read.
    sent: Option<RedisResult<Connection>>,
    /// That connection comes from the pool, so it may have been closed meanwhile.
    rested: bool,
}

impl<'a> Call<'a> {
    /// Sends packed commands that have so many replies.
    pub fn begin(
        peer: &'a Peer,
        packed: Vec<u8>,
        count: usize,
        reads: bool,
        deadline: Deadline,
    ) -> Call<'a> {
        let mut call = Call {
            peer,
            packed,
            count,
            reads,
            deadline,
            sent: None,
            rested: false,
        };
        #[cfg(feature = "fibers")]
        if call.is_of_fiber() {
            return call;
        }
        call.sent = Some(call.peer.pool.take(deadline).and_then(|rested| {
            call.rested = rested.is_some();
            match rested {
                Some(connection) => call.send(connection),
                None => call.connect(),
            }
        }));
        call
    }

    /// Reads the replies to each.
    pub fn end_all(calls: Vec<Call<'_>>) -> Vec<RedisResult<Vec<Value>>> {
        #[cfg(feature = "fibers")]
        if calls.iter().all(Call::is_of_fiber) {
            return in_fiber(&calls);
        }
        calls.into_iter().map(Call::read_replies).collect()
    }

    /// Reads the replies.
    pub fn end(self) -> RedisResult<Vec<Value>> {
        let deadline = self.deadline;
        let mut ended = Call::end_all(vec![self]);
        ended.pop().unwrap_or_else(|| Err(deadline.missed()))
    }

    /// Whether a fiber makes it: then all of it happens at its end.
    #[cfg(feature = "fibers")]
    fn is_of_fiber(&self) -> bool {
        self.peer.endpoint.is_some() && fibers::is_inside()
    }

    fn read_replies(mut self) -> RedisResult<Vec<Value>> {
        let sent = self.sent.take().unwrap_or_else(|| self.connect());
        match sent.and_then(|connection| self.read(connection)) {
            Err(error) if error.is_connection_dropped() => {
                // The others are of the same server.
                self.peer.pool.clear();
                match self.reads && self.rested {
                    true => self.connect().and_then(|connection| self.read(connection)),
                    false => Err(error),
                }
            }
            replies => replies,
        }
    }

    fn connect(&self) -> RedisResult<Connection> {
        let connection = open(&self.peer.client, self.deadline)?;
        self.send(connection)
    }

    fn send(&self, mut connection: Connection) -> RedisResult<Connection> {
        self.deadline.limit(&connection)?;
        connection.send_packed_command(&self.packed)?;
        Ok(connection)
    }

    fn read(&self, mut connection: Connection) -> RedisResult<Vec<Value>> {
        self.deadline.limit(&connection)?;
        let mut replies = Vec::with_capacity(self.count);
        while replies.len() < self.count {
            match connection.recv_response()? {
                // The program's own settings may ask for them.
                Value::Push { .. } => {}
                reply => replies.push(reply),
            }
        }
        self.peer.pool.give_back(connection);
        Ok(replies)
    }
}

/// Makes calls on the connections that all fibers of the thread share.
#[cfg(feature = "fibers")]
fn in_fiber(calls: &[Call<'_>]) -> Vec<RedisResult<Vec<Value>>> {
    let request = |call: &Call<'_>| {
        let to = call.peer.endpoint.clone()?;
        Some(fibers::Request {
            to,
            packed: call.packed.clone(),
            count: call.count,
            deadline: call.deadline,
        })
    };
    let mut replies = fibers::exchange(calls.iter().filter_map(request).collect());
    for (call, replies) in calls.iter().zip(&mut replies) {
        if matches!(replies, Err(error) if error.is_connection_dropped()) && call.reads {
            // Once more, on a new connection.
            let again = fibers::exchange(request(call).into_iter().collect()).pop();
            *replies = again.unwrap_or_else(|| Err(call.deadline.missed()));
        }
    }
    replies.into_vec()
}
