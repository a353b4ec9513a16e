//! How the socket is taken out, for the cost of the client alone.

use redis::{Connection, ConnectionLike, RedisResult, Value};

/// A connection that first talks to the server and keeps the replies. After `play` commands are still
/// encoded, but go nowhere, and the same replies come back.
pub struct Canned {
    connection: Connection,
    recorded: Vec<Vec<Value>>,
    replies: Option<Vec<Vec<Value>>>,
    next: usize,
}

impl Canned {
    /// Talks to the server.
    pub fn new(connection: Connection) -> Self {
        Self {
            connection,
            recorded: Vec::new(),
            replies: None,
            next: 0,
        }
    }

    /// The replies since it was asked last.
    pub fn recorded(&mut self) -> Vec<Vec<Value>> {
        std::mem::take(&mut self.recorded)
    }

    /// Answers with these, in turn, from now on; with None it talks again.
    pub fn play(&mut self, replies: Option<Vec<Vec<Value>>>) {
        self.replies = replies;
        self.next = 0;
    }

    fn reply(
        &mut self,
        ask: impl FnOnce(&mut Connection) -> RedisResult<Vec<Value>>,
    ) -> RedisResult<Vec<Value>> {
        let Some(replies) = &self.replies else {
            let reply = ask(&mut self.connection)?;
            self.recorded.push(reply.clone());
            return Ok(reply);
        };
        let reply = replies[self.next].clone();
        self.next = (self.next + 1) % replies.len();
        Ok(reply)
    }
}

impl ConnectionLike for Canned {
    fn req_packed_command(&mut self, packed: &[u8]) -> RedisResult<Value> {
        let packed = std::hint::black_box(packed);
        let replies = self.reply(|inner| Ok(vec![inner.req_packed_command(packed)?]))?;
        Ok(replies.into_iter().next().unwrap_or_default())
    }

    fn req_packed_commands(
        &mut self,
        packed: &[u8],
        offset: usize,
        count: usize,
    ) -> RedisResult<Vec<Value>> {
        let packed = std::hint::black_box(packed);
        self.reply(|inner| inner.req_packed_commands(packed, offset, count))
    }

    fn get_db(&self) -> i64 {
        self.connection.get_db()
    }

    fn check_connection(&mut self) -> bool {
        self.connection.check_connection()
    }

    fn is_open(&self) -> bool {
        self.connection.is_open()
    }
}
