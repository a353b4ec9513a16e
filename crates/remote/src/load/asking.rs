//! Asks the server for the value or for the right to load it, and waits for another caller's load.

use super::{Load, Loaded, Other, State};
use crate::command::{number, Command};
use crate::fault::Fault;
use crate::floors::Floors;
use crate::get::read;
use crate::names::Names;
use crate::near::{Copied, Near, Place};
use crate::presence::{is_present, HolderId};
use crate::record::{self, Kind, Record};
use crate::reply::Reply;
use crate::script::Script;
use crate::step::Event;
use polycache_operations::pause;
use std::time::Duration;

/// Milliseconds for which a pending value stays when nobody ends it.
pub(crate) const PENDING_MS: u64 = 3_600_000;
/// The shortest and the longest pause between two looks at another's load.
const SHORTEST_LOOK: Duration = Duration::from_millis(5);
const LONGEST_LOOK: Duration = Duration::from_millis(250);
/// How long a caller waits before it asks whether the holder's process lives.
const DOUBT: Duration = Duration::from_millis(250);
/// How long a process may hold a pending record before its host's presence lists it, at most.
pub const UNLISTED: Duration = Duration::from_millis(1500);

impl<Guard: Clone, Fence: Clone> Load<Guard, Fence> {
    /// Asks for the value, or for the right to load it.
    pub(super) fn acquire<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        now: Duration,
    ) -> Loaded {
        let (fence, mut floors, fresh) = lease(near, names);
        let token = record::pending(floors.born(), near.random(), near.me());
        let args = vec![token.clone(), number(PENDING_MS), self.dead.clone()];
        let mut commands = floors.ask(near, names, true, fresh);
        commands.push(Command::run(Script::Acquire, names.value.clone(), args));
        self.state = State::Asking {
            token: Some(token),
            fence,
            floors,
            presence: false,
        };
        if let Some(other) = &mut self.other {
            other.looked = now;
        }
        Loaded::Send(commands)
    }

    /// Looks at another caller's load, when it is time to.
    pub(super) fn look<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        fence: Option<Fence>,
        now: Duration,
    ) -> Loaded {
        let pushed = fence
            .as_ref()
            .is_some_and(|fence| !near.stands(Place::Value, fence));
        let Some(other) = &mut self.other else {
            return self.acquire(near, names, now);
        };
        if now.saturating_sub(self.began) >= self.bounds.wait_timeout {
            drop_lease(near, fence);
            return Loaded::TimedOut;
        }
        let waited = now.saturating_sub(other.since);
        let due = other.looked + (waited / 8).clamp(SHORTEST_LOOK, LONGEST_LOOK);
        if !pushed && now < due {
            // A push is noticed at the next step: short steps cost nothing but a look at the directory.
            let until = (now + pause(waited)).min(due);
            self.state = State::Waiting(fence);
            return Loaded::Wait { until };
        }
        other.looked = now;
        let holder = other.holder;
        drop_lease(near, fence);
        let (fence, mut floors, fresh) = lease(near, names);
        let mut commands = floors.ask(near, names, true, fresh);
        commands.push(Command::get(names.value.clone()));
        let presence = waited >= DOUBT && near.lives(holder).is_none() && holder.host != 0;
        if presence {
            commands.push(Command::get(names.remote.presence(holder.host)));
        }
        self.state = State::Asking {
            token: None,
            fence,
            floors,
            presence,
        };
        Loaded::Send(commands)
    }

    /// What an acquire or a look brought.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn answered<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        token: Option<Vec<u8>>,
        fence: Option<Fence>,
        mut floors: Floors<Fence>,
        presence: bool,
        event: Event,
        now: Duration,
    ) -> Loaded {
        let mut replies = match event.replies() {
            Ok(replies) => replies,
            Err(fault) => {
                // Never worse than no cache.
                floors.give_up(near);
                drop_lease(near, fence);
                let sent = token.filter(|_| fault != Fault::Open);
                let lost = sent.map(|token| record::head(&token).to_vec());
                self.state = State::LoadingAlone { fault, lost };
                return Loaded::Load;
            }
        };
        let listed = presence.then(|| replies.pop().and_then(Reply::into_bytes));
        let found = replies.pop().and_then(Reply::into_bytes);
        floors.take(near, replies);
        let floor = floors.floor();
        let Some(bytes) = found else {
            return match token {
                Some(token) => {
                    drop_lease(near, fence);
                    self.run(record::head(&token).to_vec(), &floors)
                }
                // The load that this caller waited for has ended without a value.
                None => {
                    drop_lease(near, fence);
                    self.acquire(near, names, now)
                }
            };
        };
        let record = Record::parse(&bytes);
        match record.map(|record| (record.kind, record.is_served(floor, near.now()))) {
            None | Some((Kind::Value(_), true)) => {
                Loaded::Found(read(near, fence, Some(bytes), floor))
            }
            Some((Kind::Value(_), false)) => {
                drop_lease(near, fence);
                self.dead = record::head(&bytes).to_vec();
                self.acquire(near, names, now)
            }
            Some((Kind::Pending(holder), _)) => {
                let head = record::head(&bytes).to_vec();
                self.busy(near, names, fence, &floors, head, holder, listed, now)
            }
        }
    }

    /// Another caller loads.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn busy<N: Near<Fence = Fence>>(
        &mut self,
        near: &mut N,
        names: &Names,
        fence: Option<Fence>,
        floors: &Floors<Fence>,
        head: Vec<u8>,
        holder: HolderId,
        listed: Option<Option<Vec<u8>>>,
        now: Duration,
    ) -> Loaded {
        let is_dead = match (near.lives(holder), &listed) {
            (Some(lives), _) => !lives,
            (None, Some(Some(text))) => {
                let waited = self
                    .other
                    .as_ref()
                    .map(|other| now.saturating_sub(other.since));
                !is_present(text, holder.participant) && waited >= Some(UNLISTED)
            }
            // Its host was not heard of for as long as its presence stands.
            (None, Some(None)) => true,
            (None, None) => false,
        };
        if is_dead {
            drop_lease(near, fence);
            self.dead = head;
            self.other = None;
            return self.acquire(near, names, now);
        }
        let first = self.other.get_or_insert_with(|| Other {
            head: head.clone(),
            holder,
            since: now,
            looked: now,
        });
        // The load that it waited for brought nothing; or this one takes too long; or others of its host
        // have waited before.
        let in_vain = first.head != head;
        let overdue = now.saturating_sub(first.since) >= self.bounds.lease_timeout;
        if in_vain || overdue || self.is_beside {
            drop_lease(near, fence);
            first.head.clone_from(&head);
            return self.run(head, floors);
        }
        self.look(near, names, fence, now)
    }
}

/// The lease of the key's copy, if copies are served, and then what is known of floors.
fn lease<N: Near>(near: &mut N, names: &Names) -> (Option<N::Fence>, Floors<N::Fence>, bool) {
    let judged = near.judge();
    let fence = match near.is_fresh(judged).then(|| near.lease(Place::Value)) {
        Some(Copied::Acquired(fence)) => Some(fence),
        _ => None,
    };
    let floors = Floors::look(near, names);
    let fresh = near.is_fresh(judged);
    (fence, floors, fresh)
}

pub(super) fn drop_lease<N: Near>(near: &mut N, fence: Option<N::Fence>) {
    if let Some(fence) = fence {
        near.release(Place::Value, fence);
    }
}
