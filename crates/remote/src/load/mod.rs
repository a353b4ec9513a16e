//! Loads a missing key: one caller in the cluster does (`spec/remote.md`, "One loader in the cluster").

mod asking;

use crate::change::{exchange, remove};
use crate::command::Command;
use crate::fault::Fault;
use crate::floors::Floors;
use crate::get::Found;
use crate::names::Names;
use crate::near::{Near, Place};
use crate::presence::HolderId;
use crate::record;
use crate::step::Event;
use asking::drop_lease;
pub(crate) use asking::PENDING_MS;
pub use asking::UNLISTED;
use polycache_operations as operations;
use polycache_operations::{Leases, Step as Guarded};
use std::time::Duration;

/// The guards of a key's loads: leases of its name in the directory. They hold no value.
pub trait Guards: Leases {
    /// Whether the fence is another caller's lease, beside which this one loads.
    fn is_beside(&self, fence: &Self::Fence) -> bool;
}

/// Time limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How long a caller waits for others.
    pub wait_timeout: Duration,
    /// How old a load may be before others load beside it.
    pub lease_timeout: Duration,
}

/// What the driver must do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// Nothing: this is the value that was there.
    Found(Found),
    /// Run the loader; then [`Load::store`] or [`Load::end`].
    Load,
    /// Send these commands.
    Send(Vec<Command>),
    /// Wait until then.
    Wait {
        /// The latest time for the next step.
        until: Duration,
    },
    /// The loaded value is stored.
    Stored,
    /// The loaded value is not stored: the key was set, deleted or cleared meanwhile, or another caller
    /// stored its own.
    Refused,
    /// The loaded value is not stored, because the server does not answer.
    Unstored(Fault),
    /// Nothing was stored: the loader failed, or its caller is gone.
    Released,
    /// Others were loading for as long as the caller may wait.
    TimedOut,
}

/// One caller's load of one key. `Guard` is the fence of the lease that lets one caller of the host ask
/// the server, and `Fence` that of copies.
#[derive(Debug)]
pub struct Load<Guard, Fence> {
    bounds: Bounds,
    began: Duration,
    guard: operations::Load<Guard>,
    /// The guard belongs to another caller, who is overdue or was waited for in vain.
    is_beside: bool,
    /// The head of a record that is no value any more: an acquire replaces it.
    dead: Vec<u8>,
    /// Another caller's pending record that this one waits for.
    other: Option<Other>,
    state: State<Fence>,
}

#[derive(Debug)]
struct Other {
    head: Vec<u8>,
    holder: HolderId,
    since: Duration,
    /// When the server was last asked.
    looked: Duration,
}

#[derive(Debug)]
enum State<Fence> {
    Guarding,
    /// An acquire or a look was sent.
    Asking {
        token: Option<Vec<u8>>,
        fence: Option<Fence>,
        floors: Floors<Fence>,
        presence: bool,
    },
    /// Another caller loads; the lease of the copy shows when the key is pushed.
    Waiting(Option<Fence>),
    /// By this token. The value is born at what the clock was before its loader ran.
    Loading(Vec<u8>, u64),
    /// Without a token: the value will not be stored. An acquire that had no reply may be executed later
    /// than changes that this loader does not see, so its token must not store, and must not stay.
    LoadingAlone {
        fault: Fault,
        lost: Option<Vec<u8>>,
    },
    /// The value was sent, born then. A clear may have come after that.
    Storing(u64, Floors<Fence>),
    /// A token is given back; then this is the result.
    Ending(Loaded),
    Over,
}

impl<Guard: Clone, Fence: Clone> Load<Guard, Fence> {
    /// A load that begins at `now`. To include the time that the caller has already waited for others,
    /// pass the time when that began.
    #[must_use]
    pub fn new(bounds: Bounds, now: Duration) -> Load<Guard, Fence> {
        let guard = operations::Load::new(
            operations::Bounds {
                wait_timeout: bounds.wait_timeout,
            },
            now,
        );
        Load {
            bounds,
            began: now,
            guard,
            is_beside: false,
            dead: Vec::new(),
            other: None,
            state: State::Guarding,
        }
    }

    /// The fence of the guard, while this caller has one.
    #[must_use]
    pub fn guard(&self) -> Option<&Guard> {
        self.guard.fence()
    }

    /// What takes the key's token away while this caller's loader runs by one of its own: a cache that closes
    /// sends it, so that others need not wait.
    #[must_use]
    pub fn give_up(&self, names: &Names) -> Option<Command> {
        match &self.state {
            State::Loading(token, _) if !self.is_others(token) => {
                Some(remove(names.value.clone(), token))
            }
            _ => None,
        }
    }

