//! A node, and a round trip to it whose two halves are apart: several nodes work at the same time.

use crate::remote::deadline::Deadline;
use crate::remote::pool::{open, Pool};
use redis::{Client, Connection, RedisResult, Value};

/// A node and the connections to it.
pub(super) struct Peer {
    pub client: Client,
    pub host: String,
    pool: Pool,
}

impl Peer {
    /// Keeps no connection from now on.
    pub fn close(&self) {
        self.pool.close();
    }

    pub fn new(client: Client, host: &str) -> Peer {
        Peer {
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
        call.sent = Some(call.peer.pool.take(deadline).and_then(|rested| {
            call.rested = rested.is_some();
            match rested {
                Some(connection) => call.send(connection),
                None => call.connect(),
            }
        }));
        call
    }

    /// Reads the replies.
    pub fn end(mut self) -> RedisResult<Vec<Value>> {
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
