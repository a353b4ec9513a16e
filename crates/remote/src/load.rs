//! Loads a missing key: one caller in the cluster does (`spec/remote.md`, "One loader in the cluster").

use crate::change::{exchange, remove};
use crate::command::{number, Command};
use crate::fault::Fault;
use crate::floors::Floors;
use crate::get::{read, Found};
use crate::names::Names;
use crate::near::{Copied, Near, Place};
use crate::presence::{is_present, HolderId};
use crate::record::{self, Kind, Record};
use crate::reply::Reply;
use crate::script::Script;
use crate::step::Event;
use polycache_operations as operations;
use polycache_operations::{Leases, Step as Guarded};
use std::time::Duration;

/// Milliseconds for which a pending value stays when nobody ends it.
const PENDING_MS: u64 = 3_600_000;
/// The shortest and the longest pause between two looks at another's load.
const SHORTEST_LOOK: Duration = Duration::from_millis(5);
const LONGEST_LOOK: Duration = Duration::from_millis(250);
/// How long a caller waits before it asks whether the holder's process lives.
const DOUBT: Duration = Duration::from_millis(250);

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
    Storing,
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

    /// True once the loader was asked for: others can join by [`Load::guard`] only.
    #[must_use]
    pub fn is_loading(&self) -> bool {
        matches!(
            self.state,
            State::Loading(..) | State::LoadingAlone { .. } | State::Storing
        )
    }

    /// The fence of the guard, while this caller has one.
    #[must_use]
    pub fn guard(&self) -> Option<&Guard> {
        self.guard.fence()
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
            State::Storing => {
                near.void(Place::Value);
                let next = match event.replies() {
                    Ok(replies) if replies.first().is_some_and(Reply::is_one) => Loaded::Stored,
                    Ok(_) => Loaded::Refused,
                    Err(fault) => Loaded::Unstored(fault),
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
                self.state = State::Storing;
                let record = record::value(born, near.random(), entry);
                let px = record::time_to_live(entry, near.now());
                Loaded::Send(vec![exchange(names.value.clone(), &token, record, px)])
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
            State::Storing => {
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

    /// Asks for the value, or for the right to load it.
    fn acquire<N: Near<Fence = Fence>>(
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
    fn look<N: Near<Fence = Fence>>(
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
            let until = (now + operations::pause(waited)).min(due);
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
    fn answered<N: Near<Fence = Fence>>(
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
    fn busy<N: Near<Fence = Fence>>(
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
            (None, Some(Some(text))) => !is_present(text, holder.participant),
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

fn drop_lease<N: Near>(near: &mut N, fence: Option<N::Fence>) {
    if let Some(fence) = fence {
        near.release(Place::Value, fence);
    }
}
