//! A lease for its own sake: a lock by a key's name (`spec/semantics.md`, "Leases for adapters").

use crate::leases::{Lease, Leases};
use crate::pause::pause;
use std::time::Duration;

/// What the driver is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquiring<F> {
    /// Nothing: the caller has the lease.
    Acquired(F),
    /// Nothing: another holds it, and the caller has waited as long as it will.
    Refused,
    /// Wait until then, on the clock that the steps are told, and step again.
    Wait(Duration),
}

/// One caller who wants the lease.
#[derive(Clone, Copy, Debug)]
pub struct Acquire {
    began: Duration,
    wait: Duration,
}

impl Acquire {
    /// From `now` on the caller waits so long at most.
    #[must_use]
    pub fn new(wait: Duration, now: Duration) -> Acquire {
        Acquire { began: now, wait }
    }

    /// Asks for the lease. Nobody takes it from a holder that lives, however long that holds it.
    ///
    /// # Errors
    /// The tiers'.
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