    /// Takes what happened, and says what to do.
    ///
    /// # Errors
    /// Errors of the guards, which are the directory's.
    pub fn step<N, L>(
        &mut self,
        near: &mut N,
        guards: &mut L,
        names: &Names,
        event: Event,
        now: Duration,
    ) -> Result<Loaded, L::Error>
    where
        N: Near<Fence = Fence>,
        L: Guards<Fence = Guard>,
    {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Guarding => self.take_guard(near, guards, names, now),
            State::Asking {
                token,
                fence,
                floors,
                presence,
            } => {
                let next = self.answered(near, names, token, fence, floors, presence, event, now);
                Ok(self.unguard(guards, next, now))
            }
            State::Waiting(fence) => {
                let next = self.look(near, names, fence, now);
                Ok(self.unguard(guards, next, now))
            }
            loading @ (State::Loading(..) | State::LoadingAlone { .. }) => {
                self.state = loading;
                Ok(Loaded::Load)
            }
            State::Storing(born, mut floors) => {
                near.void(Place::Value);
                let next = match event.replies() {
                    Ok(mut replies) => {
                        let stored = replies.pop().is_some_and(|reply| reply.is_one());
                        floors.take(near, replies);
                        // What a clear came after is not served.
                        match stored && born >= floors.floor() {
                            true => Loaded::Stored,
                            false => Loaded::Refused,
                        }
                    }
                    Err(fault) => {
                        floors.give_up(near);
                        Loaded::Unstored(fault)
                    }
                };
                Ok(self.unguard(guards, next, now))
            }
            State::Ending(result) => {
                near.void(Place::Value);
                Ok(self.unguard(guards, result, now))
            }
            State::Over => Ok(Loaded::Released),
        }
    }

    /// The loader's value, as an entry.
    pub fn store<N, L>(
        &mut self,
        near: &mut N,
        guards: &mut L,
        names: &Names,
        entry: &[u8],
        now: Duration,
    ) -> Loaded
    where
        N: Near<Fence = Fence>,
        L: Guards<Fence = Guard>,
    {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Loading(token, born) => {
                let judged = near.judge();
                let mut floors = Floors::look(near, names);
                let fresh = near.is_fresh(judged);
                let record = record::value(born, near.random(), entry);
                let px = record::time_to_live(entry, near.now());
                let mut commands = floors.ask(near, names, false, fresh);
                commands.push(exchange(names.value.clone(), &token, record, px));
                self.state = State::Storing(born, floors);
                Loaded::Send(commands)
            }
            State::LoadingAlone { fault, lost } => {
                self.give_back(guards, names, lost, Loaded::Unstored(fault), now)
            }
            _ => self.unguard(guards, Loaded::Released, now),
        }
    }

    /// Ends with this result, after a token is given back.
    fn give_back<L: Guards<Fence = Guard>>(
        &mut self,
        guards: &mut L,
        names: &Names,
        token: Option<Vec<u8>>,
        result: Loaded,
        now: Duration,
    ) -> Loaded {
        match token {
            Some(token) => {
                self.state = State::Ending(result);
                Loaded::Send(vec![remove(names.value.clone(), &token)])
            }
            None => self.unguard(guards, result, now),
        }
    }

    /// Nothing will be stored: the loader failed, or its caller is gone. A driver that cannot send any
    /// more may leave it at this call: other hosts notice by presence.
    pub fn end<N, L>(
        &mut self,
        near: &mut N,
        guards: &mut L,
        names: &Names,
        now: Duration,
    ) -> Loaded
    where
        N: Near<Fence = Fence>,
        L: Guards<Fence = Guard>,
    {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Loading(token, _) => {
                let mine = Some(token).filter(|token| !self.is_others(token));
                self.give_back(guards, names, mine, Loaded::Released, now)
            }
            State::LoadingAlone { lost, .. } => {
                self.give_back(guards, names, lost, Loaded::Released, now)
            }
            State::Asking {
                token: Some(token),
                fence,
                mut floors,
                ..
            } => {
                // The acquire may be executed all the same.
                floors.give_up(near);
                drop_lease(near, fence);
                let token = record::head(&token).to_vec();
                self.give_back(guards, names, Some(token), Loaded::Released, now)
            }
            State::Asking {
                fence, mut floors, ..
            } => {
                floors.give_up(near);
                drop_lease(near, fence);
                self.unguard(guards, Loaded::Released, now)
            }
            State::Waiting(fence) => {
                drop_lease(near, fence);
                self.unguard(guards, Loaded::Released, now)
            }
            State::Storing(_, mut floors) => {
                floors.give_up(near);
                near.void(Place::Value);
                self.unguard(guards, Loaded::Released, now)
            }
            _ => self.unguard(guards, Loaded::Released, now),
        }
    }

    fn is_others(&self, token: &[u8]) -> bool {
        self.other.as_ref().is_some_and(|other| other.head == token)
    }

    /// One caller of the host asks the server; the others wait for it, and look whether there is a copy.
    fn take_guard<N, L>(
        &mut self,
        near: &mut N,
        guards: &mut L,
        names: &Names,
        now: Duration,
    ) -> Result<Loaded, L::Error>
    where
        N: Near<Fence = Fence>,
        L: Guards<Fence = Guard>,
    {
        let judged = near.judge();
        if let Some(entry) = near.copy(Place::Value) {
            if near.is_fresh(judged) {
                self.guard.step(guards, operations::Event::Cancelled, now)?;
                return Ok(Loaded::Found(Found::Near(entry)));
            }
        }
        match self.guard.step(guards, operations::Event::Woken, now)? {
            Guarded::Load => {
                let fence = self.guard.fence();
                self.is_beside = fence.is_some_and(|fence| guards.is_beside(fence));
                Ok(self.acquire(near, names, now))
            }
            Guarded::Wait { until, .. } => {
                self.state = State::Guarding;
                Ok(Loaded::Wait { until })
            }
            Guarded::Done(operations::Done::TimedOut) => Ok(Loaded::TimedOut),
            Guarded::Done(_) => Ok(Loaded::Released),
        }
    }

    fn run(&mut self, token: Vec<u8>, floors: &Floors<Fence>) -> Loaded {
        self.state = State::Loading(token, floors.born());
        Loaded::Load
    }

    /// Ends the guard when all is over.
    fn unguard<L: Guards<Fence = Guard>>(
        &mut self,
        guards: &mut L,
        next: Loaded,
        now: Duration,
    ) -> Loaded {
        if matches!(self.state, State::Over) {
            // A release asks nothing that could fail.
            let _ = self.guard.step(guards, operations::Event::Cancelled, now);
        }
        next
    }
}
