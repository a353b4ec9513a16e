//! Cached reads where the crate `redis` wants a connection, for its typed commands.

use super::CachedReads;
use crate::Error;
use redis::{Cmd, ConnectionLike, ErrorKind, Parser, RedisError, RedisResult, Value};
use std::io::Cursor;

/// So that `redis::Commands` has its methods here, which take a clone or a `&mut`. What cannot be cached is refused, pipelines
/// with transactions too; other pipelines are read one by one. The errors of the cache have the kind `Client`, and their
/// code as description.
///
/// ```no_run
/// use polycache::reads::CachedReads;
/// use redis::Commands;
///
/// let mut reads = CachedReads::builder("redis://127.0.0.1").build()?;
/// let names: Vec<String> = reads.lrange("names", 0, -1)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl ConnectionLike for CachedReads {
    fn req_command(&mut self, command: &Cmd) -> RedisResult<Value> {
        self.query(command).map_err(redis_error)
    }

    fn req_packed_command(&mut self, packed: &[u8]) -> RedisResult<Value> {
        let mut replies = self.req_packed_commands(packed, 0, 1)?;
        Ok(replies.pop().unwrap_or_default())
    }

    fn req_packed_commands(
        &mut self,
        packed: &[u8],
        offset: usize,
        count: usize,
    ) -> RedisResult<Vec<Value>> {
        let mut replies = Vec::new();
        let (mut parser, mut rest) = (Parser::new(), Cursor::new(packed));
        for at in 0..offset + count {
            let command = command_of(parser.parse_value(&mut rest)?)?;
            let reply = self.req_command(&command)?;
            if at >= offset {
                replies.push(reply);
            }
        }
        Ok(replies)
    }

    fn get_db(&self) -> i64 {
        self.0.database()
    }

    /// Whether they are open: nothing is asked.
    fn check_connection(&mut self) -> bool {
        self.is_open()
    }

    fn is_open(&self) -> bool {
        !self.0.is_closed()
    }
}

fn command_of(words: Value) -> RedisResult<Cmd> {
    let mut command = Cmd::new();
    let Value::Array(words) = words else {
        return Err(not_a_command());
    };
    for word in words {
        match word {
            Value::BulkString(word) => command.arg(word),
            _ => return Err(not_a_command()),
        };
    }
    Ok(command)
}

fn not_a_command() -> RedisError {
    redis_error(Error::invalid("these bytes are no command"))
}

fn redis_error(error: Error) -> RedisError {
    match error {
        Error::ReadFailed(error) => (*error).clone(),
        other => RedisError::from((ErrorKind::Client, other.code(), other.to_string())),
    }
}
