//! What a client is told when it cannot hear all that came after the last entry it had.

use super::Id;
use bytes::Bytes;
use serde_json::json;

/// Some entries after the one that the client had are no longer there; it goes on with a later one.
pub(super) fn trimmed(had: Id, first: Id) -> Bytes {
    told(had, first, None)
}

/// The stream lost its last entries, one that the client had among them, and gives ids after `end` out again. The client then
/// asks for what comes after that one, too.
pub(super) fn lost(had: Id, end: Id) -> Bytes {
    told(had, end, Some(end))
}

fn told(from: Id, to: Id, id: Option<Id>) -> Bytes {
    let id = id.map_or(String::new(), |id| format!("id: {id}\n"));
    let data = json!({"from": from.to_string(), "to": to.to_string()});
    Bytes::from(format!("event: gap\n{id}data: {data}\n\n"))
}
