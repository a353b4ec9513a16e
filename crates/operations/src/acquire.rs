//! A lease for its own sake: a lock by the name of a key (`spec/semantics.md`, "Leases for adapters").

use crate::leases::{Lease, Leases};
use crate::pause::pause;
use std::time::Duration;

/// What the driver must do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquiring<F> {
    /// Nothing: the caller has the lease.
    Acquired(F),
    /// Nothing: another caller holds the lease, and this one has waited as long as it may.
    Refused,
    /// Wait until then, on the clock that is passed to the steps, and step again.
    Wait(Duration),
}

/// One caller that wants the lease.
#[derive(Clone, Copy, Debug)]
pub struct Acquire {
    began: Duration,
    wait: Duration,
}

impl Acquire {
    /// From `now` on the caller waits at most `wait`.
    #[must_use]
    pub fn new(wait: Duration, now: Duration) -> Acquire {
        Acquire { began: now, wait }
    }

    /// Asks for the lease. A living holder keeps it, however long it holds it.
    ///
    /// # Errors
    /// Errors of the tiers.
    pub fn step<L: Leases>(
        &self,
        tiers: &mut L,
        now: Duration,
    ) -> Result<Acquiring<L::Fence>, L::Error> {
        if let Lease::Acquired(fence) = tiers.lease()? {
            return Ok(Acquiring::Acquired(fence));
        }
        let waited = now.saturating_sub(self.began);
        if waited >= self.wait {
            return Ok(Acquiring::Refused);
        }
        Ok(Acquiring::Wait(
            (now + pause(waited)).min(self.began + self.wait),
        ))
    }
}
