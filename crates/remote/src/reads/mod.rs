//! Cached reads of the user's own keys (`spec/reads.md`): which reply may be served, and which may be kept.
//!
//! The read itself goes out by the user's client, between [`begin`] and [`Ticket::fill`].

mod armed;
mod kept;
mod prefixes;
mod wanted;

pub use armed::Armed;
pub use kept::{Kept, MOST_KEYS};
pub use prefixes::{Prefixes, MOST_PREFIXES};
pub use wanted::Wanted;

use crate::near::{Copied, Near, Place};
use crate::validity::Judged;
use kept::entry_of;
use polycache_operations::pause;
use std::time::Duration;

/// How long to wait for another caller of the host that reads the same: about a round trip.
const LONGEST_WAIT: Duration = Duration::from_millis(10);

/// What stood among the near copies when a read was about to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    /// The mark of the arming.
    armed: u64,
    /// Those of the guards of the read's keys.
    guards: Vec<u64>,
}

/// Why the reply of a read will not be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncached {
    /// Nobody hears of writes just now.
    Deaf,
    /// The listener does not hear of writes of these keys; it is to be told that somebody wants to.
    NotHeard,
    /// Others read the same for a while already, or there is no room.
    Busy,
}

/// What a read that found no reply does next.
#[derive(Debug)]
pub enum Begun<Fence> {
    /// There is a reply after all: look again.
    There,
    /// Another caller of the host reads the same. Begin again then.
    Wait(Duration),
    /// Ask the primary.
    Ask(Ticket<Fence>),
}

/// A read that is sent. Whoever has one ends it by [`Ticket::fill`] or [`Ticket::fail`].
#[derive(Debug)]
pub struct Ticket<Fence> {
    right: Result<(Fence, Noted), Uncached>,
}

/// The reply that stands among the near copies, if it may be served: its entry.
pub fn near_reply<N: Near>(near: &mut N, keys: &[&[u8]]) -> Option<Vec<u8>> {
    // In this order: V, what it vouches for, the time.
    let judged = near.judge();
    let entry = near.copy(Place::Value)?;
    let is_served = stands(near, judged, keys, &entry) && near.is_fresh(judged);
    is_served.then_some(entry)
}

/// Whether the arming and the guards are those that the reply was read under.
fn stands<N: Near>(near: &mut N, judged: Judged, keys: &[&[u8]], entry: &[u8]) -> bool {
    let Some(kept) = Kept::parse(entry) else {
        return false;
    };
    if kept.guards.len() != keys.len() || kept.has_expired(near.now()) {
        return false;
    }
    match arming(near, judged) {
        Some(armed) if armed.mark == kept.armed => {}
        _ => return false,
    }
    (kept.guards.iter().enumerate()).all(|(key, mark)| mark_of(near, key) == Some(*mark))
}

/// What the leader who moves V hears of.
fn arming<N: Near>(near: &mut N, judged: Judged) -> Option<Armed> {
    let armed = Armed::parse(&near.copy(Place::Armed)?)?;
    (armed.generation == judged.generation()).then_some(armed)
}

fn mark_of<N: Near>(near: &mut N, key: usize) -> Option<u64> {
    kept::parse_mark(&near.copy(Place::Guard(key))?)
}

