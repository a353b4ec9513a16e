//! One round trip on a connection of the crate `redis`, within a deadline.

use super::deadline::Deadline;
use redis::{Connection, RedisResult, Value};
use std::time::{Duration, Instant};

/// How far the reply that is waited for may be behind the deadline: a reply that has arrived already costs no system call.
const LATE: Duration = Duration::from_millis(10);

/// Sends packed commands and reads so many replies; errors of single commands are among them. After another error the
/// connection cannot be used again. (`ConnectionLike::req_packed_commands` goes on to wait for the next reply when one
/// did not come, each for the whole time.)
///
/// # Errors
/// A timeout at the deadline; those of the client.
pub(super) fn round_trip(
    connection: &mut Connection,
    packed: &[u8],
    count: usize,
    deadline: Deadline,
) -> RedisResult<Vec<Value>> {
    deadline.limit(connection)?;
    let mut limited = Instant::now();
    connection.send_packed_command(packed)?;
    let mut replies = Vec::with_capacity(count);
    while replies.len() < count {
        if limited.elapsed() >= LATE {
            deadline.limit(connection)?;
            limited = Instant::now();
        }
        match connection.recv_response()? {
            // RESP3: no reply.
            Value::Push { .. } => {}
            reply => replies.push(reply),
        }
    }
    Ok(replies)
}
