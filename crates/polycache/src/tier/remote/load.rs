//! Drives the machine of a load whose key is on a server.

use super::link::count;
use super::near::{AtRemote, Guard};
use super::RemoteTier;
use crate::tier::{AtKey, Place, Tier};
use crate::Error;
use polycache_host::Token;
use polycache_operations::{Bounds, Done, Event, Holder, Step};
use polycache_remote::{Bounds as RemoteBounds, Event as RemoteEvent, Fault, Load, Loaded, Names};
use std::fmt;
use std::time::{Duration, Instant};

/// One caller's load of one key.
pub(crate) struct RemoteLoad {
    tier: RemoteTier,
    names: Names,
    machine: Load<Token, Token>,
    is_loading: bool,
    /// The name of its guard, and the number of the database that it is of.
    guard_key: Vec<u8>,
    database: u64,
    /// When its loader began.
    since: Option<Instant>,
    /// The read before it waited for the server in vain: nothing is sent, so that both together take one timeout.
    is_unanswered: bool,
    /// While its own loader runs: see [`Link::begin_load`](super::link::Link::begin_load).
    number: Option<u64>,
}

impl Drop for RemoteLoad {
    fn drop(&mut self) {
        self.end_load();
    }
}

impl fmt::Debug for RemoteLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteLoad")
            .field("machine", &self.machine)
            .finish_non_exhaustive()
    }
}

impl RemoteLoad {
    pub fn new(
        tier: RemoteTier,
        key: &[u8],
        bounds: Bounds,
        lease_timeout: Duration,
        now: Duration,
    ) -> RemoteLoad {
        let bounds = RemoteBounds {
            wait_timeout: bounds.wait_timeout,
            lease_timeout,
        };
        let names = tier.names(key);
        let is_unanswered = tier.link().is_unanswered(&names.value);
        if !is_unanswered {
            tier.show_presence();
            // Without an answer the load goes on: it has the same fault.
            let _ = tier.link().know_site();
        }
        // Before the guard's name is.
        let database = tier.link().database_number();
        RemoteLoad {
            names,
            is_unanswered,
            machine: Load::new(bounds, now),
            is_loading: false,
            guard_key: tier.guard_key(key),
            database,
            since: None,
            number: None,
            tier,
        }
    }

    /// Whether another caller of the process may join: its loader shows what was there when it began, so no later than
    /// reads may be behind.
    #[cfg_attr(not(feature = "bindings"), allow(dead_code))]
    pub fn is_open(&self, own: bool) -> bool {
        let Some(fence) = self.fence() else {
            return self.is_waiting();
        };
        let most = self.tier.joins_within();
        let age = self.since.map(|since| since.elapsed());
        (own || age.is_none_or(|age| most.is_none_or(|most| age <= most)))
            // A change after a flush ends the guards of the new database.
            && self.tier.link().database_number() == self.database
            && self.tier.guards().is_leased(&self.guard_key, *fence)
    }

    fn end_load(&mut self) {
        if let Some(number) = self.number.take() {
            self.tier.link().end_load(number);
        }
    }

    /// The guard while the loader runs: another caller of the process may join while it stands.
    pub fn fence(&self) -> Option<&Token> {
        self.machine.guard().filter(|_| self.is_loading)
    }

    pub fn is_waiting(&self) -> bool {
        !self.is_loading
    }

    pub fn step(
        &mut self,
        at: &mut AtKey<'_>,
        event: Event<'_>,
        now: Duration,
    ) -> Result<Step, Error> {
        if !matches!(event, Event::Start | Event::Woken) {
            self.end_load();
        }
        let began = Instant::now();
        let mounted = self.tier.mounted();
        let mut unused = Vec::new();
        let mut near = AtRemote {
            tier: &self.tier,
            mounted: mounted.as_deref(),
            key: at.key,
            round: None,
        };
        let mut guard = Guard(AtKey::new(self.tier.guards(), &self.guard_key, &mut unused));
        let names = &self.names;
        let was_loading = std::mem::take(&mut self.is_loading);
        if was_loading && matches!(event, Event::Unstorable | Event::Failed | Event::Cancelled) {
            count(&self.tier.link().counts.failed_loads);
        }
        // The cache was closed while the loader ran.
        let mut is_late = false;
        let mut next = match event {
            Event::Start | Event::Woken => {
                self.is_loading = was_loading;
                self.machine
                    .step(&mut near, &mut guard, names, RemoteEvent::Woken, now)?
            }
            Event::Loaded(entry) if !self.tier.is_closed() => {
                self.machine.store(&mut near, &mut guard, names, entry, now)
            }
            Event::Loaded(_) => {
                is_late = true;
                self.machine.end(&mut near, &mut guard, names, now)
            }
            Event::Unstorable | Event::Failed | Event::Cancelled => {
                self.machine.end(&mut near, &mut guard, names, now)
            }
        };
        loop {
            next = match next {
                Loaded::Send(commands) => {
                    // It may have waited for other callers since.
                    let in_vain = std::mem::take(&mut self.is_unanswered)
                        && self.tier.link().is_unanswered(&names.value);
                    let event = match in_vain {
                        true => RemoteEvent::Fault(Fault::Open),
                        false => self.tier.send(mounted.as_deref(), &[at.key], commands),
                    };
                    let now = now + began.elapsed();
                    self.machine
                        .step(&mut near, &mut guard, names, event, now)?
                }
                Loaded::Load => {
                    if !self.is_loading {
                        self.tier.count_miss();
                        count(&self.tier.link().counts.loads);
                        self.since = Some(Instant::now());
                        let give_up = self.machine.give_up(names);
                        self.number = give_up.map(|one| self.tier.link().begin_load(one));
                    }
                    self.is_loading = true;
                    return Ok(Step::Load);
                }
                Loaded::Wait { until } => {
                    // The time that the round trips took is over; the caller counts from the time it passed.
                    let until = until.saturating_sub(began.elapsed()).max(now);
                    let holder = Holder { slot: 0, word: 0 };
                    return Ok(Step::Wait { until, holder });
                }
                Loaded::Found(found) => {
                    return match self.tier.take_found(found, at.entry)? {
                        Some(_) => {
                            at.place = Some(Place::UNKNOWN);
                            Ok(Step::Done(Done::Hit))
                        }
                        None => Ok(Step::Done(Done::Released)),
                    }
                }
                Loaded::Stored => {
                    self.tier.count_write();
                    return Ok(Step::Done(Done::Filled));
                }
                Loaded::Refused => {
                    self.tier.count_invalidated_load();
                    return Ok(Step::Done(Done::Refused));
                }
                Loaded::Unstored(fault) => return Err(self.tier.link().error(fault)),
                Loaded::Released if is_late => return Err(Error::Closed),
                Loaded::Released => return Ok(Step::Done(Done::Released)),
                Loaded::TimedOut => return Ok(Step::Done(Done::TimedOut)),
            }
        }
    }
}
