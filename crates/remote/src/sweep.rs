//! What gives the space of cleared namespaces back (`spec/remote.md`, "Sweeping").

use crate::change::remove;
use crate::command::Command;
use crate::names::RemoteName;
use crate::record::{head, Kind, Record};
use crate::reply::Reply;
use crate::script::Script;

/// How long a host has the sweep before another may take it, if it does not go on: milliseconds.
const HELD_MS: u64 = 10_000;

/// A cleared namespace whose entries are to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// The prefix of its full keys.
    pub namespace: Vec<u8>,
    /// Of its last clear.
    number: Vec<u8>,
}

/// Asks for the namespace that waits longest.
#[must_use]
pub fn next_swept(name: &RemoteName) -> Command {
    Command::run(Script::NextSwept, name.sweep(), Vec::new())
}

/// The answer to [`next_swept`]; `None`: there is none.
#[must_use]
pub fn swept(reply: &Reply) -> Option<Swept> {
    let Reply::List(parts) = reply else {
        return None;
    };
    let [Reply::Bytes(namespace), Reply::Bytes(number)] = parts.as_slice() else {
        return None;
    };
    Some(Swept {
        namespace: namespace.clone(),
        number: number.clone(),
    })
}

/// Takes the sweep for this host, if no other one has it. The reply is nil if one has.
#[must_use]
pub fn take_sweep(name: &RemoteName, host: u64) -> Command {
    let mut command = keep_sweep(name, host);
    command.args.push(b"NX".as_slice().into());
    command
}

/// Keeps the sweep.
#[must_use]
pub fn keep_sweep(name: &RemoteName, host: u64) -> Command {
    let mark = format!("{host:016x}").into_bytes();
    Command::set(name.sweeper(), mark, Some(HELD_MS))
}

/// Lets another host sweep.
#[must_use]
pub fn leave_sweep(name: &RemoteName, host: u64) -> Command {
    remove(name.sweeper(), format!("{host:016x}").as_bytes())
}

/// Takes a namespace off that was swept, unless it was cleared again meanwhile.
#[must_use]
pub fn end_swept(name: &RemoteName, swept: &Swept) -> Command {
    let args = vec![swept.number.clone(), swept.namespace.clone()];
    Command::run(Script::Swept, name.sweep(), args)
}

/// What removes an entry with this header, if it was cleared: it was born below `floor`. Who loads is left alone.
#[must_use]
pub fn remove_cleared(key: &[u8], header: &[u8], floor: u64) -> Option<Command> {
    let record = Record::parse(header)?;
    let is_cleared = matches!(record.kind, Kind::Value(_)) && record.born < floor;
    is_cleared.then(|| remove(key.to_vec(), head(header)))
}
