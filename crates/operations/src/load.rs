//! The load of a key that was missed: `get_or_set` from there on (`spec/semantics.md`).

use crate::leases::{Holder, Lease, Leases};
use crate::pause::pause;
use std::time::Duration;

/// What happened since the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The caller begins.
    Start,
    /// The time to wait for is over, or something happened that is worth a look.
    Woken,
    /// The loader's value, as an entry.
    Loaded(&'a [u8]),
    /// The loader's value has no entry: it cannot be stored.
    Unstorable,
    /// The loader failed.
    Failed,
    /// The caller is gone.
    Cancelled,
}

/// What the driver is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing: the load is over.
    Done(Done),
    /// Run the loader.
    Load,
    /// Wait until then, on the clock that the steps are told.
    Wait {
        /// When to take the next step at the latest.
        until: Duration,
        /// Whose load is waited for.
        holder: Holder,
    },
}

/// How a load ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The entry is there; the tiers hold it.
    Hit,
    /// What was loaded is stored.
    Filled,
    /// What was loaded is not stored: the key was set, deleted or cleared meanwhile, or another filled it.
    Refused,
    /// What was loaded is not stored: there was no room for a lease, or it has no entry.
    Unstored,
    /// Nothing was loaded.
    Released,
    /// Others loaded for as long as the caller waits at most.
    TimedOut,
}

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How long a caller waits for others.
    pub wait_timeout: Duration,
}

/// One caller's load of one key. Over any tiers, whose fences are `F`.
#[derive(Clone, Debug)]
pub struct Load<F> {
    bounds: Bounds,
    /// When the caller began to wait.
    began: Duration,
    /// The first load that it waited for.
    waited_for: Option<Holder>,
    state: State<F>,
}

#[derive(Clone, Debug)]
enum State<F> {
    Asking,
    /// `None`: what is loaded will not be stored.
    Loading(Option<F>),
    Over,
}

impl<F: Clone> Load<F> {
    /// A load that begins at `now`. The time that the caller has waited for others before counts, when
    /// `now` is the time at which that began.
    #[must_use]
    pub fn new(bounds: Bounds, now: Duration) -> Load<F> {
        Load {
            bounds,
            began: now,
            waited_for: None,
            state: State::Asking,
        }
    }

    /// The fence of the loader that runs, for drivers to see whether it is still worth something; `None`
    /// when no loader runs, or it runs without a lease.
    #[must_use]
    pub fn fence(&self) -> Option<&F> {
        match &self.state {
            State::Loading(fence) => fence.as_ref(),
            State::Asking | State::Over => None,
        }
    }

    /// True while no loader of this caller runs and none has run: it waits for another's load, or is about
    /// to ask.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(self.state, State::Asking)
    }

    /// Takes what happened, and says what is to be done. After [`Step::Done`] there is nothing more to be
    /// done, whatever happens.
    ///
    /// # Errors
    /// The tiers'. When they fail as a load is stored, the load is over; when they fail before, the
    /// machine stands as it stood.
    pub fn step<L: Leases<Fence = F>>(
        &mut self,
        tiers: &mut L,
        event: Event<'_>,
        now: Duration,
    ) -> Result<Step, L::Error> {
        match event {
            Event::Start | Event::Woken => match self.state {
                State::Asking => self.ask(tiers, now),
                // The loader runs, or all is over.
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
        // Whoever was waited for ended without a value, or one would be there: its loader failed, say. A
        // caller that waited for one such load does not wait for the next, and the next: a failing source
        // would be asked once for each of them, one after the other. But one whose process died
        // says nothing of the source: its successor is waited for.
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

    /// The load is over; its fence, if there is one.
    fn end(&mut self) -> Option<F> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Loading(fence) => fence,
            State::Asking | State::Over => None,
        }
    }
}
