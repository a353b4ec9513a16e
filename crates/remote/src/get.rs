//! Reads a key (`spec/remote.md`, "Operations").

use crate::command::Command;
use crate::fault::Fault;
use crate::floors::Floors;
use crate::names::Names;
use crate::near::{Copied, Near, Place};
use crate::record::{is_whole, Kind, Record, HEAD_LEN};
use crate::reply::Reply;
use crate::step::{Event, Step};
use polycache_operations::pause;
use std::time::Duration;

/// How long to wait for another caller's read of the key: about a round trip. A caller that waits longer
/// reads for itself.
const LONGEST_WAIT: Duration = Duration::from_millis(10);

/// What a read found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A copy: its entry.
    Near(Vec<u8>),
    /// The record on the server; its entry is behind the head.
    Remote(Vec<u8>),
    /// Bytes that another program put there.
    Foreign(Vec<u8>),
    /// No value.
    Missing,
    /// No answer: a miss, to be reported.
    Fault(Fault),
}

/// A read of one key.
#[derive(Debug)]
pub struct Get<Fence> {
    began: Duration,
    /// Whether a copy will do.
    near: bool,
    state: State<Fence>,
}

#[derive(Debug)]
enum State<Fence> {
    Looking,
    Asking {
        fence: Option<Fence>,
        floors: Floors<Fence>,
    },
    Over,
}

impl<Fence: Clone> Get<Fence> {
    /// A read that begins at `now`.
    #[must_use]
    pub fn new(now: Duration) -> Get<Fence> {
        Get {
            began: now,
            near: true,
            state: State::Looking,
        }
    }

    /// A read that wants the record on the server, to change it.
    #[must_use]
    pub fn through(now: Duration) -> Get<Fence> {
        Get {
            near: false,
            ..Get::new(now)
        }
    }

    /// Takes what happened, and says what to do.
    pub fn step<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        event: Event,
        now: Duration,
    ) -> Step<Found> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Looking => self.look(near, names, now),
            State::Asking { fence, floors } => Step::Done(take(near, fence, floors, event)),
            State::Over => Step::Done(Found::Missing),
        }
    }

    fn look<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        now: Duration,
    ) -> Step<Found> {
        let judged = near.judge();
        let mut fence = None;
        if near.is_fresh(judged) {
            match near.lease(Place::Value) {
                Copied::There(entry) => {
                    if self.near && near.is_fresh(judged) {
                        return Step::Done(Found::Near(entry));
                    }
                }
                Copied::Acquired(mine) => fence = Some(mine),
                Copied::Busy => {
                    let waited = now.saturating_sub(self.began);
                    if self.near && waited < LONGEST_WAIT {
                        self.state = State::Looking;
                        let until = (now + pause(waited)).min(self.began + LONGEST_WAIT);
                        return Step::Wait { until };
                    }
                }
                Copied::Bypass => {}
            }
        }
        // After the lease: a clear whose floor is not seen here ends it.
        let mut floors = Floors::look(near, names);
        let fresh = near.is_fresh(judged);
        // Before the value: a FLUSHALL between the two removes both, and must not bring back a value that
        // a floor had cleared.
        let mut commands = floors.ask(near, names, false, fresh);
        commands.push(Command::get(names.value.clone()));
        self.state = State::Asking { fence, floors };
        Step::Send(commands)
    }
}

/// Takes the record and the floors that were asked for.
fn take<N: Near>(
    near: &mut N,
    fence: Option<N::Fence>,
    mut floors: Floors<N::Fence>,
    event: Event,
) -> Found {
    let mut replies = match of_any_type(event).replies() {
        Ok(replies) => replies,
        Err(fault) => {
            floors.give_up(near);
            if let Some(fence) = fence {
                near.release(Place::Value, fence);
            }
            return Found::Fault(fault);
        }
    };
    let found = replies.pop().and_then(Reply::into_bytes);
    floors.take(near, replies);
    read(near, fence, found, floors.floor())
}

/// What another program keeps there in a type of its own is no value. An MGET says so by itself.
fn of_any_type(mut event: Event) -> Event {
    if let Event::Replies(replies) = &mut event {
        if let Some(found) = replies.last_mut() {
            if matches!(found, Reply::Error(why) if why.starts_with("WRONGTYPE")) {
                *found = Reply::Nil;
            }
        }
    }
    event
}

/// What a reply to a read of the key means; makes a copy of a value, or voids what is there (R2).
pub(crate) fn read<N: Near>(
    near: &mut N,
    fence: Option<N::Fence>,
    found: Option<Vec<u8>>,
    floor: u64,
) -> Found {
    let Some(bytes) = found else {
        return missing(near, fence);
    };
    let Some(record) = Record::parse(&bytes) else {
        let _ = missing(near, fence);
        return Found::Foreign(bytes);
    };
    if !record.is_served(floor, near.now()) {
        return missing(near, fence);
    }
    let Kind::Value(entry) = record.kind else {
        return missing(near, fence);
    };
    let filled = match fence {
        Some(fence) if is_whole(entry) => near.fill(Place::Value, fence, &bytes[HEAD_LEN..]),
        Some(fence) => {
            near.release(Place::Value, fence);
            false
        }
        None => false,
    };
    if !filled {
        near.void(Place::Value);
    }
    Found::Remote(bytes)
}

/// A miss becomes no copy, so it voids what is there, unless its own lease shows that nothing is.
fn missing<N: Near>(near: &mut N, fence: Option<N::Fence>) -> Found {
    match fence {
        Some(fence) if near.stands(Place::Value, &fence) => near.release(Place::Value, fence),
        _ => near.void(Place::Value),
    }
    Found::Missing
}