/// Takes what a read needs so that its reply may be kept. `began` is when its caller began.
pub fn begin<N: Near>(
    near: &mut N,
    keys: &[&[u8]],
    began: Duration,
    now: Duration,
) -> Begun<N::Fence> {
    let judged = near.judge();
    if !near.is_fresh(judged) {
        return uncached(Uncached::Deaf);
    }
    // Before the guards: one that stood under an earlier arming is gone with it.
    let armed = match arming(near, judged) {
        Some(armed) if keys.iter().all(|key| armed.prefixes.cover(key)) => armed.mark,
        _ => return uncached(Uncached::NotHeard),
    };
    let busy = || {
        let waited = now.saturating_sub(began);
        match waited < LONGEST_WAIT {
            true => Begun::Wait((now + pause(waited)).min(began + LONGEST_WAIT)),
            false => uncached(Uncached::Busy),
        }
    };
    let fence = match lease(near, judged, keys) {
        Leased::Acquired(fence) => fence,
        Leased::There => return Begun::There,
        Leased::Busy => return busy(),
        Leased::Bypass => return uncached(Uncached::Busy),
    };
    // Before the read is sent: the push of a write that the reply does not show removes them.
    let guards: Option<Vec<u64>> = (0..keys.len()).map(|key| guard(near, key)).collect();
    match guards {
        Some(guards) => Begun::Ask(Ticket {
            right: Ok((fence, Noted { armed, guards })),
        }),
        None => {
            near.release(Place::Value, fence);
            busy()
        }
    }
}

fn uncached<Fence>(why: Uncached) -> Begun<Fence> {
    Begun::Ask(Ticket::through(why))
}

enum Leased<Fence> {
    Acquired(Fence),
    There,
    Busy,
    Bypass,
}

/// The right to keep the reply. One that stands and may not be served is in the way.
fn lease<N: Near>(near: &mut N, judged: Judged, keys: &[&[u8]]) -> Leased<N::Fence> {
    for _ in 0..2 {
        match near.lease(Place::Value) {
            Copied::Acquired(fence) => return Leased::Acquired(fence),
            Copied::Busy => return Leased::Busy,
            Copied::Bypass => return Leased::Bypass,
            Copied::There(entry) if stands(near, judged, keys, &entry) => return Leased::There,
            Copied::There(_) => near.void(Place::Value),
        }
    }
    Leased::Busy
}

/// The mark of a key's guard, which is made if there is none. `None`: another caller makes it just now.
fn guard<N: Near>(near: &mut N, key: usize) -> Option<u64> {
    match near.lease(Place::Guard(key)) {
        Copied::There(entry) => kept::parse_mark(&entry),
        Copied::Acquired(fence) => {
            let mark = near.random();
            let made = near.fill(
                Place::Guard(key),
                fence,
                &kept::mark_entry(mark, near.now()),
            );
            made.then_some(mark)
        }
        Copied::Busy | Copied::Bypass => None,
    }
}

impl<Fence> Ticket<Fence> {
    /// A read whose reply will not be kept.
    #[must_use]
    pub fn through(why: Uncached) -> Ticket<Fence> {
        Ticket { right: Err(why) }
    }

    /// Why its reply will not be kept.
    #[must_use]
    pub fn why(&self) -> Option<Uncached> {
        self.right.as_ref().err().copied()
    }

    /// Keeps the reply, which expires at that time (milliseconds since 1970; 0: never). `proof` is what the connection
    /// that brought it found under the key of the proof. False: it is not kept, and nothing older is found from now on.
    pub fn fill<N: Near<Fence = Fence>>(
        self,
        near: &mut N,
        proof: Option<&[u8]>,
        reply: &[u8],
        expires: u64,
    ) -> bool {
        let filled = match self.right {
            Ok((fence, noted)) if proof == Some(proof_of(noted.armed).as_slice()) => {
                let entry = entry_of(&noted, reply, near.now(), expires);
                near.fill(Place::Value, fence, &entry)
            }
            Ok((fence, _)) => {
                near.release(Place::Value, fence);
                false
            }
            Err(_) => false,
        };
        if !filled {
            near.void(Place::Value);
        }
        filled
    }

    /// There is no reply.
    pub fn fail<N: Near<Fence = Fence>>(self, near: &mut N) {
        if let Ok((fence, _)) = self.right {
            near.release(Place::Value, fence);
        }
    }
}

/// What stands under the key of the proof while the arming with this mark is the last one.
#[must_use]
pub fn proof_of(mark: u64) -> Vec<u8> {
    format!("{mark:016x}").into_bytes()
}
