//! The load of a missing key: the rest of `get_or_set` after the miss (`spec/semantics.md`).

use crate::leases::{Holder, Lease, Leases};
use crate::pause::pause;
use std::time::Duration;

/// What happened since the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The caller begins.
    Start,
    /// The time to wait for has come, or something happened that is worth a check.
    Woken,
    /// The loader's value, as an entry.
    Loaded(&'a [u8]),
    /// The loader's value has no encoding as an entry: it cannot be stored.
    Unstorable,
    /// The loader failed.
    Failed,
    /// The caller was cancelled.
    Cancelled,
}

/// What the driver must do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing: the load is over.
    Done(Done),
    /// Run the loader.
    Load,
    /// Wait until then, on the clock that is passed to the steps.
    Wait {
        /// The latest time for the next step.
        until: Duration,
        /// The holder of the lease that the caller waits for.
        holder: Holder,
    },
}

/// How a load ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The entry is there; the tiers hold it.
    Hit,
    /// The loaded value is stored.
    Filled,
    /// The loaded value is not stored: the key was set, deleted or cleared meanwhile, or another caller
    /// filled it.
    Refused,
    /// The loaded value is not stored: there was no room for a lease, or it has no encoding as an entry.
    Unstored,
    /// Nothing was loaded.
    Released,
    /// Others were loading for as long as the caller may wait.
    TimedOut,
}

/// Time limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How long a caller waits for others.
    pub wait_timeout: Duration,
}

/// One caller's load of one key, over any tiers; `F` is the type of their fences.
#[derive(Clone, Debug)]
pub struct Load<F> {
    bounds: Bounds,
    /// When the caller began to wait.
    began: Duration,
    /// The holder of the first load that it waited for.
    waited_for: Option<Holder>,
    state: State<F>,
}

#[derive(Clone, Debug)]
enum State<F> {
    Asking,
    /// `None`: the loaded value will not be stored.
    Loading(Option<F>),
    Over,
}

impl<F: Clone> Load<F> {
    /// A load that begins at `now`. To include the time that the caller has already waited for others,
    /// pass the time when that began.
    #[must_use]
    pub fn new(bounds: Bounds, now: Duration) -> Load<F> {
        Load {
            bounds,
            began: now,
            waited_for: None,
            state: State::Asking,
        }
    }

    /// The fence of the running loader, so that a driver can check whether it is still valid; `None`
    /// when no loader runs, or it runs without a lease.
    #[must_use]
    pub fn fence(&self) -> Option<&F> {
        match &self.state {
            State::Loading(fence) => fence.as_ref(),
            State::Asking | State::Over => None,
        }
    }

    /// True until a loader of this caller has been started: it waits for another caller's load, or is
    /// about to ask.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(self.state, State::Asking)
    }

    /// Takes what happened, and says what to do. After [`Step::Done`] nothing remains to be done,
    /// whatever happens.
    ///
    /// # Errors
    /// Errors of the tiers. If they fail while a load is stored, the load is over; if they fail earlier,
    /// the machine's state is unchanged.
    pub fn step<L: Leases<Fence = F>>(
        &mut self,
        tiers: &mut L,
        event: Event<'_>,
        now: Duration,
    ) -> Result<Step, L::Error> {
        match event {
            Event::Start | Event::Woken => match self.state {
                State::Asking => self.ask(tiers, now),
                // The loader is running, or all is over.
                State::Loading(_) => Ok(Step::Load),
                State::Over => Ok(Step::Done(Done::Released)),
            },
            Event::Loaded(entry) => match self.end() {
                Some(fence) => Ok(Step::Done(if tiers.fill(fence, entry)? {
                    Done::Filled
                } else {
                    Done::Refused
                })),
                None => Ok(Step::Done(Done::Unstored)),
            },
            Event::Unstorable => Ok(Step::Done(self.release(tiers, Done::Unstored))),
            Event::Failed | Event::Cancelled => Ok(Step::Done(self.release(tiers, Done::Released))),
        }
    }

    fn ask<L: Leases<Fence = F>>(
        &mut self,
        tiers: &mut L,
        now: Duration,
    ) -> Result<Step, L::Error> {
        let (holder, overdue) = match tiers.lease()? {
            Lease::Hit => {
                self.state = State::Over;
                return Ok(Step::Done(Done::Hit));
            }
            Lease::Acquired(fence) => return Ok(self.load(Some(fence))),
            Lease::Bypass => return Ok(self.load(None)),
            Lease::Busy { holder, overdue } => (holder, overdue),
        };
        // The load that this caller waited for ended without a value, or there would be one: its loader
        // failed, say. A caller that waited for one such load does not wait for another: a failing
        // source would be asked once per caller, one after the other. But a load whose process died says
        // nothing about the source: the caller waits for its successor.
        let in_vain = self
            .waited_for
            .is_some_and(|first| first != holder && !tiers.has_inherited(first, holder));
        if overdue || in_vain {
            if let Some(fence) = tiers.beside(holder)? {
                return Ok(self.load(Some(fence)));
            }
            // That lease ended just now.
        }
        let waited = now.saturating_sub(self.began);
        if waited >= self.bounds.wait_timeout {
            self.state = State::Over;
            return Ok(Step::Done(Done::TimedOut));
        }
        if !in_vain {
            self.waited_for = Some(holder);
        }
        let until = (now + pause(waited)).min(self.began + self.bounds.wait_timeout);
        Ok(Step::Wait { until, holder })
    }

    fn load(&mut self, fence: Option<F>) -> Step {
        self.state = State::Loading(fence);
        Step::Load
    }

    fn release<L: Leases<Fence = F>>(&mut self, tiers: &mut L, done: Done) -> Done {
        if let Some(fence) = self.end() {
            tiers.release(fence);
        }
        done
    }

    /// The load is over; returns its fence, if there is one.
    fn end(&mut self) -> Option<F> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Loading(fence) => fence,
            State::Asking | State::Over => None,
        }
    }
}
