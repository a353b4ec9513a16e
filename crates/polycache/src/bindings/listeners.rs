//! Who hears of writes to servers, as the boards in a directory tell (`spec/remote.md`, "Listener").

use crate::Error;
use polycache_host::{monotonic, Store};
use polycache_remote::SeenBoard;
use std::time::Duration;

/// The listener of a machine for one database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// The first 64 bits of the database's identity.
    pub identity: u64,
    /// The process that listens, as it sees its id itself; `None` when none does.
    pub process: Option<u32>,
    /// How far behind copies are; `None` while none are served.
    pub lag: Option<Duration>,
    /// When it began to listen, in milliseconds since 1970; 0: not known.
    pub since: u64,
    /// The server refuses to tell of writes, so every read asks it.
    pub refuses_tracking: bool,
}

pub(super) fn of(store: Option<&Store>) -> Result<Vec<Listener>, Error> {
    let Some(store) = store else {
        return Ok(Vec::new());
    };
    let now = monotonic();
    let mut listeners = Vec::new();
    for words in store.boards_now() {
        let Some(seen) = SeenBoard::of(words, now) else {
            continue;
        };
        let process = match seen.leader {
            Some(leader) => store.process_of(leader as u32)?,
            None => None,
        };
        listeners.push(Listener {
            identity: seen.identity,
            process,
            lag: seen.lag,
            since: if process.is_some() { seen.since } else { 0 },
            refuses_tracking: process.is_some() && seen.refuses,
        });
    }
    Ok(listeners)
}
