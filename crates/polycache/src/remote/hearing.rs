//! A connection of its own that hears of writes.

use super::transport::Ear;
use polycache_remote::Fault;
use redis::{
    cmd, Client, Connection, IntoConnectionInfo, ProtocolVersion, PushKind, RedisError,
    RedisResult, Value,
};
use std::time::Duration;

/// How often a listening connection looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(200);
/// How long a connection that listens may take to be made.
pub(super) const CONNECT: Duration = Duration::from_secs(2);
/// A channel that every user needs the right to anyway: pushes of a connection in RESP2 are its messages.
const CHANNEL: &str = "__redis__:invalidate";

/// Hears of writes until the connection ends. Its settings are those of the program's own client; `verify` sees it
/// first.
pub(super) fn hear(
    client: &Client,
    verify: impl FnOnce(&mut Connection) -> RedisResult<()>,
    prefixes: &[Vec<u8>],
    ear: &Ear,
) {
    match listen(client, verify, prefixes, ear) {
        Ok(()) => {}
        Err(error) if is_refusal(&error) => ear.refused(),
        // The end of the connection is told in any case.
        Err(_) => {}
    }
}

fn listen(
    client: &Client,
    verify: impl FnOnce(&mut Connection) -> RedisResult<()>,
    prefixes: &[Vec<u8>],
    ear: &Ear,
) -> RedisResult<()> {
    let info = client.get_connection_info().clone();
    let settings = info
        .redis_settings()
        .clone()
        .set_protocol(ProtocolVersion::RESP3);
    let client = Client::open(info.set_redis_settings(settings).into_connection_info()?)?;
    let mut connection = client.get_connection_with_timeout(CONNECT)?;
    connection.set_read_timeout(Some(CONNECT))?;
    verify(&mut connection)?;
    let mut tracking = cmd("CLIENT");
    tracking.arg("TRACKING").arg("ON").arg("BCAST");
    for prefix in prefixes {
        tracking.arg("PREFIX").arg(prefix);
    }
    tracking.exec(&mut connection)?;
    // Nothing is said there to a connection in RESP3. But what a server keeps for one that does not read, because its
    // process was stopped, is bounded for subscribers alone (`client-output-buffer-limit pubsub`, 32 MiB; then
    // the connection is closed): for all others it grows until the server is out of memory. The reply, which may be
    // that this user has no right to it, comes among the pushes.
    let subscribe = cmd("SUBSCRIBE").arg(CHANNEL).get_packed_command();
    connection.send_packed_command(&subscribe)?;
    ear.armed();
    connection.set_read_timeout(Some(LOOK))?;
    while !ear.is_over() {
        match connection.recv_response() {
            Ok(Value::Push {
                kind: PushKind::Invalidate,
                data,
            }) => {
                ear.pushed(data.into_iter().next().and_then(keys_of));
            }
            Ok(_) => {}
            Err(error) if error.is_timeout() || error.code() == Some("NOPERM") => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The keys of a push; `None` for all.
fn keys_of(pushed: Value) -> Option<Vec<Vec<u8>>> {
    let Value::Array(keys) = pushed else {
        return None;
    };
    let keys = keys.into_iter().filter_map(|key| match key {
        Value::BulkString(key) => Some(key),
        Value::SimpleString(key) => Some(key.into_bytes()),
        _ => None,
    });
    Some(keys.collect())
}

/// Whether the server answered, and said no.
fn is_refusal(error: &RedisError) -> bool {
    error
        .code()
        .is_some_and(|code| Fault::of_error(code) == Fault::Refused)
}
